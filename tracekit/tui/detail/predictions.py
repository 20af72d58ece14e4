"""The predictions that the app called: one row each, with where its time went."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tracekit.report.formatting import ABSENT, duration, moment
from tracekit.report.time_breakdown import GROUPS
from tracekit.tui.detail.columns import WEIGHTY, Cell, Column, model_column
from tracekit.tui.detail.listing import ListPane, sorted_by
from tracekit.tui.messages import PredictionSelected, ZoomWanted
from tracekit.tui.ranges import narrowed_ways, none_words, passing, ranks
from tracekit.tui.state import EventRef, Selection, Sort
from tracekit.tui.text import longest_that_fits
from tracekit.units import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from textual.message import Message

    from tracekit.arrays import IntArray
    from tracekit.report.time_breakdown import PartsRow
    from tracekit.trace.trace import Trace
    from tracekit.tui.prediction_table import Calls
    from tracekit.tui.state import State
    from tracekit.tui.theme import Palette


def _columns(trace: Trace) -> tuple[Column, ...]:
    return (
        Column("start", 12, right=True),
        Column("duration", 10, right=True),
        model_column(trace.models["name"]),
        Column("phase", 5),
        Column("attribution", 11, drop=WEIGHTY + 1),
        Column("where time went", 0, ordered=False, prose=True, min_width=16, max_width=24),
    )


FIRST_SORT = Sort("start", descending=False)


@dataclass(frozen=True, eq=False)
class CallRows:
    """Chosen predictions in order."""

    calls: Calls
    activity: pd.DataFrame
    columns: Sequence[Column]
    order: IntArray
    """Shape (rows,): positions in `calls`."""
    sorted_by: tuple[int, bool]
    empty: str

    def __len__(self) -> int:
        return len(self.order)

    def index(self, row: int) -> int:
        """The row of `Trace.activity` that a row of the list shows."""
        return int(self.calls.index[self.order[row]])

    def row(self, index: int) -> int | None:
        """Where a row of `Trace.activity` stands; None where it is not in the list. O(n)."""
        position = self.calls.position(index)
        rows = np.flatnonzero(self.order == position) if position is not None else np.zeros(0, np.int64)
        return int(rows[0]) if rows.size else None

    def cells(self, row: int, palette: Palette) -> Sequence[Cell]:
        """The cells of a prediction, one for each column."""
        position = int(self.order[row])
        index = self.index(row)
        parts = self.calls.parts(position)
        model = self.activity["model"].iloc[index]
        return [
            Cell(moment(int(self.calls.starts[position]))),
            Cell(duration(int(self.calls.durations[position]))),
            Cell(model if isinstance(model, str) else ABSENT),
            self._call(position, palette),
            Cell(str(self.activity["attribution"].iloc[index]), palette.dim),
            Cell(parts.sentence, bar=partial(self._bar, position, parts) if parts.slices else None),
        ]

    def _bar(self, position: int, parts: PartsRow, room: int) -> str:
        """As long beside the others as its prediction."""
        share = int(self.calls.durations[position]) / self._longest_ns
        return parts.bar(max(round(room * share), 1)).ljust(room)

    @cached_property
    def _longest_ns(self) -> int:
        return int(self.calls.durations[self.order].max(initial=1))

    def _call(self, position: int, palette: Palette) -> Cell:
        if self.calls.inferred[position]:
            return Cell(ABSENT, palette.dim)
        return Cell("first", palette.accent) if self.calls.first[position] else Cell("warm", palette.dim)


def call_rows(state: State, calls: Calls, sort: Sort) -> CallRows:
    """Predictions that pass the filter and lie in the range at least in part, sorted. O(n log n)."""
    trace = state.session.trace
    activity = trace.activity
    chosen = np.flatnonzero(passing(trace, "activity", state.filter, state.range)[calls.index])
    keys: dict[str, IntArray] = {
        "start": calls.starts,
        "duration": calls.durations,
        "model": ranks(activity["model"])[calls.index],
        "phase": np.where(calls.inferred, 2, np.where(calls.first, 0, 1)),
        "attribution": ranks(activity["attribution"])[calls.index],
    }
    key = keys[sort.column][chosen]
    order = chosen[np.argsort(-key if sort.descending else key, kind="stable")]
    empty = none_words("prediction", state.range, state.filter, known=len(calls) > 0)
    columns = _columns(trace)
    return CallRows(calls, activity, columns, order, sorted_by(columns, sort), empty)


def signs(calls: Calls) -> str:
    """What the signs of the bars stand for, as far as they occur."""
    return ", ".join(
        f"{group.sign} {group.name}" for group, time in zip(GROUPS, calls.time_ns, strict=True) if time.any()
    )


def _words_of_inferred(rows: CallRows) -> str:
    """How many of the listed ones Core ML did not record; empty where it recorded all."""
    count = int(rows.calls.inferred[rows.order].sum())
    return "" if not count else "inferred" if count == len(rows) else f"{count:,} inferred"


class PredictionsPane(ListPane[CallRows]):
    """Predictions, with those of the range and the filter alone where there are such."""

    PANE = "predictions"
    TITLE = "Predictions"
    SHORT = "Pred."
    WAITING = "Breaking predictions down…"
    HEADED = True

    def made_from(self, state: State) -> tuple[object, ...]:
        """Everything that chooses or sorts."""
        return (state.session, state.filter, state.range, state.sorts.get(self.PANE, FIRST_SORT))

    def make(self, state: State) -> CallRows | None:
        """The list, once the predictions are known one by one."""
        calls = state.session.calls
        return None if calls is None else call_rows(state, calls, state.sorts.get(self.PANE, FIRST_SORT))

    def heading(self, state: State, rows: CallRows, room: int) -> str:
        """How many, of what, whether they were inferred, and what the signs of the bars mean."""
        inferred, legend = _words_of_inferred(rows), signs(rows.calls) if len(rows) else ""
        wordings = (
            (format_count(len(rows), "prediction"), inferred and f"{inferred} from hardware"),
            (f"{len(rows):,}", inferred),
            (inferred,),
        )
        counts = [", ".join(filter(None, parts)) for parts in wordings if any(parts)]
        ways = product((legend, ""), counts, narrowed_ways(state.range, state.filter))
        return longest_that_fits([" · ".join(filter(None, (count, of, signed))) for signed, count, of in ways], room)

    def row_of(self, rows: CallRows, state: State) -> int | None:
        """The prediction that is selected."""
        event = state.selection.event
        return rows.row(event.index) if event is not None and event.frame == "activity" else None

    def chosen(self, rows: CallRows, row: int) -> Message | None:
        """Look at a prediction as a whole."""
        return PredictionSelected(rows.index(row))

    def selection_of(self, rows: CallRows, row: int) -> Selection:
        """A prediction as a whole."""
        return Selection(event=EventRef("activity", rows.index(row)), prediction=rows.index(row))

    def enter_words(self) -> str:
        """What enter does."""
        return "Zoom in"

    def opened(self, rows: CallRows, row: int) -> Message | None:
        """Zoom to it."""
        del rows, row
        return ZoomWanted()
