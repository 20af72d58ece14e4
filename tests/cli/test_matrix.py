"""`tracekit matrix` on the command line."""

from __future__ import annotations

import json

import pytest


def test_recordings_stand_side_by_side(tracekit, samples):
    result = tracekit("matrix", samples / "sharpen_8bit.trace", samples / "sharpen_float16.trace", "--no-config")
    assert result.status == 0
    assert result.out.splitlines()[0].split() == ["sharpen_8bit.trace", "sharpen_float16.trace"]


def test_one_label_for_each_path(tracekit, samples, tmp_path):
    page = tmp_path / "m.html"
    paths = [samples / f"{name}.trace" for name in ("sharpen_8bit", "sharpen_float16")]
    result = tracekit("matrix", *paths, "--label", "8 bit", "--label", "16 bit", "--json", "-o", page)
    assert [column["label"] for column in json.loads(result.out)["columns"]] == ["8 bit", "16 bit"]
    assert "16 bit" in page.read_text()


def test_one_bad_recording_does_not_stop_the_rest(tracekit, samples, tmp_path):
    result = tracekit("matrix", tmp_path / "gone.trace", samples / "sharpen_8bit.trace", "--format", "csv")
    assert result.status == 2
    assert "gone.trace" in result.err
    assert "SharpenFilter,sharpen_8bit.trace" in result.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "PATH"),
        (("a.trace", "-o", "m.pdf"), "unknown extension"),
        (("a.trace", "b.trace", "--label", "a", "--label", "b", "--label", "c"), "3 --labels for 2 paths"),
        (("a.trace", "b.trace"), "1 more recording"),
    ],
)
def test_wrong_usage_is_one_sentence(tracekit, arguments, words):
    result = tracekit("matrix", *arguments)
    assert result.status == 2
    assert words in result.err
    assert result.err.count("\n") == 1
