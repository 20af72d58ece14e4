"""How a page shows blocks."""

from __future__ import annotations

from lxml import html

from tracekit.render.blocks import Column, Table
from tracekit.render.html import WIDE, grid


def looks(count: int, *, drop: int = 0, parts: bool = False) -> str | None:
    """Classes of a table with so many columns, the first of which may be a heading."""
    first: Column[str] = Column("name", str, words=True, heading=parts)
    others: list[Column[str]] = [Column(f"column {at}", str, drop=drop) for at in range(count - 1)]
    found: str | None = (
        html.fromstring(grid(Table("a", (first, *others), ("x",), parts=parts))).find(".//table").get("class")
    )
    return found


def test_a_table_stays_one_on_a_phone_only_where_columns_can_go_or_are_alike():
    assert looks(WIDE) == "stacked"
    assert looks(WIDE + 1) == "wide stacked"
    assert looks(WIDE + 1, drop=1) == "wide"
    assert looks(WIDE + 2, parts=True) == "grouped"
