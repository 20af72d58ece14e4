"""Turn what a scenario says happened into table rows, apart from any file format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from tracekit.testing.contents import Attributes, table_list
from tracekit.testing.machines import main_thread
from tracekit.testing.metal import encode_graphs
from tracekit.testing.rows import CoreMLRow, GpuRow, LoggedRow, NeuralEngineRow
from tracekit.testing.scenario import CORE_ML, Scenario
from tracekit.testing.schemas import (
    DOCUMENTATION,
    LANGUAGE_MODELS,
    Cell,
    Label,
    Part,
    TableContent,
    columns_of,
    text_label,
)

Rows = Iterable[tuple[Cell, ...]]

_CORE_ML_LOG = "com.apple.coreml"
"""Subsystem of Core ML's own signposts. Of the tables that the template lists, those of others are listed only."""
TIME_PROFILE = "time-profile"
"""Schema of samples with call stacks."""


def written_order(rows: Sequence[CoreMLRow | NeuralEngineRow | GpuRow]) -> list[int]:
    """Indices of rows in the order in which they stand in their table: by start, then as added."""
    return sorted(range(len(rows)), key=lambda index: rows[index].start_ns)


def tables_of(scenario: Scenario) -> list[tuple[int, TableContent]]:
    """Tables whose rows a scenario knows, each with its 1-based position in the table of contents."""
    others = {table.schema: table for table in scenario.other_tables}
    # The empty one stands for points of interest.
    subsystems = {"", _CORE_ML_LOG, *(row.subsystem for row in scenario.logged)}
    if not scenario.command_buffers:
        scenario = replace(scenario, graphs=[], command_buffers=[], driver=[])
        encode_graphs(scenario)
    tables = []
    for position, (schema, attributes) in enumerate(table_list(scenario), start=1):
        if schema == "os-signpost" and _log_of(attributes)[0] not in subsystems:
            continue
        if schema not in _ROWS.keys() | others.keys() | set(LANGUAGE_MODELS):
            continue
        if schema == TIME_PROFILE and not scenario.samples:
            continue
        given = others.get(schema)
        columns = given.columns if given else columns_of(schema, scenario.xcode.family)
        rows = given.rows if given else tuple(_rows(scenario, schema, attributes))
        if schema != TIME_PROFILE:
            # Several tables of samples hold the same ones.
            rows = rows[(position - 1) % scenario.parts :: scenario.parts]
        documentation = DOCUMENTATION.get(schema, "") if scenario.xcode.documented else ""
        tables.append((position, TableContent(schema, attributes, columns, rows, documentation)))
    return tables


def _rows(scenario: Scenario, schema: str, attributes: Attributes) -> Rows:
    """Rows of one table in ascending order of their first cell, which is a time."""
    if schema in scenario.emptied:
        return ()
    subsystem, category = _log_of(attributes)
    if schema in LANGUAGE_MODELS:
        rows: list[tuple[Cell, ...]] = [*scenario.language_models.get(schema, ())]
    elif schema == "os-signpost" and subsystem:
        # Those of Core ML are consumed by its instrument: empty in every real export.
        rows = list(_logged(scenario, subsystem, category))
    else:
        rows = list(_ROWS[schema](scenario))
    return sorted(rows, key=lambda row: row[0] if isinstance(row[0], int) else 0)


def _log_of(attributes: Attributes) -> tuple[str, str]:
    """Subsystem and category of a table of signposts; no subsystem for points of interest."""
    texts = {key: text.strip('"') for key, text in attributes}
    return texts.get("subsystem", ""), texts.get("category", "")


def _core_ml(scenario: Scenario) -> Rows:
    lanes_until: list[int] = []
    for index in written_order(scenario.coreml):
        row = scenario.coreml[index]
        base, parent = row.model.base, row.model.parent
        qualified = f"{parent.base}/{base}" if base and parent else base
        yield (
            row.start_ns,
            row.duration_ns,
            _free_lane(lanes_until, row.start_ns, row.end_ns),
            row.label,
            row.model.recorded_name or None,
            _text(base),
            _text(qualified),
            parent.recorded_name if parent else None,
            row.model.level,
            row.lane if scenario.event_types else None,
            None,
            text_label(row.label),
        )


