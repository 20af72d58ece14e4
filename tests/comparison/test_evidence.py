"""Limits and their evidence: which loads count for which, and what is green or red where tables are gone."""

from __future__ import annotations

from datetime import date

import pytest

from support.handover import trace_of
from tracekit.api import judge
from tracekit.comparison.gate import check
from tracekit.comparison.measuring import measure
from tracekit.comparison.settings import CheckSettings, Limit
from tracekit.comparison.verdict import Verdict
from tracekit.testing.machines import Process
from tracekit.testing.rows import LOAD_CACHED, LOAD_COLD, Model
from tracekit.testing.scenario import Scenario

TODAY = date(2026, 11, 28)
MS = 1_000_000
NET, OTHER = Model("Net"), Model("Other")


def measured(scenario):
    trace = trace_of(scenario)
    return measure(trace, judge(trace))


def held(recording, *limits):
    settings = CheckSettings(limits=tuple(Limit("Net", name, value) for name, value in limits))
    return {item.subject: item for item in check([recording], settings, None, today=TODAY).items}


def loaded(*loads, first_call_ms=None, hang=None):
    """Loads of Net as (start, duration, label) in ms, then 20 calls, beginning at a time."""
    scenario = Scenario(Process("Camera", 412), duration_ns=20_000 * MS)
    for start, length, label in loads:
        scenario.load(NET, start * MS, length * MS, label)
    end = max((start + length for start, length, _ in loads), default=100)
    begin = end + 1 if first_call_ms is None else first_call_ms
    for call in range(20):
        scenario.predict(NET, (begin + 20 * call) * MS, 10 * MS)
    if hang is not None:
        scenario.hang(*(time * MS for time in hang))
    return scenario


@pytest.mark.parametrize(("scenario", "longest_ms", "says"), [
    (loaded((100, 3_000, LOAD_COLD)), 3_000, "3.00 s, allowed"),
    (loaded((100, 300, LOAD_CACHED)), 300, "300.00 ms, allowed"),
    (loaded((100, 300, LOAD_CACHED), (5_000, 90, LOAD_COLD)), 90, "90.00 ms, allowed"),
    # Preloaded: the first call comes long after it.
    (loaded((100, 3_000, LOAD_COLD), first_call_ms=5_000), 0, "nothing waited for a load, allowed"),
    # Calls go on meanwhile, on another instance.
    (loaded((100, 3_000, LOAD_COLD), first_call_ms=2_000), 0, "nothing waited for a load, allowed"),
    # The main thread waits, and no call does.
    (loaded((100, 3_000, LOAD_COLD), first_call_ms=5_000, hang=(100, 3_000)), 3_000, "3.00 s, allowed"),
    (loaded(), None, "no load was recorded; allowed"),
])  # fmt: skip
def test_a_first_load_is_the_longest_that_something_waited_for(scenario, longest_ms, says):
    recording = measured(scenario)
    assert recording.models[0].awaited_load_ns == (None if longest_ms is None else longest_ms * MS)
    item = held(recording, ("first-load", 1_000 * MS))["first-load"]
    expected = Verdict.INCONCLUSIVE if longest_ms is None else Verdict.FAILED if longest_ms > 1_000 else Verdict.PASSED
    assert item.verdict is expected
    assert item.text.startswith(says)


@pytest.mark.parametrize(("name", "label", "says"), [
    ("load", LOAD_COLD, "no cached load was recorded, only 1 cold load (median 3.23 s); limits that fit: cold-load"),
    ("cold-load", LOAD_CACHED, "no cold load was recorded, only 1 cached load (median 3.23 s); limits that fit: load"),
])  # fmt: skip
def test_a_limit_of_other_loads_says_which_there_are_and_which_limit_fits(name, label, says):
    item = held(measured(loaded((100, 3_230, label))), (name, 1_000 * MS))[name]
    assert item.verdict is Verdict.INCONCLUSIVE
    assert item.text == f"{says}, first-load; allowed: at most 1.00 s"
