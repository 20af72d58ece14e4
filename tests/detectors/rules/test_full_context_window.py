"""Context windows that are nearly full."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import NotEvaluated
from tracekit.testing import Session

ID = "full-context-window"
MS = 1_000_000


def talk(scenario, contexts: list[int | None], error: str = "N/A") -> None:
    """Requests of which each holds so many tokens, 40 of them generated; the last one ends in the error."""
    session = Session(scenario)
    for number, context in enumerate(contexts):
        session.request(
            (100 + 2_000 * number) * MS,
            prompt_ns=200 * MS,
            generation_ns=400 * MS,
            consumed=None if context is None else context - 40,
            generated=40,
            error=error if number == len(contexts) - 1 else "N/A",
        )


def test_the_pace_of_a_chat_says_how_many_requests_fit(scenario, judge):
    talk(scenario, [2_500, 2_900, 3_300])
    # 796 tokens are left, at 400 for each request.
    finding = judge(scenario, ID)[None]
    assert "1 more request fits at this pace" in finding.summary
    assert finding.missed == pytest.approx(1 / 3)


def test_a_request_that_did_not_fit_is_found_without_counts(scenario, judge):
    talk(scenario, [None, None], error="LanguageModelError.contextSizeExceeded")
    finding = judge(scenario, ID)[None]
    assert finding.summary == "1 of 2 requests exceeded the context window."
    assert len(finding.evidence) == 1


def test_an_error_names_the_window(scenario, judge):
    talk(scenario, [1_000, 7_000, 8_100], error="contextSizeExceeded(contextSize: 8192, tokenCount: 9000)")
    assert "window of 8,192 tokens" in judge(scenario, ID)[None].summary


def test_unknown_counts_are_no_pass(scenario, judge):
    talk(scenario, [900, None])
    assert isinstance(judge(scenario, ID)[None], NotEvaluated)
