"""Chats whose prompts are processed again."""

from __future__ import annotations

from math import ceil

from suite.chats import own_chat, system_chat
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from tracekit.testing import Draws, Scenario

ID = "prompt-reprocessing"
TOKENS = 40


def reused(draws: Draws, thousandths: int) -> Scenario:
    """So many thousandths of 400, 500, ... tokens before are reused."""

    def change(number: int) -> dict[str, int]:
        before = 300 + 100 * number
        return {
            "consumed": before + 60,
            "generated": TOKENS,
            "cached": ceil(before * thousandths / 1_000) if number else 0,
        }

    return system_chat(draws, 6, change)


def missed(draws: Draws, times: int) -> Scenario:
    """The cache is lost so many times in six requests behind the first."""
    return system_chat(draws, 7, lambda number: {"cached": 0} if number <= times else {})


def new_chats(draws: Draws) -> Scenario:
    """Each question opens a chat of its own."""
    return system_chat(draws, 6, lambda _: {"cached": 0}, opens=lambda _: True, told=lambda number: "abcdef"[number])


def dropped(draws: Draws) -> Scenario:
    """The transcript begins anew in each request."""
    return system_chat(
        draws, 6, lambda at: {"cached": 0, "appends": False, "prompt": f"Question {at}", "consumed": 400}
    )


def longer_and_longer(draws: Draws) -> Scenario:
    """A benchmark: 300, 400, ... tokens, none of them reused."""
    return own_chat(
        draws, 9, lambda number: {"prompt_tokens": 300 + 100 * number, "processed_tokens": 300 + 100 * number}
    )


CASES = [
    # Each request continues the transcript, and reuses nothing.
    *cases(ID, POSITIVE, 5, lambda draws: system_chat(draws, 6, lambda _: {"cached": 0})),
    # The same, where only the session shows it.
    *cases(ID, POSITIVE, 3, lambda draws: system_chat(draws, 6, lambda _: {"cached": 0}, events=False)),
    # A model of the app without a cache, in a chat of some turns.
    *cases(ID, POSITIVE, 4, lambda draws: own_chat(draws, draws.integer(7, 10), reuse=False)),
    *cases(ID, NEGATIVE, 5, system_chat),
    *cases(ID, NEGATIVE, 5, own_chat),
    *each(ID, NEAR_ABOVE, (0, 50, 100, 150, 190), reused),
    *each(ID, NEAR_ABOVE, (3, 4), missed),
    *each(ID, NEAR_BELOW, (200, 210, 300, 500, 900), reused),
    *each(ID, NEAR_BELOW, (1, 2), missed),
    *cases(ID, LOOKALIKE, 2, new_chats, page="A new chat begins"),
    *cases(ID, LOOKALIKE, 2, dropped, page="History is dropped"),
    *cases(ID, LOOKALIKE, 2, longer_and_longer, page="A benchmark tries"),
    *cases(ID, INSUFFICIENT, 2, lambda draws: system_chat(draws, 6, lambda _: {"cached": None})),
    # A model of the app without a cache: four requests could be of one chat or of four.
    *cases(ID, INSUFFICIENT, 2, lambda draws: own_chat(draws, 5, reuse=False)),
    *cases(ID, INSUFFICIENT, 1, lambda draws: own_chat(draws, 6, bracket=False)),
    *cases(ID, INSUFFICIENT, 1, lambda draws: system_chat(draws, 6, lambda _: {"consumed": None, "cached": None})),
]
