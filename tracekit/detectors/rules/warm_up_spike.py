"""`warm-up-spike`: the first prediction after a load is far slower than those that follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.analysis.load_waits import gaps_after, stand_alone
from tracekit.detectors import (
    BoolArray,
    Detector,
    Finding,
    FloatArray,
    IntArray,
    Metric,
    ModelView,
    Outcome,
    above,
    any_load,
    any_prediction,
    below,
    cost_of,
    covered_ns,
    format_count,
    format_time,
    option,
    page_beside,
)
from tracekit.detectors.shared.comparable_latency import LARGER_WORK, due_to_work, latencies
from tracekit.detectors.shared.comparable_predictions import EVEN
from tracekit.detectors.shared.idle_gaps import Activity, keeps_pace, read_gaps
from tracekit.detectors.shared.load_options import perhaps_warmed_up
from tracekit.detectors.shared.wording import KEEP_LOADED

if TYPE_CHECKING:
    from tracekit.analysis.loads import Uses


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
    duration_ns: FloatArray
    """Latency, as it was given."""
    usual_ns: FloatArray
    """Median of the predictions that follow on the same load."""
    as_slow: FloatArray
    """Share of the following predictions that took about as long as the first, or longer (`alike_share`)."""

    @property
    def extra_ns(self) -> FloatArray:
        """How much longer than usual each took."""
        return self.duration_ns - self.usual_ns

    @property
    def ratio(self) -> FloatArray:
        """Each to the usual one."""
        return self.duration_ns / np.maximum(self.usual_ns, 1.0)

    def stand_out(self, options: Options) -> BoolArray:
        """Whether each is so much longer than those that follow, and hardly any of these are."""
        long = (self.ratio >= options.ratio) & (self.extra_ns >= options.min_extra_ms * 1e6)
        return long & (self.as_slow <= options.as_slow_share)


@dataclass(frozen=True, slots=True)
class Resumed:
    """Predictions that follow a gap and are not the first after a load, of those that compare with each first
    prediction: shape (firsts,) each."""

    median_ns: FloatArray
    """NaN where there is none."""
    as_usual: BoolArray
    """There are some, and the compute units work no longer for any of them than usual."""
    more_work: BoolArray
    """Compute units work longer for some."""


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks for first predictions that stand out and that somebody waited for."""
    latency = latencies(view)
    answer = _judged(view, latency.without_waits_ns, options)
    if isinstance(answer, Finding) and not isinstance(_judged(view, latency.shortest_ns, options), Finding):
        return view.unknown(
            "The first prediction after a load took longer than those that follow, but its compute unit also did "
            "other work, and the recording does not show whether the prediction queued behind it.",
            "Record the feature while no other model and no drawing uses that compute unit.",
        )
    return answer


def _judged(view: ModelView, latency_ns: IntArray, options: Options) -> Outcome:
    """The answer for predictions that take so long, shape (predictions,)."""
    whole = first_calls(view.uses, latency_ns, options)
    if not len(whole.index):
        return view.unknown(
            f"No load is followed by {options.min_following + 1} or more predictions, so the first one has nothing to "
            "be compared with.",
            KEEP_LOADED,
        )
    pause_ns = round(options.pause_s * 1e9)
    resumed = _resumed(view, latency_ns, whole.index, pause_ns)
    spike = whole.stand_out(options)
    of_the_input = ~_same_input(view, whole, spike, resumed)
    without_work = latency_ns.astype(np.float64)
    without_work[whole.index] -= np.where(of_the_input, _due_to_work(view, whole), 0.0)
    firsts = first_calls(view.uses, without_work, options)
    alone = stand_alone(view.predictions, firsts.index, pause_ns)
    special = ~(firsts.duration_ns * options.alike_share <= resumed.median_ns)
    chosen = firsts.stand_out(options) & special
    late = chosen & ~(alone.surely | alone.perhaps)
    metrics = _metrics(firsts, late, resumed.median_ns, options)
    if late.any():
        return _finding(view, firsts, late, metrics)
    if (chosen & alone.perhaps).any():
        slow_ns = firsts.duration_ns[chosen & alone.perhaps].max()
        return perhaps_warmed_up(view, f"the first prediction after a load, which took {format_time(int(slow_ns))}")
    unclear = spike & ~chosen & special & ~alone.surely & ~(resumed.more_work & latencies(view).work_ns.any())
    if unclear.any():
        return view.unknown(
            f"The first prediction after a load took {format_time(int(whole.duration_ns[unclear].max()))}, but it also "
            "had more work: it warms up the model, or it has a larger input, such as the prompt of a language model.",
            f"Use the feature twice in one recording, {options.pause_s:g} s or more apart, and keep the model loaded.",
        )
    return view.passed(_why_not(whole, firsts, alone.surely, options), metrics)


def _same_input(view: ModelView, firsts: FirstCalls, spike: BoolArray, resumed: Resumed) -> BoolArray:
    """Shape (firsts,): longer work of the first prediction cannot come from a larger input. Predictions after a gap
    have no larger one either, or a pace gives each the same, or first predictions are alike, as warming up is each
    time."""
    long = firsts.duration_ns[spike]
    alike = len(long) > 1 and bool(long.max() <= EVEN * long.min())
    if alike and not resumed.more_work.any():
        return np.ones(len(spike), np.bool_)
    paced = read_gaps(view, _FEW_CALLS).activity is Activity.PACED and keeps_pace(view)
    if not spike.any() or paced:
        return np.ones(len(spike), np.bool_)
    return resumed.as_usual


