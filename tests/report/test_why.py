"""Findings that are about a cause."""

from __future__ import annotations

import pytest

from support.analyses import kept_analysis
from tracekit.analysis.why.choice import Choice, chosen
from tracekit.analysis.why.explain import FINDINGS, why
from tracekit.analysis.why.parts import Cause, differences
from tracekit.detectors.registry import DETECTORS
from tracekit.report.report import Result
from tracekit.report.why import finding_about, model_why


@pytest.fixture
def results(samples) -> tuple[Result, ...]:
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
    assert said.findings == {"queued_own": "concurrent-predictions"}
    assert said.fix == "limit the predictions in flight, and drop stale inputs instead of queueing them"
