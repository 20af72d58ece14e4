"""`neural-engine-not-used`: the load prepares a model for the Neural Engine, which then never works for it."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.code.sites import sites_of
from tracekit.analysis.where.verdict import Answer, whereabouts
from tracekit.analysis.where.words import known_words, where_words
from tracekit.detectors.shared.not_there import by_file, nothing_logged, tried_ns


class Options(tk.Options):
    min_tried_ms: float = tk.option(
        100.0, "ms", "The shortest delay that the Hangs instrument can be set to report; shorter tries cost nobody."
    )


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Compares what loads tried with where the model ran."""
    where = whereabouts(view.trace, view.name)
    engine, ran, tried = where.of(tk.Device.ANE), where_words(where), tried_ns(view)
    named = view.hardware.attribution.is_any(tk.Attribution.LABEL, tk.Attribution.EXACT)
    prepared = view.hardware.where(named & view.hardware.kind.is_any(tk.Kind.ANE_LOAD, tk.Kind.ANE_COMPILE))
    prepared_ns = tk.covered_ns(prepared) if len(prepared) else 0
    cost_ns = max(int(tried.sum()), prepared_ns)
    metrics = (
        tk.above("tried", "trying the Neural Engine", cost_ns, "ns", round(options.min_tried_ms * 1e6)),
        tk.Metric("on-ane", "predictions on the Neural Engine", engine.predictions, "count"),
    )
    if engine.answer == Answer.PROVEN:
        return view.passed(f"{ran}.", metrics)
    if not tk.reached(metrics, "tried"):
        return view.not_applicable("No load shows that the Neural Engine was tried for long.")
    # An empty table is believed only where another unit worked for every prediction, and the kernel logged nothing.
    elsewhere = max(use.predictions for use in where.units) == where.predictions
    refuted = engine.answer == Answer.REFUTED
    if not refuted and not (elsewhere and nothing_logged(view)):
        return view.unknown(
            f"The load tried the Neural Engine, and it is unknown whether it then worked: {engine.why}.",
            "Record with the Neural Engine instrument, and nothing else running.",
        )
    rows = tk.Shown.of(view.loads.where(tried > 0)) if tried.any() else tk.Shown.of(prepared)
    # An empty table may have lost its rows.
    doubt = "" if refuted else " Possible but not certain: the engine's table is empty."
    return view.finding(
        f"Loading tried the Neural Engine for {view.time(cost_ns)}, and no row shows it used: "
        f"{known_words(where)}.{doubt}{by_file(view, tk.Device.ANE)}",
        metrics,
        rows=rows,
        cost=view.cost(cost_ns, "Time in which loads tried the Neural Engine", once=True),
        call_sites=sites_of(view.trace, view.loads.id[tried > 0]),
    )


DETECTOR = tk.Detector(
    needs=("Core ML",),
    uses=("Neural Engine", "GPU", "Call Stacks"),
    origins=(tk.Origin.CALL_STACKS, tk.Origin.SIGNPOSTS),
    options=Options,
    asks=(tk.any_prediction, tk.any_load("whether it tried the Neural Engine")),
    detect=detect,
)
