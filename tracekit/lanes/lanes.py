"""The lanes of a trace: Core ML's as they are grouped, and below them the pinned ones of hardware and system.

A lane without rows says in words why, and never looks as if nothing had happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

import numpy as np

from tracekit.arrays import Int8Array, IntArray
from tracekit.columns import Texts
from tracekit.lanes.categories import Category
from tracekit.lanes.events import Events, LaneRows, by_code, events_of, events_without_models, rows_by
from tracekit.lanes.process import (
    FRAME,
    IN_CALLS,
    RUNNING,
    aside_lanes,
    loop_lanes,
    main_thread_stretches,
    memory_lanes,
    phase_lanes,
)
from tracekit.recording.table import TableState
from tracekit.trace.context import ContextRows, of_target
from tracekit.trace.events import Attribution
from tracekit.trace.filter import CORE_ML_FRAMES
from tracekit.trace.instruments.catalogue import CONTEXT, CORE_ML, HARDWARE, lane_title
from tracekit.trace.instruments.metal import SubmittedBuffers
from tracekit.trace.instruments.tables import MetalPipelines, ShaderCompilations
from tracekit.trace.trace import Trace


class Reason(StrEnum):
    """Why a lane has no rows, in the words of the screen. None of them means that nothing happened."""

    ABSENT = "not recorded"
    EMPTY = "recorded, no events"
    UNREAD = "unreadable"
    NOT_EXPORTED = "not exported"
    """Listed in the table of contents of an export, and left out of it."""
    OUTSIDE = "not in this input"
    """An export that holds some tables, and says nothing of others."""
    NOTHING_SHOWN = "recorded, nothing to draw"
    """Rows, none of which is a state."""
    NONE_SHOWN = "recorded, none for this lane"
    """Rows of the instrument, none of which belongs on this lane."""
    OTHER_LANES = "no events in this lane"
    """Rows of the instrument on its other lanes."""
    NO_MODEL = "no rows attributed to a model"
    """Rows on the GPU, none of which is known to be Core ML's own."""


def reason(trace: Trace, schemas: Sequence[str]) -> Reason:
    """Why tables of these schemas show nothing."""
    tables = [entry for entry in trace.run.tables if entry.schema in schemas]
    states = {entry.state for entry in tables}
    if TableState.ROWS in states:
        return Reason.NOTHING_SHOWN
    if unreadable := [entry for entry in tables if entry.state is TableState.UNREADABLE]:
        exported = any("not exported" not in entry.reason for entry in unreadable)
        return Reason.UNREAD if exported else Reason.NOT_EXPORTED
    if TableState.EMPTY in states:
        return Reason.EMPTY
    return Reason.ABSENT if trace.contents.has_table_of_contents else Reason.OUTSIDE


PROCESS_LIMIT = 6
"""Processes on the GPU that get a lane of their own where lanes are not grouped."""
NO_MODEL = "unattributed"
PIPELINES = "metal_pipelines"


class Grouping(StrEnum):
    """How Core ML's rows are laid out in lanes."""

    LANES = "lanes"
    """Activity, Data, Compute: grouped, as Instruments does by default."""
    EVENTS = "events"
    """One lane for each event text: ungrouped."""
    MODELS = "models"
    """The lanes of each model apart."""


def lanes_of(trace: Trace, grouping: Grouping) -> tuple[LaneRows, ...]:
    """All lanes but that of the main thread, top to bottom; pinned ones last. O(n log n)."""
    by_event = grouping is Grouping.EVENTS
    return (
        *phase_lanes(trace),
        *(_by_model(trace) if grouping is Grouping.MODELS else _frame_lanes(trace, by_event=by_event)),
        *_hardware(trace, grouping),
        *memory_lanes(trace),
        *loop_lanes(trace),
        *aside_lanes(trace),
        *_strips(trace),
    )


def _frame_lanes(trace: Trace, *, by_event: bool = False) -> Iterator[LaneRows]:
    for name in CORE_ML_FRAMES:
        rows = trace.events[name]
        title, intervals = lane_title(name), events_of(name, rows)
        section = title if by_event else CORE_ML
        if by_event and len(rows):
            for label, positions in rows_by(rows.label):
                text = label or "unnamed event"
                yield _lane(f"{name}/{text}", text, section, intervals, "", positions)
        elif name != "other" or len(rows):
            yield _lane(name, title, section, intervals, _words(trace, CORE_ML, Reason.OTHER_LANES))


def _by_model(trace: Trace) -> Iterator[LaneRows]:
    lanes_of_model: dict[str, list[LaneRows]] = {name: [] for name in trace.models.name}
    for name in CORE_ML_FRAMES:
        rows = trace.events[name]
        intervals = events_of(name, rows)
        for model, positions in rows_by(rows.model):
            section = model or NO_MODEL
            lane = _lane(f"{section}/{name}", lane_title(name), section, intervals, "", positions)
            lanes_of_model.setdefault(section, []).append(lane)
    yield from [lane for of_model in lanes_of_model.values() for lane in of_model] or _frame_lanes(trace)


