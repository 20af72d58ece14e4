"""Requests in Foundation Models' tables, built from their columns: no public recording has rows."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st

from support.choice import sweep_rest
from support.handover import trace_of
from support.rows import records_of, values_of
from tracekit.analysis.requests import summarize_requests
from tracekit.testing import Process, Scenario, Session, write_bundle, write_export
from tracekit.testing.schemas import LANGUAGE_MODELS, columns_of
from tracekit.trace.build import open_trace
from tracekit.trace.requests.frame import Requests

MS = 1_000_000
STRANGE = ("", "12", "request-1", "inference-1", "N/A", "Yellow", "NPrompt", "loaded", "-5", "1e9", "9" * 40, None)
MESSAGES = ('REQ,request-1,inference-1,a-b,c-d::{"event":"request_start"}', "::", "RSP,inference-1::{")


def cook(**options: object) -> Session:
    scenario = Scenario(Process("Cook", 55), duration_ns=60_000 * MS, xcode_version="27.2")
    return Session(scenario, "Be a cook.", **options)  # type: ignore[arg-type]


def asked(session: Session) -> Requests:
    return trace_of(session.scenario).requests


@pytest.mark.parametrize("order", sweep_rest(((3, 2, 1, 0),), ((0, 1, 2, 3),), ((0, 3, 2, 1),)))
@pytest.mark.parametrize("events", [True, False])
def test_each_request_is_what_was_asked(order, events):
    session = cook(order=order, events=events)
    session.instruct(50 * MS, 50_000 * MS)
    first = session.request(100 * MS, prompt_ns=500 * MS, generation_ns=900 * MS, consumed=300, generated=31)
    weather = ("weather", '{"city": "Bern"}', 400 * MS)
    second = session.request(
        3_000 * MS, prompt_ns=80 * MS, generation_ns=700 * MS, consumed=350, generated=20, cached=330, tools=[weather]
    )
    rows = asked(session)
    for found, truth in zip(records_of(rows), (first, second), strict=True):
        assert (found["start_ns"], found["duration_ns"]) == (truth.start_ns, truth.end_ns - truth.start_ns)
        assert found["first_token_ns"] == truth.first_token_ns
        assert (found["prompt_ns"], found["generation_ns"]) == (truth.prompt_ns, truth.generation_ns)
        assert (found["tool_ns"], found["error"], found["unvalidated"]) == (truth.tool_ns, "none", True)
        assert found["first_token_from"] == ("response event" if events else "prompt")
    assert values_of(rows, "consumed_tokens") == [300, 700]
    assert values_of(rows, "generated_tokens") == [31, 40]
    # An empty count of cached tokens is not 0.
    assert values_of(rows, "cached_tokens") == [None, 660]
    assert values_of(rows, "processed_tokens") == [None, 40]
    assert values_of(rows, "context_tokens") == [331, 370]
    assert (values_of(rows, "inferences"), values_of(rows, "tools")) == ([1, 2], [0, 1])
    assert values_of(rows, "appended") == [None, True if events else None]


def test_texts_are_equal_or_not_and_nothing_else():
    session = cook()
    texts = ["Today is day 1.", "Today is day 2.", "Today is day 1.", "Other."]
    for number, text in enumerate(texts):
        session.instruct(number * 1_000 * MS, 1_000 * MS, text)
        session.request(
            number * 1_000 * MS + MS,
            prompt_ns=9 * MS,
            generation_ns=9 * MS,
            prompt="my secret",
            tools=[("weather", f'{{"private": {number % 2}}}', MS)],
        )
    trace = trace_of(session.scenario)
    for names, same in (("instructions", [0, 1, 0, 2]), ("instructions_form", [0, 0, 0, 1])):
        codes = values_of(trace.requests, names)
        assert [codes.index(code) for code in codes] == [same.index(code) for code in same]
    assert values_of(trace.requests, "instructions_region") == [0, 1, 2, 3]
    tools = trace.phases.where(trace.phases.phase.is_any("tool call"))
    assert values_of(tools, "identity") == [1, 2, 1, 2]
    said = json.dumps([records_of(rows) for rows in trace.context.values()])
    for private in ("secret", "private", "Today", "An answer", "Be a cook"):
        assert private not in said


ERRORS = (
    ("N/A", "none", None),
    ("", "none", None),
    ("LanguageModelError.contextSizeExceeded(contextSize: 4096, tokenCount: 5000)", "context window", 4096),
    ("GenerationError.REFUSAL: no", "refusal", None),
    ("guardrailViolation", "guardrail", None),
    ("something else", "other", None),
)


def test_errors_are_named_by_kind():
    session = cook()
    for number, (text, _, _) in enumerate(ERRORS):
        at = number * 1_000 * MS
        session.request(at, prompt_ns=9 * MS, generation_ns=0, error=text, consumed=None, generated=None)
    rows = asked(session)
    found = zip(values_of(rows, "error"), values_of(rows, "window_tokens"), strict=True)
    assert list(found) == [(kind, window) for _, kind, window in ERRORS]
    # Nothing was generated, so there is no first token.
    for name in ("first_token_ns", "generation_ns", "generated_tokens"):
        assert set(values_of(rows, name)) == {None}, name


def test_loads_before_the_first_token_are_counted_and_unloads_are_none():
    session = cook()
    session.loads(50 * MS, 200 * MS)
    session.loads(300 * MS, 900 * MS, to="unloaded")
    session.request(100 * MS, prompt_ns=400 * MS, generation_ns=100 * MS)
    trace = trace_of(session.scenario)
    assert trace.requests.load_ns.item(0) == 150 * MS
    phases = trace.phases
    assert values_of(phases.where(phases.lane.is_any("Load")), "phase") == ["load", "unload"]
    assert "variant" not in str(set(phases.name.held()))


def test_the_kind_of_an_error_is_unknown_without_its_text():
    session = cook()
    session.request(0, prompt_ns=9 * MS, generation_ns=0, error="refusal", consumed=None, generated=None)
    session.request(1_000 * MS, prompt_ns=9 * MS, generation_ns=MS)
    assert values_of(asked(session), "error") == ["refusal", "none"]
    session.scenario.missing = {"ModelInferenceTable"}
    assert values_of(asked(session), "error") == ["unknown kind", "none"]


def test_without_a_table_of_requests_each_inference_is_one():
    session = cook(events=False)
    for number in range(3):
        session.request(number * 1_000 * MS, prompt_ns=90 * MS, generation_ns=80 * MS)
    del session.scenario.language_models["RequestTable"]
    rows = asked(session)
    assert values_of(rows, "start_ns") == [0, 1_000 * MS, 2_000 * MS]
    assert set(values_of(rows, "prompt_ns")) == {90 * MS}
    assert set(values_of(rows, "tools")) == {None}


def test_what_belongs_to_several_requests_belongs_to_none():
    session = cook(events=False)
    for _ in range(2):
        session.request(100 * MS, prompt_ns=90 * MS, generation_ns=80 * MS)
    rows = asked(session)
    assert set(values_of(rows, "overlapping")) == {True}
    assert set(values_of(rows, "prompt_ns")) == {None}
    # Their events say which row is whose.
    session = cook(events=True)
    for _ in range(2):
        session.request(100 * MS, prompt_ns=90 * MS, generation_ns=80 * MS)
    assert set(values_of(asked(session), "prompt_ns")) == {90 * MS}


def test_cut_off_messages_are_counted_in_a_note():
    session = cook()
    session.request(100 * MS, prompt_ns=90 * MS, generation_ns=80 * MS)
    rows = session.scenario.language_models["FMEventTable"]
    rows[-1] = (rows[-1][0], str(rows[-1][1])[:-9])
    assert "FMEventTable: 1 of 4 messages are cut off; what they say is unknown." in trace_of(session.scenario).notes


@pytest.mark.sweep
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(list(LANGUAGE_MODELS)),
            st.integers(0, 100),
            st.integers(0, 50) | st.none(),
            st.lists(st.sampled_from((*STRANGE, *MESSAGES)), min_size=20, max_size=20),
        ),
        max_size=25,
    )
)
def test_no_rows_are_too_strange(rows):
    scenario = cook().scenario
    for schema, start_ns, duration_ns, texts in rows:
        more = zip(columns_of(schema, 27)[1:], (duration_ns, *texts), strict=False)
        made = (value if column.type == "string" or value is None else 7 for column, value in more)
        scenario.language_models.setdefault(schema, []).append((start_ns, *made))
    trace = trace_of(scenario)
    rows = trace.requests
    assert set(values_of(trace.phases, "request")) <= {None, *values_of(rows, "request")}
    assert (rows.last_ns >= rows.start_ns).all()
    for name in ("first_token_ns", "prompt_ns", "generation_ns", "tool_ns", "load_ns", "processed_tokens"):
        assert all(value is None or value >= 0 for value in values_of(rows, name)), name
    summarize_requests(trace)


def test_both_forms_of_files_say_the_same(tmp_path):
    session = cook()
    session.loads(50 * MS, 200 * MS)
    session.instruct(0, 9_000 * MS)
    session.end(0, 9_000 * MS)
    session.request(100 * MS, prompt_ns=400 * MS, generation_ns=100 * MS, tools=[("weather", "{}", MS)])
    write_bundle(session.scenario, tmp_path / "a.trace", rows_per_block=64)
    write_export(session.scenario, tmp_path / "a")
    traces = [open_trace(tmp_path / name) for name in ("a.trace", "a")]
    assert records_of(traces[0].requests) == records_of(traces[1].requests)
    assert records_of(traces[0].phases) == records_of(traces[1].phases)
    # A load, instructions, a session, a request, a tool call, and of each of two inferences 2 phases and 4 events.
    assert traces[0].coverage_of("Foundation Models").rows == 5 + 2 * (2 + 4)
