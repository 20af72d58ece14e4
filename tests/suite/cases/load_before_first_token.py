"""Requests that wait while a language model is loaded."""

from __future__ import annotations

from suite.chats import MS, closed, own_chat, recording, system_chat
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from suite.weight import Weight
from tracekit.testing import CoreAIChat, Draws, Scenario, Session

ID = "load-before-first-token"


def loaded_by_the_question(draws: Draws, load_ms: int = 0, prompt_ms: int = 200) -> Scenario:
    """The assets of the system's model are loaded as the first request begins."""
    load = (load_ms or draws.integer(500, 1_500)) * MS
    scenario = system_chat(
        draws, 5, lambda number: {"prompt_ns": prompt_ms * MS + (0 if number else load)}, loads=False
    )
    begin = min(int(cells[0] or 0) for cells in scenario.language_models["RequestTable"])
    Session(scenario).loads(begin, load)
    return scenario


def own_model_by_the_question(draws: Draws) -> Scenario:
    """A model of the app is loaded and warmed up within the first request."""
    scenario = recording()
    chat = CoreAIChat(scenario)
    load, warm = draws.integer(300, 900) * MS, draws.integer(50, 200) * MS
    now = 200 * MS
    chat.load(now + 2 * MS, load, warm_up_ns=warm)
    for number in range(3):
        prompt = 150 * MS + (0 if number else load + warm)
        truth = chat.request(now, prompt_tokens=300, prompt_ns=prompt, tokens_ns=[15 * MS] * 12)
        now = truth.end_ns + 700 * MS
    return closed(scenario)


def slow_first_prompt(draws: Draws) -> Scenario:
    """Attached late: no load is recorded, and the first of equal prompts takes a second longer."""
    late = draws.integer(900, 1_400) * MS
    return same_prompts(draws, 200 * MS + late, 300)


def same_prompts(draws: Draws, first_ns: int, tokens: int | None) -> Scenario:
    """Requests in sessions of their own with as many tokens, of which nothing is cached."""

    def change(number: int) -> dict[str, object]:
        counts = {"consumed": tokens, "cached": None if tokens is None else 0}
        return {"prompt_ns": 200 * MS if number else first_ns, **counts}

    return system_chat(draws, 6, change, opens=lambda _: True, told=lambda number: f"{'abcdef'[number]}", loads=False)


def longer_first_prompt(draws: Draws) -> Scenario:
    """The first prompt holds all instructions, later ones only what is new."""
    return system_chat(draws, 6, lambda number: {} if number else {"prompt_ns": 1_600 * MS}, used=1_500, loads=False)


def loaded_behind(draws: Draws) -> Scenario:
    """A classifier is loaded while the answer is generated."""
    scenario = system_chat(draws)
    start, length = (int(cell or 0) for cell in scenario.language_models["RequestTable"][0][:2])
    Session(scenario).loads(start + length - 200 * MS, 600 * MS, "com.apple.safety.output.configuration")
    return closed(scenario)


CASES = [
    *cases(ID, POSITIVE, 4, loaded_by_the_question),
    *each(ID, POSITIVE, (600, 900), loaded_by_the_question, weight=Weight("low")),
    *cases(ID, POSITIVE, 4, own_model_by_the_question),
    *cases(ID, POSITIVE, 3, slow_first_prompt),
    *cases(ID, NEGATIVE, 5, system_chat),
    *cases(ID, NEGATIVE, 5, own_chat),
    *each(ID, NEAR_ABOVE, (300, 301, 310, 350, 400), loaded_by_the_question),
    *each(ID, NEAR_BELOW, (299, 298, 290, 250, 200), loaded_by_the_question),
    *cases(ID, LOOKALIKE, 2, system_chat, page="The model is loaded before"),
    *cases(ID, LOOKALIKE, 2, longer_first_prompt, page="The first prompt is long"),
    *cases(ID, LOOKALIKE, 2, loaded_behind, page="Only assets that"),
    *cases(ID, INSUFFICIENT, 2, lambda draws: system_chat(draws, loads=False)),
    *cases(ID, INSUFFICIENT, 1, lambda draws: same_prompts(draws, 1_400 * MS, None)),
    # No answer, so that nothing shows a first token.
    *cases(ID, INSUFFICIENT, 1, lambda draws: own_chat(draws, 3, lambda _: {"tokens_ns": [], "prompt_ns": 300 * MS})),
]
