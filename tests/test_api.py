"""The Python interface: few names, light to import, the same numbers as the command line."""

from __future__ import annotations

import importlib
import json
import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import tracekit
from support.choice import sweep_rest
from tracekit.cli.dispatch import main
from tracekit.report.serialize import to_json
from tracekit.testing import Draws, Model, Process, Scenario, cpu, start_recording, write_export

if TYPE_CHECKING:
    from collections.abc import Sequence

PUBLIC = [
    "Checked",
    "Comparison",
    "Finding",
    "History",
    "Inspection",
    "LoadedTrace",
    "LoadedTraces",
    "MissingColumn",
    "PerformanceInspection",
    "Recording",
    "Replay",
    "Report",
    "Table",
    "Trace",
    "TracekitError",
    "UnreadableRecording",
    "UsageError",
    "Why",
    "__version__",
    "analyze",
    "check",
    "compare",
    "history",
    "in_ms",
    "inspect",
    "open_recording",
    "open_trace",
    "read",
    "read_many",
    "why",
]


def test_the_public_names_are_these_and_come_from_where_they_are_said_to_be() -> None:
    assert tracekit.__all__ == PUBLIC
    assert dir(tracekit) == PUBLIC
    for name in PUBLIC:
        assert getattr(tracekit, name) is not None

    assert sorted(name for names in tracekit._LAZY.values() for name in names) == PUBLIC
    for module, names in tracekit._LAZY.items():
        for name in names:
            assert getattr(tracekit, name) is getattr(importlib.import_module(f"tracekit.{module}"), name)

    modules = {module.name for module in pkgutil.iter_modules(tracekit.__path__)}
    assert not modules & {*PUBLIC}

    with pytest.raises(AttributeError, match="no attribute 'analyse'"):
        tracekit.analyse  # noqa: B018


