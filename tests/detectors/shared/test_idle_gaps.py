"""The two detectors of gaps between calls, on both sides of each threshold."""

from itertools import pairwise

import numpy as np
import pytest

from support.choice import sweep_rest
from support.handover import trace_of
from tracekit.analysis import idle
from tracekit.analysis.idle import idle_times
from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
from tracekit.detectors.runner import run_detectors
from tracekit.detectors.shared import idle_gaps
from tracekit.testing import Draws, SignpostRow
from tracekit.testing.recorder import cpu, start_recording
from tracekit.testing.rows import Model
from tracekit.testing.stacks import app_function

GAPS, SERIAL = "pipeline-gaps", "serial-predictions"
MS = 1_000_000
MODEL, OTHER = Model("Segmenter"), Model("Other")
CALLS = (6, 14, 10, 8, 12)


def calls(scenario, gap_ms, count=100, start_ms=100):
    """Calls of 10 ms on average, with a gap of `gap_ms(index)` after each; returns starts and ends."""
    now, spans = round(start_ms * MS), []
    for index in range(count):
        length = CALLS[index * 7 % 5] * MS
        scenario.predict(MODEL, now, length)
        spans.append((now, now + length))
        now += length + round(gap_ms(index) * MS)
    return spans


def always(gap_ms):
    """Gaps of one time."""
    return lambda _: gap_ms


def scaled(gap_ms, *factors):
    """Gaps of so many times a time by turns."""
    return lambda index: gap_ms * factors[index % len(factors)]


def work(gap_ms):
    """Gaps near a time, as long as work on inputs that differ takes."""
    return scaled(gap_ms, 0.8, 0.9, 1.1, 1.2, 1.1, 0.9)


def around(gap_ms):
    """Gaps near a time, a little different each."""
    return lambda index: gap_ms + (0.1, -0.2, 0.2, -0.1)[index * 3 % 4]


def beat(every_ms):
    """Gaps that fill up a beat."""
    return lambda index: every_ms - CALLS[index * 7 % 5]


def test_gaps_are_the_cost_and_where_it_lies(scenario, judge):
    spans = calls(scenario, work(20))
    lost = [start - end for (_, end), (start, _) in pairwise(spans)]
    finding = judge(scenario, GAPS)["Segmenter"]
    assert finding.cost.ns == sum(lost)
    assert finding.cost.share == pytest.approx(sum(lost) / (spans[-1][0] - spans[0][0]))
    assert finding.cost.of == "the time from first to last prediction"
    assert finding.affected.starts.tolist() == [end for _, end in spans[:-1]]
    assert finding.affected.ends.tolist() == [start for start, _ in spans[1:]]
    assert finding.evidence_total == 99
    assert len(finding.evidence) == 50
    assert [entry.end_ns - entry.start_ns for entry in finding.evidence] == sorted(lost, reverse=True)[:50]
    assert {entry.label for entry in finding.evidence} == {"before Prediction"}
    assert finding.evidence[0].row == lost.index(max(lost)) + 1


def test_gaps_of_the_same_sequences_are_found_once(scenario, monkeypatch):
    calls(scenario, work(20))
    trace = trace_of(scenario)
    min_calls_asked = []
    monkeypatch.setattr(idle, "idle_times", lambda *count: min_calls_asked.append(count[-1]) or idle_times(*count))
    run_detectors(trace, only=[GAPS, SERIAL, "warm-up-spike"])
    assert min_calls_asked == [100]


@pytest.mark.parametrize("count", sweep_rest(12, 20, 30, 50, 80, 120))
def test_random_waits_hardly_ever_look_like_work(count):
    draws = Draws(11)
    looks = sum(like_work([draws.integer(1, 40_000) * 1_000 for _ in range(count)]) for _ in range(600))
    assert looks <= 600 / 160 * 3


def test_work_on_many_inputs_that_differ_looks_like_work():
    for spread, count in ((0.28, 120), (0.2, 60), (0.1, 25)):
        assert like_work([round(10 * MS * (1 + spread * (2 * index / (count - 1) - 1) * 2)) for index in range(count)])


def like_work(gaps_ns):
    return idle_gaps._like_work(np.array(gaps_ns))


