"""Searching, walking evidence, measuring, bookmarks, copying and saving, with keys."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from textual.widgets import Input

from tracekit.trace.events import Attribution
from tracekit.trace.filter import EVENT_FRAMES
from tracekit.tui.commands.export import NameCheck
from tracekit.tui.commands.find import known_of
from tracekit.tui.detail.events import EventsPane
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.filtering import passing
from tracekit.tui.inspection.event import ATTRIBUTION_WORDS
from tracekit.tui.query import parse_filter
from tracekit.tui.screens.ask import AskScreen, ChooseScreen
from tracekit.tui.state import Bookmark, EventFilter, EventRef, FindingRef
from tracekit.tui.timeline.viewport import Span


@pytest.fixture
def reload_sample(samples: Path) -> Path:
    return samples / "style_transfer_reload.trace"


async def type_text(screen, text: str) -> None:
    """Type into the prompt, in place of what stands there, and confirm."""
    screen.app.screen.query_one(Input).value = text
    await screen.press("enter")


def test_a_filter_lists_what_passes_and_is_said(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("slash")
        assert isinstance(screen.app.screen, AskScreen)
        await type_text(screen, "kind:prediction model:mosaic >7ms")
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
        assert "only Mosaic, prediction, at least 7.00 ms" in screen.text()
        await screen.press("4")
        assert f"{len(passed)} predictions" in screen.text()
        # What was typed stands there again, to be changed.
        await screen.press("slash")
        assert "model:Mosaic kind:prediction >7ms" in screen.text()
        await screen.press("escape", "c")
        assert screen.state.filter == EventFilter()

    run_view(test, reload_sample)


def test_a_wrong_filter_is_explained_and_can_be_corrected(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("slash")
        await type_text(screen, "device:tpu")
        assert "'tpu' is no device here; there are ane, gpu." in " ".join(screen.text().split())
        assert not screen.state.filter.active
        await type_text(screen, "device:gpu")
        assert screen.state.filter == EventFilter(device="gpu")

    run_view(test, reload_sample)


def test_only_values_that_occur_can_be_filtered_by(reload_trace) -> None:
    known = known_of(reload_trace)
    assert "load" not in known.kinds
    assert {"load_cached", "prediction", "gpu_exec"} <= set(known.kinds)
    assert parse_filter("kind:load", known) == EventFilter(kind="load_cached")
    assert set(known.models) == set(reload_trace.models["name"])


def test_matches_are_walked_through_in_all_lanes_by_time(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("m")
        assert "No filter is set" in screen.text()
        await screen.press("slash")
        await type_text(screen, "device:gpu model:watercolor")
        trace, chosen = screen.state.session.trace, EventFilter(model="Watercolor", device="gpu")
        starts = np.sort(
            np.concatenate(
                [
                    getattr(trace, name)["start_ns"].to_numpy()[passing(getattr(trace, name), chosen, None)]
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
        assert "No match before" in screen.text()

    run_view(test, reload_sample)


def test_going_to_a_time_moves_cursor_and_view(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("w", "w", "w", "g")
        await type_text(screen, "0:08.5")
        assert screen.state.cursor_ns == 8_500_000_000
        view = screen.state.view
        assert abs(view.start_ns + view.span_ns // 2 - 8_500_000_000) <= 1
        await screen.press("g")
        await type_text(screen, "-250ms")
        assert screen.state.cursor_ns == 8_250_000_000
        await screen.press("g")
        await type_text(screen, "later")
        assert "is no time" in screen.text()
        await screen.press("escape", "g")
        await type_text(screen, "99999s")
        assert screen.state.cursor_ns == screen.state.bounds.end_ns - 1
        assert "The recording ends there" in screen.text()

    run_view(test, reload_sample)


def test_evidence_is_walked_through_and_leads_back(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("5", "full_stop")
        assert "No finding is selected" in screen.text()
        await screen.press("1", "down", "full_stop", "full_stop")
        check = screen.state.session.report.checks[1]
        assert screen.state.selection.finding == FindingRef(1, 1)
        row = screen.state.session.row(screen.state.selection.event)
        assert (row["table"], row["row"]) == (check.evidence[1].table, check.evidence[1].row)
        assert f"Evidence 2 of the 50 longest of {check.evidence_total}" in screen.text()
        await screen.press("comma", "comma")
        assert "This is the first of" in screen.text()
        await screen.press("F")
        assert screen.state.selection.finding == FindingRef(1)
        assert screen.state.selection.event is None
        # From the last interval there is no further one.
        await screen.press("comma", "full_stop")
        assert f"This is the last of the 50 longest: the report keeps no more of {check.evidence_total} intervals." in (
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
        assert "longest of" not in text

    run_view(test, reload_sample, size=(200, 50))


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
        await screen.press("escape", "5", "F")
        assert "evidence of no finding" in screen.text()
        # A reload that is not among the longest is one all the same.
        activity = screen.state.session.trace.activity
        loads = activity[(activity["model"] == check.model) & (activity["kind"] == "load_cached")]
        screen.app.select_event(EventRef("activity", int(loads["duration_ns"].idxmin())))
        await screen.press("F")
        assert "No finding lists the selected event" in screen.text()

    run_view(test, reload_sample, size=(200, 50))


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
        assert "belongs to no prediction" in screen.text()

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

    run_view(test, reload_sample, size=(200, 60))


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
        assert "There are no bookmarks" in screen.text()
        await screen.press("n", "b")
        first = int(screen.state.session.trace.activity["start_ns"][0])
        assert screen.state.bookmarks == (Bookmark(first, "Load (cached) · Watercolor"),)
        await screen.press("g")
        await type_text(screen, "3s")
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


def test_a_row_is_copied_as_markdown_without_private_names(run_view, samples: Path) -> None:
    async def test(screen) -> None:
        await screen.press("y")
        assert "There is no row" in screen.text()
        await screen.press("n", "y")
        lines = screen.app.clipboard.splitlines()
        assert lines[0] == "| start | duration | lane | event | model |"
        assert lines[2].endswith("| activity | Load (cached) | SharpenFilter |")
        assert "Copied the row as Markdown, 3 lines" in screen.text()
        others = screen.state.session.trace.hardware["process"].dropna().unique()
        foreign = next(name for name in others if name != "Sharpen")
        await screen.press("slash")
        await type_text(screen, f"kind:gpu_exec {foreign}")
        await screen.press("3", "down", "y")
        assert foreign not in screen.app.clipboard
        assert "process" in screen.app.clipboard

    run_view(test, samples / "sharpen_8bit.trace")


def test_a_finding_is_copied_as_markdown(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("5", "Y")
        assert "No finding is selected" in screen.text()
        await screen.press("1", "down", "Y")
        check = screen.state.session.report.checks[1]
        assert screen.app.clipboard.startswith("### Critical: The model is loaded again for each prediction\n")
        assert check.model in screen.app.clipboard
        assert "**Fix**" in screen.app.clipboard
        assert f"Copied the check {check.id} as Markdown" in screen.text()

    run_view(test, reload_sample)


def test_statistics_are_copied_of_the_range_or_of_all(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("ctrl+y")
        assert screen.app.clipboard.startswith("All of the recording\n\n| model | event |")
        assert "| `Pointillism` | `Load (cached)` | activity | 81 |" in screen.app.clipboard
        await screen.press("n", "V", "ctrl+y")
        assert screen.app.clipboard.startswith("Range of 18.36 ms, 00:00.612 – 00:00.630: what starts in it")
        assert "| `Watercolor` | `Load (cached)` | activity | 1 | 18.36 ms |" in screen.app.clipboard
        assert "Pointillism" not in screen.app.clipboard
        empty = Span(screen.state.bounds.start_ns, 1)
        screen.app.change(range=empty)
        await screen.press("ctrl+y")
        assert "nothing to copy" in screen.text()

    run_view(test, reload_sample)


def test_reports_are_saved_in_the_format_of_their_ending(run_view, reload_sample, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def test(screen) -> None:
        await screen.press("S", "enter")
        text = (tmp_path / "style_transfer_reload.md").read_text("utf-8")
        assert text.startswith("## 5 findings (5 critical) in 5 models")
        assert "Saved the report of the recording as style_transfer_reload.md" in screen.text()
        await screen.press("S")
        await type_text(screen, "a.json")
        saved = json.loads((tmp_path / "a.json").read_text("utf-8"))
        assert saved["recording"]["redacted"] is True
        assert saved["summary"]["findings"] == 5
        await screen.press("S")
        await type_text(screen, "a.pdf")
        assert "cannot tell the format" in screen.text()
        await type_text(screen, "missing/a.md")
        assert "There is no folder 'missing'" in screen.text()

    run_view(test, reload_sample)


def test_a_file_is_replaced_only_when_asked_twice(run_view, reload_sample, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    there = tmp_path / "style_transfer_reload.md"
    there.write_text("mine", "utf-8")

    async def test(screen) -> None:
        await screen.press("S", "enter")
        assert "is there already" in screen.text()
        await screen.press("escape")
        assert there.read_text("utf-8") == "mine"
        await screen.press("S", "enter", "enter")
        assert there.read_text("utf-8").startswith("## 5 findings")

    run_view(test, reload_sample)


def test_the_report_of_a_range_is_of_that_range(run_view, reload_sample, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def test(screen) -> None:
        await screen.press("R")
        assert "There is no range" in screen.text()
        activity = screen.state.session.trace.activity
        screen.app.change(range=Span(0, 3_000_000_000))
        await screen.press("R")
        await type_text(screen, "part.json")
        saved = json.loads((tmp_path / "part.json").read_text("utf-8"))
        inside = activity[activity["start_ns"] < 3_000_000_000]
        assert {model["name"] for model in saved["models"]} == set(inside["model"].dropna())
        assert sum(model["predictions"] for model in saved["models"]) == (inside["kind"] == "prediction").sum()
        assert any("from 0.000000 s to 3.000000 s" in note for note in saved["recording"]["notes"])
        assert "Saved the report of the range of 3.00 s" in screen.text()

    run_view(test, reload_sample)


def test_a_name_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    check = NameCheck()
    assert check(str(tmp_path / "new.txt")) == ""
    folder = tmp_path / "folder.md"
    folder.mkdir()
    assert "is a folder" in check(str(folder))
    there = tmp_path / "there.md"
    there.touch()
    assert "press enter again" in check(str(there))
    assert "press enter again" in check(str(there).replace("there", "./there"))
    assert check(str(there).replace("there", "./there")) == ""


def test_every_attribution_is_said_in_words() -> None:
    assert set(ATTRIBUTION_WORDS) == set(Attribution)


def test_walking_goes_on_from_where_one_went(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        starts = screen.state.session.trace.activity["start_ns"].to_numpy()

        def after(time_ns: int) -> int:
            return int(starts[np.searchsorted(starts, time_ns)])

        await screen.press("g")
        await type_text(screen, "2")
        await screen.press(*"wwwwn")
        assert screen.state.cursor_ns == after(2_000_000_000)
        await screen.press("v", "g")
        await type_text(screen, "4")
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


def test_without_the_inspector_the_status_line_names_the_selection(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("n")
        first = screen.state.session.trace.activity.iloc[0]
        assert f" {first['label']} · {first['model']} · " in screen.text().splitlines()[-2]
        await screen.press("i")
        assert " in view" in screen.text().splitlines()[-2]

    run_view(test, reload_sample, size=(80, 24))


@pytest.mark.parametrize(
    ("width", "told"),
    [
        (80, ["Load (cached)", "range"]),
        (100, ["Load (cached)", "00:00.000 – 00:16.481", "range"]),
        (120, ["Load (cached)", "00:00.000 – 00:16.481", "16.48 s in view", "range"]),
        (140, ["Load (cached)", "00:00.000 – 00:16.481", "16.48 s in view", "lanes grouped", "range"]),
    ],
)
def test_the_status_line_leaves_out_what_has_no_room_in_whole_parts(width, told, run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("n", "V")
        screen.app.change(inspector=False)
        await screen.settle()
        line = screen.text().splitlines()[-2]
        parts = line.strip().split("  ·  ")
        assert [part.startswith(words) for part, words in zip(parts, told, strict=True)] == [True] * len(told), line

    run_view(test, reload_sample, size=(width, 24))


def test_short_views_are_told_in_digits_that_differ(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("n", *"w" * 18)
        low, _, high = screen.text().splitlines()[-2].partition(" – ")
        assert "in view" in high
        assert low.split() != high.split(" · ")[0].split()
        assert screen.state.view.span_ns < 1_000_000

    run_view(test, reload_sample)
