"""`shape-switching`: calls fall into fast and slow ones, as with inputs of several shapes."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.shared.comparable_predictions import Calls, comparable_calls, longer_than_usual
from tracekit.detectors.shared.interface import Shapes, shapes_of
from tracekit.detectors.shared.latency_causes import SwitchOptions, Work, judge_when_cool, no_switching, read_switching

_PAGE = tk.page_beside(__file__)
_HINT = _PAGE.fix_from("If the shape rarely changes")


def detect(view: tk.ModelView, options: SwitchOptions) -> tk.Outcome:
    """Looks for two groups of calls whose work differs and which take turns."""
    return judge_when_cool(view, comparable_calls(view), lambda calls, ratio: _judge(view, calls, ratio, options))


def _judge(view: tk.ModelView, calls: Calls, requested_ratio: float, options: SwitchOptions) -> tk.Outcome:
    switching = read_switching(view, calls, requested_ratio, options)
    if switching is None:
        return view.passed(
            f"The latencies of {tk.format_count(len(calls.rows), 'prediction')} form no separate slow group."
        )
    share = float(switching.slow.mean())
    metrics = (
        tk.above("ratio", "slow group to fast group", switching.ratio, "ratio", options.ratio),
        tk.above("slow-share", "predictions in the slow group", share / requested_ratio, "share", options.group_share),
        tk.above("switches", "switches between the groups", switching.switches, "count", options.switches),
        tk.Metric("fast-median", "median of the fast group", switching.fast_median_ns, "ns"),
        tk.Metric("slow-median", "median of the slow group", switching.slow_median_ns, "ns"),
    )
    reason = no_switching(view, calls, switching)
    if reason:
        return view.passed(reason, metrics)
    if switching.work is Work.UNKNOWN:
        return view.unknown(
            f"Predictions take either {tk.format_time(switching.fast_median_ns)} or "
            f"{tk.format_time(switching.slow_median_ns)}, but the recording does not show whether the slow ones work "
            "or wait.",
            "Record with the Core ML template, which includes the Neural Engine and the GPU.",
        )
    shapes = shapes_of(view)
    if switching.work is Work.OTHER_UNIT:
        what = f"the slow ones run mainly on the {switching.slow_unit}, the fast ones on the {switching.fast_unit}"
    else:
        what = f"the slow ones work longer on the {switching.slow_unit}"
    summary = (
        f"{int(switching.slow.sum()):,} of {tk.format_count(len(calls.rows), 'prediction')} "
        f"({tk.format_share(share)}) take {tk.format_time(switching.slow_median_ns)} instead of "
        f"{tk.format_time(switching.fast_median_ns)} (medians) and switch groups {switching.switches:,} times; {what}. "
        f"{_cause(shapes)}"
    )
    words = "Time that predictions of the slow group took beyond the median of the fast group"
    fix = f"{shapes.fix}\n\n{_HINT}\n" if shapes and shapes.fix else ""
    usual, said = switching.fast_median_ns, (summary, metrics)
    return longer_than_usual(view, calls, switching.slow, usual, said, words, fix=fix, causes=DETECTOR.causes)


def _cause(shapes: Shapes | None) -> str:
    """What may lie behind it; the model's file narrows it down."""
    usual = "The usual cause is inputs of different shapes, which recordings do not show"
    if shapes is None:
        return f"{usual}."
    if shapes.flexible:
        return f"{usual}; by the model file, these inputs take several: {shapes.flexible}."
    return (
        "By the model file every input has one shape, so different shapes are not the cause: compare what the slow "
        "predictions are given, and which function they call."
    )


DETECTOR = tk.Detector(
    page=_PAGE,
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    counts=True,
    uses=("Neural Engine", "GPU", "Thermal State"),
    options=SwitchOptions,
    causes=(tk.Cause.WORK, tk.Cause.UNIT),
    detect=detect,
)
