"""Recordings side by side in a notebook: what the commands say, as frames and pages."""

import json
from html import unescape

import numpy as np
import pytest

import tracekit
from support.performance_reports import wwdc22
from tracekit.cli.dispatch import main


def test_a_comparison_is_that_of_the_command(samples, capsys):
    before, after = samples / "sharpen_8bit.trace", samples / "sharpen_float16.trace"
    assert main(["compare", str(before), str(after), "--json", "--jobs", "1"]) == 0
    printed = capsys.readouterr().out
    # A recording that is open already is taken, too.
    comparison = tracekit.compare(tracekit.read(before), [after])
    assert json.loads(comparison.to_json()) == json.loads(printed)
    # So are the recordings of a folder.
    several = tracekit.compare(tracekit.read_many([before]), after)
    assert json.loads(several.to_json()) == json.loads(printed)
    (row,) = comparison.to_frame().to_dict("records")
    assert (row["model"], row["answer"], row["loads_before"], row["loads_after"]) == ("SharpenFilter", "improved", 1, 1)
    assert row["ratio"] == pytest.approx(row["after_ns"] / row["before_ns"])
    assert row["low"] < row["ratio"] < row["high"] < 1
    said = "improved: SharpenFilter −30% · 2 findings fixed"
    assert repr(comparison) == f"<Comparison: {said}>"
    assert said in comparison.to_markdown()
    assert f"<p>{said}</p>" in unescape(comparison._repr_html_()).replace(' class="verdict clean"', "")
    with pytest.raises(tracekit.UsageError, match="is given twice"):
        tracekit.compare([before, before], after)
    with pytest.raises(tracekit.UsageError, match="no recording is given"):
        tracekit.compare(before, [])


def test_a_matrix_is_a_frame(samples):
    paths = [samples / f"sharpen_{kind}.trace" for kind in ("8bit", "float16")]
    matrix = tracekit.compare(paths)
    frame = matrix.to_frame()
    assert [*frame] == ["sharpen_8bit.trace", "sharpen_float16.trace"]
    for path in paths:
        calls = tracekit.read(path).predictions["duration_ns"]
        assert frame.loc[("SharpenFilter", "predictions"), path.name] == len(calls) == 140
        # All but the first one, after the load; measured to 100 ns.
        assert frame.loc[("SharpenFilter", "p50_ns"), path.name] == pytest.approx(calls.iloc[1:].median(), abs=100)
    assert [*tracekit.compare(paths, labels="{device}").to_frame()] == ["iPhone 14 Pro"]
    assert "2 recordings" in matrix._repr_html_()


def test_reports_and_history_files_stand_for_recordings(samples, tmp_path):
    recording, report, file = samples / "sharpen_8bit.trace", tmp_path / "sharpen.json", tmp_path / "history.jsonl"
    assert main(["analyze", str(recording), "-q", "-o", str(report), "--commit", "abc1234"]) == 0
    assert main(["history", str(report), "--add-to", str(file), "-q"]) == 0
    first, *others = [tracekit.history(path).to_frame() for path in (report, file)]
    for frame in others:
        assert frame.equals(first)
    assert first["commit"].tolist() == ["abc1234"]
    calls = tracekit.read(recording).predictions["duration_ns"]
    assert first["p50_ns"].item() == pytest.approx(calls.iloc[1:].median(), abs=100)
    assert np.isnan(first["cold_load_ns"].item())
    assert tracekit.compare(report, recording).compared[0].latency.answer == "unchanged"
    with pytest.raises(tracekit.UsageError, match="unknown model 'Blur'"):
        tracekit.history(file, models="Blur")
    with pytest.raises(tracekit.UsageError, match="a report is on one run"):
        tracekit.history(report, run=1)


def test_inspected_files_show_themselves(tmp_path, built_models):
    path = tmp_path / "YOLO.json"
    path.write_text(json.dumps(wwdc22()), encoding="utf-8")
    inspected = tracekit.inspect(path)
    assert inspected.to_dict()["$schema"] == "urn:tracekit:performance:1"
    assert "<iframe" in inspected._repr_html_()

    model = next(iter(sorted(built_models.glob("*.mlpackage"))))
    inspected = tracekit.inspect(model, system="iOS17", only="deployment-target")
    assert {result.id for result in inspected.results} == {"deployment-target"}
    assert inspected.target is not None
    assert model.stem in inspected._repr_html_()

    def verdict(**options):
        return tracekit.inspect(built_models / "long_input.mlpackage", **options).neural_engine[0].verdict

    # 20,000 elements are more than M3 takes and less than M4 does.
    assert verdict(chip="M3").startswith("no: ")
    assert verdict(chip="M4") == "likely, all of it"
    assert verdict(chip="M4", settings={"unsupported-dimensions.max_size_newer": 16_384}).startswith("no: ")
