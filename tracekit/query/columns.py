"""The columns of the views of SQL: names with units, types, and what each holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tracekit.analysis.operations import Part
from tracekit.analysis.quantities import MODEL
from tracekit.report.formatting import STATE_WORDS
from tracekit.trace.events import BOUNDS, CALL_COLUMNS, EVENT_COLUMNS
from tracekit.trace.requests import frame as requests

TEXT, NUMBER, REAL, FLAG = "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN"
"""Types of columns, as DuckDB calls them."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a view."""

    name: str
    type: str
    holds: str


def columns_of(*lines: str) -> tuple[Column, ...]:
    """Columns from lines such as `start_ns BIGINT start of the call`."""
    return tuple(Column(*line.split(" ", 2)) for line in lines)


RENAMED = {
    "device": "compute_unit",
    "prediction": "prediction_id",
    "table": "source_table",
    "row": "source_row",
    "stack": "stack_id",
    **{name: f"is_{name}" for name in ("single", "overlapping", "uncertain", "unvalidated")},
}
"""Columns of frames that have other names in views."""
_TYPES = {"category": TEXT, "int64": NUMBER, "Int64": NUMBER, "bool": FLAG, "boolean": FLAG}


def of_frame(frame: Iterable[str], *names: str) -> tuple[str, ...]:
    """Columns of a view, by their names there, from lines about a frame, as `tracekit.trace.events.dtypes_of` takes."""
    lines = (line.split(" ", 2) for line in frame)
    held = {RENAMED.get(name, name): f"{_TYPES[dtype]} {holds}" for name, dtype, holds in lines}
    return tuple(f"{name} {held[name]}" for name in names)


INTERVAL = ("start_ns BIGINT start", "end_ns BIGINT end", "duration_ns BIGINT duration")

PROCESS = ("process VARCHAR name of the process", "pid BIGINT id of the process")

THREAD = ("thread VARCHAR the thread, as Instruments shows it", "tid BIGINT id of the thread")
CALLER = (*PROCESS, *THREAD)

ROW = ("source_table VARCHAR schema of the recorded table", "source_row BIGINT row in that table, from 0")

EVENTS = columns_of(
    "id BIGINT number of the row in its lane; `prediction_id` refers to those of `activity`",
    *INTERVAL,
    *of_frame(
        EVENT_COLUMNS,
        *("lane", "kind", "label", "model", "instance", "parent_model", "level", "compute_unit", "process", "pid"),
        *("depth", "operation", "prediction_id", "attribution"),
    ),
    *ROW,
)
CALLS = columns_of(*of_frame(CALL_COLUMNS, "origin", "resolution_ns", *BOUNDS, "is_single"))

FIRST = columns_of("is_first_after_load BOOLEAN first prediction after a load of its model, which warms it up")

COLD = columns_of("is_cold BOOLEAN the load prepared the model for the device; null where that is not known")

BREAKDOWN = columns_of(
    "prediction_id BIGINT the prediction, as in `predictions`",
    "start_ns BIGINT start of the prediction",
    "model VARCHAR its model",
    "duration_ns BIGINT its duration: the sum of the parts up to `not_recorded_ns`, nulls left out",
    "ane_ns BIGINT the Neural Engine worked for it; null where that is not known: it was not recorded, only requests "
    "show it (`ane_requested_ns`), or it worked for one of several predictions in flight (`ambiguous_ns`)",
    "gpu_ns BIGINT the GPU worked for it; null as `ane_ns`",
    "cpu_ns BIGINT Core ML computed on the CPU; null for inferred predictions, as the other parts up to `other_ns`",
    "data_before_ns BIGINT copies and conversions before the first compute activity",
    "data_between_ns BIGINT those between",
    "data_after_ns BIGINT those after the last compute activity",
    "data_unplaced_ns BIGINT those of a prediction without compute activity",
    "ane_queue_ns BIGINT waited for the Neural Engine; null where it is not known",
    "ane_requested_ns BIGINT waiting and work on the Neural Engine, which the recording does not tell apart",
    "gpu_queue_ns BIGINT waited for the GPU; null as `ane_queue_ns`",
    "gpu_requested_ns BIGINT waiting and work on the GPU, which the recording does not tell apart",
    "other_ns BIGINT events of Core ML with an unknown compute unit",
    "ambiguous_ns BIGINT work that may be of another prediction in flight",
    "unaccounted_ns BIGINT nothing that was recorded",
    "not_recorded_ns BIGINT the same, of predictions that Core ML did not record",
    "handoffs BIGINT changes from one compute unit to another; null where they are not known",
    "handoff_gap_ns BIGINT time between the work on both sides of them",
    "other_models_ns BIGINT other models used its compute units meanwhile",
)

