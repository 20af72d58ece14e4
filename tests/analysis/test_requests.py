"""Numbers of requests, against what the builder says."""

from __future__ import annotations

from statistics import median, quantiles

import pytest

from support.handover import trace_of
from tracekit.analysis.requests import summarize_requests, token_intervals
from tracekit.testing import CoreAIChat, Process, Scenario, Session
from tracekit.trace.filter import everything, narrow, only_range

MS = 1_000_000


def chat() -> CoreAIChat:
    return CoreAIChat(Scenario(Process("Chat", 412), duration_ns=60_000 * MS))


def test_times_between_tokens_are_those_that_were_logged_or_follow_from_tokens():
    language_model = chat()
    first = language_model.request(0, prompt_tokens=9, prompt_ns=MS, tokens_ns=[9 * MS, 8 * MS, 12 * MS])
    second = language_model.request(900 * MS, prompt_tokens=9, prompt_ns=MS, tokens_ns=[7 * MS] * 4)
    found = token_intervals(trace_of(language_model.scenario))
    assert tuple(found.duration_ns) == first.token_intervals + second.token_intervals
    assert list(found.request) == [0, 0, 1, 1, 1]
    assert list(found.token) == [1, 2, 1, 2, 3]
    # Between points, the detokenizer is a part of the interval.
    language_model.scenario.logged = [row for row in language_model.scenario.logged if row.name != "Extend"]
    found = token_intervals(trace_of(language_model.scenario))
    assert list(found.duration_ns) == [each + 150_000 for each in first.token_intervals + second.token_intervals]
    assert not len(token_intervals(trace_of(chat().scenario)))


def test_numbers_are_those_of_the_requests():
    language_model, now = chat(), 0
    asked = [(100 + 10 * at, 40 + at, [(10 + at // 4) * MS] * (5 + at)) for at in range(9)]
    truths = []
    for tokens, prompt_ms, passes in asked:
        truths.append(
            language_model.request(
                now, prompt_tokens=tokens, processed_tokens=tokens - 60, prompt_ns=prompt_ms * MS, tokens_ns=passes
            )
        )
        now = truths[-1].end_ns + MS
    (found,) = summarize_requests(trace_of(language_model.scenario))
    numbers, count = found.quantities, [len(passes) for *_, passes in asked]
    between = [each for truth in truths for each in truth.token_intervals]
    assert (found.name, found.requests, found.unvalidated) == ("Core AI language model", 9, False)
    assert (found.unfinished, found.overlapping, found.uncertain, found.errors, found.tools) == (0, 0, 0, {}, None)
    assert numbers == {
        "first_token_p50_ns": median(truth.first_token_ns for truth in truths),
        # Nine requests are too few for a p95.
        "first_token_p95_ns": None,
        "prompt_tokens_per_second": pytest.approx(
            sum(tokens - 60 for tokens, *_ in asked) / sum(truth.prompt_ns for truth in truths) * 1e9
        ),
        "generation_tokens_per_second": pytest.approx(sum(count) / sum(truth.generation_ns for truth in truths) * 1e9),
        "token_p50_ns": median(between),
        "token_p95_ns": pytest.approx(quantiles(between, n=20, method="inclusive")[-1]),
        "outside_share": pytest.approx(
            sum(truth.outside_ns or 0 for truth in truths) / sum(truth.end_ns - truth.start_ns for truth in truths)
        ),
        "tool_share": None,
        "context_tokens": max(tokens + len(passes) for tokens, _, passes in asked),
        "cached_share": pytest.approx(9 * 60 / sum(tokens for tokens, *_ in asked)),
        "speed_kept": pytest.approx(
            median(count[at] / truths[at].generation_ns for at in (6, 7, 8))
            / median(count[at] / truths[at].generation_ns for at in (0, 1, 2))
        ),
    }


def test_requests_of_tables_are_unvalidated_and_leave_open_what_they_do_not_say():
    scenario = chat().scenario
    session = Session(scenario)
    weather = ("weather", "{}", 400 * MS)
    truths = [
        session.request(at * 4_000 * MS, prompt_ns=90 * MS, generation_ns=900 * MS, cached=None, tools=[weather] * at)
        for at in range(3)
    ]
    session.request(30_000 * MS, prompt_ns=90 * MS, generation_ns=0, error="Error.refusal", generated=None)
    (found,) = summarize_requests(trace_of(scenario))
    assert (found.requests, found.errors, found.tools, found.unvalidated) == (4, {"refusal": 1}, 3, True)
    numbers = found.quantities
    assert numbers["generation_tokens_per_second"] == pytest.approx(40 / 0.9)
    elapsed = sum(truth.end_ns - truth.start_ns for truth in truths) + 90 * MS
    assert numbers["tool_share"] == pytest.approx(3 * 400 * MS / elapsed)
    # An empty count of cached tokens leaves open how many were processed.
    for name in ("prompt_tokens_per_second", "cached_share", "token_p50_ns", "outside_share", "speed_kept"):
        assert numbers[name] is None, name


def test_only_what_is_shown_counts():
    language_model = chat()
    for at in range(3):
        language_model.request(at * 1_000 * MS, prompt_tokens=9, prompt_ns=MS, tokens_ns=[(9 + at) * MS] * 3)
    trace = trace_of(language_model.scenario)
    shown = only_range(everything(trace), trace, 1_000 * MS, 2_000 * MS)
    (found,) = summarize_requests(trace, shown)
    assert (found.requests, found.quantities["token_p50_ns"]) == (1, 10 * MS + 400_000)
    assert set(narrow(trace, shown).requests.request.tolist()) == {1}
