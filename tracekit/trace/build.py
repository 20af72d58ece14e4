"""Builds the trace of one run from its recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from tracekit.errors import UnreadableRecording, naming_keywords
from tracekit.intervals import Intervals
from tracekit.recording import Progress, XctraceOptions, open_recording
from tracekit.recording.contents import Recording
from tracekit.recording.open import Paths
from tracekit.recording.table import TableState
from tracekit.trace.attribution import attribute_hardware, graph_rows, with_graphs
from tracekit.trace.calls.infer import infer_calls, recorded_calls
from tracekit.trace.collect import Rows, collect
from tracekit.trace.context import ContextRows, bind_context, of_target, rows_of_class
from tracekit.trace.coverage import coverage, doubts, mark_unreadable
from tracekit.trace.events import Events, Lane, lane_of, no_events, numbered
from tracekit.trace.frames import frames_of
from tracekit.trace.instruments import coreml, frames, memory, metal, signposts
from tracekit.trace.instruments.catalogue import CONTEXT, GPU, HARDWARE, NEEDED_SCHEMAS, NEURAL_ENGINE
from tracekit.trace.instruments.hardware import in_order
from tracekit.trace.instruments.instrument import Binder, CommandBuffers
from tracekit.trace.instruments.tables import Logged, ShaderCompilations, Signposts, engine_events
from tracekit.trace.labels import KnownModels
from tracekit.trace.linking import link_events
from tracekit.trace.models import models_of
from tracekit.trace.requests.frame import CORE_AI, FOUNDATION_MODELS, REQUESTS
from tracekit.trace.runtimes.phases import PHASES, Phases, bind_phases
from tracekit.trace.runtimes.registry import ALL_OWN, Units
from tracekit.trace.samples import SampleSource
from tracekit.trace.sharing import sharing
from tracekit.trace.trace import Trace

Bound = TypeVar("Bound")


class _Binding:
    """Binds the tables of one recording, and keeps what they met."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.notes: list[str] = []
        self.failures: dict[str, str] = {}

    def bind(
        self, schemas: Sequence[str], bind: Callable[..., Bound], *given: object, once: bool = False
    ) -> Bound | None:
        """What `bind` makes of rows of these schemas and what is given; None for no rows, or none to be understood."""
        try:
            rows = collect(self.recording, schemas, once=once)
            if rows is None:
                return None
            bound = bind(rows, *given)
        except UnreadableRecording as error:
            self.failures |= dict.fromkeys(schemas, str(error))
            return None
        self.notes += rows.notes
        return bound

    def recorded(self, instrument: str) -> bool:
        """Whether all that an instrument of hardware recorded could be read, if it is no row. Its tables were bound."""
        schemas = HARDWARE[instrument].schemas
        states = [table.state for table in self.recording.run.tables if table.schema in schemas]
        readable = TableState.ROWS in states or TableState.EMPTY in states
        return readable and TableState.UNREADABLE not in states and not self.failures.keys() & set(schemas)


def build_trace(recording: Recording, units: Units = ALL_OWN) -> Trace:
    """What the run of this recording means; `units` says which signposts are operations of the app. O(n log n) in its
    rows.

    Raises `MissingColumn` where the Core ML table lacks a column that its meaning depends on. A table of another
    instrument that cannot be understood makes that instrument `unreadable` in the coverage, and the rest goes on.
    """
    binding = _Binding(recording)
    events, known = _core_ml(binding)
    hardware, buffers = _hardware(binding, known)
    graphs = graph_rows(hardware, buffers.id)
    source = SampleSource(recording)
    sampled, sites = None, None
    context = _context(binding, units)
    recording.forget(NEEDED_SCHEMAS)
    if not len(events):
        # Most recordings have rows of Core ML.
        from tracekit.trace.calls.signposts import with_signposts

        sampled = source.read()
        watched = binding.recorded(NEURAL_ENGINE) and binding.recorded(GPU)
        watched &= bool(hardware.lane.is_any(Lane.NEURAL_ENGINE).any()) or not engine_events(recording.run)
        submitted = rows_of_class(context, metal.SubmittedBuffers)
        end, target = recording.run.duration_ns or 0, recording.run.target.process
        rows = rows_of_class(context, ShaderCompilations)
        shaders = Intervals.none() if rows is None else Intervals.from_rows(rows)
        if rows is not None and target is not None:
            shaders = shaders.where(rows.pid.filled() == target.pid)
        inferred = infer_calls(hardware, buffers, sampled, end, watched=watched, submitted=submitted, shaders=shaders)
        inferred = with_signposts(inferred, rows_of_class(context, Signposts), target)
        activity, hardware, sites = inferred.activity, with_graphs(inferred.hardware, graphs), inferred.sites
    else:
        activity = recorded_calls(_lane(events, Lane.ACTIVITY))
        hardware = attribute_hardware(hardware, events, graphs)
    shared = sharing(hardware, events)
    # Last: a table that looked sound from outside may have turned out to be damaged by now.
    run = replace(recording.run, tables=mark_unreadable(recording.run.tables, binding.failures))
    trace = Trace(
        contents=recording.contents,
        activity=activity,
        data=_lane(events, Lane.DATA),
        compute=_lane(events, Lane.COMPUTE),
        other=_lane(events, Lane.UNKNOWN),
        hardware=hardware,
        models=models_of(events if len(events) else activity),
        context=context,
        coverage=coverage(recording.contents, run, hardware, shared, rows_of_class(context, Phases)),
        notes=(*binding.notes, *doubts(recording, run, events, hardware, None if len(events) else activity)),
        sites=sites,
        sharing=shared,
        sample_source=source,
        run=run,
    )
    if not len(events):
        # What was read for the calls is not read again.
        trace.cache.get(SampleSource, lambda: sampled)
    return trace


