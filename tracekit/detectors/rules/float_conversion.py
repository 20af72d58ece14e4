"""`float-conversion`: inputs and outputs are converted to another number type on every call."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.copies import summarize_conversions
from tracekit.detectors.shared.interface import copies_finding, interface_of, of_finding, of_unclear, passed_note
from tracekit.detectors.shared.options import min_mean_option, min_predictions_option


class Options(tk.Options):
    conversion_share: float = tk.option(
        0.05,
        "share of prediction time",
        "Heuristic: half of the limit for all copies, because only the model's input and output "
        "types determine whether data is converted.",
    )
    min_cast_us: float = tk.option(
        20.0, "µs", "Ten times the cast that recordings of well-built apps show in every prediction (2 µs on iOS 27)."
    )
    min_mean_ms: float = min_mean_option()
    min_predictions: int = min_predictions_option()


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for predictions that convert their inputs and outputs."""
    count, mean_ns = len(view.predictions), float(view.durations.mean())
    summary = summarize_conversions(view.predictions, view.data, min_ns=round(options.min_cast_us * 1e3))
    metrics = (
        tk.above("conversions", "conversions", summary.share, "share", options.conversion_share),
        tk.Metric("conversion-time", "conversion time per prediction", summary.covered_ns / count, "ns"),
        tk.Metric("cast-time", "data cast time per prediction", summary.cast_ns / count, "ns"),
        tk.Metric("converting", "predictions that convert", summary.converting, "count"),
        tk.Metric("mean-prediction", "mean prediction", mean_ns, "ns"),
    )
    file = interface_of(view)
    if not tk.reached(metrics, "conversions"):
        if summary.unclear_ns and (
            summary.covered_ns + summary.unclear_ns >= options.conversion_share * summary.predicted_ns
        ):
            return view.unknown(
                f"Output transformations and Neural Engine data copies take {tk.format_time(summary.unclear_ns)} "
                f"({tk.format_share(summary.unclear_ns / summary.predicted_ns)} of prediction time); without data "
                f"casts, it is unknown whether they convert types or only move data.{of_unclear(file)}",
                "Check the types of the model's inputs and outputs in Xcode: Float32 is converted, Float16 is only "
                "copied.",
            )
        text = f"Conversions take {tk.format_share(summary.share)} of prediction time.{passed_note(file)}"
        return view.passed(text, metrics)
    casts, rest = tk.format_parts((summary.cast_ns / count, (summary.covered_ns - summary.cast_ns) / count))
    parts = f"{casts} casts, {rest} copies that the casts force" if float(rest.split()[0]) else "all of it casts"
    often = "" if summary.converting == count else f" in {summary.converting:,} of {count:,} predictions"
    return copies_finding(
        view,
        f"Type conversion takes {tk.format_time(summary.covered_ns / count)} of each {tk.format_time(mean_ns)} "
        f"prediction{often}: {parts}.{of_finding(file)}",
        metrics,
        summary,
        "Time covered by data casts, Neural Engine data copies and output transformations in predictions with a data "
        "cast",
        fix=file.fix if file else "",
    )


DETECTOR = tk.Detector(
    needs=("Core ML",),
    options=Options,
    asks=(tk.any_prediction, tk.least_predictions, tk.least_mean),
    causes=(tk.Cause.COPIES,),
    detect=detect,
)
