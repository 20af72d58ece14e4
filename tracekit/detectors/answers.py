"""Makes the answers of rules: a finding with its evidence and cost, and what many rules say alike."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tracekit.analysis.code.sites import CallSite
from tracekit.arrays import IntArray
from tracekit.detectors.outcomes import Answering, Cost, Evidence, EvidenceColumns, Finding, Metric
from tracekit.intervals import Intervals
from tracekit.trace.frames import categorical, resolution_of
from tracekit.units import format_time

MAX_EVIDENCE = 50
"""Intervals kept per finding: enough to walk through by hand, small enough for a bug report (heuristic)."""

RECORD_LONGER = "Record longer, with more predictions."
"""Advice where predictions are too few."""

RECORD_EARLIER = "Start recording before the app loads its models: Core ML emits model names only at load time."
"""Advice where rows have no model name."""


class Seen(Answering):
    """What a rule sees of a recording, and answers about with rows and times."""

    __slots__ = ()
    name: str | None

    @property
    def reference_time(self) -> tuple[int, str]:
        """Time in ns that a saving is a share of, and whose it is."""
        raise NotImplementedError

    @property
    def resolution_ns(self) -> int:
        """How exactly begin and end of calls are known: the time between two samples where call stacks show them."""
        raise NotImplementedError

    def time(self, ns: float) -> str:
        """A duration of calls in a sentence, with the digits that are known."""
        return format_time(ns, self.resolution_ns)

    def finding(
        self,
        summary: str,
        metrics: tuple[Metric, ...],
        *,
        rows: pd.DataFrame,
        cost: Cost | None = None,
        affected: Intervals | None = None,
        call_sites: tuple[CallSite, ...] = (),
        fix: str = "",
        missed: float | None = None,
        held: float | None = None,
        sizes: IntArray | None = None,
    ) -> Finding:
        """The antipattern is there, as rows of an event frame show; the rest as in `Finding`.

        `affected` is where the time of the cost lies; without it, that is the time that the rows cover. `sizes`, shape
        (rows,), are the bytes of each row where memory is what weighs. O(n log n).
        """
        # Rows that a check put together need not have categories.
        table, numbers = categorical(rows["table"].astype("category")), rows["row"].to_numpy(dtype=np.int64)
        if affected is None:
            affected = Intervals.none() if cost is None else Intervals.from_rows(rows).union()
        return Finding(
            self.name,
            summary,
            metrics,
            cost,
            evidence_of(rows, sizes),
            len(rows),
            affected,
            call_sites,
            fix=fix,
            missed=missed,
            held=held,
            resolution_ns=resolution_of(rows),
            all_evidence=EvidenceColumns(
                Intervals.from_rows(rows), table.codes, numbers, tuple(map(str, table.categories))
            ),
        )

    def cost(
        self, ns: int, words: str, note: str = "", *, once: bool = False, longest_wait_ns: int = 0, usual_ns: float = 0
    ) -> Cost:
        """What a fix saves at most: `ns` of the time that loads, compilations and predictions of model or app cover.

        `words` begin the sentence that says how it was worked out, `note` are further sentences. `once`,
        `longest_wait_ns` and `usual_ns` as in `Cost`. O(n log n).
        """
        spent_ns, whose = self.reference_time
        # Work beside these calls, or of calls that samples do not show, belongs to them too.
        share = ns / max(spent_ns, ns, 1)
        basis = f"{words}, as a share of the time covered by {whose} loads, compilations and predictions."
        return Cost(
            ns, share, f"{basis} {note}".rstrip(), once=once, longest_wait_ns=longest_wait_ns, usual_ns=round(usual_ns)
        )


def evidence_of(rows: pd.DataFrame, sizes: IntArray | None = None) -> tuple[Evidence, ...]:
    """The longest rows of an event frame first, or the largest, at most `MAX_EVIDENCE`; ties by start, then by index.
    O(n log n)."""
    starts, durations = rows["start_ns"].to_numpy(), rows["duration_ns"].to_numpy()
    weights = durations if sizes is None else sizes
    # Sorting those that are long enough and taking few values of some is much faster than sorting the frame.
    few = min(MAX_EVIDENCE, len(rows))
    long = np.flatnonzero(weights >= np.partition(weights, -few)[-few]) if few else np.zeros(0, np.intp)
    order = long[np.lexsort((starts[long], -weights[long]))][:few]
    columns = (rows[name].array.take(order) for name in ("start_ns", "duration_ns", "model", "label", "table", "row"))
    known = [None] * len(order) if sizes is None else sizes[order].tolist()
    return tuple(
        Evidence(
            start_ns=int(start),
            end_ns=int(start) + int(duration),
            model=None if not isinstance(model, str) else model,
            label=str(label),
            table=str(table),
            row=int(row),
            bytes=size,
        )
        for start, duration, model, label, table, row, size in zip(*columns, known, strict=True)
    )


def metric_of(metrics: tuple[Metric, ...], metric_id: str) -> Metric:
    """The metric with this id. Raises KeyError where there is none."""
    return {metric.id: metric for metric in metrics}[metric_id]


def reached(metrics: tuple[Metric, ...], metric_id: str) -> bool:
    """Whether the metric with this id is at its threshold or beyond, on its problem side. Raises KeyError."""
    return metric_of(metrics, metric_id).reached


def all_reached(metrics: tuple[Metric, ...]) -> bool:
    """Whether every metric that has a threshold is at it or on its problem side."""
    return all(metric.reached for metric in metrics if metric.threshold is not None)


def value_of(metrics: tuple[Metric, ...], metric_id: str) -> float:
    """The value of the metric with this id; 0 where it could not be measured. Raises KeyError."""
    return metric_of(metrics, metric_id).value or 0