def _text(text: str) -> Label | None:
    """A label; no value for an empty text."""
    return text_label(text) if text else None


def _free_lane(lanes_until: list[int], start_ns: int, end_ns: int) -> int:
    """First drawing lane that is free at `start_ns`; it is then taken until `end_ns`."""
    for lane, until in enumerate(lanes_until):
        if until <= start_ns:
            lanes_until[lane] = end_ns
            return lane
    lanes_until.append(end_ns)
    return len(lanes_until) - 1


def _neural_engine(scenario: Scenario) -> Rows:
    for row in scenario.neural_engine:
        yield row.start_ns, row.duration_ns, "Apple Neural Engine", 0, text_label(row.label), "Active", 0


def _gpu(scenario: Scenario) -> Rows:
    for row in scenario.gpu:
        of_target = row.process == scenario.target
        yield (
            row.start_ns,
            row.duration_ns,
            row.channel,
            row.frame,
            row.latency_ns,
            0,
            Label(
                (
                    Part("string", row.command_buffer or "GPU Execution"),
                    Part("narrative-text", " "),
                    Part("string", " "),
                    Part("narrative-text", " ("),
                    Part("process", row.process) if row.process else Part("string", "<none>"),
                    Part("narrative-text", ") "),
                    Part("metal-encoder-id", row.submission_id),
                )
            ),
            "Active",
            0,
            0 if of_target else 1001,
            row.process,
            scenario.device.gpu,
            "",
            Label(),
            0,
            row.command_buffer_id,
            row.encoder_id,
            row.submission_id,
        )


def _mps(scenario: Scenario) -> Rows:
    for row in scenario.mps:
        label = Label(
            (
                Part("narrative-text", "MPSGraph:0x"),
                Part("uint64-hex-lowercase", row.graph),
                Part("narrative-text", " (CommandBuffer: 0x"),
                Part("uint64-hex-lowercase", row.command_buffer_id),
                Part("narrative-text", ")"),
            )
        )
        start, duration, gpu = row.start_ns, row.duration_ns, scenario.device.gpu
        yield start, duration, "MPSGraph", None, 0, 0, label, "Active", 0, 0, None, gpu, ""


def _metal_intervals(scenario: Scenario) -> Rows:
    gpu, none = scenario.device.gpu, (1 << 64) - 1
    for graph in scenario.graphs:
        label = Label((Part("narrative-text", "Encode MPSGraph:0x"), Part("uint64-hex-lowercase", graph.graph)))
        what = graph.thread.process, gpu, 0, label, 0, none, 3, graph.thread, "Encode MPSGraph", none, none
        yield graph.start_ns, graph.duration_ns, *what
    for number, row in enumerate(sorted(scenario.command_buffers, key=lambda row: row.start_ns)):
        process, thread, connection = row.thread.process, row.thread, 11_054 + number
        label = Label((Part("metal-object-label", row.label), Part("narrative-text", " ("), Part("process", process)))
        label = Label((*label.parts, Part("narrative-text", ")")))
        about = 1, connection, 0, thread, "Encoding", row.command_buffer_id
        yield row.start_ns, row.duration_ns, process, gpu, (14, 24)[number % 2], label, *about, none
        label = Label((Part("metal-object-label", _COMMAND),))
        yield row.end_ns - row.encoder_ns, row.encoder_ns, process, gpu, 4, label, *about, row.encoder_id


def _metal_encoders(scenario: Scenario) -> Rows:
    for number, row in enumerate(sorted(scenario.command_buffers, key=lambda row: row.start_ns), start=1):
        names = row.label, f"[0] {row.label}", _COMMAND, f"[0] {_COMMAND}", "Encoding"
        what = row.thread, row.thread.process, scenario.device.gpu, number, *names
        yield row.end_ns - row.encoder_ns, row.encoder_ns, *what, row.command_buffer_id, row.encoder_id


