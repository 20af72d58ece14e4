"""Whether the account of time says the same as findings about slow predictions.

Of the predictions that a finding shows and that are slow, the largest part must have a cause that the check is about,
or the finding must say which other cause it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from tracekit.analysis.ledger.account import Account, ledger
from tracekit.analysis.ledger.causes import NAMES, Cause
from tracekit.arrays import IntArray
from tracekit.detectors.framework import Judgment
from tracekit.detectors.outcomes import Finding
from tracekit.trace.trace import Trace

WITHOUT_ROWS = (Cause.FIRST, Cause.PAUSE, Cause.SHAPE, Cause.GROWTH, Cause.LEVEL)
"""Causes that patterns show, of time in which no row lies: `unexplained-time` is about that."""
SLOW = 1.2
"""Times the usual one from which on a prediction is slow."""


def contradictions(trace: Trace, judgments: Iterable[Judgment]) -> Iterator[str]:
    """One line for each finding that the account of time contradicts."""
    accounts = ledger(trace)
    for judgment in judgments:
        finding, detector = judgment.outcome, judgment.detector
        if not (isinstance(finding, Finding) and detector.causes and finding.model in accounts):
            continue
        account = accounts[finding.model]
        slow = slow_rows(account, finding)
        if not len(slow):
            continue
        sums = account.sums(slow)
        largest = next(iter(sums))
        about = detector.causes + WITHOUT_ROWS * (detector.id == "unexplained-time")
        if largest not in about and NAMES[largest] not in finding.summary:
            parts = ", ".join(f"{cause} {ns / 1e6:.1f}" for cause, ns in sums.items())
            yield f"{detector.id} of {finding.model}: the account says {parts}"


def slow_rows(account: Account, finding: Finding) -> IntArray:
    """Positions of the predictions that the finding shows and that are slow."""
    shown = np.zeros(len(account.calls), np.bool_)
    if finding.all_evidence is not None:
        for table, rows in finding.all_evidence.rows_by_table().items():
            shown |= account.calls.table.is_any(table) & np.isin(account.calls.row, rows)
    return np.flatnonzero(shown & (account.durations > SLOW * account.usual_ns))
