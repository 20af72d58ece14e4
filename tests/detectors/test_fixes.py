"""What fixes take away: the rows that findings show."""

from __future__ import annotations

import numpy as np
import pytest

from support.handover import trace_of
from support.samples import SAMPLES
from tracekit.analysis.schedule import recorded_schedule
from tracekit.detectors.fixes import BY_CHECK
from tracekit.detectors.outcomes import Finding
from tracekit.detectors.runner import run_detectors


def taken(sample: str, check: str):
    trace = trace_of(SAMPLES[sample]())
    recorded = recorded_schedule(trace)
    findings = [each.outcome for each in run_detectors(trace, only=[check]) if isinstance(each.outcome, Finding)]
    return recorded, [BY_CHECK[check].take(trace, recorded, finding) for finding in findings], findings


def test_reloads_go_but_the_first_load_of_each_model_stays():
    recorded, changes, _ = taken("style_transfer_reload", "reload-before-predict")
    gone = np.logical_or.reduce([each.gone for each in changes])
    rows = recorded.calls.where(gone)
    assert set(rows.kind.held()) <= {"load", "load_cached", "load_uncached"}
    assert (len(changes), len(rows)) == (5, 368)


@pytest.mark.parametrize(("check", "gaps"), [("excess-data-copies", 3), ("float-conversion", 0)])
def test_copies_that_go_lie_in_their_predictions(check, gaps):
    """Each prediction copies, casts and copies before the work of the engine, and copies and transforms after it: the
    three times between these go, too, not those around the work."""
    recorded, (changes,), (finding,) = taken("sharpen_8bit", check)
    calls = recorded.schedule.calls.where(changes.own_call)
    assert len(changes.own) == finding.evidence_total + 140 * gaps
    assert ((changes.own.starts >= calls.starts) & (changes.own.ends <= calls.ends)).all()
    rows = changes.own.where(np.arange(len(changes.own)) < finding.evidence_total)
    assert rows.covered_ns == finding.affected.covered_ns
    assert not changes.own.covered_within(recorded.schedule.pieces.where(recorded.schedule.call >= 0)).any()


def test_only_predictions_of_the_model_are_limited():
    recorded, (changes,), _ = taken("captions_concurrent", "concurrent-predictions")
    assert set(changes.in_flight[recorded.calls.kind.is_any("prediction")]) == {2}
    assert set(changes.in_flight[~recorded.calls.kind.is_any("prediction")]) == {0}


def test_time_that_may_hold_work_of_the_engine_stays():
    """Without the table of the Neural Engine, no row says when it worked between the copies."""
    scenario = SAMPLES["sharpen_8bit"]()
    scenario.emptied.add("ane-hw-intervals-internal")
    trace = trace_of(scenario)
    (finding,) = (each.outcome for each in run_detectors(trace, only=["excess-data-copies"]))
    changes = BY_CHECK["excess-data-copies"].take(trace, recorded_schedule(trace), finding)
    assert len(changes.own) == finding.evidence_total
