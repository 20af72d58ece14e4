"""The Markdown of a bug report fits an issue and says what it left out."""

from dataclasses import replace

import pytest

from support.choice import sweep_rest
from tracekit.cli.archive import LIMIT, issue_text
from tracekit.report.groups import findings

HOW = ("tracekit analyze -v run.trace", "SHA-256 `0123abcd` (5 bytes).", "Python 3.13, Linux")


def test_everything_is_there_where_there_is_room(full):
    text = issue_text(full, *HOW)
    for part in (
        "**2 findings",
        "<summary>How to fix it</summary>",
        "<summary>Events by model</summary>",
        "### How to reproduce\n\n- Take the recording: SHA-256 `0123abcd` (5 bytes).\n",
        "`tracekit analyze -v run.trace`",
        "(Python 3.13, Linux)",
    ):
        assert part in text, part
    assert "Left out" not in text
    assert len(text) < LIMIT


def test_the_worst_finding_comes_first_whatever_order_the_report_has(full):
    turned = replace(full, results=tuple(sorted(full.results, key=lambda check: check.severity != "low")))
    assert findings(turned.results)[0].severity == "low"
    headings = [line for line in issue_text(turned, *HOW).splitlines() if line.startswith("### ")]
    assert [heading.partition(":")[0] for heading in headings[:2]] == ["### Critical", "### Low"]


@pytest.mark.parametrize("limit", [6_000, 4_000, 2_500])
def test_what_has_no_room_is_left_out_and_named(full, limit):
    text = issue_text(full, *HOW, limit=limit)
    assert len(text.encode()) < limit
    assert "### How to reproduce" in text
    assert "### Environment" in text
    note = next(line for line in text.splitlines() if line.startswith("Left out"))
    assert ("<summary>Events by model</summary>" in text) != ("Events by model" in note)
    assert ("<summary>Measurements</summary>" in text) or "2 × measurements" in note
    # The worst finding goes last.
    worst, other = (group.first.id for group in findings(full.results))
    assert (f"`{worst}`\n" in text) >= (f"`{other}`\n" in text)
    assert (f"`{other}`\n" in text) != (f"; {other}" in note or f": {other}" in note)


def test_the_smallest_limit_keeps_what_identifies_the_recording(full):
    text = issue_text(full, *HOW, limit=1)
    assert text.startswith("**2 findings")
    assert "SHA-256 `0123abcd`" in text
    assert "<details>" not in text


@pytest.mark.parametrize("report", sweep_rest("hostile", "many", "not_judged", "failed", "clean"))
def test_every_kind_of_report_fits_an_issue(report, request):
    text = issue_text(request.getfixturevalue(report), *HOW)
    assert len(text.encode("utf-8", "backslashreplace")) < 65_536
    assert text.count("<details>") == text.count("</details>")


def test_no_fact_is_so_long_that_it_drives_out_the_rest(full):
    recording = replace(full.recording, template="@" * 100_000, end_reason="x" * 100_000)
    text = issue_text(replace(full, recording=recording), *HOW)
    assert len(text.encode()) < LIMIT
    assert "### Critical" in text
