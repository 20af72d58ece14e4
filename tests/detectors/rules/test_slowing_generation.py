"""Tokens that take longer with context than attention explains."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
from tracekit.testing import CoreAIChat, Session
from tracekit.testing.rows import StateRow

ID = "slowing-generation"
MS = 1_000_000
TOKENS = 160


def answer(scenario, bend: float, first_ns: int = 10 * MS, start_ns: int = 100 * MS, tokens: int = TOKENS) -> int:
    """An answer whose last token takes so many times the first more, by the square of its place. Returns its end."""
    places = [number / (tokens - 1) for number in range(tokens)]
    times = [round(first_ns * (1 + bend * place**2)) for place in places]
    request = {"prompt_tokens": 100, "prompt_ns": 50 * MS, "tokens_ns": times, "sample_ns": 0}
    return CoreAIChat(scenario).request(start_ns, **request).end_ns


# Beyond the line through its lower half, the upper half of a square takes a quarter of the bend longer, of one and a
# third of it.
@pytest.mark.parametrize(("bend", "found"), [(0.8, True), (0.7, False)])
def test_time_beyond_the_line_counts_from_the_threshold_on(scenario, judge, bend, found):
    answer(scenario, bend)
    outcome = judge(scenario, ID)[None]
    assert isinstance(outcome, Finding) is found
    ratio = outcome.metrics[0].value
    assert ratio == pytest.approx(1 + bend / 4 / (1 + bend / 3), abs=0.01)
    if found:
        # Half of the tokens, of 10 ms each.
        assert outcome.cost.ns == pytest.approx(TOKENS / 2 * 10 * MS * bend / 4, rel=0.05)


def test_a_line_is_what_attention_takes_however_steep(scenario, judge):
    times = [round(5 * MS * (1 + 6 * number / TOKENS)) for number in range(TOKENS)]
    CoreAIChat(scenario).request(100 * MS, prompt_tokens=100, prompt_ns=50 * MS, tokens_ns=times)
    outcome = judge(scenario, ID)[None]
    assert isinstance(outcome, Passed)
    assert "188 µs" in outcome.summary


def test_heat_must_be_ruled_out(scenario, judge):
    end = answer(scenario, 3.0, first_ns=100 * MS)
    assert "heat" in judge(scenario, ID)[None].reason
    scenario.thermal.append(StateRow(0, 60_000 * MS, "Nominal"))
    assert isinstance(judge(scenario, ID)[None], Finding)
    scenario.thermal[:] = [StateRow(0, end // 2, "Nominal"), StateRow(end // 2, end, "Fair")]
    assert isinstance(judge(scenario, ID)[None], NotEvaluated)


@pytest.mark.parametrize(("bend", "outcome"), [(3.0, Finding), (0.0, Passed)])
def test_requests_stand_for_tokens_that_were_not_recorded(scenario, judge, bend, outcome):
    session, now = Session(scenario), 100 * MS
    for number in range(90):
        each_ns = round(2 * MS * (1 + bend * (number / 89) ** 2))
        options = {"consumed": 300 + 20 * number, "generated": 10, "generation_ns": 10 * each_ns}
        now = session.request(now, prompt_ns=9 * MS, **options).end_ns + MS
    assert isinstance(judge(scenario, ID)[None], outcome)


def test_unknown_counts_are_no_context(scenario, judge):
    session = Session(scenario)
    for number in range(90):
        session.request(100 * MS * number, prompt_ns=9 * MS, generation_ns=30 * MS, consumed=None, generated=None)
    assert isinstance(judge(scenario, ID)[None], NotEvaluated)
