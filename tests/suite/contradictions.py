"""Whether the account of time says the same as findings about slow predictions.

Of the predictions that a finding shows and that are slow, the largest part must have a cause that the check is about;
or its causes must hold what the finding says that the problem costs, where another cause costs more still.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from tracekit.analysis.ledger.account import Account, ledger
from tracekit.arrays import IntArray
from tracekit.detectors.framework import Judgment
from tracekit.detectors.outcomes import Finding
from tracekit.trace.trace import Trace

CHECKS = (
    "concurrent-predictions",
    "cpu-contention",
    "foreign-neural-engine-work",
    "gpu-contention",
    "growing-latency",
    "lasting-slowdown",
    "latency-jitter",
    "neural-engine-contention",
    "new-shape-spike",
    "repeated-specialization",
    "shape-switching",
    "slow-after-idle",
    "thermal-throttling",
    "warm-up-spike",
)
"""Those that say why some predictions are slower than others."""
SLOW = 1.2
"""Times the usual one from which on a prediction is slow."""
HELD = 0.8
"""Part of what a finding costs that its causes must hold."""


def contradictions(trace: Trace, judgments: Iterable[Judgment]) -> Iterator[str]:
    """One line for each finding that the account of time contradicts."""
    accounts = ledger(trace)
    for judgment in judgments:
        finding, detector = judgment.outcome, judgment.detector
        if not isinstance(finding, Finding) or detector.id not in CHECKS or finding.model not in accounts:
            continue
        account = accounts[finding.model]
        slow = slow_rows(account, finding)
        if not len(slow):
            continue
        sums = account.sums(slow)
        held = sum(ns for cause, ns in sums.items() if cause in detector.causes)
        cost = finding.cost.ns if finding.cost else 0
        if next(iter(sums)) not in detector.causes and not 0 < HELD * cost <= held:
            parts = ", ".join(f"{cause} {ns / 1e6:.1f}" for cause, ns in sums.items())
            yield f"{detector.id} of {finding.model} costs {cost / 1e6:.1f} ms; the account says {parts}"


def slow_rows(account: Account, finding: Finding) -> IntArray:
    """Positions of the predictions that the finding shows and that are slow."""
    shown = np.zeros(len(account.calls), np.bool_)
    if finding.all_evidence is not None:
        for table, rows in finding.all_evidence.rows_by_table().items():
            shown |= account.calls.table.is_any(table) & np.isin(account.calls.row, rows)
    return np.flatnonzero(shown & (account.durations > SLOW * account.usual_ns))
