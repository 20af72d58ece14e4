"""Lanes of what signposts show: the app's own operations, and phases of runtimes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pandas as pd

from tracekit.arrays import IntArray
from tracekit.lanes.categories import Category
from tracekit.lanes.events import Events, LaneRows, category_codes, rows_by
from tracekit.trace.collect import group_ids
from tracekit.trace.frames import ends_of
from tracekit.trace.runtimes.phases import OPEN, OPERATION, PHASES, UNKNOWN, of_target
from tracekit.trace.runtimes.registry import LANES
from tracekit.trace.runtimes.registry import PHASES as LANE_OF
from tracekit.trace.trace import Trace

OPERATIONS: Final = "Operations"
"""Section of the lanes of the app's own signposts."""
TOOLS: Final = LANE_OF["tool call"]
"""Title of the lane of tool calls, each named by its tool."""
OPERATION_LIMIT: Final = 12
"""Operations that get a lane of their own: those that last longest. Our judgment: more would push all else away."""


def phase_lanes(trace: Trace) -> Iterator[LaneRows]:
    """A lane for each operation of the target, then those of each runtime that it ran; none where no signpost shows
    any. Without a target, those of all processes. O(n log n)."""
    rows = np.flatnonzero(of_target(trace.phases, trace.run.target.process))
    if not len(rows):
        return
    frame = trace.phases.take(rows)
    events = _events(frame, rows, trace.run.duration_ns or 0)
    for runtime, members in sorted(rows_by(frame, "runtime"), key=lambda each: each[0]):
        section = runtime or OPERATIONS
        lanes = {name: members[at] for name, at in rows_by(frame.take(members), "lane")}
        in_order = ((name, lanes[name]) for name in LANES if name in lanes)
        for name, positions in in_order if runtime else _longest(lanes, events):
            yield LaneRows(f"{PHASES}/{section}/{name}", name, section, events.at(positions))


def _longest(lanes: dict[str, IntArray], events: Events) -> Iterator[tuple[str, IntArray]]:
    """Operations in order of appearance, without a lane of their own for those beyond the limit."""
    elapsed = {name: int((events.ends - events.starts)[at].sum()) for name, at in lanes.items()}
    own = sorted(lanes, key=lambda name: -elapsed[name])[:OPERATION_LIMIT]
    yield from ((name, at) for name, at in lanes.items() if name in own)
    if rest := [at for name, at in lanes.items() if name not in own]:
        yield f"{len(rest)} more", np.sort(np.concatenate(rest))


def _events(frame: pd.DataFrame, rows: IntArray, end_ns: int) -> Events:
    """What is drawn: name and phase of each; what has no end lasts until that of the recording, and says so."""
    is_app = frame["runtime"].isna().to_numpy()
    columns = [category_codes(frame, name) for name in ("name", "phase", "form")]
    labels = group_ids([codes for codes, _ in columns], len(frame))
    _, first = np.unique(labels, return_index=True)
    texts = []
    for name, phase, form in zip(*(codes[first].tolist() for codes, _ in columns), strict=True):
        words = columns[1][1][phase]
        label = columns[0][1][name] if name >= 0 else ""
        label += "" if words in (OPERATION, UNKNOWN) or words == label.casefold() else f" ({words})"
        texts.append(f"{label}, no end recorded" if columns[2][1][form] == OPEN else label)
    none = np.full(len(frame), -1, np.int32)
    return Events(
        PHASES,
        rows,
        frame["start_ns"].to_numpy(),
        ends_of(frame, end_ns),
        np.where(is_app, Category.OPERATION, Category.PHASE).astype(np.int8),
        labels.astype(np.int32),
        tuple(texts),
        none,
        (),
    )
