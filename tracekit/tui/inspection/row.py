"""About a row of the aggregation: its numbers, and how its durations are distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.report.formatting import ABSENT
from tracekit.tui.inspection.blocks import facts, heading
from tracekit.tui.inspection.histogram import histogram_blocks
from tracekit.tui.inspection.model import numbers_of
from tracekit.tui.ranges import durations_of_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from tracekit.tui.state import RowRef, State


def row_blocks(state: State, ref: RowRef) -> Iterator[RenderableType]:
    """A row, of what range and filter let through."""
    row = ref.source
    numbers = row.warm if ref.warm else row.statistics
    yield heading(row.label)
    known = [("lane", row.lane), ("model", row.model or ABSENT)]
    known += [("process", row.process)] if row.process is not None else []
    known += [("warm", "excludes the first prediction after each load")] if ref.warm else []
    yield facts([*known, ("keys", "enter lists the events")])
    yield ""
    if numbers is not None:
        yield from histogram_blocks(durations_of_row(state, ref), "these events")
        yield facts(numbers_of(numbers))
        yield ""
