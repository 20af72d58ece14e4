"""The columns of the views of SQL: names with units, types, and what each holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracekit.analysis.operations import Part
from tracekit.analysis.quantities import MODEL
from tracekit.arrays import BoolArray, FloatArray, IntArray
from tracekit.columns import Column, Flags, Numbers, Reals, Texts, Type, columns_of, unit_of
from tracekit.report.formatting import STATE_WORDS
from tracekit.rows import Rows
from tracekit.trace.context import ContextIntervals, ContextRows
from tracekit.trace.events import BOUNDS, Calls, Events
from tracekit.trace.instruments import metal, tables
from tracekit.trace.instruments.frames import Frames, RunLoop
from tracekit.trace.instruments.memory import MemoryRows
from tracekit.trace.requests.frame import Requests
from tracekit.trace.runtimes.phases import Phases
from tracekit.trace.samples import SampleRows, StackRows

Cells = IntArray | FloatArray | BoolArray | Texts | Numbers | Reals | Flags
ViewRows = dict[str, Cells]
"""Columns of a view by name, of one length."""


def count(rows: ViewRows) -> int:
    """How many rows there are; every view has a column."""
    return len(next(iter(rows.values())))


SQL_TYPES = {
    Type.TEXT: "VARCHAR",
    Type.NUMBER: "BIGINT",
    Type.NULLABLE_NUMBER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.FLAG: "BOOLEAN",
    Type.NULLABLE_FLAG: "BOOLEAN",
}
"""Types of columns, as DuckDB calls them."""


def text(name: str, says: str) -> Column:
    """A column of texts."""
    return Column(name, Type.TEXT, "", says)


def number(name: str, says: str) -> Column:
    """A column of whole numbers, any of which may be null."""
    return Column(name, Type.NULLABLE_NUMBER, unit_of(name), says)


def real(name: str, says: str) -> Column:
    """A column of numbers with a fraction."""
    return Column(name, Type.REAL, unit_of(name), says)


def flag(name: str, says: str) -> Column:
    """A column of truths, any of which may be null."""
    return Column(name, Type.NULLABLE_FLAG, "", says)


RENAMED = {
    "device": "compute_unit",
    "prediction": "prediction_id",
    "table": "source_table",
    "row": "source_row",
    "stack": "stack_id",
    "request": "request_id",
    **{name: f"is_{name}" for name in ("single", "overlapping", "uncertain", "unvalidated")},
}
"""Columns of frames that have other names in views."""


def of_rows(rows: type[Rows], *names: str) -> tuple[Column, ...]:
    """Columns of a view, by their names there, from those of rows; `end_ns` where they have durations."""
    held = {(name := RENAMED.get(column.name, column.name)): replace(column, name=name) for column in columns_of(rows)}
    held["end_ns"] = number("end_ns", "end")
    return tuple(held[name] for name in names)


_TIMES = ("start_ns", "end_ns", "duration_ns")
INTERVAL = of_rows(ContextIntervals, *_TIMES)

ROW = of_rows(MemoryRows, "source_table", "source_row")

EVENTS = (
    number("id", "number of the row in its lane; `prediction_id` refers to those of `activity`"),
    *INTERVAL,
    *of_rows(
        Events,
        *("lane", "kind", "label", "model", "instance", "parent_model", "level", "compute_unit", "process", "pid"),
        *("depth", "waited_ns", "operation", "prediction_id", "attribution"),
    ),
    *ROW,
)
CALLS = of_rows(Calls, "origin", "resolution_ns", *BOUNDS, "is_single")

FIRST = (flag("is_first_after_load", "first prediction after a load of its model, which warms it up"),)

COLD = (flag("is_cold", "the load prepared the model for the device; null where that is not known"),)

BREAKDOWN = (
    number("prediction_id", "the prediction, as in `predictions`"),
    number("start_ns", "start of the prediction"),
    text("model", "its model"),
    number("duration_ns", "its duration: the sum of the parts up to `not_recorded_ns`, nulls left out"),
    number(
        "neural_engine_ns",
        "the Neural Engine worked for it; null where that is not known: it was not recorded, only requests show it "
        "(`neural_engine_requested_ns`), or it worked for one of several predictions in flight (`ambiguous_ns`)",
    ),
    number("gpu_ns", "the GPU worked for it; null as `neural_engine_ns`"),
    number("cpu_ns", "Core ML computed on the CPU; null for inferred predictions, as the other parts up to `other_ns`"),
    number("data_before_ns", "copies and conversions before the first compute activity"),
    number("data_between_ns", "those between"),
    number("data_after_ns", "those after the last compute activity"),
    number("data_unplaced_ns", "those of a prediction without compute activity"),
    number("neural_engine_queue_ns", "waited for the Neural Engine; null where it is not known"),
    number(
        "neural_engine_requested_ns", "waiting and work on the Neural Engine, which the recording does not tell apart"
    ),
    number("gpu_queue_ns", "waited for the GPU; null as `neural_engine_queue_ns`"),
    number("gpu_requested_ns", "waiting and work on the GPU, which the recording does not tell apart"),
    number("other_ns", "events of Core ML with an unknown compute unit"),
    number("ambiguous_ns", "work that may be of another prediction in flight"),
    number("unexplained_ns", "nothing that was recorded"),
    number("not_recorded_ns", "the same, of predictions that Core ML did not record"),
    number("handoffs", "changes from one compute unit to another; null where they are not known"),
    number("handoff_gap_ns", "time between the work on both sides of them"),
    number("other_models_ns", "other models used its compute units meanwhile"),
)

COUNTS = (
    text("model", "model, by base name"),
    text("level", "`top` for models that the app called, `sub` for stages of pipelines"),
    number("instances", "distinct instances; null where names carry none"),
    number("loads", "loads; null where Core ML recorded nothing"),
    number("cold_loads", "loads that prepared the model for the device"),
    number("predictions", "predictions"),
    number("predictions_ns", "time of all predictions"),
    number("loads_ns", "time of all loads"),
)

MODELS = COUNTS + tuple(
    real(name, f"{quantity.label}, in {quantity.unit}") for name, quantity in MODEL.items() if name != "predictions"
)

COMPUTE_UNITS = (
    text("model", "model, by base name; where labels name several functions, also `Model.function`"),
    text("level", "`top` for models that the app called, `sub` for stages of pipelines"),
    text("unit", "`neural-engine`, `gpu` or `cpu`"),
    text("answer", "whether it worked for the model: `proven`, `refuted` or `unknown`"),
    number("predictions", "predictions that it is proven to have worked for"),
    number("maybe", "further predictions that it may have worked for"),
    number("of_predictions", "predictions with a duration"),
    number("time_ns", "time in which it is known to have worked for them"),
    real("share_of_time", "that time, of the time of all predictions"),
    real("least_share", "least share of the compute of all units that can be its"),
    real("most_share", "most of it"),
    number("rows", "rows that show it"),
    number("other_rows", "rows of its table that are left out: of other models and processes"),
    text("evidence", "what proves it"),
    text("why", "why it is refuted, unknown, or not known completely"),
)

SPECIALIZATIONS = (
    text("model", "the model"),
    text("answer", "`compiled`, `cached`, `not_loaded` or `unknown`"),
    number("times", "loads that compiled it"),
    number("ns", "time that those loads cover; else that of the longest load; null without any"),
    number("wait_ns", "from the launch to its first prediction; null where the recording began later"),
    text("evidence", "what shows it"),
    text("why", "why it is unknown, or not loaded"),
    text("units", "compute units that are proven to have worked for it"),
    *(
        text(name, f"hash of {what}, the same in every recording; null where it was not recorded")
        for name, what in (
            ("content", "the operations that ran"),
            ("path", "the app's path"),
            ("container", "the random folders of that path"),
            ("arguments", "the command line"),
        )
    ),
)

FINDINGS = (
    number("rank", "1 for the finding that costs most"),
    text("check_id", "the check"),
    text("severity", "`critical`, `high`, `medium` or `low`"),
    text("model", "the model; null for the whole recording"),
    text("title", "what is wrong"),
    text("summary", "the numbers in one sentence"),
    number(
        "savings_ns",
        "time in Core ML that the fix saves at most; null where that is unknown, and 0 where predictions "
        "in flight together each take less and all of them as long: see `each_saved_ns`",
    ),
    number("each_saved_ns", "mean that it saves at most each time; null where that is unknown"),
    text("each_what", "what each time is: `prediction`, `load`, …"),
    number("evidence", "intervals that show it"),
)

CHECKS = (
    text("check_id", "the check"),
    text("model", "the model; null for the whole recording"),
    text("outcome", "`finding`, `passed`, `not_applicable`, `not_evaluated` or `error`"),
    text("summary", "the numbers in one sentence, or why there are none"),
    text("record", "what to record so that it can be evaluated"),
)

EVIDENCE = (
    number("rank", "of the finding"),
    text("check_id", "the check"),
    *INTERVAL,
    text("model", "model of the interval"),
    text("label", "what the interval is"),
    *ROW,
)

COVERAGE = (
    text("instrument", "the instrument, as Instruments calls it"),
    text(
        "state",
        "a short key, as in JSON, for what reports say: "
        + "; ".join(f"`{key}` *{words}*" for key, words in STATE_WORDS.items()),
    ),
    number("rows", "rows in its tables; null where they are missing or unreadable"),
    text("tables", "schemas of its tables"),
    text("conclusion", "what follows"),
    text("advice", "what to do to see more"),
)

RECORDING = (
    text("source", "name of the recording"),
    number("run", "number of the run"),
    text("device_model", "model of the device"),
    text("os_version", "its system"),
    text("target", "process that was recorded"),
    text("template", "template of Instruments"),
    text("instruments_version", "version of Instruments"),
    text("start_date", "when it was recorded"),
    number("duration_ns", "duration of the run"),
)

RUNS = (
    text("run_id", "hash of what was recorded, the same for every copy"),
    *RECORDING,
    text("commit", "commit that was recorded; null where none was given"),
    text("app_version", "version of the app; null where none was given"),
    text(
        "unreadable",
        "tables that could not be read: rows are missing, or inferred from other tables (`origin`); "
        "null where all could",
    ),
    flag("redacted", "whether private texts were replaced"),
    text("report", "its JSON report, as a path in the lake"),
    text("tracekit_version", "what added it"),
    number("views_version", "version of the views"),
)

SKIPPED = (
    text("source", "name of the recording"),
    text("reason", "why it could not be added"),
    text("date", "when that was last tried"),
    text("tracekit_version", "what tried it"),
)

VIEW_COVERAGE = (
    text("view", "the view"),
    flag("recorded", "whether no rows mean that nothing happened"),
    number("rows", "rows of the view; null where it was not recorded"),
    text("note", "what is missing and how to get it"),
)

SAMPLES = of_rows(
    SampleRows, "time_ns", "thread", "tid", "main_thread", "process", "pid", "state", "weight_ns", "stack_id"
)
STACKS = of_rows(StackRows, "stack_id", "depth", "image", "function", "file", "line", "owner", "inlined")


def _beside(rows: type[ContextRows], *names: str) -> tuple[type[ContextRows], tuple[Column, ...]]:
    """A table beside the lanes, and the columns of its view: these, or all that its rows have."""
    times = _TIMES if issubclass(rows, ContextIntervals) else _TIMES[:1]
    held = (RENAMED.get(column.name, column.name) for column in columns_of(rows))
    return rows, of_rows(rows, *(names or dict.fromkeys((*times, *held))))


CONTEXT: Mapping[tuple[str, str, str], tuple[type[ContextRows], tuple[Column, ...]]] = {
    ("signposts", "Signposts", "signpost intervals of the app and of frameworks"): _beside(tables.Signposts),
    ("signpost_events", "Signposts", "signpost events"): _beside(tables.SignpostEvents),
    ("points_of_interest", "Points of Interest", "points of interest"): _beside(tables.PointsOfInterest),
    ("thermal", "Thermal State", "thermal states"): _beside(tables.Thermal),
    ("hangs", "Hangs", "times at which a main thread did not react"): _beside(tables.Hangs),
    ("hang_risks", "Hangs", "calls that risk a hang"): _beside(tables.HangRisks),
    ("gpu_states", "GPU State", "whether the GPU was active"): _beside(tables.GpuStates),
    ("gpu_clock", "GPU State", "performance states of the GPU"): _beside(tables.GpuPerformance),
    ("metal_intervals", "Metal Application", "what threads encode for the GPU"): _beside(metal.MetalIntervals),
    ("metal_encoders", "Metal Application", "encoders of command buffers"): _beside(metal.MetalEncoders),
    ("command_buffers", "Metal Application", "command buffers of the app"): _beside(metal.SubmittedBuffers),
    ("shader_compilations", "Shader Compiler", "shaders that were compiled"): _beside(tables.ShaderCompilations),
    ("metal_pipelines", "Signposts", "Metal pipelines that were compiled"): _beside(tables.MetalPipelines),
    ("memory", "Activity Monitor", "memory that processes held, sample by sample"): _beside(MemoryRows),
    ("frames", "Hitches", "frames and by how much they came late"): _beside(Frames),
    ("run_loop", "Run Loops", "when the main thread was busy"): _beside(RunLoop),
    ("processes", "Processes", "processes that ran"): _beside(tables.Processes, "process", "pid"),
}
"""Name, instrument and rows of each view of the context, the class of its rows, and its columns."""

PHASES = of_rows(
    Phases, *(*_TIMES, "form", "runtime", "phase", "lane", "name", "process", "pid", "thread", "tid", "request_id")
)
REQUESTS = (
    number("id", "number of the request; `request_id` refers to it"),
    *INTERVAL,
    *of_rows(
        Requests,
        *("runtime", "model", "process", "pid", "session", "first_token_ns", "first_token_from"),
        *("prompt_ns", "generation_ns", "consumed_tokens", "cached_tokens", "processed_tokens", "generated_tokens"),
        *("context_tokens", "window_tokens", "inferences", "tokenizer_ns", "sampling_ns", "cache_ns", "outside_ns"),
        *("tools", "tool_ns", "load_ns", "error", "instructions", "is_overlapping", "is_uncertain", "is_unvalidated"),
        "origin",
    ),
    *ROW,
)
OPERATIONS = (
    text("operation", "name of the app's own signpost"),
    number("count", "those with an end"),
    number("total_ns", "their time together"),
    real("p50_ns", "median"),
    real("p95_ns", "p95"),
    number("unfinished", "those without an end"),
    *(number(f"{part}_ns", "time of all in this part") for part in Part),
)