def _submissions(scenario: Scenario) -> Rows:
    for number, row in enumerate(sorted(scenario.command_buffers, key=lambda row: row.start_ns), start=1):
        note = Label(
            (
                Part("narrative-text", 'Committed "'),
                Part("metal-object-label", row.label),
                Part("narrative-text", '" with 1 encoders'),
            )
        )
        time = Label((Part("duration", row.encoder_ns), Part("narrative-text", " Metal Encoder duration")))
        what = "CommandBufferSubmission", scenario.device.gpu, None, 1, row.encoder_ns, row.thread.process, row.thread
        yield row.start_ns, row.duration_ns, *what, "Green", note, time, number, 0, row.command_buffer_id


def _completions(scenario: Scenario) -> Rows:
    told = {row.command_buffer_id: row.completed_ns for row in scenario.command_buffers}
    others = {row.command_buffer_id: row.end_ns for row in scenario.gpu if row.process not in (None, scenario.target)}
    return ((time, buffer) for buffer, time in (others | told).items())


_COMMAND = "Compute Command 0"
"""Label of the encoder of a graph."""


def _shaders(scenario: Scenario) -> Rows:
    for row in scenario.shaders:
        process = row.process or scenario.target
        label = Label(
            (
                Part("narrative-text", "Compile "),
                Part("metal-object-label", row.kind),
                Part("narrative-text", " shader ("),
                Part("process", process),
                Part("narrative-text", ")"),
            )
        )
        color = 3 if process == scenario.target else 1001
        yield row.start_ns, row.duration_ns, 0, "Metal Shader Compiler", label, process, 0, color


def _gpu_states(scenario: Scenario) -> Rows:
    for row in scenario.gpu_states:
        label = text_label(f"{row.channels} channels active" if row.channels else "Idle")
        state, color = ("Active", 3) if row.channels else ("Idle", 1000)
        yield row.start_ns, row.duration_ns, state, label, color, row.channels, scenario.device.gpu


def _gpu_performance(scenario: Scenario) -> Rows:
    for row in scenario.gpu_performance:
        reason = Part("narrative-text", " GPU Performance State due to active device conditions")
        narrative = Label((Part("gpu-performance-state", row.state), reason))
        # Real recordings say "induced" although no state was asked for.
        yield row.start_ns, row.duration_ns, row.state, "Current", 1, narrative, "GPU Performance State"


def _footprints(scenario: Scenario) -> Rows:
    for row in scenario.memory:
        process = row.process or scenario.target
        yield row.start_ns, process, process.pid, row.bytes, row.bytes + row.bytes // 4


def _live_footprints(scenario: Scenario) -> Rows:
    for row in scenario.memory:
        process = row.process or scenario.target
        yield row.start_ns, process, process, scenario.memory_ns, process.pid, row.bytes, row.bytes + row.bytes // 4


def _signpost_events(scenario: Scenario) -> Rows:
    target, thread = scenario.target, main_thread(scenario.target, scenario.thread)
    location: tuple[Cell, ...] = (None,) if scenario.xcode.family >= 26 else ()
    for row in scenario.points:
        head = (row.time_ns, thread, target, "Event", "Process", 1, row.name, None, None)
        yield (*head, row.subsystem, "PointsOfInterest", _text(row.message), *location)


def _logged(scenario: Scenario, subsystem: str, category: str) -> Rows:
    location: tuple[Cell, ...] = (None,) if scenario.xcode.family >= 26 else ()
    for number, row in enumerate((*scenario.core_ml_signposts, *scenario.logged), start=1):
        if (row.subsystem, row.category) != (subsystem, category):
            continue
        thread = main_thread(scenario.target, scenario.thread) if row.thread is None else row.thread
        form, end_message = (row.form, row.end_message) if isinstance(row, LoggedRow) else ("interval", "")
        begin = (row.start_ns, "Event" if form == "event" else "Begin", row.message)
        for time_ns, kind, text in (begin, *([(row.end_ns, "End", end_message)] if form == "interval" else ())):
            head = (time_ns, thread, thread.process, kind, "Process", number, row.name, None, None)
            yield (*head, row.subsystem, category, _text(text), *location)


