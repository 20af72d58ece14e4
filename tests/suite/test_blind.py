"""Judged without Core ML's rows, a recording holds nothing that it does not hold with them."""

from __future__ import annotations

from dataclasses import replace
from statistics import mean

import pytest

from suite.blind import (
    CONTRADICTION,
    EXEMPT,
    FALSE_ALARM,
    FOUND,
    METAL,
    MISSING,
    SHOWN,
    WAITING,
    RecordingKey,
    compare_answers,
    compared,
)
from suite.blind_calls import compare_calls
from suite.blind_stacks import with_stacks
from suite.frame import POSITIVE, detector_ids, load, module_of
from suite.random_apps import HEALTHY, ILL_SESSION, PROBLEM
from support.handover import trace_of
from tracekit.detectors.framework import Judgment
from tracekit.detectors.outcomes import Cost, Finding, NotEvaluated, Passed
from tracekit.detectors.registry import DETECTORS
from tracekit.testing import Draws, Model, Process, Scenario
from tracekit.testing.scenario import CORE_ML


def first_positive(module: str) -> int:
    return next(number for number, case in enumerate(load(module)) if case.kind == POSITIVE)


LONG = {"load_churn", "unused_load", "serialized_specialization", "slow_after_idle"}
"""Modules whose recordings take longest."""
SHORTER = {"recompiled_each_run": 7, "latency_jitter": 4, "pipeline_gaps": 1, "thermal_throttling": 6}
"""Recordings with a finding that are a half shorter than the first one of their module."""
MODULES = [name for name in map(module_of, detector_ids()) if name not in {*map(module_of, EXEMPT), *LONG}]
KEYS = [
    *(RecordingKey(name, SHORTER.get(name, first_positive(name))) for name in MODULES),
    *(RecordingKey(HEALTHY, seed) for seed in (0, 510)),
    RecordingKey(PROBLEM, 5),
]
SAMPLE = {key.name: key for key in (key._replace(period_ms=(1, 5)[len(key.source) % 2]) for key in KEYS)}
KNOWN: frozenset[str] = frozenset()
"""What is wrong today. A line goes with its fault, and none comes."""
S, MS = 1_000_000_000, 1_000_000


def pytest_generate_tests(metafunc):
    # By turns without `--every-case`, as `test_consistency.py` does; `make blind` judges all labeled recordings.
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", list(SAMPLE)[:: 1 if metafunc.config.getoption("--every-case") else 4])


@pytest.mark.turns(2)
def test_nothing_contradicts_and_nothing_is_invented(name):
    assert set(compared(SAMPLE[name]).complaints) == {line for line in KNOWN if line.startswith(f"{name}: ")}


@pytest.mark.turns(4)
@pytest.mark.parametrize(
    "key",
    [
        pytest.param(RecordingKey("serial_predictions", 12, "twice", 5), id="a beat that sampling makes"),
        pytest.param(RecordingKey("serialized_specialization", 6, period_ms=5), id="work of one of several models"),
        pytest.param(RecordingKey("reload_before_predict", 16), id="loads about as long as three predictions"),
        pytest.param(RecordingKey("missed_deadline", 31), id="two instances by turns"),
        pytest.param(RecordingKey(ILL_SESSION, 194), id="a first prompt in functions without names"),
        pytest.param(RecordingKey(HEALTHY, 529, period_ms=5), id="calls that order moves behind others"),
        pytest.param(RecordingKey("slow_load", 38), id="a beat of which gaps are more even by chance"),
        pytest.param(RecordingKey(HEALTHY, 276), id="calls begin again, and only one has known work"),
        pytest.param(RecordingKey(HEALTHY, 160, shown=WAITING), id="another model runs beside from some time on"),
        pytest.param(RecordingKey("repeated_specialization", 3), id="GPU code is compiled behind the work"),
        pytest.param(RecordingKey("repeated_specialization", 43, shown=WAITING, period_ms=5), id="samples of 5 ms"),
        pytest.param(RecordingKey("concurrent_predictions", 29, period_ms=5), id="too few of its calls are known"),
        pytest.param(
            RecordingKey("concurrent_predictions", 22, shown=WAITING, period_ms=5), id="ends of several calls"
        ),
        pytest.param(RecordingKey("new_shape_spike", 10, shown=METAL, period_ms=5), id="two groups that samples blur"),
        pytest.param(
            RecordingKey("serialized_specialization", 24, shown=WAITING, period_ms=5), id="loads at the limit"
        ),
    ],
)
def test_what_samples_do_not_tell_is_neither_found_nor_passed(key):
    result = compared(key)
    assert not result.error
    assert {what for _, what, _ in result.answers} <= {FOUND, MISSING}


