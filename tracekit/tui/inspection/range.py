"""About the range, and what it was measured between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.report.formatting import duration, moment
from tracekit.tui.inspection.blocks import facts, heading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from tracekit.tui.timeline.viewport import Span


def range_blocks(span: Span, ends: tuple[Span, Span] | None) -> Iterator[RenderableType]:
    """Length and ends; for two events, the distances between their edges."""
    yield heading("Range")
    yield facts(
        [
            ("length", _exact(span.span_ns)),
            ("from", f"{moment(span.start_ns)} ({span.start_ns:,} ns)"),
            ("to", f"{moment(span.end_ns)} ({span.end_ns:,} ns)"),
            *(_distances(*ends) if ends is not None else ()),
            ("statistics", "2 shows them, ctrl+y copies them"),
        ]
    )


def _distances(first: Span, second: Span) -> Iterator[tuple[str, str]]:
    """From edge to edge of two events, the earlier first."""
    gap = second.start_ns - first.end_ns
    yield ("gap", _exact(gap)) if gap >= 0 else ("overlap", _exact(min(first.end_ns, second.end_ns) - second.start_ns))
    yield "start – start", _exact(second.start_ns - first.start_ns)
    yield "end – end", _exact(second.end_ns - first.end_ns)


def _exact(ns: int) -> str:
    return f"{duration(ns)} ({ns:,} ns)"