@naming_keywords
def open_trace(
    path: Paths,
    *,
    run: int | None = None,
    reader: str = "auto",
    xctrace: XctraceOptions | None = None,
    progress: Callable[[Progress], None] | None = None,
    units: Units = ALL_OWN,
) -> Trace:
    """Read a recording and work out what it means.

    `run` is the number of the run; the latest one where it is None. `reader` is `auto`, `native` or `xctrace`, and
    `xctrace` says how the last is asked, as for `open_recording`. `units` are those of `build_trace`. Raises
    `UnreadableRecording` for an input that is no recording or a broken one, `UsageError` for a run that it does not
    hold, and `TracekitError` for the reader `xctrace` on a machine without it.
    """
    opened = open_recording(path, run=run, schemas=NEEDED_SCHEMAS, progress=progress, reader=reader, xctrace=xctrace)
    return build_trace(opened, units)


def _core_ml(binding: _Binding) -> tuple[Events, KnownModels]:
    """The Core ML rows, linked, and the models that they name."""
    rows = collect(binding.recording, coreml.INSTRUMENT.schemas)
    if rows is None:
        return no_events(), KnownModels()
    binding.notes += rows.notes
    if not rows.table.rows:
        return no_events(), KnownModels()
    events, model, parent, names = coreml.bind(rows)
    del rows
    binding.recording.forget(coreml.INSTRUMENT.schemas)
    return link_events(events, model, parent, names), KnownModels(name.base for name in names)


def _lane(events: Events, lane: Lane) -> Events:
    chosen = np.flatnonzero(events.lane.is_any(lane))
    # Copied: a slice would keep all of the events in memory.
    return events if len(chosen) == len(events) else numbered(events.take(chosen))


def _hardware(binding: _Binding, known: KnownModels) -> tuple[Events, CommandBuffers]:
    """Rows of all hardware as one lane, and the command buffer of each of them."""
    lanes, buffers = [], {}
    target = binding.recording.run.target.process
    for entry in HARDWARE.values():
        bound = binding.bind(entry.schemas, _of_rows, entry.bind, known, target, once=entry.once)
        binding.recording.forget(entry.schemas)
        if bound is not None:
            lanes.append(bound[0])
            buffers[entry.lane] = bound[1]
    rows = lane_of(*lanes) if lanes else no_events()
    return rows, in_order(rows, buffers)


def _of_rows(rows: Rows, bind: Binder, *given: Any) -> tuple[Events, CommandBuffers | None] | None:
    """What `bind` makes of rows; None without any: no rows take as long to make as a few."""
    return bind(rows, *given) if rows.table.rows else None


def _context(binding: _Binding, units: Units) -> dict[str, ContextRows]:
    """The rows of the context whose tables can be had, by name, and `phases` and `requests` where any are shown."""
    rows = {each.name: binding.bind(each.schemas, bind_context, each.rows) for each in CONTEXT}
    target, unfinished = binding.recording.run.target.process, dict[str, ContextRows]()
    for name in (each.name for each in CONTEXT if each.of_target):
        if (every := rows[name]) is not None:
            rows[name] = every.where(of_target(every.columns()["pid"], target))
    if (buffers := rows_of_class(rows, metal.SubmittedBuffers)) is not None:
        completions = binding.bind((metal.COMPLETED,), bind_context, metal.Completions)
        rows["command_buffers"] = metal.with_completions(buffers, completions)
    if (single := binding.bind(signposts.EVENT_SCHEMAS, signposts.bind_signposts)) is not None:
        intervals, events, unfinished["open_signposts"], notes = single
        binding.notes += notes
        rows["signposts"] = signposts.joined_intervals(rows_of_class(rows, Signposts), intervals)
        rows["signpost_events"] = events
        rows["metal_pipelines"] = signposts.metal_pipelines(events, target)
    sizes = {schema: binding.bind((schema,), bind_context, each) for schema, (_, each) in memory.SOURCES.items()}
    rows[memory.MEMORY] = memory.memory_rows(sizes)
    of_frames = {name: binding.bind(schemas, bind_context, each) for name, (schemas, each) in frames.SOURCES.items()}
    rows[frames.FRAMES] = frames_of(of_frames, target, binding.recording.run.duration_ns)
    if (loop := rows_of_class(rows, frames.RunLoop)) is not None:
        rows["run_loop"] = loop.work
    if (states := rows_of_class(rows, frames.ThreadStates)) is not None:
        rows["thread_states"] = states.work
    known = {name: each for name, each in rows.items() if each is not None}
    logged = {name: each for name, each in (known | unfinished).items() if isinstance(each, Logged)}
    phases, without_messages, notes = bind_phases(logged, units, target)
    binding.notes += notes
    known |= {name: each for name, each in without_messages.items() if name not in unfinished}
    tables = {schema: binding.bind((schema,), lambda rows: rows) for schema in FOUNDATION_MODELS}
    core_ai = binding.bind(CORE_AI, lambda rows: rows)
    if not len(phases) and core_ai is None and not any(tables.values()):
        return known
    # Most recordings are of no language model, and a report of them does not load what reads these.
    from tracekit.trace.requests.bind import bind_requests

    phases, requests, notes = bind_requests(phases, tables, core_ai, target)
    binding.notes += notes
    return known | {name: each for name, each in ((PHASES, phases), (REQUESTS, requests)) if len(each)}
