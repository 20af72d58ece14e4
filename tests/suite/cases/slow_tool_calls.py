"""Tools that take much of a request."""

from __future__ import annotations

from functools import partial

from suite.chats import MS, own_chat, system_chat
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from tracekit.testing import Draws, Scenario

ID = "slow-tool-calls"
PLACE = '{"place": "Rome"}'


def with_tools(draws: Draws, *lengths_ms: int, prompt_ms: int = 200, run_ms: int = 300) -> Scenario:
    """Requests that call tools of these lengths, one after the other, and run the model between."""
    tools = [("weather", PLACE, length * MS) for length in lengths_ms]
    times = {"prompt_ns": prompt_ms * MS, "generation_ns": run_ms * MS}
    return system_chat(draws, 4, lambda _: {"tools": tools, "cached": None, **times})


def quick(draws: Draws) -> Scenario:
    """Tools that answer from memory."""
    return with_tools(draws, draws.integer(5, 80))


def side_by_side(draws: Draws) -> Scenario:
    """Three tools of 400 ms at once."""
    scenario = with_tools(draws, 400)
    rows = scenario.language_models["ToolTable"]
    for start, length, name, *more in list(rows):
        rows += [(start, length, f"{name}-{number}", *more) for number in (1, 2)]
    return scenario


def short(draws: Draws) -> Scenario:
    """0.3 s in a tool, which is most of the request."""
    return with_tools(draws, 300, prompt_ms=40, run_ms=60)


share_in_tools = partial(with_tools, prompt_ms=400, run_ms=1_000)
"""2.8 s in the model, and so long in a tool: from 1.2 s on that is 0.3."""

CASES = [
    # A tool that asks a server.
    *cases(ID, POSITIVE, 6, lambda draws: with_tools(draws, draws.integer(900, 3_000))),
    # The same call several times.
    *cases(ID, POSITIVE, 4, lambda draws: with_tools(draws, *[draws.integer(500, 900)] * 3)),
    *cases(ID, NEGATIVE, 10, quick),
    # 1 s in the model, and so long in a tool.
    *each(ID, NEAR_ABOVE, (500, 501, 520), with_tools),
    *each(ID, NEAR_ABOVE, (1_201, 1_250), share_in_tools),
    *each(ID, NEAR_BELOW, (499, 498, 450), with_tools),
    *each(ID, NEAR_BELOW, (1_199, 1_150), share_in_tools),
    *cases(ID, LOOKALIKE, 2, quick, page="Tools are called and"),
    *cases(ID, LOOKALIKE, 2, side_by_side, page="Tools run at once"),
    *cases(ID, LOOKALIKE, 2, short, page="A tool takes a large share"),
    *cases(ID, INSUFFICIENT, 3, own_chat),
    *cases(ID, INSUFFICIENT, 1, system_chat),
]
