"""Findings that are about a cause."""

from dataclasses import replace

import pytest

from support.analyses import kept_analysis
from tracekit.analysis.why.choice import Choice, chosen
from tracekit.analysis.why.explain import FINDINGS, LOADS, why
from tracekit.analysis.why.parts import Cause, differences
from tracekit.detectors.registry import DETECTORS
from tracekit.report.why import finding_about, known_tails, model_why

MS = 1_000_000


@pytest.fixture
def results(samples):
    return kept_analysis(samples / "captions_concurrent.trace").report.results


def test_every_cause_has_checks_that_exist():
    assert set(FINDINGS) == set(Cause)
    assert {name for names in FINDINGS.values() for name in names} <= {detector.id for detector in DETECTORS}


def test_the_finding_about_a_queue_of_its_own_predictions_is_the_one_that_was_found(results):
    found = finding_about(Cause.QUEUED_OWN, "CaptionEncoder", results)
    assert found is not None
    assert found.id == "concurrent-predictions"
    assert finding_about(Cause.QUEUED_OWN, "Nobody", results) is None
    assert finding_about(Cause.COPIES, "CaptionEncoder", results) is None


def test_only_causes_that_made_it_longer_have_findings(samples, results):
    trace = kept_analysis(samples / "captions_concurrent.trace").trace
    (label,) = chosen(differences(trace), Choice())["CaptionEncoder"]
    explained = why(trace, label)
    assert explained is not None
    said = model_why("CaptionEncoder", [explained], None, results)
    assert said.findings == ({"queued_own": "concurrent-predictions"},)
    fix = "limit the predictions in flight, and drop stale inputs instead of queueing them"
    assert said.fixes == {"concurrent-predictions": fix}


def test_longer_work_on_cores_that_models_share_has_the_finding_about_that(results):
    """Rows do not show who had the cores, so the time counts as work of the prediction's own."""
    found = [replace(each, id="cpu-contention") for each in results if each.id == "concurrent-predictions"]
    assert finding_about(Cause.WORK, "CaptionEncoder", found) == found[0]


@pytest.mark.parametrize("check", sorted(LOADS))
def test_what_loads_cost_is_about_the_first_prediction_alone(results, check):
    cause = next(cause for cause, checks in FINDINGS.items() if check in checks)
    found = [replace(each, id=check) for each in results if each.id == "concurrent-predictions"]
    assert finding_about(cause, "CaptionEncoder", found, is_first=True) == found[0]
    assert finding_about(cause, "CaptionEncoder", found) is None


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, True),
        ({"usual_ns": 95 * MS}, False),
        ({"parts": {"not_visible": 60, "queued_own": 40}, "extra_ns": 100}, False),
        ({"parts": {"not_visible": 50, "queued_own": 50}, "extra_ns": 100}, True),
    ],
)
def test_only_a_p95_far_from_usual_that_something_shows_is_told(samples, results, changes, shown):
    (model,) = kept_analysis(samples / "captions_concurrent.trace").report.models
    assert model.tail is not None
    changed = replace(model, tail=replace(model.tail, **changes))
    assert [each.name for each, _, _ in known_tails([changed], results)] == ["CaptionEncoder"] * shown
    assert not list(known_tails([replace(model, tail=None)], results))