def test_analyze_gives_the_report_that_the_command_prints(samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = samples / "sharpen_8bit.trace"
    assert main(["analyze", str(path), "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    # Only a report that is written has what a comparison needs.
    assert printed.pop("measurements")
    report = json.loads(to_json(tracekit.analyze(path)))
    assert report.pop("measurements") is None
    assert printed == report


def test_every_argument_reaches_the_analysis(samples: Path) -> None:
    report = tracekit.analyze(
        [samples / "style_transfer_reload.trace"],
        run=1,
        models=["Mosaic"],
        process=2147,
        only=["reload-before-predict"],
        settings={"reload-before-predict.loads_per_prediction": 2},
        sort="mean",
        redact=False,
    )
    assert [(check.id, check.model, check.outcome) for check in report.results] == [
        ("reload-before-predict", "Mosaic", "passed")
    ]
    means = [row.statistics.mean_ns for row in report.aggregation]
    assert means == sorted(means, reverse=True)
    assert not report.recording.redacted


def test_a_path_may_be_text_and_one_that_cannot_be_read_has_an_error_of_its_own(samples: Path, tmp_path: Path) -> None:
    assert tracekit.open_trace(str(samples / "sharpen_float16.trace")).run.number == 1

    with pytest.raises(tracekit.UnreadableRecording, match=r"gone\.xml"):
        tracekit.analyze(tmp_path / "gone.xml")


@pytest.mark.parametrize(
    "arguments",
    [{"only": ["x"]}, {"skip": ["x"]}, {"settings": {"x.y": 1}}, {"sort": "x"}, {"models": ["x"]}, {"run": 9}],
    ids=lambda arguments: next(iter(arguments)),
)
def test_a_name_that_is_not_there_is_a_usage_error(samples: Path, arguments: dict[str, object]) -> None:
    with pytest.raises(tracekit.UsageError):
        tracekit.analyze(samples / "sharpen_float16.trace", **arguments)  # type: ignore[arg-type]


def test_a_unit_can_be_expected_of_a_model_that_only_call_stacks_know(tmp_path: Path) -> None:
    app = start_recording(Draws(3), noise=False, code=True)
    for _ in range(9):
        app.predict(Model("Net"), cpu(20_000_000), inputs=0)
        app.pause(10_000_000)
    scenario = app.finish()
    scenario.emptied.add("coreml-os-signpost")
    write_export(scenario, tmp_path)
    name = "model called at Style.swift:42"
    report = tracekit.analyze(tmp_path, only="not-on-expected-unit", expect=f"{name}=neural-engine")
    assert [(result.model, result.outcome) for result in report.results] == [(name, "finding")]
    with pytest.raises(tracekit.UsageError, match="unknown model 'Net'"):
        tracekit.analyze(tmp_path, only="not-on-expected-unit", expect="Net=neural-engine")


def test_of_too_many_models_the_busiest_are_reported_and_the_rest_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = Scenario(Process("Camera", 412), duration_ns=2_000_000_000)
    # The later a model, the longer its calls.
    for k, name in enumerate("ABCDE"):
        scenario.load(Model(name), 100_000_000 * k, 1_000_000)
        scenario.predict(Model(name), 100_000_000 * k + 2_000_000, 5_000_000 * (k + 1))
    scenario.gpu_work(1_500_000_000, 1_000_000, Process("Other", 9))
    write_export(scenario, tmp_path)
    whole = tracekit.analyze(tmp_path)
    monkeypatch.setattr("tracekit.report.choice.MAX_MODELS", 3)
    report = tracekit.analyze(tmp_path)
    assert sorted(model.name for model in report.models) == ["C", "D", "E"]
    (note,) = (note for note in report.recording.notes if "5 models" in note)
    assert "shown are the 3 with most time; 2 with 2 predictions and 2 loads (17.0 ms)" in note
    assert {check.model for check in report.results} <= {None, "C", "D", "E"}
    # What names no model, and what the recording holds, stay whole.
    lanes = [[row for row in each.aggregation if row.lane == "gpu"] for each in (whole, report)]
    assert lanes[0] == lanes[1] != []
    assert [table.rows for table in report.tables] == [table.rows for table in whole.tables]
    assert [model.name for model in tracekit.analyze(tmp_path, models="A").models] == ["A"]


def _recorded(folder: Path, names: Sequence[str], far_ns: int) -> Path:
    """Two predictions of each model, one at the beginning and one `far_ns` later."""
    scenario = Scenario(Process("Camera", 412), duration_ns=far_ns + 1_000_000_000)
    for k, name in enumerate(names):
        for start_ns in (k * 10_000, far_ns + k * 10_000):
            scenario.predict(Model(name), start_ns, 5_000)
    write_export(scenario, folder)
    return folder


def test_a_name_longer_than_any_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tracekit.UnreadableRecording, match="more than 1,000 characters") as caught:
        tracekit.analyze(_recorded(tmp_path, ["m" * 1_001], 1_000_000))
    assert len(str(caught.value)) < 200


def test_a_name_of_a_thousand_characters_is_reported(tmp_path: Path) -> None:
    report = tracekit.analyze(_recorded(tmp_path, ["m" * 1_000], 1_000_000), redact=False)
    assert [model.name for model in report.models] == ["m" * 1_000]


def test_pauses_whose_sum_would_wrap_around_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    far_ns = 2**49
    (tmp_path / "one").mkdir()
    one = _recorded(tmp_path / "one", ["A"], far_ns)
    (tmp_path / "five").mkdir()
    five = _recorded(tmp_path / "five", list("ABCDE"), far_ns)
    monkeypatch.setattr("tracekit.report.choice.MAX_INSTANCE_SPAN_NS", 4 * far_ns)
    tracekit.analyze(one)
    with pytest.raises(tracekit.UnreadableRecording, match=r"too many model instances \(5\)"):
        tracekit.analyze(five)


@pytest.mark.parametrize("name", sweep_rest("captions_concurrent", "sharpen_8bit"))
def test_text_kept_by_pyarrow_or_not_gives_the_same_report(samples: Path, name: str) -> None:
    pytest.importorskip("pyarrow")
    reports_by_kind = {}
    for storage in ("python", "pyarrow"):
        with pd.option_context("mode.string_storage", storage):
            trace = tracekit.open_trace(samples / f"{name}.trace")
            assert trace.activity.frame().columns.dtype == pd.StringDtype(storage, na_value=float("nan"))
            reports_by_kind[storage] = to_json(tracekit.analyze(samples / f"{name}.trace"))
    assert reports_by_kind["python"] == reports_by_kind["pyarrow"]
