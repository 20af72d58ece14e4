"""About the range, and what it was measured between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.tui.inspection.blocks import exact, facts, heading
from tracekit.tui.inspection.histogram import histogram_blocks
from tracekit.tui.ranges import durations_in_range
from tracekit.tui.timeline.ruler import exact_moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from tracekit.tui.state import State
    from tracekit.tui.viewport import Span


def range_blocks(state: State, span: Span, ends: tuple[Span, Span] | None) -> Iterator[RenderableType]:
    """Length and ends; for two events, the distances between their edges; the predictions that start in it."""
    yield heading("Range")
    yield facts(
        [
            ("length", exact(span.span_ns)),
            ("from", exact_moment(span.start_ns)),
            ("to", exact_moment(span.end_ns)),
            *((name, exact(length)) for name, length in (distances(*ends) if ends is not None else ())),
            ("statistics", "2 to show, ctrl+y to copy"),
        ]
    )
    yield ""
    yield from histogram_blocks(durations_in_range(state, span), "predictions starting in it")


def distances(first: Span, second: Span) -> Iterator[tuple[str, int]]:
    """From edge to edge of two events, the earlier first: names and ns."""
    gap = second.start_ns - first.end_ns
    yield ("gap", gap) if gap >= 0 else ("overlap", min(first.end_ns, second.end_ns) - second.start_ns)
    yield "start – start", second.start_ns - first.start_ns
    yield "end – end", second.end_ns - first.end_ns