COUNTS = columns_of(
    "model VARCHAR model, by base name",
    "level VARCHAR `top` for models that the app called, `sub` for stages of pipelines",
    "instances BIGINT distinct instances; null where names carry none",
    "loads BIGINT loads; null where Core ML recorded nothing",
    "cold_loads BIGINT loads that prepared the model for the device",
    "predictions BIGINT predictions",
    "predictions_ns BIGINT time of all predictions",
    "loads_ns BIGINT time of all loads",
)

MODELS = COUNTS + tuple(
    Column(name, REAL, f"{each.label}, in {each.unit}") for name, each in MODEL.items() if name != "predictions"
)

FINDINGS = columns_of(
    "rank BIGINT 1 for the finding that costs most",
    "check_id VARCHAR the check",
    "severity VARCHAR `critical`, `high`, `medium` or `low`",
    "model VARCHAR the model; null for the whole recording",
    "title VARCHAR what is wrong",
    "summary VARCHAR the numbers in one sentence",
    "savings_ns BIGINT time in Core ML that the fix saves at most; null where that is unknown, and 0 where predictions "
    "in flight together each take less and all of them as long: see `each_saved_ns`",
    "each_saved_ns BIGINT mean that it saves at most each time; null where that is unknown",
    "each_what VARCHAR what each time is: `prediction`, `load`, …",
    "evidence BIGINT intervals that show it",
)

CHECKS = columns_of(
    "check_id VARCHAR the check",
    "model VARCHAR the model; null for the whole recording",
    "outcome VARCHAR `finding`, `passed`, `not_applicable`, `not_evaluated` or `error`",
    "summary VARCHAR the numbers in one sentence, or why there are none",
    "record VARCHAR what to record so that it can be evaluated",
)

EVIDENCE = columns_of(
    "rank BIGINT of the finding",
    "check_id VARCHAR the check",
    *INTERVAL,
    "model VARCHAR model of the interval",
    "label VARCHAR what the interval is",
    *ROW,
)

COVERAGE = columns_of(
    "instrument VARCHAR the instrument, as Instruments calls it",
    "state VARCHAR a short key, as in JSON, for what reports say: "
    + "; ".join(f"`{key}` *{said}*" for key, said in STATE_WORDS.items()),
    "rows BIGINT rows in its tables; null where they are missing or unreadable",
    "tables VARCHAR schemas of its tables",
    "conclusion VARCHAR what follows",
    "advice VARCHAR what to do to see more",
)

RECORDING = columns_of(
    "source VARCHAR name of the recording",
    "run BIGINT number of the run",
    "device_model VARCHAR model of the device",
    "os_version VARCHAR its system",
    "target VARCHAR process that was recorded",
    "template VARCHAR template of Instruments",
    "instruments_version VARCHAR version of Instruments",
    "start_date VARCHAR when it was recorded",
    "duration_ns BIGINT duration of the run",
)

RUNS = columns_of(
    "run_id VARCHAR hash of what was recorded, the same for every copy",
    *(f"{column.name} {column.type} {column.holds}" for column in RECORDING),
    "commit VARCHAR commit that was recorded; null where none was given",
    "app_version VARCHAR version of the app; null where none was given",
    "unreadable VARCHAR tables that could not be read: rows are missing, or inferred from other tables (`origin`); "
    "null where all could",
    "redacted BOOLEAN whether private texts were replaced",
    "report VARCHAR its JSON report, as a path in the lake",
    "tracekit_version VARCHAR what added it",
    "views_version BIGINT version of the views",
)

SKIPPED = columns_of(
    "source VARCHAR name of the recording",
    "reason VARCHAR why it could not be added",
    "date VARCHAR when that was last tried",
    "tracekit_version VARCHAR what tried it",
)

VIEW_COVERAGE = columns_of(
    "view VARCHAR the view",
    "recorded BOOLEAN whether no rows mean that nothing happened",
    "rows BIGINT rows of the view; null where it was not recorded",
    "note VARCHAR what is missing and how to get it",
)

SAMPLES = columns_of(
    "time_ns BIGINT when the sample was taken",
    *THREAD,
    "main_thread BOOLEAN whether it is a main thread; null where that is not known",
    *PROCESS,
    "state VARCHAR state of the thread",
    "weight_ns BIGINT time that the sample stands for; null where the table does not state it",
    "stack_id BIGINT its call stack, in `stacks`; null where none was caught",
)

