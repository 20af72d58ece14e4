"""Recordings that lack a part, and those that ended as their users wished."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.handover import trace_of
from tracekit.detectors import RecordingView
from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
from tracekit.detectors.rules.truncated_recording import Options, detect
from tracekit.detectors.runner import run_detectors
from tracekit.recording import open_recording
from tracekit.testing import Process, Scenario, write_bundle
from tracekit.testing.rows import LOAD_COLD, Model
from tracekit.trace.build import NEEDED_SCHEMAS, build_trace
from tracekit.trace.events import Calls, Events

ID = "truncated-recording"
MS = 1_000_000
END = 60_000 * MS
NET = Model("Net")


def use(scenario, count: int = 9, start: int = 1_000 * MS) -> int:
    """Predictions of 100 ms, 90 ms of each on the Neural Engine."""
    for number in range(count):
        scenario.predict(NET, start + number * 200 * MS, 100 * MS).neural_engine(5 * MS, 90 * MS)
    return start + count * 200 * MS


def judged(judge, scenario, **settings):
    return judge(scenario, ID, **settings)[None]


@pytest.mark.parametrize("reason", ["Time limit reached", "Target app exited", "User pressed Stop"])
def test_recordings_that_end_regularly_are_complete(scenario, judge, reason):
    scenario.end_reason = reason
    use(scenario)
    outcome = judged(judge, scenario)
    assert isinstance(outcome, Passed)
    assert outcome.summary == "The recording ended normally."


def test_what_is_cut_is_said_with_its_share(scenario, judge):
    # 300 of 900 + 300 ms.
    use(scenario)
    scenario.predict(NET, END - 300 * MS, 300 * MS)
    finding = judged(judge, scenario)
    assert finding.cost is None
    said = "1 prediction had not ended when the recording did (25% of the recorded load and prediction time)"
    assert said in finding.summary
    assert [(entry.start_ns, entry.end_ns) for entry in finding.evidence] == [(END - 300 * MS, END)]


@pytest.mark.parametrize(("before_ns", "expected"), [(0, Finding), (100_000, Finding), (101_000, Passed)])
def test_only_rows_that_reach_the_end_are_cut(scenario, judge, before_ns, expected):
    scenario.load(NET, 50_000 * MS, 10_000 * MS - before_ns, LOAD_COLD)
    assert isinstance(judged(judge, scenario), expected)


def test_work_after_the_last_event_is_said(scenario, judge):
    after = use(scenario)
    scenario.other_neural_engine(after + 500 * MS, 270 * MS, NET.engine_label())
    finding = judged(judge, scenario)
    # The last prediction begins at 1,000 + 8 x 200 ms.
    said = "After the last Core ML event at 2.70 s, the hardware worked for the app's models for another 270 ms"
    assert said in finding.summary
    assert finding.evidence_total == 1


def with_run(trace, **changes):
    return replace(trace, run=replace(trace.run, **changes))


@pytest.fixture(scope="module")
def trace():
    scenario = Scenario(Process("Camera", 412), duration_ns=END)
    use(scenario)
    return trace_of(scenario)


@pytest.mark.parametrize(
    ("mode", "seconds", "expected"),
    [
        ("Deferred", 60, Passed),
        ("Windowed (5 seconds)", 5, Finding),
        ("Windowed (5 seconds)", 60, Finding),
        ("Windowed (5 seconds)", 4.9, Passed),
        ("Windowed (500 milliseconds)", 0.6, Finding),
        ("Windowed (500 milliseconds)", 0.4, Passed),
        ("Windowed (2 minutes)", 119, Passed),
        ("Windowed", 1, Finding),
    ],
)
def test_a_window_cuts_what_is_longer(trace, mode, seconds, expected):
    changes = {"recording_mode": mode, "duration_ns": round(seconds * 1e9) or None, "end_reason": "User pressed Stop"}
    # The rows lie at 1 to 3 s; they play no part here.
    empty = replace(trace, activity=Calls.none(), hardware=Events.none())
    outcome = detect(RecordingView(with_run(empty, **changes)), Options())
    assert isinstance(outcome, expected)
    if expected is Finding:
        assert mode in outcome.summary


def test_an_input_that_does_not_tell_is_not_judged(trace):
    outcome = detect(RecordingView(with_run(trace, end_reason=None, duration_ns=None)), Options())
    assert isinstance(outcome, NotEvaluated)
    outcome = detect(RecordingView(with_run(trace, end_reason="The device went away", duration_ns=END)), Options())
    assert isinstance(outcome, NotEvaluated)
    assert "The device went away" in outcome.reason


def test_raw_data_that_was_left_behind_is_found(scenario, tmp_path):
    use(scenario)
    bundle = write_bundle(scenario, tmp_path / "run.trace", rows_per_block=64)

    def outcome():
        trace = build_trace(open_recording(bundle, schemas=NEEDED_SCHEMAS))
        (judgment,) = run_detectors(trace, only=[ID])
        return judgment.outcome

    assert isinstance(outcome(), Passed)
    attachments = bundle / "Trace1.run" / "Attachments"
    attachments.mkdir()
    (attachments / "trace-data.atrc").write_bytes(b"raw")
    finding = outcome()
    assert isinstance(finding, Finding)
    assert "was not finished" in finding.summary


@pytest.mark.sweep
@pytest.mark.corpus
@pytest.mark.parametrize(("name", "expected"), [("output", Passed), ("quick_probe", NotEvaluated)])
def test_real_recordings(corpus, name, expected):
    trace = build_trace(open_recording(corpus / "bundles" / f"{name}.trace", schemas=NEEDED_SCHEMAS))
    (judgment,) = run_detectors(trace, only=[ID])
    assert isinstance(judgment.outcome, expected)
