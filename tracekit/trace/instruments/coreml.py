"""Core ML instrument: loads, predictions, data and compute events of models.

The table names no process and no thread. Its columns of Xcode 16.4 are known from real exports; later versions bind
by the same names. Time, duration, event string and model name are required: without one of them nothing can be judged.

Event strings are judged by their beginning, which is a guess for those that are not known; what even that does not
settle stays `other` with its raw text. Sources: WWDC22 talk 10027 for the lanes, public recordings of Xcode 14 to 27.2
for the strings, and the view plan inside Core ML recordings for the `event-type` column.

Model names: Instruments shows the compiled model's name followed by `-N`, one number per instance. A model may also be
called `Encoder-2` of its own, so a name is split only where the names of the whole table show that they carry numbers.
Source: public evidence of recordings on iOS 27.2 for the form; the rule when to split is our heuristic.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from tracekit.arrays import CodeArray
from tracekit.columns import Codes, codes_of, numbers_by_code
from tracekit.recording.table import CellValue
from tracekit.rows import in_order
from tracekit.trace.binding import as_texts, flags, optional_values, required_values
from tracekit.trace.collect import Rows
from tracekit.trace.events import DEVICES, KINDS, LANES, LEVELS, Device, Events, Kind, Lane, Level, numbered, order_of
from tracekit.trace.instruments.instrument import Instrument, Work, bare_rows


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an event string means."""

    kind: Kind
    lane: Lane
    device: Device | None = None
    guessed: bool = False
    """The kind comes from the beginning of an unknown string."""


EVENT_TYPE_LANES: dict[str, Lane] = {
    "model-direct-event": Lane.ACTIVITY,
    "model-data-event": Lane.DATA,
    "model-dispatch-event": Lane.COMPUTE,
}
"""Values of the `event-type` column. Where a row has one, it decides the lane."""

KNOWN_EVENTS = frozenset(
    {
        *("load", "load (cached)", "load (prepare and cache)", "compile", "prediction"),
        *("input validation", "input copy", "data cast", "output transformation", "neural engine - data copy"),
        *("cpu", "prepare gpu request", "gpu request", "neural engine request"),
    }
)
"""Folded strings that are known; what a rule says of any other is guessed."""

KNOWN_COLUMNS = frozenset(
    {
        *("start", "duration", "full-layout-id", "event-label", "model-name", "model-specific-track-model-name"),
        *("fully-qualified-model", "parent-model-name", "model-level", "event-type", "color", "graph-event-label"),
    }
)
"""Columns of the table in exports of Xcode 16.4 to 27.2."""

_RULES: tuple[tuple[tuple[str, ...], tuple[str, ...], Meaning], ...] = (
    (("load",), ("prepare", "uncached"), Meaning(Kind.LOAD_UNCACHED, Lane.ACTIVITY)),
    (("load",), ("cached",), Meaning(Kind.LOAD_CACHED, Lane.ACTIVITY)),
    (("load",), (), Meaning(Kind.LOAD, Lane.ACTIVITY)),
    (("compil", "speciali"), (), Meaning(Kind.COMPILE, Lane.ACTIVITY)),
    (("neural engine", "ane "), ("copy",), Meaning(Kind.ANE_DATA_COPY, Lane.DATA, Device.ANE)),
    (("neural engine", "ane "), ("request",), Meaning(Kind.ANE_REQUEST, Lane.COMPUTE, Device.ANE)),
    (("neural engine", "ane "), (), Meaning(Kind.OTHER, Lane.COMPUTE, Device.ANE)),
    (("prepare gpu",), (), Meaning(Kind.GPU_PREPARE, Lane.COMPUTE, Device.GPU)),
    (("gpu request",), (), Meaning(Kind.GPU_REQUEST, Lane.COMPUTE, Device.GPU)),
    (("gpu",), (), Meaning(Kind.OTHER, Lane.COMPUTE, Device.GPU)),
    (("cpu",), (), Meaning(Kind.CPU_COMPUTE, Lane.COMPUTE, Device.CPU)),
    (("prediction",), (), Meaning(Kind.PREDICTION, Lane.ACTIVITY)),
    (("async", "batch"), ("prediction",), Meaning(Kind.PREDICTION, Lane.ACTIVITY)),
    (("input valid",), (), Meaning(Kind.INPUT_VALIDATION, Lane.DATA)),
    (("input copy",), (), Meaning(Kind.INPUT_COPY, Lane.DATA)),
    (("data cast",), (), Meaning(Kind.DATA_CAST, Lane.DATA)),
    (("output transf",), (), Meaning(Kind.OUTPUT_TRANSFORMATION, Lane.DATA)),
)
"""How a folded string begins, what it contains (any of these, or anything where there are none), and what it means
then. First match wins."""

_LANE_WORDS: tuple[tuple[tuple[str, ...], Lane], ...] = (
    (("copy", "cast", "transformation", "validation"), Lane.DATA),
    (("request",), Lane.COMPUTE),
)
"""Words that give the lane of a string whose kind stays `other`."""

_ARROW = re.compile(r"\s→\s.*", re.DOTALL)
_HYPHEN = re.compile(" ?- ?")


