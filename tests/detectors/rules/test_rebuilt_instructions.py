"""Instructions that begin again with each request."""

from __future__ import annotations

import pytest

from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
from tracekit.testing import Session

ID = "rebuilt-instructions"
MS = 1_000_000
NAME = "Cook for Mrs. Miller"


def talk(scenario, texts: list[str], sessions: list[int] | None = None, cached: int | None = None) -> None:
    """A request for each text of instructions, each of which begins a region; an empty one stays in the one before."""
    made: dict[int, Session] = {}
    for number, text in enumerate(texts):
        begin = (1_000 + 2_000 * number) * MS
        index = (sessions or [1] * len(texts))[number]
        session = made.setdefault(index, Session(scenario, text or NAME, index))
        if text:
            session.instruct(begin - 10 * MS, 2_000 * MS, text)
        session.request(begin, prompt_ns=200 * MS, generation_ns=400 * MS, consumed=400, cached=cached)


def test_the_same_text_in_a_new_region_is_built_again(scenario, judge):
    talk(scenario, [NAME] * 5)
    finding = judge(scenario, ID)[None]
    assert (len(finding.evidence), finding.missed, finding.cost) == (4, 1.0, None)


def test_other_digits_are_a_date_or_a_counter_and_no_text_is_told(scenario, judge):
    talk(scenario, [f"{NAME}, 9:4{number}" for number in range(5)])
    finding = judge(scenario, ID)[None]
    assert values(finding)["of them with other digits"] == 4
    assert "Miller" not in repr(finding)


def test_a_session_for_each_request_builds_them_again(scenario, judge):
    talk(scenario, [NAME] * 5, [1, 2, 3, 4, 5])
    finding = judge(scenario, ID)[None]
    assert finding.summary.endswith("4 in a new session.")


@pytest.mark.parametrize(
    ("sessions", "again", "outcome"),
    [
        pytest.param([1, 2] * 6, NAME, Finding, id="two by turns, each told again"),
        pytest.param(range(1, 13), "", Finding, id="one for each request"),
    ],
)
def test_sessions_that_are_asked_by_turns_keep_their_instructions(scenario, judge, sessions, again, outcome):
    known: set[int] = set()
    texts = [again if number in known or known.add(number) else NAME for number in sessions]
    talk(scenario, texts, list(sessions))
    assert isinstance(judge(scenario, ID)[None], outcome)


@pytest.mark.parametrize(
    ("texts", "cached", "outcome"),
    [
        ([NAME, *[NAME] * 4, ""], None, Finding),  # Four of five.
        ([NAME, *[NAME] * 3, "", ""], None, Passed),
        ([NAME] * 4, None, Finding),  # Three of three.
        ([NAME, *[NAME] * 2, ""], None, Passed),
        ([NAME] * 3, None, NotEvaluated),
        ([NAME, "Sing", "Rhyme", "Dance", "Draw"], None, Passed),
        ([NAME] * 5, 79, Finding),
        ([NAME] * 5, 80, Passed),  # The cache holds them.
    ],
)
def test_thresholds(scenario, judge, texts, cached, outcome):
    talk(scenario, texts, cached=cached)
    assert isinstance(judge(scenario, ID)[None], outcome)
