"""What a lane is, and rows of a frame in groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tracekit.arrays import IntArray
from tracekit.lanes.events import Events, category_codes


@dataclass(frozen=True, slots=True, eq=False)
class LaneRows:
    """One lane and what stands on it."""

    id: str
    title: str
    section: str
    """Heading under which it stands; lanes of one section follow one another."""
    events: Events | None
    """None where there is nothing to draw; then `words` says why."""
    words: str = ""
    pinned: bool = False
    strip: bool = False
    """A thin strip of states, which tile time."""


def rows_by(frame: pd.DataFrame, column: str) -> Iterator[tuple[str, IntArray]]:
    """Places of the rows of each value of a category column, values in order of first appearance; "" for none."""
    codes, texts = category_codes(frame, column)
    order = np.argsort(codes, kind="stable")
    cuts = np.flatnonzero(np.diff(codes[order])) + 1
    groups = [positions for positions in np.split(order, cuts) if positions.size]
    for positions in sorted(groups, key=lambda positions: int(positions[0])):
        code = int(codes[positions[0]])
        yield (texts[code] if code >= 0 else ""), positions
