"""What `tracekit inspect` prints of a performance report: context, the result, times, and where operations run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from tracekit.detectors.shared import planned
from tracekit.model_files.performance.facts import ALL_UNITS
from tracekit.report import formatting, performance_words
from tracekit.report.renderers.concise_layout import Layout
from tracekit.report.renderers.text_layout import NARROWEST, WIDEST, glued, printed
from tracekit.report.strings import map_strings
from tracekit.units import format_count, format_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from tracekit.model_files.performance import ComputeUnit, PerformanceReport, PlannedOperation
    from tracekit.report.performance import PerformanceDocument

COSTLIEST = 5
"""Operations without `-v`."""
NAME_CELLS, TYPE_CELLS = 36, 20
GAP = 2
TIME_SHEDS = ("std dev", "min", "max", "mean", "count")
"""Columns of times that go first where the screen is narrow."""


def render_performance(
    document: PerformanceDocument, *, width: int, color: bool, verbose: bool, unit: ComputeUnit | None
) -> str:
    """The document in lines of at most `width` cells, with a line break at the end. `verbose` lists every operation,
    `unit` those on one compute unit."""
    width = min(max(width, NARROWEST), WIDEST)
    layout = Layout(width)
    safe = map_strings(document, lambda _, text: formatting.visible(text))
    report = safe.performance
    blocks: list[RenderableType] = [
        *layout.wrapped(Text(performance_words.context(report), style="dim")),
        Text(),
        *layout.wrapped(Text(glued(performance_words.result(safe)), style="bold green")),
        Text(),
        *_times(report, layout),
    ]
    if report.operations:
        blocks += _units(safe, layout)
        blocks += _elsewhere(report, layout)
    listed = report.on(unit) if unit is not None else (report.operations or ()) if verbose else ()
    if unit is not None or listed:
        title = f"OPERATIONS ON {planned.NAMES[unit].upper()}" if unit is not None else "OPERATIONS"
        blocks += _listed(report, title, listed, layout)
    else:
        blocks += _costliest(report, layout)
    for note in (*report.notes, *((performance_words.PLAN_NOTE,) if report.operations else ())):
        blocks += layout.wrapped(Text(f"note: {note}", style="dim"))
    if report.operations and not listed:
        blocks += layout.wrapped(Text.assemble("more: ", ("-v", "cyan"), " lists every operation"))
    return printed(blocks, width, color)


def _times(report: PerformanceReport, layout: Layout) -> list[RenderableType]:
    timed = list(performance_words.timings(report))
    if not timed:
        return []
    columns = [
        (title, key)
        for title, key in performance_words.TIMES
        if any(getattr(timing, key) is not None for _, timing, _ in timed)
    ]
    rows = [
        [name, *(formatting.duration(getattr(timing, key)) for _, key in columns), formatting.count(timing.count)]
        for name, timing, _ in timed
    ]
    lines: list[RenderableType] = [
        _grid(["TIMES", *(title for title, _ in columns), "count"], rows, layout, sheds=TIME_SHEDS)
    ]
    for name, timing, words in timed:
        kept_apart = performance_words.first(timing, words)
        if kept_apart:
            lines += layout.hanging(Text(glued(f"  {name.partition(',')[0]}, {kept_apart}")), 4)
    return [*lines, Text()]


def _grid(
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    layout: Layout,
    words: int = 1,
    sheds: Sequence[str] = (),
) -> RenderableType:
    """A table whose first `words` columns are words and the rest numbers. Where it is too wide, the columns of `sheds`
    go in this order, and then words are cut."""
    lines = [list(titles), *([f"  {row[0]}", *row[1:]] for row in rows)]
    columns = list(range(len(titles)))
    for title in sheds:
        cells = sum(max(layout.cells(line[index]) for line in lines) for index in columns)
        if cells + GAP * (len(columns) - 1) <= layout.width:
            break
        columns = [index for index in columns if titles[index] != title]
    grid = Table.grid(padding=(0, GAP, 0, 0), pad_edge=False)
    for index in columns:
        grid.add_column(justify="left" if index < words else "right", no_wrap=True, overflow="ellipsis")
    first, *others = (titles[index] for index in columns)
    grid.add_row(Text(first, style="bold"), *(Text(title, style="dim") for title in others))
    for line in lines[1:]:
        grid.add_row(*(Text(line[index]) for index in columns))
    return grid


def _units(document: PerformanceDocument, layout: Layout) -> list[RenderableType]:
    summary = document.summary
    total = summary.operations or 0
    rows = [
        [
            str(unit),
            f"{summary.units[unit]:,}",
            format_share(summary.units[unit] / total),
            format_share(summary.cost[unit]) if unit in summary.cost else formatting.ABSENT,
        ]
        for unit in planned.NAMES
        if unit in summary.units
    ]
    if not rows:
        return []
    titles = ["WHERE OPERATIONS RUN", "count", "share", "est. cost"]
    grid = _grid(titles, rows, layout, sheds=("est. cost", "share"))
    hand_offs = performance_words.hand_offs(document)
    return [grid, *layout.hanging(Text(f"  {hand_offs}"), 4), Text()]


def _elsewhere(report: PerformanceReport, layout: Layout) -> list[RenderableType]:
    groups = performance_words.elsewhere(report)
    lines: list[RenderableType] = []
    for words, operations in groups:
        reasons = performance_words.reasons(operations)
        text = f"  {format_count(len(operations), 'operation')} {words}: {performance_words.by_type(operations)}"
        lines += layout.hanging(Text(f"{text} ({reasons})" if reasons else text), 4, max_lines=3)
    return [*layout.heading("NOT ON THE NEURAL ENGINE", ""), *lines, Text()] if lines else []


def _costliest(report: PerformanceReport, layout: Layout) -> list[RenderableType]:
    rows = [
        [
            performance_words.cost(entry),
            str(entry.unit or formatting.ABSENT),
            performance_words.kind(entry),
            _name(entry),
        ]
        for entry in report.costliest(COSTLIEST)
    ]
    titles = ["COSTLIEST  (estimated)", "runs on", "type", "name"]
    return [_grid(titles, rows, layout, 4, ("name", "type")), Text()] if rows else []


def _listed(
    report: PerformanceReport, title: str, operations: Sequence[PlannedOperation], layout: Layout
) -> list[RenderableType]:
    if not operations:
        return [*layout.heading(title, ""), Text("  none"), Text()]
    # What an operation may run on must stay whole beside it.
    type_cells = min(TYPE_CELLS, layout.width // 4)
    rows = [
        [
            str(entry.number),
            formatting.shorten(performance_words.kind(entry), type_cells),
            *(performance_words.MARKS[report.mark(entry, unit)] for unit in ALL_UNITS),
            performance_words.cost(entry),
            _name(entry),
        ]
        for entry in operations
    ]
    titles = ["", "type", *map(str, ALL_UNITS), "est. cost", "name"]
    grid = _grid(titles, rows, layout, 7, ("est. cost", "name"))
    note = layout.wrapped(Text(performance_words.MARKS_NOTE, style="dim"))
    return [*layout.heading(title, ""), grid, *note, Text()]


def _name(operation: PlannedOperation) -> str:
    return formatting.shorten(operation.name, NAME_CELLS) if operation.name else formatting.ABSENT
