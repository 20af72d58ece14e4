"""Which predictions of a model compare with each other: those of one process, instance and load, and of alike ones.

Each load may have another configuration, which recordings do not show. Loads with alike latencies are compared
together, so that loading a model again hides nothing.
"""

from __future__ import annotations

import numpy as np

from tracekit.analysis.loads import Uses
from tracekit.analysis.statistics import sorted_by_group
from tracekit.arrays import BoolArray, IntArray

ALIKE = 1.2
"""Loads whose usual latencies differ by less are compared together: no check reports a smaller difference."""
USUAL_QUANTILE = 0.1
"""The shortest tenth of the predictions on a load shows its usual latency, whatever makes others long."""


def comparable_kinds(uses: Uses, own_ns: IntArray, compared: BoolArray) -> IntArray:
    """Number of the loads, instances and processes that are compared together, 0 for those with most predictions: shape
    (predictions,). `own_ns` is what each takes without waits; of the `compared` ones usual latencies are worked out.
    Loads with none count with the most frequent ones. O(n log n)."""
    use, latency_ns, count = uses.group[compared], own_ns[compared], len(uses.load)
    sizes = np.bincount(use, minlength=count)
    known = np.flatnonzero(sizes)
    if not len(known):
        return np.zeros(len(own_ns), np.int64)
    place = (np.cumsum(sizes) - sizes + np.floor(USUAL_QUANTILE * (sizes - 1)).astype(np.int64))[known]
    ordered = np.partition(latency_ns, place) if len(place) == 1 else sorted_by_group(latency_ns, use)
    usual_ns = np.maximum(ordered[place], 1)
    ascending = np.argsort(usual_ns, kind="stable")
    step = usual_ns[ascending][1:] >= ALIKE * usual_ns[ascending][:-1]
    kind = np.empty(len(known), np.int64)
    kind[ascending] = np.cumsum(np.append(False, step))
    most_first = np.argsort(-np.bincount(kind, sizes[known]), kind="stable")
    kinds = np.zeros(count, np.int64)
    kinds[known] = np.argsort(most_first, kind="stable")[kind]
    return kinds[uses.group]
