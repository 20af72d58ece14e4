"""The short report: what it says of each sample, in how many lines, and that nothing of it is untrue or cut in vain."""

from dataclasses import replace

import pytest
from rich.cells import cell_len

import tracekit
from support.analyses import kept_analysis
from support.choice import sweep_rest
from support.forms import long_text, short_text, too_long
from support.handover import trace_of
from support.samples import SAMPLES
from tracekit.api import judge
from tracekit.documents.report import LINES, SCREEN, summary_document
from tracekit.render.forms import render
from tracekit.report.verdict import summarize
from tracekit.testing import Model, Process, Scenario, write_export

MS = 1_000_000
SAMPLE = sweep_rest("style_transfer_reload", *(name for name in SAMPLES if name != "style_transfer_reload"))


@pytest.fixture(scope="module")
def report_of(samples):
    return lambda name: kept_analysis(samples / f"{name}.trace").report


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_takes_some_forty_lines_of_a_hundred_columns(report_of, name):
    lines = short_text(report_of(name)).splitlines()
    # Of a language model alone, verdict and first finding are on a screen of 24 lines.
    assert len(lines) <= (SCREEN if report_of(name).requests else 41)
    assert max(map(cell_len, lines)) <= 100


@pytest.mark.turns(5)
@pytest.mark.parametrize("width", [30, 60, 80, 200])
@pytest.mark.parametrize("name", SAMPLE)
def test_lines_fit_any_width(report_of, name, width):
    assert not too_long(short_text(report_of(name), width=width), width)


@pytest.mark.parametrize("name", SAMPLE)
def test_the_first_finding_and_its_fix_are_on_the_first_screen_of_80_by_24(report_of, name):
    worst = [check.id for check in report_of(name).results if check.outcome == "finding"][:1]
    short, long = (text(report_of(name), width=80).splitlines()[:24] for text in (short_text, long_text))
    assert all(any(check in line for line in lines) for check in worst for lines in (short, long))
    assert any(line.strip().startswith("fix: ") for line in short) == bool(worst)


@pytest.mark.parametrize("name", SAMPLE)
def test_the_summary_comes_last_and_says_once_how_to_read_about_findings(report_of, name):
    report = report_of(name)
    text = short_text(report)
    assert text.endswith(render(summary_document(report), "text", width=100, verbose=False))
    for check in report.results:
        if check.outcome == "finding":
            assert check.id in text
    found = {check.id for check in report.results if check.outcome == "finding"}
    assert text.count("tracekit explain ") == bool(found)
    assert not found or f"tracekit explain {found.pop() if len(found) == 1 else 'ID'}" in text.splitlines()[-1]


def test_the_reload_sample_says_what_the_session_measured(report_of):
    text = short_text(report_of("style_transfer_reload"))
    # WWDC22 session 10027: 373 loads of 6.41 s; each model needs one of them.
    assert "saves up to 17.2 ms per load, 6.3 s of the models' 9.09 s" in text
    for model, loads in {"Pointillism": 81, "InkWash": 84, "StainedGlass": 70, "Watercolor": 61, "Mosaic": 77}.items():
        assert any(line.split()[:2] == [model, str(loads)] for line in text.splitlines())


@pytest.mark.sweep
def test_ten_models_with_many_findings_stay_below_the_limit():
    scenario = Scenario(Process("App", 7), duration_ns=60_000 * MS)
    for number in range(10):
        model, start = Model(f"Model{number}"), (100 + 5_000 * number) * MS
        for k in range(24):
            scenario.load(model, start + 180 * k * MS, 120 * MS)
            prediction = scenario.predict(model, start + (180 * k + 125) * MS, 20 * MS)
            prediction.event("Input Copy", 0, 6 * MS)
            prediction.event("Data Cast", 6 * MS, 3 * MS)
    report = judge(trace_of(scenario))
    assert len({check.id for check in report.results if check.outcome == "finding"}) >= 3
    assert len(short_text(report).splitlines()) <= LINES


def test_ten_models_with_every_check_failing_them_stay_below_the_limit(full):
    names = [f"StyleTransferForTheBackgroundOfTheFrame{number}" for number in range(10)]
    checks = [
        replace(full.results[0], id=f"check-number-{k}", model=name, caveats=("It may be otherwise. " * 12,))
        for k in range(14)
        for name in names
    ]
    blind = next(check for check in full.results if check.outcome == "not_evaluated")
    checks += [
        replace(blind, id=f"blind-{k}", summary=f"Reason {k}. ", record=f"Record for {k} s. " * 12) for k in range(12)
    ]
    report = replace(
        full,
        models=tuple(replace(full.models[0], name=name) for name in names),
        results=tuple(checks),
        summary=summarize(checks),
        recording=replace(full.recording, notes=("A note that is long. " * 12,) * 6),
    )
    text = short_text(report)
    assert len(text.splitlines()) <= LINES
    # Findings come before notes and reasons, and each is named.
    assert all(f"check-number-{k}" in text for k in range(14))
    assert "5 more (-v)" in text
    assert "14 findings (14 critical) in 10 models · " in text


def test_names_of_a_recording_cannot_steer_the_terminal(tmp_path):
    scenario = Scenario(Process("App", 7), duration_ns=3_000 * MS)
    model = Model("Net\u202egnp\u009b2J")
    for k in range(20):
        scenario.load(model, (100 + 100 * k) * MS, 40 * MS)
        scenario.predict(model, (145 + 100 * k) * MS, 8 * MS)
    write_export(scenario, tmp_path)
    text = short_text(tracekit.analyze(tmp_path))
    assert all(line.isprintable() for line in text.splitlines())


def test_each_stage_of_a_pipeline_says_at_the_top_of_models_where_it_ran():
    scenario = Scenario(Process("App", 7), duration_ns=3_000 * MS)
    for number in range(40):
        pipeline = scenario.predict(Model("Detector"), (100 + 50 * number) * MS, 20 * MS)
        pipeline.stage("Backbone", 0, 12 * MS).neural_engine(0, 11 * MS)
        pipeline.stage("Head", 12 * MS, 8 * MS).gpu(0, 7 * MS)
    text = " ".join(short_text(judge(trace_of(scenario))).split())
    engine, gpu = "Neural Engine in 40 of 40 predictions", "GPU in 40 of 40 predictions"
    assert f"MODELS Detector: {engine} (55% of their time) and GPU in 40 (35%)" in text
    assert f"Backbone (stage of Detector): {engine} (92% of their time), not on GPU or CPU Head" in text
    assert f"Head (stage of Detector): not on the Neural Engine: {gpu} (88% of their time), not on CPU model" in text
