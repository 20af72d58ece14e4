"""Several recordings: a line each, the name first and the savings never cut."""

from __future__ import annotations

import pytest

from support.analyses import kept_analysis
from tracekit.documents.report import Analyzed, several_document
from tracekit.render.forms import render


def text(entries: list[Analyzed], width: int) -> str:
    return render(several_document(entries), "text", width=width, verbose=False)


@pytest.fixture(scope="module")
def entries(samples):
    names = (
        "style_transfer_reload.trace",
        "style_transfer_fixed.trace",
        "sharpen_8bit.trace",
        "not_instrumented.trace",
    )
    return [
        *(Analyzed(name, kept_analysis(samples / name).report) for name in names),
        Analyzed("gone\x1b[2J.trace", None, "gone.trace: no such file"),
    ]


def test_each_recording_has_a_line_and_all_have_a_summary(entries):
    table, compiled, end = text(entries, 120).split("\n\n")
    titles, *lines = table.splitlines()
    summary, _more = end.splitlines()
    assert titles.split() == ["recording", "verdict", "est.", "savings", "checks"]
    reload, fixed, sharpen, blind, gone = lines
    assert reload.split("  ")[0] == "style_transfer_reload.trace"
    assert "1 finding (critical)" in reload
    assert reload.split()[-3:] == ["6.3", "s", "reload-before-predict"]
    assert "no findings" in fixed
    assert "2 findings (high)" in sharpen
    assert "  0.59 s  " in sharpen
    assert "inconclusive" in blind
    assert "gone\ufffd[2J.trace" in gone
    assert "gone.trace: no such file" in gone
    assert summary == "5 recordings: 2 with findings, 1 without findings, 1 inconclusive, 1 not readable"
    assert compiled.splitlines() == [
        "COMPILED FOR THE DEVICE",
        "  Watercolor, InkWash, Pointillism, Mosaic, StainedGlass: cached in each of 2 launches",
    ]


@pytest.mark.parametrize("width", [40, 80, 100])
def test_lines_fit_and_cannot_steer_a_terminal(entries, width):
    for line in text(entries, width).splitlines():
        assert len(line) <= width
        assert line.isprintable()


def test_savings_say_why_there_is_no_number(samples):
    names = ("captions_concurrent", "meal_planner", "album_memory", "dictation")
    entries = [Analyzed(name, kept_analysis(samples / f"{name}.trace").report) for name in names]
    concurrent, unknown, memory, clean = text(entries, 120).splitlines()[1:5]
    assert " 31 ms each " in concurrent
    assert " unknown " in unknown
    assert " no time " in memory
    summary = entries[-1].report.summary
    words = f"{summary.passed} checks passed, {summary.not_evaluated} not evaluated"
    assert clean.split("  ")[-1].strip().startswith(words)