def _points(scenario: Scenario) -> Rows:
    target, thread = scenario.target, main_thread(scenario.target, scenario.thread)
    for row in scenario.points:
        yield row.time_ns, target, thread, row.subsystem, row.name, _text(row.message), None, None


def _signpost_intervals(scenario: Scenario) -> Rows:
    target, thread = scenario.target, main_thread(scenario.target, scenario.thread)
    lanes_until: dict[str, list[int]] = {}
    for number, row in enumerate(sorted(scenario.signposts, key=lambda row: row.start_ns), start=1):
        lane = _free_lane(lanes_until.setdefault(row.name, []), row.start_ns, row.end_ns)
        signature = Label((Part("string", row.message), Part("narrative-text", " → ")))
        names = (row.name, row.category, row.subsystem, number)
        ends = (target, target, thread, thread, _text(row.message), None)
        yield row.start_ns, row.duration_ns, lane, *names, *ends, None, None, None, None, signature


def _life_cycle(scenario: Scenario) -> Rows:
    start = 0
    for period, planned in (*(_LAUNCH if scenario.launched else ()), ("Foreground", scenario.duration_ns)):
        end = min(planned, scenario.duration_ns)
        yield start, "Current", 0, end - start, scenario.target, period, text_label(period)
        start = end


_LAUNCH = (
    ("Initializing - Process Creation", 1_250_000),
    ("Initializing - System Interface Initialization", 25_250_000),
)
"""What a launched process goes through first, with the ends in ns."""

_ROWS: dict[str, Callable[[Scenario], Rows]] = {
    CORE_ML: _core_ml,
    "ane-hw-intervals": _neural_engine,
    "ane-hw-intervals-internal": _neural_engine,
    "metal-gpu-intervals": _gpu,
    "mps-hw-intervals": _mps,
    "metal-application-intervals": _metal_intervals,
    "metal-application-encoders-list": _metal_encoders,
    "metal-application-command-buffer-submissions": _submissions,
    "metal-command-buffer-completed": _completions,
    "graphics-compiler-activity-intervals": _shaders,
    "metal-gpu-state-intervals": _gpu_states,
    "gpu-performance-state-intervals": _gpu_performance,
    "device-thermal-state-intervals": lambda scenario: (
        (
            row.start_ns,
            row.duration_ns,
            row.end_ns,
            row.state,
            "Current",
            0,
            Label((Part("thermal-state", row.state), Part("narrative-text", " thermal state"))),
        )
        for row in scenario.thermal
    ),
    "potential-hangs": lambda scenario: (
        (row.start_ns, row.duration_ns, row.state, main_thread(scenario.target, scenario.thread), scenario.target)
        for row in scenario.hangs
    ),
    "hang-risks": lambda _: (),
    "sysmon-process": _footprints,
    "activity-monitor-process-live": _live_footprints,
    "metal-current-allocated-size": lambda scenario: (
        (row.start_ns, None, scenario.device.gpu, row.process or scenario.target, row.bytes)
        for row in scenario.gpu_memory
    ),
    "os-signpost": _signpost_events,
    "PointsOfInterestEvents": _points,
    "os-signpost-interval": _signpost_intervals,
    "OSSignpostIntervals": _signpost_intervals,
    "life-cycle-period": _life_cycle,
    "process-info": lambda scenario: (
        (0, process.pid, 0x4C00 + number * 7, process, process.name)
        for number, process in enumerate([scenario.target, *scenario.processes])
    ),
    "time-info": lambda scenario: [(0, 1_034_743_489_489, 1_935_120_774_021, "125/3", scenario.start_ns)],
    TIME_PROFILE: lambda scenario: (
        (row.time_ns, row.thread, row.thread.process, 4, row.state, scenario.sample_ns, row.stack)
        for row in scenario.samples
    ),
}
"""What makes the rows of each schema."""
