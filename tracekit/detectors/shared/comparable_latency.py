"""What the latencies of a model's predictions can be compared by.

Latency compares only within one process, instance and load: each load may have another configuration, which recordings
do not show. Loads with alike latencies are compared together, so that loading a model again hides nothing. What a
prediction waits for others is not its own time, and larger work is the input's: who asks for slow ones leaves both out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.ledger.account import ledger
from tracekit.analysis.ledger.comparable import comparable_kinds


class Latencies(NamedTuple):
    """Latencies of a model's predictions: shape (predictions,) each."""

    without_waits_ns: tk.IntArray
    """Without the time that each waited for others."""
    kind: tk.IntArray
    """Number of the loads, instances and processes that are compared together; 0 for those with most predictions."""

    @property
    def comparable_groups(self) -> tuple[tk.BoolArray, ...]:
        """Masks of the predictions that are compared with each other, most first; at least one."""
        return tuple(self.kind == number for number in range(int(self.kind.max(initial=0)) + 1))


@tk.cached_by_model
def latencies(view: tk.ModelView) -> Latencies:
    """Latencies of the model's predictions. O(n log n); found once per view."""
    durations = view.durations
    queued = held_up_ns(view, tk.Cause.QUEUED_MODELS, tk.Cause.QUEUED_PROCESSES)
    compared = view.warm & (durations > 0)
    kind = comparable_kinds(view.uses, durations - queued, compared)
    return Latencies(durations - queued, kind)


def held_up_ns(view: tk.ModelView, *causes: tk.Cause) -> tk.IntArray:
    """Time in ns that the account gives these causes in each prediction of the model: shape (predictions,)."""
    account, none = ledger(view.trace).get(view.name), np.zeros(len(view.predictions), np.int64)
    return none if account is None else np.maximum(sum((account.ns.get(cause, none) for cause in causes), none), 0)


def work_by_unit(view: tk.ModelView) -> tk.FloatArray:
    """Time in ns that each of `DEVICE_NAMES` worked for each prediction: shape (predictions, 3), 0 without rows."""
    columns = [view.breakdown.busy(device).filled(0) for device in tk.DEVICE_NAMES]
    return np.column_stack(columns).astype(np.float64)
