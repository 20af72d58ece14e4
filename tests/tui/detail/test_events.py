"""The list of events: which ones it holds, and in which order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.analyses import kept_trace
from tests.tui.conftest import kept_judged, kept_session
from tracekit.documents.report_events import EventRow
from tracekit.lanes.lanes import Grouping, lanes_of
from tracekit.render.blocks import plain
from tracekit.trace.filter import EVENT_FRAMES
from tracekit.tui.detail.events import FIRST_SORT, event_rows
from tracekit.tui.detail.statistics import short_event
from tracekit.tui.ranges import passing, ranks
from tracekit.tui.state import EventFilter, Sort


def test_events_of_all_frames_sort_by_text_with_nameless_ones_last(reload_trace):
    rows = event_rows(reload_trace, EventFilter(), None, Sort("model", descending=False))
    refs = map(rows.ref, range(len(rows)))
    models = [reload_trace.events[ref.frame].model.item(ref.index) for ref in refs]
    named = [str(model).casefold() for model in models if isinstance(model, str)]
    assert named == sorted(named)
    assert all(isinstance(model, str) for model in models[: len(named)])
    assert len(rows) == sum(len(getattr(reload_trace, name)) for name in EVENT_FRAMES)


def test_columns_of_which_a_recording_has_nothing_are_left_out(samples):
    trace = kept_trace(samples / "meal_planner.trace")

    def titles(sort: Sort) -> list[str]:
        return [column.title for column in event_rows(trace, EventFilter(), None, sort).columns]

    assert titles(FIRST_SORT) == ["start", "duration", "lane", "event", "process"]
    # Chosen in the list of another recording.
    assert "model" in titles(Sort("model", descending=False))


def test_rows_name_their_lanes_as_the_lanes_are_titled(reload_trace):
    titles = {lane.title.partition(" · ")[0] for lane in lanes_of(reload_trace, Grouping.LANES)}
    rows = event_rows(reload_trace, EventFilter(), None)
    column = next(column for column in rows.columns if column.title == "lane")
    shown = {plain(column.text(rows.record(row))) for row in range(len(rows))}
    assert {"Activity", "Neural Engine", "GPU"} <= shown <= titles


def test_ranks_put_texts_in_order_and_none_last(reload_trace):
    column = reload_trace.hardware.model
    found = ranks(column)
    assert (found[~column.known] == found.max()).all()
    texts = set(column.held())
    by_rank = sorted(texts, key=lambda text: found[column.is_any(text)][0])
    assert by_rank == sorted(texts, key=str.casefold)


def test_rows_that_name_no_model_can_be_asked_for(reload_trace):
    passed = passing(reload_trace, "hardware", EventFilter(model=""), None)
    assert passed.sum() == (~reload_trace.hardware.model.known).sum() > 0


@pytest.mark.parametrize(
    ("event", "process", "room", "expected"),
    [
        ("GPU execution, CB (88248), nested", "CB (88248)", 24, "GPU, CB (88248), nested"),
        ("GPU execution, WindowServer (502)", "WindowServer (502)", 18, "GPU, Window… (502)"),
        ("GPU execution, WindowServer (502), nested", "WindowServer (502)", 23, "GPU, Windo…502), nested"),
        ("GPU execution, unknown process", None, 26, "GPU, unknown process"),
        ("Neural Engine Request", None, 18, "Neural En… Request"),
    ],
)
def test_the_ends_by_which_events_differ_survive(event, process, room, expected, samples):
    row = kept_judged(kept_session(str(samples / "style_transfer_reload.trace"))).report.aggregation[0]
    told = short_event(EventRow(replace(row, process=process), event, row.statistics), room)
    assert len(told) <= room
    assert told == expected
