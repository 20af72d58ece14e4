"""An app that asks the language model of the system, as the Foundation Models instrument records it.

No recording of it is public: tables and columns are those of their schemas."""

from __future__ import annotations

from tracekit.testing.language_models import Session
from tracekit.testing.machines import NEW_MAC, WINDOW_SERVER, Process
from tracekit.testing.rng import Draws
from tracekit.testing.scenario import Scenario

_PLANNER = Process("MealPlanner", 5127, "/Applications/MealPlanner.app/Contents/MacOS/MealPlanner")
TURNS = ((412, 58, None), (498, 44, 402), (566, 61, 486), (655, 39, 554), (718, 52, 0), (801, 47, 706))
"""Tokens of each request that are consumed, generated, and cached; None: an empty cell."""
MODEL_NS = 13_600_000
"""Time of a token."""


def meal_planner() -> Scenario:
    """One session: nothing was loaded before its first request, one request calls a tool, the instructions change with
    the fifth so that its prompt is processed anew, and the last is refused."""
    draws = Draws(27)
    scenario = Scenario(
        _PLANNER,
        duration_ns=13_000_000_000,
        xcode_version="27.2",
        device=NEW_MAC,
        host=None,
        template="Foundation Models",
        processes=[WINDOW_SERVER],
        event_types=False,
        emptied={"coreml-os-signpost"},
    )
    session = Session(scenario, "You plan meals for a family of four.")
    now = 900_000_000
    loads = (("base", 372_800_000), ("tokenizer", 31_000_000), ("safety", 154_000_000))
    for asset, length in loads:
        session.loads(now + 4_000_000, draws.around(length, 40), f"com.apple.fm.language.instruct_3b.{asset}?variant=a")
    began = now - 20_000_000
    for number, (consumed, generated, cached) in enumerate(TURNS):
        if number == 4:
            session.instruct(began, now - began)
            began, session.instructions = now, "You plan meals for a family of five."
        prompt_ns = draws.around((consumed - (cached or 0)) * 640_000 + 60_000_000, 40)
        prompt_ns += 380_000_000 if number == 0 else 0
        truth = session.request(
            now,
            prompt_ns=prompt_ns,
            generation_ns=draws.around(generated * MODEL_NS, 30),
            consumed=consumed,
            generated=generated,
            cached=cached,
            tools=[("pantry", '{"shelf": "spices"}', 420_000_000)] if number == 2 else (),
            prompt=f"Question {number + 1}",
        )
        now = truth.end_ns + draws.around(300_000_000, 200)
    refused = {"prompt_ns": draws.around(95_000_000, 40), "generation_ns": 0}
    end = session.request(now, **refused, consumed=None, generated=None, error="LanguageModelError.refusal").end_ns
    session.instruct(began, end + 200_000_000 - began)
    session.end(880_000_000, end + 200_000_000 - 880_000_000)
    return scenario
