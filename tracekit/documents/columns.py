"""Columns that several documents have, declared by what they show of a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from tracekit.render.blocks import Column, Line, Paragraph, Role, Row, Span, Table
from tracekit.report import formatting

if TYPE_CHECKING:
    from tracekit.analysis.statistics import Statistics

Thing = TypeVar("Thing")

RECORDING = "recording"
"""Stands for the model where something is about none of them."""


def words(title: str, text: Callable[[Row], Line], **looks: Any) -> Column[Row]:
    """Words, which start at the left."""
    return Column(title, text, words=True, **looks)


def names(title: str, name: Callable[[Row], str | None], absent: str = formatting.ABSENT, **looks: Any) -> Column[Row]:
    """Names as recorded; `absent` where there is none."""

    def text(row: Row) -> Line:
        text = name(row)
        return Span(text, Role.CODE) if text else absent

    return words(title, text, is_name=True, **looks)


def numbers(
    title: str, value: Callable[[Row], Any], form: Callable[[Any], str] = formatting.count, **looks: Any
) -> Column[Row]:
    """Numbers, which sort by their value; `form` writes None too."""
    return Column(title, lambda row: form(value(row)), value, **looks)


def optional(
    title: str,
    of: Callable[[Row], Thing | None],
    text: Callable[[Thing], Line],
    value: Callable[[Thing], float | None],
    absent: str = formatting.ABSENT,
    **looks: Any,
) -> Column[Row]:
    """What is shown of something that a row may have, and sorted by; `absent` where it has none."""

    def text_or_absent(row: Row) -> Line:
        return absent if (thing := of(row)) is None else text(thing)

    def sort_value(row: Row) -> float | None:
        return None if (thing := of(row)) is None else value(thing)

    return Column(title, text_or_absent, sort_value, **looks)


def elapsed(title: str, of: Callable[[Row], Statistics | None], **looks: Any) -> Column[Row]:
    """Time covered by events, only where it is not their sum."""

    def value(row: Row) -> int | None:
        value = of(row)
        return value.elapsed_ns if value and value.elapsed_ns != value.total_ns else None

    def text(row: Row) -> str:
        return "" if (ns := value(row)) is None else formatting.duration(ns, getattr(row, "resolution_ns", 0))

    return Column(title, text, value, **looks)


def quantity(title: str, name: str, form: Callable[[Any], str] = formatting.duration, **looks: Any) -> Column[Any]:
    """A number of a model by its id, for rows with `quantities`."""
    if form is formatting.duration:
        return durations(title, lambda row: row.quantities.get(name), quantity=name, **looks)
    return numbers(title, lambda row: row.quantities.get(name), form, quantity=name, **looks)


def durations(title: str, value: Callable[[Row], float | None], **looks: Any) -> Column[Row]:
    """Durations, each with the digits that are known: to the `resolution_ns` of its row, where it has one."""
    return Column(title, lambda row: formatting.duration(value(row), getattr(row, "resolution_ns", 0)), value, **looks)


def absent_note(grid: Table[Any] | None) -> Paragraph | None:
    """What a dash means; None where no cell has one."""
    if grid is None or all(column.text(row) != formatting.ABSENT for column in grid.columns for row in grid.rows):
        return None
    return Paragraph(formatting.ABSENT_NOTE, Role.DIM)