@pytest.mark.turns(3)
@pytest.mark.parametrize(
    "key",
    [
        pytest.param(RecordingKey("concurrent_predictions", 7), id="threads wait for one unit in turn"),
        pytest.param(RecordingKey("concurrent_predictions", 0, shown=WAITING), id="threads that wait hide calls"),
        pytest.param(RecordingKey("latency_jitter", 63), id="two models wait for two units"),
        pytest.param(RecordingKey("repeated_specialization", 75), id="a call compiles while samples are missed"),
        pytest.param(RecordingKey("excess_data_copies", 23), id="the sample is missed in which a call begins"),
        pytest.param(RecordingKey("warm_up_spike", 12, shown=WAITING, period_ms=5), id="no thread is sampled"),
    ],
)
def test_bounds_hold_the_calls_of(key):
    result = compared(key)
    assert not result.complaints
    calls = result.calls
    assert (calls.within, calls.several, calls.contradicted) == (calls.inferred, 0, 0)


def test_work_that_fits_several_calls_is_a_call():
    calls = compared(RecordingKey("missed_deadline", 15, period_ms=5)).calls
    assert (calls.inferred, calls.too_many) == (calls.true, ())


@pytest.mark.turns(2)
@pytest.mark.parametrize("case", ["concurrent_predictions 0 at 1 ms", "healthy 510 at 5 ms", "problem 5 at 5 ms"])
def test_what_threads_encode_contradicts_nothing_and_tells_more(case):
    without, result, waiting = (compared(SAMPLE[case]._replace(shown=shown)) for shown in SHOWN)
    assert not waiting.complaints
    assert waiting.calls.within >= without.calls.within
    assert not result.complaints
    assert result.calls.within >= without.calls.within
    assert mean(result.calls.widths) < mean(without.calls.widths)


def test_a_first_prediction_is_compared_with_those_that_cannot_be_counted():
    assert ("warm-up-spike", FOUND, True) in compared(RecordingKey(ILL_SESSION, 138)).answers


def test_an_answer_is_compared_with_the_truth():
    model, site = Model("Net"), "model called at Models.swift:88"
    scenario = Scenario(Process("App", 7), 10 * S)
    scenario.predict(model, S, 50 * MS)
    _, _, calls = with_stacks(scenario, Draws(2), MS)
    detector = DETECTORS[0]
    found = Finding(model.base, "", (), Cost(20 * MS, 0.5, ""), ())

    def said(truth, blind, may_hold=False):
        judgments = ([Judgment(detector, each)] for each in (truth, blind))
        return [each[1:] for each in compare_answers(*judgments, calls, lambda _: may_hold, MS)]

    assert said(found, found) == [(FOUND, True)]
    assert said(found, replace(found, model=site)) == [(FOUND, True)]
    assert said(replace(found, cost=Cost(10 * MS, 0.5, "")), found) == [(FOUND, False)]
    assert said(found, Passed(model.base, "")) == said(found, Passed(site, "")) == [(CONTRADICTION, True)]
    assert said(found, NotEvaluated(None, "", "")) == [(MISSING, True)]
    assert said(Passed(model.base, ""), found) == [(FALSE_ALARM, False)]
    assert said(Passed(model.base, ""), found, may_hold=True) == []


@pytest.mark.parametrize(
    ("key", "detector"),
    [
        # The row does not say that the load was cold: it takes many times as long as the others.
        (RecordingKey("cold_load", 41), "cold-load"),
        # Its thread executes long before it computes.
        (RecordingKey(ILL_SESSION, 26), "warm-up-spike"),
    ],
)
def test_what_call_stacks_show_is_found_again(key, detector):
    result = compared(key)
    assert not result.complaints
    assert (detector, FOUND, True) in result.answers


def test_predictions_are_contradicted_that_begin_elsewhere_are_not_there_or_are_several():
    scenario = Scenario(Process("App", 7), 10 * S)
    for start in (1, 2, 3):
        scenario.predict(Model("Net"), start * S, 200 * MS)
    running, _, calls = with_stacks(scenario, Draws(2), MS)
    activity = trace_of(replace(running, emptied={*running.emptied, CORE_ML})).activity

    def contradicted(*last):
        result = compare_calls(activity, [*calls[:2], *last], running.samples, MS)
        return result.contradicted, result.predictions

    def moved(by_ms, duration_ms):
        row = calls[2].row
        return replace(calls[2], row=replace(row, start_ns=row.start_ns + by_ms * MS, duration_ns=duration_ms * MS))

    assert contradicted(calls[2]) == (0, 3)
    assert contradicted(moved(50, 150)) == (1, 3)
    assert contradicted() == (1, 2)
    assert contradicted(moved(10, 80), moved(100, 80)) == (2, 4)
