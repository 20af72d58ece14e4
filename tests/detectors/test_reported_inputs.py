"""Recordings that were rebuilt from public bug reports, each with what must be said of it."""

from __future__ import annotations

import pytest

from support.analyses import kept_analysis
from tracekit.report.serialize import to_json

pytestmark = pytest.mark.corpus


def findings(corpus, name):
    report = kept_analysis(corpus / "reported" / f"{name}.zip").report
    return report, {check.id: check for check in report.results if check.outcome == "finding"}


def test_what_runs_between_the_partitions_of_a_graph_is_named(corpus):
    report, found = findings(corpus, "06-fourteen-partitions-of-one-graph")
    assert "waits for its next input" not in to_json(report)
    assert found.keys() == {"graph-partitions"}
    finding = found["graph-partitions"]
    assert "ONNX Runtime seems to run one graph in 14 partitions" in finding.summary
    assert "one every 52.1 ms, 24.7 ms of 42.0 ms pass between partitions (59%)" in finding.summary
    # Each round: 13 gaps of 1.9 ms; 14 predictions of 1.25 ms, of which the Neural Engine works 1.1 ms.
    assert finding.saved.each.what == "round"
    assert finding.saved.each.of_ns == pytest.approx(13 * 1.9e6 + 14 * 1.25e6, rel=0.02)
    assert finding.saved.each.saved_ns == pytest.approx(13 * (1.9e6 + 0.14e6), rel=0.02)
    assert [(site.function, site.share) for site in finding.call_sites] == [("onnxruntime::Pad::Compute", 1.0)]


def test_copies_between_the_steps_of_a_decoder_are_named_with_their_lines(corpus):
    _, found = findings(corpus, "04-stateful-decoder-copies-between-steps")
    assert found.keys() == {"copies-between-predictions"}
    finding = found["copies-between-predictions"]
    assert "copies arrays for 3.00 ms (median)" in finding.summary
    assert finding.saved.each.saved_ns == pytest.approx(3e6, rel=0.01)
    assert [(site.function, site.line, site.share) for site in finding.call_sites] == [
        ("App.update", 88, 0.5),
        ("App.update", 89, 0.5),
    ]


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


def test_a_unit_that_takes_longer_for_good_while_cool_is_a_finding(corpus):
    report = kept_analysis(corpus / "reported" / "03-engine-twice-as-slow-while-cool.zip").report
    (finding,) = (check for check in report.results if check.id == "lasting-slowdown" and check.outcome == "finding")
    for words in ("after 40 predictions", "on the Neural Engine 1.21 ms instead of 556 µs", "thermal state: Nominal"):
        assert words in finding.summary
    assert finding.severity == "high"
