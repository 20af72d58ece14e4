"""`tracekit analyze`: which detectors, models, processes and runs, and by which settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tracekit as api
from tracekit.report.choice import Part
from tracekit.request import request_of
from tracekit.tui.opening import judge_session, read


def test_only_and_skip_choose_detectors_in_lists_and_repetitions(tracekit, reload: Path) -> None:
    def judged(*arguments: str) -> set[str]:
        report = tracekit("analyze", reload, "--format", "json", *arguments).json
        return {check["id"] for check in report["results"]}

    assert judged("--only", "excess-data-copies") == {"excess-data-copies"}
    both = {"excess-data-copies", "concurrent-predictions"}
    assert judged("--only", "excess-data-copies,concurrent-predictions") == both
    assert judged("--only", "excess-data-copies", "--only", "concurrent-predictions") == both
    assert judged("--skip", "reload-before-predict") == judged() - {"reload-before-predict"}
    assert judged("--only", "excess-data-copies, concurrent-predictions", "--skip", "excess-data-copies") == {
        "concurrent-predictions"
    }


def test_sort_orders_the_aggregation(tracekit, reload: Path) -> None:
    for column, field in (("mean", "mean_ns"), ("count", "count"), ("total", "total_ns")):
        rows = tracekit("analyze", reload, "--format", "json", "--sort", column).json["aggregation"]
        values = [row["statistics"][field] for row in rows]
        assert values == sorted(values, reverse=True) != sorted(values)


def test_set_changes_a_threshold(tracekit, reload: Path) -> None:
    arguments = ("--format", "json", "--only", "reload-before-predict")
    assert tracekit("analyze", reload, *arguments).json["summary"]["models"] == 5
    changed = tracekit("analyze", reload, *arguments, "--set", "reload-before-predict.min_loads=80")
    # Of the five models, two are loaded at least 80 times (81 and 84).
    models = {check["model"] for check in changed.json["results"] if check["outcome"] == "finding"}
    assert models == {"Pointillism", "InkWash"}


def test_models_process_and_run_are_chosen(tracekit, reload: Path) -> None:
    def models(*arguments: str) -> set[str]:
        report = tracekit("analyze", reload, "--format", "json", *arguments).json
        assert any("are counted" in note for note in report["recording"]["notes"])
        return {model["name"] for model in report["models"]}

    assert models("--model", "Mosaic") == {"Mosaic"}
    assert models("--model", "*l*s*", "--model", "Mosaic") == {"Pointillism", "StainedGlass", "Mosaic"}

    result = tracekit("analyze", reload, "--format", "json", "--process", "2147")
    report = result.json
    assert report["summary"]["models"] == 5
    assert any(
        "process 2147" in note and "hardware rows do not name a process" in note
        for note in report["recording"]["notes"]
    )

    report = tracekit("analyze", reload, "--format", "json", "--run", "1").json
    assert (report["recording"]["run"], report["recording"]["runs"]) == (1, [1])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--only", "nonsense"], "unknown check 'nonsense'; list them with `tracekit explain`"),
        (["--skip", "reload-before-predictt"], "did you mean 'reload-before-predict'?"),
        (["--set", "reload-before-predict.minloads=1"], "did you mean 'min_loads'?"),
        (["--set", "reload-before-predict.min_loads"], "expected CHECK.OPTION=VALUE"),
        (["--sort", "meen"], "unknown column 'meen'; did you mean 'mean'?"),
        (["--run", "2"], "has no run 2 (runs: 1)"),
        (["--model", "Mosaik"], "unknown model 'Mosaik'; did you mean 'Mosaic'?"),
        (["--model", "X*"], "unknown model 'X*' (available: InkWash, Mosaic, "),
        (["--budget", "fast"], "write a time or a rate above 0"),
        (["--expect", "npu"], "write cpu, gpu or neural-engine"),
        (["--expect", "Mosiac=gpu"], "did you mean 'Mosaic'?"),
        (["--process", "StyleCan"], "unknown process 'StyleCan'; did you mean 'StyleCam'?"),
    ],
)
def test_what_does_not_exist_is_refused_with_the_choices(
    tracekit, reload: Path, arguments: list[str], sentence: str
) -> None:
    result = tracekit("analyze", reload, *arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("tracekit: ")
    assert sentence in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--only", "nonsense"], ["--set", "a.b=1"], ["--sort", "x"]])
def test_bad_names_are_found_before_the_recording_is_read(tracekit, tmp_path: Path, arguments: list[str]) -> None:
    result = tracekit("analyze", tmp_path / "does not exist.xml", *arguments)
    assert result.status == 2
    assert "does not exist.xml" not in result.err


def test_a_budget_can_be_given_for_all_models_or_for_one(tracekit, clean: Path) -> None:
    """All five styles take about 7 ms."""
    options = ("--only", "missed-deadline", "--format", "json")

    def late(*budgets: str) -> set[str]:
        report = tracekit("analyze", clean, *options, *budgets).json
        return {check["model"] for check in report["results"] if check["outcome"] == "finding"}

    assert late() == set()
    assert late("--budget", "30fps") == set()
    assert late("--budget", "5ms") == {"Watercolor", "InkWash", "Pointillism", "Mosaic", "StainedGlass"}
    assert late("--budget", "30fps", "--budget", "Mosaic=5ms") == {"Mosaic"}
    assert late("--budget", "5", "--budget", "[!M]*=30fps") == {"Mosaic"}


def test_a_compute_unit_can_be_expected_of_all_models_or_of_one(tracekit, clean: Path) -> None:
    """All five styles run half on the Neural Engine and 40 % on the GPU, never on the CPU."""
    options = ("--only", "not-on-expected-unit", "--format", "json")

    def elsewhere(*expectations: str) -> set[str]:
        report = tracekit("analyze", clean, *options, *expectations).json
        return {check["model"] for check in report["results"] if check["outcome"] == "finding"}

    assert elsewhere() == set()
    assert elsewhere("--expect", "neural-engine") == set()
    assert elsewhere("--expect", "cpu") == {"Watercolor", "InkWash", "Pointillism", "Mosaic", "StainedGlass"}
    assert elsewhere("--expect", "neural-engine", "--expect", "Mosaic=cpu") == {"Mosaic"}


SLICE = ("--from", "3", "--to", "8", "--model", "Mosaic")
"""Mosaic has no event before 10.4 s."""
WHEN = (
    "no load or prediction of Mosaic starts from 3 s to 8 s: the first starts at "
    r"10\.[34]\d* s, the last ends at 1\d\.\d+ s"
)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("analyze", *SLICE), f"^Inconclusive: {WHEN}"),
        (("analyze", *SLICE, "--only", "reload-before-predict", "-q"), "^Inconclusive: 1 check not evaluated · exit"),
        (("analyze", *SLICE, "--format", "brief"), f'"Inconclusive: {WHEN}'),
        (("analyze", *SLICE, "--format", "json"), f'"verdict": "Inconclusive: {WHEN}'),
        (("analyze", *SLICE, "--format", "markdown"), f"Inconclusive: {WHEN}".replace(r"\(", r"\\?\(")),
        (("check", *SLICE, "--p50", "1s"), f"1 inconclusive: input: .*: {WHEN}"),
        (("check", *SLICE, "--p50", "1s", "--format", "json"), '"verdict": "inconclusive"'),
    ],
)
def test_a_part_without_an_event_of_the_chosen_model_passes_nowhere(tracekit, reload: Path, arguments, says) -> None:
    result = tracekit(arguments[0], reload, *arguments[1:])
    assert result.status == 3
    text = " ".join(result.out.split())
    assert re.search(says, text), text


@pytest.mark.usefixtures("tracekit")
def test_a_part_without_an_event_of_the_chosen_model_has_no_verdict_in_a_notebook_nor_in_view(reload: Path) -> None:
    options = {"models": "Mosaic", "part": Part(3_000_000_000, 8_000_000_000)}
    for report in (api.analyze(reload, **options), judge_session(read(str(reload), request_of(**options))).report):
        assert not report.summary.evaluated
        assert re.search(WHEN, report.summary.verdict)
