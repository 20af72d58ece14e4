"""`warm-up-spike`: the first prediction after a load is far slower than those that follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.code.sites import sites_of
from tracekit.analysis.ledger.patterns import LARGER_WORK
from tracekit.analysis.load_waits import after_gap, stand_alone
from tracekit.analysis.statistics import medians_by_group
from tracekit.detectors.shared.comparable_latency import due_to_work, latencies
from tracekit.detectors.shared.comparable_predictions import EVEN
from tracekit.detectors.shared.idle_gaps import Activity, keeps_pace, read_gaps
from tracekit.detectors.shared.loads import warm_up_doubt
from tracekit.detectors.shared.wording import KEEP_LOADED


class Options(tk.Options):
    ratio: float = tk.option(
        3.0,
        "times the median of the following predictions",
        "Public measurements of first predictions range from 7 to 120 times.",
    )
    min_extra_ms: float = tk.option(10.0, "ms", "Heuristic: less than a frame at 60 fps, so no one notices it.")
    min_following: int = tk.option(5, "predictions", "Heuristic: a median of fewer predictions depends on chance.")
    alike_share: float = tk.option(
        0.5,
        "share of the first prediction's duration",
        "Heuristic: predictions that take this much of it are slow in the same way; a warm-up stands out from them.",
    )
    as_slow_share: float = tk.option(
        0.05,
        "share of the following predictions",
        "Heuristic: if this many later predictions are as slow, the first one is no exception.",
    )
    gap_s: float = tk.option(1.0, "s", "Heuristic: longer than any interval at which an app predicts regularly.")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for first predictions that stand out and that somebody waited for."""
    latency_ns = latencies(view).without_waits_ns
    firsts = firsts_after_loads(view, latency_ns, options)
    if firsts is None:
        return view.unknown(
            f"No load is followed by {options.min_following + 1} or more predictions, so the first one has nothing to "
            "be compared with.",
            KEEP_LOADED,
        )
    whole, calls, resumed, special = firsts.whole, firsts.calls, firsts.resumed, firsts.slower_than_resumed
    alone, perhaps_alone = stand_alone(view.predictions, calls.index, round(options.gap_s * 1e9))
    chosen = calls.stands_out & special
    late = chosen & ~(alone | perhaps_alone)
    # Of several first predictions, the one that stands out most.
    worst = int(np.lexsort((calls.extra_ns, late))[-1])
    resumed_ns = None if np.isnan(resumed.median_ns[worst]) else float(resumed.median_ns[worst])
    extra_ns, least_ns = float(calls.extra_ns[worst]), round(options.min_extra_ms * 1e6)
    metrics = (
        tk.above("ratio", "first prediction to median of following", float(calls.ratio[worst]), "ratio", options.ratio),
        tk.above("extra-time", "extra time of the first prediction", extra_ns, "ns", least_ns),
        tk.below("slow", "following predictions as slow", float(calls.as_slow[worst]), "share", options.as_slow_share),
        tk.Metric("median-following", "median of following predictions", float(calls.usual_ns[worst]), "ns"),
        tk.Metric("median-after-gap", "median after a gap", resumed_ns, "ns"),
        tk.Metric("compared", "first predictions compared", len(calls.index), "count"),
    )
    if late.any():
        return _finding(view, calls, late, metrics)
    if (chosen & perhaps_alone).any():
        slow_ns = calls.duration_ns[chosen & perhaps_alone].max()
        return warm_up_doubt(view, f"the first prediction after a load, which took {view.time(int(slow_ns))}")
    more_work = resumed.more_work & latencies(view).work_ns.any()
    unclear = whole.stands_out & ~chosen & special & ~alone & ~more_work
    if unclear.any():
        return view.unknown(
            f"The first prediction after a load took {view.time(int(whole.duration_ns[unclear].max()))}, but it "
            "also had more work: it warms up the model, or it has a larger input, such as the prompt of a language "
            "model.",
            f"Use the feature twice in one recording, {options.gap_s:g} s or more apart, and keep the model loaded.",
        )
    return view.passed(_why_not(firsts, alone), metrics)


@dataclass(frozen=True, slots=True)
class FirstCalls:
    """First predictions after each load of the model that enough others follow; shape (firsts,) each."""

    index: tk.IntArray
    """Position among the predictions."""
    duration_ns: tk.FloatArray
    """Latency, as it was given."""
    usual_ns: tk.FloatArray
    """Median of the predictions that follow on the same load."""
    as_slow: tk.FloatArray
    """Share of the following predictions that took about as long as the first, or longer."""
    options: Options

    @property
    def extra_ns(self) -> tk.FloatArray:
        """How much longer than usual each took."""
        return self.duration_ns - self.usual_ns

    @property
    def ratio(self) -> tk.FloatArray:
        """Each to the usual one."""
        return self.duration_ns / np.maximum(self.usual_ns, 1.0)

    @property
    def is_long(self) -> tk.BoolArray:
        """Whether each is so much longer than those that follow."""
        long: tk.BoolArray = (self.ratio >= self.options.ratio) & (self.extra_ns >= self.options.min_extra_ms * 1e6)
        return long

    @property
    def stands_out(self) -> tk.BoolArray:
        """Whether it is, and hardly any of these are."""
        return self.is_long & (self.as_slow <= self.options.as_slow_share)