@pytest.mark.parametrize(
    ("check", "gap", "expected"),
    [
        # One half divides the two: labeled recordings stand beside it.
        (SERIAL, around(10.3), Passed),
        (GAPS, around(9.7), Passed),
        (GAPS, beat(19), Passed),
        (GAPS, beat(40), Passed),
        (SERIAL, beat(19), Passed),
        (SERIAL, beat(40), Passed),
        # Long gaps are no proof of work, nor is a sleep for a frame and more.
        (GAPS, scaled(99, 0.8, 0.9, 1.0, 1.2, 1.1), Finding),
        (GAPS, scaled(101, 0.8, 0.9, 1.0, 1.2, 1.1), NotEvaluated),
        (GAPS, always(16.6), Finding),
        (GAPS, always(16.8), NotEvaluated),
        (GAPS, always(43), NotEvaluated),
        # Gaps that hardly vary may be a sleep.
        (GAPS, scaled(40, 0.929, 0.929, 1, 1.071, 1.071), Finding),
        (GAPS, scaled(40, 0.931, 0.931, 1, 1.069, 1.069), NotEvaluated),
        (GAPS, lambda index: 2_000 if index % 25 == 24 else 0.5, Passed),  # A user who pauses.
    ],
)
def test_thresholds(scenario, judge, check, gap, expected):
    calls(scenario, gap, count=101)
    assert isinstance(judge(scenario, check)["Segmenter"], expected)


@pytest.mark.parametrize(
    ("rate", "share", "by", "expected", "said"),
    [
        pytest.param(
            20,
            0.6,
            "caller",
            Finding,
            "(medians); call stacks show code of the app for 60% of the gaps.",
            id="the caller works",
        ),
        pytest.param(20, 0.6, "signposts", Finding, "signposts are in the gaps: Pack", id="its signposts say so"),
        pytest.param(20, 0.6, "others", Passed, "show code of the app for 60% of the gaps", id="others work"),
        pytest.param(20, 0.4, "caller", Passed, "show code of the app for 40% of the gaps", id="it mostly waits"),
        pytest.param(30, 0.6, "caller", Passed, "show code of the app for 60% of the gaps", id="a camera sets it"),
        pytest.param(20, 0, "", Passed, "as where a camera or a timer starts them", id="nothing is seen"),
    ],
)
def test_a_steady_rate_does_not_speak_before_what_is_seen(judge, rate, share, by, expected, said):
    app = start_recording(Draws(3), jitter=0, noise=False, code=by in ("caller", "others"))
    app.load(MODEL)
    for _ in range(60):
        begin = app.now_ns
        app.predict(MODEL, cpu(10 * MS), inputs=0)
        next_ns = begin + 1_000 * MS // rate
        busy_ns = round((next_ns - app.now_ns) * share)
        if by == "signposts":
            app.scenario.signposts.append(SignpostRow(app.now_ns, busy_ns, "Pack", "com.example.app", "Vision"))
        elif by:
            app.code.on_main = by == "others"
            app.busy(busy_ns, app_function("pack"))
            app.code.on_main = False
        app.now_ns = next_ns
    outcome = judge(app.finish(), GAPS)["Segmenter"]
    assert isinstance(outcome, expected)
    assert said in outcome.summary


def test_many_models_in_rounds_are_named_as_rounds(judge):
    app, parts = start_recording(Draws(5), code=True), [Model(f"partition_{number}") for number in range(6)]
    for _ in range(30):
        for part in parts:
            app.predict(part, cpu(2 * MS), inputs=0)
            app.busy(4 * MS, app_function("pad"))
    outcomes = judge(app.finish(), GAPS)
    (finding,) = (outcome for outcome in outcomes.values() if isinstance(outcome, Finding))
    assert "during 30 rounds of 6 models" in finding.summary
    assert {type(outcome) for outcome in outcomes.values()} == {Finding, Passed}


def any_time(index):
    return (5, 60, 20, 90, 35)[index * 3 % 5]


def test_irregular_gaps_are_not_judged(scenario, judge):
    calls(scenario, any_time)
    outcome = judge(scenario, GAPS)["Segmenter"]
    assert isinstance(outcome, NotEvaluated)
    assert "signposts" in outcome.record


