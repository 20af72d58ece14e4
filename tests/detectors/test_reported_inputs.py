"""Recordings that were rebuilt from public bug reports, each with what must be said of it."""

from __future__ import annotations

import pytest

from support.analyses import kept_analysis
from tracekit.report.serialize import to_json

pytestmark = pytest.mark.corpus


def test_what_runs_between_the_partitions_of_a_graph_is_named(corpus):
    report = kept_analysis(corpus / "reported" / "06-fourteen-partitions-of-one-graph.zip").report
    assert "waits for its next input" not in to_json(report)
    (finding,) = (check for check in report.results if check.id == "pipeline-gaps" and check.outcome == "finding")
    assert "Core ML is idle 67% of the time during 24 rounds of 14 models" in finding.summary
    assert "one graph in 14 partitions" in finding.summary
    assert [(site.function, site.share) for site in finding.call_sites] == [("onnxruntime::Pad::Compute", 1.0)]


def test_a_model_that_is_never_used_costs_a_share_of_the_time_of_the_app(corpus):
    report = kept_analysis(corpus / "reported" / "08-five-loads-one-after-another.zip").report
    (finding,) = (check for check in report.results if check.id == "unused-load")
    assert finding.cost.share == pytest.approx(0.008, abs=0.0005)
    assert finding.severity == "low"


def test_all_loads_in_line_before_the_first_prediction_are_waited_for(corpus):
    report = kept_analysis(corpus / "reported" / "08-five-loads-one-after-another.zip").report
    stages = {f"Stage{letter}" for letter in "ABCDE"}
    assert {check.model for check in report.results if check.id == "cold-load" and check.outcome == "finding"} == stages


def test_operations_that_the_engine_lacks_weigh_what_they_cost(corpus):
    report = kept_analysis(corpus / "reported" / "05-unsupported-operation-keeps-nine-tenths-on-the-cpu.zip").report
    (finding,) = (check for check in report.results if check.outcome == "finding")
    assert (finding.id, finding.severity) == ("compute-unit-ping-pong", "critical")
    assert "does not run on the Neural Engine take the CPU 24.1 ms per prediction on average (92%" in finding.summary
    assert "into 8 pieces" in finding.summary