class Resumed(NamedTuple):
    """Predictions after a gap, not after a load, of those that compare with each first one: shape (firsts,) each."""

    median_ns: tk.FloatArray
    """NaN where there is none."""
    longest_ns: tk.FloatArray
    """The same of the longest."""
    as_usual: tk.BoolArray
    """There are some, and the compute units work no longer for any of them than usual."""
    more_work: tk.BoolArray
    """Compute units work longer for some."""


class Firsts(NamedTuple):
    """First predictions after loads, and what they compare with."""

    whole: FirstCalls
    calls: FirstCalls
    """The same without the time that their larger work takes."""
    resumed: Resumed

    @property
    def slower_than_resumed(self) -> tk.BoolArray:
        """Shape (firsts,): predictions after a gap take nowhere near as long."""
        slower: tk.BoolArray = ~(self.calls.duration_ns * self.calls.options.alike_share <= self.resumed.median_ns)
        return slower


def _why_not(firsts: Firsts, alone: tk.BoolArray) -> str:
    whole = firsts.whole
    if not whole.is_long.any():
        worst = float(whole.ratio.max())
        if worst < whole.options.ratio:
            return f"The first prediction after a load takes at most {worst:.1f}x the median of the next ones."
        return "First predictions after a load take slightly longer than others, too little to notice."
    slow = f"The first prediction took {tk.format_time(int(whole.duration_ns[whole.is_long].max()))}"
    if (whole.stands_out & alone).any():
        return f"{slow} and was followed by a gap, as a warm-up prediction is."
    if not whole.stands_out.any():
        return f"{slow}, and some later ones took about as long."
    if not firsts.calls.stands_out.any():
        return f"{slow}, for more work: later ones after a gap have more than usual too."
    return f"{slow}, and predictions after a gap take about as long: the load is not the cause."


def _finding(
    view: tk.ModelView, firsts: FirstCalls, chosen: tk.BoolArray, metrics: tuple[tk.Metric, ...]
) -> tk.Finding:
    """The finding with its cost: what first predictions took beyond the usual."""
    rows = view.predictions.take(firsts.index[chosen])
    worst = int(np.flatnonzero(chosen)[np.argmax(firsts.extra_ns[chosen])])
    first_ns = firsts.usual_ns[worst] + firsts.extra_ns[worst]
    # What may be several predictions takes longer than each of them.
    several = view.trace.inferred and not view.predictions.single.all()
    least, most = ("at least ", ", at most ") if several else ("", " ")
    summary = (
        f"The first prediction after a load took {least}{view.time(first_ns)}, {least}{firsts.ratio[worst]:.1f}x the "
        f"usual{most}{view.time(firsts.usual_ns[worst])}"
    )
    more = f" ({tk.format_count(len(rows), 'load')} affected)" if len(rows) > 1 else ""
    cost_ns = min(round(float(firsts.extra_ns[chosen].sum())), tk.covered_ns(rows))
    return view.finding(
        f"{summary}{more}.{_pipelines(view, rows)}",
        metrics,
        cost=view.cost(
            cost_ns,
            "Time slow first predictions took beyond the median of those that follow",
            "A warm-up prediction does this work before anyone waits.",
            once=True,
            usual_ns=float(firsts.usual_ns[chosen].max()),
        ),
        rows=rows,
        call_sites=sites_of(view.trace, rows.id),
    )


def _pipelines(view: tk.ModelView, rows: tk.Calls) -> str:
    """What of the time Metal explains: a sentence after a space, or nothing."""
    compiled = view.trace.table(tk.MetalPipelines)
    if compiled is None or not len(compiled):
        return ""
    times, spans = compiled.start_ns, tk.Intervals.from_rows(rows)
    during = int(((times >= spans.starts[:, None]) & (times < spans.ends[:, None])).any(axis=0).sum())
    if not during:
        return ""
    return f" Metal compiled {tk.format_count(during, 'GPU pipeline')} for the app during it."


