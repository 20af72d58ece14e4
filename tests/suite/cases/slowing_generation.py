"""Tokens that become slower with context."""

from __future__ import annotations

from suite.chats import MS, closed, growing, own_chat, recording, system_chat
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from tracekit.testing import CoreAIChat, Draws, Scenario

ID = "slowing-generation"
TOKENS = 160
SAMPLE_NS = 400_000


def one_answer(
    draws: Draws, bend: float = 0.0, line: float = 0.0, first_ns: int = 10 * MS, tokens: int = TOKENS, noise: int = 15
) -> Scenario:
    """A long answer: so many times the first the last takes more, along a line and in a bend."""
    forward = [draws.around(each, noise) if noise else each for each in growing(tokens, first_ns, bend, line)]
    return answers(draws, [forward])


def answers(draws: Draws, forward: list[list[int]], used: int = 0) -> Scenario:
    """Answers of unrelated questions, by the times of their forward passes."""
    scenario, now = recording(), 200 * MS
    used = used or draws.integer(60, 200)
    for each_ns in forward:
        truth = CoreAIChat(scenario).request(
            now, prompt_tokens=used, prompt_ns=100 * MS, tokens_ns=each_ns, sample_ns=SAMPLE_NS
        )
        now = truth.end_ns + 400 * MS
    return closed(scenario)


def along_a_line(draws: Draws) -> Scenario:
    """Attention: a token takes up to four times the first at the end."""
    return one_answer(draws, 0.0, draws.integer(2, 30) / 10)


def bend(draws: Draws, hundredths: int) -> Scenario:
    """The time of a token is that of the first, and so many hundredths of it more by the square of the place.

    The line through the lower half rises by half of that, and begins at 1/24 below; beyond it the upper half takes
    1/4 of the bend longer, of 1 and 1/3 of it. From 0.75 on that is 0.15."""
    whole = [each - SAMPLE_NS for each in growing(TOKENS, 10 * MS, hundredths / 100)]
    return answers(draws, [whole])


def jump(draws: Draws) -> Scenario:
    """From a token on, all take twice as long."""
    at = draws.integer(30, 140)
    return answers(draws, [[draws.around((10 if number < at else 20) * MS, 15) for number in range(TOKENS)]])


def heat(draws: Draws) -> Scenario:
    """A slow model whose one answer takes more than 20 s."""
    return one_answer(draws, 3.0, first_ns=100 * MS)


CASES = [
    # A model that processes its history in each step.
    *cases(ID, POSITIVE, 7, lambda draws: one_answer(draws, draws.integer(20, 50) / 10, draws.integer(0, 10) / 10)),
    # Three answers, each of which begins fast again.
    *cases(ID, POSITIVE, 3, lambda draws: answers(draws, [list(growing(TOKENS, 8 * MS, 3.0)) for _ in range(3)])),
    # Tokens that take the same time.
    *cases(ID, NEGATIVE, 4, one_answer),
    *cases(ID, NEGATIVE, 6, along_a_line),
    *each(ID, NEAR_ABOVE, (80, 85, 90, 100, 120), bend),
    *each(ID, NEAR_BELOW, (70, 65, 60, 50, 40), bend),
    *cases(ID, LOOKALIKE, 2, along_a_line, page="Time grows along a line"),
    *cases(ID, LOOKALIKE, 3, jump, page="Tokens become slower at once"),
    *cases(ID, LOOKALIKE, 2, heat, page="The device heats up", found_in_more=(ID,)),
    *cases(ID, INSUFFICIENT, 1, heat),
    # Short answers of questions of one length.
    *cases(ID, INSUFFICIENT, 2, lambda draws: answers(draws, [[15 * MS] * 60 for _ in range(3)])),
    *cases(ID, INSUFFICIENT, 1, lambda draws: own_chat(draws, 3)),
    *cases(ID, INSUFFICIENT, 1, system_chat),
]
