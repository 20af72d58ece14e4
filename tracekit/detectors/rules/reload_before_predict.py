"""`reload-before-predict`: the model is loaded again for each prediction."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.shared.loads import load_pattern, reload_finding
from tracekit.detectors.shared.options import ReloadOptions


def detect(view: tk.ModelView, options: ReloadOptions) -> tk.Outcome:
    """Looks for a model that is loaded, used at most once, and loaded again."""
    loads, predictions = len(view.loads), len(view.predictions)
    if loads == 0:
        return view.passed(f"Not loaded during the recording; {tk.format_count(predictions, 'prediction')}.")
    if loads < options.min_loads and predictions <= loads:
        words = f"Only {tk.format_count(loads, 'load')} and {tk.format_count(predictions, 'prediction')}"
        return view.unknown(f"{words}, too few for a pattern.", tk.RECORD_LONGER)
    metrics, is_reload = load_pattern(view, options)
    if not tk.all_reached(metrics):
        counts = f"{tk.format_count(loads, 'load')} for {tk.format_count(predictions, 'prediction')}"
        return view.passed(f"{counts}.", metrics)
    load_time, prediction_time, load, prediction = (
        view.time(tk.value_of(metrics, name))
        for name in ("load-time", "prediction-time", "mean-load", "mean-prediction")
    )
    rows = view.loads.where(is_reload)
    summary = (
        f"{tk.format_count(loads, 'load')} ({tk.format_count(len(rows), 'reload')}) for "
        f"{tk.format_count(predictions, 'prediction')}: {load_time} loading ({load} each) vs. {prediction_time} "
        f"predicting ({prediction} each)."
    )
    return reload_finding(view, summary, metrics, rows)


DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    joins=True,
    counts=True,
    uses=("Call Stacks",),
    options=ReloadOptions,
    detect=detect,
)
