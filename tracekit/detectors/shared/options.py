"""Options that several rules have, and their defaults where other rules go by them too."""

from __future__ import annotations

from typing import Any

import tracekit.detectors as tk
from tracekit.analysis.load_waits import HUNG_SHARE, SOON_MS, WARM_UP_PAUSE_S

GAP_SHARE = 0.5
"""Share of the time from which on gaps outweigh predictions: `pipeline-gaps`, and below `serial-predictions`."""


def max_delay_option() -> Any:
    """Option: how soon after a load, in ms, a call starts that waited for it."""
    return tk.option(
        SOON_MS, "ms", "Heuristic: a caller that waits continues at once; something else causes later predictions."
    )


def hang_share_option() -> Any:
    """Option: the share of its time for which a load must hang the main thread to block it."""
    return tk.option(
        HUNG_SHARE,
        "share of the time",
        "Heuristic: a load on the main thread blocks it from start to end; a hang with another cause only "
        "overlaps it by chance.",
    )


def warm_up_gap_option() -> Any:
    """Option: the gap in s after a prediction by which it shows that nobody waited for it."""
    return tk.option(
        WARM_UP_PAUSE_S,
        "s",
        "Heuristic: where predictions otherwise follow closely, a single one before such a gap looks like a warm-up, "
        "which no one waits for.",
    )


def min_mean_option() -> Any:
    """Option: shortest mean prediction in ms that is judged."""
    return tk.option(1.0, "ms", "Heuristic: below this, per-call overhead dominates, whatever the app does.")


def min_predictions_option() -> Any:
    """Option: fewest predictions that are judged."""
    return tk.option(
        3, "predictions", "Heuristic: the first prediction after a load differs; three show what is usual."
    )


class AppWorkOptions(tk.Options):
    """Thresholds of a check that counts samples, of 1 ms each, of the app's own work."""

    share: float = tk.option(0.1, "share of samples", "Heuristic: below a tenth, other work comes first.")
    min_samples: int = tk.option(
        20, "samples", "Heuristic: a sample stands for 1 ms, and less than 20 ms hardly matters."
    )


def _min_loads_option() -> Any:
    """Option: from how many loads on they can be a pattern."""
    return tk.option(3, "loads", "Heuristic: two loads can be chance; a third makes a pattern.")


def _max_idle_option() -> Any:
    """Option: how long in s a model may have been unused for every reload to count."""
    return tk.option(
        5.0,
        "s",
        "Heuristic: a model that is unused for longer may have been released on purpose, for example between screens.",
    )


class ReloadOptions(tk.Options):
    """Thresholds of `reload-before-predict`; by their defaults other rules leave reloads to it."""

    min_loads: int = _min_loads_option()
    loads_per_prediction: float = tk.option(
        0.5, "loads per prediction", "One load for every second prediction or more; the app of WWDC22 10027 had 1.0."
    )
    single_use_share: float = tk.option(
        0.8, "share of loads", "Heuristic: leaves room for a few longer runs of predictions between reloads."
    )
    idle_s: float = _max_idle_option()


class ChurnOptions(tk.Options):
    """Those of `load-churn`; by their defaults other rules leave reloads to it."""

    min_loads: int = _min_loads_option()
    idle_s: float = _max_idle_option()
    load_share: float = tk.option(
        0.10,
        "share of the model's time",
        "Heuristic: a published app that loads its stages in turn, on purpose, spends 4% on loading; from"
        " a tenth on, users feel it.",
    )
    in_turns_share: float = tk.option(
        0.5,
        "share of the reloads",
        "Heuristic: if other models are loaded between release and reload, the app may alternate models on purpose.",
    )


class SwitchOptions(tk.Options):
    """Thresholds of `shape-switching`; by their defaults `latency-jitter` leaves groups of predictions to it."""

    ratio: float = tk.option(
        2.0,
        "slow group to fast group",
        "Heuristic: public reports of inputs that leave the fast path mention a factor of five.",
        minimum=1,
    )
    group_share: float = tk.option(
        0.1, "share of predictions", "Heuristic: fewer predictions are exceptions, not a second path.", maximum=0.5
    )
    switches: int = tk.option(
        4, "switches between the groups", "Heuristic: one change, and perhaps one back, can have any cause."
    )
    min_difference_ms: float = tk.option(
        1.0, "ms", "Heuristic: no one notices smaller differences between predictions."
    )
