"""The rows that findings were made from: all of them, while a report lists the longest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.detectors.outcomes import Finding
from tracekit.trace.filter import EVENT_FRAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from tracekit.arrays import BoolArray, IntArray
    from tracekit.detectors.framework import Judgment
    from tracekit.report.report import Report, Result
    from tracekit.trace.trace import Trace


def evidence_rows(trace: Trace, report: Report, answers: Iterable[Judgment]) -> tuple[dict[str, IntArray], ...]:
    """For each check the rows of `trace` that are its evidence: indices by event frame, ascending, without empty ones.

    O(n log n) in the rows of the trace and of the evidence.
    """
    findings = {
        (answer.detector.id, answer.outcome.model): answer.outcome
        for answer in answers
        if isinstance(answer.outcome, Finding)
    }
    frames = {name: list(_by_number(getattr(trace, name))) for name in EVENT_FRAMES}
    return tuple(_rows(check, findings.get((check.id, check.model)), frames) for check in report.results)


_Numbered = tuple[str, "IntArray", "IntArray"]
"""Name of a table, row numbers that occur, sorted, and the index in the frame that each stands at."""


def _by_number(frame: pd.DataFrame) -> Iterator[_Numbered]:
    codes, numbers = frame["table"].cat.codes.to_numpy(), frame["row"].to_numpy(dtype=np.int64)
    for code in np.unique(codes).tolist():
        index = np.flatnonzero(codes == code)
        index = index[np.argsort(numbers[index], kind="stable")]
        yield str(frame["table"].cat.categories[code]), numbers[index], index


def _rows(check: Result, finding: Finding | None, frames: Mapping[str, Sequence[_Numbered]]) -> dict[str, IntArray]:
    wanted: dict[str, list[int]] = {}
    for entry in check.evidence:
        wanted.setdefault(entry.table, []).append(entry.row)
    columns = None if finding is None else finding.all_evidence
    known = wanted if columns is None else columns.rows_by_table()
    rows = {}
    for name, tables in frames.items():
        parts = [index[np.isin(numbers, known[table])] for table, numbers, index in tables if table in known]
        indices = np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.int64)
        if indices.size:
            rows[name] = indices
    return rows


def evidence_masks(trace: Trace, evidence: Iterable[Mapping[str, IntArray]]) -> dict[str, BoolArray]:
    """Which rows of each event frame are evidence of any check: shape (rows,) each, frames without any left out."""
    masks: dict[str, BoolArray] = {}
    for rows in evidence:
        for name, indices in rows.items():
            mask = masks.setdefault(name, np.zeros(len(getattr(trace, name)), np.bool_))
            mask[indices] = True
    return masks
