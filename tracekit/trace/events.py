"""The rows of the Activity, Data, Compute and hardware lanes, and the vocabulary of their columns.

Times are int64 ns since the start of the run, half-open `[start_ns, start_ns + duration_ns)`. Rows of a lane are sorted
by start; their `id` is their position there, and what refers to rows of `activity` holds it.

What `attribution` means for a row of the Core ML table, which names its model itself:

| value        | the row                                                                                   |
|--------------|-------------------------------------------------------------------------------------------|
| exact        | needs no prediction: a prediction that the app called; a load or compilation outside any  |
| contained    | lies inside exactly one prediction of its model (`tracekit.trace.linking`)                |
| ambiguous    | lies inside several predictions of its model; `prediction` is null                        |
| unattributed | names no model, or should lie inside a prediction of its model and does not               |

What it means for a hardware row (`tracekit.trace.attribution`), whose `prediction` says in which call it ran where
that is known too:

| value        | the row                                                                                   |
|--------------|-------------------------------------------------------------------------------------------|
| exact        | is of the target's process, and its label names the model                                 |
| label        | names a model in its label that Core ML names too; where no Core ML row was recorded, any |
| contained    | names none, and ran inside exactly one call; `model` is that of the call                  |
| ambiguous    | names none, and ran inside several calls, or inside one of a model whose rows have names, |
|              | or began inside a call and ended after it                                                 |
| foreign      | is of another process, or names a model that the target never loaded                      |
| unattributed | neither label nor time says whose it is                                                   |

A call of which Core ML recorded nothing is `inferred` (`tracekit.trace.calls`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

import numpy as np

from tracekit.arrays import BoolArray, IndexArray, IntArray
from tracekit.columns import Numbers, Texts, column
from tracekit.rows import Rows, joined, start_order


class Lane(StrEnum):
    """Where Instruments draws a row."""

    ACTIVITY = "activity"
    DATA = "data"
    COMPUTE = "compute"
    NEURAL_ENGINE = "neural-engine"
    GPU = "gpu"
    MPS = "mps"
    UNKNOWN = "unknown"


class Kind(StrEnum):
    """What a row is, whatever the instrument called it."""

    LOAD = "load"
    LOAD_CACHED = "load_cached"
    LOAD_UNCACHED = "load_uncached"
    COMPILE = "compile"
    PREDICTION = "prediction"
    INPUT_VALIDATION = "input_validation"
    INPUT_COPY = "input_copy"
    DATA_CAST = "data_cast"
    OUTPUT_TRANSFORMATION = "output_transformation"
    ANE_DATA_COPY = "neural_engine_data_copy"
    CPU_COMPUTE = "cpu_compute"
    GPU_PREPARE = "gpu_prepare"
    GPU_REQUEST = "gpu_request"
    ANE_REQUEST = "neural_engine_request"
    ANE_EXEC = "neural_engine_exec"
    ANE_LOAD = "neural_engine_load"
    ANE_COMPILE = "neural_engine_compile"
    GPU_EXEC = "gpu_exec"
    MPS_DISPATCH = "mps_dispatch"
    OTHER = "other"


LOAD_KINDS = (Kind.LOAD, Kind.LOAD_CACHED, Kind.LOAD_UNCACHED)

SETUP_KINDS = (*LOAD_KINDS, Kind.COMPILE)
"""Kinds of work that an app must finish before it can use a model."""

COPY_KINDS = (Kind.INPUT_COPY, Kind.DATA_CAST, Kind.OUTPUT_TRANSFORMATION, Kind.ANE_DATA_COPY)
"""Kinds that move or convert inputs and outputs."""


class Device(StrEnum):
    """Compute units."""

    CPU = "cpu"
    GPU = "gpu"
    ANE = "neural-engine"


DEVICE_NAMES = {Device.ANE: "Neural Engine", Device.GPU: "GPU", Device.CPU: "CPU"}
"""Compute units as Apple calls them."""


class Level(StrEnum):
    """Whether a row belongs to a model that the app called, or to a stage of a pipeline."""

    TOP = "top"
    SUB = "sub"


class Attribution(StrEnum):
    """How sure it is that a row belongs to the model and prediction it is shown with."""

    EXACT = "exact"
    """The row names its model itself, or process and model are known from the row."""
    LABEL = "label"
    """A hardware row whose label names the model."""
    CONTAINED = "contained"
    """Only time says so: inside exactly one prediction that was in flight."""
    AMBIGUOUS = "ambiguous"
    """Several predictions or models are possible."""
    FOREIGN = "foreign"
    """Another process, or a model that the target never loaded."""
    UNATTRIBUTED = "unattributed"
    """Nothing says whose it is."""
    INFERRED = "inferred"
    """A call that call stacks or hardware rows show, since Core ML recorded none."""


class Origin(StrEnum):
    """What recorded a call."""

    CORE_ML = "core-ml"
    SIGNPOSTS = "signposts"
    """Core ML's own, where its table holds no rows (`tracekit.trace.calls.signposts`)."""
    CALL_STACKS = "call-stacks"
    HARDWARE = "hardware"


