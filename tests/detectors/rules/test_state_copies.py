"""Caches that go into and out of each call, and data that only looks like one."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed
from tracekit.testing.rows import Model

ID = "state-copies"
US = 1_000
MS = 1_000_000
DECODE, PREFILL = Model("Decode"), Model("Prefill")


def call(scenario, start: int, length: int = 10 * MS, into: int = 1 * MS, out: int = 1 * MS, token: bool = True) -> int:
    """A call with a cache in and out, and a token that is copied in 2 µs. Returns its end."""
    prediction = scenario.predict(DECODE, start, length)
    if token:
        prediction.event("Input Copy", 0, 2 * US)
    prediction.event("Input Copy", 5 * US, into)
    prediction.event("Output Transformation", length - out, out)
    return start + length


def turns(scenario, count: int = 2, tokens: int = 30, prompt: int = 0, prefill: bool = False, **options) -> None:
    """Sequences of calls, opened by a long call of the same model or by one of another."""
    now = 1_000 * MS
    for _ in range(count):
        if prefill:
            scenario.predict(PREFILL, now, 40 * MS)
            now += 41 * MS
        if prompt:
            now = call(scenario, now, **{**options, "length": prompt}) + 200 * US
        for _ in range(tokens):
            now = call(scenario, now, **options) + 200 * US
        now += 2_000 * MS


def judged(judge, scenario, **settings):
    return judge(scenario, ID, **settings)["Decode"]


def test_a_cache_after_a_prompt_is_found_with_its_cost(scenario, judge):
    turns(scenario, prefill=True)
    finding = judged(judge, scenario)
    assert finding.cost.ns == 60 * (2 * MS + 2 * US)
    assert finding.cost.share == pytest.approx(2_002 / 10_000)
    assert int((finding.affected.ends - finding.affected.starts).sum()) == finding.cost.ns
    assert "spends 1.00 ms on copies in and 1.00 ms on copies out" in finding.summary
    assert "follows a prediction of another model" in finding.summary
    assert "Possible but not certain" in finding.summary
    assert finding.evidence_total == 180


@pytest.mark.parametrize(("prompt", "expected"), [(30, Finding), (29, NotApplicable)])
def test_a_prompt_opens_a_sequence_with_a_long_call(scenario, judge, prompt, expected):
    # Copies of the prompt take a tenth of it too.
    turns(scenario, prompt=prompt * MS, into=1_500 * US, out=1_500 * US)
    outcome = judged(judge, scenario)
    assert isinstance(outcome, expected)
    if expected is Finding:
        assert "open with a long prediction" in outcome.summary


def test_copies_that_grow_with_the_context_need_no_token(scenario, judge):
    now = 1_000 * MS
    for number in range(60):
        size = (1_000 + 50 * number) * US
        now = call(scenario, now, length=10 * MS + 2 * size, into=size, out=size, token=False) + 200 * US
    finding = judged(judge, scenario)
    assert isinstance(finding, Finding)
    assert "grow with each prediction" in finding.summary


def test_images_in_and_out_are_not_taken_for_a_cache(scenario, judge):
    turns(scenario, token=False)
    outcome = judged(judge, scenario)
    assert isinstance(outcome, NotApplicable)
    assert "Nothing shows that outputs feed the next prediction" in outcome.reason


def test_another_model_that_is_called_as_often_is_no_prompt(scenario, judge):
    turns(scenario, prefill=True)
    for number in range(5):
        scenario.predict(PREFILL, (20_000 + number * 50) * MS, 40 * MS)
    assert isinstance(judged(judge, scenario), NotApplicable)


@pytest.mark.parametrize(
    ("given", "settings", "expected"),
    [
        ({"tokens": 25}, {}, Finding),
        ({"tokens": 24}, {}, NotEvaluated),
        ({}, {"copy_share": 0.21}, Passed),
        ({}, {"balance": 1}, Passed),
        ({}, {"min_predictions": 61}, NotEvaluated),
    ],
)
def test_thresholds(scenario, judge, given, settings, expected):
    turns(scenario, prefill=True, **given)
    outcome = judged(judge, scenario, **settings)
    assert isinstance(outcome, expected)
    if "tokens" in given and expected is NotEvaluated:
        assert "48 predictions" in outcome.reason


@pytest.mark.parametrize(("every", "expected"), [(9, "overlap"), (10, "Nothing shows")])
def test_calls_that_overlap_do_not_continue_each_other(scenario, judge, every, expected):
    for number in range(60):
        call(scenario, (1_000 + every * number) * MS)
    outcome = judged(judge, scenario)
    assert isinstance(outcome, NotApplicable)
    assert expected in outcome.reason
