"""`warm-up-spike`: the first prediction after a load is far slower than those that follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.analysis.load_waits import gaps_after, stand_alone
from tracekit.analysis.loads import Uses, uses_of_loads
from tracekit.detectors import (
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
    below,
    cost_of,
    covered_ns,
    finding,
    format_count,
    format_time,
    no_prediction,
    option,
)
from tracekit.detectors.shared.comparable_predictions import EVEN
from tracekit.detectors.shared.competing_work import waits_for_others
from tracekit.detectors.shared.idle_gaps import Activity, read_gaps
from tracekit.detectors.shared.load_options import without_load
from tracekit.detectors.shared.prompts import works_longer
from tracekit.detectors.shared.references import ASYNC_PREDICTION, LOAD_MODEL
from tracekit.detectors.shared.wording import KEEP_LOADED

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    ratio: float = option(
        3.0,
        "times the median of the following predictions",
        "Public measurements of first predictions range from 7 to 120 times.",
    )
    min_extra_ms: float = option(10.0, "ms", "Heuristic: less than a frame at 60 fps, so no one notices it.")
    min_following: int = option(5, "predictions", "Heuristic: a median of fewer predictions depends on chance.")
    alike_share: float = option(
        0.5,
        "share of the first prediction's duration",
        "Heuristic: predictions that take this much of it are slow in the same way; a warm-up stands out from them.",
        maximum=1,
    )
    as_slow_share: float = option(
        0.05,
        "share of the following predictions",
        "Heuristic: if this many later predictions are as slow, the first one is no exception.",
        maximum=1,
    )
    pause_s: float = option(1.0, "s", "Heuristic: longer than any interval at which an app predicts regularly.")


@dataclass(frozen=True, slots=True)
class FirstCalls:
    """First predictions after each load of the model that enough others follow; shape (firsts,) each."""

    index: IntArray
    """Position among the predictions."""
    usual_ns: FloatArray
    """Median, without waits, of the predictions that follow on the same load."""
    extra_ns: FloatArray
    """How much longer than that the first one took."""
    ratio: FloatArray
    as_slow: FloatArray
    """Share of the following predictions that took about as long as the first, or longer (`alike_share`)."""


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks for first predictions that stand out and that somebody waited for."""
    if view.predictions.empty:
        return no_prediction(view.name)
    if view.loads.empty:
        return without_load(view, "which prediction was the first")
    waited, perhaps = waits_for_others(view)
    answer = _judged(view, waited, options)
    if isinstance(answer, Finding) and not isinstance(_judged(view, perhaps, options), Finding):
        return InsufficientData(
            view.name,
            "The first prediction after a load took longer than those that follow, but its compute unit also did "
            "other work, and the recording does not show whether the prediction queued behind it.",
            "Record the feature while no other model and no drawing uses that compute unit.",
        )
    return answer


def _judged(view: ModelView, waited_ns: IntArray, options: Options) -> Outcome:
    """The answer for predictions without their waits, shape (predictions,)."""
    uses = uses_of_loads(view.loads, view.predictions)
    without_waits_ns = view.predictions["duration_ns"].to_numpy() - waited_ns
    firsts = first_calls(uses, without_waits_ns, options)
    if not len(firsts.index):
        return InsufficientData(
            view.name,
            f"No load is followed by {options.min_following + 1} or more predictions, so the first one has nothing to "
            "be compared with.",
            KEEP_LOADED,
        )
    spike = (firsts.ratio >= options.ratio) & (firsts.extra_ns >= options.min_extra_ms * 1e6)
    rare = firsts.as_slow <= options.as_slow_share
    pause_ns = round(options.pause_s * 1e9)
    deliberate = stand_alone(view.predictions, firsts.index, pause_ns)
    resumed = _median_after_pauses(uses, view.predictions, without_waits_ns, pause_ns)
    durations = without_waits_ns[firsts.index]
    special = durations * options.alike_share > resumed if resumed is not None else np.ones(len(spike), dtype=bool)
    chosen = spike & rare & special & ~deliberate
    metrics = _metrics(firsts, chosen, resumed, options)
    if chosen.any() and resumed is None and _may_be_prompts(view, firsts.index[chosen]):
        return InsufficientData(
            view.name,
            f"The first prediction after a load took {format_time(int(durations[chosen].max()))}, but it also had "
            "more work: it warms up the model, or it has a larger input, such as the prompt of a language model.",
            f"Use the feature twice in one recording, {options.pause_s:g} s or more apart, and keep the model loaded.",
        )
    if chosen.any():
        return _finding(view, firsts, chosen, metrics)
    return Passed(view.name, _why_not(firsts, spike, rare, deliberate, durations, options), metrics)


