"""Random sessions with language models in which nothing is wrong: chats, unrelated questions, tools, and two at once.

Whatever the lengths of prompts and answers are, no detector of requests may find anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from suite.chats import MS, closed, growing, own_chat, recording, system_chat
from suite.frame import FINDING, named
from support.handover import trace_of
from tracekit.detectors.runner import run_detectors
from tracekit.testing import CoreAIChat, Draws, Scenario, Session

COUNTS = ("known", "without the cache", "none")


def system_assistant(draws: Draws) -> Scenario:
    """Chats with the system's model of a few turns, some with quick tools, some of whose counts are empty."""
    counts, turns = draws.choice(COUNTS), draws.integer(2, 9)
    first_ns, rate = draws.integer(150, 400) * MS, draws.integer(6, 25) * MS
    each = draws.integer(3, 6)

    def change(number: int) -> Mapping[str, Any]:
        generated = draws.integer(5, 90)
        options: dict[str, Any] = {"prompt_ns": draws.around(first_ns, 150), "generation_ns": generated * rate}
        options["generated"] = generated
        if draws.chance(200):
            runs = draws.integer(1, 2)
            options["tools"] = [("lookup", f'{{"n": {number}}}', draws.integer(5, 70) * MS) for _ in range(runs)]
        if counts != "known":
            options["cached"] = None
        if counts == "none":
            options |= {"consumed": None, "generated": None}
        if draws.chance(60):
            options["error"] = "CancellationError: canceled"
        return options

    return system_chat(
        draws,
        turns,
        change,
        opens=lambda number: number % each == 0,
        used=draws.integer(80, 1_200),
        events=draws.chance(700),
        loads=draws.chance(800),
    )


def own_assistant(draws: Draws) -> Scenario:
    """A model of the app that keeps its cache."""
    line, first_ns = draws.integer(0, 20) / 10, draws.integer(4, 20) * MS

    def change(_number: int) -> Mapping[str, Any]:
        times = growing(draws.integer(4, 60), draws.around(first_ns, 30), 0.0, line / 10)
        shares = {"sample_ns": first_ns * draws.integer(1, 8) // 100, "cache_ns": first_ns * draws.integer(0, 4) // 100}
        return {"tokens_ns": [draws.around(each, 40) for each in times], **shares}

    return own_chat(draws, draws.integer(1, 8), change, bracket=draws.chance(800), used=draws.integer(20, 1_500))


def unrelated(draws: Draws) -> Scenario:
    """Prompts of any length that have nothing to do with each other, so that nothing can be reused."""
    lengths = [round(20 * 2 ** (draws.integer(0, 60) / 10)) for _ in range(draws.integer(3, 14))]

    def change(number: int) -> Mapping[str, Any]:
        return {"prompt_tokens": lengths[number], "processed_tokens": lengths[number]}

    return own_chat(draws, len(lengths), change, reuse=False)


def long_answers(draws: Draws) -> Scenario:
    """Long answers whose tokens take the time that attention needs, with some that are late by chance."""
    scenario, now = recording(), 200 * MS
    chat, line = CoreAIChat(scenario), draws.integer(0, 30) / 10
    used, first_ns, spread = draws.integer(20, 600), draws.integer(4, 25) * MS, draws.integer(5, 80)
    for _ in range(draws.integer(1, 3)):
        times = growing(draws.integer(130, 260), first_ns, 0.0, line)
        late = [
            draws.around(each, spread) * (draws.integer(15, 40) if draws.chance(15) else 10) // 10 for each in times
        ]
        now = chat.request(now, prompt_tokens=used, prompt_ns=used * MS, tokens_ns=late).end_ns + 700 * MS
    return closed(scenario)


def two_sessions(draws: Draws) -> Scenario:
    """Suggestions in the background beside a chat; each begins when it is asked for."""
    scenario, now = recording(), 300 * MS
    chat, background = Session(scenario, index=1), Session(scenario, "Suggest.", index=2)
    for session in (chat, background):
        session.instruct(now - 10 * MS, 600_000 * MS)
    used = draws.integer(100, 300)
    for number in range(draws.integer(2, 6)):
        times = {"prompt_ns": draws.integer(100, 400) * MS, "generation_ns": draws.integer(300, 1_500) * MS}
        cached = used - 60 if number else 0
        asked = chat.request(now, consumed=used, generated=40, cached=cached, **times)
        ends = [asked.end_ns]
        if draws.chance(600):
            begin = now + draws.integer(10, 900) * MS
            ends.append(background.request(begin, consumed=90, generated=20, cached=60, **times).end_ns)
        used += 100
        now = max(ends) + draws.integer(200, 2_000) * MS
    return closed(scenario)


CHATS: tuple[Callable[[Draws], Scenario], ...] = (
    system_assistant,
    own_assistant,
    unrelated,
    long_answers,
    two_sessions,
)


def false_alarms(seed: int) -> list[str]:
    """What is found in the random chat with this number, and must not be."""
    build = CHATS[seed % len(CHATS)]
    outcomes, errors = named(run_detectors(trace_of(build(Draws(70_000 + seed)))))
    found = [str(key) for key, outcome in outcomes.items() if outcome == FINDING]
    return [f"{build.__name__} {seed}: {line}" for line in (*found, *errors)]
