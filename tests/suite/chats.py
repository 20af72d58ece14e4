"""Chats with language models, as apps hold them: what a request is asked for is what must be found.

A chat grows by each question and answer. Its requests come one after the other, and reuse what was processed before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tracekit.testing import CoreAIChat, Draws, Process, Scenario, Session

MS = 1_000_000
FORWARD_NS = 15 * MS
INSTRUCTIONS = "Be a cook."
Change = Callable[[int], Mapping[str, Any]]
"""What is otherwise in the request with this number."""


def usual(_number: int) -> Mapping[str, Any]:
    return {}


def recording() -> Scenario:
    """A recording without a row, whose length follows from what is added."""
    return Scenario(Process("Cook", 412), duration_ns=0, xcode_version="27.2")


def closed(scenario: Scenario) -> Scenario:
    """The recording, which ends half a second behind its last row."""
    ends = [row.start_ns + row.duration_ns for row in scenario.logged]
    for rows in scenario.language_models.values():
        ends += [int(cells[0] or 0) + (cells[1] if isinstance(cells[1], int) else 0) for cells in rows]
    scenario.duration_ns = (max(ends) // MS + 500) * MS
    return scenario


def own_chat(
    draws: Draws, turns: int = 6, change: Change = usual, *, reuse: bool = True, bracket: bool = True, used: int = 0
) -> Scenario:
    """A model of the app on Core AI, by its signposts. `used`: tokens of the first prompt."""
    scenario = recording()
    chat = CoreAIChat(scenario, bracket=bracket)
    now = chat.load(100 * MS, draws.integer(200, 900) * MS, warm_up_ns=50 * MS) + draws.integer(300, 900) * MS
    used, before = used or draws.integer(220, 400), 0
    for number in range(turns):
        options: dict[str, Any] = {
            "prompt_tokens": used,
            "processed_tokens": used - before if reuse else used,
            "tokens_ns": [draws.around(FORWARD_NS, 20) for _ in range(draws.integer(12, 24))],
            **change(number),
        }
        options.setdefault("prompt_ns", options["processed_tokens"] * MS)
        now = chat.request(now, **options).end_ns + draws.integer(300, 2_000) * MS
        before = options["prompt_tokens"] + len(options["tokens_ns"])
        used = before + draws.integer(15, 90)
    return closed(scenario)


def system_chat(
    draws: Draws,
    turns: int = 6,
    change: Change = usual,
    *,
    told: Callable[[int], str] = lambda _number: "",
    opens: Callable[[int], bool] = lambda number: number == 0,
    used: int = 0,
    events: bool = True,
    loads: bool = True,
) -> Scenario:
    """The system's model, by the tables of Foundation Models. `told`: instructions that begin with a request (empty:
    those before stay); `opens`: whether it opens a session; `loads`: whether the model is loaded before the first."""
    scenario = recording()
    if loads:
        Session(scenario).loads(50 * MS, draws.integer(100, 400) * MS)
    now, first, before, sessions = draws.integer(600, 900) * MS, used or draws.integer(220, 400), 0, 0
    used = first
    for number in range(turns):
        if opens(number):
            sessions += 1
            session = Session(scenario, INSTRUCTIONS, sessions, events=events)
            used, before = first, 0
        text = told(number) or (INSTRUCTIONS if opens(number) else "")
        if text:
            session.instructions = text
            session.instruct(now - 5 * MS, 600_000 * MS)
        tokens = draws.integer(20, 60)
        options: dict[str, Any] = {
            "prompt_ns": draws.integer(150, 250) * MS,
            "consumed": used,
            "generated": tokens,
            "cached": before,
            "generation_ns": tokens * draws.around(12 * MS, 20),
            **change(number),
        }
        now = session.request(now, **options).end_ns + draws.integer(300, 2_000) * MS
        used = options["consumed"] or used
        before = used + (options["generated"] or 0)
        used = before + draws.integer(15, 90)
    return closed(without_ends(scenario))


def without_ends(scenario: Scenario) -> Scenario:
    """Instructions that are in force until the next ones, or to the end."""
    rows = scenario.language_models.get("InstructionsTable", [])
    ends = [int(cells[0] or 0) for cells in rows[1:]]
    ends.append(max(int(cells[0] or 0) + int(cells[1] or 0) for cells in scenario.language_models["RequestTable"]))
    rows[:] = [(cells[0], end - int(cells[0] or 0), *cells[2:]) for cells, end in zip(rows, ends, strict=True)]
    return scenario


def called_earlier(scenario: Scenario, by_ns: int) -> None:
    """The last request of Foundation Models began earlier, and waited until it did anything."""
    rows = scenario.language_models["RequestTable"]
    start, length, *more = rows[-1]
    rows[-1] = (int(start or 0) - by_ns, int(length or 0) + by_ns, *more)


def growing(tokens: int, first_ns: int, bend: float, line: float = 0.0) -> Sequence[int]:
    """Forward passes whose time grows with the context: along a line, and bent upwards. In both, so many times the
    first at the end."""
    places = [number / max(tokens - 1, 1) for number in range(tokens)]
    return [round(first_ns * (1 + line * place + bend * place**2)) for place in places]
