"""Pairing of Foundation Models' rows: by membership of ids, never by position, and never by guessing."""

import json

import pytest
from hypothesis import given, strategies as st

from tracekit.trace.requests.pairing import GENERATION, INFERENCE, PROMPT, Event, Owners, event_of, phases_of

NONE = ("", "")


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=20, unique=True), st.randoms())
def test_of_two_rows_with_one_id_the_first_is_the_prompt_in_any_order(starts, random):
    rows = [(f"inference-{start}", start + later) for start in starts for later in (0, 10**10)]
    random.shuffle(rows)  # type: ignore[attr-defined]
    phases = phases_of([name for name, _ in rows], [start for _, start in rows], [("Blue", "success")] * len(rows))
    assert phases == [GENERATION if start >= 10**10 else PROMPT for _, start in rows]


@pytest.mark.parametrize(
    ("ids", "starts", "signs", "phases"),
    [
        (["inference"], [5], [NONE], [INFERENCE]),
        (["inference"], [5], [("Yellow", "NPrompt")], [PROMPT]),
        (["inference"], [5], [("Yellow", "success")], [INFERENCE]),
        (["inference"] * 2, [5, 5], [NONE] * 2, [INFERENCE] * 2),
        (["inference"] * 3, [5, 6, 7], [("Yellow", "NPrompt")] * 3, [INFERENCE] * 3),
        ([None, None], [5, 6], [NONE] * 2, [INFERENCE] * 2),
        (["1", "1"], [5, 6], [NONE] * 2, [INFERENCE] * 2),
        # Whatever the signs say, two rows are told apart by their order.
        (["inference"] * 2, [5, 6], [("Orange", "NResolve"), ("Yellow", "NPrompt")], [PROMPT, GENERATION]),
    ],
)
def test_what_is_not_clear_is_no_phase(ids, starts, signs, phases):
    assert phases_of(ids, starts, signs) == phases


@given(st.permutations(range(4)), st.integers(1, 6))
def test_ids_are_joined_wherever_they_stand(order, requests):
    events = []
    for number in range(requests):
        ids = [f"event-{number}", f"inference-{number}", f"request-{number}", "session-1"]
        events.append(event_of(number, f"REQ,{','.join(ids[place] for place in order)}::{{}}"))
    owners = Owners([(f"request-{number}", number) for number in range(requests)], events)
    for number in range(requests):
        assert owners.of([f"inference-{number}"]) == number
        assert owners.of([f"inference-{number}", "session-1"]) == number
    # The session is in the events of all requests.
    assert owners.of(["session-1"]) == (0 if requests == 1 else None)
    assert owners.of(["unheard", None, ""]) is None


def test_ids_that_name_several_requests_name_none():
    events = [Event(0, frozenset({"request-1", "request-2", "inference"}))]
    owners = Owners([("request-1", 1), ("request-2", 2), ("7", 3)], events)
    assert owners.of(["inference"]) is None
    assert owners.of(["request-1", "request-2"]) is None
    assert owners.of(["7"]) is None


def test_messages_give_counts_and_never_texts():
    data = {"cachedTokenCount": 12, "consumedTokenCount": 40, "text": "secret", "deltasCount": True, "huge": 10**30}
    said = json.dumps({"event": "response_complete", "data": data})
    event = event_of(5, f"RSP,event-1,inference-1,request-1,1::{said}")
    assert (event.name, dict(event.counts)) == ("response_complete", {"cachedTokenCount": 12, "consumedTokenCount": 40})
    assert event.ids == {"event-1", "inference-1", "request-1"}
    assert "secret" not in repr(event)
    first, more = (
        event_of(5, "PMT,a-id::" + json.dumps({"entries": entries}))
        for entries in ([{"role": "user", "contents": ["secret"]}], [{"role": "user", "contents": ["secret"]}, {}])
    )
    assert first.transcript is not None
    assert more.transcript is not None
    assert more.transcript[:1] == first.transcript
    assert "secret" not in repr(first)


@pytest.mark.parametrize("text", ['{"event":"resp', "[1]", "[" * 100_000, "5", "{]"])
def test_a_message_that_is_cut_off_keeps_its_ids(text):
    event = event_of(5, f"RSP,event-1,inference-1,request-1,session-1::{text}")
    assert (event.broken, event.name, len(event.ids)) == (True, "", 4)


@given(st.text(max_size=60))
def test_no_message_is_too_strange(text):
    assert event_of(1, text).time_ns == 1
