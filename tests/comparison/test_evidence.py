"""Limits and their evidence: which loads count for which, and what is green or red where tables are gone."""

import statistics
from dataclasses import replace
from datetime import date
from functools import cache
from itertools import combinations

import pytest

from support.choice import sweep_rest
from support.handover import trace_of
from tracekit.api import judge
from tracekit.comparison.gate import check
from tracekit.comparison.measuring import measure
from tracekit.comparison.settings import CheckSettings, Limit
from tracekit.comparison.verdict import Verdict
from tracekit.measured import measured_trace
from tracekit.request import request_of
from tracekit.testing import Draws
from tracekit.testing.machines import Process
from tracekit.testing.recorder import cpu, gpu, neural_engine, start_recording
from tracekit.testing.rows import LOAD_CACHED, LOAD_COLD, PREDICTION, Model
from tracekit.testing.scenario import Scenario
from tracekit.trace.build import NEEDED_SCHEMAS

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
    (loaded((100, 300, LOAD_CACHED)), 300, "300 ms, allowed"),
    (loaded((100, 300, LOAD_CACHED), (5_000, 90, LOAD_COLD)), 90, "90.0 ms, allowed"),
    # Preloaded: the first call comes long after it.
    (loaded((100, 3_000, LOAD_COLD), first_call_ms=5_000), 0, "nothing waited for a load, allowed"),
    # Calls go on meanwhile, on another instance.
    (loaded((100, 3_000, LOAD_COLD), first_call_ms=2_000), 0, "nothing waited for a load, allowed"),
    # The main thread waits, and no call does.
    (loaded((100, 3_000, LOAD_COLD), first_call_ms=5_000, hang=(100, 3_000)), 3_000, "3.00 s, allowed"),
    (loaded(), None, "no load was recorded; record Core ML from before the load; allowed"),
])  # fmt: skip
def test_a_first_load_is_the_longest_that_something_waited_for(scenario, longest_ms, says):
    recording = measured(scenario)
    assert recording.models[0].awaited_load_ns == (None if longest_ms is None else longest_ms * MS)
    item = held(recording, ("first-load", 1_000 * MS))["first-load"]
    expected = Verdict.INCONCLUSIVE if longest_ms is None else Verdict.FAILED if longest_ms > 1_000 else Verdict.PASSED
    assert item.verdict is expected
    assert item.text.startswith(says)
    # Nothing is not far below a limit.
    assert longest_ms or "the limit)" not in item.text


@pytest.mark.parametrize(("name", "label", "says"), [
    ("load", LOAD_COLD, "no cached load was recorded, only 1 cold load (median 3.23 s); limits that fit: cold-load"),
    ("cold-load", LOAD_CACHED, "no cold load was recorded, only 1 cached load (median 3.23 s); limits that fit: load"),
])  # fmt: skip
def test_a_limit_of_other_loads_says_which_there_are_and_which_limit_fits(name, label, says):
    item = held(measured(loaded((100, 3_230, label))), (name, 1_000 * MS))[name]
    assert item.verdict is Verdict.INCONCLUSIVE
    assert item.text == f"{says}, first-load; allowed: at most 1.00 s"


WORK = {
    "engine": (neural_engine(9 * MS),),
    "engine and GPU": (neural_engine(6 * MS), gpu(4 * MS)),
    "engine and CPU": (neural_engine(6 * MS), cpu(4 * MS)),
    "engine, a third": (neural_engine(3 * MS), cpu(7 * MS)),
    "GPU": (gpu(9 * MS),),
    "CPU": (cpu(9 * MS),),
}
"""What a prediction consists of."""
TABLES = (
    "coreml-os-signpost",
    "ane-hw-intervals-internal",
    "metal-gpu-intervals",
    "mps-hw-intervals",
    "process-info",
    "time-profile",
)


@cache
def app(work, code):
    """Loads of three kinds, 40 calls two of which are in flight, and what is true of them by name of the limit."""
    recorder = start_recording(Draws(3), jitter=0, code=code)
    for length, label in ((400, LOAD_COLD), (80, LOAD_CACHED), (120, LOAD_CACHED)):
        recorder.load(NET, length * MS, label)
        for _ in range(12):
            recorder.predict(NET, *WORK[work], inputs=2)
            recorder.pause(4 * MS)
    for wait in (False, True) * 2:
        recorder.predict(NET, *WORK[work], inputs=2, wait=wait)
        recorder.pause(1 * MS)
    scenario = recorder.finish()
    calls = [row for row in scenario.coreml if row.label == PREDICTION]
    warm = [call.duration_ns for place, call in enumerate(calls) if place not in (0, 12, 24)]
    shares = {"engine": 1, "engine and GPU": 0.6, "engine and CPU": 0.6, "engine, a third": 0.3, "GPU": 0, "CPU": 0}
    return scenario, {
        "p50": statistics.median(warm),
        "load": 100 * MS,
        "cold-load": 400 * MS,
        "first-load": 400 * MS,
        "loads": 3,
        "in-flight": 2,
        "neural-engine": shares[work],
    }


def bounds(work, code):
    """Limits that the app keeps, and limits that it breaks."""
    kept, broken = {}, {}
    for name, value in app(work, code)[1].items():
        is_least = name == "neural-engine"
        kept[name] = value * (0.9 if is_least else 1.1)
        broken[name] = value * 1.1 + 0.04 if is_least else value * 0.9
    return kept, broken


def verdicts(trace, limits):
    recording = measured_trace(trace, request_of(only="load-on-main-thread"))
    return [(item.subject, item.verdict) for item in held(recording, *limits.items()).values()]


@pytest.mark.parametrize("code", sweep_rest(False, True))
@pytest.mark.parametrize("work", sweep_rest(*WORK))
def test_limits_are_kept_and_broken_where_nothing_is_gone(work, code):
    trace, (kept, broken) = trace_of(app(work, code)[0]), bounds(work, code)
    assert {verdict for _, verdict in verdicts(trace, kept)} == {Verdict.PASSED}
    assert {verdict for _, verdict in verdicts(trace, broken)} == {Verdict.FAILED}


@pytest.mark.turns(30)
@pytest.mark.parametrize("gone", [*combinations(TABLES, 1), *combinations(TABLES, 2), ()], ids=", ".join)
@pytest.mark.parametrize("code", sweep_rest(False, True))
@pytest.mark.parametrize("work", sweep_rest(*WORK))
def test_no_limit_is_green_without_its_evidence_nor_red_through_the_loss(work, code, gone):
    kept, broken = bounds(work, code)
    wrong = []
    for how in ("missing", "emptied", "not exported"):
        changed = {how: set(gone)} if how != "not exported" else {}
        only = {*NEEDED_SCHEMAS, "time-profile"} - (set() if changed else set(gone))
        for with_toc in (True, False):
            trace = trace_of(replace(app(work, code)[0], **changed), only, with_toc=with_toc)
            wrong += [(how, with_toc, *one) for one in verdicts(trace, broken) if one[1] is Verdict.PASSED]
            wrong += [(how, with_toc, *one) for one in verdicts(trace, kept) if one[1] is Verdict.FAILED]
    assert not wrong