STACKS = columns_of(
    "stack_id BIGINT the call stack",
    "depth BIGINT 0 is the innermost frame",
    "image VARCHAR binary",
    "function VARCHAR function",
    "file VARCHAR source file; null where it is not known",
    "line BIGINT line; null where it is not known",
    "owner VARCHAR `app`, `system`, or null",
    "inlined BOOLEAN whether the compiler put the function into the next one",
)

SIGNPOST = (
    "name VARCHAR name of the signpost",
    "category VARCHAR its category",
    "subsystem VARCHAR its subsystem",
    "identifier VARCHAR what tells apart those in flight at a time",
    *CALLER,
)

INDUCED = "induced BIGINT 1 where a developer's condition forced the state"

CONTEXT: Mapping[tuple[str, str, str], tuple[str, ...]] = {
    ("signposts", "Signposts", "signpost intervals of the app and of frameworks"): (
        *INTERVAL,
        *SIGNPOST,
        "start_message VARCHAR message of the begin",
        "end_message VARCHAR message of the end",
    ),
    ("signpost_events", "Signposts", "signpost events"): (
        "start_ns BIGINT time of the event",
        *SIGNPOST,
        "message VARCHAR message",
    ),
    ("points_of_interest", "Points of Interest", "points of interest"): (
        "start_ns BIGINT time of the event",
        "name VARCHAR name of the event",
        "subsystem VARCHAR its subsystem",
        "message VARCHAR message",
        *CALLER,
    ),
    ("thermal", "Thermal State", "thermal states"): (*INTERVAL, "state VARCHAR thermal state", INDUCED),
    ("hangs", "Hangs", "times at which a main thread did not react"): (
        *INTERVAL,
        "hang_type VARCHAR how long it was, in words",
        *CALLER,
    ),
    ("hang_risks", "Hangs", "calls that risk a hang"): (
        "start_ns BIGINT time of the call",
        "message VARCHAR what was called",
        "severity VARCHAR severity",
        *CALLER,
    ),
    ("gpu_states", "GPU State", "whether the GPU was active"): (
        *INTERVAL,
        "state VARCHAR `Active` or `Idle`",
        "label VARCHAR label",
        "gpu VARCHAR the GPU",
    ),
    ("gpu_clock", "GPU State", "performance states of the GPU"): (
        *INTERVAL,
        "state VARCHAR performance state",
        "gpu VARCHAR the GPU",
        INDUCED,
    ),
    ("metal_pipelines", "Signposts", "Metal pipelines that were compiled"): (
        "start_ns BIGINT time of the event",
        "function VARCHAR Metal function",
        *CALLER,
    ),
    ("memory", "Activity Monitor", "memory that processes held, sample by sample"): (
        "start_ns BIGINT time of the sample",
        "kind VARCHAR `footprint` of the process, or `gpu` for what it has allocated of Metal",
        *PROCESS,
        "bytes BIGINT how much",
        *ROW,
    ),
    ("processes", "Processes", "processes that ran"): ("process VARCHAR the process", "pid BIGINT id of the process"),
}
"""Name, instrument and rows of each view of a context frame, and its columns."""

PHASES = columns_of(
    *INTERVAL,
    "form VARCHAR `interval`, `open` for one without an end, or `point`",
    "runtime VARCHAR runtime that logged it; null for operations of the app",
    "phase VARCHAR what it is, in one vocabulary for all runtimes; `operation` for those of the app",
    "lane VARCHAR lane that it stands on",
    "name VARCHAR name of the signpost",
    *CALLER,
    "request_id BIGINT request to a language model that it is a part of; null for none, or where it may be of several",
)
REQUESTS = columns_of(
    "id BIGINT number of the request; `request_id` refers to it",
    *INTERVAL,
    *of_frame(
        requests.COLUMNS,
        *("runtime", "model", "process", "pid", "session", "first_token_ns", "first_token_from"),
        *("prompt_ns", "generation_ns", "consumed_tokens", "cached_tokens", "processed_tokens", "generated_tokens"),
        *("context_tokens", "window_tokens", "inferences", "tokenizer_ns", "sampling_ns", "cache_ns", "outside_ns"),
        *("tools", "tool_ns", "load_ns", "error", "instructions", "is_overlapping", "is_uncertain", "is_unvalidated"),
        "origin",
    ),
    *ROW,
)
OPERATIONS = columns_of(
    "operation VARCHAR name of the app's own signpost",
    "count BIGINT those with an end",
    "total_ns BIGINT their time together",
    "p50_ns DOUBLE median",
    "p95_ns DOUBLE p95",
    "unfinished BIGINT those without an end",
    *(f"{part}_ns BIGINT time of all in this part" for part in Part),
)
