"""`tracekit inspect` of performance reports and compute plans."""

from __future__ import annotations

import io
import json
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from support.performance_reports import PRIVATE, article_2026, coremltools_json, dumped_json, profiler_json, wwdc22
from tracekit.model_files.performance.read import load_performance_report


@pytest.fixture
def saved(tmp_path: Path):
    def save(document: object, name: str = "report.json") -> Path:
        path = tmp_path / name
        path.write_text(json.dumps(document))
        return path

    return save


def test_the_result_comes_first(tracekit, saved, monkeypatch) -> None:
    result = tracekit("inspect", saved(wwdc22()))
    lines = result.out.splitlines()
    assert (result.status, result.err) == (0, "")
    verdict = " ".join(line.strip() for line in lines[:2])
    assert verdict.startswith("22.2 ms per prediction (median), fast enough for 45 fps · 86 operations: ")
    assert "32 on the Neural Engine, 54 on the GPU" in verdict
    assert lines[2] == "YOLOv3 · iPhone 13 Pro, iOS 16.0 · all compute units · Xcode performance report"
    assert max(map(len, lines)) <= 100
    assert len(lines) <= 40
    assert tracekit("inspect", saved(wwdc22()), "-q").out == f"{verdict}\n"

    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(json.dumps(wwdc22()).encode())))
    assert tracekit("inspect", "-", "-q").out.startswith("22.2 ms per prediction")


def test_cold_values_and_placement_are_told(tracekit, saved) -> None:
    out = tracekit("inspect", saved(article_2026())).out
    assert "  load, not cached: 4.00 s, 3.00 s, 3.00 s\n" in out
    assert "  1 operation cannot run there: cast 1 (too big)\n" in out
    assert "  23 operations can run there: upsample_bilinear 21, add 2\n" in out

    out = tracekit("inspect", saved(article_2026(cpu_only=True)), "-v").out
    assert "CPU only" in out
    assert "NEURAL ENGINE" not in out
    assert "  763" in out
    assert "cannot run there" not in out

    summary = tracekit("inspect", saved(article_2026()), "--json").json["summary"]
    assert summary["operations"] == 764
    assert summary["units"] == {"CPU": 3, "GPU": 21, "Neural Engine": 740}
    assert summary["incompatible"] == {"Neural Engine": 1}
    assert summary["hand_offs"][0] == {"source": "CPU", "target": "GPU", "count": 1}
    assert summary["fps"] == 43


def test_operations_are_filtered_by_unit_and_markdown_has_times_and_each(tracekit, saved, built_models) -> None:
    path = saved(article_2026())
    listed = tracekit("inspect", path, "--unit", "cpu").out
    assert "cast_0" in listed
    assert "add_cpu_1" in listed
    assert "conv_neuralEngine" not in listed
    markdown = tracekit("inspect", path, "--unit", "gpu", "--format", "markdown").out
    assert markdown.count("| `upsample_bilinear_gpu_") == 21
    assert "OPERATIONS ON THE CPU\n  none\n" in tracekit("inspect", saved(coremltools_json()), "--unit", "cpu").out

    out = tracekit("inspect", saved(profiler_json()), "--format", "md").out
    assert "**20.0 ms per prediction (median), fast enough for 50 fps · 2 operations: " in out
    assert "| 15.0 ms, 75% | Neural Engine | conv | `out_1` |" in out
    assert "| 1 | `out_2` | topk | runs | can | – | 5.00 ms, 25% |" in out

    result = tracekit("inspect", built_models / "float16_interface.mlpackage", "--unit", "cpu")
    assert result.status == 2
    assert "--unit is for performance reports" in result.err


@pytest.mark.parametrize(
    "document", [wwdc22(), article_2026(cpu_only=True), profiler_json(), coremltools_json(), dumped_json("short")]
)
def test_the_json_is_read_again(tracekit, saved, tmp_path, document) -> None:
    given = saved(document, "given.json")
    written = tmp_path / "again.json"
    assert tracekit("inspect", given, "-o", written).status == 0
    before, after = load_performance_report(given), load_performance_report(written)
    assert (after.name, after.form, after.asked, after.notes) == (before.name, before.form, before.asked, before.notes)
    assert (after.operations, after.counts, after.transitions) == (before.operations, before.counts, before.transitions)
    assert [entry and entry.median_ns for entry in (after.prediction, after.load, after.compile)] == [
        entry and pytest.approx(entry.median_ns) for entry in (before.prediction, before.load, before.compile)
    ]
    if before.load is not None:
        assert after.load.first_ns == pytest.approx(before.load.first_ns)


@pytest.mark.parametrize("option", [("--json",), ("-v",), ("--format", "markdown"), ("--json", "--no-redact")])
def test_nothing_private_of_the_device_is_told(tracekit, saved, option) -> None:
    out = tracekit("inspect", saved(wwdc22()), *option).out
    assert "YOLOv3" in out
    assert not any(text in out for text in PRIVATE)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(("--system", "iOS16"), "--system is for model files"), (("--only", "long-input"), "--only is for model files")],
)
def test_options_of_models_are_refused(tracekit, saved, arguments, words) -> None:
    result = tracekit("inspect", saved(wwdc22()), *arguments)
    assert result.status == 2
    assert words in result.err
    assert result.err.count("\n") == 1


def test_a_narrow_screen_sheds_columns_and_cuts_no_number(tracekit, saved, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "46")
    out = tracekit("inspect", saved(article_2026()), "--unit", "gpu").out
    lines = out.splitlines()
    assert max(map(len, lines)) <= 46
    (times,) = [line for line in lines if line.startswith("  prediction ")]
    assert times.split()[:3] == ["prediction", "22.9", "ms"]
    assert not any(character.isdigit() and after == "…" for character, after in pairwise(out))
    rows = [line for line in lines if "upsam" in line and line.split()[0].isdigit() and "runs" in line]
    assert len(rows) == 21
    assert {tuple(line.split()[-3:]) for line in rows} == {("can", "runs", "can")}
