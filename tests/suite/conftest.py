"""Analyzes the cases of all selected tests at once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from suite.frame import (
    INSUFFICIENT,
    LOOKALIKE,
    NEAR_ABOVE,
    NEAR_BELOW,
    NEGATIVE,
    SHARED,
    detector_ids,
    judge_many,
    load,
    module_of,
)

SAMPLED = 40
"""Without `--every-case`, one in so many cases of each kind is judged: all of them take minutes."""
IN_TURN = (
    (NEAR_ABOVE, LOOKALIKE, NEAR_BELOW, INSUFFICIENT),
    (NEGATIVE, LOOKALIKE, NEAR_BELOW, INSUFFICIENT),
    (NEGATIVE, NEAR_ABOVE, NEAR_BELOW, INSUFFICIENT),
    (NEGATIVE, NEAR_ABOVE, LOOKALIKE, INSUFFICIENT),
    (NEGATIVE, NEAR_ABOVE, LOOKALIKE, NEAR_BELOW),
)
"""Kinds that an ordinary run leaves out, by turns from one detector to the next."""


@pytest.fixture(scope="session")
def judged(request: pytest.FixtureRequest) -> None:
    """The cases that the selected tests ask for have been judged, where no other process shares the tests."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    here = [item for item in request.session.items if item.path.parent == Path(__file__).parent]
    items = [item for item in here if "judged" in getattr(item, "fixturenames", ())]
    modules = {item.callspec.params["module"] for item in items if hasattr(item, "callspec")}
    runs_all = any(not hasattr(item, "callspec") for item in items)
    chosen = [module for module in (*map(module_of, detector_ids()), *SHARED) if runs_all or module in modules]
    judge_many((module, number) for module in chosen for number in numbers_of(request.config, module))


@pytest.fixture(scope="session")
def chosen_numbers(request: pytest.FixtureRequest) -> Callable[[str, str], list[int]]:
    """`chosen_numbers(module, kind)`: numbers of the cases of that kind that this run judges."""

    def chosen(module: str, kind: str) -> list[int]:
        return [number for number in numbers_of(request.config, module) if load(module)[number].kind == kind]

    return chosen


def left_out(config: pytest.Config, module: str) -> tuple[str, ...]:
    """Kinds of cases of a module that a run does not judge."""
    modules = [*map(module_of, detector_ids())]
    return () if config.getoption("--every-case") or module in SHARED else IN_TURN[modules.index(module) % len(IN_TURN)]


def numbers_of(config: pytest.Config, module: str) -> list[int]:
    """Numbers of the cases of a module that a run judges: of each kind one in `SAMPLED` from the first on, or all."""
    step = 1 if config.getoption("--every-case") else SAMPLED
    seen: Counter[str] = Counter()
    chosen = []
    unasked = left_out(config, module)
    for index, case in enumerate(load(module)):
        if case.kind not in unasked and seen[case.kind] % step == 0:
            chosen.append(index)
        seen[case.kind] += 1
    return chosen
