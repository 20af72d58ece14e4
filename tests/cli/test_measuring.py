"""What the paths of commands that compare mean, and reports in place of recordings."""

from __future__ import annotations

import gc

import pytest

from tracekit.cli.reading import recordings_in
from tracekit.comparison.reports import to_plain
from tracekit.measured import measured_analysis, measured_trace
from tracekit.request import ALL
from tracekit.trace.build import open_trace


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (["b.trace/", "a.trace.zip", "notes.txt"], ["a.trace.zip", "b.trace"]),
        (["b.json", "a.json", "notes.txt"], ["a.json", "b.json"]),
        # Reports beside the recordings they came from would count twice.
        (["a.trace/", "a.json"], ["a.trace"]),
        # A folder with an export is one recording.
        (["toc.xml", "a.json"], []),
        ([], []),
    ],
)
def test_a_folder_means_what_it_holds(tmp_path, entries, expected):
    for entry in entries:
        path = tmp_path / entry
        path.mkdir() if entry.endswith("/") else path.touch()
    assert recordings_in(str(tmp_path)) == ([str(tmp_path / name) for name in expected] or [str(tmp_path)])


def test_a_folder_without_recordings_and_a_recording_without_what_is_asked_for_are_one_sentence(
    tracekit, samples, tmp_path
):
    one, other = samples / "sharpen_8bit.trace", samples / "style_transfer_fixed.trace"
    (tmp_path / "reports").mkdir()
    empty = tracekit("check", tmp_path / "reports", "--no-config")
    assert empty.status == 2
    assert "is an empty folder: no recording and no JSON report" in " ".join(empty.out.split())
    # Of two recordings, the one that is meant.
    mixed = tracekit("compare", one, other, "--model", "SharpenFilter")
    assert mixed.status == 2
    assert mixed.err.startswith("tracekit: style_transfer_fixed.trace: unknown model 'SharpenFilter'")

    path = str(samples / "sharpen_8bit.trace")
    assert recordings_in(path, "gone.trace") == [path, "gone.trace"]


@pytest.mark.parametrize("command", ["compare", "analyze"])
def test_recordings_read_one_after_another_leave_nothing_to_collect(tracekit, samples, command):
    # What others left is not looked through.
    gc.freeze()
    # As in a process of the command line, which looks for it too seldom.
    gc.disable()
    try:
        pair = [samples / f"{name}.trace" for name in ("sharpen_8bit", "style_transfer_fixed")]
        assert tracekit(command, *pair, "--no-config").status in (0, 1, 3)
        assert gc.collect() < 100
    finally:
        gc.enable()


@pytest.mark.turns(3)
@pytest.mark.parametrize(
    "name", ["captions_concurrent", "style_transfer_reload", "local_chat", "not_instrumented", "album_memory"]
)
def test_without_a_report_the_same_is_measured(samples, name):
    trace = open_trace(samples / f"{name}.trace")
    (alone, beside) = (measured_trace(trace, ALL), measured_analysis(trace, ALL)[0])
    assert to_plain(alone) == to_plain(beside)
    assert [model.per_second for model in alone.models] == [model.per_second for model in beside.models]
    assert (alone.unreadable, alone.started, alone.limited) == (beside.unreadable, beside.started, beside.limited)


def test_reports_stand_for_their_recordings(tracekit, samples, reports, tmp_path):
    before, after = sorted(reports.iterdir())
    pair = [samples / f"{name}.trace" for name in ("sharpen_8bit", "sharpen_float16")]
    for command in (["compare", "--format", "md"], ["check", "--format", "md"]):
        of_reports = tracekit(*command, before, after, "--no-config")
        of_recordings = tracekit(*command, *pair, "--no-config")
        assert (of_reports.status, of_reports.out) == (of_recordings.status, of_recordings.out)
    tables = [tracekit("compare", *paths, "--format", "csv", "--no-config").out for paths in ([reports], pair)]
    assert tables[0] == tables[1] != ""

    assert "SharpenFilter" in tracekit("compare", reports, "--model", "Sharpen*").out
    result = tracekit("compare", reports, "--model", "Sharpn")
    assert result.status == 2
    assert "SharpenFilter" in result.err

    result = tracekit("compare", *sorted(reports.iterdir()), "--from", "2")
    assert result.status == 2
    assert "need the recording" in result.err

    path = tmp_path / "old.json"
    path.write_text(next(reports.iterdir()).read_text().replace('"measurements": {', '"measurements": null, "rest": {'))
    result = tracekit("compare", path, path, path)
    assert result.status == 2
    assert "tracekit analyze RECORDING -o" in result.err
