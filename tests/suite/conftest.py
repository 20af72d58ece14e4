"""Analyses the cases of all selected tests at once."""

from __future__ import annotations

import pytest

from suite.frame import SHARED, detector_ids, judge_many, load, module_of


@pytest.fixture(scope="session")
def judged(request: pytest.FixtureRequest) -> None:
    """The cases that the selected tests ask for have been judged."""
    items = [item for item in request.session.items if "judged" in getattr(item, "fixturenames", ())]
    modules = {item.callspec.params["module"] for item in items if hasattr(item, "callspec")}
    whole = any(not hasattr(item, "callspec") for item in items)
    chosen = [module for module in (*map(module_of, detector_ids()), *SHARED) if whole or module in modules]
    judge_many((module, place) for module in chosen for place in range(len(load(module))))