def fold(label: str) -> str:
    """The form in which strings are compared: one case, single blanks, ` - ` for `-`, no trailing ` → <model>`."""
    # Blanks are collapsed first: an open number of them before each hyphen takes quadratic time to match.
    text = " ".join(_ARROW.sub("", label.strip()).split())
    return " ".join(_HYPHEN.sub(" - ", text).split()).casefold()


def event_meaning(label: str) -> Meaning:
    """Meaning of an event string of the Core ML instrument. Total: unknown strings give kind `other`."""
    folded = fold(label)
    for starts, contains, meaning in _RULES:
        if folded.startswith(starts) and (not contains or any(word in folded for word in contains)):
            return replace(meaning, guessed=not is_known(label))
    for words, lane in _LANE_WORDS:
        if any(word in folded for word in words):
            return Meaning(Kind.OTHER, lane)
    return Meaning(Kind.OTHER, Lane.UNKNOWN)


def is_known(label: str) -> bool:
    """Whether the event string is one that recordings are known to have, so that nothing about it is guessed."""
    return fold(label) in KNOWN_EVENTS


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model name in two parts."""

    base: str
    instance: int | None = None
    """None where the name carries no instance number."""


def bind(rows: Rows) -> tuple[Events, CodeArray, CodeArray, tuple[ModelName, ...]]:
    """The rows of the Core ML table, sorted by start, with null `prediction` and `attribution`; the model of each and
    the pipeline around it, shape (rows,) each: index in the names, which are last, -1 where there is none. Raises
    `MissingColumn` where a required column is absent."""
    table = rows.table
    label = required_values(table, "event-label")
    meanings = [event_meaning(str(value)) for value in label.values] + [event_meaning("")]
    codes = np.where(label.codes < 0, len(label.values), label.codes)
    model, parent, names = _names(required_values(table, "model-name"), optional_values(table, "parent-model-name"))
    bases = [name.base for name in names]
    level, sub = optional_values(table, "model-level"), parent >= 0
    # Where the table has no such column at all, rows that name a parent are `sub`; an empty level counts as `top`.
    if table.has("model-level"):
        sub = flags(level.codes, [str(value).strip().casefold() == Level.SUB for value in level.values])
    # Lane of the `event-type` column where it names one, else of the event string.
    event_type, lanes = optional_values(table, "event-type"), list(Lane)
    lane_of_type = [EVENT_TYPE_LANES.get(str(value).strip().casefold()) for value in event_type.values]
    by_label = np.array([lanes.index(meaning.lane) for meaning in meanings], np.int32)[codes]
    type_codes = [-1 if lane is None else lanes.index(lane) for lane in lane_of_type]
    by_type = np.array([*type_codes, -1], np.int32)[event_type.codes]
    events = replace(
        bare_rows(rows),
        lane=codes_of(np.where(by_type < 0, by_label, by_type), lanes, LANES),
        kind=codes_of(codes, [meaning.kind for meaning in meanings], KINDS),
        guessed=flags(codes, [meaning.guessed for meaning in meanings]),
        label=as_texts(label),
        model=codes_of(model, bases),
        instance=numbers_by_code(model, [name.instance for name in names]),
        parent_model=codes_of(parent, bases),
        level=codes_of(sub.astype(np.int8), [Level.TOP, Level.SUB], LEVELS),
        device=codes_of(codes, [meaning.device for meaning in meanings], DEVICES),
    )
    order = order_of(events)
    return numbered(in_order(events, order)), model[order], parent[order], names


def _names(model: Codes[CellValue], parent: Codes[CellValue]) -> tuple[CodeArray, CodeArray, tuple[ModelName, ...]]:
    """Codes of models and parents into one list of names, split by the rule for the whole table."""
    raw = list(dict.fromkeys(str(value) for value in (*model.values, *parent.values) if str(value)))
    split = split_names(raw)
    code_of = {name: index for index, name in enumerate(raw)}

    def codes(cells: Codes[CellValue]) -> CodeArray:
        target = np.array([*(code_of.get(str(value), -1) for value in cells.values), -1], np.int32)
        return target[cells.codes]

    return codes(model), codes(parent), tuple(split[name] for name in raw)


_NUMBERED = re.compile(r"(.+)-(0|[1-9][0-9]{0,17})", re.DOTALL)
"""Numbers with leading zeros, or too long for 64 bits, could not be put back and are part of the name."""


def split_names(names: Iterable[str]) -> dict[str, ModelName]:
    """Base and instance of each distinct, non-empty name of one table (models and parents together).

    Names are split where every one of them ends in a number, or where at least two share a base with different
    numbers; otherwise all stay whole. Reversible: base, hyphen and number give each key back. O(n).
    """
    distinct = dict.fromkeys(name for name in names if name)
    parts: dict[str, ModelName] = {}
    instances: defaultdict[str, set[int]] = defaultdict(set)
    for name in distinct:
        match = _NUMBERED.fullmatch(name)
        if match is not None:
            base, number = match[1], int(match[2])
            parts[name] = ModelName(base, number)
            instances[base].add(number)
    numbered = len(parts) == len(distinct) or any(len(numbers) > 1 for numbers in instances.values())
    return {name: (parts.get(name) if numbered else None) or ModelName(name) for name in distinct}


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
