"""First predictions after loads."""

from __future__ import annotations

import pytest

from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed, Severity, severity_of
from tracekit.testing.rows import ENGINE_PREPARE, LoggedRow, Model
from tracekit.testing.scenario import Scenario

ID, METAL = "warm-up-spike", "com.apple.Metal.AGXSignposts"
MS = 1_000_000
POSE = Model("PoseNet")


def play(scenario: Scenario, durations_ms: list[float], start: int = 0, gap: int = MS, model: Model = POSE) -> int:
    """A load of 50 ms and predictions of these durations, `gap` apart; a negative one is a pause. Each works
    for a ms on the CPU at most, so what makes one longer is no work. Returns the end."""
    now = scenario.load(model, start, 50 * MS) + MS
    for length in durations_ms:
        if length < 0:
            now += round(-length * MS)
        else:
            scenario.predict(model, now, round(length * MS)).event("CPU", 0, min(MS, round(length * MS)))
            now += round(length * MS) + gap
    return now


def test_a_slow_first_call_is_found_with_its_cost(scenario, judge):
    play(scenario, [158] + [23] * 20)
    finding = judge(scenario, ID)["PoseNet"]
    assert finding.cost.ns == (158 - 23) * MS
    assert finding.cost.share == pytest.approx(135 / (50 + 158 + 20 * 23))
    assert (finding.cost.usual_ns, severity_of(finding)) == (23 * MS, Severity.MEDIUM)
    assert values(finding)["first prediction to median of following"] == pytest.approx(158 / 23)
    assert values(finding)["median of following predictions"] == 23 * MS
    assert [entry.end_ns - entry.start_ns for entry in finding.evidence] == [158 * MS]
    assert finding.affected.starts.tolist() == [(51 + 23) * MS]
    assert "158 ms, 6.9x the usual 23.0 ms" in finding.summary


@pytest.mark.parametrize(
    ("specializing_ms", "compiling_ms", "words"),
    [
        (
            90,
            20,
            ". Of that: 90.0 ms specialization (rows of the Neural Engine that compile or prepare it) and "
            "20.0 ms compiling 2 Metal pipelines (rows of the Metal compiler).",
        ),
        (90, 5, ". Of that: 90.0 ms specialization (rows of the Neural Engine that compile or prepare it)."),
        (0, 5, "the usual 23.0 ms."),
    ],
)
def test_what_took_the_time_is_named_and_what_did_not_is_not(scenario, judge, specializing_ms, compiling_ms, words):
    play(scenario, [158] + [23] * 20)
    if specializing_ms:
        scenario.other_neural_engine(55 * MS, specializing_ms * MS, ENGINE_PREPARE)
    scenario.compile_shader(160 * MS, compiling_ms * MS)
    for number in (0, 1, 0, 1):
        # Listed again, they are the same ones.
        message = f"Name=softmax Label= Type=compute ID={number} Addr={number} Size=9"
        scenario.logged.append(
            LoggedRow(70 * MS, 0, "FunctionCompiled", METAL, "ShaderTimeline", message, form="event")
        )
    assert judge(scenario, ID)["PoseNet"].summary.endswith(words)


@pytest.mark.parametrize(
    ("durations_ms", "given", "settings", "expected"),
    [
        ([158] + [23] * 5, {}, {}, Finding),
        ([158] + [23] * 4, {}, {}, NotEvaluated),
        # As slow later on: two of forty are a twentieth.
        ([100] + ([20] * 9 + [100]) * 2 + [20] * 20, {}, {}, Finding),
        ([100] + ([20] * 9 + [100]) * 3 + [20] * 10, {}, {}, Passed),
        # As slow is half of the first one.
        ([100] + ([20] * 9 + [49]) * 3 + [20] * 10, {}, {}, Finding),
        ([100] + ([20] * 9 + [50]) * 3 + [20] * 10, {}, {}, Passed),
        # As slow after every pause.
        ([200, *[20] * 40, -2_000, 99, *[20] * 40, -2_000, 99, *[20] * 40], {}, {}, Finding),
        ([200, *[20] * 40, -2_000, 100, *[20] * 40, -2_000, 100, *[20] * 40], {}, {}, Passed),
        ([900] + [23] * 20, {"gap": 1_500 * MS}, {}, Finding),  # A user who takes his time waits for the first one.
        ([158] + [23] * 20, {}, {"ratio": 6.8}, Finding),
        ([158] + [23] * 20, {}, {"ratio": 7}, Passed),
        ([158] + [23] * 20, {}, {"min_extra_ms": 136}, Passed),
        ([158] + [23] * 20, {}, {"min_following": 21}, NotEvaluated),
    ],
)
def test_thresholds(scenario, judge, durations_ms, given, settings, expected):
    play(scenario, durations_ms, **given)
    assert isinstance(judge(scenario, ID, **settings)["PoseNet"], expected)


def test_a_call_to_warm_up_is_what_the_fix_asks_for(scenario, judge):
    play(scenario, [158, -2_000] + [23] * 20)
    outcome = judge(scenario, ID)["PoseNet"]
    assert isinstance(outcome, Passed)
    assert "as after a warm-up prediction" in outcome.summary


def test_each_load_has_a_first_call(scenario, judge):
    end = play(scenario, [158] + [23] * 10)
    end = play(scenario, [25] + [23] * 10, start=end)
    play(scenario, [123] + [23] * 10, start=end)
    finding = judge(scenario, ID)["PoseNet"]
    assert finding.cost.ns == (135 + 100) * MS
    assert finding.evidence_total == 2
    assert "2 loads affected" in finding.summary
    assert values(finding)["first predictions compared"] == 3


def test_firsts_of_instances_that_overlap_are_not_counted_twice(scenario, judge):
    for number in (1, 2):
        play(scenario, [158] + [23] * 10, model=Model("PoseNet", number))
    outcome = judge(scenario, ID)["PoseNet"]
    assert (outcome.evidence_total, outcome.cost.ns) == (2, (158 - 23) * MS)


def test_without_a_load_there_is_nothing_to_say(scenario, judge):
    for k in range(10):
        scenario.predict(POSE, k * 30 * MS, (200 if k == 0 else 20) * MS)
    assert isinstance(judge(scenario, ID)["PoseNet"], NotEvaluated)
