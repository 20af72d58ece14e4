"""`new-shape-spike`: the first prediction of each new input shape is far slower than the later ones of that shape.

A recording names no input shapes. Inputs of different shapes mostly keep the compute units busy for different times, so
that the time they worked stands for the shape.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.ledger.patterns import amounts_of_work
from tracekit.analysis.load_waits import after_gap, setup_times, stand_alone
from tracekit.analysis.loads import Uses, uses_of_loads
from tracekit.analysis.statistics import medians_by_group
from tracekit.detectors.shared.comparable_latency import due_to_work, latencies
from tracekit.detectors.shared.comparable_predictions import Calls, calls_with_openings, longer_than_usual
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
        0.5, "share of first predictions", "Heuristic: fewer slow predictions do not show a pattern."
    )
    as_slow_share: float = tk.option(
        0.02,
        "share of the other predictions",
        "Heuristic: if this many others stand out too, slow predictions are no matter of the shape.",
    )
    group_share: float = tk.option(
        0.1, "share of predictions", "Heuristic: fewer predictions are exceptions, not a second shape.", maximum=0.5
    )
    gap_s: float = tk.option(1.0, "s", "Heuristic: longer than any interval at which an app predicts regularly.")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for the first prediction of each amount of work."""
    calls = calls_with_openings(view)
    latency_ns = latencies(view).without_waits_ns
    return judge_when_cool(view, calls, lambda some, _: _judge(view, some, latency_ns, options))


def _judge(view: tk.ModelView, calls: Calls, without_waits_ns: tk.IntArray, options: Options) -> tk.Outcome:
    """The answer for calls among predictions that take so long without their waits, shape (predictions,)."""
    groups = group_by_work(view, calls, without_waits_ns, options)
    if not groups.stands_out.any():
        index = tk.places_of(view.predictions.id, calls.rows.id)
        usual = groups.usual_ns[groups.group]
        worst = float(((without_waits_ns[index] - groups.expected_ns + usual) / usual).max())
        return view.passed(
            f"No prediction stands out from those with about the same work (at most {worst:.1f}x their median)."
        )
    firsts = first_of_work(view, calls, without_waits_ns, groups, options)
    slow, unexplained = firsts.sure & groups.stands_out, groups.stands_out & ~groups.beside_load
    share, elsewhere = _share(groups.stands_out, firsts.sure), _share(unexplained, ~(firsts.sure | firsts.unsure))
    metrics = (
        tk.above("slow-firsts", "slow first predictions of new work", share, "share", options.slow_share),
        tk.below("slow-others", "other slow predictions", elsewhere, "share", options.as_slow_share),
        tk.Metric("amounts", "amounts of work", len(groups.work_ns), "count"),
        tk.Metric("compared", "first predictions compared", int(firsts.sure.sum()), "count"),
    )
    if not metrics[1].reached:
        return view.passed(f"{tk.format_share(elsewhere)} of the other predictions stand out as well.", metrics)
    if slow.any() and metrics[0].reached:
        return _finding(view, calls, groups, slow, metrics)
    if slow.any():
        words = f"{tk.format_share(share)} of the first predictions of an amount of work are slow."
        return view.passed(words, metrics)
    if (len(groups.work_ns) < 2 and unexplained.any()) or (firsts.unsure & groups.stands_out).any():
        longest = tk.format_time(int(calls.durations[groups.stands_out].max()))
        why = (
            "it follows a gap or a slow first prediction, runs beside a load, or its kind of work comes once and stays"
        )
        if len(groups.work_ns) < 2:
            why = "all predictions do about the same work, and shapes of the same work look alike"
        return view.unknown(
            f"A prediction took {longest}, far longer than others with about the same work. It may be the first of a "
            f"new input shape, but {why}.",
            "Use one input shape for a while, then the other, and both again, without gaps and loads.",
        )
    return view.passed("The slow predictions are not the first of a new amount of work.", metrics)


def _share(chosen: tk.BoolArray, among: tk.BoolArray) -> float:
    """Part of some calls; 0 without any."""
    return float(chosen[among].mean()) if among.any() else 0.0


class Groups(NamedTuple):
    """Comparable predictions by their work."""

    group: tk.IntArray
    """Shape (calls,): the group of each."""
    work_ns: tk.FloatArray
    """Shape (groups,): median time that compute units worked."""
    usual_ns: tk.FloatArray
    """Shape (groups,): median duration."""
    stands_out: tk.BoolArray
    """Shape (calls,): takes far longer than the median of its group, without its larger work."""
    expected_ns: tk.FloatArray
    """Shape (calls,): what each would take by its group and its work."""
    beside_load: tk.BoolArray
    """Shape (calls,): a load fills much of the extra time."""


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


