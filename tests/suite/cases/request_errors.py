"""Requests that fail."""

from __future__ import annotations

from suite.chats import own_chat, system_chat
from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from tracekit.testing import Draws, Scenario

ID = "request-errors"
TEXTS = (
    "GenerationError.refusal",
    "guardrailViolation: the answer was unsafe",
    "LanguageModelError.rateLimited(resetDate: 2026-11-21)",
    "concurrentRequests",
    "The operation timed out",
    "Something that has no name yet",
)


def failing(draws: Draws, turns: int = 6, errors: int = 0, text: str = "") -> Scenario:
    """The last requests end in errors."""
    errors = errors or draws.integer(1, 3)

    def change(number: int) -> dict[str, object]:
        failed = {"error": text or draws.choice(TEXTS), "generation_ns": 0, "generated": None}
        return {"cached": None, **(failed if number >= turns - errors else {})}

    return system_chat(draws, turns, change, opens=lambda number: number % 8 == 0)


def one_of(draws: Draws, turns: int) -> Scenario:
    """One request of so many fails: from one in twenty on it counts."""
    return failing(draws, turns, 1, "refusal")


CASES = [
    *cases(ID, POSITIVE, 6, failing),
    *each(ID, POSITIVE, TEXTS, lambda draws, text: failing(draws, text=text)),
    *cases(ID, NEGATIVE, 10, system_chat),
    *each(ID, NEAR_ABOVE, (20, 19, 18, 15, 12), one_of),
    *each(ID, NEAR_BELOW, (21, 22, 23, 25, 30), one_of),
    *cases(ID, LOOKALIKE, 2, lambda draws: failing(draws, text="CancellationError: canceled"), page="The user stops"),
    *cases(ID, LOOKALIKE, 2, lambda draws: system_chat(draws, 6, lambda _: {"generated": 1}), page="A request ends"),
    *cases(ID, LOOKALIKE, 2, lambda draws: one_of(draws, 24), page="A rare error among"),
    *cases(ID, INSUFFICIENT, 4, own_chat),
]
