"""Tables that can be read without scripts, and sorted and filtered with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.report import formatting
from tracekit.report.columns import (
    OVERLAP_NOTE,
    WARM,
    WARM_NOTE,
    event_columns,
    event_rows,
    model_columns,
    model_rows,
)
from tracekit.report.over_time import COLUMNS, NOTE, QUANTITIES, time_rows
from tracekit.report.renderers.html.markup import Html, code, joined, listed, tag
from tracekit.report.renderers.html.prose import sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tracekit.analysis.aggregation import AggregationRow
    from tracekit.analysis.models import ModelSummary
    from tracekit.report.report import CoverageInfo

EVENTS_SHOWN = 2_000
"""Most rows of the table of events: a browser lays out as many at once. The JSON report holds all."""


WIDE = 8
"""From more columns on a table is set smaller on paper."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell shows, and the number that it is sorted by where that is not what it shows."""

    content: str
    value: float | None = None
    quantity: str = ""
    """Id of what it shows (`tracekit.analysis.quantities`); empty for words."""


def table(
    titles: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    name: str,
    words: int = 1,
    filtered: bool = False,
    stacked: bool = False,
    minor: frozenset[str] = frozenset(),
    fixed: str | None = None,
) -> Html:
    """A table whose first `words` columns, and those whose title says so, hold words and the rest numbers. It scrolls
    within the page where it is too wide. `name` is what a screen reader calls it; with `filtered` a script offers to
    search it, with every table to sort it. On a phone, the rows of a `stacked` one
    become paragraphs, `minor` columns are left out, and the `fixed` one stays where the others scroll."""
    kinds = [
        "minor" if title in minor else "named" if title == fixed else _kind(title, is_word=index < words)
        for index, title in enumerate(titles)
    ]
    head = tag("tr", *(tag("th", title, scope="col", class_=kind) for title, kind in zip(titles, kinds, strict=True)))
    body = [
        tag(
            "tr",
            *(
                tag(
                    "td",
                    cell.content,
                    class_=kind,
                    data_v=cell.value,
                    data_title=title if stacked else None,
                    data_quantity=cell.quantity or None,
                )
                for cell, kind, title in zip(row, kinds, titles, strict=True)
            ),
        )
        for row in rows
    ]
    looks = " ".join([*(["stacked"] if stacked else []), *(["wide"] if len(titles) > WIDE else [])]) or None
    grid = tag("table", tag("thead", head), tag("tbody", *body), aria_label=name, data_filter=filtered, class_=looks)
    return tag("div", grid, class_="scroll", tabindex="0", role="region", aria_label=name)


def _kind(title: str, *, is_word: bool) -> str | None:
    return None if is_word or title in _WORDS else "n"


_WORDS = frozenset({"model", "event", "recorded in", "lane", "details", "where the time goes"})
"""Titles of columns of words wherever they stand."""


def events_table(rows: Sequence[AggregationRow]) -> Html | None:
    """Statistics by model and event, with notes; None without rows."""
    lines = [(row, line) for row in rows for line in event_rows(row)]
    if not lines:
        return None
    columns = event_columns([line for _, line in lines])
    titles = ["model", "event", *(column.title for column in columns)]
    body = [
        [
            Cell(code(row.model) if row.model else formatting.ABSENT),
            Cell(line.event),
            *(Cell(column.cell(line), column.value(line)) for column in columns),
        ]
        for row, line in lines[:EVENTS_SHOWN]
    ]
    notes = [OVERLAP_NOTE] if any(column.title == "elapsed" for column in columns) else []
    notes += [WARM_NOTE] if any(line.event.endswith(WARM) for _, line in lines) else []
    notes += [formatting.ABSENT_NOTE]
    notes += [f"{len(lines) - EVENTS_SHOWN:,} more in the JSON report"] if len(lines) > EVENTS_SHOWN else []
    several = len({row.model for row, _ in lines if row.model}) > 1
    minor = frozenset({"lane"} if several else {"lane", "model"})
    grid = table(titles, body, words=2, name="Events by model", filtered=True, minor=minor, fixed="event")
    return joined([grid, listed(notes, class_="notes")])


def loads_table(models: Sequence[ModelSummary]) -> Html | None:
    """Counts and durations of loads and predictions per model."""
    rows = model_rows(models)
    if not rows:
        return None
    columns = model_columns(rows)
    titles = ["model", *(column.title.replace("\n", " ") for column in columns)]
    body = [
        [Cell(row.name), *(Cell(column.cell(row), column.value(row), column.quantity) for column in columns)]
        for row in rows
    ]
    return table(titles, body, name="Loads and predictions", filtered=True)


def over_time_table(models: Sequence[ModelSummary]) -> Html | None:
    """How predictions follow each other, per model."""
    rows = time_rows(models)
    if not rows:
        return None
    with_values = [column for column in range(len(COLUMNS)) if any(row.cells[column] for row in rows)]
    body = [
        [
            Cell(code(row.name)),
            *(Cell(row.cells[at], row.quantities.get(QUANTITIES[at]), QUANTITIES[at]) for at in with_values),
        ]
        for row in rows
    ]
    trends = [joined([code(row.name), ": ", row.trend]) for row in rows if row.trend]
    grid = table(["model", *(COLUMNS[column] for column in with_values)], body, name="Predictions over time")
    return joined([grid, listed(trends), listed([NOTE, formatting.ABSENT_NOTE], class_="notes")])


def coverage_table(entries: Sequence[CoverageInfo]) -> Html | None:
    """What the recording contains, per instrument."""
    if not entries:
        return None
    rows = [
        [
            Cell(entry.instrument),
            Cell(tag("span", formatting.coverage_state(entry), class_=f"state {entry.state}")),
            Cell(sentence(entry.conclusion)),
            Cell(sentence(entry.advice)),
            Cell(formatting.count(entry.rows), entry.rows),
        ]
        for entry in entries
    ]
    return table(
        ["instrument", "state", "details", "to record it", "rows"], rows, words=4, name="Coverage", stacked=True
    )
