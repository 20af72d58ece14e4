"""Binds the cells of tables whose schema lists no columns.

`xctrace` always lists them; files written by hand, such as the fixtures of other projects, do not, and leave cells
out. A cell is then known by its tag alone, which is accepted only where that leaves no doubt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.recording.engineering_types import SENTINEL
from tracekit.recording.export.cells import CellError, as_tag
from tracekit.recording.export.columns import ColumnBuilder
from tracekit.recording.export.known_schemas import KNOWN_SCHEMAS
from tracekit.recording.table import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.recording.export.cells import Values


@dataclass(frozen=True, slots=True)
class HandmadeRow:
    """One row: the tag of each cell and its payload (0 for a cell without value)."""

    tags: tuple[str, ...]
    payloads: list[int]


def bind_rows(schema: str, rows: Sequence[HandmadeRow], values: Values) -> ColumnBuilder:
    """Rows as columns: by position where every row is complete, else by tag. Raises `CellError` in case of doubt."""
    for columns in KNOWN_SCHEMAS.get(schema, ()):
        if all(_fits(row.tags, columns) for row in rows):
            return _build(columns, [row.tags for row in rows], [row.payloads for row in rows], values)
    names: dict[str, Column] = {}
    for number, row in enumerate(rows, 1):
        for tag in row.tags:
            if tag == SENTINEL or row.tags.count(tag) > 1:
                raise CellError(f"row {number}: the schema lists no columns, so it is unclear what {as_tag(tag)} means")
            if tag not in names:
                names[tag] = _column(schema, tag, number)
    order = list(names)
    by_tag = [dict(zip(row.tags, row.payloads, strict=True)) for row in rows]
    return _build(
        tuple(names.values()),
        [tuple(tag if tag in row else SENTINEL for tag in order) for row in by_tag],
        [[row.get(tag, 0) for tag in order] for row in by_tag],
        values,
    )


def _fits(tags: tuple[str, ...], columns: tuple[Column, ...]) -> bool:
    return len(tags) == len(columns) and all(
        tag in (SENTINEL, column.engineering_type) for tag, column in zip(tags, columns, strict=True)
    )


def _column(schema: str, tag: str, row: int) -> Column:
    """Column of a tag: the one column of that type in every known version of the schema, else named like the tag."""
    variants = KNOWN_SCHEMAS.get(schema, ())
    candidates = [column for columns in variants for column in columns if column.engineering_type == tag]
    if len({column.mnemonic for column in candidates}) > 1:
        meanings = " or ".join(f"'{name}'" for name in dict.fromkeys(column.mnemonic for column in candidates))
        raise CellError(f"row {row}: the schema lists no columns, so {as_tag(tag)} may be {meanings}")
    return candidates[0] if candidates else Column(tag, tag)


def _build(
    columns: tuple[Column, ...], tags: Sequence[tuple[str, ...]], payloads: Sequence[Sequence[int]], values: Values
) -> ColumnBuilder:
    builder = ColumnBuilder(columns, values)
    for row_tags, row_payloads in zip(tags, payloads, strict=True):
        builder.add(builder.signature(row_tags), row_payloads)
    return builder
