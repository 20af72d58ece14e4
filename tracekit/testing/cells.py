"""Values of table cells, apart from any file format.

A cell is `None` (no value), an `int`, a `str`, or one of the containers below. Which of Apple's types it has is given
by its column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tracekit.testing.machines import Process, Thread
from tracekit.testing.stacks import Stack


@dataclass(frozen=True, slots=True)
class Part:
    """A typed piece of a label, narrative or message."""

    type: str
    """Engineering type, for example `narrative-text`."""
    value: int | str | Process


@dataclass(frozen=True, slots=True)
class Label:
    """A text that is put together from typed parts: formatted labels, narratives and log messages."""

    parts: tuple[Part, ...] = ()


Cell = int | str | Process | Thread | Label | Stack | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a schema as the file describes it."""

    mnemonic: str
    name: str
    type: str
    """Engineering type."""


@dataclass(frozen=True, slots=True)
class TableContent:
    """One table of one run with its rows, ready for a writer."""

    schema: str
    attributes: tuple[tuple[str, str], ...]
    """As the table of contents prints them, in order."""
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """In ascending order of the first cell."""
    documentation: str = ""


@lru_cache(maxsize=1024)
def text_label(text: str) -> Label:
    """A label that holds one text. Rows share few of them."""
    return Label((Part("string", text),))
