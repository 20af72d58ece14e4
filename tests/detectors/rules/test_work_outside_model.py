"""Steps around the model."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import NotEvaluated
from tracekit.testing import CoreAIChat, Session

ID = "work-outside-model"
MS = 1_000_000


def request(scenario, **options: object) -> int:
    """50 tokens of 15 ms behind a prompt of 250 ms: 1 s without what is outside. Returns the time outside."""
    given = {"sample_ns": 0, "detokenize_ns": 0, "tokenize_ns": 0, **options}
    truth = CoreAIChat(scenario).request(
        100 * MS, prompt_tokens=50, prompt_ns=250 * MS, tokens_ns=[15 * MS] * 50, **given
    )
    return truth.outside_ns


def test_time_outside_is_the_cost(scenario, judge):
    spent = request(scenario, sample_ns=6_667_000)
    finding = judge(scenario, ID)[None]
    assert finding.cost.ns == spent == 50 * 6_667_000
    assert finding.affected.covered_ns == spent


@pytest.mark.parametrize(
    ("step", "name"), [("sample_ns", "sampling"), ("detokenize_ns", "the tokenizer"), ("cache_ns", "the cache")]
)
def test_the_step_that_takes_most_is_named(scenario, judge, step, name):
    request(scenario, **{step: 10 * MS})
    assert f"most of it in {name} (500 ms)" in judge(scenario, ID)[None].summary


def test_tables_without_these_steps_are_no_pass(scenario, judge):
    Session(scenario).request(100 * MS, prompt_ns=900 * MS, generation_ns=900 * MS)
    outcome = judge(scenario, ID)[None]
    assert isinstance(outcome, NotEvaluated)
    assert "Time Profiler" in outcome.record
