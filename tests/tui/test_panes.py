"""The lists of the detail area: what they count, how they are sorted, and where they lead."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from textual import events

from tracekit.api import judge
from tracekit.report.time_breakdown import GROUPS
from tracekit.trace.filter import EVENT_FRAMES, everything, narrowed, only_range
from tracekit.tui.detail.aggregation import AggregationPane, Line, filter_of, lines_of, short_event
from tracekit.tui.detail.events import EventsPane, event_rows
from tracekit.tui.detail.models import ModelsPane
from tracekit.tui.detail.predictions import PredictionsPane
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.filtering import passing, ranks
from tracekit.tui.prediction_table import calls_of
from tracekit.tui.state import EventFilter, EventRef, Sort
from tracekit.tui.theme import PALETTES


def listed(screen, pane) -> RowList:
    return screen.app.browse.query_one(pane).query_one(RowList)


def column(screen, pane, title: str) -> list[str]:
    """All texts of a column."""
    rows = listed(screen, pane).rows
    at = [entry.title for entry in rows.columns].index(title)
    return [rows.cells(row, PALETTES[True])[at].text for row in range(len(rows))]


async def drag_range(screen) -> None:
    """From the fifth event of the lane to the eleventh."""
    await screen.press("n", "n", "n", "n", "n", "v", "n", "n", "n", "n", "n", "n", "v")


@pytest.mark.parametrize("pane", ["1", "2", "3", "4", "5"])
def test_no_key_of_a_burst_is_lost_in_a_list(pane, run_view, reload_sample) -> None:
    async def burst(screen, *keys: str) -> None:
        for key in keys:
            screen.app.post_message(events.Key(key, None))
        await screen.settle()

    async def test(screen) -> None:
        await screen.press(pane, "home")
        rows = screen.app.focused
        await burst(screen, "down", "down", "down", "up", "down")
        assert rows.cursor == 3
        await burst(screen, "up", "up", "down", "down")
        assert rows.cursor == 3
        assert rows._ahead == []
        await burst(screen, "pagedown", "pagedown")
        assert rows.cursor == min(3 + 2 * rows.page, rows.count - 1)

    run_view(test, reload_sample)


def test_what_is_chosen_elsewhere_moves_the_cursor_after_keys_did(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("4", "home", "down", "down")
        rows = screen.app.focused
        assert rows.cursor == 2
        index = rows.rows.index(7)
        screen.app.select_event(EventRef("activity", index))
        await screen.settle()
        assert rows.cursor == 7

    run_view(test, reload_sample)


def test_enter_in_a_burst_opens_the_row_that_was_reached(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("3")
        for key in ("1", "home", "down", "down", "enter"):
            screen.app.post_message(events.Key(key, None))
        await screen.settle()
        assert screen.state.opened == screen.state.session.report.checks.index(
            [check for check in screen.state.session.report.checks if check.outcome == "finding"][2]
        )

    run_view(test, reload_sample)


def test_no_step_of_a_burst_through_evidence_is_lost(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        for _ in range(5):
            screen.app.post_message(events.Key("full_stop", "."))
        await screen.settle()
        assert screen.state.selection.finding.evidence == 4

    run_view(test, reload_sample)


def test_the_aggregation_is_that_of_the_report_by_sum(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("2")
        rows = listed(screen, AggregationPane).rows
        activity = screen.state.session.trace.activity
        sums = activity.groupby(["label", "model"], observed=True)["duration_ns"].sum()
        best = sums.idxmax()
        assert (rows.records[0].shown.event, rows.records[0].source.model) == best
        assert rows.records[0].source.statistics.total_ns == sums.max()
        order = [line.shown.statistics.total_ns for line in rows.records]
        assert order == sorted(order, reverse=True)
        assert len(order) > 20
        assert "whole recording" in screen.text()

    run_view(test, reload_sample)


def test_every_column_of_the_aggregation_sorts_both_ways(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("2")
        pane = screen.app.browse.query_one(AggregationPane)
        shown = [entry.title for entry in listed(screen, AggregationPane).shown]
        assert shown[:4] == ["event", "model", "lane", "count"]
        sorted_by = []

        def values(at: int) -> list:
            found = [pane._rows.fields[at].value(record) for record in pane._rows.records]
            # Texts stand in the order in which people look for them.
            return [value.casefold() if isinstance(value, str) else value for value in found if value is not None]

        for _ in shown:
            await screen.press("o")
            sort = screen.state.sorts["aggregation"]
            sorted_by.append(sort.column)
            at = pane.titles.index(sort.column)
            known = values(at)
            assert known == sorted(known, reverse=sort.descending)
            await screen.press("O")
            assert values(at) == sorted(known, reverse=not sort.descending)
        assert sorted(sorted_by) == sorted(shown)
        screen.app.change(sorts={"aggregation": Sort("event", descending=False)})
        await screen.settle()
        events = list(dict.fromkeys(line.shown.event for line in pane._rows.records))
        assert events[:3] == ["GPU execution", "GPU execution, backboardd (66)", "GPU Request"]

    run_view(test, reload_sample, size=(200, 50))


def test_a_click_on_a_title_sorts_and_a_second_one_turns_it_round(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("3")
        await screen.pilot.click(listed(screen, EventsPane), offset=(20, 0))
        await screen.settle()
        assert screen.state.sorts["events"] == Sort("duration", descending=True)
        rows = listed(screen, EventsPane).rows
        frames = [getattr(screen.state.session.trace, name) for name in EVENT_FRAMES]
        longest = max(int(frame["duration_ns"].max()) for frame in frames if len(frame))
        assert int(screen.state.session.row(rows.ref(0))["duration_ns"]) == longest
        await screen.pilot.click(listed(screen, EventsPane), offset=(20, 0))
        await screen.settle()
        assert screen.state.sorts["events"] == Sort("duration", descending=False)
        # Remembered while the user looks elsewhere.
        await screen.press("2", "3")
        assert int(screen.state.session.row(listed(screen, EventsPane).rows.ref(0))["duration_ns"]) < longest

    run_view(test, reload_sample)


def test_facts_are_not_sorted_and_say_so(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("6", "O")
        assert "Nothing to sort here" in screen.text()
        assert screen.state.sorts == {}

    run_view(test, reload_sample)


def test_the_aggregation_of_a_range_counts_what_starts_in_it(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await drag_range(screen)
        await screen.press("2")
        span = screen.state.range
        activity = screen.state.session.trace.activity
        starts = activity["start_ns"].to_numpy()
        inside = activity[(starts >= span.start_ns) & (starts < span.end_ns)]
        rows = listed(screen, AggregationPane).rows
        for label in ("Prediction", "Load (cached)"):
            counts = [line.source.statistics.count for line in rows.records if line.shown.event == label]
            assert sum(counts) == (inside["label"] == label).sum() > 0
        assert "events starting in range" in screen.text()
        # Each prediction of this sample follows a load.
        assert not [line for line in rows.records if "warm" in line.shown.event]

    run_view(test, reload_sample)


def test_a_row_of_the_aggregation_leads_to_the_events_that_it_counts(run_view, samples: Path) -> None:
    async def test(screen) -> None:
        trace = screen.state.session.trace
        lines = screen.state.session.report.aggregation
        assert len(lines) > 5
        for row in lines:
            chosen = filter_of(row)
            passed = sum(int(passing(trace, name, chosen, None).sum()) for name in EVENT_FRAMES)
            assert passed == row.statistics.count, row.label
        await screen.press("2", "enter")
        assert screen.state.pane == "events"
        assert len(listed(screen, EventsPane).rows) == lines[0].statistics.count
        assert heading(screen, EventsPane).startswith(f"{lines[0].statistics.count:,} events · ")

    run_view(test, samples / "sharpen_8bit.trace", size=(200, 50))


def test_the_predictions_are_those_that_the_app_called(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("4")
        activity = screen.state.session.trace.activity
        called = activity[(activity["kind"] == "prediction") & (activity["level"] == "top")]
        rows = listed(screen, PredictionsPane).rows
        assert [rows.index(row) for row in range(len(rows))] == list(called.index)
        # Each prediction of this sample follows a load of its own.
        assert set(column(screen, PredictionsPane, "phase")) == {"first"}
        assert "N Neural Engine, G GPU" in screen.text()
        await screen.press("o")
        assert screen.state.sorts["predictions"] == Sort("duration", descending=True)
        rows = listed(screen, PredictionsPane).rows
        assert int(activity["duration_ns"][rows.index(0)]) == called["duration_ns"].max()

    run_view(test, reload_sample)


def test_a_prediction_is_chosen_from_its_list_and_zoomed_to(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("4", "down", "down")
        chosen = screen.state.selection
        called = listed(screen, PredictionsPane).rows
        assert chosen.prediction == called.index(2)
        assert chosen.event == EventRef("activity", chosen.prediction)
        await screen.press("enter")
        span = screen.state.session.span(chosen.event)
        assert screen.state.view.span_ns == pytest.approx(span.span_ns * 1.2, rel=0.01)

    run_view(test, reload_sample)


def test_the_parts_of_every_prediction_are_its_duration(reload_trace) -> None:
    calls = calls_of(reload_trace)
    assert len(calls) > 100
    assert (calls.time_ns.sum(axis=0) == calls.durations).all()
    for place in (0, len(calls) - 1):
        row = calls.parts(place)
        assert sum(part.share for part in row.slices) == pytest.approx(1)
        assert len(row.bar(37)) == 37
    assert calls.position(int(calls.index[3])) == 3
    loads = np.flatnonzero((reload_trace.activity["kind"] == "load_cached").to_numpy())
    assert calls.position(int(loads[0])) is None


def test_signs_of_bars_are_unique() -> None:
    assert len({group.sign for group in GROUPS}) == len(GROUPS)


def test_models_are_listed_with_their_facts(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("5", "down")
        trace = screen.state.session.trace
        names = column(screen, ModelsPane, "model")
        assert set(names) == set(trace.models["name"])
        assert screen.state.selection.model == names[1]
        of_model = trace.activity[trace.activity["model"] == names[1]]
        loads = int((of_model["kind"] == "load_cached").sum())
        text = " ".join(screen.text().split())
        assert f"loads {loads} " in text
        assert "calls/s" in text
        await screen.press("enter")
        assert screen.state.filter == EventFilter(model=names[1])

    run_view(test, reload_sample, size=(200, 50))


def test_columns_can_be_hidden_and_stay_so(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("4", "C")
        await screen.press("space", "down", "down", "space", "escape")
        assert screen.state.hidden == {("predictions", "start"), ("predictions", "model")}
        shown = [entry.title for entry in listed(screen, PredictionsPane).shown]
        assert "start" not in shown
        assert "model" not in shown
        assert "duration" in shown
        await screen.press("2", "4")
        assert [entry.title for entry in listed(screen, PredictionsPane).shown] == shown
        await screen.press("6", "C")
        assert "No columns to choose" in screen.text()

    run_view(test, reload_sample)


def test_the_last_column_cannot_be_hidden(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("4", "C", *["space", "down"] * 6, "escape")
        assert screen.state.hidden == frozenset()
        assert "At least one column must stay" in screen.text()

    run_view(test, reload_sample)


def test_events_of_all_frames_sort_by_text_with_nameless_ones_last(reload_trace) -> None:
    rows = event_rows(reload_trace, EventFilter(), None, Sort("model", descending=False))
    models = [getattr(reload_trace, rows.ref(row).frame)["model"].iloc[rows.ref(row).index] for row in range(len(rows))]
    named = [str(model).casefold() for model in models if isinstance(model, str)]
    assert named == sorted(named)
    assert all(isinstance(model, str) for model in models[: len(named)])
    assert len(rows) == sum(len(getattr(reload_trace, name)) for name in EVENT_FRAMES)


def test_ranks_put_texts_in_order_and_none_last(reload_trace) -> None:
    column = reload_trace.hardware["model"]
    found = ranks(column)
    assert (found[column.isna().to_numpy()] == found.max()).all()
    texts = column.dropna().unique().astype(str)
    by_rank = sorted(texts, key=lambda text: found[(column == text).to_numpy()][0])
    assert by_rank == sorted(texts, key=str.casefold)


def test_rows_that_name_no_model_can_be_asked_for(reload_trace) -> None:
    hardware = reload_trace.hardware
    passed = passing(reload_trace, "hardware", EventFilter(model=""), None)
    assert passed.sum() == hardware["model"].isna().sum() > 0


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (110, 30)])
def test_all_tabs_of_two_recordings_are_there_in_full_words(size, run_view, reload_sample, samples: Path) -> None:
    async def test(screen) -> None:
        assert "1–8 panes" in screen.text()
        line = next(line for line in screen.text().splitlines() if "1 Findings" in line)
        assert "8 Diff" in line
        assert "…" not in line
        assert "style_transfer_reload → style_transfer_fixed  1 finding fixed" in screen.text()

    run_view(test, reload_sample, samples / "style_transfer_fixed.trace", size=size)


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
def test_the_ends_by_which_events_differ_survive(event, process, room, expected, reload_trace) -> None:
    line = lines_of(judge(reload_trace, only=["reload-before-predict"]).aggregation[:1])[0]
    named = Line(replace(line.source, process=process), replace(line.shown, event=event))
    told = short_event(named, room)
    assert len(told) <= room
    assert told == expected


def heading(screen, pane) -> str:
    return str(screen.app.browse.query_one(pane).query_one(".heading").render())


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
def test_the_line_above_a_list_is_never_cut(size, run_view, reload_sample) -> None:
    async def test(screen) -> None:
        for inspector in (False, True):
            screen.app.change(inspector=inspector and size[0] > 110)
            await screen.settle()
            await screen.press("4")
            assert heading(screen, PredictionsPane).startswith("373 ")
            assert heading(screen, PredictionsPane).endswith("N Neural Engine, G GPU, d data, q queued, · unaccounted")
            assert heading(screen, PredictionsPane) in screen.text()
            await screen.press("5")
            assert heading(screen, ModelsPane).startswith("5 models · N Neural Engine, ")
            assert heading(screen, ModelsPane) in screen.text()
        await drag_range(screen)
        await screen.press("slash")
        await screen.answer("device:ane")
        await screen.press("5")
        assert not heading(screen, ModelsPane).endswith("…")
        assert heading(screen, ModelsPane).startswith(("whole recording, not filtered", "unfiltered"))
        await screen.press("c", "2")
        assert "events starting in range" in heading(screen, AggregationPane)
        assert heading(screen, AggregationPane) in screen.text()

    run_view(test, reload_sample, size=size)


@pytest.mark.parametrize(
    ("inferred", "line", "few"),
    [
        (373, "373 predictions, inferred from hardware", "373, inferred · "),
        (2, "373 predictions, 2 inferred", "373, 2 inferred · "),
    ],
)
def test_the_line_above_inferred_predictions_says_so(inferred, line, few, run_view, reload_sample) -> None:
    async def test(screen) -> None:
        session = screen.state.session
        calls = replace(session.calls, inferred=np.arange(len(session.calls)) < inferred)
        screen.app.change(sessions=(replace(session, calls=calls),))
        await screen.press("4")
        assert column(screen, PredictionsPane, "phase").count("–") == inferred
        assert heading(screen, PredictionsPane).startswith(few)
        await screen.press("i")
        assert heading(screen, PredictionsPane).startswith(line)

    run_view(test, reload_sample)


def test_names_of_the_aggregation_are_whole_where_there_is_room(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("2")
        assert screen.text().count("Neural Engine execution ") >= 4
        assert "Neural Engine Request " in screen.text()

    run_view(test, reload_sample, size=(200, 50))


def test_a_recording_without_events_says_so_in_every_list(run_view, samples: Path) -> None:
    async def test(screen) -> None:
        session = screen.state.session
        whole = session.trace
        emptied = narrowed(whole, only_range(everything(whole), whole, -2, -1))
        report = judge(emptied, only=["reload-before-predict"])
        bare = replace(session, trace=emptied, report=report, calls=calls_of(emptied))
        screen.app.change(sessions=(bare,))
        await screen.press("2")
        assert "No events in this recording" in screen.text()
        await screen.press("3")
        assert "No events in this recording" in screen.text()
        await screen.press("4")
        assert "No predictions in this recording" in screen.text()
        # No filter keeps away what there is not.
        filtered = replace(screen.state, filter=EventFilter(text="x"))
        for pane, what in ((AggregationPane, "event"), (EventsPane, "event"), (PredictionsPane, "prediction")):
            rows = screen.app.browse.query_one(pane).make(filtered)
            assert rows.empty.startswith(f"No {what}s in this recording")
        await screen.press("5")
        assert "No rows are attributed to a model" in screen.text()

    run_view(test, samples / "sharpen_8bit.trace", size=(200, 50))


def test_enter_zooms_to_the_first_prediction_before_any_was_chosen(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("4", "enter")
        assert screen.state.selection.prediction is not None
        calls, span = screen.state.session.calls, screen.state.view
        assert span.start_ns <= calls.starts[0] < calls.starts[0] + calls.durations[0] <= span.end_ns
        assert span.span_ns < 100 * calls.durations[0]

    run_view(test, reload_sample)


def test_what_was_selected_while_a_list_was_hidden_has_its_cursor(run_view, samples: Path) -> None:
    async def test(screen) -> None:
        await screen.press("4", "home")
        rows = screen.app.focused
        for key in ("down", "down", "down", "1"):
            screen.app.post_message(events.Key(key, None))
        await screen.settle()
        screen.app.select_event(EventRef("activity", rows.rows.index(2)))
        await screen.settle()
        await screen.press("4")
        assert rows.cursor == 2

    run_view(test, samples / "sharpen_8bit.trace")
