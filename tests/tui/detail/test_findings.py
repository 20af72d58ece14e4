"""The list of findings: one row each, and the other checks listed once per detector and outcome."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui.conftest import kept_judged, kept_session
from tracekit.render.blocks import plain
from tracekit.tui.detail.columns import column_widths, headings
from tracekit.tui.detail.findings import FindingsPane, check_rows
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.screens.browse import WIDE
from tracekit.tui.state import NOTHING, FindingRef, Sort


def texts(rows) -> list[list[str]]:
    return [[plain(column.text(rows.record(row))) for column in rows.columns] for row in range(len(rows))]


RELOADED = "The model is reloaded before every prediction"


@pytest.fixture
def report(samples):
    return kept_judged(kept_session(str(samples / "style_transfer_reload.trace"))).report


async def test_findings_come_one_by_one_and_rows_of_several_models_open_and_shut(screen):
    listed = screen.app.browse.query_one(FindingsPane).query_one(RowList)
    shown = texts(listed.rows)
    # The sample reloads each of its five models; the other two detectors have nothing to say of any.
    assert [line[1] for line in shown[:5]] == [RELOADED] * 5
    assert {line[2] for line in shown[:5]} == {"Pointillism", "InkWash", "StainedGlass", "Watercolor", "Mosaic"}
    assert sorted(line[:3] for line in shown[5:]) == [
        ["", "passed: concurrent-predictions", "5 models"],
        ["", "passed: excess-data-copies", "5 models"],
    ]
    await screen.press("1", "end")
    head = listed.cursor
    before = len(listed.rows)
    await screen.press("enter", "down", "down")
    assert len(listed.rows) == before + 5
    assert listed.cursor == head + 2
    checks = screen.state.session.report.results
    assert checks[screen.state.selection.finding.check].model == texts(listed.rows)[head + 2][2]
    await screen.press("enter")
    assert len(listed.rows) == before
    assert listed.cursor == head
    # The inspector names the models of which the same is said.
    check = checks[screen.state.selection.finding.check]
    alike = [other.model for other in checks if (other.id, other.summary) == (check.id, check.summary)]
    assert len(alike) > 1
    told = " ".join(screen.text().partition("also for")[2].split())
    assert all(model in told for model in alike if model != check.model)
    await screen.press("home")
    assert "also for" not in screen.text()


def test_a_check_without_a_row_of_its_own_is_found_in_the_one_that_it_shares(report):
    last = len(report.results) - 1
    shut, opened = check_rows(report, None), check_rows(report, last)
    assert last in shut.rows[shut.row_of(FindingRef(last), 0)].alike
    assert opened.rows[opened.row_of(FindingRef(last), 0)].ref == FindingRef(last)
    assert shut.row_of(FindingRef(0, 3), 0) is None


def test_reasons_that_differ_are_not_told_as_one(report):
    same = tuple(replace(check, summary="Alike.") for check in report.results)
    other = (*same[:-1], replace(same[-1], summary="Something else."))
    assert texts(check_rows(replace(report, results=same), None))[-1][-1] == "Alike."
    assert "enter lists them" in texts(check_rows(replace(report, results=other), None))[-1][-1]


def test_intervals_have_their_times_under_a_heading_of_their_own(report):
    rows = check_rows(report, 0)
    titles = [column.title for column in rows.columns]
    lines = texts(rows)
    evidence = report.results[0].evidence
    assert len(evidence) == 50
    for at, entry in enumerate(evidence):
        line = dict(zip(titles, lines[1 + at], strict=True))
        assert line["duration"] == f"{(entry.end_ns - entry.start_ns) / 1e6:.1f} ms"
        assert line["est. savings"] == line["share"] == ""
    assert dict(zip(titles, lines[0], strict=True))["duration"] == ""
    lengths = [entry.end_ns - entry.start_ns for entry in evidence]
    assert lengths == sorted(lengths, reverse=True)
    assert "duration" not in [column.title for column in check_rows(report, None).columns]
    # The two numbers that matter stay where there is little room.
    for width in (74, 79):
        shown = [
            column.title for column, room in zip(rows.columns, column_widths(rows.columns, width), strict=True) if room
        ]
        assert shown[:5] == ["outcome", "finding", "model", "duration", "est. savings"]


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.sweep)])
async def test_what_was_seen_is_said_above_the_list_where_it_has_no_column(screen, size):
    await screen.press("1", "down")
    shown = " ".join(screen.text().split())
    assert "summary" not in shown
    first = screen.state.session.report.results[1].summary.partition(":")[0]
    assert len(first) > 20
    assert first in shown
    assert ("i for more" in shown) == (not screen.state.inspector)
    await screen.press("enter", "down")
    shown = " ".join(screen.text().split())
    # The second model is loaded again more often than intervals are kept.
    total = screen.state.session.report.results[1].evidence_total
    assert total > 50
    assert f"Load (cached) · interval 1 of the 50 longest ({total} in all)" in shown


@pytest.mark.parametrize(
    ("total", "room", "expected"),
    [
        (50, 58, "Mamba/Op0+++…++s/Command · interval 2 of 50, longest first"),
        (50, 57, f"Mamba/Op0{'+' * 10}…{'+' * 9}s/Command · interval 2 of 50"),
        (50, 27, "Mamb…and · interval 2 of 50"),
        (50, 26, "interval 2 of 50"),
        (1234, 70, "Mamba/Op0+++…++s/Command · interval 2 of the 50 longest (1,234 in all)"),
        (1234, 34, "Mamb…and · interval 2 of 50 listed"),
        (1234, 33, "interval 2 of 50 listed"),
    ],
)
def test_the_number_of_an_interval_is_told_before_all_of_its_name(report, total, room, expected):
    first = report.results[0]
    named = tuple(replace(entry, label=f"Mamba/Op0{'+' * 60}s/Command") for entry in first.evidence)
    shown = replace(first, evidence=named, evidence_total=total)
    rows = check_rows(replace(report, results=(shown, *report.results[1:])), 0)
    told = rows.interval_description(2, room)
    assert len(told) <= room
    assert told == expected


async def test_the_first_finding_is_told_before_anything_is_selected(screen):
    assert screen.state.selection == NOTHING
    assert "severity      critical" in screen.text()
    # In another list that is its first row.
    await screen.press("3")
    assert "severity      critical" not in screen.text()
    assert screen.state.selection == NOTHING
    assert screen.state.inspector_selection.event is not None


async def test_findings_are_sorted_like_other_lists(screen):
    listed = screen.app.browse.query_one(FindingsPane).query_one(RowList)
    checks = screen.state.session.report.results
    ranked = [line[2] for line in texts(listed.rows)[:5]]
    assert ranked == [check.model for check in checks[:5]]
    # From the rank over names and models to what could be won.
    await screen.press("1", "o")
    passed = ["passed: concurrent-predictions", "passed: excess-data-copies"]
    assert [line[1] for line in texts(listed.rows)] == [*passed, *[RELOADED] * 5]
    await screen.press("o")
    models = [line[2] for line in texts(listed.rows) if line[2] != "5 models"]
    assert models == sorted(ranked, key=str.casefold)
    await screen.press("o", "O")
    costs = {check.model: check.cost.ns for check in checks[:5]}
    models = [line[2] for line in texts(listed.rows)]
    # What has no cost stays at the end, in whatever direction.
    assert models == [*sorted(costs, key=costs.get), "5 models", "5 models"]
    # The selection goes with its row.
    await screen.press("home")
    assert checks[screen.state.selection.finding.check].model == models[0]
    await screen.press("o", "O")
    assert screen.state.sorts["findings"] == Sort("outcome", descending=True)
    assert [line[2] for line in texts(listed.rows)] == ["5 models", "5 models", *reversed(ranked)]
    assert listed.cursor == 2 + ranked[::-1].index(models[0])


def test_one_reason_of_many_detectors_is_told_once(report):
    unjudged = [
        replace(report.results[5], id=f"check-{at}", model=None, outcome="not_evaluated", summary="Too little.")
        for at in range(20)
    ]
    other = replace(unjudged[0], id="check-20", summary="Something else.")
    of_models = [replace(unjudged[0], id="check-21", model=model) for model in ("a", "b")]
    checks = (*report.results[:5], *unjudged, other, *of_models)
    rows = check_rows(replace(report, results=checks), None)
    names = ", ".join(f"check-{at}" for at in (*range(20), 21))
    assert [line[1:3] for line in texts(rows)[5:]] == [
        [f"21 checks not evaluated: {names}", ""],
        ["not evaluated: check-20", ""],
    ]
    assert texts(rows)[5][-1] == "Too little."
    assert "check-0, check-1, " in rows.description(5)
    opened = check_rows(replace(report, results=checks), 7)
    below = texts(opened)[6:27]
    assert [line[1:3] for line in below] == [*([f"  check-{at}", ""] for at in range(20)), ["  check-21", "2 models"]]
    assert opened.to_toggle(26) == 7
    # What passed is told by each.
    passed = tuple(replace(check, outcome="passed") for check in unjudged)
    assert len(check_rows(replace(report, results=passed), None)) == 20


def test_no_finding_is_cut_for_the_sake_of_summaries(report):
    rows = check_rows(report, None)
    for width in range(60, 200):
        widths = column_widths(rows.columns, width)
        room = {column.title: room for column, room in zip(rows.columns, widths, strict=True)}
        assert not room["summary"] or room["finding"] >= len(RELOADED), width


def test_columns_that_say_nothing_of_any_finding_leave_their_room(samples):
    judged = kept_judged(kept_session(str(samples / "meal_planner.trace")), only=("request-errors",))
    rows = check_rows(judged.report, None, Sort("est. savings", descending=True))
    assert [column.title for column in rows.columns] == ["outcome", "finding", "summary"]
    # It was sorted so in another recording.
    assert rows.sort.column == "outcome"


@pytest.mark.sweep
@pytest.mark.view("sharpen_8bit", size=(60, 50))
async def test_the_key_for_more_stays_on_one_line(screen):
    for width in range(60, 100, 3):
        await screen.pilot.resize_terminal(width, 50)
        await screen.settle()
        assert "· i for more" in screen.text(), width


@pytest.mark.parametrize("name", ["captions_concurrent", "camera_hitches", "sharpen_8bit"])
@pytest.mark.parametrize(("width", "cells"), [(80, 58), (120, 52)])
def test_titles_of_findings_come_before_words_that_signs_stand_for(samples, name, width, cells):
    rows = check_rows(kept_judged(kept_session(str(samples / f"{name}.trace"))).report, None)
    # What the inspector and the scroll bar leave.
    room = width - (45 if width >= WIDE else 1)
    long = [replace(column, max_width=60) if column.title == "finding" else column for column in rows.columns]
    widths = dict(zip((column.title for column in long), column_widths(long, room), strict=True))
    assert widths["finding"] >= cells
    # There is one model, which the inspector names.
    assert "model" not in widths
    assert headings(long, rows.sort, list(widths.values()))[0] == ("" if widths["outcome"] < 8 else "outcome▴")
