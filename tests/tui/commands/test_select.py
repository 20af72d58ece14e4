"""Walking from finding to finding, and through their evidence, with keys."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from suite.cases.work_outside_model import slow_sampling
from tests.tui.conftest import kept_judged
from tracekit.testing import Draws, write_export
from tracekit.trace.events import LOAD_KINDS
from tracekit.tui import opening
from tracekit.tui.app import ACTIONS_BY_ID
from tracekit.tui.state import EventRef, FindingRef, Selection, Session


@pytest.mark.view(size=(200, 50))
async def test_evidence_is_walked_through_and_leads_back(screen):
    await screen.press("5", "full_stop")
    assert "No finding selected" in screen.text()
    await screen.press("1", "down", "full_stop", "full_stop")
    check = screen.state.session.report.results[1]
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


@pytest.mark.sweep
@pytest.mark.view(size=(200, 50))
async def test_evidence_that_is_listed_whole_or_by_its_bytes_is_told_so(screen):
    # What is there in full has a last one.
    session = screen.state.session
    first = session.report.results[0]
    whole = replace(first, evidence=first.evidence[:3], evidence_total=3)
    report = replace(session.report, results=(whole, *session.report.results[1:]))
    screen.app.change(sessions=(replace(session, report=report),))
    await screen.press("1", "home", "full_stop", "full_stop", "full_stop", "full_stop")
    text = screen.text()
    assert "Evidence 3 of 3" in text
    assert "This is the last of 3 intervals." in text
    assert "in all" not in text
    # Of evidence in bytes the largest is named.
    sized = replace(first, evidence=tuple(replace(each, bytes=1_000_000) for each in first.evidence[:3]))
    report = replace(session.report, results=(replace(sized, evidence_total=9), *session.report.results[1:]))
    screen.app.change(sessions=(replace(session, report=report),))
    await screen.press("1", "home", "full_stop")
    assert "Evidence 1 of the 3 largest (9 in all)" in screen.text()
    await screen.press("comma")
    assert "This is the largest of 9 intervals." in screen.text()
    await screen.press("full_stop", "full_stop", "full_stop")
    assert "This is the last of the 3 largest; the report keeps no more of 9 intervals." in screen.text()


@pytest.mark.view(size=(200, 50))
async def test_an_event_leads_to_the_finding_that_it_is_evidence_of(screen):
    check = screen.state.session.report.results[0]
    event = screen.state.session.locate(check.evidence[0])
    screen.app.select(Selection(event=event))
    await screen.settle()
    assert "evidence of" in screen.text()
    await screen.press("3", "F")
    assert screen.state.pane == "findings"
    assert screen.state.selection.finding == FindingRef(0, 0)
    assert screen.state.opened == 0
    # A reload that is not among the longest is one all the same.
    activity = screen.state.session.trace.activity
    own = activity.where(activity.model.is_any(check.model))
    loads = own.where(own.kind.is_any("load_cached"))
    screen.app.select(Selection(event=EventRef("activity", int(loads.id[loads.duration_ns.argmin()]))))
    await screen.press("F")
    assert screen.state.selection.finding == FindingRef(0)
    # The first load of a model is none.
    every = own.where(own.kind.is_any(*LOAD_KINDS))
    assert len(every) == check.evidence_total + 1
    screen.app.select(Selection(event=EventRef("activity", int(every.id[0]))))
    await screen.press("F")
    assert "The selected event is not evidence of a finding." in screen.text()
    # While the detectors are at work no event is called evidence of nothing.
    screen.app.change(sessions=(replace(screen.state.session, report=None),))
    await screen.press("F")
    assert "The checks are still running" in screen.text()


@pytest.mark.sweep
@pytest.mark.view("sharpen_8bit", size=(200, 50))
async def test_a_prediction_leads_to_the_finding_that_its_copies_are_evidence_of(screen):
    await screen.press("4", "down")
    session, index = screen.state.session, screen.state.selection.prediction
    copies = session.evidence[0]["data"]
    assert "activity" not in session.evidence[0]
    assert (session.trace.data.prediction.filled()[copies] == index).any()
    assert "F Its finding" in screen.text()
    await screen.press("F")
    assert screen.state.selection.finding == FindingRef(0)
    await screen.press("5", "down", "r")
    assert "No finding selected" in screen.text()
    # A load contains none.
    screen.app.select(Selection(event=EventRef("activity", 0)))
    await screen.press("F")
    assert "The selected event is not evidence of a finding." in screen.text()


@pytest.mark.sweep
async def test_the_way_back_from_a_walk_is_one_key_and_the_help_says_so(screen):
    assert "before a series of steps" in ACTIONS_BY_ID["back"].help
    await screen.press("n", "f")
    before = screen.state.view
    # Walking begins at the finding that has the cursor at first.
    await screen.press("1", "full_stop")
    assert screen.state.selection.finding == FindingRef(0, 0)
    first = screen.state.view
    await screen.press("full_stop", "comma", "full_stop", "left_square_bracket")
    assert before != first
    assert screen.state.view == before


@pytest.mark.sweep
async def test_walking_goes_on_from_where_one_went(screen):
    starts = screen.state.session.trace.activity.start_ns

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


async def test_an_event_that_is_chosen_elsewhere_takes_the_list_of_findings_along(screen):
    await screen.press("1", "enter", "down")
    rows = screen.app.focused
    interval = rows.rows.rows[rows.cursor].ref
    assert interval == FindingRef(0, 0)
    await screen.press("n")
    # The event after a reload is its prediction, no evidence: the finding has the cursor again.
    assert rows.rows.rows[rows.cursor].ref == FindingRef(0)
    await screen.press("p")
    assert rows.rows.rows[rows.cursor].ref == interval


def marked_lanes(screen) -> set[str]:
    """Lanes with anything underlined."""
    timeline = screen.app.browse._timelines[0]
    marked = set()
    for y in range(timeline.size.height):
        if any(segment.style is not None and segment.style.underline for segment in timeline.render_line(y)):
            marked.add(timeline.renderer.at(0, y).lane.title)
    return marked


def test_a_finding_about_requests_leads_to_its_request_on_the_lanes(run_view, samples, monkeypatch):
    monkeypatch.setattr(opening, "judge_session", partial(kept_judged, only=("request-errors",)))

    async def test(screen) -> None:
        assert marked_lanes(screen) == {"Request"}
        await screen.press("full_stop")
        chosen, requests = screen.state.selection, screen.state.session.trace.requests
        (refused, *_) = np.flatnonzero(requests.error.is_any("refusal"))
        assert chosen.event.frame == "phases"
        assert screen.state.session.row(chosen.event)["request"] == requests.request[refused]
        assert screen.state.lane.endswith("/Request")
        assert screen.state.cursor_ns == requests.start_ns[refused]
        # From the lanes back to the finding.
        await screen.press("escape", "enter", "N", "n")
        assert "evidence of" in screen.text()
        await screen.press("F")
        assert screen.state.selection.finding == FindingRef(0, 0)

    run_view(test, samples / "meal_planner.trace", size=(200, 50))


@pytest.mark.sweep
def test_a_request_without_a_bracket_is_marked_as_all_its_phases(run_view, tmp_path, monkeypatch):
    scenario = slow_sampling(Draws(1))
    scenario.logged = [row for row in scenario.logged if row.name != "Inference"]
    write_export(scenario, tmp_path / "export")
    monkeypatch.setattr(opening, "judge_session", partial(kept_judged, only=("work-outside-model",)))

    async def test(screen) -> None:
        await screen.press("full_stop", "f")
        session, view = screen.state.session, screen.state.view
        (check,) = (check for check in session.report.results if check.outcome == "finding")
        longest, phases = check.evidence[0], session.trace.phases
        own = phases.request.known
        assert session.evidence[0]["phases"].tolist() == np.flatnonzero(own).tolist()
        assert own.sum() > 50
        assert marked_lanes(screen) >= {"Prompt", "Generate"}
        # All of the request is in view, not only the phase that it begins with.
        assert view.start_ns < longest.start_ns
        assert longest.end_ns < view.end_ns
        assert view.span_ns < 2 * longest.duration_ns

    run_view(test, tmp_path / "export", size=(200, 50))


@pytest.mark.sweep
async def test_a_step_does_not_ask_where_a_row_lies_for_each_check(screen, monkeypatch):
    asked, span = [], Session.span
    monkeypatch.setattr(Session, "span", lambda session, ref: asked.append(ref) or span(session, ref))
    session = screen.state.session
    for key in ("n", "down"):
        await screen.press("4", key)
        counts = []
        for times in (1, 20):
            # The same checks again and again, and what they found.
            report = replace(session.report, results=session.report.results * times)
            screen.app.change(sessions=(replace(session, report=report, evidence=session.evidence * times),))
            await screen.settle()
            asked.clear()
            await screen.press(key)
            counts.append(len(asked))
        assert 0 < counts[1] <= counts[0], key
