"""`new-shape-spike`: the first prediction of each new input shape is far slower than the later ones of that shape."""

from __future__ import annotations

import pandas as pd

import tracekit.detectors as tk
from tracekit.detectors.shared.comparable_latency import judge_with_waits
from tracekit.detectors.shared.comparable_predictions import Calls, calls_with_openings, longer_than_usual
from tracekit.detectors.shared.first_of_work import FirstsRule, Groups, first_of_work, group_by_work
from tracekit.detectors.shared.latency_causes import judge_when_cool


class Options(tk.Options):
    ratio: float = tk.option(
        2.0,
        "times the median of predictions with about the same work",
        "Heuristic: twice as long is beyond the usual spread of latencies.",
        minimum=1,
    )
    min_extra_ms: float = tk.option(10.0, "ms", "Heuristic: less than a frame at 60 fps, so no one notices it.")
    slow_share: float = tk.option(
        0.5, "share of first predictions", "Heuristic: fewer slow predictions do not show a pattern.", maximum=1
    )
    as_slow_share: float = tk.option(
        0.02,
        "share of the other predictions",
        "Heuristic: if this many others stand out too, slow predictions are no matter of the shape.",
        maximum=1,
    )
    group_share: float = tk.option(
        0.1, "share of predictions", "Heuristic: fewer predictions are exceptions, not a second shape.", maximum=0.5
    )
    gap_s: float = tk.option(1.0, "s", "Heuristic: longer than any interval at which an app predicts regularly.")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for the first prediction of each amount of work."""
    calls = calls_with_openings(view)
    return judge_with_waits(
        view,
        "The first prediction of a new amount of work took longer",
        lambda latency_ns: judge_when_cool(view, calls, lambda some, _: _judge(view, some, latency_ns, options)),
    )


def _judge(view: tk.ModelView, calls: Calls, without_waits_ns: tk.IntArray, options: Options) -> tk.Outcome:
    """The answer for calls among predictions that take so long without their waits, shape (predictions,)."""
    rule = FirstsRule(options.ratio, options.min_extra_ms * 1e6, options.group_share, round(options.gap_s * 1e9))
    groups = group_by_work(view, calls, without_waits_ns, rule)
    if not groups.stands_out.any():
        index = view.predictions.index.get_indexer(calls.rows.index)
        usual = groups.usual_ns[groups.group]
        worst = float(((without_waits_ns[index] - groups.expected_ns + usual) / usual).max())
        return view.passed(
            f"No prediction stands out from those with about the same work (at most {worst:.1f}x their median)."
        )
    firsts = first_of_work(view, calls, without_waits_ns, groups, rule)
    slow, others = firsts.sure & groups.stands_out, ~(firsts.sure | firsts.unsure)
    metrics = (
        tk.above(_FIRSTS, _share(groups.stands_out, firsts.sure), "share", options.slow_share),
        tk.below(_OTHERS, _share(groups.stands_out & ~groups.beside_load, others), "share", options.as_slow_share),
        tk.Metric("amounts of work", len(groups.work_ns), "count"),
        tk.Metric("first predictions compared", int(firsts.sure.sum()), "count"),
    )
    if not tk.reached(metrics, _OTHERS):
        elsewhere = tk.format_share(tk.value_of(metrics, _OTHERS))
        return view.passed(f"{elsewhere} of the other predictions stand out as well.", metrics)
    if slow.any():
        if tk.reached(metrics, _FIRSTS):
            return _finding(view, calls, groups, slow, metrics)
        share = tk.format_share(tk.value_of(metrics, _FIRSTS))
        return view.passed(f"{share} of the first predictions of an amount of work are slow.", metrics)
    unexplained = groups.stands_out & ~groups.beside_load
    if (len(groups.work_ns) < 2 and unexplained.any()) or (firsts.unsure & groups.stands_out).any():
        return _untold(view, calls.rows[groups.stands_out], len(groups.work_ns))
    return view.passed("The slow predictions are not the first of a new amount of work.", metrics)


_FIRSTS, _OTHERS = "slow first predictions of new work", "other slow predictions"


def _share(chosen: tk.BoolArray, among: tk.BoolArray) -> float:
    """Part of some calls; 0 without any."""
    return float(chosen[among].mean()) if among.any() else 0.0


def _untold(view: tk.ModelView, slow: pd.DataFrame, groups: int) -> tk.Outcome:
    """The answer where slow predictions may be the first of a new shape, or slow for another reason."""
    longest = tk.format_time(int(slow["duration_ns"].max()))
    reason = (
        "all predictions do about the same work, and shapes of the same work look alike"
        if groups < 2
        else "it follows a gap or a slow first prediction, runs beside a load, or its kind of work comes once and stays"
    )
    return view.unknown(
        f"A prediction took {longest}, far longer than others with about the same work. It may be the first of a new "
        f"input shape, but {reason}.",
        "Use one input shape for a while, then the other, and both again, without gaps and loads.",
    )


def _finding(
    view: tk.ModelView, calls: Calls, groups: Groups, slow: tk.BoolArray, metrics: tuple[tk.Metric, ...]
) -> tk.Finding:
    """The finding with its cost: what first predictions took beyond the median of their group."""
    usual = groups.expected_ns[slow]
    durations = calls.durations[slow]
    worst = int((durations - usual).argmax())
    more = f" ({tk.format_count(len(durations), 'first prediction')} affected)" if len(durations) > 1 else ""
    summary = (
        f"Predictions do {len(groups.work_ns)} amounts of work, as with inputs of several shapes, and the first "
        f"one of another amount took {tk.format_time(int(durations[worst]))} instead of the usual "
        f"{tk.format_time(float(usual[worst]))}{more}."
    )
    words = "Time slow first predictions took beyond the median of those with about the same work"
    return longer_than_usual(view, calls, slow, usual, (summary, metrics), words, once=True)


DETECTOR = tk.Detector(
    id="new-shape-spike",
    page=tk.page_beside(__file__),
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    counts=True,
    uses=("Neural Engine", "GPU", "Thermal State"),
    caused_by=("reload-before-predict", "load-churn"),
    options=Options,
    detect=detect,
)
