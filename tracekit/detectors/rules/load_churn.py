"""`load-churn`: a model is released and loaded again while it is still in use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    Reference,
    above,
    cost_of,
    covered_ns,
    finding,
    format_count,
    format_share,
    format_time,
    no_prediction,
    option,
)
from tracekit.detectors.shared.references import CORE_ML_USAGE
from tracekit.detectors.shared.reloads import (
    FELT_MS,
    IN_TURNS_SHARE,
    MIN_LOADS,
    RELOAD_SHARE,
    TIMES_USE,
    for_each_prediction,
    max_idle_option,
    reloads,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    min_loads: int = option(MIN_LOADS, "loads", "Heuristic: two loads can be chance; a third makes a pattern.")
    idle_s: float = max_idle_option()
    load_share: float = option(
        RELOAD_SHARE,
        "share of the model's time",
        "Heuristic: a published app that loads its stages in turn, on purpose, spends 4% on loading; from"
        " a tenth on, users feel it.",
        maximum=1,
    )
    in_turns_share: float = option(
        IN_TURNS_SHARE,
        "share of the reloads",
        "Heuristic: if other models are loaded between release and reload, the app may alternate models on purpose.",
        maximum=1,
    )


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks for a model that is let go and loaded again, with several calls in between."""
    if view.predictions.empty:
        return no_prediction(view.name)
    if len(view.loads) < 2:
        return Passed(view.name, f"{format_count(len(view.loads), 'load')} during the recording.")
    reloaded = reloads(view, round(options.idle_s * 1e9))
    rows, share = reloaded.rows, reloaded.share
    needed = max(options.min_loads - 1, 1)
    metrics = (
        # One reload fewer than loads: the first load of the recording is none.
        above("reloads after use", len(rows), "count", needed),
        above("time spent on reloads", share, "share", options.load_share),
        Metric("loads", len(view.loads), "count"),
        Metric("mean reload", float(rows["duration_ns"].mean()) if len(rows) else None, "ns"),
    )
    if not len(rows) or share < options.load_share:
        return Passed(view.name, _passed(view, rows, share), metrics)
    if for_each_prediction(view):
        return Passed(view.name, "Reloaded before every prediction: see reload-before-predict.", metrics)
    if len(rows) < needed:
        return InsufficientData(
            view.name,
            f"Reloaded {'once' if len(rows) == 1 else f'{len(rows)} times'} after use, not often enough to be a "
            "pattern.",
            RECORD_LONGER,
        )
    if reloaded.in_turns_share >= options.in_turns_share:
        return InsufficientData(
            view.name,
            f"Reloaded {len(rows):,} times after use, alternating with other models; the recording does not show "
            "whether that is intended or memory is short.",
            "Add the Allocations or VM Tracker instrument and check whether memory is short when a model is released.",
        )
    return _finding(view, rows, share, metrics)


def _passed(view: ModelView, rows: pd.DataFrame, share: float) -> str:
    loads = format_count(len(view.loads), "load")
    if not len(rows):
        return f"{loads}, none of them a reload shortly after use."
    return f"{loads}, {len(rows):,} of them reloads after use ({format_share(share)} of the model's time)."


def _finding(view: ModelView, rows: pd.DataFrame, share: float, metrics: tuple[Metric, ...]) -> Finding:
    """The finding with its cost: the reloads."""
    cost_ns = covered_ns(rows)
    return finding(
        model=view.name,
        summary=f"Released and reloaded {len(rows):,} times after use: {format_time(cost_ns)} loading, "
        f"{format_share(share)} of the model's time.",
        metrics=metrics,
        cost=cost_of(
            view,
            cost_ns,
            "Time covered by the reloads after use",
            longest_wait_ns=int(rows["duration_ns"].max()),
        ),
        rows=rows,
        call_sites=sites_of(view.trace, rows.index),
    )


DESCRIPTION = f"""
An app that runs low on memory releases models, itself or through a cache that evicts them, and loads them again a
moment later. Even from the system's cache, each load typically takes 10 to 500 ms, and the next prediction waits for
it.

## On the timeline

    Activity  |Load|Pred|Pred|Pred| |Load|Pred|Pred| |Load|Pred|Pred|Pred|    problem
    Activity  |Load|Pred|Pred|Pred|      |Pred|Pred|      |Pred|Pred|Pred|    expected

## How it is measured

Per model, from the Activity lane. A load counts as a reload if all of these hold:

- The model had been used since its previous load, and the last use ended at most `idle_s` before.
- No instance that was in use before the load is used after it.
- The new load is used.

After a longer time, a reload counts only if it outweighs its use: a prediction waited for it, it took {FELT_MS} ms or
longer, and {TIMES_USE:g} times as long as the predictions that ran on it. Reported when there are at least `min_loads`
minus one reloads, and they take `load_share` or more of the time of the model's loads and predictions. If other models
are loaded between release and reload in `in_turns_share` of the cases, the check is not evaluated.

## Not a problem when

- A model is loaded for every single prediction: only `reload-before-predict` reports it.
- Models alternate on purpose because they do not fit into memory together: a recording cannot distinguish them from
  models that evict each other.
- A screen loads and releases a model: reloads after more than `idle_s` do not count unless they outweigh their use.
- More instances are loaded while the first one stays in use.
- Loads are cheap compared with their use: less than `load_share` of the model's time.
- One load specializes the model for the device, and another comes from the cache in the same first run.
"""

FIX = """
Keep the model loaded while its feature needs it, and release only idle models:

```swift
actor ModelStore {
    private var loads: [URL: Task<MLModel, Error>] = [:]
    private var users: [URL: Int] = [:]

    /// Loads at the first use, and returns the same object from then on.
    func acquire(_ url: URL) async throws -> MLModel {
        users[url, default: 0] += 1
        let load = loads[url] ?? Task {
            try await MLModel.load(contentsOf: url, configuration: .init())
        }
        loads[url] = load
        do { return try await load.value } catch {
            loads[url] = nil
            users[url, default: 1] -= 1
            throw error
        }
    }

    /// Call when a feature is done with the model. It stays loaded.
    func release(_ url: URL) { users[url, default: 1] -= 1 }

    /// Call on a memory warning.
    func unloadIdleModels() {
        loads = loads.filter { users[$0.key, default: 0] > 0 }
    }
}
```

Do not keep a model that is in use in an `NSCache`, which may evict it at any time. If memory is too small, make the
model smaller: in coremltools, use `coremltools.optimize.coreml.palettize_weights` or `linear_quantize_weights`.
"""

DETECTOR = Detector(
    id="load-churn",
    title="Models stay loaded while they are in use",
    finding_title="The model is released and soon loaded again",
    pattern=Pattern.OUT_OF_MEMORY_ON_LOAD,
    description=DESCRIPTION,
    why="Each reload takes up to half a second, and the next prediction waits for it.",
    fix=FIX,
    references=(
        CORE_ML_USAGE,
        Reference(
            "ml-stable-diffusion: memory and loading of its stages",
            "https://github.com/apple/ml-stable-diffusion/issues/291",
        ),
    ),
    needs=("Core ML",),
    uses=("Call Stacks",),
    options=Options,
    detect=detect,
)
