"""`latency-jitter`: some calls take much longer than the others, for no reason of their own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.autoregression import opens_sequence
from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.device_states import UNKNOWN, states_at
from tracekit.analysis.ledger.causes import NAMES
from tracekit.analysis.ledger.layers import UNITS
from tracekit.analysis.ledger.patterns import GROUP_SPREAD, Grows, read_growth
from tracekit.analysis.quantities import sample_quantiles
from tracekit.analysis.throughput import burst_numbers
from tracekit.detectors.shared.options import SwitchOptions
from tracekit.detectors.shared.stands_out import MIN_CALLS, Alike, alternating, judge_alike
from tracekit.detectors.shared.wording import FOLLOWS_INPUT_SIZE, RECORD_PHASE_ALONE


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


CAUSES = (tk.Cause.NOT_VISIBLE, tk.Cause.WORK, tk.Cause.CLOCK, tk.Cause.UNIT, tk.Cause.BLOCKED)


@judge_alike(CAUSES)
def detect(calls: Alike, options: Options) -> tk.Outcome:
    """Looks for calls that take longer than the others, where no other reading explains them."""
    view, burst = calls.view, burst_numbers(calls.calls)
    at = np.flatnonzero(calls.warm & tk.Intervals.from_rows(view.predictions).alone()[calls.at])
    # A prompt before the tokens that follow.
    at = at[~opens_sequence(calls.own_ns[at], burst[at])]
    if len(at) < MIN_CALLS:
        left_out = "overlapping predictions and those that open a sequence are not compared"
        return view.too_few_predictions(
            len(at), MIN_CALLS, adjective="comparable", left_out=left_out, record=RECORD_PHASE_ALONE
        )
    outcome = _judge_some(calls, at, burst, options)
    if isinstance(outcome, tk.Finding) and (hidden := _may_have_waited(calls, at)).any():
        surely = at[~hidden]
        outcome = _judge_some(calls, surely, burst, options) if len(surely) >= MIN_CALLS else outcome
        if len(surely) < MIN_CALLS or not isinstance(outcome, tk.Finding):
            return view.unknown(
                f"{tk.format_count(int(hidden.sum()), 'prediction')} took longer while other work ran, and the "
                "recording does not show whether it ran on the same compute unit.",
                "Record with the Core ML template, which includes the Neural Engine and the GPU, and without other "
                "models.",
            )
    return outcome


def _judge_some(calls: Alike, at: tk.IntArray, burst: tk.IntArray, options: Options) -> tk.Outcome:
    """The answer for calls at these places, which have something in common to compare."""
    view, took = calls.view, calls.usual.ns + calls.extra_ns[at]
    typical, slow = sample_quantiles(took, 0.5, 0.95)
    metrics = (
        tk.above("tail", "p95 to median", slow / max(typical, 1), "ratio", options.tail_ratio),
        tk.Metric("median", "median, comparable predictions", typical, "ns"),
        tk.Metric("p95", "p95, comparable predictions", slow, "ns"),
    )
    what = f"p95 of {tk.format_count(len(at), 'comparable prediction')} is {tk.format_time(slow)}"
    if not tk.reached(metrics, "tail") or slow - typical < options.min_difference_ms * 1e6:
        return view.passed(f"{what}, {metrics[0].value:.2f}x the median.", metrics)
    long = np.zeros(len(calls.calls), np.bool_)
    long[at[took >= min(_LONG * typical, slow)]] = True
    if reason := _other_reading(calls, at, burst, long):
        return view.passed(reason, metrics)
    count = int((took >= options.tail_ratio * typical).sum())
    if count < options.min_slow:
        return view.unknown(
            f"{count:,} of {tk.format_count(len(at), 'prediction')} took much longer than the others, which can "
            f"be chance; {options.min_slow} needed.",
            tk.RECORD_LONGER,
        )
    cause = next(iter(calls.account.sums(calls.at[long])))
    if cause not in CAUSES:
        return view.passed(f"Most of the extra time of the slow ones has a cause of its own: {NAMES[cause]}.", metrics)
    shortest, low, high = sample_quantiles(took, 0.05, 0.25, 0.75)
    if view.trace.inferred and _of_work(calls, long) >= _MOSTLY and high - low > GROUP_SPREAD * typical:
        return view.unknown(
            f"Predictions take from {view.time(shortest)} to {view.time(slow)} without a usual length, and compute for "
            "it, as with inputs of many sizes, which call stacks do not show.",
            "Process inputs of one size for a while.",
        )
    times = f"{metrics[0].value:.1f}x the median of {tk.format_time(typical)}"
    summary = f"{what}, {times}."
    if view.predictions.origin.is_any(tk.Origin.HARDWARE).any():
        what = f"p95 of {tk.format_count(len(at), 'comparable prediction')} is at least {tk.format_time(slow)}"
        summary = f"{what}: their work on hardware alone is {times}."
    basis = f"Time beyond a usual prediction, in predictions that take {_LONG}x the median or longer"
    return calls.finding(long, (" ".join((summary, *_coincidences(calls, long))), metrics), basis)


def _may_have_waited(calls: Alike, at: tk.IntArray) -> tk.BoolArray:
    """Shape (places,): predictions of other models were in flight for most of the extra time, and no row shows the unit
    of both."""
    view, windows, extra = calls.view, calls.times.where(at), calls.extra_ns[at]
    times = breakdown(view.trace)
    known = np.sum([times.busy(unit).filled(0) for unit in tk.DEVICE_NAMES], axis=0) > 0
    others = ~times.every.model.is_any(view.name)
    called = tk.Intervals.from_rows(view.trace.activity).where(times.every.id)
    own = known[tk.places_of(times.every.id, calls.calls.id[at])]
    every, hidden = (called.where(chosen).covered_within(windows) for chosen in (others, others & ~known))
    likely: tk.BoolArray = np.where(own, hidden, every) >= _LIKELY_SHARE * extra
    return likely & (extra >= _LONGER * calls.usual.ns)


def _other_reading(calls: Alike, at: tk.IntArray, burst: tk.IntArray, long: tk.BoolArray) -> str:
    """What else explains that calls differ; empty where nothing does."""
    times = tk.Intervals(calls.calls.start_ns[at], calls.calls.start_ns[at] + calls.own_ns[at])
    if read_growth(times, burst[at], calls.thermal[at], _SHORT_SEQUENCE).cause is Grows.SEQUENCE:
        return "Latency grows within each sequence: see growing-latency."
    groups = alternating(calls, SwitchOptions())
    if calls.has_larger_inputs(long):
        return FOLLOWS_INPUT_SIZE
    return "Predictions form a fast and a slow group: see shape-switching." if groups and groups.take_turns else ""


_SHORT_SEQUENCE = 6
"""From this many calls on, a sequence that grows is no jitter; `growing-latency` does not judge such short ones."""
_LONG = 1.5
"""Times the usual time from which on a call counts as long."""
_LONGER, _LIKELY_SHARE = 0.2, 0.8
"""Part of the usual time by which a call is longer before it is asked whether it waited, and part of that for which
others must be in flight to explain it (heuristic)."""
_MOSTLY = 0.8
"""Share of the long calls that must have something in common, which at most a fifth of the others has."""


def _of_work(calls: Alike, long: tk.BoolArray) -> float:
    """Part of the extra time of the long calls in which compute units worked."""
    work = calls.by(tk.Cause.WORK, tk.Cause.CLOCK, tk.Cause.UNIT)[long].sum()
    return float(np.clip(work / max(calls.extra_ns[long].sum(), 1), 0, 1))


def _coincidences(calls: Alike, long: tk.BoolArray) -> Iterator[str]:
    """Sentences on what the long calls have in common."""
    others, states = calls.warm & ~long, calls.view.trace.table(tk.GpuPerformance)
    if states is not None and len(states):
        slowest = states_at(states, ("Minimum",), calls.times.starts + calls.times.durations // 2) == 0
        if slowest[long].mean() >= _MOSTLY and (not others.any() or slowest[others].mean() <= 1 - _MOSTLY):
            yield "The slow ones ran while the GPU was at its minimum performance state."
    if calls.usual.layers_ns[UNITS].any():
        share = _of_work(calls, long)
        if share >= 0.5:
            yield (
                f"{tk.format_share(share)} of the extra time is compute unit work: they ran at lower clocks or had "
                "more to do."
            )
        else:
            part = f"Only {tk.format_share(share)}" if share >= 0.01 else "None"
            yield f"{part} of the extra time is compute unit work."
    if calls.usual.thermal == UNKNOWN:
        yield "The thermal state was not recorded, so heat may be the cause."


DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS, tk.Origin.HARDWARE),
    counts=True,
    uses=("Neural Engine", "GPU", "GPU State", "Thermal State"),
    options=Options,
    causes=CAUSES,
    detect=detect,
)
