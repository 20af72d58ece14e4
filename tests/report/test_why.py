"""Findings that are about a cause."""

from dataclasses import replace

import pytest

from support.analyses import kept_analysis
from tracekit.analysis.ledger.account import ledger
from tracekit.analysis.ledger.causes import Cause
from tracekit.analysis.ledger.choice import Choice, chosen
from tracekit.analysis.ledger.explain import why
from tracekit.detectors.plugins import checks_about
from tracekit.report.why import finding_about, known_tails, model_why

MS = 1_000_000


@pytest.fixture
def results(samples):
    return kept_analysis(samples / "captions_concurrent.trace").report.results


def test_the_finding_about_a_queue_of_its_own_predictions_is_the_one_that_was_found(results):
    found = finding_about(Cause.QUEUED_OWN, "CaptionEncoder", results)
    assert found is not None
    assert found.id == "concurrent-predictions"
    assert finding_about(Cause.QUEUED_OWN, "Nobody", results) is None
    assert finding_about(Cause.COPIES, "CaptionEncoder", results) is None


def test_only_causes_that_made_it_longer_have_findings(samples, results):
    trace = kept_analysis(samples / "captions_concurrent.trace").trace
    (label,) = chosen(ledger(trace), Choice())["CaptionEncoder"]
    explained = why(trace, label)
    assert explained is not None
    said = model_why("CaptionEncoder", [explained], None, results)
    assert said.findings == ({"queued_own": "concurrent-predictions"},)
    fix = "limit the predictions in flight, and drop stale inputs instead of queueing them"
    assert said.fixes == {"concurrent-predictions": fix}


@pytest.mark.parametrize("check", ["warm-up-spike", "cold-load", "recompiled-each-run"])
def test_what_loads_cost_is_about_the_first_prediction_alone(results, check):
    found = [replace(result, id=check) for result in results if result.id == "concurrent-predictions"]
    assert finding_about(Cause.SPECIALIZING, "CaptionEncoder", found, is_first=True) == found[0]
    assert finding_about(Cause.SPECIALIZING, "CaptionEncoder", found) is None


def test_the_closest_check_comes_first():
    assert checks_about(Cause.QUEUED_PROCESSES, is_first=False)[0] == "foreign-neural-engine-work"
    assert checks_about(Cause.QUEUED_OWN, is_first=False)[0] == "concurrent-predictions"
    assert "warm-up-spike" not in checks_about(Cause.SPECIALIZING, is_first=False)


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
