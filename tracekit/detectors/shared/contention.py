"""Predictions that met other work on their compute unit, compared with those that met none."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.idle import CERTAINTY
from tracekit.analysis.latency import ranks
from tracekit.analysis.quantities import sample_quantiles
from tracekit.detectors.shared.options import ContentionOptions
from tracekit.detectors.shared.wording import NOT_COMPARED, keep_loaded, record_alone


class ContentionWords(NamedTuple):
    """How a detector names the unit and the others."""

    unit: str
    did: str
    """Other work, after `while`: `the GPU did other work`."""
    does: str
    """The same in the present tense."""
    part: str
    """What of a prediction others must share: `its GPU time`."""
    apart: str
    """What to record so that some predictions meet no other work."""
    unknown: str = ""
    """What is not recorded of other work: a sentence."""


class Met(NamedTuple):
    """Comparable predictions by the other work that they met: shape (predictions,) each."""

    rows: tk.Calls
    disturbed: tk.BoolArray
    calm: tk.BoolArray
    affected: tk.Metric
    """Share of the disturbed ones."""

    @property
    def durations(self) -> tk.IntArray:
        """Durations of the predictions in ns."""
        return self.rows.duration_ns

    @property
    def usual_ns(self) -> float:
        """Median of the undisturbed ones."""
        return float(np.median(self.durations[self.calm]))

    @property
    def slow_ns(self) -> float:
        """Median of the disturbed ones."""
        return float(np.median(self.durations[self.disturbed]))

    @property
    def extra_ns(self) -> tk.FloatArray:
        """Time that each took beyond the median of the undisturbed ones."""
        extra: tk.FloatArray = np.maximum(self.durations - self.usual_ns, 0)
        return extra


def spans_of(count: int, owner: tk.IndexArray, times: tk.Intervals) -> tk.Intervals:
    """Shape (count,): from the first to the last of the rows that each prediction, at position `owner`, has; one
    without any ends before it starts. O(rows)."""
    low, high = np.full(count, np.iinfo(np.int64).max), np.full(count, -1)
    np.minimum.at(low, owner, times.starts)
    np.maximum.at(high, owner, times.ends)
    return tk.Intervals(low, high)


def beginnings(spans: tk.Intervals) -> tk.Intervals:
    """As much of each span, from its beginning, as the shortest tenth takes in all. A long prediction meets others more
    often; counted like this, its length makes no difference."""
    shortest = int(*sample_quantiles(spans.durations, 0.1)) if len(spans) else 0
    return tk.Intervals(spans.starts, np.minimum(spans.starts + shortest, spans.ends))


def surely_longer(durations: tk.IntArray, some: tk.BoolArray, others: tk.BoolArray) -> bool:
    """Whether some durations rank above others by more than chance (rank sum of Wilcoxon). O(n log n)."""
    longer, shorter = durations[some], durations[others]
    count, rest = len(longer), len(shorter)
    above = float(ranks(np.concatenate((longer, shorter)))[:count].sum()) - count * (count + 1) / 2 - count * rest / 2
    return float(above / (count * rest * (count + rest + 1) / 12) ** 0.5) >= CERTAINTY


class Contention(NamedTuple):
    """Compares the predictions of a model that met other work on a unit with those that met none."""

    view: tk.ModelView
    options: ContentionOptions
    words: ContentionWords

    def split(self, rows: tk.Calls, overlap: tk.FloatArray) -> Met | tk.Passed | tk.NotEvaluated:
        """The predictions `rows` by their share of other work, or the answer where too few met any or none."""
        view, options, words = self
        if len(rows) < 2 * options.min_compared:
            return view.too_few_predictions(
                len(rows),
                2 * options.min_compared,
                f"with {words.unit} work",
                adjective="comparable",
                left_out=NOT_COMPARED,
                record=keep_loaded(view, record_alone(view.predictions)),
            )
        disturbed, calm = overlap >= options.overlap_share, overlap <= options.calm_share
        share = float(disturbed.mean())
        name = f"predictions with other {words.unit} work"
        affected = tk.above("affected", name, share, "share", options.affected_share)
        others = f"{words.did} for {tk.format_share(options.overlap_share)} or more of {words.part}"
        if not affected.reached or not disturbed.any():
            passed = (
                f"During {tk.format_share(share) if share else 'none'} of the predictions, {others}. {words.unknown}"
            )
            return view.passed(passed.rstrip(), (affected,))
        if min(int(disturbed.sum()), int(calm.sum())) < options.min_compared:
            return view.unknown(
                f"During {disturbed.sum():,} of {tk.format_count(len(rows), 'prediction')}, {others}, and "
                f"{f'{calm.sum():,}' if calm.any() else 'none'} ran undisturbed; {options.min_compared} of each needed "
                "to compare.",
                words.apart,
            )
        return Met(rows, disturbed, calm, affected)

    def slowdown(self, met: Met, explained: float, chance: Callable[[], str]) -> tk.Passed | tuple[tk.Metric, ...]:
        """The metrics where other work slows predictions down, or the answer where it does not. `explained` is the
        share of the extra time that it explains; `chance` says why the difference shows nothing, or is empty."""
        view, options, words = self
        other = f"other {words.unit} work"
        metrics = (
            met.affected,
            tk.above("slowdown", f"slowdown with {other}", met.slow_ns / met.usual_ns, "ratio", options.slowdown),
            tk.above("explained", f"extra time explained by {other}", explained, "share", options.explained_share),
            tk.Metric("median-calm", f"median without {other}", met.usual_ns, "ns"),
            tk.Metric("median-disturbed", f"median with {other}", met.slow_ns, "ns"),
        )
        passed = f"Predictions take {met.slow_ns / met.usual_ns:.2f}x as long while {words.does}"
        if not tk.reached(metrics, "slowdown"):
            return view.passed(f"{passed}.", metrics)
        if not tk.reached(metrics, "explained"):
            share = tk.format_share(explained)
            return view.passed(f"{passed}, but that explains only {share} of the extra time.", metrics)
        reason = chance()
        return view.passed(f"{passed}, but {reason}.", metrics) if reason else metrics

    def finding(
        self,
        met: Met,
        metrics: tuple[tk.Metric, ...],
        filled_ns: tk.FloatArray,
        affected: tk.Intervals,
        others: str,
        whose: str = "",
    ) -> tk.Finding | tk.Passed:
        """The finding with its cost: the extra time of disturbed predictions, as far as others worked in it; none where
        that is too little to notice.

        `filled_ns`, shape (predictions,), is that time of each, `affected` when others worked. `others` are words for
        the other work; the sentence `whose` says for whom it was.
        """
        rows, filled_ns = met.rows.where(met.disturbed), filled_ns[met.disturbed]
        cost_ns = min(int(filled_ns.sum()), affected.covered_ns)
        cost = self.view.cost(
            cost_ns,
            f"Time these predictions took beyond the median of undisturbed ones while {self.words.did}",
            longest_wait_ns=min(int(filled_ns.max()), cost_ns),
        )
        metrics = (
            *metrics,
            tk.above("cost", "extra time of the model's time", cost.share, "share", self.options.cost_share),
        )
        if not metrics[-1].reached:
            return self.view.passed(
                f"Other {self.words.unit} work costs {tk.format_share(cost.share)} of the time.", metrics
            )
        times = f"median {tk.format_time(met.slow_ns)} vs. {tk.format_time(met.usual_ns)}"
        return self.view.finding(
            f"During {len(rows):,} of {tk.format_count(len(met.rows), 'prediction')}, {others} for "
            f"{tk.format_share(self.options.overlap_share)} or more of {self.words.part}: they took "
            f"{met.slow_ns / met.usual_ns:.1f}x as long as undisturbed ones ({times}). {whose}".rstrip(),
            metrics,
            rows=rows,
            cost=cost,
            affected=affected,
        )
