"""`tracekit compare` on the command line."""

from __future__ import annotations

import json

import pytest


def test_two_recordings_are_compared(tracekit, samples):
    result = tracekit("compare", samples / "sharpen_8bit.trace", samples / "sharpen_float16.trace")
    assert result.status == 0
    assert result.out.splitlines()[-1] == "improved: SharpenFilter −30% · 2 findings fixed"


def test_sides_of_several_recordings(tracekit, samples):
    before = [samples / f"{name}.trace" for name in ("sharpen_8bit", "style_transfer_reload")]
    after = [samples / f"{name}.trace" for name in ("sharpen_float16", "style_transfer_fixed")]
    comparison = json.loads(tracekit("compare", "--before", *before, "--after", *after, "--json").out)
    assert comparison["before"] == ["sharpen_8bit.trace", "style_transfer_reload.trace"]
    assert len(comparison["models"]) == 6


def test_a_recording_counts_once(tracekit, samples):
    one, other = samples / "sharpen_8bit.trace", samples / "sharpen_float16.trace"
    result = tracekit("compare", "--before", one, one, "--after", other)
    assert result.status == 2
    assert "sharpen_8bit.trace is given twice" in result.err


def test_a_regression_is_no_failure(tracekit, samples):
    result = tracekit("compare", samples / "sharpen_float16.trace", samples / "sharpen_8bit.trace")
    assert result.status == 0
    assert result.out.splitlines()[-1].startswith("regressed: SharpenFilter")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "missing recordings"),
        (("a.trace",), "got 1"),
        (("a.trace", "b.trace", "c.trace"), "got 3"),
        (("a.trace", "--before", "b.trace"), "either two paths"),
        (("--before", "b.trace"), "missing recordings"),
        (("a.trace", "b.trace", "--rename", "x"), "OLD=NEW"),
        (("a.trace", "b.trace"), "a.trace"),
    ],
)
def test_wrong_usage_is_one_sentence(tracekit, arguments, words):
    result = tracekit("compare", *arguments)
    assert result.status == 2
    assert words in result.err
    assert result.err.count("\n") == 1
