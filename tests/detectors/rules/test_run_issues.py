"""Issues that Instruments noted, as bundles hold them."""

from dataclasses import replace

import pytest

from support.handover import trace_of
from tracekit.detectors import NoOptions, RecordingView
from tracekit.detectors.outcomes import NotEvaluated, Passed
from tracekit.detectors.rules.run_issues import detect
from tracekit.detectors.runner import run_detectors
from tracekit.recording import open_recording
from tracekit.testing import Process, Scenario, write_bundle
from tracekit.testing.rows import Model
from tracekit.trace.build import NEEDED_SCHEMAS, build_trace

ID = "run-issues"
MS = 1_000_000
LIVE = (
    "Data stream: Signpost intervals with backdated timestamps were emitted that are not visualized on the timeline "
    "until immediate mode recording is stopped."
)


@pytest.fixture(scope="module")
def outcome():
    """`outcome(*issues)`: the answer for a recording with these issues."""
    trace = trace_of(Scenario(Process("Camera", 412), duration_ns=1_000 * MS))
    return lambda *issues: detect(RecordingView(replace(trace, run=replace(trace.run, issues=issues))), NoOptions())


def test_issues_of_the_live_display_are_no_problem(outcome):
    finding = outcome(LIVE)
    assert isinstance(finding, Passed)
    assert [metric.value for metric in finding.metrics] == [0, 1]
    assert finding.summary == "Instruments reported no issues while recording except 1 issue about its live display."


def test_an_issue_of_a_bundle_is_quoted(scenario, tmp_path):
    scenario.issues += [LIVE, "Lost events of the kernel."]
    write_bundle(scenario, tmp_path / "run.trace", rows_per_block=64)
    trace = build_trace(open_recording(tmp_path / "run.trace", schemas=NEEDED_SCHEMAS))
    ((_, finding, _),) = run_detectors(trace, only=[ID])
    assert finding.cost is None
    assert finding.summary == 'Instruments reported 1 issue while recording: "Lost events of the kernel".'


@pytest.mark.parametrize(
    ("message", "meaning"),
    [
        (
            "Fatal logging system error: The log archive is corrupt or incomplete",
            "including the Core ML table, may lack rows",
        ),
        ("Permission to debug Camera was denied.", "cannot trace the target"),
        ("Hitches is not supported on this platform.", "the named instrument recorded nothing"),
    ],
)
def test_what_is_known_of_a_message_is_said(outcome, message, meaning):
    assert meaning in outcome(message).summary


def test_many_and_long_issues_are_cut(outcome):
    finding = outcome(*(f"Issue {number} {'x' * 300}" for number in range(5)))
    assert "5 issues" in finding.summary
    assert finding.summary.endswith("; and 2 more.")
    assert len(finding.summary) < 700


def test_an_export_does_not_tell(scenario, judge):
    scenario.load(Model("Net"), 0, 5 * MS)
    assert isinstance(judge(scenario, ID)[None], NotEvaluated)


def test_a_bundle_whose_issues_are_lost_does_not_tell(scenario, tmp_path):
    write_bundle(scenario, tmp_path / "run.trace", rows_per_block=64)
    (tmp_path / "run.trace" / "Trace1.run" / "RunIssues.storedata").write_bytes(b"damaged")
    trace = build_trace(open_recording(tmp_path / "run.trace", schemas=NEEDED_SCHEMAS))
    assert isinstance(detect(RecordingView(trace), NoOptions()), NotEvaluated)
    sound = replace(trace, run=replace(trace.run, issues=()))
    assert isinstance(detect(RecordingView(sound), NoOptions()), Passed)


@pytest.mark.turns(2)
@pytest.mark.sweep
@pytest.mark.corpus
@pytest.mark.parametrize("name", ["quick_probe", "hello_coreml", "output"])
def test_real_recordings_that_are_sound_have_none(corpus, name):
    trace = build_trace(open_recording(corpus / "bundles" / f"{name}.trace", schemas=NEEDED_SCHEMAS))
    (judgment,) = run_detectors(trace, only=[ID])
    assert isinstance(judgment.outcome, Passed)
