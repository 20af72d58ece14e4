"""What the colors on the lanes mean. Every category has a letter too, for terminals without colors."""

from __future__ import annotations

from enum import IntEnum
from typing import Self

from tracekit.trace.events import DEVICE_NAMES, Device
from tracekit.trace.instruments.catalogue import INSTRUMENTS


class Category(IntEnum):
    """What is distinguished at a glance: its code in arrays, its letter, and its words."""

    letter: str
    title: str

    def __new__(cls, code: int, letter: str = "", title: str = "") -> Self:
        """A member; or, with its code alone, the one that has it."""
        member = int.__new__(cls, code)
        member._value_, member.letter, member.title = code, letter, title
        return member

    OTHER = 0, "o", "other event or unknown state"
    LOAD = 1, "L", "load"
    LOAD_CACHED = 2, "l", "load (cached)"
    COMPILE = 3, "K", "compilation"
    PREDICTION = 4, "P", "prediction"
    VALIDATION = 5, "v", "input validation"
    INPUT_COPY = 6, "i", "input copy"
    CAST = 7, "c", "data cast"
    OUTPUT = 8, "t", "output transformation"
    ANE_COPY = 9, "n", "Neural Engine data copy"
    CPU = 10, "C", DEVICE_NAMES[Device.CPU]
    GPU = 11, "G", DEVICE_NAMES[Device.GPU]
    ANE = 12, "N", DEVICE_NAMES[Device.ANE]
    MPS = 13, "M", "MPS graph"
    APP = 14, "a", "work not attributed to a model"
    FOREIGN = 15, "x", "other processes"
    GOOD = 16, "-", "nominal"
    FAIR = 17, "f", "fair"
    SERIOUS = 18, "S", "serious"
    CRITICAL = 19, "!", "critical"
    LOW = 20, "_", "low level"
    MEDIUM = 21, "=", "medium level"
    HIGH = 22, "^", "high level"
    FADED = 23, "·", "filtered out"
    INFERRED = 24, "~", "call inferred from call stacks or hardware rows"
    PHASE = 25, "r", "phase of a runtime"
    OPERATION = 26, "u", "operation of the app"


FILLINGS: dict[Category, str] = {Category.INFERRED: "╌"}
"""What fills a bar of what was not recorded itself, so that more than its color differs; pages outline such bars."""

OF_KIND = {kind: Category[work.color] for entry in INSTRUMENTS for kind, work in entry.kinds.items()}

OF_DEVICE = {device: Category[device.name] for device in Device}
