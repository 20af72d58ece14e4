"""`memory-growth`: the footprint grows with each prediction."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.memory import LEAST_NS, PER_SEGMENT, SEGMENTS, growth, longest_stretch, sizes
from tracekit.analysis.statistics import top_calls
from tracekit.detectors.shared.memory import MB, engine_memory, held, min_mb_option, unsampled
from tracekit.detectors.shared.wording import of_models


class Options(tk.Options):
    min_mb: float = min_mb_option()
    min_share: float = tk.option(
        0.05, "share of the footprint", "Heuristic: caches of a large app grow by some percent."
    )
    late_share: float = tk.option(
        0.5,
        "times the growth over all",
        "Heuristic: a cache that fills grows less and less; what is never freed grows on.",
    )
    idle_share: float = tk.option(
        0.5,
        "times the growth per second",
        "Heuristic: what grows half as fast without predictions does not come with them.",
    )


def detect(view: tk.RecordingView, options: Options) -> tk.Outcome:
    """Compares the footprint along the longest time in which models predict and none is loaded."""
    if (answer := unsampled(view)) is not None:
        return answer
    known = sizes(view.trace)
    if not len(top_calls(view.trace, tk.Kind.PREDICTION)):
        return view.not_applicable("No prediction was recorded.")
    grown = growth(view.trace)
    if grown is None:
        calls, within = longest_stretch(view.trace)
        between = "" if len(calls) else " that no load interrupts"
        return view.unknown(
            f"{tk.format_count(len(within), 'sample')} of the footprint during "
            f"{tk.format_count(len(calls), 'prediction')}{between}; {PER_SEGMENT} in each of {SEGMENTS} parts, over "
            f"{tk.format_time(LEAST_NS)} or more, are needed.",
            "Record longer, with predictions throughout: Activity Monitor samples about once per second.",
        )
    start_bytes = int(known.bytes[known.before(grown.start_ns)])
    needed = max(options.min_mb * MB, options.min_share * start_bytes)
    late = grown.late / grown.per_prediction if grown.per_prediction > 0 else None
    metrics = (
        tk.above("growth", "growth", grown.total, "bytes", needed),
        tk.Metric("per-prediction", "growth per prediction", grown.per_prediction, "bytes"),
        tk.Metric("at-least", "growth per prediction, at least (99% interval)", grown.low, "bytes"),
        tk.Metric("at-most", "growth per prediction, at most (99% interval)", grown.high, "bytes"),
        tk.Metric("predictions", "predictions", grown.predictions, "count"),
        tk.above("late-share", "second half to all", late, "ratio", options.late_share),
    )
    count = tk.format_count(grown.predictions, "prediction")
    if grown.total < needed:
        return view.passed(f"The footprint hardly grows over {count}. {engine_memory(view)}", metrics)
    if not tk.reached(metrics, "late-share"):
        return view.passed(f"The footprint grows at first and then stays, over {count}.", metrics)
    if grown.idle is not None and grown.idle >= options.idle_share * grown.busy:
        return view.passed("The footprint grows as fast while nothing predicts.", metrics)
    if grown.low <= 0:
        return view.unknown(
            f"The footprint rises over {count}, but varies so much that this may be chance "
            f"({_size(grown.low)} to {_size(grown.high)} per prediction, 99% interval).",
            "Record longer, with predictions throughout.",
        )
    rows = top_calls(view.trace, tk.Kind.PREDICTION)
    rows = rows.where((rows.start_ns >= grown.start_ns) & (rows.start_ns <= grown.end_ns))
    at = known.before(tk.Intervals.from_rows(rows).ends)
    return view.finding(
        f"The footprint grows by {tk.format_bytes(round(grown.per_prediction))} per prediction "
        f"({_size(grown.low)} to {_size(grown.high)}, 99% interval): {tk.format_bytes(grown.total)} over "
        f"{count}{of_models(rows)}. The recording does not show what holds it.",
        metrics,
        rows=rows,
        held=held(grown.total, view.trace),
        sizes=known.bytes[at],
    )


def _size(size: float) -> str:
    return tk.format_bytes(round(size))


DETECTOR = tk.RecordingDetector(needs=("Core ML", "Activity Monitor"), options=Options, detect=detect)
