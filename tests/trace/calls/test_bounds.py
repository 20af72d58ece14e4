"""Calls that end in a wait, of which nothing shows how long it lasts."""

from __future__ import annotations

import numpy as np
import pytest

from support.handover import trace_of
from tracekit.detectors.outcomes import NotEvaluated, Passed
from tracekit.detectors.runner import run_detectors
from tracekit.testing import Model, Process, Scenario, stacks
from tracekit.testing.code import Code
from tracekit.testing.rows import LOAD
from tracekit.testing.scenario import CORE_ML
from tracekit.testing.stacks import app_function
from tracekit.trace.events import Kind
from tracekit.trace.instruments import metal

MS = 1_000_000
NET = Model("Net")
LOADED, LENGTH = 500, 9


def recording(unit: str, wait: int, gap: int, *, load_wait: int = 0, wakes: bool = False) -> Scenario:
    """A load of 80 ms, and 40 predictions of 9 ms: the thread runs for 4 ms, and a unit works for 4 ms. The first one
    then waits for so long, and the load before it returns. A thread that `wakes` runs in other code right behind."""
    scenario = Scenario(Process("App", 412), duration_ns=20_000 * MS)
    scenario.emptied.add(CORE_ML)
    # These say when the process learns that the GPU is done.
    scenario.missing |= {schema for part in metal.INSTRUMENT.context for schema in part.schemas}
    step = app_function("step", 4)
    code = Code(scenario, (app_function("apply", 20), step))
    Code(scenario, (app_function("load", 10), step)).load(LOADED * MS, 80 * MS, LOAD)
    now = LOADED + 82 + load_wait
    for number in range(40):
        length = LENGTH + (0 if number else wait)
        call = scenario.predict(NET, now * MS, length * MS)
        code.runs(now * MS, 2 * MS, stacks.BIND, *stacks.PREDICT)
        code.runs((now + 2) * MS, 2 * MS, stacks.EXECUTE, *stacks.PREDICT)
        if unit == "neural engine":
            call.neural_engine(4 * MS, 4 * MS)
        elif unit == "gpu":
            call.gpu(4 * MS, 4 * MS)
        else:
            code.runs((now + 4) * MS, 4 * MS, stacks.OPERATIONS["cpu"], stacks.EXECUTE, *stacks.PREDICT)
        if wakes:
            code.runs((now + 8) * MS, 2 * MS)
        now += length + gap
    return scenario


@pytest.mark.parametrize(("wait", "gap", "told"), [(110, 30, False), (0, 5, True), (0, 30, False)])
@pytest.mark.parametrize("unit", ["neural engine", "gpu", "cpu"])
def test_a_first_call_may_wait_until_the_next_sign_of_its_thread(unit, wait, gap, told):
    trace = trace_of(recording(unit, wait, gap))
    calls = trace.activity.where(trace.activity.kind.is_any(Kind.PREDICTION))
    assert calls.end_max_ns[0] >= (LOADED + 82 + LENGTH + wait) * MS
    answers = [each.outcome for each in run_detectors(trace) if each.detector.id == "warm-up-spike"]
    assert [type(answer) for answer in answers] == [Passed if told else NotEvaluated]


def test_a_load_may_wait_until_the_next_sign_of_its_thread():
    calls = trace_of(recording("cpu", 0, 5, load_wait=60)).activity
    assert calls.end_max_ns[0] >= (LOADED + 140) * MS
    # It is the first that may wait: the others end with their work.
    assert (calls.end_max_ns[2:-1] - calls.end_min_ns[2:-1] <= 5 * MS).all()


@pytest.mark.parametrize("wakes", [True, False])
def test_a_thread_that_wakes_up_as_the_gpu_is_done_has_waited_for_it(wakes):
    trace = trace_of(recording("gpu", 0, 30, wakes=wakes))
    calls = trace.activity.where(trace.activity.kind.is_any(Kind.PREDICTION))
    gpu = trace.hardware.where(trace.hardware.prediction.known)
    assert np.isin(calls.end_min_ns[1:], gpu.ends_ns).all() == wakes
