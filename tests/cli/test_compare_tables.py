"""`tracekit compare` of more recordings than two, or of performance reports: a table."""

from __future__ import annotations

import json

import pytest

from support.choice import sweep_rest
from support.performance_reports import PRIVATE, article_2026, wwdc22


def test_recordings_stand_side_by_side_under_their_labels(tracekit, samples, tmp_path):
    names = ("sharpen_float16", "sharpen_8bit", "captions_concurrent")
    result = tracekit("compare", *(samples / f"{name}.trace" for name in names), "--json", "--no-config")
    assert result.status == 0
    recorded = [column["recorded"] for column in result.json["columns"]]
    assert recorded == sorted(recorded)

    result = tracekit("compare", *(samples / f"{name}.trace" for name in names), "-q", "--no-config")
    assert result.out.startswith("2 models in 3 recordings")
    assert result.out.count("\n") == 1

    page = tmp_path / "m.html"
    paths = [samples / f"{name}.trace" for name in ("sharpen_8bit", "sharpen_float16")]
    result = tracekit("compare", *paths, "--label", "8 bit", "--label", "16 bit", "--json", "-o", page)
    assert [column["label"] for column in result.json["columns"]] == ["8 bit", "16 bit"]
    assert "16 bit" in page.read_text()

    result = tracekit("compare", tmp_path / "gone.trace", samples / "sharpen_8bit.trace", "--format", "csv")
    assert result.status == 2
    assert "gone.trace" in result.err
    assert "SharpenFilter,sharpen_8bit.trace" in result.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a.trace", "-o", "m.pdf"), "unknown extension"),
        (("--before", "a.trace", "--after", "b.trace", "--format", "csv"), "are for a table"),
        (("--before", "a.trace"), "missing --after"),
        (("a.trace", "b.trace", "--label", "x", "--rename", "A=B"), "not allowed with"),
        (("a.trace", "b.trace", "c.trace", "--rename", "A=B"), "is for a recording before and one after"),
        (("a.trace", "b.trace", "--label", "a", "--label", "b", "--label", "c"), "given 3 times for 2 paths"),
    ],
)
def test_wrong_usage_is_one_sentence(tracekit, arguments, words):
    result = tracekit("compare", *arguments)
    assert result.status == 2
    assert words in result.err
    assert result.err.count("\n") == 1


def test_performance_reports_stand_beside_recordings(tracekit, samples, tmp_path):
    for name, document in (("all.json", article_2026()), ("cpu.json", article_2026(cpu_only=True))):
        (tmp_path / name).write_text(json.dumps(document))
    result = tracekit("compare", tmp_path, samples / "sharpen_8bit.trace", "--label", "{name}", "--no-config")
    assert (result.status, result.err.count("skipped")) == (0, 0)
    assert result.out.splitlines()[0].split() == ["sharpen_8bit.trace", "all.json", "cpu.json"]
    (median,) = [line for line in result.out.splitlines() if line.startswith("  median") and "22.9" in line]
    assert median.split()[1:] == ["*22.9", "ms", "54.5", "ms"]
    assert "planned, not observed" in " ".join(result.out.split())
    assert not any(text in result.out for text in PRIVATE)
    csv = tracekit(
        "compare", tmp_path / "all.json", tmp_path / "cpu.json", "--label", "{name}", "--format", "csv", "--no-config"
    ).out
    counted = ["predictions", "tokens_per_second", "signposts", "first_tokens", "next_tokens"]
    assert csv.splitlines()[0].split(",")[-7:] == ["planned_neural_engine", *counted, "best"]
    assert csv.splitlines()[1].startswith('DepthAnythingV2SmallF16P6,all.json,MacBook Pro,macOS 26.2,"Neural Engine, ')


def test_a_damaged_performance_report_is_left_out(tracekit, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(wwdc22()))
    (tmp_path / "b.json").write_text('{"deviceResults": {"predict": {"samples": [-1]}}}')
    result = tracekit("compare", tmp_path, "--no-config")
    assert result.status == 2
    assert "skipped: 'b.json': the report is damaged" in result.err
    assert "22.2 ms" in result.out
    assert "no model named" not in result.err
    other = tracekit("compare", tmp_path, "--model", "Other", "--no-config")
    assert other.status == 2
    assert "YOLOv3" in other.err


def test_other_commands_name_the_one_that_takes_performance_reports(tracekit, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(wwdc22()))
    result = tracekit("check", path, "--no-config")
    assert result.status == 2
    assert "a.json is a performance report; `tracekit compare` takes it" in result.out + result.err


@pytest.mark.parametrize(
    "command",
    sweep_rest(
        "compare", "compare --label {name}", "check", "analyze -v", "analyze --format markdown", "analyze --json"
    ),
)
def test_models_that_are_left_out_are_counted_everywhere(tracekit, samples, monkeypatch, command):
    monkeypatch.setattr("tracekit.report.choice.MAX_MODELS", 3)
    several = [samples / f"style_transfer_{name}.trace" for name in ("reload", "fixed")]
    result = tracekit(*command.split(), *(several if "compare" in command else several[1:]), "--no-config")
    # The sample has five models: its scenario says so.
    assert "are left out of all counts" in " ".join((result.out + result.err).split())
    assert "5 models: shown are the 3 with most time" in " ".join((result.out + result.err).split())
