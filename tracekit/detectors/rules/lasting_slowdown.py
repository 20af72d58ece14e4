"""`lasting-slowdown`: from some time on, the same work takes longer for good, while the device stays as warm."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.ledger.patterns import MIN_IN_STATE
from tracekit.detectors.shared.stands_out import Alike, judge_alike
from tracekit.detectors.shared.unchanged import SAME, conditions_in_words, copying_ns, time_on_unit

BESIDE = 0.5
"""Share of calls beside which others run, from which on these may be what makes them long (heuristic)."""


class Options(tk.Options):
    slowdown: float = tk.option(
        1.5,
        "later to earlier predictions",
        "Heuristic: users notice a lasting slowdown by half, and a median over all predictions hides it.",
    )


@judge_alike((tk.Cause.LEVEL,), 3 * MIN_IN_STATE)
def detect(calls: Alike, options: Options) -> tk.Outcome:
    """Compares predictions after the time from which on the same work takes longer with those before."""
    view, usual, level_ns = calls.view, calls.usual.ns, calls.usual.level_ns
    if level_ns is None:
        return view.passed("Latency does not step up for good.")
    after = calls.calls.start_ns >= level_ns
    late = calls.warm & after
    typical = calls.typical_ns(late)
    metrics = (
        tk.above("ratio", "later to earlier predictions", typical / usual, "ratio", options.slowdown),
        tk.Metric("before", "predictions before", int((~after).sum()), "count"),
        tk.Metric("after", "predictions after", int(after.sum()), "count"),
    )
    since = f"From {level_ns / 1e9:,.3f} s on, after {tk.format_count(int((~after).sum()), 'prediction')},"
    slower = f"the same work takes {typical / usual:.2f}x as long"
    if not tk.reached(metrics, "ratio"):
        return view.passed(f"{since} {slower}.", metrics)
    parts = calls.calls.id[calls.warm & ~after], calls.calls.id[late]
    activity = view.trace.activity
    for other in activity.model.held() if view.trace.inferred else ():
        earliest, _, _, latest = activity.where(activity.model.is_any(other)).bounds
        beside = tk.Intervals(earliest, latest).union().covered_within(calls.times) > 0
        if other != view.name and beside[late].mean() >= BESIDE > beside[calls.warm & ~after].mean():
            return view.unknown(
                f"{since} {slower}, but only from then on do they run beside {other}: nothing shows how long they "
                "wait for it.",
                tk.RECORD_CORE_ML,
            )
    before_ns, after_ns = (copying_ns(view, part) for part in parts)
    if after_ns >= SAME * before_ns > 0:
        return view.unknown(
            f"{since} predictions take {typical / usual:.1f}x as long, but copying inputs and outputs takes longer "
            f"too ({view.time(after_ns)} instead of {view.time(before_ns)}): they may be larger.",
            "Record the feature with inputs of one size.",
        )
    unit, on_unit = time_on_unit(view, parts)
    thermal, conditions = conditions_in_words(view, parts, unit)
    summary = (
        f"{since} {slower} until the end (thermal state: {thermal}): {view.time(typical)} instead of "
        f"{view.time(usual)}{on_unit}. {conditions}"
    )
    return calls.finding(late, (summary, metrics), "Time by which the same work takes longer from then on")


DETECTOR = tk.Detector(
    needs=("Core ML",),
    uses=("Neural Engine", "GPU", "GPU State", "Thermal State", "App Life Cycle"),
    origins=(tk.Origin.CALL_STACKS, tk.Origin.HARDWARE),
    options=Options,
    causes=(tk.Cause.LEVEL,),
    detect=detect,
)