LANES, KINDS, LEVELS, DEVICES, ATTRIBUTIONS, ORIGINS = (
    tuple(map(str, each)) for each in (Lane, Kind, Level, Device, Attribution, Origin)
)
"""The values of these columns, whatever their rows hold."""

BOUNDS = ("start_min_ns", "start_max_ns", "end_min_ns", "end_max_ns")
"""Columns between which a call begins and ends; its `start_ns` and `duration_ns` lie inside."""


@dataclass(frozen=True, slots=True, eq=False)
class Events(Rows):
    """Rows of a lane or of several."""

    id: IntArray = column("number of the row in its lane")
    start_ns: IntArray = column("start")
    duration_ns: IntArray = column("duration, never negative")
    lane: Texts = column("`activity`, `data`, `compute`, `neural-engine`, `gpu`, `mps` or `unknown`", Lane)
    kind: Texts = column(
        "what the row is, in one vocabulary for all systems: `prediction`, `neural_engine_exec`, …; `other`: unknown",
        Kind,
    )
    guessed: BoolArray = column("the kind comes from the beginning of an unknown string, not from the vocabulary")
    label: Texts = column("event or label as recorded")
    model: Texts = column("model, by base name; null where the row names none")
    instance: Numbers = column("number of the instance; null where names carry none")
    parent_model: Texts = column("pipeline that the model is a stage of; null for rows of a model of its own")
    level: Texts = column("`top` for what the app called, `sub` for stages of pipelines", Level)
    device: Texts = column("`cpu`, `gpu` or `neural-engine`; null where the row runs on none or it is unknown", Device)
    process: Texts = column("name of the process; null where the table has none")
    pid: Numbers = column("id of the process")
    depth: Numbers = column("nesting depth as recorded; null where the table has none")
    waited_ns: Numbers = column("work on the GPU: from the commit of its command buffer to its start; else null")
    operation: Numbers = column(
        "index of the segment of the compiled program that ran (`Op<N>` in labels of hardware); or null"
    )
    prediction: Numbers = column(
        "row of `activity` whose prediction contains this one; null where there is none or several could"
    )
    attribution: Texts = column(
        "how sure model and prediction are: `exact`, `label`, `contained`, `ambiguous`, …", Attribution
    )
    table: Texts = column("schema of the source table")
    row: IntArray = column(
        "0-based row in that table; counted on through all tables of that schema in the run, by position"
    )

    @property
    def ends_ns(self) -> IntArray:
        """Shape (rows,): when each row ends."""
        ends: IntArray = self.start_ns + self.duration_ns
        return ends


@dataclass(frozen=True, slots=True, eq=False)
class Calls(Events):
    """Rows of the Activity lane: loads, compilations and predictions."""

    origin: Texts = column("what recorded the call: `core-ml`, `signposts`, `call-stacks` or `hardware`", Origin)
    resolution_ns: IntArray = column("time between two samples where call stacks show the call, else 0")
    start_min_ns: IntArray = column("earliest start")
    start_max_ns: IntArray = column("latest start")
    end_min_ns: IntArray = column("earliest end")
    end_max_ns: IntArray = column("latest end")
    single: BoolArray = column("whether the row is known to be one call; false where it may be several")

    @property
    def bounds(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """The columns named in `BOUNDS`: shape (rows,) each."""
        return self.start_min_ns, self.start_max_ns, self.end_min_ns, self.end_max_ns


def bare_events(start_ns: IntArray, duration_ns: IntArray) -> Events:
    """Rows of which nothing but their times is known, in any order."""
    blank = Events.blank(len(start_ns))
    return replace(blank, id=np.arange(len(blank)), start_ns=start_ns, duration_ns=duration_ns)


def no_events() -> Events:
    """No rows."""
    return Events.none()


AnyEvents = TypeVar("AnyEvents", bound=Events)


def numbered(rows: AnyEvents) -> AnyEvents:
    """The rows as those of a lane of their own."""
    return replace(rows, id=np.arange(len(rows)))


def order_of(*parts: Events) -> IndexArray:
    """Positions of the rows of all parts by start, then longest first, then as they stand. O(n log n)."""
    starts = np.concatenate([part.start_ns for part in parts])
    return start_order(starts, np.concatenate([part.duration_ns for part in parts]))


def lane_of(*parts: AnyEvents) -> AnyEvents:
    """The rows of all parts as one lane. O(n log n)."""
    return numbered(joined(parts, order_of(*parts)))
