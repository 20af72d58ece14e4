"""`idle-compute-units`: each prediction uses one compute unit after another, and the next one waits for its end."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.breakdown.partition import Part
from tracekit.analysis.code.call_sites import on_cpu
from tracekit.analysis.pace import SLACK
from tracekit.analysis.quantities import median_of
from tracekit.analysis.replay import rate_in_flight
from tracekit.analysis.schedule import recorded_schedule
from tracekit.detectors.shared import idle_gaps

NAMES = ("the Neural Engine", "the GPU", "the CPU")
LARGE = 100_000
"""More calls and pieces are not replayed for the summary: that would take seconds."""


class Options(tk.Options):
    busiest_share: float = tk.option(
        0.75, "share of the time", "Heuristic: from there on, two in flight bring less than a third.", maximum=1
    )
    others_share: float = tk.option(
        0.2, "share of a prediction", "Heuristic: with less on other units, little could run at the same time."
    )
    max_else: float = tk.option(
        0.2, "share of the time", "From there on, what lies between the predictions comes first: serial-predictions."
    )
    min_predictions: int = tk.option(20, "predictions in a row", "Heuristic: shorter runs end before it matters.")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for models whose units take turns within a prediction, called one after the other."""
    gaps = idle_gaps.find_gaps(view, options.min_predictions)
    if not isinstance(gaps, idle_gaps.SequenceGaps):
        return gaps
    if not tk.Intervals.from_rows(view.predictions).alone().all():
        return view.passed("Predictions already overlap.")
    usual, interval = median_of(view.durations), max(median_of(gaps.idle.distance_ns), 1)
    inferred = view.trace.inferred
    # Of calls that samples show, the CPU works in part of the samples at least, and in all at most.
    cpu = on_cpu(view.trace, view.predictions.id) if inferred else [view.breakdown.part(Part.CPU).or_nan()]
    judged = [_turns(view, each, interval) for each in cpu]
    (units, least_busy, others), (upmost, busiest, most_others) = judged[0], judged[-1]
    if inferred:
        # What is neither sampled nor in a row may be work too.
        most_others = 1 - min(median_of(upmost.max(axis=0) / np.maximum(view.durations, 1)), 1)
    metrics = (
        tk.below("busiest", "time of the unit that works most", busiest, "share", options.busiest_share),
        tk.above("others", "time of a prediction on other units", others, "share", options.others_share),
    )
    if least_busy > options.busiest_share:
        return view.passed(f"One unit already works for {tk.format_share(least_busy)} of the interval.", metrics)
    if most_others < options.others_share:
        share = tk.format_share(most_others)
        return view.passed(f"Units other than the busiest one work for {share} of a prediction.", metrics)
    if busiest > options.busiest_share or others < options.others_share:
        return view.unknown("Call stacks do not tell how long the CPU works in a prediction.", tk.RECORD_CORE_ML)
    if usual < (1 - options.max_else) * interval:
        share = tk.format_share(usual / interval)
        return view.passed(f"A usual prediction takes only {share} of the interval.", metrics)
    if gaps.activity is idle_gaps.Activity.PACED and gaps.idle.share >= SLACK:
        return view.passed(idle_gaps.pacing_words(view, gaps), metrics)
    if (in_order := idle_gaps.one_after_another(view, gaps.idle, metrics)) is not None:
        return in_order
    works = dict(zip(NAMES, map(median_of, units), strict=True))
    least = dict.fromkeys(NAMES[-1:], "at least ") if inferred else {}
    order = sorted(filter(works.get, works), key=lambda name: -works[name])
    said = [f"{name} {least.get(name, '')}{view.time(works[name])}" for name in order]
    saved, spent = 1 - max(busiest, 0.5), int(gaps.idle.distance_ns.sum())
    recorded, rates = recorded_schedule(view.trace), "Several predictions could be in flight"
    if not inferred and len(recorded.calls) + len(recorded.schedule.pieces) <= LARGE:
        mine = recorded.calls.kind.is_any(tk.Kind.PREDICTION) & recorded.calls.model.is_any(view.name)
        # Units other than the CPU allow no more.
        most = interval / max(works["the Neural Engine"], works["the GPU"], 1)
        two, three = (min(rate_in_flight(recorded.schedule, mine, recorded.user, count), most) for count in (2, 3))
        rates = f"Two predictions in flight would bring up to {two:.1f}x the throughput, three up to {three:.1f}x"
    return view.finding(
        f"One compute unit works at a time: {', '.join(said)} per prediction (medians). {rates}, if none needs the "
        "previous result and CPU cores are free.",
        metrics,
        rows=view.predictions,
        cost=tk.Cost(
            round(saved * spent),
            saved,
            "Time that overlapping two predictions hides at most, as a share of the time from the first to the last.",
            of="the time from first to last prediction",
        ),
        affected=tk.Intervals.from_rows(view.predictions),
    )


def _turns(view: tk.ModelView, cpu_ns: tk.FloatArray, interval: float) -> tuple[tk.FloatArray, float, float]:
    """Time of each unit in each prediction, shape (3, predictions), if the CPU has so much; that of the busiest one as
    a share of an interval, and that of the others as one of the prediction (medians)."""
    units = np.nan_to_num([*(view.breakdown.part(each).or_nan() for each in (Part.ANE, Part.GPU)), cpu_ns])
    most = units.max(axis=0)
    others = median_of((units.sum(axis=0) - most) / np.maximum(view.durations, 1))
    return units, min(median_of(most) / interval, 1.0), others


DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    uses=("Neural Engine", "GPU"),
    options=Options,
    detect=detect,
)
