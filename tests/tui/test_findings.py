"""The list of findings: one row each, and the other checks told once per detector and outcome."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tracekit.tui.detail.findings import FindingsPane, check_rows
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.state import FindingRef
from tracekit.tui.theme import PALETTES


@pytest.fixture
def reload_sample(samples: Path) -> Path:
    return samples / "style_transfer_reload.trace"


def texts(rows) -> list[list[str]]:
    return [[cell.text for cell in rows.cells(row, PALETTES[True])] for row in range(len(rows))]


def test_findings_come_one_by_one_and_the_other_checks_once_per_detector(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        rows = screen.app.browse.query_one(FindingsPane).query_one(RowList).rows
        shown = texts(rows)
        # The sample reloads each of its five models; the other two detectors have nothing to say of any.
        assert [line[1] for line in shown[:5]] == ["reload-before-predict"] * 5
        assert {line[2] for line in shown[:5]} == {"Pointillism", "InkWash", "StainedGlass", "Watercolor", "Mosaic"}
        assert sorted(line[:3] for line in shown[5:]) == [
            ["passed", "concurrent-predictions", "5 models"],
            ["passed", "excess-data-copies", "5 models"],
        ]

    run_view(test, reload_sample)


def test_a_row_of_several_models_opens_and_shuts(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        listed = screen.app.browse.query_one(FindingsPane).query_one(RowList)
        await screen.press("1", "end")
        head = listed.cursor
        before = len(listed.rows)
        await screen.press("enter", "down", "down")
        assert len(listed.rows) == before + 5
        assert listed.cursor == head + 2
        checks = screen.state.session.report.checks
        assert checks[screen.state.selection.finding.check].model == texts(listed.rows)[head + 2][2]
        await screen.press("enter")
        assert len(listed.rows) == before
        assert listed.cursor == head

    run_view(test, reload_sample)


def test_a_check_without_a_row_of_its_own_is_found_in_the_one_that_it_shares(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        report = screen.state.session.report
        last = len(report.checks) - 1
        shut, opened = check_rows(report, None), check_rows(report, last)
        assert last in shut.rows[shut.place(FindingRef(last), 0)].alike
        assert opened.rows[opened.place(FindingRef(last), 0)].ref == FindingRef(last)
        assert shut.place(FindingRef(0, 3), 0) is None

    run_view(test, reload_sample)


def test_reasons_that_differ_are_not_told_as_one(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        report = screen.state.session.report
        same = tuple(replace(check, summary="Alike.") for check in report.checks)
        other = (*same[:-1], replace(same[-1], summary="Something else."))
        assert texts(check_rows(replace(report, checks=same), None))[-1][-1] == "Alike."
        assert "enter lists them" in texts(check_rows(replace(report, checks=other), None))[-1][-1]

    run_view(test, reload_sample)


def test_the_inspector_names_the_models_of_which_the_same_is_said(run_view, reload_sample) -> None:
    async def test(screen) -> None:
        await screen.press("1", "end")
        report, chosen = screen.state.session.report, screen.state.selection.finding
        check = report.checks[chosen.check]
        alike = [other.model for other in report.checks if (other.id, other.summary) == (check.id, check.summary)]
        assert len(alike) > 1
        told = " ".join(screen.text().partition("same for")[2].split())
        assert all(model in told for model in alike if model != check.model)
        await screen.press("home")
        assert "same for" not in screen.text()

    run_view(test, reload_sample)
