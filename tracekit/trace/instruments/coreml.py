"""Core ML instrument: loads, predictions, data and compute events of models.

The table names no process and no thread. Its columns of Xcode 16.4 are known from real exports; later versions bind
by the same names. Time, duration, event string and model name are required: without one of them nothing can be judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.trace.binding import flags, mapped, optional_values, recode, required_values, text
from tracekit.trace.events import Kind, Lane, Level
from tracekit.trace.frames import event_frame, fixed, reordered, sort_order
from tracekit.trace.instruments.instrument import Instrument, Work
from tracekit.trace.names import ModelName, split_names
from tracekit.trace.vocabulary import event_meaning, event_type_lane

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from tracekit.arrays import CodeArray
    from tracekit.recording.table import CodedCells
    from tracekit.trace.collect import Rows


@dataclass(frozen=True, slots=True)
class Named:
    """Core ML rows with the names that linking needs."""

    events: pd.DataFrame
    """Shared columns, sorted by start; `prediction` and `attribution` are null."""
    model: CodeArray
    """Shape (rows,): index of the row's model in `names`, -1 where it names none."""
    parent: CodeArray
    """Shape (rows,): index of the enclosing pipeline in `names`, -1 where there is none."""
    names: tuple[ModelName, ...]


def bind(rows: Rows) -> Named:
    """The rows of the Core ML table. Raises `MissingColumn` where a required column is absent."""
    table = rows.table
    label = required_values(table, "event-label")
    meanings = [event_meaning(str(value)) for value in label.values] + [event_meaning("")]
    codes = np.where(label.codes < 0, len(label.values), label.codes)
    model, parent, names = _names(required_values(table, "model-name"), optional_values(table, "parent-model-name"))
    bases = [name.base for name in names]
    events = event_frame(
        rows,
        {
            "lane": _lanes(codes, [meaning.lane for meaning in meanings], optional_values(table, "event-type")),
            "kind": fixed("kind", codes, [meaning.kind for meaning in meanings]),
            "guessed": flags(codes, [meaning.guessed for meaning in meanings]),
            "label": text(label),
            "model": recode(model, bases),
            "instance": mapped(model, [name.instance for name in names]),
            "parent_model": recode(parent, bases),
            "level": _levels(optional_values(table, "model-level"), parent, level_recorded=table.has("model-level")),
            "device": fixed("device", codes, [meaning.device for meaning in meanings]),
        },
    )
    order = sort_order(events)
    return Named(reordered(events, order), model[order], parent[order], names)


def _lanes(codes: CodeArray, lanes: Sequence[Lane], event_type: CodedCells) -> pd.Categorical:
    """Lane of the `event-type` column where it names one, else of the event string."""
    lane_of_type = [event_type_lane(str(value)) for value in event_type.values]
    order = list(Lane)
    by_label = np.array([order.index(lane) for lane in lanes], np.int32)[codes]
    type_codes = [-1 if lane is None else order.index(lane) for lane in lane_of_type]
    by_type = np.array([*type_codes, -1], np.int32)[event_type.codes]
    return fixed("lane", np.where(by_type < 0, by_label, by_type), order)


def _levels(level: CodedCells, parent: CodeArray, *, level_recorded: bool) -> pd.Categorical:
    """`sub` where the row says so; an empty level counts as `top`. Where the table has no such column at all, rows
    that name a parent are `sub`."""
    sub = flags(level.codes, [str(value).strip().casefold() == Level.SUB for value in level.values])
    return fixed("level", (sub if level_recorded else parent >= 0).astype(np.int32), [Level.TOP, Level.SUB])


def _names(model: CodedCells, parent: CodedCells) -> tuple[CodeArray, CodeArray, tuple[ModelName, ...]]:
    """Codes of models and parents into one list of names, split by the rule for the whole table."""
    raw = list(dict.fromkeys(str(value) for value in (*model.values, *parent.values) if str(value)))
    split = split_names(raw)
    code_of = {name: index for index, name in enumerate(raw)}

    def codes(cells: CodedCells) -> CodeArray:
        target = np.array([*(code_of.get(str(value), -1) for value in cells.values), -1], np.int32)
        return target[cells.codes]

    return codes(model), codes(parent), tuple(split[name] for name in raw)


INSTRUMENT = Instrument(
    "Core ML",
    "loads, predictions, data and compute events of the target's models",
    ("coreml-os-signpost",),
    {Lane.ACTIVITY: "activity", Lane.DATA: "data", Lane.COMPUTE: "compute", Lane.UNKNOWN: "other"},
    kinds={
        Kind.LOAD: Work("LOAD"),
        Kind.LOAD_CACHED: Work("LOAD_CACHED"),
        Kind.LOAD_UNCACHED: Work("LOAD"),
        Kind.COMPILE: Work("COMPILE"),
        Kind.PREDICTION: Work("PREDICTION"),
        Kind.INPUT_VALIDATION: Work("VALIDATION"),
        Kind.INPUT_COPY: Work("INPUT_COPY"),
        Kind.DATA_CAST: Work("CAST"),
        Kind.OUTPUT_TRANSFORMATION: Work("OUTPUT"),
        Kind.ANE_DATA_COPY: Work("ANE_COPY"),
        Kind.CPU_COMPUTE: Work("CPU"),
        # Work of the CPU, whatever device the event is filed under.
        Kind.GPU_PREPARE: Work("CPU"),
        Kind.GPU_REQUEST: Work("GPU"),
        Kind.ANE_REQUEST: Work("ANE"),
        Kind.OTHER: Work("OTHER"),
    },
    added_as="Core ML",
    in_template=True,
    empty="the Core ML instrument recorded no events, so Core ML may still have been used",
)