class Firsts(NamedTuple):
    """First predictions of each group on each load, but for the very first: shape (calls,) each."""

    sure: tk.BoolArray
    """Nothing but their work sets them apart from the calls around."""
    unsure: tk.BoolArray
    """They follow a gap or a slow first prediction, run beside a load, or their group comes once and stays."""


def group_by_work(view: tk.ModelView, calls: Calls, without_waits_ns: tk.IntArray, options: Options) -> Groups:
    """Groups of comparable calls by their work; one where the work shows no others. `without_waits_ns` is the time of
    each of the model's predictions without its waits, shape (predictions,). O(n log n)."""
    index = tk.places_of(view.predictions.id, calls.rows.id)
    work, without_waits_ns = latencies(view).work_ns[index], without_waits_ns[index]
    group = amounts_of_work(np.rint(work).astype(np.int64), options.group_share)
    work_ns, usual_ns = (medians_by_group(each, group, int(group.max()) + 1) for each in (work, without_waits_ns))
    larger = due_to_work(work, work_ns[group], usual_ns[group])
    meanwhile = setup_times(view.trace).covered_within(tk.Intervals.from_rows(calls.rows))
    stands_out = _is_long(without_waits_ns - larger, usual_ns[group], options)
    beside_load = stands_out & (meanwhile >= _MOSTLY * (without_waits_ns - larger - usual_ns[group]))
    return Groups(group, work_ns, usual_ns, stands_out, usual_ns[group] + larger, beside_load)


_MOSTLY = 0.5
"""Part of the extra time from which on a load meanwhile explains it (heuristic)."""


def _is_long(without_waits_ns: tk.FloatArray | tk.IntArray, usual_ns: tk.FloatArray, options: Options) -> tk.BoolArray:
    much: tk.BoolArray = without_waits_ns - usual_ns >= options.min_extra_ms * 1e6
    return much & (without_waits_ns >= options.ratio * usual_ns)


def first_of_work(
    view: tk.ModelView, calls: Calls, without_waits_ns: tk.IntArray, groups: Groups, options: Options
) -> Firsts:
    """Which of the grouped calls are the first of their work on their load.

    Predictions that are not compared belong to the group whose work is nearest. O(n log n).
    """
    rows, count = view.predictions.where(calls.chosen_from), len(groups.work_ns)
    gap_ns = round(options.gap_s * 1e9)
    index = tk.places_of(rows.id, calls.rows.id)
    without_waits_ns, work = without_waits_ns[calls.chosen_from], latencies(view).work_ns[calls.chosen_from]
    distance = np.log(np.maximum(work, 1.0))[:, None] - np.log(np.maximum(groups.work_ns, 1.0))[None, :]
    group = np.abs(distance).argmin(axis=1)
    group[index] = groups.group
    uses = uses_of_loads(view.loads, rows, view.processes[calls.chosen_from])
    first = np.zeros(len(rows), np.bool_)
    first[np.unique(uses.group * count + group, return_index=True)[1]] = True
    surely_warms, perhaps_warms = _warming_up(rows, uses, first, gap_ns)
    first &= ~surely_warms
    first[uses.first] = False
    slow_start = np.zeros(len(rows), np.bool_)
    slow_start[uses.first] = _is_long(without_waits_ns, groups.usual_ns[group], options)[uses.first]
    visits = np.bincount(group[np.flatnonzero(np.diff(group, prepend=-1))], minlength=count)
    unsure = perhaps_warms | after_gap(rows, gap_ns) | np.roll(slow_start, 1) | (visits < _MIN_VISITS)[group]
    unsure[index] |= groups.beside_load
    return Firsts((first & ~unsure)[index], (first & unsure)[index])


def _warming_up(rows: tk.Calls, uses: Uses, first: tk.BoolArray, gap_ns: int) -> tuple[tk.BoolArray, tk.BoolArray]:
    """Shape (predictions,) each: surely and perhaps begins a load with one prediction for each group, which a gap
    follows to warm the model up. `first` marks the first predictions of each group on each load. O(n log n)."""
    order = np.argsort(uses.group, kind="stable")
    again = np.cumsum(~first[order])
    opens = np.cumsum(uses.count) - uses.count
    leading = np.empty(len(rows), np.bool_)
    leading[order] = again == np.repeat(again[opens], uses.count)
    last = order[opens + np.bincount(uses.group[leading], minlength=len(opens)) - 1]
    surely, perhaps = stand_alone(rows, last, gap_ns)
    return leading & surely[uses.group], leading & perhaps[uses.group]


_MIN_VISITS = 2
"""A shape that comes once and stays looks like another state of the device."""


DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    counts=True,
    uses=("Neural Engine", "GPU", "Thermal State"),
    caused_by=("reload-before-predict", "load-churn"),
    options=Options,
    causes=(tk.Cause.SHAPE, tk.Cause.SPECIALIZING, tk.Cause.WORK),
    detect=detect,
)
