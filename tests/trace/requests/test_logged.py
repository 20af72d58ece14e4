"""Requests that signposts show: what the builder says happened is what the frame holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings, strategies as st

from support.handover import trace_of
from support.rows import records_of, values_of
from support.samples.runtimes import REQUESTS, dictation, local_chat
from tracekit.analysis.requests import summarize_requests
from tracekit.testing import CoreAIChat, LoggedRow, Process, Scenario
from tracekit.testing.language_models import Truth
from tracekit.trace.requests.frame import Requests
from tracekit.trace.requests.logged import logged_requests

MS = 1_000_000


def chat() -> CoreAIChat:
    return CoreAIChat(Scenario(Process("Chat", 412), duration_ns=600_000 * MS))


def assert_true(found: dict[str, object], truth: Truth) -> None:
    assert found["start_ns"] == truth.start_ns
    assert (found["last_ns"], found["first_token_ns"]) == (truth.end_ns, truth.first_token_ns)
    assert (found["prompt_ns"], found["generation_ns"]) == (truth.prompt_ns, truth.generation_ns)
    assert found["outside_ns"] == truth.outside_ns


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 4_000),
            st.integers(1, 900),
            st.lists(st.integers(1, 90), min_size=1, max_size=6),
            # Without brackets a token at the instant at which the next request begins could be of either.
            st.integers(1, 50),
        ),
        min_size=1,
        max_size=5,
    ),
    st.booleans(),
)
def test_each_request_is_what_was_asked(asked, bracket):
    language_model = chat()
    language_model.bracket = bracket
    now = language_model.load(5 * MS, 400 * MS, 100 * MS)
    truths = []
    for tokens, prompt_ms, passes, pause_ms in asked:
        truths.append(
            language_model.request(
                now, prompt_tokens=tokens, prompt_ns=prompt_ms * MS, tokens_ns=[each * MS for each in passes]
            )
        )
        now = truths[-1].end_ns + pause_ms * MS
    trace = trace_of(language_model.scenario)
    assert len(trace.requests) == len(asked)
    phases = trace.phases
    for found, truth, (tokens, _, passes, _) in zip(records_of(trace.requests), truths, asked, strict=True):
        assert_true(found, truth)
        assert (found["consumed_tokens"], found["generated_tokens"]) == (tokens, len(passes))
        assert (found["duration_ns"], found["overlapping"]) == (truth.end_ns - truth.start_ns, False)
        assert (found["cached_tokens"], found["first_token_from"]) == (0 if bracket else None, "token")
        own = phases.where(phases.request.filled() == found["request"])
        assert ((own.start_ns >= truth.start_ns) & (own.start_ns <= truth.end_ns)).all()
        assert own.phase.is_any("forward pass").sum() == len(passes)
    assert (~phases.request.known).sum() == 2  # the load and the warm-up


def test_a_last_request_whose_interval_never_ended_is_unfinished():
    scenario = local_chat()
    (last,) = (row for row in scenario.logged if row.name == "Inference" and row.form == "open")
    scenario.logged.remove(last)
    trace = trace_of(scenario)
    (summary,) = summarize_requests(trace)
    assert (summary.requests, summary.unfinished) == (len(REQUESTS), 1)
    assert values_of(trace.requests, "generated_tokens") == [tokens for _, tokens in REQUESTS]
    assert trace.requests.duration_ns.known.tolist() == [True, True, False]
    assert trace.requests.start_ns[-1] == last.start_ns
    # A prompt that is processed ahead of a request generates nothing, and is none.
    scenario.logged = [row for row in scenario.logged if row.start_ns < last.start_ns or row.name in ("Prompt",)]
    assert len(trace_of(scenario).requests) == len(REQUESTS) - 1


def test_what_is_unknown_is_null_and_no_zero():
    language_model = chat()
    truth = language_model.request(
        MS, prompt_tokens=90, prompt_ns=40 * MS, tokens_ns=[9 * MS, 9 * MS], processed_tokens=20, finished=False
    )
    (found,) = records_of(trace_of(language_model.scenario).requests)
    assert_true(found, truth)
    assert (found["duration_ns"], found["cached_tokens"], found["processed_tokens"]) == (None, 70, 20)
    for name in ("session", "cache_ns", "tool_ns", "tools", "error", "instructions", "window_tokens", "appended"):
        assert found[name] is None, name
    assert (found["origin"], found["unvalidated"]) == ("signposts", False)


def test_a_load_before_the_first_token_is_a_part_of_the_wait():
    language_model = chat()
    language_model.load(150 * MS, 80 * MS)
    language_model.request(100 * MS, prompt_tokens=9, prompt_ns=200 * MS, tokens_ns=[9 * MS])
    assert values_of(trace_of(language_model.scenario).requests, "load_ns") == [80 * MS]


def test_rows_of_requests_at_once_are_told_apart_by_thread_or_not_at_all():
    language_model = chat()
    first = language_model.request(100 * MS, prompt_tokens=9, prompt_ns=200 * MS, tokens_ns=[9 * MS] * 9)
    language_model.thread = 3
    second = language_model.request(150 * MS, prompt_tokens=7, prompt_ns=300 * MS, tokens_ns=[9 * MS] * 9)
    rows = trace_of(language_model.scenario).requests
    for found, truth in zip(records_of(rows), (first, second), strict=True):
        assert_true(found, truth)
        assert (found["overlapping"], found["uncertain"]) == (True, False)
    for row in language_model.scenario.logged:
        object.__setattr__(row, "thread", language_model.scenario.logged[0].thread)
    rows = trace_of(language_model.scenario).requests
    assert rows.uncertain.all()
    for name in ("prompt_ns", "generation_ns", "first_token_ns", "processed_tokens", "load_ns"):
        assert values_of(rows, name) == [None, None], name
    # What the brackets say is theirs.
    assert values_of(rows, "generated_tokens") == [9, 9]


def test_other_runtimes_are_read_by_their_phases():
    scenario = Scenario(Process("Bench", 9), duration_ns=9_000 * MS)
    now = 10 * MS
    for name, length in [("model_load", 500), ("prefill", 90), *[("decode_step", 20), ("sampler", 1)] * 5] * 2:
        scenario.logged.append(LoggedRow(now, length * MS, name, "ai.mlx.bench", "PointsOfInterest"))
        now += (length + 1) * MS
    rows = trace_of(scenario).requests
    assert values_of(rows, "runtime") == ["MLX", "MLX"]
    assert values_of(rows, "prompt_ns") == [90 * MS] * 2
    # From the end of the prompt: five steps, and the ms behind each row but the last.
    assert values_of(rows, "generation_ns") == [(5 * 21 + 10) * MS] * 2
    assert values_of(rows, "first_token_ns") == [(90 + 1 + 20 + 1 + 1) * MS] * 2
    assert values_of(rows, "first_token_from") == ["sampling"] * 2
    for name in ("consumed_tokens", "cached_tokens", "tools"):
        assert values_of(rows, name) == [None, None], name
    # WhisperKit has brackets, and no phase of a language model.
    assert not len(trace_of(dictation()).requests)


def test_the_sample_is_what_was_built():
    rows = trace_of(local_chat()).requests
    tokens = zip(values_of(rows, "consumed_tokens"), values_of(rows, "generated_tokens"), strict=True)
    assert list(tokens) == list(REQUESTS)
    assert rows.duration_ns.known.tolist() == [True, True, False]


def test_a_frame_has_its_columns_with_and_without_rows():
    without, some = Requests.none().frame(), trace_of(local_chat()).requests.frame()
    assert without.dtypes.astype(str).to_dict() == some.dtypes.astype(str).to_dict()
    assert without.dtypes.astype(str)[["start_ns", "runtime", "pid", "appended"]].to_list() == [
        *("int64", "category", "Int64", "boolean")
    ]
    assert not len(trace_of(Scenario(Process("App", 1), duration_ns=MS)).requests)


def test_each_of_many_requests_is_told_apart():
    phases = trace_of(local_chat()).phases
    times = 20_000 // len(phases)
    many = phases.take(np.tile(np.arange(len(phases)), times))
    many = replace(many, start_ns=many.start_ns + np.repeat(np.arange(times), len(phases)) * 10_000_000_000)
    requests, owner = logged_requests(many)
    assert len(requests) == times * len(REQUESTS)
    assert (owner >= 0).sum() == times * phases.request.known.sum()
