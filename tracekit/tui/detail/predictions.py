"""The predictions that the app called: one row each, with where its time went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.render.blocks import Role, Span
from tracekit.report.formatting import ABSENT, duration, moment
from tracekit.report.time_breakdown import GROUPS
from tracekit.tui.detail.columns import WEIGHTY, ListColumn, model_column
from tracekit.tui.detail.pane import ListPane
from tracekit.tui.messages import ZoomWanted
from tracekit.tui.ranges import narrowing_wordings, none_words, passing, ranks
from tracekit.tui.state import EventRef, Selection, Sort, State
from tracekit.tui.text import longest_that_fits
from tracekit.units import format_count

if TYPE_CHECKING:
    from textual.message import Message

    from tracekit.arrays import IntArray
    from tracekit.tui.prediction_table import Calls


FIRST_SORT = Sort("start", descending=False)


@dataclass(frozen=True, eq=False)
class CallRows:
    """Chosen predictions in order."""

    calls: Calls
    activity: pd.DataFrame
    models: Sequence[str]
    """Of the recording."""
    order: IntArray
    """Shape (rows,): positions in `calls`."""
    sort: Sort
    empty: str

    @cached_property
    def columns(self) -> Sequence[ListColumn[int]]:
        """From left to right; a record is a position in `calls`."""
        calls = self.calls
        return (
            ListColumn("start", lambda at: moment(int(calls.starts[at])), width=12),
            ListColumn("duration", self._duration, width=10),
            model_column(self.models, self._model),
            ListColumn("phase", self._phase, words=True, width=5),
            ListColumn("attribution", self._attribution, words=True, drop=WEIGHTY + 1, width=11),
            ListColumn(
                "where time went",
                lambda at: calls.parts(at).sentence,
                words=True,
                width=0,
                prose=True,
                ordered=False,
                max_width=24,
                bar=lambda at: partial(self._bar, at) if calls.parts(at).slices else None,
            ),
        )

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

    def record(self, row: int) -> int:
        """The position of a row in `calls`."""
        return int(self.order[row])

    def _model(self, position: int) -> str:
        model = self.activity["model"].iloc[int(self.calls.index[position])]
        return model if isinstance(model, str) else ABSENT

    def _duration(self, position: int) -> str:
        resolution_ns = self.activity["resolution_ns"].iloc[int(self.calls.index[position])]
        return duration(int(self.calls.durations[position]), int(resolution_ns))

    def _attribution(self, position: int) -> Span:
        return Span(str(self.activity["attribution"].iloc[int(self.calls.index[position])]), Role.DIM)

    def _phase(self, position: int) -> Span:
        if self.calls.inferred[position]:
            return Span(ABSENT, Role.DIM)
        return Span("first", Role.STRONG) if self.calls.first[position] else Span("warm", Role.DIM)

    def _bar(self, position: int, room: int) -> str:
        """As long beside the others as its prediction."""
        share = int(self.calls.durations[position]) / self._longest_ns
        return self.calls.parts(position).bar(max(round(room * share), 1)).ljust(room)

    @cached_property
    def _longest_ns(self) -> int:
        return int(self.calls.durations[self.order].max(initial=1))


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
    return CallRows(calls, activity, trace.models["name"].tolist(), order, sort, empty)


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
    ENTER = "Zoom in"

    def inputs(self, state: State) -> tuple[object, ...]:
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
            (format_count(len(rows), "prediction"), inferred),
            (f"{len(rows):,}", inferred),
            (inferred,),
        )
        counts = [", ".join(filter(None, parts)) for parts in wordings if any(parts)]
        ways = product((legend, ""), counts, narrowing_wordings(state.range, state.filter))
        return longest_that_fits([" · ".join(filter(None, (count, of, signed))) for signed, count, of in ways], room)

    def row_of(self, rows: CallRows, state: State) -> int | None:
        """The prediction that is selected."""
        event = state.selection.event
        return rows.row(event.index) if event is not None and event.frame == "activity" else None

    def selection_of(self, rows: CallRows, row: int) -> Selection:
        """A prediction as a whole."""
        return Selection(event=EventRef("activity", rows.index(row)), prediction=rows.index(row))

    def open_message(self, rows: CallRows, row: int) -> Message:
        """Zoom to it."""
        del rows, row
        return ZoomWanted()
