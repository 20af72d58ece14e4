"""What the colors on the lanes mean. Every category has a letter too, for terminals without colors."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, auto

from tracekit.trace.events import DEVICE_NAMES, Device
from tracekit.trace.instruments.catalogue import INSTRUMENTS


class Category(IntEnum):
    """What is distinguished at a glance. Values are codes in arrays."""

    OTHER = 0
    LOAD = auto()
    LOAD_CACHED = auto()
    COMPILE = auto()
    PREDICTION = auto()
    VALIDATION = auto()
    INPUT_COPY = auto()
    CAST = auto()
    OUTPUT = auto()
    ANE_COPY = auto()
    CPU = auto()
    GPU = auto()
    ANE = auto()
    MPS = auto()
    APP = auto()
    FOREIGN = auto()
    GOOD = auto()
    FAIR = auto()
    SERIOUS = auto()
    CRITICAL = auto()
    LOW = auto()
    MEDIUM = auto()
    HIGH = auto()
    FADED = auto()
    INFERRED = auto()
    PHASE = auto()
    OPERATION = auto()


@dataclass(frozen=True, slots=True)
class Look:
    """A category in words and in one letter."""

    letter: str
    title: str


LOOKS: dict[Category, Look] = {
    Category.OTHER: Look("o", "other event or unknown state"),
    Category.LOAD: Look("L", "load"),
    Category.LOAD_CACHED: Look("l", "load (cached)"),
    Category.COMPILE: Look("K", "compilation"),
    Category.PREDICTION: Look("P", "prediction"),
    Category.VALIDATION: Look("v", "input validation"),
    Category.INPUT_COPY: Look("i", "input copy"),
    Category.CAST: Look("c", "data cast"),
    Category.OUTPUT: Look("t", "output transformation"),
    Category.ANE_COPY: Look("n", "Neural Engine data copy"),
    Category.CPU: Look("C", DEVICE_NAMES[Device.CPU]),
    Category.GPU: Look("G", DEVICE_NAMES[Device.GPU]),
    Category.ANE: Look("N", DEVICE_NAMES[Device.ANE]),
    Category.MPS: Look("M", "MPS graph"),
    Category.APP: Look("a", "work not attributed to a model"),
    Category.FOREIGN: Look("x", "other processes"),
    Category.GOOD: Look("-", "nominal"),
    Category.FAIR: Look("f", "fair"),
    Category.SERIOUS: Look("S", "serious"),
    Category.CRITICAL: Look("!", "critical"),
    Category.LOW: Look("_", "low level"),
    Category.MEDIUM: Look("=", "medium level"),
    Category.HIGH: Look("^", "high level"),
    Category.FADED: Look("·", "filtered out"),
    Category.INFERRED: Look("~", "call inferred from call stacks or hardware rows"),
    Category.PHASE: Look("r", "phase of a runtime"),
    Category.OPERATION: Look("u", "operation of the app"),
}

FILLINGS: dict[Category, str] = {Category.INFERRED: "╌"}
"""What fills a bar of what was not recorded itself, so that more than its color differs; pages outline such bars."""

OF_KIND = {kind: Category[work.color] for entry in INSTRUMENTS for kind, work in entry.kinds.items()}

OF_DEVICE = {device: Category[device.name] for device in Device}