def _may_be_prompts(view: ModelView, index: IntArray) -> bool:
    """Whether the slow calls at these positions may be slow for their input: their compute units work longer too,
    nothing paces the calls, as nothing paces the tokens of an answer, and they are not alike, as warming up is each
    time."""
    durations = view.predictions["duration_ns"].to_numpy()[index]
    alike = len(index) > 1 and durations.max() <= EVEN * durations.min()
    if alike or not works_longer(view, index).all():
        return False
    return read_gaps(view, _FEW_CALLS).activity is not Activity.PACED


_FEW_CALLS = 3
"""So many calls have two distances: fewer show no pace."""


def first_calls(uses: Uses, durations: IntArray, options: Options) -> FirstCalls:
    """First predictions after loads that enough others on the same load follow, given how long each of the model's
    predictions took without its waits. O(n log n)."""
    following = np.ones(len(durations), dtype=bool)
    following[uses.first] = False
    has_following = (uses.load >= 0) & (uses.count > options.min_following)
    following &= has_following[uses.group]
    group, following_ns = uses.group[following], durations[following]
    usual = pd.Series(following_ns).groupby(group).median().to_numpy()
    first_ns = durations[uses.first].astype(np.float64)
    slow = np.bincount(group, following_ns >= options.alike_share * first_ns[group], minlength=len(first_ns))[
        has_following
    ] / (uses.count[has_following] - 1)
    first, first_ns = uses.first[has_following], first_ns[has_following]
    return FirstCalls(first, usual, first_ns - usual, first_ns / np.maximum(usual, 1.0), slow)


def _median_after_pauses(uses: Uses, predictions: pd.DataFrame, durations: IntArray, pause_ns: int) -> float | None:
    """Median of the durations, shape (predictions,), of those that follow a pause and are not the first after a
    load."""
    paused = np.concatenate(([False], gaps_after(predictions)[:-1] >= pause_ns))
    paused[uses.first] = False
    resumed = durations[paused]
    return float(np.median(resumed)) if len(resumed) else None


def _metrics(firsts: FirstCalls, chosen: BoolArray, resumed: float | None, options: Options) -> tuple[Metric, ...]:
    """Everything measured; of several first predictions the one that stands out most."""
    worst = int(np.lexsort((firsts.extra_ns, chosen))[-1])
    return (
        above("first prediction to median of following", float(firsts.ratio[worst]), "ratio", options.ratio),
        above(
            "extra time of the first prediction", float(firsts.extra_ns[worst]), "ns", round(options.min_extra_ms * 1e6)
        ),
        below("following predictions as slow", float(firsts.as_slow[worst]), "share", options.as_slow_share),
        Metric("median of following predictions", float(firsts.usual_ns[worst]), "ns"),
        Metric("median after a gap", resumed, "ns"),
        Metric("first predictions compared", len(firsts.index), "count"),
    )


def _why_not(
    firsts: FirstCalls, spike: BoolArray, rare: BoolArray, deliberate: BoolArray, durations: IntArray, options: Options
) -> str:
    """Why no first prediction is a problem, in words."""
    if not spike.any():
        worst = int(np.argmax(firsts.ratio))
        if firsts.ratio[worst] < options.ratio:
            return (
                f"The first prediction after a load takes at most {firsts.ratio[worst]:.1f}x the median of those that "
                "follow."
            )
        return "First predictions after a load take slightly longer than others, too little to notice."
    slow = format_time(int(durations[spike].max()))
    if (spike & rare & deliberate).any():
        return f"The first prediction took {slow} and was followed by a gap, as a warm-up prediction is."
    if not (spike & rare).any():
        return f"The first prediction took {slow}, and some later ones took about as long."
    return (
        f"The first prediction took {slow}, and predictions after a gap take about as long: the load is not the cause."
    )


