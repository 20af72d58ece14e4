"""`missed-deadline`: predictions take longer than the time that the app gives them."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.loads import first_predictions
from tracekit.analysis.models import simulated
from tracekit.analysis.pace import frame_steps
from tracekit.analysis.quantities import MODEL, fast_enough, mostly_overlap, quantiles
from tracekit.detectors.shared.idle_gaps import read_gaps
from tracekit.detectors.shared.planned import of_time
from tracekit.detectors.shared.wording import keep_loaded


class Options(tk.Options):
    budget_ms: float = tk.option(
        0.0, "ms", "Only you know the budget: 16.7 ms for 60 fps, 33.3 ms for 30 fps. 0 means that none is set."
    )
    missed_share: float = tk.option(
        0.05, "share of predictions", "Heuristic: users see one late frame in twenty as a stutter."
    )
    min_predictions: int = tk.option(
        20, "predictions", "Heuristic: among fewer predictions, a single late one would decide."
    )
    min_dropped: int = tk.option(5, "predictions", "Heuristic: fewer dropped frames do not show a pattern.")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Compares every prediction but the first after each load with the budget."""
    timed, first = view.durations > 0, first_predictions(view.trace)[view.predictions.id]
    typical, slow = quantiles(view.durations[timed & ~first], 0.5, 0.95)
    latency = (
        tk.Metric("median", MODEL["p50_ns"].title, typical, "ns"),
        tk.Metric("p95", MODEL["p95_ns"].title, slow, "ns"),
    )
    if not options.budget_ms:
        return _by_frames(view, options, latency)
    judged = view.predictions.where(timed & ~first)
    if len(judged) < options.min_predictions:
        record = keep_loaded(view, tk.RECORD_LONGER)
        return view.too_few_predictions(len(judged), options.min_predictions, adjective="warm", record=record)
    budget = round(options.budget_ms * 1e6)
    late = judged.where(judged.duration_ns > budget)
    share, counted = len(late) / len(judged), tk.format_count(len(judged), "prediction")
    metrics = (
        tk.above("over-budget", "predictions over budget", share, "share", options.missed_share),
        tk.Metric("budget", "budget", budget, "ns"),
        *latency,
        tk.Metric("longest", "longest prediction", int(judged.duration_ns.max()), "ns"),
    )
    words = f"{len(late):,} of {counted} ({tk.format_share(share)}) took longer than {tk.format_time(budget)}"
    words = words if len(late) else f"None of {counted} exceeded the budget"
    words += _left_out(int((timed & first).sum()), int((~timed).sum()), "without a duration")
    if not tk.reached(metrics, "over-budget") or not len(late):
        return view.passed(f"{words}.", metrics)
    return _finding(view, late, share, budget, f"{words}; median {view.time(typical or 0)}", metrics)


def _left_out(cold: int, others: int, which: str) -> str:
    """Clause that says how many predictions are not among those compared."""
    words = [tk.format_count(cold, "first prediction after a load", "first predictions after a load")] if cold else []
    words += [f"{tk.format_count(others, 'prediction')} {which}"] if others else []
    return f", not counting {' and '.join(words)}" if words else ""


_PAIR = 2
"""So many calls have an interval."""
_NEXT_FRAME_MISSED = 1.5
"""Intervals of more frames than that are two frames or more; starts vary by less than half a frame (heuristic)."""
_GIVE_BUDGET = "Give each model its part of the frame with --budget, for example --budget Segmenter=10ms."


