"""The status line of the main screen: where one is, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from tracekit.lanes.lanes import Grouping
from tracekit.report.formatting import moment, shorten, visible
from tracekit.tui.timeline.ruler import exact_moment
from tracekit.units import format_duration

if TYPE_CHECKING:
    from tracekit.tui.state import EventRef, Session, State
    from tracekit.tui.viewport import Span, Viewport

GROUPING_WORDS = {
    Grouping.LANES: "grouped by lane",
    Grouping.EVENTS: "grouped by event",
    Grouping.MODELS: "grouped by model",
}


def _edge(time_ns: int, view: Viewport) -> str:
    """An end of the view, in as many digits as distinguish it from the other end."""
    return exact_moment(time_ns, view.span_ns // 10)


def _selected(session: Session, ref: EventRef) -> tuple[str, str]:
    """What is selected, for where the inspector does not say so, and when it began."""
    row, span = session.row(ref), session.span(ref)
    widths = {"label": 25, "model": 18}
    named = [shorten(row[name], room) for name, room in widths.items() if name in row and isinstance(row[name], str)]
    return visible(" · ".join([*named, format_duration(span.span_ns)])), f" · at {moment(span.start_ns)}"


def _from_mark(mark: Span, here: Span) -> str:
    """How long the range would be that ends here."""
    ends = (mark.start_ns, mark.end_ns, here.start_ns, here.end_ns)
    return f"range {format_duration(max(ends) - min(ends))}, v to finish"


def status_line(state: State, here: Span, width: int) -> str:
    """Where one is, in words: as much as fits, beginning with what is selected, the part in view and the range.

    here: where a range would end now; see `tracekit.tui.selection.range_end`.
    """
    view = state.view
    parts = {
        "selected": "",
        "when": "",
        "edges": f"{_edge(view.start_ns, view)} – {_edge(view.end_ns, view)}",
        "span": f"{format_duration(view.span_ns)} in view",
        "grouping": GROUPING_WORDS[state.grouping],
        "cursor": f"cursor {_edge(state.cursor_ns, view)}",
        "range": "",
    }
    if not state.inspector and state.selection.event is not None:
        parts["selected"], parts["when"] = _selected(state.session, state.selection.event)
    if state.mark is not None:
        parts["range"] = _from_mark(state.mark, here)
    elif state.range is not None:
        parts["range"] = f"range {format_duration(state.range.span_ns)}"
    for expendable in ("", "grouping", "cursor", "span", "when", "edges", "range"):
        parts.pop(expendable, None)
        chosen = parts["selected"] + parts.get("when", "")
        others = [part for name, part in parts.items() if name not in ("selected", "when")]
        line = "  ·  ".join(filter(None, (chosen, *others)))
        if cell_len(line) <= width - 2:
            break
    return line
