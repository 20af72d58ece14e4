"""Which models explain a hang, whatever others do around it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from support.handover import trace_of
from tracekit.analysis.load_waits import hang_calls
from tracekit.testing import Model, Process, Scenario

MS = 1_000_000
LIMITS = (100 * MS, 0.8, 0.5, 2.0)
BLOCKER, CAMERA, TRACKER = Model("Blocker"), Model("Camera"), Model("Tracker")


def recording(*, blocks=True, others=(), hangs=(2_000, 6_000)) -> Scenario:
    """The main thread hangs for 500 ms; `others` are (model, period, length, start) in ms of calls in the background
    through 10 s."""
    scenario = Scenario(Process("Camera", 412), duration_ns=11_000 * MS)
    for at in hangs:
        scenario.hang(at * MS, 500 * MS)
        if blocks:
            scenario.predict(BLOCKER, (at + 20) * MS, 460 * MS)
    for model, period, length, start in others:
        for at in range(start, 10_000, period):
            scenario.predict(model, at * MS, length * MS)
    return scenario


def explained(scenario):
    found = hang_calls(trace_of(scenario), *LIMITS)
    return int(found.explained.sum()), sorted(found.calls.model.held())


@pytest.mark.parametrize(
    "others",
    [
        [(CAMERA, 33, 12, 5)],
        [(CAMERA, 33, 22, 5), (TRACKER, 50, 30, 9)],
        [(CAMERA, 650, 40, 150)],
        [(CAMERA, 20, 19, 5), (TRACKER, 30, 29, 9)],
    ],
    ids=["camera", "two models", "one call in a hang", "hardly a gap"],
)
def test_the_model_that_blocks_is_named_alone(others):
    assert explained(recording(others=others)) == (2, ["Blocker"])
    assert explained(recording(others=others, blocks=False)) == (0, [])


def test_long_calls_in_the_background_meet_a_hang_by_chance():
    # One of seven calls of 400 ms falls into the second hang.
    assert explained(recording(others=[(TRACKER, 1_500, 400, 20)], blocks=False)) == (0, [])


def test_two_models_that_share_a_hang_explain_it_together():
    scenario = recording(blocks=False)
    for at in (2_000, 6_000):
        scenario.predict(BLOCKER, (at + 20) * MS, 200 * MS)
        scenario.predict(TRACKER, (at + 230) * MS, 200 * MS)
    assert explained(scenario) == (2, ["Blocker", "Tracker"])


BACKGROUND = st.tuples(
    st.sampled_from((CAMERA, TRACKER)), st.integers(17, 90), st.floats(0.2, 0.9), st.integers(0, 30)
).map(lambda drawn: (drawn[0], drawn[1], max(int(drawn[1] * drawn[2]), 1), drawn[3]))


@settings(deadline=None, max_examples=15)
@given(st.lists(BACKGROUND, max_size=2, unique_by=lambda drawn: drawn[0]), st.booleans())
def test_models_that_go_on_around_a_hang_neither_explain_nor_hide_it(others, blocks):
    assert explained(recording(others=others, blocks=blocks)) == ((2, ["Blocker"]) if blocks else (0, []))
