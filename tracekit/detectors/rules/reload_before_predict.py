"""`reload-before-predict`: the model is loaded again for each prediction."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.shared.loads import EachTimeRule, LoadPattern, load_metrics, load_pattern, reload_finding
from tracekit.detectors.shared.options import LOADS_PER_PREDICTION, SINGLE_USE_SHARE, max_idle_option, min_loads_option


class Options(tk.Options):
    min_loads: int = min_loads_option()
    loads_per_prediction: float = tk.option(
        LOADS_PER_PREDICTION,
        "loads per prediction",
        "One load for every second prediction or more; the app of WWDC22 10027 had 1.0.",
    )
    single_use_share: float = tk.option(
        SINGLE_USE_SHARE,
        "share of loads",
        "Heuristic: leaves room for a few longer runs of predictions between reloads.",
        maximum=1,
    )
    idle_s: float = max_idle_option()


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for a model that is loaded, used at most once, and loaded again."""
    loads, predictions = len(view.loads), len(view.predictions)
    if loads == 0:
        return view.passed(f"Not loaded during the recording; {tk.format_count(predictions, 'prediction')}.")
    if loads < options.min_loads and predictions <= loads:
        return view.unknown(
            f"Only {tk.format_count(loads, 'load')} and {tk.format_count(predictions, 'prediction')}, too few for a "
            "pattern.",
            tk.RECORD_LONGER,
        )
    pattern = load_pattern(view, round(options.idle_s * 1e9))
    rule = EachTimeRule(options.min_loads, options.loads_per_prediction, options.single_use_share)
    metrics = load_metrics(view, pattern, rule)
    if not tk.all_reached(metrics):
        return view.passed(
            f"{tk.format_count(loads, 'load')} for {tk.format_count(predictions, 'prediction')}.", metrics
        )
    return _finding(view, pattern, metrics)


def _finding(view: tk.ModelView, pattern: LoadPattern, metrics: tuple[tk.Metric, ...]) -> tk.Outcome:
    """The finding with its cost: what every load but the needed first one took."""
    reloaded = tk.rows_where(view.loads, pattern.is_reload)
    load_time, prediction_time = (rows["duration_ns"].to_numpy() for rows in (view.loads, view.predictions))
    summary = (
        f"{tk.format_count(len(view.loads), 'load')} for {tk.format_count(len(view.predictions), 'prediction')}: "
        f"{view.time(int(load_time.sum()))} loading ({view.time(float(load_time.mean()))} each) vs. "
        f"{view.time(int(prediction_time.sum()))} predicting "
        f"({view.time(float(prediction_time.mean()))} each)."
    )
    return reload_finding(view, summary, metrics, reloaded)


DETECTOR = tk.Detector(
    id="reload-before-predict",
    page=tk.page_beside(__file__),
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    joins=True,
    counts=True,
    uses=("Call Stacks",),
    options=Options,
    detect=detect,
)
