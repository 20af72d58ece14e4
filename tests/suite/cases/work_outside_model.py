"""Steps around the model that take a large part of requests."""

from __future__ import annotations

from suite.chats import MS, closed, own_chat, recording, system_chat
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from tracekit.testing import CoreAIChat, Draws, Scenario

ID = "work-outside-model"
TOKENS = 40


def slow_sampling(draws: Draws) -> Scenario:
    """All scores are sorted for each token."""
    return own_chat(draws, 3, lambda _: {"sample_ns": draws.integer(8, 14) * MS})


def outside(draws: Draws, thousandths: int) -> Scenario:
    """So many thousandths of a request are outside the model.

    Of 708 ms, without sampling, 8 ms are: 2 ms for the prompt and 0.15 ms for each of 40 tokens."""
    share = thousandths / 1_000
    sample_ns = round((708 * share - 8) / (1 - share) / TOKENS * MS)
    times = {"prompt_ns": 100 * MS, "tokens_ns": [15 * MS] * TOKENS, "detokenize_ns": 150_000}
    return own_chat(draws, 2, lambda _: {**times, "sample_ns": sample_ns})


def at_once(draws: Draws) -> Scenario:
    """Steps of 10 ms on another thread while the model computes."""
    scenario = own_chat(draws, 2)
    other = CoreAIChat(scenario, thread=7)
    for row in [row for row in scenario.logged if row.name == "LogitsInference"]:
        other.log(row.start_ns + MS, 10 * MS, "Sample", "step=1")
    return scenario


def long_prompt(draws: Draws) -> Scenario:
    """Two seconds for the prompt, and slow steps for few tokens."""
    times = {"prompt_ns": 2_000 * MS, "tokens_ns": [15 * MS] * 10, "sample_ns": 15 * MS}
    return own_chat(draws, 2, lambda _: times)


def with_tools(draws: Draws) -> Scenario:
    """The system's model waits for a tool."""
    return system_chat(draws, 4, lambda _: {"tools": [("weather", "{}", 300 * MS)]})


def short(draws: Draws) -> Scenario:
    """A request of 0.2 s, half of it outside."""
    scenario = recording()
    times = {"prompt_ns": 20 * MS, "tokens_ns": [9 * MS] * 8, "sample_ns": 9 * MS}
    CoreAIChat(scenario).request(200 * MS, prompt_tokens=100, **times)
    return closed(scenario)


CASES = [
    *cases(ID, POSITIVE, 4, slow_sampling),
    # Each token is turned into text on the same thread.
    *cases(ID, POSITIVE, 3, lambda draws: own_chat(draws, 3, lambda _: {"detokenize_ns": draws.integer(8, 14) * MS})),
    # The cache is copied for each token.
    *cases(ID, POSITIVE, 3, lambda draws: own_chat(draws, 3, lambda _: {"cache_ns": draws.integer(8, 14) * MS})),
    *cases(ID, NEGATIVE, 10, own_chat),
    *each(ID, NEAR_ABOVE, (251, 255, 260, 280, 300), outside),
    *each(ID, NEAR_BELOW, (249, 245, 240, 220, 200), outside),
    *cases(ID, LOOKALIKE, 2, at_once, page="The work runs while"),
    *cases(ID, LOOKALIKE, 2, long_prompt, page="The prompt is long"),
    *cases(ID, LOOKALIKE, 2, with_tools, page="Tools take the time"),
    *cases(ID, INSUFFICIENT, 2, system_chat),
    *cases(ID, INSUFFICIENT, 2, short),
]
