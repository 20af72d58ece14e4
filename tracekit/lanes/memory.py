"""Lanes of memory: the footprint of the target, and what it has allocated of Metal, from sample to sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pandas as pd

from tracekit.lanes.categories import Category
from tracekit.lanes.events import Events, LaneRows
from tracekit.trace.instruments.memory import MEMORY, Memory, of_process
from tracekit.trace.trace import Trace
from tracekit.units import format_bytes

TITLES: Final = {Memory.FOOTPRINT: "Memory · footprint", Memory.GPU: "Memory · GPU"}
_MEDIUM, _HIGH = 0.5, 0.9
"""Shares of the peak from which on a level is drawn as medium and as high."""


_ALIKE = 0.02
"""Share of the peak up to which neighboring samples are drawn as one level."""


def memory_lanes(trace: Trace) -> Iterator[LaneRows]:
    """A lane of each kind of memory that was sampled of the target; none where it was not. Samples that are nearly
    alike are one level, which holds until the next one begins. O(n)."""
    for kind, title in TITLES.items():
        frame = of_process(trace.memory, kind, trace.run.target.process)
        if len(frame):
            yield LaneRows(f"{MEMORY}/{kind}", title, "System", _levels(trace, frame), pinned=True, strip=True)


def _levels(trace: Trace, frame: pd.DataFrame) -> Events:
    times, held = frame["start_ns"].to_numpy(), frame["bytes"].to_numpy()
    peak = max(int(held.max()), 1)
    begins = _begins(held.tolist(), _ALIKE * peak)
    starts, size = times[begins], np.maximum.reduceat(held, begins)
    usual = int(np.median(np.diff(times))) if len(times) > 1 else 0
    end = max(min(int(times[-1]) + usual, trace.run.duration_ns or 0), int(times[-1]))
    texts, labels = np.unique([format_bytes(each) for each in size.tolist()], return_inverse=True)
    share = size / peak
    colors = np.where(share >= _HIGH, Category.HIGH, np.where(share >= _MEDIUM, Category.MEDIUM, Category.LOW))
    return Events(
        MEMORY,
        frame.index.to_numpy(np.int64)[begins],
        starts,
        np.append(starts[1:], end),
        colors.astype(np.int8),
        labels.astype(np.int32),
        tuple(map(str, texts)),
        np.full(len(starts), -1, np.int32),
        (),
    )


def _begins(sizes: list[int], alike: float) -> list[int]:
    """Where another level begins: the first sample, and each that differs from the first of its level."""
    begins = [0]
    for at, size in enumerate(sizes):
        if abs(size - sizes[begins[-1]]) > alike:
            begins.append(at)
    return begins
