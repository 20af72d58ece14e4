"""`excess-data-copies`: inputs and outputs are copied and converted on every call."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.copies import summarize_copies
from tracekit.detectors.shared.interface import copies_finding, interface_of, of_finding, passed_note
from tracekit.detectors.shared.options import min_mean_option, min_predictions_option

_PAGE = tk.page_beside(__file__)
_BUFFERS = _PAGE.fix_from("```swift")


class Options(tk.Options):
    copy_share: float = tk.option(
        0.10,
        "share of prediction time",
        "Heuristic: recordings without the problem stay below 1%; published cases are at 25% to 30%.",
    )
    large_input_share: float = tk.option(
        0.05,
        "share of prediction time",
        "Heuristic: half of `copy_share`, because a single input that stands out is worth reporting earlier.",
    )
    large_input_ratio: float = tk.option(
        10.0,
        "times the median",
        "Heuristic: one input copy this much longer than the others points to a single tensor.",
    )
    large_input_ms: float = tk.option(
        0.5, "ms", "Heuristic: copies of a few µs are normal in every prediction, even in well-built apps."
    )
    min_mean_ms: float = min_mean_option()
    min_predictions: int = min_predictions_option()


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for predictions that spend much of their time in the Data lane."""
    count, mean_ns = len(view.predictions), float(view.durations.mean())
    summary = summarize_copies(
        view.predictions, view.data, large_ratio=options.large_input_ratio, large_ns=round(options.large_input_ms * 1e6)
    )
    metrics = (
        tk.above("copies", "copies and conversions", summary.share, "share", options.copy_share),
        tk.above(
            "large", "input copies much longer than others", summary.large_share, "share", options.large_input_share
        ),
        tk.Metric("mean-prediction", "mean prediction", mean_ns, "ns"),
        tk.Metric("copy-time", "copy time per prediction", summary.covered_ns / count, "ns"),
        *(
            tk.Metric(f"{kind.replace('_', '-')}-time", f"{_words(kind)} time", ns, "ns")
            for kind, ns in summary.by_kind.items()
        ),
    )
    file = interface_of(view)
    if not any(metric.reached for metric in metrics):
        if summary.covered_ns + summary.outside_ns >= options.copy_share * summary.predicted_ns and summary.outside_ns:
            rows = tk.format_count(summary.outside_count, "copy row is", "copy rows are")
            inside = f", plus {tk.format_time(summary.covered_ns)} inside" if summary.covered_ns else ""
            return view.unknown(
                f"{rows} outside all predictions ({tk.format_time(summary.outside_ns)}{inside}), so their share is "
                "unknown.",
                "Start recording before the model loads, and stop after its predictions have ended.",
            )
        return view.passed(
            f"Copies take {tk.format_share(summary.share)} of prediction time.{passed_note(file)}", metrics
        )
    largest = _words(max(summary.by_kind, key=lambda kind: summary.by_kind[kind]))
    several = f"{largest[:-1]}ies" if largest.endswith("y") else f"{largest}s"
    text = (
        f"Copies and conversions take a mean {tk.format_time(summary.covered_ns / count)} of each "
        f"{tk.format_time(mean_ns)} prediction, mostly {several}."
    )
    if len(summary.large_rows):
        text += (
            f" {tk.format_count(len(summary.large_rows), 'input copy takes', 'input copies take')} much longer than "
            "those of the other inputs in the same prediction."
        )
    fix = file.fix if file else ""
    return copies_finding(
        view,
        f"{text}{of_finding(file)}",
        metrics,
        summary,
        "Time in the model's predictions covered by copies and conversions",
        fix=f"{fix}\n\nThen pass buffers that are used without a copy:\n\n{_BUFFERS}\n" if fix else "",
    )


def _words(kind: str) -> str:
    """A kind as readers know it."""
    return kind.replace("_", " ").replace("neural engine", "Neural Engine")


DETECTOR = tk.Detector(
    page=_PAGE,
    needs=("Core ML",),
    caused_by=("float-conversion", "state-copies"),
    options=Options,
    asks=(tk.any_prediction, tk.least_predictions, tk.least_mean),
    causes=(tk.Cause.COPIES,),
    detect=detect,
)