def test_what_call_stacks_show_of_irregular_gaps_is_said(judge):
    draws = Draws(4)
    app = start_recording(draws, jitter=0, noise=False, code=True)
    for _ in range(60):
        app.predict(MODEL, cpu(10 * MS), inputs=0)
        gap = draws.integer(2, 22) * 4
        app.busy(gap * MS // 4, app_function("pack"))
        app.now_ns += gap * MS * 3 // 4
    outcome = judge(app.finish(), GAPS)["Segmenter"]
    assert isinstance(outcome, NotEvaluated)
    assert "; call stacks show code of the app for 25% of the gaps, but" in outcome.reason


@pytest.mark.parametrize(("part", "expected"), [(0.51, Finding), (0.49, NotEvaluated)])
def test_signposts_of_the_app_prove_work(scenario, judge, part, expected):
    spans = calls(scenario, any_time)
    for (_, end), (start, _) in pairwise(spans):
        length = round((start - end) * part)
        scenario.signposts.append(SignpostRow(end, length, "Pack pixels", "com.example.app", "Vision"))
    outcome = judge(scenario, GAPS)["Segmenter"]
    assert isinstance(outcome, expected)
    if isinstance(outcome, Finding):
        assert "Pack pixels" in outcome.summary


@pytest.mark.parametrize(
    ("subsystem", "stretch"),
    [pytest.param("com.apple.coreml", 0, id="of the system"), pytest.param("com.example.app", 1, id="around the call")],
)
def test_other_signposts_prove_nothing(scenario, judge, subsystem, stretch):
    spans = calls(scenario, any_time)
    for (_, end), (start, _) in pairwise(spans):
        scenario.signposts.append(SignpostRow(end - stretch, start - end + stretch, "Frame", subsystem, "Vision"))
    assert isinstance(judge(scenario, GAPS)["Segmenter"], NotEvaluated)


def test_of_two_models_the_one_behind_the_longer_gaps_is_named(scenario, judge):
    now = 100 * MS
    for index in range(100):
        length = CALLS[index * 7 % 5] * MS
        scenario.predict(MODEL, now, length)
        scenario.predict(OTHER, now + length + MS, 5 * MS)
        now += length + 6 * MS + round(work(30)(index) * MS)
    outcomes = judge(scenario, GAPS)
    assert isinstance(outcomes["Segmenter"], Finding)
    assert isinstance(outcomes["Other"], Passed)
    assert "before predictions of Segmenter" in outcomes["Other"].summary


def test_calls_that_overlap_are_not_serial(scenario, judge):
    spans = calls(scenario, around(5))
    scenario.predict(MODEL, spans[3][0] + MS, 20 * MS)
    outcome = judge(scenario, SERIAL)["Segmenter"]
    assert isinstance(outcome, Passed)
    assert "already overlap" in outcome.summary


@pytest.mark.parametrize(("calls_of_other", "expected"), [(4, Passed), (40, Finding)])
def test_a_call_of_a_model_that_only_opens_sequences_shows_a_generator(scenario, judge, calls_of_other, expected):
    for turn in range(4):
        begin = 100 + turn * 8_000
        scenario.predict(OTHER, begin * MS, 40 * MS)
        calls(scenario, around(5), count=40, start_ms=begin + 45)
    for index in range(4, calls_of_other):
        scenario.predict(OTHER, (40_000 + index * 100) * MS, 40 * MS)
    assert isinstance(judge(scenario, SERIAL)["Segmenter"], expected)


@pytest.mark.parametrize(("detector", "least"), [(GAPS, 10), (SERIAL, 20)])
def test_few_calls_in_a_row_are_not_judged(scenario, judge, detector, least):
    calls(scenario, always(8), count=least - 1)
    outcome = judge(scenario, detector)["Segmenter"]
    assert isinstance(outcome, NotEvaluated)
    assert outcome.reason.startswith(f"Needs {least} predictions in a row")


@pytest.mark.parametrize("rule", ["serial-predictions", "pipeline-gaps"])
@pytest.mark.parametrize(("loaded", "words"), [("Own", "loaded between"), ("Other", "loaded between"), ("", "steady")])
def test_what_is_loaded_before_each_call_may_set_its_rate(scenario, judge, rule, loaded, words):
    for index in range(40):
        start = (100 + index * 400) * MS
        if loaded:
            scenario.load(Model(loaded), start, 60 * MS)
        scenario.predict(Model("Own"), start + 60 * MS, 90 * MS)
    outcome = judge(scenario, rule)["Own"]
    assert isinstance(outcome, Passed)
    assert words in outcome.summary
    assert ("a camera or a timer" in outcome.summary) == (not loaded)
