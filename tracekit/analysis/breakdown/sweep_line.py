"""Time of many windows split among layers of intervals, each instant given to one layer only.

A sweep over the edges of the intervals, window by window: between two neighboring edges nothing changes, so each such
step belongs as a whole to the first layer that covers it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.arrays import BoolArray, CodeArray, Int8Array, Int32Array, IntArray
from tracekit.intervals import Intervals, sums_between


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps of shape (steps,) between neighboring edges that at least one interval covers, by window and time."""

    window: Int32Array
    start_ns: IntArray
    length_ns: IntArray
    """More than 0."""
    layer: Int8Array
    """First layer that covers the step."""
    covered: BoolArray
    """Shape (layers, steps): whether each layer covers the step."""

    edges: IntArray
    """Shape (windows + 1,): the steps of window w are those from `edges[w]` to `edges[w + 1]`."""

    def of(self, chosen: BoolArray) -> IntArray:
        """Time of the chosen steps in each window, in ns: shape (windows,)."""
        if not chosen.any():
            # As of most layers. Zeros that nobody changes take no memory.
            return np.zeros(len(self.edges) - 1, np.int64)
        return sums_between(self.length_ns * chosen, self.edges)

    @property
    def times(self) -> Intervals:
        """When each step lasted."""
        return Intervals(self.start_ns, self.start_ns + self.length_ns)


def sweep(
    window: CodeArray, layer: CodeArray, starts_ns: IntArray, ends_ns: IntArray, *, windows: int, layers: int
) -> Steps:
    """Steps of intervals that each lie in one window (0 to `windows` - 1) and one layer (0 to `layers` - 1; the lower
    wins). There are at most 127 layers.

    The four arrays have shape (n,). Windows need not be disjoint in time: intervals of different windows never meet.
    O(n log n + layers × n).
    """
    keep = ends_ns > starts_ns
    window, layer, starts_ns, ends_ns = window[keep], layer[keep], starts_ns[keep], ends_ns[keep]
    time = np.concatenate((starts_ns, ends_ns))
    # Small types: with a million intervals, these arrays are what a breakdown needs most memory for.
    owner = np.concatenate((window, window), dtype=np.int32, casting="same_kind")
    order = np.lexsort((time, owner))
    time, owner = time[order], owner[order]
    change = np.where(order < len(window), 1, -1).astype(np.int8)
    kind = np.concatenate((layer, layer), dtype=np.int8, casting="same_kind")[order]
    del order
    # Every interval ends in its own window, so all counts are back at zero where the next window begins.
    covered = np.zeros((layers, len(time)), np.bool_)
    for number in np.flatnonzero(np.bincount(layer, minlength=layers)):
        np.greater(np.cumsum(np.where(kind == number, change, 0), dtype=np.int32), 0, out=covered[number])
    length = np.diff(time, append=time[-1:])
    lasting = covered.any(axis=0) & (length > 0)
    covered = covered[:, lasting]
    return Steps(
        window=owner[lasting],
        start_ns=time[lasting],
        length_ns=length[lasting],
        layer=covered.argmax(axis=0).astype(np.int8),
        covered=covered,
        edges=np.searchsorted(owner[lasting], np.arange(windows + 1)),
    )
