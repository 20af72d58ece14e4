"""Lanes of memory: the footprint of the target, and what it has allocated of Metal, from sample to sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from tracekit.lanes.categories import Category
from tracekit.lanes.events import Events
from tracekit.lanes.layout import LaneRows
from tracekit.trace.instruments.memory import MEMORY, Memory, of_process
from tracekit.trace.trace import Trace
from tracekit.units import format_bytes

TITLES: Final = {Memory.FOOTPRINT: "Memory · footprint", Memory.GPU: "Memory · GPU"}
_MEDIUM, _HIGH = 0.5, 0.9
"""Shares of the peak from which on a level is drawn as medium and as high."""


def memory_lanes(trace: Trace) -> Iterator[LaneRows]:
    """A lane of each kind of memory that was sampled of the target; none where it was not. A level holds until the next
    sample, the last one as long as samples usually lie apart. O(n)."""
    for kind, title in TITLES.items():
        frame = of_process(trace.memory, kind, trace.run.target.process)
        if len(frame):
            starts, held = frame["start_ns"].to_numpy(), frame["bytes"].to_numpy()
            usual = int(np.median(np.diff(starts))) if len(starts) > 1 else 0
            texts, labels = np.unique([format_bytes(size) for size in held.tolist()], return_inverse=True)
            share = held / max(int(held.max()), 1)
            colors = np.where(share >= _HIGH, Category.HIGH, np.where(share >= _MEDIUM, Category.MEDIUM, Category.LOW))
            none = np.full(len(frame), -1, np.int32)
            events = Events(
                MEMORY,
                frame.index.to_numpy(np.int64),
                starts,
                np.append(starts[1:], max(min(int(starts[-1]) + usual, trace.run.duration_ns or 0), int(starts[-1]))),
                colors.astype(np.int8),
                labels.astype(np.int32),
                tuple(map(str, texts)),
                none,
                (),
            )
            yield LaneRows(f"{MEMORY}/{kind}", title, "System", events, pinned=True, strip=True)