def _finding(view: ModelView, firsts: FirstCalls, chosen: BoolArray, metrics: tuple[Metric, ...]) -> Finding:
    """The finding with its cost: what first predictions took beyond the usual."""
    rows: pd.DataFrame = view.predictions.iloc[firsts.index[chosen]]
    worst = int(np.flatnonzero(chosen)[np.argmax(firsts.extra_ns[chosen])])
    first_ns = firsts.usual_ns[worst] + firsts.extra_ns[worst]
    summary = (
        f"The first prediction after a load took {format_time(first_ns)}, {firsts.ratio[worst]:.1f}x the usual "
        f"{format_time(firsts.usual_ns[worst])}"
    )
    if len(rows) > 1:
        summary += f" ({format_count(len(rows), 'load')} affected)"
    cost_ns = min(round(float(firsts.extra_ns[chosen].sum())), covered_ns(rows))
    return finding(
        model=view.name,
        summary=f"{summary}.",
        metrics=metrics,
        cost=cost_of(
            view,
            cost_ns,
            "Time slow first predictions took beyond the median of those that follow",
            "A warm-up prediction does this work before anyone waits.",
            once=True,
        ),
        rows=rows,
    )


DESCRIPTION = """
Some work is postponed until the first prediction: buffers are allocated, GPU programs are built, weights are read from
storage. The first prediction after a load pays for it, and it is the one the user waits for.

## On the timeline

    Activity  |Load  |Prediction           |Pred|Pred|Pred|              problem
    Activity  |Load  |Prediction           |         |Pred|Pred|Pred|    expected: warmed up ahead of time

## How it is measured

Per model, from the Activity lane. Each prediction belongs to the last load of its instance that ended before it. The
first one is compared with the median of those that follow on the same load, of which `min_following` are needed. Time
that predictions are queued behind other work on the Neural Engine does not count. Reported when all of these hold:

- The first prediction takes at least `ratio` times the median, and `min_extra_ms` longer.
- At most `as_slow_share` of the following predictions take `alike_share` of its duration or longer.

Estimated savings are the time that first predictions take beyond that median.

Not reported in two cases: if predictions after a gap of `pause_s` or more without a load take `alike_share` or more of
the first one's duration (median), because then the gap makes them slow and not the load; and if such a gap, far longer
than the other gaps, follows the first prediction, which is then a warm-up as under *Fix*.

## Not a problem when

- The model's predictions are often that slow: see `latency-jitter`.
- A language model reads the whole prompt in its first prediction: the first prediction of each later turn does so too.
  A recording of a single turn is not evaluated.
- The first prediction is queued while its compute unit works for others. If the recording does not show whether it was
  queued or was warming up, the check is not evaluated. `CPU to GPU Latency` decides nothing: in public recordings it is
  10 to 43 ms at first predictions and 0.2 ms later, and others used the GPU for less than a tenth of that time.
- The first prediction has a far larger input: its compute unit works longer too. Without a later gap of `pause_s` after
  which predictions are fast from the start, the check is not evaluated, unless predictions run at a steady rate or the
  first predictions after several loads are alike.
"""

FIX = """
Run one prediction on dummy input right after loading, and discard the result:

```swift
let model = try await MLModel.load(contentsOf: url, configuration: configuration)
Task(priority: .utility) {
    // Same shape and type as the real inputs.
    let input = SegmenterInput(image: emptyPixelBuffer)
    // iOS 17, macOS 14 or later.
    _ = try await model.prediction(from: input)
}
```

Load the model before the user opens the feature, and keep it: every load has a slow first prediction. When you compare
timings, report them with and without the first prediction.
"""

DETECTOR = Detector(
    id="warm-up-spike",
    title="The first prediction after a load is as fast as the others",
    finding_title="The first prediction after a load is slow",
    pattern=Pattern.SLOW_FIRST_LOAD,
    description=DESCRIPTION,
    why="It is the prediction that the user waits for after opening the feature.",
    fix=FIX,
    references=(
        ASYNC_PREDICTION,
        LOAD_MODEL,
        Reference(
            "Deep-Live-Cam: a call to warm up after the load",
            "https://github.com/hacksider/Deep-Live-Cam/pull/1670",
        ),
    ),
    needs=("Core ML",),
    caused_by=("reload-before-predict", "load-churn"),
    options=Options,
    detect=detect,
)
