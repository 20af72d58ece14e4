"""Event strings of the Core ML instrument: which lane, kind and compute unit they mean.

Literal strings come first; what is not among them is judged by its beginning, and what even that does not settle stays
`other` with its raw text. Sources: WWDC22 talk 10027 for the lanes, public recordings of Xcode 14 to 27.2 for
the strings, and the view plan inside Core ML recordings for the `event-type` column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tracekit.trace.events import Device, Kind, Lane


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an event string means."""

    kind: Kind
    lane: Lane
    device: Device | None = None
    guessed: bool = False
    """The kind comes from the beginning of an unknown string, not from the vocabulary."""


EVENT_TYPE_LANES: dict[str, Lane] = {
    "model-direct-event": Lane.ACTIVITY,
    "model-data-event": Lane.DATA,
    "model-dispatch-event": Lane.COMPUTE,
}
"""Values of the `event-type` column. Where a row has one, it decides the lane."""

_LITERAL: dict[str, Meaning] = {
    "load": Meaning(Kind.LOAD, Lane.ACTIVITY),
    "load (cached)": Meaning(Kind.LOAD_CACHED, Lane.ACTIVITY),
    "load (prepare and cache)": Meaning(Kind.LOAD_UNCACHED, Lane.ACTIVITY),
    "compile": Meaning(Kind.COMPILE, Lane.ACTIVITY),
    "prediction": Meaning(Kind.PREDICTION, Lane.ACTIVITY),
    "input validation": Meaning(Kind.INPUT_VALIDATION, Lane.DATA),
    "input copy": Meaning(Kind.INPUT_COPY, Lane.DATA),
    "data cast": Meaning(Kind.DATA_CAST, Lane.DATA),
    "output transformation": Meaning(Kind.OUTPUT_TRANSFORMATION, Lane.DATA),
    "neural engine - data copy": Meaning(Kind.ANE_DATA_COPY, Lane.DATA, Device.ANE),
    "cpu": Meaning(Kind.CPU_COMPUTE, Lane.COMPUTE, Device.CPU),
    "prepare gpu request": Meaning(Kind.GPU_PREPARE, Lane.COMPUTE, Device.GPU),
    "gpu request": Meaning(Kind.GPU_REQUEST, Lane.COMPUTE, Device.GPU),
    "neural engine request": Meaning(Kind.ANE_REQUEST, Lane.COMPUTE, Device.ANE),
}
"""Folded literal strings."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """Holds where the folded string starts with one of `starts` and contains one of `contains` (any, if empty)."""

    starts: tuple[str, ...]
    contains: tuple[str, ...]
    kind: Kind
    lane: Lane
    device: Device | None = None

    def holds(self, folded: str) -> bool:
        return folded.startswith(self.starts) and (not self.contains or any(word in folded for word in self.contains))


_RULES: tuple[_Rule, ...] = (
    _Rule(("load",), ("prepare", "uncached"), Kind.LOAD_UNCACHED, Lane.ACTIVITY),
    _Rule(("load",), ("cached",), Kind.LOAD_CACHED, Lane.ACTIVITY),
    _Rule(("load",), (), Kind.LOAD, Lane.ACTIVITY),
    _Rule(("compil", "speciali"), (), Kind.COMPILE, Lane.ACTIVITY),
    _Rule(("neural engine", "ane "), ("copy",), Kind.ANE_DATA_COPY, Lane.DATA, Device.ANE),
    _Rule(("neural engine", "ane "), ("request",), Kind.ANE_REQUEST, Lane.COMPUTE, Device.ANE),
    _Rule(("neural engine", "ane "), (), Kind.OTHER, Lane.COMPUTE, Device.ANE),
    _Rule(("prepare gpu",), (), Kind.GPU_PREPARE, Lane.COMPUTE, Device.GPU),
    _Rule(("gpu request",), (), Kind.GPU_REQUEST, Lane.COMPUTE, Device.GPU),
    _Rule(("gpu",), (), Kind.OTHER, Lane.COMPUTE, Device.GPU),
    _Rule(("cpu",), (), Kind.CPU_COMPUTE, Lane.COMPUTE, Device.CPU),
    _Rule(("prediction",), (), Kind.PREDICTION, Lane.ACTIVITY),
    _Rule(("async", "batch"), ("prediction",), Kind.PREDICTION, Lane.ACTIVITY),
    _Rule(("input valid",), (), Kind.INPUT_VALIDATION, Lane.DATA),
    _Rule(("input copy",), (), Kind.INPUT_COPY, Lane.DATA),
    _Rule(("data cast",), (), Kind.DATA_CAST, Lane.DATA),
    _Rule(("output transf",), (), Kind.OUTPUT_TRANSFORMATION, Lane.DATA),
)
"""First match wins."""

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
    literal = _LITERAL.get(folded)
    if literal is not None:
        return literal
    for rule in _RULES:
        if rule.holds(folded):
            return Meaning(rule.kind, rule.lane, rule.device, guessed=True)
    for words, lane in _LANE_WORDS:
        if any(word in folded for word in words):
            return Meaning(Kind.OTHER, lane)
    return Meaning(Kind.OTHER, Lane.UNKNOWN)


def event_type_lane(value: str) -> Lane | None:
    """Lane that a value of the `event-type` column names; None for values that name none."""
    return EVENT_TYPE_LANES.get(value.strip().casefold())
