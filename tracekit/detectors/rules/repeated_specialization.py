"""`repeated-specialization`: many predictions specialize the model, or compile GPU code, again."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.breakdown.partition import Part
from tracekit.analysis.ledger.causes import PREPARING
from tracekit.analysis.ledger.explain import prepared_by
from tracekit.analysis.quantities import median_of
from tracekit.detectors.shared.interface import shapes_words
from tracekit.detectors.shared.stands_out import Alike, judge_alike

_PAGE = tk.page_beside(__file__)
_HINT = _PAGE.fix_from("If shapes change")


class Options(tk.Options):
    min_share: float = tk.option(
        0.3, "share of the prediction", "Heuristic: less is a lookup in a cache, or a small part of the problem."
    )
    min_ms: float = tk.option(5.0, "ms", "Heuristic: five samples; fewer in one prediction may be chance.")
    repeated_share: float = tk.option(
        0.2, "share of the later predictions", "Heuristic: an app whose shapes are all known by then has none."
    )
    min_predictions: int = tk.option(5, "predictions", "Heuristic: fewer may be the first ones of as many shapes.")


@judge_alike(PREPARING, "min_predictions")
def detect(calls: Alike, options: Options) -> tk.Outcome:
    """Looks for specialization in predictions that are not the first after a load, and that goes on."""
    view, durations = calls.view, calls.calls.duration_ns
    again = calls.warm & (calls.extra_ns >= np.maximum(options.min_share * durations, options.min_ms * 1e6))
    later = np.flatnonzero(calls.warm)[int(calls.warm.sum()) // 2 :]
    share, count = float(again[later].mean()), int(again.sum())
    metrics = (
        tk.above("later", "later predictions that specialize", share, "share", options.repeated_share),
        tk.above("count", "predictions that specialize", count, "count", options.min_predictions),
    )
    if not tk.all_reached(metrics):
        hidden = int(view.breakdown.part(Part.UNEXPLAINED).filled(0).sum()) / max(int(view.durations.sum()), 1)
        if hidden >= options.min_share and view.trace.samples is None:
            words = f"{tk.format_share(hidden)} of prediction time has no rows, and call stacks were not recorded."
            return view.unknown(words, "Record with Time Profiler, too: call stacks show specialization on the GPU.")
        which = f"{count:,} of {tk.format_count(int(calls.warm.sum()), 'warm prediction')} specialize"
        return view.passed(f"{which if count else 'No warm prediction specializes'} the model.", metrics)
    took, of = (view.time(median_of(ns[again])) for ns in (calls.extra_ns, durations))
    note, fix = shapes_words(view)
    summary = (
        f"{count:,} of {tk.format_count(len(again), 'prediction')} ({tk.format_share(count / len(again))}) specialize "
        f"the model again, for {took} of {of} (medians; {prepared_by(view.trace, calls.calls.id[again])}). {note}"
    )
    fix, words = fix and f"{fix}\n\n{_HINT}\n", "Time in which predictions specialize the model"
    return calls.finding(again, (summary, metrics), words, fix=fix)


DETECTOR = tk.Detector(
    page=_PAGE,
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    counts=True,
    uses=("Call Stacks", "Neural Engine", "GPU"),
    caused_by=("reload-before-predict", "load-churn"),
    options=Options,
    causes=PREPARING,
    detect=detect,
)
