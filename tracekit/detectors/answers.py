"""Makes the answers of rules: a finding with its evidence and cost, and what many rules say alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tracekit.analysis.code.sites import CallSite
from tracekit.arrays import IntArray
from tracekit.columns import Texts, column
from tracekit.detectors.outcomes import Answering, Cost, Evidence, EvidenceColumns, Finding, Metric
from tracekit.intervals import Intervals
from tracekit.rows import Rows, joined
from tracekit.trace.events import Calls
from tracekit.units import format_time

MAX_EVIDENCE = 50
"""Intervals kept per finding: enough to walk through by hand, small enough for a bug report (heuristic)."""

RECORD_CORE_ML = "Record Core ML's own events: sign the target with get-task-allow."
"""Advice where inferred calls are not enough."""
RECORD_LONGER = "Record longer, with more predictions."
"""Advice where predictions are too few."""

RECORD_EARLIER = "Start recording before the app loads its models: Core ML emits model names only at load time."
"""Advice where rows have no model name."""


class Showing(Protocol):
    """Rows of any sort that can show a finding: shape (rows,) each."""

    @property
    def start_ns(self) -> IntArray:
        """When each begins."""

    @property
    def duration_ns(self) -> IntArray:
        """How long each takes."""

    @property
    def model(self) -> Texts:
        """Model that it is of."""

    @property
    def label(self) -> Texts:
        """Event as recorded."""

    @property
    def table(self) -> Texts:
        """Schema of the recorded table."""

    @property
    def row(self) -> IntArray:
        """Row in that table."""

    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True, eq=False)
class Shown(Rows):
    """Rows that show a finding, where they are of several sorts or of none that a lane has."""

    start_ns: IntArray = column("start")
    duration_ns: IntArray = column("duration")
    model: Texts = column("model")
    label: Texts = column("event as recorded")
    table: Texts = column("schema of the source table")
    row: IntArray = column("row in that table")
    resolution_ns: IntArray = column("time between two samples where call stacks show it, else 0")

    @classmethod
    def of(cls, *parts: Showing) -> Shown:
        """The rows of several parts, at least one, below one another. O(n)."""
        return joined(
            [
                cls(part.start_ns, part.duration_ns, part.model, part.label, part.table, part.row, resolutions(part))
                for part in parts
            ]
        )


def resolutions(rows: Showing) -> IntArray:
    """Shape (rows,): the time between two samples where call stacks show calls, else 0."""
    return rows.resolution_ns if isinstance(rows, Calls | Shown) else np.zeros(len(rows), np.int64)


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
        rows: Showing,
        cost: Cost | None = None,
        affected: Intervals | None = None,
        call_sites: tuple[CallSite, ...] = (),
        fix: str = "",
        missed: float | None = None,
        held: float | None = None,
        sizes: IntArray | None = None,
    ) -> Finding:
        """The antipattern is there, as rows show; the rest as in `Finding`.

        `affected` is where the time of the cost lies; without it, that is the time that the rows cover. `sizes`, shape
        (rows,), are the bytes of each row where memory is what weighs. Raises TypeError for a DataFrame. O(n log n).
        """
        if not isinstance(rows, Rows):
            raise TypeError("rows= takes rows of a view, as view.predictions.take(places), not a DataFrame")
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
            resolution_ns=int(resolutions(rows).max(initial=0)),
            all_evidence=EvidenceColumns(Intervals.from_rows(rows), rows.table.codes, rows.row, rows.table.values),
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


def evidence_of(rows: Showing, sizes: IntArray | None = None) -> tuple[Evidence, ...]:
    """The longest rows first, or the largest, at most `MAX_EVIDENCE`; ties by start, then as they
    stand.
    O(n log n)."""
    starts, durations = rows.start_ns, rows.duration_ns
    weights = durations if sizes is None else sizes
    # Sorting those that are long enough and taking few values of some is much faster than sorting the rows.
    few = min(MAX_EVIDENCE, len(rows))
    long = np.flatnonzero(weights >= np.partition(weights, -few)[-few]) if few else np.zeros(0, np.intp)
    order = long[np.lexsort((starts[long], -weights[long]))][:few]
    models, labels, tables = (texts.take(order).as_objects() for texts in (rows.model, rows.label, rows.table))
    times = zip(starts[order].tolist(), durations[order].tolist(), rows.row[order].tolist(), strict=True)
    return tuple(
        Evidence(
            start_ns=start,
            end_ns=start + duration,
            model=model,
            label=label,
            table=table,
            row=row,
            bytes=None if sizes is None else int(sizes[at]),
        )
        for at, (start, duration, row), model, label, table in zip(
            order.tolist(), times, models.tolist(), labels.tolist(), tables.tolist(), strict=True
        )
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
