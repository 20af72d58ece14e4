"""History files: lines that merge, and lines that are broken."""

import os
import resource

import pytest

from support.made_histories import recorded
from tracekit.comparison.history_file import add_to_history, line_of, read_history
from tracekit.errors import TracekitError

FIGURES = {"p50_ns": 8_123_456, "neural-engine": 0.75, "findings": 1}


def made(number, **options):
    return recorded(number, {"Net": FIGURES}, findings={"Net": ("cold-load",)}, **options)


def same(one, other):
    fields = ("time", "commit", "identity", "device", "system", "models", "findings")
    return all(getattr(one, name) == getattr(other, name) for name in fields)


def test_a_history_reads_as_it_was_written(tmp_path):
    path = tmp_path / "perf" / "history.jsonl"
    first, second = made(0, report="reports/a.json"), made(1, of_commit=None)
    assert add_to_history(str(path), [first]) == 1
    assert add_to_history(str(path), [first, second]) == 1
    (one, other), problems = read_history(str(path))
    assert problems == []
    assert same(one, first)
    assert same(other, second)
    assert one.report == str(tmp_path / "perf" / "reports" / "a.json")
    assert path.read_text().count("\n") == 2


def test_lines_are_only_added_also_behind_one_without_an_end(tmp_path):
    path = tmp_path / "history.jsonl"
    path.write_text(line_of(made(0)).rstrip("\n"))
    add_to_history(str(path), [made(1)])
    assert path.read_text() == line_of(made(0)) + line_of(made(1))


def test_a_full_disk_adds_nothing_and_blocks_nothing(tmp_path):
    path = tmp_path / "history.jsonl"
    add_to_history(str(path), [made(0)])
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limits[1]))
    try:
        with pytest.raises(TracekitError, match=r"cannot write .*: File too large"):
            add_to_history(str(path), [made(1)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert add_to_history(str(path), [made(1)]) == 1


@pytest.mark.parametrize("is_new", [False, True])
def test_a_pipe_is_no_history(tmp_path, is_new):
    os.mkfifo(tmp_path / "history.jsonl")
    with pytest.raises(TracekitError, match=r"history\.jsonl: not a regular file"):
        read_history(str(tmp_path / "history.jsonl"), is_new=is_new)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("<<<<<<< HEAD\n", "a mark of a merge conflict"),
        (line_of(made(1))[:90] + "\n", "cut off"),
        (line_of(made(1)).replace('"version":1', '"version":9'), "this version of tracekit"),
        (line_of(made(1)).replace("8123456", '"x"'), "missing or wrong"),
        (line_of(made(1)).replace("8123456", "NaN"), "missing or wrong"),
        (line_of(made(1)).replace("2026-08", "2026-88"), "missing or wrong"),
        ("[]\n", "not a line of a history"),
        (line_of(made(1)).replace('"models":{', '"models":[],"x":{'), "missing or wrong"),
    ],
)
def test_a_broken_line_is_named_by_its_number_and_loses_no_other(tmp_path, line, words):
    path = tmp_path / "history.jsonl"
    path.write_text(line_of(made(0)) + line + line_of(made(2)))
    recordings, (problem,) = read_history(str(path))
    assert len(recordings) == 2
    assert problem.startswith("history.jsonl, line 2: ")
    assert words in problem
    with pytest.raises(TracekitError, match=r"nothing was added: .* line 2"):
        add_to_history(str(path), [made(3)])
    assert path.read_text() == line_of(made(0)) + line + line_of(made(2))
