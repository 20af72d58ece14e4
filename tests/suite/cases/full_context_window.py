"""Context windows that are nearly full."""

from __future__ import annotations

from suite.chats import own_chat, system_chat
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from tracekit.testing import Draws, Scenario

ID = "full-context-window"
ERRORS = "request-errors"
OWN = {"full-context-window.window_tokens": 2_048}
LARGE = {"full-context-window.window_tokens": 32_768}
TEXTS = (
    "exceededContextWindowSize",
    "LanguageModelError.contextSizeExceeded(contextSize: 4096, tokenCount: 4210)",
    "Context size 4096 exceeded: contextSizeExceeded",
)


def long_chat(draws: Draws) -> Scenario:
    """A chat of some turns that comes near the end of the window."""
    first = draws.integer(3_300, 3_500)
    return system_chat(draws, 4, used=first)


def exceeded(draws: Draws) -> Scenario:
    """The last request fails."""
    text = draws.choice(TEXTS)
    failed = {"error": text, "generation_ns": 0, "generated": None, "consumed": None, "cached": None}
    return system_chat(draws, 5, lambda number: failed if number == 4 else {})


def longest(draws: Draws, tokens: int) -> Scenario:
    """The longest context holds so many tokens."""
    return system_chat(
        draws, 3, lambda number: {"consumed": tokens - 40 * (3 - number), "generated": 40, "cached": None}
    )


def summarized(draws: Draws) -> Scenario:
    """Every fourth request begins a session with a summary."""
    return system_chat(draws, 8, opens=lambda number: number % 4 == 0, used=2_500)


def larger_window(draws: Draws) -> Scenario:
    """Contexts of 5,000 tokens, in a window of 32,768."""
    return system_chat(draws, 4, used=5_000)


def other_error(draws: Draws) -> Scenario:
    """A request that the guardrails stop."""
    return system_chat(draws, 5, lambda number: {"error": "guardrailViolation"} if number == 3 else {})


CASES = [
    *cases(ID, POSITIVE, 5, long_chat),
    *cases(ID, POSITIVE, 5, exceeded, also=(ERRORS,)),
    # A model of the app with a window that is named.
    *cases(ID, POSITIVE, 2, lambda draws: own_chat(draws, 3, used=1_700), settings=OWN),
    *cases(ID, NEGATIVE, 6, system_chat),
    *cases(ID, NEGATIVE, 4, own_chat, settings=OWN),
    *each(ID, NEAR_ABOVE, (3_277, 3_278, 3_300, 3_500, 4_096), longest),
    *each(ID, NEAR_BELOW, (3_276, 3_275, 3_200, 3_000, 2_500), longest),
    *cases(ID, LOOKALIKE, 2, summarized, page="A long chat stays below"),
    *cases(ID, LOOKALIKE, 2, larger_window, settings=LARGE, page="The model has a larger"),
    *cases(ID, LOOKALIKE, 2, other_error, also=(ERRORS,), page="A request fails for another"),
    *cases(ID, INSUFFICIENT, 2, larger_window),
    *cases(ID, INSUFFICIENT, 2, own_chat),
    *cases(ID, INSUFFICIENT, 1, lambda draws: system_chat(draws, 4, lambda _: {"consumed": None, "cached": None})),
]
