"""`reload-before-predict`: the model is loaded again for each prediction."""

from __future__ import annotations

from dataclasses import dataclass

from tracekit.analysis.code import sites_of
from tracekit.detectors import (
    RECORD_LONGER,
    Detector,
    Finding,
    InsufficientData,
    Metric,
    ModelView,
    Outcome,
    Passed,
    Pattern,
    cost_of,
    covered_ns,
    finding,
    format_count,
    format_time,
    no_prediction,
    option,
)
from tracekit.detectors.answers import all_reached
from tracekit.detectors.shared.references import CORE_ML_USAGE, LOAD_MODEL
from tracekit.detectors.shared.reloads import (
    FELT_MS,
    LOADS_PER_PREDICTION,
    MIN_LOADS,
    SINGLE_USE_SHARE,
    TIMES_USE,
    EachTimeRule,
    LoadPattern,
    load_metrics,
    load_pattern,
    max_idle_option,
)
from tracekit.trace.frames import rows_where


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    min_loads: int = option(MIN_LOADS, "loads", "Heuristic: two loads can be chance; a third makes a pattern.")
    loads_per_prediction: float = option(
        LOADS_PER_PREDICTION,
        "loads per prediction",
        "One load for every second prediction or more; the app of WWDC22 10027 had 1.0.",
    )
    single_use_share: float = option(
        SINGLE_USE_SHARE,
        "share of loads",
        "Heuristic: leaves room for a few longer runs of predictions between reloads.",
        maximum=1,
    )
    idle_s: float = max_idle_option()


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks for a model that is loaded, used at most once, and loaded again."""
    loads, predictions = len(view.loads), len(view.predictions)
    if predictions == 0:
        return no_prediction(view.name)
    if loads == 0:
        return Passed(view.name, f"Not loaded during the recording; {format_count(predictions, 'prediction')}.")
    if loads < options.min_loads and predictions <= loads:
        return InsufficientData(
            view.name,
            f"Only {format_count(loads, 'load')} and {format_count(predictions, 'prediction')}, too few for a pattern.",
            RECORD_LONGER,
        )
    pattern = load_pattern(view, round(options.idle_s * 1e9))
    rule = EachTimeRule(options.min_loads, options.loads_per_prediction, options.single_use_share)
    metrics = load_metrics(view, pattern, rule)
    if not all_reached(metrics):
        return Passed(
            view.name, f"{format_count(loads, 'load')} for {format_count(predictions, 'prediction')}.", metrics
        )
    return _finding(view, pattern, metrics)


def _finding(view: ModelView, pattern: LoadPattern, metrics: tuple[Metric, ...]) -> Finding:
    """The finding with its cost: what every load but the needed first one took."""
    reloaded = rows_where(view.loads, pattern.is_reload)
    load_time, prediction_time = (rows["duration_ns"].to_numpy() for rows in (view.loads, view.predictions))
    summary = (
        f"{format_count(len(view.loads), 'load')} for {format_count(len(view.predictions), 'prediction')}: "
        f"{format_time(int(load_time.sum()))} loading ({format_time(float(load_time.mean()))} each) vs. "
        f"{format_time(int(prediction_time.sum()))} predicting "
        f"({format_time(float(prediction_time.mean()))} each)."
    )
    return finding(
        model=view.name,
        summary=summary,
        metrics=metrics,
        cost=cost_of(
            view,
            covered_ns(reloaded),
            "Time covered by the reloads after use",
            longest_wait_ns=int(reloaded["duration_ns"].max()),
        ),
        rows=reloaded,
        call_sites=sites_of(view.trace, reloaded.index),
    )


DESCRIPTION = f"""
Loading reads the model, sets it up on its compute units and allocates its buffers. An app that creates the model again
for every use pays for this every time.

## On the timeline

    Activity  |Load        |Pred|Load        |Pred|Load        |Pred|     problem
    Activity  |Load        |Pred|Pred|Pred|Pred|Pred|                     expected

## How it is measured

Per model (all its instances together), from the Activity lane. Reported when all of these hold:

- There are at least `min_loads` loads, and at least `loads_per_prediction` loads per prediction.
- At least `single_use_share` of the loads are followed by one prediction at most before the next load.
- At least `min_loads` minus one of the loads are reloads.

A load is a reload if the model had been used since its previous load, at most `idle_s` before. After a longer time, a
load is a reload only if it outweighs its use: a prediction waited for it, it took {FELT_MS} ms or longer, and
{TIMES_USE:g} times as long as the predictions that ran on it. Estimated savings are the time of the reloads; the first
load is needed.

Reloads that serve several predictions each are left to `load-churn`. A benchmark that loads on purpose is reported too,
because a recording does not show intent.

## Not a problem when

- Several instances are loaded up front for parallel work: none of them was used between those loads.
- A model is used once per screen and released in between: reloads after more than `idle_s` do not count unless they
  outweigh their use.
- One load specializes the model for the device, and another comes from the cache in the same first run.
"""

FIX = """
Load each model once and keep it, for example in an actor that caches the load:

```swift
// Rebuilt at each access:
//   var model: StyleTransfer { try! StyleTransfer(configuration: .init()) }

actor StyleModels {
    private var loading: [URL: Task<MLModel, Error>] = [:]

    func model(at url: URL) async throws -> MLModel {
        if let known = loading[url] { return try await known.value }
        let task = Task {
            try await MLModel.load(contentsOf: url, configuration: .init())
        }
        loading[url] = task
        do { return try await task.value } catch { loading[url] = nil; throw error }
    }
}
```

For a single model, `lazy var` or `static let` does the same. In coremltools, keep the `MLModel` object instead of
creating it inside the loop.
"""

DETECTOR = Detector(
    id="reload-before-predict",
    title="Models stay loaded between predictions",
    finding_title="The model is reloaded before every prediction",
    pattern=Pattern.SLOW_FIRST_LOAD,
    description=DESCRIPTION,
    why="Every reload delays the next prediction, and only the first load is needed.",
    fix=FIX,
    references=(
        CORE_ML_USAGE,
        LOAD_MODEL,
    ),
    needs=("Core ML",),
    uses=("Call Stacks",),
    options=Options,
    detect=detect,
)
