"""Instructions that are built again for each request."""

from __future__ import annotations

from suite.chats import INSTRUCTIONS, MS, closed, own_chat, recording, system_chat
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, PASSED, POSITIVE, cases, each
from tracekit.testing import Draws, Scenario, Session

ID = "rebuilt-instructions"
UNKNOWN = {"cached": None}
TASKS = ("Be a cook.", "Be a poet.", "Translate.", "Summarize.", "Find names.", "Correct this.", "Explain.", "Rhyme.")


def the_same(draws: Draws) -> Scenario:
    """The same text begins again with each request."""
    return system_chat(draws, draws.integer(5, 8), lambda _: UNKNOWN, told=lambda _: INSTRUCTIONS)


def with_the_time(draws: Draws) -> Scenario:
    """They hold the time."""
    begin = draws.integer(10, 40)
    return system_chat(
        draws, draws.integer(5, 8), lambda _: UNKNOWN, told=lambda number: f"Be a cook. It is 9:{begin + number}."
    )


def built_again(draws: Draws, times: int, turns: int = 11) -> Scenario:
    """They begin again so many times in ten requests behind the first."""
    return system_chat(draws, turns, lambda _: UNKNOWN, told=lambda number: INSTRUCTIONS if 0 < number <= times else "")


def different_tasks(draws: Draws) -> Scenario:
    """Each request is another task."""
    return system_chat(draws, 8, lambda _: UNKNOWN, told=lambda number: TASKS[number])


def some_chats(draws: Draws) -> Scenario:
    """Three chats of three requests."""
    return system_chat(draws, 9, lambda _: UNKNOWN, opens=lambda number: number % 3 == 0)


def by_turns(draws: Draws) -> Scenario:
    """Two or three chats that are asked by turns."""
    scenario = recording()
    chats = [Session(scenario, INSTRUCTIONS, number) for number in range(1, draws.integer(3, 4))]
    now = 500 * MS
    for chat in chats:
        chat.instruct(now, 600_000 * MS)
    for number in range(12):
        asked = {"consumed": 300, "generated": 30, "cached": None, "prompt_ns": 200 * MS, "generation_ns": 400 * MS}
        now = chats[number % len(chats)].request(now + 500 * MS, **asked).end_ns
    return closed(scenario)


def still_cached(draws: Draws) -> Scenario:
    """Sessions of their own, whose instructions come from the cache."""
    return system_chat(draws, 6, lambda _: {"cached": 210}, opens=lambda _: True)


def not_shown(draws: Draws) -> Scenario:
    """The table of instructions holds no row."""
    scenario = system_chat(draws, 6, lambda _: UNKNOWN)
    del scenario.language_models["InstructionsTable"]
    return scenario


CASES = [
    *cases(ID, POSITIVE, 4, the_same),
    *cases(ID, POSITIVE, 4, with_the_time),
    # Each request has a session of its own.
    *cases(
        ID, POSITIVE, 4, lambda draws: system_chat(draws, draws.integer(5, 8), lambda _: UNKNOWN, opens=lambda _: True)
    ),
    *cases(ID, NEGATIVE, 5, system_chat),
    # One session, whose counts of cached tokens are empty.
    *cases(ID, NEGATIVE, 5, lambda draws: system_chat(draws, 6, lambda _: UNKNOWN)),
    *each(ID, NEAR_ABOVE, (8, 9, 10), built_again),
    *each(ID, NEAR_ABOVE, (4, 5), lambda draws, count: built_again(draws, count, count + 1)),
    *each(ID, NEAR_BELOW, (4, 5, 6, 7), built_again),
    *each(ID, NEAR_BELOW, (2, 2), lambda draws, count: built_again(draws, count, 4)),
    *cases(ID, LOOKALIKE, 2, different_tasks, page="The app switches"),
    *cases(ID, LOOKALIKE, 2, some_chats, page="A new chat begins"),
    *cases(ID, LOOKALIKE, 2, by_turns, expected=PASSED, page="Two chats are asked"),
    *cases(ID, LOOKALIKE, 2, still_cached, page="The cache still holds"),
    *cases(ID, INSUFFICIENT, 2, not_shown),
    *cases(ID, INSUFFICIENT, 1, lambda draws: system_chat(draws, 3, told=lambda _: INSTRUCTIONS)),
    *cases(ID, INSUFFICIENT, 2, own_chat),
]
