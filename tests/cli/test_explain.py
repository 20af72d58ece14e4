"""`tracekit explain`: one page per detector."""

from __future__ import annotations

import io
import re
import sys

import pytest

from tracekit.cli import explain
from tracekit.detectors.explanation import page_markdown
from tracekit.detectors.model_runner import MODEL_DETECTORS
from tracekit.detectors.options import option_infos
from tracekit.detectors.registry import DETECTORS


def test_the_page_is_markdown_in_a_pipe(tracekit) -> None:
    for detector in (DETECTORS[0], MODEL_DETECTORS[0]):
        result = tracekit("explain", detector.id)
        assert (result.status, result.err) == (0, "")
        assert result.out == page_markdown(detector)


def test_the_page_is_laid_out_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from tracekit.cli.dispatch import main

    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", screen)
    assert main(["explain", DETECTORS[0].id]) == 0
    assert "\x1b[3" not in screen.getvalue(), "NO_COLOR is set"
    shown = re.sub(r"\x1b\[[0-9;]*m", "", screen.getvalue())
    assert DETECTORS[0].id in shown
    assert "\n# " not in shown
    assert DETECTORS[0].page.references[0].url.removeprefix("https://")[:20] in shown
    # Code is there to be copied, and keeps its lines.
    code = re.findall(r"```\w+\n(.*?)```", page_markdown(DETECTORS[0]), re.DOTALL)
    whole = {line for block in code for line in block.splitlines()}
    lines = set(shown.splitlines())
    assert max(map(len, whole)) > 60
    assert whole <= lines
    # So do drawings.
    assert max(len(line) for line in lines - whole if "|" not in line) <= 60


@pytest.mark.sweep
def test_drawings_are_whole_at_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    drawn = [page for page in map(page_markdown, DETECTORS) if "## On the timeline" in page]
    assert len(drawn) > 10
    for page in drawn:
        shown = re.sub(r"\x1b\[[0-9;]*m", "", explain._laid_out(page)).splitlines()
        drawing = re.findall(r"^    (.*)$", page.partition("## On the timeline")[2].partition("\n## ")[0], re.MULTILINE)
        kept = [part.strip() for line in drawing for part in re.split(r" {2,}(?=(?:problem|expected)\b)", line)]
        assert kept, page[:80]
        assert [part for part in kept if not any(part in line for line in shown)] == []
        assert max(len(line) for line in shown if "|" in line) <= 80


def test_an_unknown_id_names_the_nearest(tracekit) -> None:
    result = tracekit("explain", "reload-before-predicts")
    assert result.status == 2
    assert "did you mean 'reload-before-predict'?" in result.err
    assert "List them with `tracekit explain`" in result.err
    for word in ("reload", "relod"):
        assert "did you mean 'reload-before-predict'?" in tracekit("explain", word).err
    assert "did you mean" not in tracekit("explain", "lint").err


def test_without_a_check_all_are_listed_a_line_each(tracekit, monkeypatch: pytest.MonkeyPatch) -> None:
    result = tracekit("explain")
    assert (result.status, result.err) == (0, "")
    lines = result.out.splitlines()
    for detector in (*DETECTORS, *MODEL_DETECTORS):
        (line,) = (line for line in lines if line.split()[:1] == [detector.id])
        assert detector.page.finding_title[:20] in line

    monkeypatch.delenv("COLUMNS")
    assert max(map(len, tracekit("explain").out.splitlines())) <= 80


def test_json_holds_default_unit_and_basis(tracekit) -> None:
    listed = {entry["id"]: entry for entry in tracekit("explain", "--json").json}
    assert list(listed) == [detector.id for detector in (*DETECTORS, *MODEL_DETECTORS)]
    for detector in DETECTORS:
        options = {option["name"]: option for option in listed[detector.id]["options"]}
        for info in option_infos(detector):
            assert options[info.name] == {
                "name": info.name,
                "default": info.default,
                "unit": info.unit,
                "basis": info.basis,
            }
    assert tracekit("explain", "cold-load", "--json").json == [listed["cold-load"]]
    assert tracekit("explain", "cold-lode", "--json").status == 2


@pytest.mark.parametrize("columns", ["40", "80", "500"])
def test_the_list_fits_the_terminal(tracekit, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert max(map(len, tracekit("explain").out.splitlines())) <= min(int(columns), 120)
