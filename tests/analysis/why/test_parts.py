"""What a prediction took beyond a usual one, of recordings whose every row is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from support.handover import trace_of
from tracekit.analysis.why.explain import Known, why
from tracekit.analysis.why.layers import Layer
from tracekit.analysis.why.parts import CAUSES, Cause, Differences, Parts, differences, parts_of
from tracekit.testing import Model, Process, Scenario, stacks
from tracekit.testing.code import Code
from tracekit.testing.rows import ENGINE_PREDICTION, StateRow
from tracekit.trace.context import ContextRows
from tracekit.trace.instruments.tables import MetalPipelines
from tracekit.trace.trace import Trace

MS = 1_000_000
NET, OTHER = Model("Net"), Model("Other")
USUAL, STEP = 10, 100
"""Length of a usual prediction, and time from one to the next, in ms."""
SLOW = 20
"""Number of the slow prediction."""
Slow = Callable[[Scenario, int], None]


def recording(slow: Slow, *, process: bool = False) -> Scenario:
    """Usual predictions of 10 ms, 8 ms of it on the Neural Engine from 1 ms on, and a slow one at 2 s."""
    scenario = Scenario(Process("App", 412), duration_ns=5_000 * MS)
    scenario.load(NET, 5 * MS, 20 * MS)
    for number in range(1, 30):
        start = number * STEP * MS
        if number == SLOW:
            slow(scenario, start)
        else:
            scenario.predict(NET, start, USUAL * MS).neural_engine(1 * MS, 8 * MS)
    return scenario


def slow_parts(scenario: Scenario, **context: ContextRows) -> dict[Cause, float]:
    """Parts of the slow prediction in ms, without those of 0."""
    trace = trace_of(scenario)
    trace = replace(trace, context={**trace.context, **context})
    found = differences(trace)["Net"]
    assert found.usual == USUAL * MS
    row = int(np.flatnonzero(found.calls.start_ns == SLOW * STEP * MS)[0])
    parts = zip(CAUSES, all_parts(trace, found).ns[row] / MS, strict=True)
    return {cause: ms for cause, ms in parts if ms}


def all_parts(trace: Trace, found: Differences) -> Parts:
    """Those of every prediction of the model, which add up."""
    parts = parts_of(trace, found, np.arange(len(found.calls)))
    assert (parts.ns.sum(axis=1) == found.durations - found.usual).all()
    assert found.usual_ns.sum() == found.usual
    return parts


def queued_behind(model: Model | None, label: str = "") -> Slow:
    """The unit is busy from the call on for 20 ms, hands over for 0.2 ms, and then works for 8 ms."""

    def slow(scenario: Scenario, start: int) -> None:
        if model is None:
            scenario.other_neural_engine(start - 2 * MS, 22 * MS, label)
        else:
            scenario.predict(model, start - 3 * MS, 24 * MS).neural_engine(1 * MS, 22 * MS)
        scenario.predict(NET, start, 29_200_000).neural_engine(20_200_000, 8 * MS)

    return slow


def test_predictions_of_the_same_model_are_told_apart_by_the_order():
    def slow(scenario: Scenario, start: int) -> None:
        for number in range(3):
            call = scenario.predict(NET, start + number * 10_000, (number + 1) * 8 * MS + 2 * MS)
            call.neural_engine(1 * MS + number * (8 * MS - 10_000), 8 * MS)

    trace = trace_of(recording(slow))
    found = differences(trace)["Net"]
    parts = all_parts(trace, found)
    rows = np.flatnonzero(found.durations > USUAL * MS)
    queued = parts.ns[rows, CAUSES.index(Cause.QUEUED_OWN)] / MS
    assert queued.tolist() == pytest.approx([8, 16], abs=0.05)
    assert parts.ns[rows, CAUSES.index(Cause.WORK)].tolist() == [0, 0]
    assert parts.unclear_ns[rows].tolist() == [0, 0]


def test_time_that_may_be_work_or_waiting_is_bounded():
    """Rows without a name in two predictions at once: either may have had the unit."""

    def slow(scenario: Scenario, start: int) -> None:
        scenario.predict(NET, start - 1 * MS, 18 * MS).neural_engine(1 * MS, 8 * MS)
        scenario.predict(NET, start, 18 * MS).neural_engine(8 * MS, 8 * MS)

    scenario = recording(slow)
    scenario.neural_engine = [replace(row, label=ENGINE_PREDICTION) for row in scenario.neural_engine]
    trace = trace_of(scenario)
    found = differences(trace)["Net"]
    parts = all_parts(trace, found)
    row = int(np.flatnonzero(found.calls.start_ns == SLOW * STEP * MS)[0])
    queued = int(parts.ns[row, CAUSES.index(Cause.QUEUED_OWN)])
    assert 0 < parts.unclear_ns[row] <= queued
    assert queued / MS == pytest.approx(8, abs=1)


def worked(length_ms: int, work_ms: int) -> Slow:
    """A prediction that works on the Neural Engine for so long."""
    return lambda scenario, start: scenario.predict(NET, start, length_ms * MS).neural_engine(1 * MS, work_ms * MS)


unexplained = worked(25, 8)


def heated(scenario: Scenario, start: int) -> None:
    worked(17, 15)(scenario, start)
    at = start - 50 * MS
    scenario.thermal += [
        StateRow(0, at, "Nominal"),
        StateRow(at, 100 * MS, "Serious"),
        StateRow(at + 100 * MS, 5_000 * MS - at - 100 * MS, "Nominal"),
    ]


def copied(scenario: Scenario, start: int) -> None:
    call = scenario.predict(NET, start, 15 * MS)
    call.event("Input Copy", 0, 5 * MS)
    call.neural_engine(6 * MS, 8 * MS)


def hung(scenario: Scenario, start: int) -> None:
    unexplained(scenario, start)
    scenario.hang(start + 10 * MS, 9 * MS)


def on_the_cpu(scenario: Scenario, start: int) -> None:
    scenario.predict(NET, start, 32 * MS).event("CPU", 1 * MS, 30 * MS)


@pytest.mark.parametrize(
    ("slow", "parts"),
    [
        # A wait begins after the usual way to the unit.
        pytest.param(queued_behind(OTHER), {Cause.QUEUED_MODELS: 19.2}, id="another model"),
        pytest.param(
            queued_behind(None, "Other_main__Op0_AneInference Prediction"),
            {Cause.QUEUED_PROCESSES: 19.2},
            id="a model that the app never loaded",
        ),
        pytest.param(worked(17, 15), {Cause.WORK: 7}, id="longer execution"),
        pytest.param(worked(6, 4), {Cause.WORK: -4}, id="a faster one"),
        pytest.param(heated, {Cause.CLOCK: 7}, id="longer execution in a hotter state"),
        pytest.param(on_the_cpu, {Cause.UNIT: 22}, id="another unit"),
        pytest.param(copied, {Cause.COPIES: 5}, id="rows of the data lane"),
        pytest.param(unexplained, {Cause.NOT_VISIBLE: 15}, id="nothing shows it"),
        pytest.param(hung, {Cause.BLOCKED: 9, Cause.NOT_VISIBLE: 6}, id="a hang, no longer than it lasts"),
    ],
)
def test_extra_time_is_named_by_its_cause(slow, parts):
    assert slow_parts(recording(slow)) == parts


def test_compiled_pipelines_explain_the_rest_of_the_prediction_they_were_compiled_in():
    for at, cause in ((12, Cause.SPECIALIZATION), (40, Cause.NOT_VISIBLE)):
        compiled = MetalPipelines.listed(1, {"start_ns": [(SLOW * STEP + at) * MS]})
        assert slow_parts(recording(unexplained), metal_pipelines=compiled) == {cause: 15}


def test_specialization_that_call_stacks_show_in_part_is_a_range():
    """The first specializes for 30 ms, and 40 ms for the GPU only coincide; all work for 20 ms on the CPU."""
    scenario = Scenario(Process("App", 412), duration_ns=5_000 * MS)
    code = Code(scenario)
    specialize = stacks.objective_c(
        "MetalPerformanceShadersGraph", "-[MPSGraphExecutable specializedModuleWithDevice:inputTypes:]"
    )
    for number in range(12):
        start = (100 + STEP * 2 * number) * MS
        code.runs(start, 1 * MS, stacks.BIND, *stacks.PREDICT)
        if not number:
            inside = (stacks.OPERATIONS["gpu"], stacks.EXECUTE, *stacks.PREDICT)
            code.runs(start + 1 * MS, 30 * MS, specialize, *inside)
            code.runs(start + 31 * MS, 40 * MS, *inside)
            start += 70 * MS
        code.runs(start + 1 * MS, 20 * MS, stacks.OPERATIONS["cpu"], stacks.EXECUTE, *stacks.PREDICT)
    compiled = MetalPipelines.listed(1, {"start_ns": [110 * MS]})
    trace = trace_of(scenario)
    trace = replace(trace, context={**trace.context, "metal_pipelines": compiled})
    (found,) = differences(trace).values()
    parts = all_parts(trace, found)
    assert parts.ns[0, CAUSES.index(Cause.SPECIALIZATION)] / MS == pytest.approx(70, abs=2)
    assert parts.coincident_ns[0] / MS == pytest.approx(40, abs=2)
    assert not parts.coincident_ns[1:].any()
    explained = why(trace, int(found.calls.id[0]))
    assert explained is not None
    (part,) = (each for each in explained.parts if each.cause is Cause.SPECIALIZATION)
    assert (part.low_ns, part.high_ns) == (part.ns - parts.coincident_ns[0], part.ns)
    assert part.known is Known.SAMPLES
    assert explained.more.get("cpu", 0) <= 2 * MS


def test_a_model_with_too_few_predictions_is_not_compared():
    scenario = recording(unexplained)
    for number in range(2):
        scenario.predict(OTHER, (3_000 + 50 * number) * MS, 5 * MS)
    assert set(differences(trace_of(scenario))) == {"Net"}


ROWS = st.lists(
    st.tuples(
        st.integers(0, 30),
        st.integers(0, 60),
        st.sampled_from(("engine", "gpu", "copy", "cpu", "other", "drawing")),
    ),
    max_size=5,
)
CALLS = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 60), st.booleans(), ROWS), min_size=3, max_size=9)


@given(CALLS)
@settings(deadline=None, max_examples=40)
def test_parts_add_up_whatever_overlaps(calls):
    """Rows that overlap one another, other predictions and the ends of their own."""
    scenario = Scenario(Process("App", 412), duration_ns=10_000 * MS)
    start = MS
    for gap, length, is_other, rows in calls:
        start += gap * 777_777
        call = scenario.predict(OTHER if is_other else NET, start, length * 333_333)
        for at, width, what in rows:
            begin, size = at * 111_111, width * 77_777
            inside = min(begin, call.row.duration_ns)
            if what == "engine":
                call.neural_engine(begin, size)
            elif what == "gpu":
                call.gpu(begin, size)
            elif what in ("copy", "cpu"):
                label = "Input Copy" if what == "copy" else "CPU"
                call.event(label, inside, min(size, call.row.duration_ns - inside))
            elif what == "other":
                scenario.other_neural_engine(start + begin, size, "Foreign_main__Op0_AneInference Prediction")
            else:
                scenario.gpu_work(start + begin, size, scenario.target)
    trace = trace_of(scenario)
    for found in differences(trace).values():
        waits = all_parts(trace, found).ns[:, :3]
        assert (waits >= 0).all()
        assert (waits.sum(axis=1) <= found.durations).all()
        assert len(found.usual_ns) == len(Layer)
