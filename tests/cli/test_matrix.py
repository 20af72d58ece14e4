"""`tracekit matrix` on the command line."""

from __future__ import annotations

import json

import pytest

from support.choice import sweep_rest
from support.performance_reports import PRIVATE, article_2026, wwdc22


def test_recordings_stand_side_by_side_under_their_labels(tracekit, samples, tmp_path):
    result = tracekit("matrix", samples / "sharpen_8bit.trace", samples / "sharpen_float16.trace", "--no-config")
    assert result.status == 0
    assert result.out.splitlines()[0].split() == ["sharpen_8bit.trace", "sharpen_float16.trace"]

    result = tracekit("matrix", samples / "sharpen_8bit.trace", "-q", "--no-config")
    assert result.out.startswith("1 model")
    assert result.out.count("\n") == 1

    page = tmp_path / "m.html"
    paths = [samples / f"{name}.trace" for name in ("sharpen_8bit", "sharpen_float16")]
    result = tracekit("matrix", *paths, "--label", "8 bit", "--label", "16 bit", "--json", "-o", page)
    assert [column["label"] for column in result.json["columns"]] == ["8 bit", "16 bit"]
    assert "16 bit" in page.read_text()

    result = tracekit("matrix", tmp_path / "gone.trace", samples / "sharpen_8bit.trace", "--format", "csv")
    assert result.status == 2
    assert "gone.trace" in result.err
    assert "SharpenFilter,sharpen_8bit.trace" in result.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "PATH"),
        (("a.trace", "-o", "m.pdf"), "unknown extension"),
        (("a.trace", "b.trace", "--label", "a", "--label", "b", "--label", "c"), "given 3 times for 2 paths"),
        (("a.trace",), "a.trace: no such file"),
    ],
)
def test_wrong_usage_is_one_sentence(tracekit, arguments, words):
    result = tracekit("matrix", *arguments)
    assert result.status == 2
    assert words in result.err
    assert result.err.count("\n") == 1


def test_performance_reports_stand_beside_recordings(tracekit, samples, tmp_path):
    for name, document in (("all.json", article_2026()), ("cpu.json", article_2026(cpu_only=True))):
        (tmp_path / name).write_text(json.dumps(document))
    result = tracekit("matrix", tmp_path, samples / "sharpen_8bit.trace", "--label", "{name}", "--no-config")
    assert (result.status, result.err.count("skipped")) == (0, 0)
    assert result.out.splitlines()[0].split() == ["all.json", "cpu.json", "sharpen_8bit.trace"]
    (median,) = [line for line in result.out.splitlines() if line.startswith("  median") and "22.9" in line]
    assert median.split()[1:] == ["*22.9", "ms", "54.5", "ms"]
    assert "planned, not observed" in " ".join(result.out.split())
    assert not any(text in result.out for text in PRIVATE)
    csv = tracekit("matrix", tmp_path / "all.json", "--format", "csv", "--no-config").out
    counted = ["predictions", "tokens_per_second", "signposts", "first_tokens", "next_tokens"]
    assert csv.splitlines()[0].split(",")[-7:] == ["planned_neural_engine", *counted, "best"]
    assert csv.splitlines()[1].startswith('DepthAnythingV2SmallF16P6,all.json,MacBook Pro,macOS 26.2,"Neural Engine, ')


def test_a_damaged_performance_report_is_left_out(tracekit, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(wwdc22()))
    (tmp_path / "b.json").write_text('{"deviceResults": {"predict": {"samples": [-1]}}}')
    result = tracekit("matrix", tmp_path, "--no-config")
    assert result.status == 2
    assert "skipped: 'b.json': the report is damaged" in result.err
    assert "22.2 ms" in result.out
    assert "no model named" not in result.err
    other = tracekit("matrix", tmp_path / "a.json", "--model", "Other", "--no-config")
    assert other.status == 2
    assert "YOLOv3" in other.err


@pytest.mark.parametrize("command", ["compare", "check"])
def test_other_commands_name_the_one_that_takes_performance_reports(tracekit, tmp_path, command):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(wwdc22()))
    second = [path] if command == "compare" else []
    result = tracekit(command, path, *second, "--no-config")
    assert result.status == 2
    assert "a.json is a performance report; `tracekit matrix` takes it" in result.out + result.err


@pytest.mark.parametrize(
    "command", sweep_rest("matrix", "compare", "check", "analyze -v", "analyze --format markdown", "analyze --json")
)
def test_models_that_are_left_out_are_counted_everywhere(tracekit, samples, monkeypatch, command):
    monkeypatch.setattr("tracekit.report.choice.MAX_MODELS", 3)
    several = [samples / f"style_transfer_{name}.trace" for name in ("reload", "fixed")]
    result = tracekit(*command.split(), *(several if command == "compare" else several[1:]), "--no-config")
    # The sample has five models: its scenario says so.
    assert "are left out of all counts" in " ".join((result.out + result.err).split())
    assert "5 models: shown are the 3 with most time" in " ".join((result.out + result.err).split())
