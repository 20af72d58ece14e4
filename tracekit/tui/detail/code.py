"""The call tree of the range or the selected event: what threads were running."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tracekit.analysis.code.tree import Frames, call_tree
from tracekit.report.flame import branches
from tracekit.report.formatting import moment
from tracekit.trace.instruments.catalogue import CALL_STACKS
from tracekit.tui.detail.pane import TextPane
from tracekit.tui.text import Broken, Drawn
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.tui.state import State
    from tracekit.tui.viewport import Span


SHOWN: Final = {
    Frames.FOLDED: "system functions folded",
    Frames.ALL: "all functions",
    Frames.APP: "functions of the app",
}


def code_text(state: State) -> RenderableType:
    """The call tree of what ran in the chosen span, or in the whole recording; what is longer than a line goes on below
    its beginning. The checks have read the samples by now."""
    session, span = state.session, chosen_span(state)
    sampled = session.whole_trace.profiled
    if sampled is None or sampled.samples.empty:
        entry = session.whole_trace.coverage_of(CALL_STACKS)
        return Text(f"{entry.conclusion} {entry.advice}".rstrip())
    time = sampled.samples["time_ns"].to_numpy()
    chosen = np.ones(len(time), np.bool_) if span is None else (time >= span.start_ns) & (time < span.end_ns)
    where = "" if span is None else f" from {moment(span.start_ns)} to {moment(span.end_ns)}"
    samples = format_count(int(chosen.sum()), "sample")
    counted = "" if sampled.weights is None else f"; numbers and shares are {sampled.unit}, not time"
    title = f"{samples} of running threads{where}; threads that wait are not sampled{counted}"
    order = "innermost first" if state.inverted else "outermost first"
    keys = f"X: {SHOWN[state.frames]} · U: {order}"
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    for branch in branches(call_tree(sampled, chosen, state.frames, invert=state.inverted)):
        grid.add_row(Text(branch.numbers), Broken(Text(branch.name), len(branch.indent)))
    return Group(Text(title), Text(keys, "dim"), grid)


def chosen_span(state: State) -> Span | None:
    """The range, else the selected event, else None: everything."""
    event = state.selection.event
    return state.range or (state.session.span(event) if event is not None else None)


class CodePane(TextPane):
    """What ran, as a tree of calls: in the range, else in the selected event, else in the whole recording."""

    PANE = "code"
    TITLE = "Code"

    def inputs(self, state: State) -> tuple[object, ...] | None:
        """The samples, which the checks read, and the range or the selection."""
        if state.session.report is None:
            return None
        return state.session.whole_trace, chosen_span(state), state.frames, state.inverted

    def text(self, state: State) -> Drawn:
        """The tree."""
        return Drawn(code_text(state))
