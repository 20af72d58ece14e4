"""`latency-jitter`: some calls take much longer than the others, for no reason of their own."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.latency_growth import GrowthRule
from tracekit.analysis.ledger.account import ledger
from tracekit.analysis.ledger.causes import NAMES
from tracekit.analysis.ledger.patterns import Grows
from tracekit.analysis.quantities import median_of, quantiles
from tracekit.detectors.shared import latency_causes
from tracekit.detectors.shared.comparable_predictions import Calls, comparable_calls, longer_than_usual
from tracekit.detectors.shared.wording import FOLLOWS_INPUT_SIZE


class Options(tk.Options):
    tail_ratio: float = tk.option(
        1.5, "p95 to median", "Heuristic: a frame that is planned for the median is then missed once in twenty times."
    )
    min_difference_ms: float = tk.option(
        1.0, "ms", "Heuristic: smaller differences come from scheduling and cost no frame."
    )
    min_slow: int = tk.option(
        6,
        "predictions",
        "If one prediction in forty is slow, which no one notices, six or more of a hundred are slow by "
        "chance in 4% of recordings, and five or more in 10%.",
    )


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for calls that take longer than the others, where no other reading explains them."""
    return latency_causes.judge_when_cool(
        view, comparable_calls(view), lambda calls, ratio: _judge(view, calls, ratio, options)
    )


def _judge(view: tk.ModelView, calls: Calls, requested_ratio: float, options: Options) -> tk.Outcome:
    durations = calls.durations
    typical, slow = (value or 0.0 for value in quantiles(durations, 0.5, max(0.5, 1 - 0.05 * requested_ratio)))
    metrics = (
        tk.above("tail", "p95 to median", slow / typical, "ratio", options.tail_ratio),
        tk.Metric("median", "median, comparable predictions", typical, "ns"),
        tk.Metric("p95", "p95, comparable predictions", slow, "ns"),
    )
    if not tk.reached(metrics, "tail") or slow - typical < options.min_difference_ms * 1e6:
        beside = f" (not compared: {calls.exclusion_words})" if calls.exclusion_words else ""
        return view.passed(
            f"p95 of {tk.format_count(len(durations), 'comparable prediction')} is {tk.format_time(slow)}, "
            f"{slow / typical:.2f}x the median{beside}.",
            metrics,
        )
    reason = _other_reading(view, calls, requested_ratio)
    if reason:
        return view.passed(reason, metrics)
    count = int((durations >= options.tail_ratio * typical).sum())
    if count < options.min_slow:
        return view.unknown(
            f"{count:,} of {tk.format_count(len(durations), 'prediction')} took much longer than the others, which can "
            f"be chance; {options.min_slow} needed.",
            tk.RECORD_LONGER,
        )
    long = durations >= min(_LONG * typical, slow)
    other = _other_cause(view, calls, long)
    if other is not None:
        return view.passed(f"Most of the extra time of the slow ones has a cause of its own: {other}.", metrics)
    what = (
        f"p95 of {tk.format_count(len(durations), 'comparable prediction')} is {tk.format_time(slow)}, "
        f"{slow / typical:.1f}x the median of {tk.format_time(typical)}."
    )
    summary = " ".join([what, *_coincidences(view, calls, long)])
    basis = f"Time beyond the median of all predictions, in predictions that take {_LONG}x that median or longer"
    return longer_than_usual(view, calls, long, typical, (summary, metrics), basis)


def _other_cause(view: tk.ModelView, calls: Calls, long: tk.BoolArray) -> str | None:
    """What the account of time says of most of what the long calls take beyond usual, where that is no jitter."""
    account = ledger(view.trace).get(view.name)
    if account is None:
        return None
    cause = next(iter(account.sums(tk.places_of(account.calls.id, calls.rows.where(long).id))), None)
    return None if cause is None or cause in DETECTOR.causes else NAMES[cause]


def _other_reading(view: tk.ModelView, calls: Calls, requested_ratio: float) -> str:
    """What else explains that calls differ; empty where nothing does."""
    if latency_causes.read_growth(view, calls, GrowthRule(_SHORT_SEQUENCE)).cause is Grows.SEQUENCE:
        return "Latency grows within each sequence: see growing-latency."
    groups = latency_causes.read_switching(view, calls, requested_ratio, latency_causes.SwitchOptions())
    if (
        groups is not None
        and groups.work is not latency_causes.Work.UNKNOWN
        and not latency_causes.no_switching(view, calls, groups)
    ):
        return "Predictions form a fast and a slow group: see shape-switching."
    if latency_causes.follows_input_size(view, calls):
        return FOLLOWS_INPUT_SIZE
    return ""


_SHORT_SEQUENCE = 6
"""From this many calls on, a sequence that grows is no jitter; `growing-latency` does not judge such short ones."""

_LONG = 1.5
"""Times the usual time from which on a call counts as long."""

_MOSTLY = 0.8
"""Share of the long calls that must have something in common, which at most a fifth of the others has."""


def _coincidences(view: tk.ModelView, calls: Calls, long: tk.BoolArray) -> list[str]:
    """Sentences on what the long calls have in common."""
    sentences = []
    states = latency_causes.thermal_states(view, calls)
    if states is not None and _in_common(states > 0, long):
        sentences.append("The slow ones ran while the device was warmer.")
    slowest = latency_causes.gpu_at_minimum(view, calls)
    if slowest is not None and _in_common(slowest, long):
        sentences.append("The slow ones ran while the GPU was at its minimum performance state.")
    busy = latency_causes.busy_times(view, calls).sum(axis=1)
    if (busy > 0).all() and (~long).any():
        extra = float(median_of(calls.durations[long]) - median_of(calls.durations[~long]))
        share = float(median_of(busy[long]) - median_of(busy[~long])) / extra if extra > 0 else 0.0
        if share >= 0.5:
            sentences.append(
                f"{tk.format_share(min(share, 1.0))} of the extra time is compute unit work: they ran at lower clocks "
                "or had more to do."
            )
        else:
            part = f"Only {tk.format_share(share)}" if share > 0 else "None"
            sentences.append(f"{part} of the extra time is compute unit work.")
    if states is None:
        sentences.append("The thermal state was not recorded, so heat may be the cause.")
    return sentences


def _in_common(condition: tk.BoolArray, long: tk.BoolArray) -> bool:
    others = condition[~long]
    return float(condition[long].mean()) >= _MOSTLY and (not len(others) or float(others.mean()) <= 1 - _MOSTLY)


DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    counts=True,
    uses=("Neural Engine", "GPU", "GPU State", "Thermal State"),
    options=Options,
    causes=(tk.Cause.NOT_VISIBLE, tk.Cause.WORK, tk.Cause.CLOCK, tk.Cause.UNIT, tk.Cause.BLOCKED),
    detect=detect,
)
