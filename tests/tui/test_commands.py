"""Searching, walking evidence, measuring and bookmarks, with keys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from tracekit.trace.events import Attribution
from tracekit.trace.filter import EVENT_FRAMES
from tracekit.tui.actions import action_named
from tracekit.tui.commands.find import known_of
from tracekit.tui.detail.events import EventsPane
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.filtering import passing
from tracekit.tui.inspection.event import ATTRIBUTION_WORDS
from tracekit.tui.query import parse_filter
from tracekit.tui.screens.ask import AskScreen, ChooseScreen
from tracekit.tui.state import Bookmark, EventFilter, EventRef, FindingRef
from tracekit.tui.viewport import Span


def test_a_filter_lists_what_passes_and_is_said(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("slash")
        assert isinstance(screen.app.screen, AskScreen)
        await screen.answer("kind:prediction model:mosaic >7ms")
        chosen = EventFilter(model="Mosaic", kind="prediction", min_ns=7_000_000)
        assert screen.state.filter == chosen
        activity = screen.state.session.trace.activity
        passed = activity[
            (activity["model"] == "Mosaic")
            & (activity["kind"] == "prediction")
            & (activity["duration_ns"] >= 7_000_000)
        ]
        listed = screen.app.browse.query_one(EventsPane).query_one(RowList).rows
        assert [listed.ref(row).index for row in range(len(listed))] == list(passed.index)
        assert "Filter: Mosaic, prediction, ≥ 7 ms, c clears" in screen.text()
        await screen.press("4")
        assert f" {len(passed)} · filtered · N Neural Engine" in screen.text()
        # What was typed stands there again, to be changed.
        await screen.press("slash")
        assert "model:Mosaic kind:prediction >7ms" in screen.text()
        await screen.press("escape", "c")
        assert screen.state.filter == EventFilter()

    run_view(test, reload_sample)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_a_wrong_filter_is_explained_and_can_be_corrected(size, run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("slash")
        boxed = [line.split("│")[1] for line in screen.text().splitlines() if line.count("│") == 2]
        told = " ".join(" ".join(boxed).split())
        assert "device:ane|gpu, >5ms" in told
        # All of them, on as many lines as it takes.
        kinds = known_of(screen.state.session.trace).kinds
        assert len(kinds) > 10
        assert ", ".join(kinds) in told
        await screen.answer("device:tpu")
        assert "Unknown device 'tpu'. Available: gpu, ane." in " ".join(screen.text().split())
        assert not screen.state.filter.active
        await screen.answer("device:gpu")
        assert screen.state.filter == EventFilter(device="gpu")

    run_view(test, reload_sample, size=size)


def test_only_values_that_occur_can_be_filtered_by(reload_trace) -> None:
    known = known_of(reload_trace)
    assert "load" not in known.kinds
    assert {"load_cached", "prediction", "gpu_exec"} <= set(known.kinds)
    assert parse_filter("kind:load", known) == EventFilter(kind="load_cached")
    assert set(known.models) == set(reload_trace.models["name"])


def test_matches_are_walked_through_in_all_lanes_by_time(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("m")
        assert "No filter set" in screen.text()
        await screen.press("slash")
        await screen.answer("device:gpu model:watercolor")
        trace, chosen = screen.state.session.trace, EventFilter(model="Watercolor", device="gpu")
        starts = np.sort(
            np.concatenate(
                [
                    getattr(trace, name)["start_ns"].to_numpy()[passing(trace, name, chosen, None)]
                    for name in EVENT_FRAMES
                ]
            )
        )
        await screen.press("m")
        assert screen.state.cursor_ns == starts[0]
        await screen.press("m", "m")
        assert screen.state.cursor_ns == starts[2]
        assert f"Match 3 of {len(starts)}" in screen.text()
        await screen.press("M")
        assert screen.state.cursor_ns == starts[1]
        await screen.press("M", "M")
        assert "No earlier match" in screen.text()

    run_view(test, reload_sample)


def test_going_to_a_time_moves_cursor_and_view(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("w", "w", "w", "g")
        await screen.answer("0:08.5")
        assert screen.state.cursor_ns == 8_500_000_000
        view = screen.state.view
        assert abs(view.start_ns + view.span_ns // 2 - 8_500_000_000) <= 1
        await screen.press("g")
        await screen.answer("-250ms")
        assert screen.state.cursor_ns == 8_250_000_000
        await screen.press("g")
        await screen.answer("later")
        assert "Invalid time 'later'" in screen.text()
        await screen.press("escape", "g")
        await screen.answer("99999s")
        assert screen.state.cursor_ns == screen.state.bounds.end_ns - 1
        assert "Past the end; moved to" in screen.text()

    run_view(test, reload_sample)


def test_evidence_is_walked_through_and_leads_back(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("5", "full_stop")
        assert "No finding selected" in screen.text()
        await screen.press("1", "down", "full_stop", "full_stop")
        check = screen.state.session.report.checks[1]
        assert screen.state.selection.finding == FindingRef(1, 1)
        row = screen.state.session.row(screen.state.selection.event)
        assert (row["table"], row["row"]) == (check.evidence[1].table, check.evidence[1].row)
        assert f"Evidence 2 of the 50 longest ({check.evidence_total} in all)" in screen.text()
        await screen.press("comma", "comma")
        assert f"This is the longest of {check.evidence_total} intervals" in screen.text()
        await screen.press("F")
        assert screen.state.selection.finding == FindingRef(1)
        assert screen.state.selection.event is None
        # From the last interval there is no further one.
        await screen.press("comma", "full_stop")
        assert f"This is the last of the 50 longest; the report keeps no more of {check.evidence_total} intervals." in (
            screen.text()
        )

    run_view(test, reload_sample, size=(200, 50))


def test_the_last_interval_of_evidence_that_is_there_in_full_is_the_last(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        session = screen.state.session
        first = session.report.checks[0]
        whole = replace(first, evidence=first.evidence[:3], evidence_total=3)
        report = replace(session.report, checks=(whole, *session.report.checks[1:]))
        screen.app.change(sessions=(replace(session, report=report),))
        await screen.press("1", "full_stop", "full_stop", "full_stop", "full_stop")
        text = screen.text()
        assert "Evidence 3 of 3" in text
        assert "This is the last of 3 intervals." in text
        assert "in all" not in text

    run_view(test, reload_sample, size=(200, 50))


def test_while_the_detectors_are_at_work_no_event_is_called_evidence_of_nothing(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("n")
        screen.app.change(sessions=(replace(screen.state.session, report=None),))
        await screen.press("F")
        assert "The checks are still running" in screen.text()

    run_view(test, reload_sample)


def test_walking_begins_at_the_finding_that_has_the_cursor_at_first(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("full_stop")
        assert screen.state.selection.finding == FindingRef(0, 0)

    run_view(test, reload_sample)


def test_an_event_leads_to_the_finding_that_it_is_evidence_of(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        check = screen.state.session.report.checks[0]
        event = screen.state.session.locate(check.evidence[0])
        screen.app.select_event(event)
        await screen.settle()
        assert "evidence of" in screen.text()
        await screen.press("3", "F")
        assert screen.state.pane == "findings"
        assert screen.state.selection.finding == FindingRef(0, 0)
        assert screen.state.opened == 0
        # A reload that is not among the longest is one all the same.
        activity = screen.state.session.trace.activity
        loads = activity[(activity["model"] == check.model) & (activity["kind"] == "load_cached")]
        screen.app.select_event(EventRef("activity", int(loads["duration_ns"].idxmin())))
        await screen.press("F")
        assert screen.state.selection.finding == FindingRef(0)
        # The first load of a model is none.
        every = activity[(activity["model"] == check.model) & activity["kind"].str.startswith("load")]
        assert len(every) == check.evidence_total + 1
        screen.app.select_event(EventRef("activity", int(every["start_ns"].idxmin())))
        await screen.press("F")
        assert "The selected event is not evidence of a finding." in screen.text()

    run_view(test, reload_sample, size=(200, 50))


@pytest.mark.parametrize("key", ["F", "P", "V"])
def test_what_needs_an_event_says_that_none_is_selected(key, run_view, reload_sample) -> None:
    async def test(screen) -> None:
        for before in ((), ("1", "down")):
            await screen.press(*before, key)
            assert screen.state.selection.event is None
            assert "No event selected; press n or click one." in screen.text()

    run_view(test, reload_sample)


@pytest.mark.parametrize("key", ["enter", "n", "E"])
def test_a_lane_without_events_says_so(key, run_view, samples: Path) -> None:
    async def test(screen) -> None:
        assert screen.state.session.trace.compute.empty
        screen.app.change(lane="compute")
        await screen.press(key)
        assert "This lane has no events; choose another with ↑ and ↓." in screen.text()

    run_view(test, samples / "captions_concurrent.trace")


def test_the_way_back_from_a_walk_is_one_key_and_the_help_says_so(run_view, reload_sample) -> None:
    assert "before a series of steps" in action_named("back").help

    async def test(screen) -> None:
        await screen.press("n", "f")
        before = screen.state.view
        await screen.press("1", "full_stop")
        first = screen.state.view
        await screen.press("full_stop", "comma", "full_stop", "left_square_bracket")
        assert before != first
        assert screen.state.view == before

    run_view(test, reload_sample)


def test_an_event_leads_to_its_prediction(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        trace = screen.state.session.trace
        within = np.flatnonzero(trace.hardware["prediction"].notna().to_numpy())
        index = int(within[len(within) // 2])
        screen.app.select_event(EventRef("hardware", index))
        await screen.press("P")
        prediction = int(trace.hardware["prediction"][index])
        assert screen.state.selection.prediction == prediction
        assert "Where its time went" in screen.text()
        span = screen.state.session.span(EventRef("activity", prediction))
        assert screen.state.view.span_ns == pytest.approx(span.span_ns * 1.2, rel=0.01)
        loads = np.flatnonzero((trace.activity["kind"] == "load_cached").to_numpy())
        screen.app.select_event(EventRef("activity", int(loads[0])))
        await screen.press("P")
        assert "does not belong to a known prediction" in screen.text()

    run_view(test, reload_sample, size=(200, 50))


def test_two_events_are_measured_from_edge_to_edge(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        activity = screen.state.session.trace.activity
        starts = activity["start_ns"].to_numpy()
        ends = starts + activity["duration_ns"].to_numpy()
        # From the later one back to the first: the order does not matter.
        await screen.press("n", "n", "n", "v", "p", "p", "v")
        assert screen.state.range == Span(int(starts[0]), int(ends[2] - starts[0]))
        assert screen.state.ends == (
            Span(int(starts[0]), int(ends[0] - starts[0])),
            Span(int(starts[2]), int(ends[2] - starts[2])),
        )
        text = " ".join(screen.text().split())
        assert f"({starts[2] - ends[0]:,} ns)" in text
        assert f"({starts[2] - starts[0]:,} ns)" in text
        assert "start – start" in text
        await screen.press("escape")
        assert screen.state.ends is None

    run_view(test, reload_sample, size=(200, 80))


def test_a_cursor_beside_an_event_snaps_to_its_edge(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        activity = screen.state.session.trace.activity
        start = int(activity["start_ns"][0])
        screen.app.change(cursor_ns=start - 1_000)
        await screen.press("v")
        assert screen.state.mark == Span(start, 0)
        far = int(activity["start_ns"][10])
        screen.app.change(cursor_ns=far - 1_000)
        await screen.press("v")
        assert screen.state.range == Span(start, far - start)

    run_view(test, reload_sample)


def test_bookmarks_are_set_listed_visited_and_taken_away(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("B")
        assert "No bookmarks" in screen.text()
        await screen.press("n", "b")
        first = int(screen.state.session.trace.activity["start_ns"][0])
        assert screen.state.bookmarks == (Bookmark(first, "Load (cached) · Watercolor"),)
        await screen.press("g")
        await screen.answer("3s")
        await screen.press("b")
        assert [entry.time_ns for entry in screen.state.bookmarks] == [first, 3_000_000_000]
        assert "◇" in screen.text()
        await screen.press("apostrophe")
        assert screen.state.cursor_ns == first
        await screen.press("B")
        assert isinstance(screen.app.screen, ChooseScreen)
        await screen.press("down", "enter")
        assert screen.state.cursor_ns == 3_000_000_000
        await screen.press("b")
        assert [entry.time_ns for entry in screen.state.bookmarks] == [first]

    run_view(test, reload_sample)


def test_every_attribution_is_said_in_words() -> None:
    assert set(ATTRIBUTION_WORDS) == set(Attribution)


def test_walking_goes_on_from_where_one_went(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        starts = screen.state.session.trace.activity["start_ns"].to_numpy()

        def after(time_ns: int) -> int:
            return int(starts[np.searchsorted(starts, time_ns)])

        await screen.press("g")
        await screen.answer("2")
        await screen.press(*"wwwwn")
        assert screen.state.cursor_ns == after(2_000_000_000)
        await screen.press("v", "g")
        await screen.answer("4")
        await screen.press("n", "v")
        assert screen.state.cursor_ns == after(4_000_000_000)
        assert screen.state.range.start_ns == after(2_000_000_000)
        assert screen.state.range.end_ns > after(4_000_000_000)
        await screen.press(*"dddddddd")
        left, right = screen.state.view.start_ns, screen.state.view.end_ns
        assert left > screen.state.cursor_ns
        await screen.press("n")
        assert screen.state.cursor_ns == after(left)
        await screen.press(*"dddddddd", "N")
        assert left < screen.state.cursor_ns < screen.state.view.end_ns
        assert screen.state.cursor_ns > right

    run_view(test, reload_sample)


def test_an_event_that_is_chosen_elsewhere_takes_the_list_of_findings_along(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("1", "enter", "down")
        rows = screen.app.focused
        interval = rows.rows.rows[rows.cursor].ref
        assert interval == FindingRef(0, 0)
        await screen.press("n")
        # The event after a reload is its prediction, no evidence: the finding has the cursor again.
        assert rows.rows.rows[rows.cursor].ref == FindingRef(0)
        await screen.press("p")
        assert rows.rows.rows[rows.cursor].ref == interval

    run_view(test, reload_sample)


def test_a_result_that_comes_when_the_app_was_left_is_dropped(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        app, held, shown, seen = screen.app, [], [], Event()

        def call_later(show) -> None:
            # A thread waits until the app has called it back.
            held.append(show)
            seen.wait(30)

        app.call_from_thread = call_later
        app.in_background(lambda: "in time", shown.append)
        app.in_background(lambda: "late", shown.append)
        while len(held) < 2:
            await screen.pilot.pause()
        held[0]()
        app.leave()
        held[1]()
        seen.set()
        assert len(shown) == 1

    run_view(test, reload_sample)


def test_what_became_of_a_report_is_said_in_the_room_there_is(run_view, reload_sample, tmp_path: Path) -> None:
    async def test(screen) -> None:
        await screen.press("n", "V", "R")
        await screen.answer(str(tmp_path / "range.md"))
        line = screen.text().splitlines()[-2]
        assert line.endswith(("range.md", "private data is redacted."))

    run_view(test, reload_sample)
