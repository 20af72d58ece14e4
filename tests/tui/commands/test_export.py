"""Copying and saving, with keys."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

import tracekit
from support.choice import sweep_rest
from tests.tui.conftest import kept_judged, kept_session
from tracekit.render.forms import ENDINGS, REPORT_FORMS
from tracekit.trace.trace import Trace
from tracekit.tui.commands.export import FileName, save_report
from tracekit.tui.export import finding_markdown, row_markdown
from tracekit.tui.viewport import Span


@pytest.mark.view("sharpen_8bit")
async def test_a_row_is_copied_as_markdown_without_private_names(screen):
    await screen.press("y")
    assert "No row to copy" in screen.text()
    await screen.press("n", "y")
    lines = screen.app.clipboard.splitlines()
    assert lines[0] == "| start | duration | lane | event | model |"
    assert lines[2].endswith("| Activity | Load (cached) | SharpenFilter |")
    assert "Copied the row as Markdown (3 lines, redacted)" in screen.text()
    others = screen.state.session.trace.hardware.process.held()
    foreign = next(name for name in others if name != "Sharpen")
    await screen.press("slash")
    await screen.answer(f"kind:gpu_exec {foreign}")
    await screen.press("3", "down", "y")
    assert foreign not in screen.app.clipboard
    assert "process" in screen.app.clipboard


async def test_a_finding_is_copied_as_markdown(screen):
    await screen.press("5", "Y")
    assert "No finding selected" in screen.text()
    await screen.press("1", "down", "Y")
    check = screen.state.session.report.results[1]
    assert screen.app.clipboard.startswith("### Critical: The model is reloaded before every prediction\n")
    _, _, _, _, recording, *_ = screen.app.clipboard.splitlines()
    assert recording.startswith("style\\_transfer\\_reload.trace · StyleCam (pid 2147) · iPhone 14 Pro, iOS 18.5 ")
    assert check.model in screen.app.clipboard
    assert "**Fix:**" in screen.app.clipboard
    assert "saves up to" in screen.app.clipboard
    assert screen.app.clipboard.endswith("\n\nDetails: `tracekit explain reload-before-predict`\n")
    assert f"Copied the check {check.id} as Markdown" in screen.text()


def test_a_check_without_finding_is_copied_as_what_it_is(samples):
    session = kept_judged(kept_session(str(samples / "style_transfer_reload.trace")))
    first = session.report.results[0]
    assert (first.id, first.model) == ("reload-before-predict", "Pointillism")
    where = "style\\_transfer\\_reload.trace · StyleCam (pid 2147) · iPhone 14 Pro, iOS 18.5 · 16.5 s · Core ML"
    for outcome, title, about in (
        ("passed", f"Passed: {replace(first, outcome='passed').title}", "`Pointillism`: "),
        ("not_evaluated", "Not evaluated: reload-before-predict", "`Pointillism`: "),
        ("not_applicable", "Not applicable: reload-before-predict", ""),
    ):
        check = replace(first, outcome=outcome, severity=None, cost=None, evidence=(), record="Record again.")
        copied = finding_markdown(replace(session, report=replace(session.report, results=(check,))), 0)
        assert copied.startswith(f"### {title}\n\n`reload-before-predict`\n\n{where}\n\n{about}")
        assert copied.endswith("To evaluate this: Record again.\n")
        assert "saves" not in copied


@pytest.mark.parametrize(
    "name", sweep_rest("sharpen_8bit", "style_transfer_reload", "album_memory", "captions_concurrent")
)
def test_a_copied_check_has_at_most_20_lines(name, samples):
    session = kept_judged(kept_session(str(samples / f"{name}.trace")))
    checks = session.report.results
    crowded = replace(checks[0], caveats=tuple(f"Note {number}." for number in range(30)))
    session = replace(session, report=replace(session.report, results=(*checks, crowded)))
    for check in range(len(checks) + 1):
        assert len(finding_markdown(session, check).splitlines()) <= 20


async def test_statistics_are_copied_of_the_range_or_of_all(screen):
    await screen.press("ctrl+y")
    assert screen.app.clipboard.startswith("Whole recording\n\n| model | event |")
    assert "| `Pointillism` | Load (cached) | Activity | 81 |" in screen.app.clipboard
    await screen.press("n", "V", "ctrl+y")
    assert screen.app.clipboard.startswith("Range of 18.4 ms, 0.612 s – 0.630 s: events starting in range")
    assert "| `Watercolor` | Load (cached) | Activity | 1 | 18.4 ms |" in screen.app.clipboard
    assert "Pointillism" not in screen.app.clipboard
    empty = Span(screen.state.bounds.start_ns, 1)
    screen.app.change(range=empty)
    await screen.press("ctrl+y")
    assert "nothing to copy" in screen.text()


async def test_reports_are_saved_in_the_format_of_their_ending_and_replaced_when_asked_twice(
    screen, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    await screen.press("S")
    endings = [ENDINGS[form][0] for form in REPORT_FORMS]
    for words in (save_report.help, screen.text()):
        assert re.findall(r"\.(?:txt|md|html|json|pdf)\b", words.replace("reload.md", "")) == endings
    await screen.press("enter")
    text = (tmp_path / "style_transfer_reload.md").read_text("utf-8")
    assert text.startswith("**1 finding (critical) in 5 models")
    assert "Saved the report of the recording to style_transfer_reload.md" in screen.text()
    there = tmp_path / "style_transfer_reload.md"
    there.write_text("mine", "utf-8")
    await screen.press("S", "enter")
    assert "exists; enter again" in screen.text()
    await screen.press("escape")
    assert there.read_text("utf-8") == "mine"
    await screen.press("S", "enter", "enter")
    assert there.read_text("utf-8") == text
    await screen.press("S")
    await screen.answer("a.json")
    saved = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert saved["recording"]["redacted"] is True
    assert saved["summary"]["models"] == 5
    await screen.press("S")
    await screen.answer("a.pdf")
    assert "a.pdf: unknown extension" in screen.text()
    await screen.answer("missing/a.md")
    assert "No such folder: 'missing'" in screen.text()
    # The report of a range is of that range.
    await screen.press("escape")
    await screen.press("R")
    assert "No range; set one with v" in screen.text()
    activity = screen.state.session.trace.activity
    screen.app.change(range=Span(0, 3_000_000_000))
    await screen.press("R")
    await screen.answer("part.json")
    saved = json.loads((tmp_path / "part.json").read_text("utf-8"))
    inside = activity.where(activity.start_ns < 3_000_000_000)
    assert {model["name"] for model in saved["models"]} == set(inside.model.held())
    assert sum(model["predictions"] for model in saved["models"]) == inside.kind.is_any("prediction").sum()
    assert any("from 0.000000 s to 3.000000 s" in note for note in saved["recording"]["notes"])
    assert "Saved the report of the range of 3.00 s" in screen.text()


def test_a_name_that_cannot_be_written_is_told(tmp_path):
    parse = FileName()

    def check(name: str) -> str:
        with pytest.raises(ValueError, match=r"[.]$|overwrites") as problem:
            parse(name)
        return str(problem.value)

    new = tmp_path / "new.txt"
    assert parse(str(new)) == (new, False)
    folder = tmp_path / "folder.md"
    folder.mkdir()
    assert "is a folder" in check(str(folder))
    assert check("a.pdf") == "a.pdf: unknown extension (supported: .txt .md .html .json)."
    there = tmp_path / "there.md"
    there.touch()
    assert "enter again overwrites" in check(str(there))
    assert "enter again overwrites" in check(str(there).replace("there", "./there"))
    assert parse(str(there).replace("there", "./there")) == (there, True)


@pytest.mark.sweep
@pytest.mark.view("style_transfer_reload", "style_transfer_fixed")
async def test_what_is_copied_of_two_recordings_names_them(screen):
    names = r"before: style\_transfer\_reload.trace, after: style\_transfer\_fixed.trace"
    await screen.press(*["u"] * 5, "y")
    assert screen.app.clipboard.splitlines()[0] == names
    await screen.press("u", "y")
    assert screen.app.clipboard.splitlines()[0] == f"mean, {names}"
    assert "| difference |" in screen.app.clipboard.splitlines()[2]
    await screen.press("2", "y")
    assert screen.app.clipboard.splitlines()[0] == r"style\_transfer\_reload.trace"
    await screen.press("z", "ctrl+y")
    assert screen.app.clipboard.splitlines()[0] == r"style\_transfer\_fixed.trace: whole recording"


@pytest.mark.sweep
@pytest.mark.view(size=(80, 24))
async def test_what_was_copied_is_told_in_whole(screen, monkeypatch):
    for width in (80, 120, 200):
        await screen.pilot.resize_terminal(width, 24)
        for tmux in (False, True):
            monkeypatch.setenv("TMUX", "socket,1,0")
            if not tmux:
                monkeypatch.delenv("TMUX")
            for keys in (("1", "y"), ("Y",), ("ctrl+y",)):
                await screen.press(*keys)
                line = screen.text().splitlines()[-2].strip()
                assert line.startswith("Copied")
                assert line.endswith("`set -g set-clipboard on`." if tmux else "."), (width, tmux)
                assert ("set-clipboard" in line) == tmux, (width, keys)
                assert "redacted" in line


def test_private_names_are_found_in_what_is_copied_before_anything_is_escaped(sharpen_renamed):
    titles, texts = ["event", "process"], ["GPU execution, photo_helper0 (66)", "photo_helper0"]
    copied = row_markdown([sharpen_renamed("photo_helper0")], titles, texts, about="photo_helper0.trace")
    assert "helper" not in copied
    alias = copied.splitlines()[-1].split("|")[2].strip()
    assert alias.startswith("process ")
    assert alias in copied.splitlines()[-1].split("|")[1]


def test_private_names_of_both_recordings_are_left_out_of_a_comparison(sharpen_renamed):
    traces = [sharpen_renamed("first_secret"), sharpen_renamed("second_secret")]
    copied = row_markdown(traces, ["event"], ["GPU execution, second_secret and first_secret"])
    assert "secret" not in copied
    assert "Sharpen" in row_markdown(traces, ["event"], ["GPU execution, Sharpen"])


@pytest.fixture
def sharpen_renamed(samples):
    """Makes the trace of a sample in which another process has this name."""

    def make(name: str) -> Trace:
        trace = tracekit.open_trace(samples / "sharpen_8bit.trace")
        process = trace.hardware.process
        foreign = next(found for found in process.held() if found != "Sharpen")
        renamed = process.recoded(lambda held: name if held == foreign else held)
        return replace(trace, hardware=replace(trace.hardware, process=renamed))

    return make
