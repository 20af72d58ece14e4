"""Models that were loaded before the recording began, and loads that are missing for another reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tracekit.detectors import NoOptions, RecordingView
from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated
from tracekit.detectors.rules.attached_late import detect
from tracekit.detectors.runner import run_detectors
from tracekit.recording import open_recording
from tracekit.testing import write_bundle
from tracekit.testing.rows import Model
from tracekit.trace.build import NEEDED_SCHEMAS, build_trace
from tracekit.trace.instruments.tables import LifeCycle

ID = "attached-late"
MS = 1_000_000
NET, POSE = Model("Net"), Model("Pose")


@pytest.fixture
def attached(scenario):
    scenario.launched = False
    return scenario


def use(scenario, model: Model, start: int = 1_000 * MS, count: int = 5) -> None:
    for number in range(count):
        scenario.predict(model, start + number * 20 * MS, 10 * MS)


def judged(judge, scenario):
    return judge(scenario, ID)[None]


def test_a_model_that_predicts_without_a_load_was_loaded_before(attached, judge):
    use(attached, NET)
    finding = judged(judge, attached)
    assert finding.cost is None
    assert "no load of Net was recorded" in finding.summary
    assert [(entry.start_ns, entry.model) for entry in finding.evidence] == [(1_000 * MS, "Net")]


def test_only_the_models_without_a_load_are_named(attached, judge):
    attached.load(NET, 100 * MS, 50 * MS)
    use(attached, NET)
    use(attached, POSE, 2_000 * MS)
    summary = judged(judge, attached).summary
    assert "no load of Pose was recorded" in summary
    assert "Net" not in summary


def test_predictions_without_a_name_are_told(attached, judge):
    attached.load(NET, 100 * MS, 50 * MS)
    use(attached, NET)
    use(attached, Model("", None), 2_000 * MS, count=3)
    finding = judged(judge, attached)
    assert isinstance(finding, Finding)
    assert "3 predictions have no model name" in finding.summary


def test_a_launched_app_without_loads_is_another_matter(scenario, judge):
    use(scenario, NET)
    outcome = judged(judge, scenario)
    assert isinstance(outcome, NotEvaluated)
    assert "The app's launch was recorded" in outcome.reason


def test_without_a_prediction_nothing_was_missed(attached, judge):
    attached.load(NET, 100 * MS, 50 * MS)
    assert isinstance(judged(judge, attached), NotApplicable)


@pytest.mark.parametrize(("launched", "expected"), [(True, NotEvaluated), (False, Finding)])
def test_a_bundle_tells_by_the_life_cycle_of_the_app(scenario, tmp_path, launched, expected):
    scenario.launched = launched
    use(scenario, NET)
    write_bundle(scenario, tmp_path / "run.trace", rows_per_block=64)
    trace = build_trace(open_recording(tmp_path / "run.trace", schemas=NEEDED_SCHEMAS))
    assert trace.run.target.kind is None
    (judgment,) = run_detectors(trace, only=[ID])
    assert isinstance(judgment.outcome, expected)
    unknown = replace(trace, context={name: frame for name, frame in trace.context.items() if name != "life_cycle"})
    outcome = detect(RecordingView(unknown), NoOptions())
    assert isinstance(outcome, NotEvaluated)
    assert "unknown" in outcome.reason
    no_rows = replace(trace, context=trace.context | {"life_cycle": LifeCycle.none()})
    assert isinstance(detect(RecordingView(no_rows), NoOptions()), NotEvaluated)
    windowed = replace(trace, run=replace(trace.run, recording_mode="Windowed (5 seconds)"))
    assert isinstance(detect(RecordingView(windowed), NoOptions()), NotApplicable)
