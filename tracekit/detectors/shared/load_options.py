"""What the detectors of loads and first calls share: thresholds for waiting, and what to say without a load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tracekit.analysis.load_waits import next_call, setup_work, stand_alone
from tracekit.detectors import InsufficientData, ModelView, NotApplicable, option

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.arrays import BoolArray
    from tracekit.detectors.framework import ModelView


SOON_MS = 100.0
WARM_UP_PAUSE_S = 1.0


def max_delay_option() -> Any:
    """Option: how soon after a load, in ms, a call starts that waited for it."""
    return option(
        SOON_MS, "ms", "Heuristic: a caller that waits continues at once; something else causes later predictions."
    )


def hang_share_option() -> Any:
    """Option: the share of its time for which a load must hang the main thread to block it."""
    return option(
        0.5,
        "share of the time",
        "Heuristic: a load on the main thread blocks it from start to end; a hang with another cause only "
        "overlaps it by chance.",
        maximum=1,
    )


def warm_up_pause_option() -> Any:
    """Option: the pause in s after a call by which it shows that nobody waited for it."""
    return option(
        WARM_UP_PAUSE_S,
        "s",
        "Heuristic: where predictions otherwise follow closely, a single one before such a gap looks like a warm-up, "
        "which no one waits for.",
    )


@dataclass(frozen=True, slots=True, eq=False)
class Called:
    """Which loads a call waited for: shape (loads,) each."""

    surely: BoolArray
    perhaps: BoolArray
    """A call did, unless it was a single one to warm the model up."""


def called(view: ModelView, loads: pd.DataFrame, soon_ms: float, pause_s: float) -> Called:
    """Which loads a call of the model waited for, at once or behind further setup work of the app, other than a single
    one to warm the model up. `loads` are some of the view's. O(n log n)."""
    call = next_call(loads, view.predictions, round(soon_ms * 1e6), setup_work(view.trace))
    waits = np.flatnonzero(call >= 0)
    alone = stand_alone(view.predictions, call[waits], round(pause_s * 1e9))
    surely, perhaps = np.zeros(len(call), np.bool_), np.zeros(len(call), np.bool_)
    surely[waits], perhaps[waits] = ~(alone.surely | alone.perhaps), alone.perhaps
    return Called(surely, perhaps)


def perhaps_warmed_up(view: ModelView, what: str) -> InsufficientData:
    """The answer where a prediction after a load (`what`: a noun) may be one to warm the model up."""
    return InsufficientData(
        view.name,
        f"A gap follows {what}. Gaps are long throughout, so the recording does not show whether a user waited for "
        "that prediction or whether it warmed the model up.",
        "Record the feature from the load on, with several predictions in a row.",
    )


def no_load() -> NotApplicable:
    """The answer of a check of all models where none was loaded."""
    return NotApplicable(None, "No model was loaded during the recording.")


def without_load(view: ModelView, unknown: str) -> InsufficientData:
    """The answer where no load of the model was recorded; `unknown` says what cannot be known then."""
    return InsufficientData(
        view.name,
        f"No load of this model was recorded, so it is unknown {unknown}.",
        "Start recording before the app loads the model.",
    )
