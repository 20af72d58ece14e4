"""Which predictions of a model compare with each other: those of one process, instance and load, and of alike ones.

Each load may have another configuration, which recordings do not show. Loads with alike latencies are compared
together, so that loading a model again hides nothing.
"""

from __future__ import annotations

import numpy as np

from tracekit.analysis.loads import Uses
from tracekit.analysis.statistics import sorted_by_group
from tracekit.arrays import BoolArray, FloatArray, IntArray

ALIKE = 1.2
"""Loads whose usual latencies differ by less are compared together: no check reports a smaller difference."""
USUAL_QUANTILE = 0.1
"""The shortest tenth of the predictions on a load shows its usual latency, whatever makes others long."""


def comparable_kinds(uses: Uses, own_ns: IntArray, compared: BoolArray) -> IntArray:
    """Number of the loads, instances and processes that are compared together, 0 for those with most predictions: shape
    (predictions,). `own_ns` is what each takes without waits; of the `compared` ones usual latencies are worked out.
    O(n log n)."""
    usual = _usual_by_use(uses.group, len(uses.load), own_ns, compared)
    return _kinds(usual, np.bincount(uses.group[compared], minlength=len(uses.load)))[uses.group]


def _usual_by_use(use: IntArray, count: int, latency_ns: IntArray, compared: BoolArray) -> FloatArray:
    """Usual latency on each load: shape (uses,), NaN where none is compared."""
    use, latency_ns = use[compared], latency_ns[compared]
    sizes = np.bincount(use, minlength=count)
    some = sizes > 0
    place = (np.cumsum(sizes) - sizes)[some] + np.floor(USUAL_QUANTILE * (sizes[some] - 1)).astype(np.int64)
    usual = np.full(count, np.nan)
    ordered = np.partition(latency_ns, place) if len(place) == 1 else sorted_by_group(latency_ns, use)
    usual[some] = np.maximum(ordered[place], 1)
    return usual


def _kinds(usual_ns: FloatArray, predictions: IntArray) -> IntArray:
    """Shape (uses,): the kind of each. Where no usual latency is known, it is the most frequent one."""
    ascending = np.argsort(usual_ns, kind="stable")
    ordered = usual_ns[ascending]
    kind = np.empty(len(usual_ns), np.int64)
    kind[ascending] = np.cumsum(np.concatenate(([False], ordered[1:] >= ALIKE * ordered[:-1]))[: len(ordered)])
    known = ~np.isnan(usual_ns)
    weight = np.bincount(kind[known], predictions[known], minlength=1)
    number = np.argsort(np.argsort(-weight, kind="stable"), kind="stable")
    kinds: IntArray = np.where(known, number[np.minimum(kind, len(weight) - 1)], 0).astype(np.int64)
    return kinds
