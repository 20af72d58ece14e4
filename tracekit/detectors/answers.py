"""Makes the answers of rules: a finding with its evidence and cost, and what many rules say alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.code import core_ml_time
from tracekit.analysis.statistics import covered_ns
from tracekit.detectors.framework import ModelView
from tracekit.detectors.outcomes import Cost, Evidence, EvidenceColumns, Finding, InsufficientData, NotApplicable
from tracekit.intervals import Intervals
from tracekit.trace.instruments.catalogue import GPU, NEURAL_ENGINE
from tracekit.units import format_count

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.analysis.code import CallSite
    from tracekit.detectors.outcomes import Metric
    from tracekit.trace.trace import Trace

MAX_EVIDENCE = 50
"""Intervals kept per finding: enough to walk through by hand, small enough for a bug report (heuristic)."""

RECORD_LONGER = "Record longer, with more predictions."
"""Advice where predictions are too few."""

RECORD_EARLIER = "Start recording before the app loads its models: Core ML emits model names only at load time."
"""Advice where rows have no model name."""


def finding(
    model: str | None,
    summary: str,
    metrics: tuple[Metric, ...],
    *,
    rows: pd.DataFrame,
    cost: Cost | None = None,
    affected: Intervals | None = None,
    call_sites: tuple[CallSite, ...] = (),
    fix: str = "",
    missed: float | None = None,
) -> Finding:
    """A finding that rows of an event frame show, and the code of the app behind it.

    `affected` says where the time of the cost lies; without it, that is the time that the rows cover. `fix` is
    Markdown, where more can be said than the detector says in general; `missed` as in `Finding`. O(n log n).
    """
    if affected is None:
        affected = Intervals.none() if cost is None else Intervals.from_rows(rows).union()
    return Finding(
        model,
        summary,
        metrics,
        cost,
        evidence_of(rows),
        len(rows),
        affected,
        call_sites,
        fix=fix,
        missed=missed,
        all_evidence=evidence_columns(rows, Intervals.from_rows(rows)),
    )


def evidence_columns(rows: pd.DataFrame, times: Intervals) -> EvidenceColumns:
    """Rows of an event frame as evidence, and the time that each stands for. O(n)."""
    # Rows that a check put together need not have categories.
    table = rows["table"].astype("category").cat.remove_unused_categories().cat
    codes, numbers = table.codes.to_numpy(), rows["row"].to_numpy(dtype=np.int64)
    return EvidenceColumns(times, codes, numbers, tuple(map(str, table.categories)))


def evidence_of(rows: pd.DataFrame) -> tuple[Evidence, ...]:
    """The longest rows of an event frame first, at most `MAX_EVIDENCE`; ties by start, then by index. O(n log n)."""
    # Sorting two columns and taking few values of some is much faster than sorting the frame.
    order = np.lexsort((rows["start_ns"].to_numpy(), -rows["duration_ns"].to_numpy()))[:MAX_EVIDENCE]
    columns = (rows[name].array.take(order) for name in ("start_ns", "duration_ns", "model", "label", "table", "row"))
    return tuple(
        Evidence(
            start_ns=int(start),
            end_ns=int(start) + int(duration),
            model=None if not isinstance(model, str) else model,
            label=str(label),
            table=str(table),
            row=int(row),
        )
        for start, duration, model, label, table, row in zip(*columns, strict=True)
    )


def cost_of(
    seen: ModelView | Trace, ns: int, words: str, note: str = "", *, once: bool = False, longest_wait_ns: int = 0
) -> Cost:
    """What a fix saves at most: `ns` of the time that loads, compilations and predictions of the model cover, or for a
    trace those of the app.

    `words` begin the sentence that says how it was worked out, `note` are further sentences. `once` and
    `longest_wait_ns` as in `Cost`. O(n log n).
    """
    if isinstance(seen, ModelView):
        spent_ns, whose = covered_ns(seen.loads, seen.compiles, seen.predictions), "the model's"
    else:
        spent_ns, whose = core_ml_time(seen), "all"
    # Work beside these calls, or of calls that samples do not show, belongs to them too.
    share = ns / max(spent_ns, ns, 1)
    basis = f"{words}, as a share of the time covered by {whose} loads, compilations and predictions."
    return Cost(ns, share, f"{basis} {note}".rstrip(), once=once, longest_wait_ns=longest_wait_ns)


def metric_of(metrics: tuple[Metric, ...], name: str) -> Metric:
    """The metric of this name. Raises KeyError where there is none."""
    by_name = {metric.name: metric for metric in metrics}
    return by_name[name]


def reached(metrics: tuple[Metric, ...], name: str) -> bool:
    """Whether the metric of this name is at its threshold or on its problem side. Raises KeyError for other names."""
    return metric_of(metrics, name).reached


def all_reached(metrics: tuple[Metric, ...]) -> bool:
    """Whether every metric that has a threshold is at it or on its problem side."""
    return all(metric.reached for metric in metrics if metric.threshold is not None)


def value_of(metrics: tuple[Metric, ...], name: str) -> float:
    """The value of the metric of this name; 0 where it could not be measured. Raises KeyError for other names."""
    return metric_of(metrics, name).value or 0


def no_prediction(model: str | None) -> NotApplicable:
    """The answer where there is no prediction to evaluate."""
    return NotApplicable(model, "No prediction was recorded.")


def units_not_recorded(
    model: str | None, trace: Trace, *, before: str = "", after: str = ""
) -> InsufficientData | None:
    """The answer where the work of the Neural Engine or the GPU was not recorded or cannot be read, as coverage words
    it between `before` and `after`; None where both were recorded."""
    entries = [entry for entry in map(trace.coverage_of, (NEURAL_ENGINE, GPU)) if not entry.recorded]
    if not entries:
        return None
    reason = f"{before}{' '.join(entry.conclusion for entry in entries)}{after}"
    return InsufficientData(model, reason, " ".join(dict.fromkeys(entry.advice for entry in entries)))


def too_few_predictions(
    model: str | None,
    count: int,
    needed: int,
    which: str = "",
    *,
    adjective: str = "",
    left_out: str = "",
    record: str = RECORD_LONGER,
) -> InsufficientData:
    """`3 comparable predictions with GPU work, 10 needed.`

    `adjective` and `which`, before and after the noun, set these predictions apart; the clause `left_out` says which
    others do not count.
    """
    noun = f"{adjective and f'{adjective} '}prediction"
    counted = format_count(count, noun) if count else f"No {noun}s"
    reason = f"{counted}{which and f' {which}'}, {needed} needed{left_out and f'; {left_out}'}."
    return InsufficientData(model, reason, record)