def _hardware(trace: Trace, grouping: Grouping) -> Iterator[LaneRows]:
    """Lanes of the units, and of shaders and GPU functions as they were compiled, where any was."""
    rows = trace.hardware
    intervals = events_of("hardware", rows)
    others, named = rows.attribution.is_any(Attribution.FOREIGN), rows.model.known
    for name, entry in HARDWARE.items():
        here = rows.lane.is_any(entry.lane)
        if not entry.by_owner:
            words = _words(trace, name, Reason.NONE_SHOWN)
            yield _hardware_lane(entry.lane, name, intervals, np.flatnonzero(here), words)
            continue
        # Rows that name a model, others that may be the target's, and those of other processes.
        core_ml, app, foreign = (np.flatnonzero(here & rows) for rows in (named & ~others, ~named & ~others, others))
        words = _words(trace, name, Reason.NO_MODEL)
        yield _hardware_lane(entry.lane, f"{name} · Core ML", intervals, core_ml, words)
        if app.size:
            yield _hardware_lane(f"{entry.lane} app", f"{name} · app", intervals, app)
        if grouping is Grouping.EVENTS:
            # Other processes on a lane, the busiest apart and the rest in one lane.
            groups = [
                (process or "unknown process", foreign[positions])
                for process, positions in rows_by(rows.process.take(foreign))
            ]
            groups.sort(key=lambda group: -int(rows.duration_ns[group[1]].sum()))
            for process, positions in groups[:PROCESS_LIMIT]:
                yield _hardware_lane(f"{entry.lane}/{process}", f"{name} · {process}", intervals, positions)
            if rest := [positions for _, positions in groups[PROCESS_LIMIT:]]:
                positions = np.sort(np.concatenate(rest))
                yield _hardware_lane(f"{entry.lane} other", f"{name} · {len(rest)} more", intervals, positions)
        elif foreign.size:
            yield _hardware_lane(f"{entry.lane} other", f"{name} · others", intervals, foreign)
    buffers = trace.table(SubmittedBuffers)
    if buffers is not None and len(buffers):
        events = _context_events(
            "command_buffers", buffers, np.full(len(buffers), Category.GPU, np.int8), buffers.label
        )
        yield LaneRows("command_buffers", "Command buffers", "Hardware", events, pinned=True)
    shaders = trace.table(ShaderCompilations)
    if shaders is not None and len(shaders):
        own = of_target(shaders.pid, trace.run.target.process)
        categories = np.where(own, np.int8(Category.COMPILE), np.int8(Category.FOREIGN))
        events = _context_events("shader_compilations", shaders, categories, shaders.label)
        yield LaneRows("shader_compilations", "Shader compilations", "Hardware", events, pinned=True)
    compiled = trace.table(MetalPipelines)
    if compiled is not None and len(compiled):
        categories = np.full(len(compiled), Category.COMPILE, np.int8)
        events = _context_events(PIPELINES, compiled, categories, compiled.function)
        yield LaneRows(PIPELINES, "Metal pipelines", "Hardware", events, pinned=True)


def _hardware_lane(identity: str, title: str, intervals: Events, positions: IntArray, words: str = "") -> LaneRows:
    return _lane(identity, title, "Hardware", intervals, words, positions, pinned=True)


def _strips(trace: Trace) -> Iterator[LaneRows]:
    strips = [(context, context.strip) for context in CONTEXT if context.strip is not None]
    for context, strip in sorted(strips, key=lambda pair: not pair[1].first):
        rows, events = trace.context.get(context.name), None
        if rows is not None and len(rows):
            states: Texts = rows.columns()[strip.column]
            events = _context_events(context.name, rows, _categories(states, strip.colors), states)
        words = reason(trace, context.schemas) if events is None else ""
        yield LaneRows(context.name, strip.title, "System", events, words, pinned=True, strip=True)


def main_thread(trace: Trace) -> tuple[LaneRows, ...]:
    """The lane of the main thread; none where no call stack shows when it ran. Reads the samples."""
    rows = main_thread_stretches(trace)
    if not len(rows):
        return ()
    colors = {RUNNING: Category.APP.name, **dict.fromkeys(IN_CALLS, Category.INFERRED.name)}
    events = events_without_models(
        *(FRAME, np.arange(len(rows)), rows.start_ns, rows.start_ns + rows.duration_ns),
        *(_categories(rows.state, colors), rows.state),
    )
    return (LaneRows(FRAME, "Main thread", "System", events, pinned=True, strip=True),)


def _categories(states: Texts, colors: Mapping[str, str]) -> Int8Array:
    by_text = [Category[colors.get(text.casefold(), Category.OTHER.name)] for text in states.values]
    return by_code(states.codes, by_text)


def _context_events(name: str, rows: ContextRows, categories: Int8Array, labels: Texts) -> Events:
    """All rows of the context of a name, which name no model."""
    return events_without_models(name, np.arange(len(rows)), rows.start_ns, rows.ends(0), categories, labels)


def _words(trace: Trace, instrument: str, with_rows: Reason) -> Reason:
    """Why a lane of an instrument is empty; `with_rows` where the instrument has rows, though none in this lane."""
    coverage = trace.coverage_of(instrument)
    return with_rows if coverage.state is TableState.ROWS else reason(trace, coverage.tables)


def _lane(
    identity: str,
    title: str,
    section: str,
    intervals: Events,
    words: str,
    positions: IntArray | None = None,
    *,
    pinned: bool = False,
) -> LaneRows:
    """A lane of the rows at some positions, else of all; `words` say why there are none."""
    events = intervals if positions is None else intervals.at(positions)
    drawn, why = (events, "") if len(events) else (None, words)
    return LaneRows(identity, title, section, drawn, why, pinned)