def firsts_after_loads(view: tk.ModelView, latency_ns: tk.IntArray, options: Options) -> Firsts | None:
    """The first predictions, given the time of each prediction; None where too few follow any. O(n log n)."""
    # Of those that follow, which no work of a first prediction changes.
    usual_ns = _usual_by_use(view, latency_ns)
    whole = _first_calls(view, latency_ns, usual_ns, options)
    if not len(whole.index):
        return None
    resumed = _predictions_after_gaps(view, latency_ns, whole.index, round(options.gap_s * 1e9))
    of_the_input = ~_same_input(view, whole, resumed)
    without_work = latency_ns.astype(np.float64)
    without_work[whole.index] -= np.where(of_the_input, _due_to_work(view, whole, resumed.longest_ns), 0.0)
    return Firsts(whole, _first_calls(view, without_work, usual_ns, options), resumed)


def _first_calls(
    view: tk.ModelView, latency_ns: tk.IntArray | tk.FloatArray, usual_ns: tk.FloatArray, options: Options
) -> FirstCalls:
    """First predictions after loads that enough others on the same load follow, given the latency of each, and the
    usual one on each load."""
    uses = view.uses
    has_following = (uses.load >= 0) & (uses.count > options.min_following)
    first = uses.first[has_following]
    slow = latency_ns >= options.alike_share * latency_ns[uses.first][uses.group]
    slow[uses.first] = False
    share = np.bincount(uses.group, slow, minlength=len(uses.load))[has_following] / (uses.count[has_following] - 1)
    return FirstCalls(first, latency_ns[first].astype(np.float64), usual_ns[has_following], share, options)


def _usual_by_use(view: tk.ModelView, values: tk.IntArray | tk.FloatArray) -> tk.FloatArray:
    """Median on each load, without the first prediction: shape (uses,), NaN where there is no other."""
    following = np.ones(len(values), np.bool_)
    following[view.uses.first] = False
    return medians_by_group(values[following], view.uses.group[following], len(view.uses.load))


def _predictions_after_gaps(view: tk.ModelView, latency_ns: tk.IntArray, index: tk.IntArray, gap_ns: int) -> Resumed:
    """Predictions after gaps among those that compare with each of the firsts at `index`."""
    latency, uses = latencies(view), view.uses
    paused = after_gap(view.predictions, gap_ns)
    paused[uses.first] = False
    # Where no work was recorded, what takes longer may have more.
    work = latency.work_ns if latency.work_ns.any() else latency_ns.astype(np.float64)
    more = paused & (work >= LARGER_WORK * _usual_by_use(view, work)[uses.group]) if paused.any() else paused
    count = int(latency.kind.max(initial=0)) + 1
    medians = medians_by_group(latency_ns[paused], latency.kind[paused], count)
    longest = np.full(count, np.nan)
    np.fmax.at(longest, latency.kind[paused], latency_ns[paused])
    some, larger = (np.bincount(latency.kind[chosen], minlength=count) > 0 for chosen in (paused, more))
    kind = latency.kind[index]
    return Resumed(medians[kind], longest[kind], (some & ~larger)[kind], larger[kind])


_FEW_CALLS = 3
"""So many calls have two distances: fewer show no pace."""


def _same_input(view: tk.ModelView, firsts: FirstCalls, resumed: Resumed) -> tk.BoolArray:
    """Shape (firsts,): longer work of the first prediction cannot come from a larger input. Predictions after a gap
    have no larger one either, or a pace gives each the same, or first predictions are alike, as warming up is."""
    spike = firsts.stands_out
    long = firsts.duration_ns[spike]
    alike = len(long) > 1 and bool(long.max() <= EVEN * long.min()) and not resumed.more_work.any()
    if alike or not len(long) or (read_gaps(view, _FEW_CALLS).activity is Activity.PACED and keeps_pace(view)):
        return np.ones(len(spike), np.bool_)
    return resumed.as_usual


def _due_to_work(view: tk.ModelView, firsts: FirstCalls, longest_ns: tk.FloatArray) -> tk.FloatArray:
    """Time in ns by which larger work makes each first prediction longer; all of its extra time where no work of the
    model was recorded. Where what looks like one prediction may be several, no more than it makes others longer that
    follow a gap: these are shorter than they look."""
    work, extra = latencies(view).work_ns, np.maximum(firsts.extra_ns, 0.0)
    if not work.any() and view.trace.inferred and not view.predictions.single.all():
        return np.where(np.isnan(longest_ns), extra, np.minimum(extra, longest_ns))
    if not work.any():
        return extra
    usual = _usual_by_use(view, work)[view.uses.group[firsts.index]]
    return np.minimum(due_to_work(work[firsts.index], usual, firsts.usual_ns), extra)


DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    joins=True,
    counts=True,
    on_evidence=True,
    caused_by=("reload-before-predict", "load-churn"),
    options=Options,
    asks=(tk.any_prediction, tk.any_load("which prediction was the first")),
    causes=(tk.Cause.FIRST, tk.Cause.SPECIALIZING, tk.Cause.PIPELINES),
    detect=detect,
)
