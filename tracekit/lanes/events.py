"""Lanes, and their intervals: what is drawn of the rows of a frame, made once for all lanes that show some of them, and
the rows in which overlapping and nested intervals stand one below another."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tracekit.arrays import CodeArray, Int8Array, IntArray
from tracekit.columns import Texts
from tracekit.lanes.categories import OF_DEVICE, OF_KIND, Category
from tracekit.sorting import distinct_numbers
from tracekit.trace.events import Attribution, Device, Events as EventRows
from tracekit.trace.instruments.catalogue import HARDWARE


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """Intervals of a lane, sorted by start, longest first. All arrays have shape (n,)."""

    frame: str
    """Frame of the trace that they come from; a name of `tracekit.trace.filter.EVENT_FRAMES` or of the context."""
    index: IntArray
    """Index of each in that frame, ascending."""
    starts: IntArray
    ends: IntArray
    categories: CodeArray
    labels: CodeArray
    """Codes into `label_texts`, -1 for none."""
    label_texts: tuple[str, ...]
    models: CodeArray
    """Codes into `model_texts`, -1 for none."""
    model_texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.starts)

    def at(self, positions: IntArray) -> Events:
        """Those at these positions, which ascend."""
        if len(positions) == len(self):
            return self
        arrays = ("index", "starts", "ends", "categories", "labels", "models")
        return replace(self, **{name: getattr(self, name)[positions] for name in arrays})

    def label(self, position: int) -> str:
        """What is written on a bar: `Prediction · Watercolor`."""
        label, model = int(self.labels[position]), int(self.models[position])
        parts = (self.label_texts[label] if label >= 0 else "", self.model_texts[model] if model >= 0 else "")
        return " · ".join(part for part in parts if part)

    def position(self, index: int) -> int | None:
        """Position of the row with this index in the frame; None where the lane does not have it. O(log n)."""
        return position_of(self.index, index)


def position_of(values: IntArray, value: int) -> int | None:
    """Where a value stands among sorted ones; None where it is not there. O(log n)."""
    at = int(np.searchsorted(values, value))
    return at if at < len(values) and values[at] == value else None


def events_of(name: str, rows: EventRows) -> Events:
    """All rows of one of the `EVENT_FRAMES`."""
    category = by_code(rows.kind.codes, [OF_KIND.get(text, Category.OTHER) for text in rows.kind.values])
    device = by_code(rows.device.codes, [OF_DEVICE[Device(text)] for text in rows.device.values])
    by_device = (category == Category.OTHER) & (device != Category.OTHER)
    category[by_device] = device[by_device]
    category[rows.attribution.is_any(Attribution.INFERRED)] = Category.INFERRED
    category[rows.lane.is_any(*_BY_OWNER) & ~rows.model.known] = Category.APP
    category[rows.attribution.is_any(Attribution.FOREIGN)] = Category.FOREIGN
    label, model = rows.label, rows.model
    return Events(
        *(name, np.arange(len(rows)), rows.start_ns, rows.ends_ns, category),
        *(label.codes, label.values, model.codes, model.values),
    )


def events_without_models(
    frame: str, index: IntArray, starts: IntArray, ends: IntArray, categories: CodeArray, labels: Texts
) -> Events:
    """Intervals of rows that name no model."""
    none = np.full(len(starts), -1, np.int32)
    return Events(frame, index, starts, ends, categories, labels.codes, labels.values, none, ())


def by_code(codes: CodeArray, categories: Sequence[Category]) -> Int8Array:
    """Categories by code; `OTHER` for code -1."""
    return np.array([*categories, Category.OTHER], np.int8)[codes]


_BY_OWNER = tuple(hardware.lane for hardware in HARDWARE.values() if hardware.by_owner)


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


def rows_by(column: Texts) -> Iterator[tuple[str, IntArray]]:
    """Places of the rows of each text of a column, texts in order of first appearance; "" for none."""
    codes = column.codes
    order = np.argsort(codes, kind="stable")
    cuts = np.flatnonzero(np.diff(codes[order])) + 1
    groups = [positions for positions in np.split(order, cuts) if positions.size]
    for positions in sorted(groups, key=lambda positions: int(positions[0])):
        code = int(codes[positions[0]])
        yield (column.values[code] if code >= 0 else ""), positions


def stack(starts: IntArray, ends: IntArray) -> IntArray:
    """The row of each interval, from 0: the lowest one that is free when it starts.

    Intervals come sorted by start, longest first among equal starts, and have a length. In one row none overlap; there
    are as many rows as intervals at once at most; an interval stands below those that contain it. O(n log n), with a
    loop in Python only over intervals that cross others without nesting.
    """
    count = len(starts)
    rows = np.zeros(count, np.int64)
    if not count:
        return rows
    reach = np.maximum.accumulate(ends)
    opens = np.concatenate(([True], starts[1:] >= reach[:-1]))
    if opens.all():
        return rows
    # How many earlier intervals are still on. For nested intervals, that is the row.
    rows = np.arange(count) - np.searchsorted(np.sort(ends), starts, side="right")
    position = np.arange(count)
    keys = rows * count + position
    order = np.argsort(keys, kind="stable")
    above = np.searchsorted(keys[order], (rows - 1) * count + position) - 1
    parent = order[np.maximum(above, 0)]
    nested = (above >= 0) & (rows[parent] == rows - 1) & (ends[parent] >= ends)
    # Those that outlast the last one before them that is one level up.
    crossed = (rows > 0) & ~nested
    if crossed.any():
        cluster = np.cumsum(opens) - 1
        bad = distinct_numbers(cluster[crossed])
        firsts = np.flatnonzero(opens)
        lasts = np.append(firsts[1:], count)
        for first, last in zip(firsts[bad].tolist(), lasts[bad].tolist(), strict=True):
            rows[first:last] = _greedy(starts[first:last].tolist(), ends[first:last].tolist())
    return rows


def _greedy(starts: list[int], ends: list[int]) -> list[int]:
    """Rows of intervals that begin at or after one another. O(n log n)."""
    free: list[int] = []
    taken: list[tuple[int, int]] = []
    rows = []
    for start, end in zip(starts, ends, strict=True):
        while taken and taken[0][0] <= start:
            heapq.heappush(free, heapq.heappop(taken)[1])
        row = heapq.heappop(free) if free else len(taken)
        heapq.heappush(taken, (end, row))
        rows.append(row)
    return rows