def _by_frames(view: tk.ModelView, options: Options, latency: tuple[tk.Metric, tk.Metric]) -> tk.Outcome:
    """Without a budget: looks for frames that are dropped because a prediction takes longer than a frame."""
    steps = frame_steps(view.predictions)
    steady = np.zeros(0, np.bool_) if steps is None else view.warm[steps.index]
    count = int(steady.sum())
    if steps is None or count < options.min_predictions:
        return view.not_applicable("No time budget given; set one with --budget, for example --budget 30fps.")
    frame_ns = round(1e9 / steps.frames_per_second)
    dropped = steps.index[(view.durations[steps.index] > frame_ns) & (steps.frames > 1) & steady]
    drops, share = len(dropped), len(dropped) / max(count, 1)
    metrics = (
        tk.above("dropped-share", "predictions that dropped a frame", share, "share", options.missed_share),
        tk.above("dropped", "times a frame was dropped", drops, "count", options.min_dropped),
        tk.Metric("frame", "frame", frame_ns, "ns"),
        *latency,
    )
    rate, warm = f"Predictions run at a steady {steps.frames_per_second} fps", int(view.warm.sum())
    left_out = _left_out(len(view.warm) - warm, warm - count, "before a gap or the end")
    if not tk.all_reached(metrics):
        idle = read_gaps(view, _PAIR).idle
        together = int(((idle.busy_ns > frame_ns) & (idle.distance_ns > _NEXT_FRAME_MISSED * frame_ns)).sum())
        if together >= max(options.min_dropped, options.missed_share * len(idle.distance_ns)):
            return view.unknown(
                f"{rate}; {tk.format_count(together, 'time')}, this model and others that alternate with it together "
                "took longer than a frame and dropped the next one. None does so alone.",
                _GIVE_BUDGET,
            )
        few = f"{drops:,} of {count:,}" if drops else "none"
        return view.passed(f"{rate}; {few} took longer than a frame and dropped the next one{left_out}.", metrics)
    loads = np.searchsorted(view.predictions.start_ns, view.loads.start_ns)
    # What call stacks show has no instances.
    twice = view.trace.inferred and bool((np.diff(loads) == 0).any())
    # A user that follows another, as in reloads, does not alternate with it.
    users = (view.predictions.instance.filled(), view.processes[view.processes >= 0])
    if twice or any(np.count_nonzero(np.diff(known)) >= len({*known.tolist()}) > 1 for known in users):
        why, who = "several instances or processes run the model by turns", "each of them"
        if twice:
            why, who = "the model was loaded twice before it was used", "each instance"
        return view.unknown(
            f"{rate}, but {why}, and the recording does not show which frames {who} has to keep.",
            _GIVE_BUDGET,
        )
    words = (
        f"{rate}, but {drops:,} of {tk.format_count(count, 'prediction')} ({tk.format_share(share)}) took longer than "
        f"a frame ({tk.format_time(frame_ns)}) and dropped the next one{left_out}"
    )
    return _finding(view, view.predictions.take(dropped), share, frame_ns, words, metrics)


def _finding(
    view: tk.ModelView, late: tk.Calls, share: float, budget_ns: int, words: str, metrics: tuple[tk.Metric, ...]
) -> tk.Outcome:
    """The finding. It has no cost: how much of the time can be saved is not known, only how often it is too long."""
    typical_ns, slow_ns = tk.value_of(metrics, "median"), tk.value_of(metrics, "p95")
    overlap = mostly_overlap(tk.Intervals.from_rows(view.predictions).alone(), view.warm)
    rate = None if overlap or simulated(view.trace) else fast_enough(slow_ns)
    tail = f" p95 is {view.time(slow_ns)}, fast enough for {rate:g} fps." if slow_ns and rate is not None else ""
    return view.finding(
        summary=f"{words}.{tail}{of_time(view, budget_ns, typical_ns)}", metrics=metrics, rows=late, missed=share
    )


DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS, tk.Origin.HARDWARE),
    counts=True,
    caused_by=(
        "latency-jitter",
        "lasting-slowdown",
        "thermal-throttling",
        "growing-latency",
        "shape-switching",
        "concurrent-predictions",
        "excess-data-copies",
        "neural-engine-contention",
        "gpu-contention",
        "cpu-contention",
    ),
    options=Options,
    detect=detect,
)