_FEW_CALLS = 3
"""So many calls have two distances: fewer show no pace."""


def _due_to_work(view: ModelView, firsts: FirstCalls) -> FloatArray:
    """Time in ns by which larger work makes each first prediction longer; all of its extra time where no work of the
    model was recorded."""
    work, extra = latencies(view).work_ns, np.maximum(firsts.extra_ns, 0.0)
    if not work.any():
        return extra
    usual = _usual_by_use(view.uses, work)[view.uses.group[firsts.index]]
    return np.minimum(due_to_work(work[firsts.index], usual, firsts.usual_ns), extra)


def _usual_by_use(uses: Uses, values: FloatArray) -> FloatArray:
    """Median on each load, without the first prediction: shape (uses,), NaN where there is no other."""
    following = np.ones(len(values), np.bool_)
    following[uses.first] = False
    medians = pd.Series(values[following]).groupby(uses.group[following]).median()
    return np.asarray(medians.reindex(range(len(uses.load))), dtype=np.float64)


def first_calls(uses: Uses, latency_ns: IntArray | FloatArray, options: Options) -> FirstCalls:
    """First predictions after loads that enough others on the same load follow, given the latency of each of the
    model's predictions. O(n log n)."""
    has_following = (uses.load >= 0) & (uses.count > options.min_following)
    first = uses.first[has_following]
    slow = latency_ns >= options.alike_share * latency_ns[uses.first][uses.group]
    slow[uses.first] = False
    share = np.bincount(uses.group, slow, minlength=len(uses.load))[has_following] / (uses.count[has_following] - 1)
    usual = _usual_by_use(uses, latency_ns.astype(np.float64))[has_following]
    return FirstCalls(first, latency_ns[first].astype(np.float64), usual, share)


def _resumed(view: ModelView, latency_ns: IntArray, index: IntArray, pause_ns: int) -> Resumed:
    """Predictions after gaps of `pause_ns` among those that compare with each of the firsts at `index`."""
    latency, uses = latencies(view), view.uses
    paused = np.concatenate(([False], gaps_after(view.predictions)[:-1] >= pause_ns))
    paused[uses.first] = False
    # Where no work was recorded, what takes longer may have more.
    work = latency.work_ns if latency.work_ns.any() else latency_ns.astype(np.float64)
    more = paused & (work >= LARGER_WORK * _usual_by_use(uses, work)[uses.group])
    count = int(latency.kind.max(initial=0)) + 1
    medians = pd.Series(latency_ns[paused]).groupby(latency.kind[paused]).median().reindex(range(count)).to_numpy()
    some, larger = (np.bincount(latency.kind[chosen], minlength=count) > 0 for chosen in (paused, more))
    kind = latency.kind[index]
    return Resumed(medians[kind].astype(np.float64), (some & ~larger)[kind], larger[kind])


def _metrics(firsts: FirstCalls, chosen: BoolArray, resumed_ns: FloatArray, options: Options) -> tuple[Metric, ...]:
    """Everything measured; of several first predictions the one that stands out most."""
    worst = int(np.lexsort((firsts.extra_ns, chosen))[-1])
    after_gap = None if np.isnan(resumed_ns[worst]) else float(resumed_ns[worst])
    return (
        above("first prediction to median of following", float(firsts.ratio[worst]), "ratio", options.ratio),
        above(
            "extra time of the first prediction", float(firsts.extra_ns[worst]), "ns", round(options.min_extra_ms * 1e6)
        ),
        below("following predictions as slow", float(firsts.as_slow[worst]), "share", options.as_slow_share),
        Metric("median of following predictions", float(firsts.usual_ns[worst]), "ns"),
        Metric("median after a gap", after_gap, "ns"),
        Metric("first predictions compared", len(firsts.index), "count"),
    )


def _why_not(whole: FirstCalls, firsts: FirstCalls, alone: BoolArray, options: Options) -> str:
    """Why no first prediction is a problem, in words. `whole` has them with their larger work, `firsts` without."""
    spike = (whole.ratio >= options.ratio) & (whole.extra_ns >= options.min_extra_ms * 1e6)
    if not spike.any():
        worst = int(np.argmax(whole.ratio))
        if whole.ratio[worst] < options.ratio:
            return (
                f"The first prediction after a load takes at most {whole.ratio[worst]:.1f}x the median of those that "
                "follow."
            )
        return "First predictions after a load take slightly longer than others, too little to notice."
    slow = format_time(int(whole.duration_ns[spike].max()))
    if (whole.stand_out(options) & alone).any():
        return f"The first prediction took {slow} and was followed by a gap, as a warm-up prediction is."
    if not whole.stand_out(options).any():
        return f"The first prediction took {slow}, and some later ones took about as long."
    if not firsts.stand_out(options).any():
        return f"The first prediction took {slow}, for more work: later ones after a gap have more than usual too."
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
    return view.finding(
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


DETECTOR = Detector(
    id="warm-up-spike",
    page=page_beside(__file__),
    needs=("Core ML",),
    caused_by=("reload-before-predict", "load-churn"),
    options=Options,
    asks=(any_prediction, any_load("which prediction was the first")),
    detect=detect,
)
