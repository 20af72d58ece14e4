"""What a prediction took beyond a usual one, of recordings whose every row is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from support.handover import trace_of
from tracekit.analysis.ledger.account import Account, ledger
from tracekit.analysis.ledger.causes import QUEUED, Cause
from tracekit.analysis.ledger.explain import Known, why
from tracekit.analysis.ledger.layers import Layer
from tracekit.testing import Model, Process, Scenario, stacks
from tracekit.testing.code import Code
from tracekit.testing.rows import ENGINE_PREDICTION, ENGINE_PREPARE, LOAD, StateRow
from tracekit.testing.scenario import CORE_ML
from tracekit.trace.context import ContextRows
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
    found = account(trace)
    assert (found.usual_ns == USUAL * MS).all()
    row = np.flatnonzero(found.calls.start_ns == SLOW * STEP * MS)
    return {cause: ns / MS for cause, ns in found.sums(row).items()}


def account(trace: Trace) -> Account:
    """That of the model, whose parts add up."""
    return adding_up(ledger(trace)["Net"])


def adding_up(found: Account) -> Account:
    """The account, after a look at its sums."""
    assert (sum(found.ns.values()) == found.durations - found.usual_ns).all()
    assert all(usual.layers_ns.sum() == usual.ns and len(usual.layers_ns) == len(Layer) for usual in found.usual)
    return found


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

    found = account(trace_of(recording(slow)))
    rows = np.flatnonzero(found.durations > USUAL * MS)
    queued = found.ns[Cause.QUEUED_OWN][rows] / MS
    assert queued.tolist() == pytest.approx([8, 16], abs=0.05)
    assert Cause.WORK not in found.sums(rows)
    assert found.unclear_ns[rows].tolist() == [0, 0]


def test_time_that_may_be_work_or_waiting_is_bounded():
    """Rows without a name in predictions of two models at once: any may have had the unit."""

    def slow(scenario: Scenario, start: int) -> None:
        scenario.predict(Model("Silent"), start - 2 * MS, 22 * MS)
        scenario.predict(NET, start - 1 * MS, 18 * MS).neural_engine(1 * MS, 8 * MS)
        scenario.predict(NET, start, 18 * MS).neural_engine(8 * MS, 8 * MS)

    scenario = recording(slow)
    scenario.neural_engine = [replace(row, label=ENGINE_PREDICTION) for row in scenario.neural_engine]
    found = account(trace_of(scenario))
    row = int(np.flatnonzero(found.calls.start_ns == SLOW * STEP * MS)[0])
    queued = int(found.ns[Cause.QUEUED_OWN][row])
    assert 0 < found.unclear_ns[row] <= queued
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
        pytest.param(heated, {Cause.HEAT: 7}, id="longer execution in a hotter state"),
        pytest.param(on_the_cpu, {Cause.UNIT: 22}, id="another unit"),
        pytest.param(copied, {Cause.COPIES: 5}, id="rows of the data lane"),
        pytest.param(unexplained, {Cause.NOT_VISIBLE: 15}, id="nothing shows it"),
        pytest.param(hung, {Cause.BLOCKED: 9, Cause.NOT_VISIBLE: 6}, id="a hang, no longer than it lasts"),
    ],
)
def test_extra_time_is_named_by_its_cause(slow, parts):
    assert slow_parts(recording(slow)) == parts


PREPARATION = {
    "graph": (Cause.SPECIALIZING, Known.SAMPLES, "-[MPSGraphExecutable specializedModuleWithDevice:inputTypes:]"),
    "pipelines": (Cause.PIPELINES, Known.SAMPLES, "-[MTLCompiler compileFunctionInternal:]"),
    "compiler": (Cause.PIPELINES, Known.ROWS, None),
    "engine": (Cause.SPECIALIZING, Known.ROWS, None),
}


@pytest.mark.parametrize("every", [False, True], ids=["the first", "each"])
@pytest.mark.parametrize("recorded", [False, True], ids=["inferred", "recorded"])
@pytest.mark.parametrize("evidence", PREPARATION)
def test_each_evidence_of_preparation_says_as_much_beside_others_and_alone(evidence, recorded, every):
    """The first, or each, prepares for 30 ms, which is never usual."""
    scenario = Scenario(Process("App", 412), duration_ns=5_000 * MS)
    code, (cause, known, function) = Code(scenario), PREPARATION[evidence]
    inside = (stacks.OPERATIONS["gpu"], stacks.EXECUTE, *stacks.PREDICT)
    for number in range(12):
        start, prepares = (100 + STEP * number) * MS, every or not number
        length = 60 if prepares else 30
        if recorded:
            scenario.predict(NET, start, length * MS)
        code.runs(start, 1 * MS, stacks.BIND, *stacks.PREDICT)
        code.runs(start + (length - 29) * MS, 29 * MS, stacks.OPERATIONS["cpu"], stacks.EXECUTE, *stacks.PREDICT)
        if prepares and (function or not recorded):
            # Without rows of the call, it is one only where its thread is seen meanwhile.
            named = (stacks.objective_c("MetalPerformanceShadersGraph", function),) if function else ()
            code.runs(start + 1 * MS, 30 * MS, *named, *inside)
        if prepares and evidence == "compiler":
            scenario.compile_shader(start + 1 * MS, 30 * MS)
        elif prepares and evidence == "engine":
            scenario.other_neural_engine(start + 1 * MS, 30 * MS, ENGINE_PREPARE)
    trace = trace_of(scenario)
    (found,) = ledger(trace).values()
    for call in (0, 11):
        explained = why(trace, int(adding_up(found).calls.id[call]))
        assert explained is not None
        assert explained.usual_ns / MS == pytest.approx(30, abs=2)
        parts = [(part.cause, part.known) for part in explained.parts if abs(part.ns) > 2 * MS]
        assert parts == [(cause, known)] * (every or call == 0)
    assert found.ns[cause][0] / MS == pytest.approx(30, abs=2)


NAMELESS = stacks.Frame(stacks.ESPRESSO, "", "")
COMPUTES, EXECUTES = stacks.OPERATIONS["cpu"], stacks.EXECUTE


@pytest.mark.parametrize(
    ("usually", "at_first", "on_gpu", "expected"),
    [
        pytest.param(COMPUTES, EXECUTES, False, Cause.FIRST, id="it executes, and computes nothing"),
        pytest.param(COMPUTES, COMPUTES, False, Cause.WORK, id="it computes"),
        pytest.param(NAMELESS, NAMELESS, False, Cause.WORK, id="no function has a name"),
        pytest.param(NAMELESS, NAMELESS, True, Cause.WORK, id="the GPU works meanwhile"),
    ],
)
@pytest.mark.parametrize("recorded", [False, True], ids=["inferred", "recorded"])
def test_a_first_prompt_is_warmed_up_for_what_is_not_work(usually, at_first, on_gpu, expected, recorded):
    """A prompt of 900 ms and two of 200 ms, each after a pause and before twenty tokens of 20 ms."""
    scenario = Scenario(Process("App", 412), duration_ns=9_000 * MS)
    if not recorded:
        scenario.emptied.add(CORE_ML)
    code, start = Code(scenario), 100
    scenario.load(NET, 5 * MS, 20 * MS)
    code.load(5 * MS, 20 * MS, LOAD)
    for prompt in (900, 200, 200):
        for number in range(21):
            length = 20 if number else prompt
            prepares = 700 if length == 900 else 0
            call = scenario.predict(NET, start * MS, length * MS)
            if on_gpu:
                call.gpu(1 * MS, (length - 2) * MS)
            elif recorded:
                idle = prepares if at_first is EXECUTES else 0
                call.event("CPU", idle * MS, (length - idle) * MS)
            code.runs(start * MS, 1 * MS, stacks.BIND, *stacks.PREDICT)
            for at, width, frame in ((1, prepares, at_first), (1 + prepares, length - prepares - 1, usually)):
                frames = [frame] if frame is not EXECUTES else []
                code.runs((start + at) * MS, width * MS, *frames, EXECUTES, *stacks.PREDICT)
            start += length + 10
        start += 2_000
    (found,) = ledger(trace_of(scenario)).values()
    named = adding_up(found).ns.get(Cause.FIRST, np.zeros(1))[0]
    assert named / MS == pytest.approx(700 if expected is Cause.FIRST else 0, abs=3)


def regular(*lengths_ms: float, step_ms: int = STEP) -> Scenario:
    """Predictions of these lengths, all but 2 ms of it on the Neural Engine, at a steady distance."""
    scenario = Scenario(Process("App", 412), duration_ns=60_000 * MS)
    for number, length in enumerate(lengths_ms, start=1):
        call = scenario.predict(NET, number * step_ms * MS, round(length * MS))
        call.neural_engine(1 * MS, round((length - 2) * MS))
    return scenario


def test_usual_is_what_a_cool_device_takes_however_long_it_was_hot():
    scenario = regular(*[10.0] * 20, *[15.0] * 60)
    scenario.thermal += [StateRow(0, 2_050 * MS, "Nominal"), StateRow(2_050 * MS, 57_000 * MS, "Serious")]
    found = account(trace_of(scenario))
    assert (found.usual_ns == 10 * MS).all()
    assert found.sums(np.arange(80)) == {Cause.HEAT: 60 * 5 * MS}


def test_a_lasting_slowdown_without_heat_is_one():
    lengths = [6.0 + 0.1 * (number % 5) for number in range(40)] + [13.0 + 0.1 * (number % 5) for number in range(160)]
    scenario = regular(*lengths)
    scenario.thermal.append(StateRow(0, 59_000 * MS, "Nominal"))
    found = account(trace_of(scenario))
    assert found.usual[0].level_ns == pytest.approx(41 * STEP * MS, abs=STEP * MS)
    late = found.sums(np.arange(40, 200))
    assert next(iter(late)) == Cause.LEVEL
    assert late[Cause.LEVEL] == pytest.approx(160 * 7 * MS, rel=0.05)


@pytest.mark.parametrize("hotter", [13.0, 26.0])
def test_heat_that_follows_a_lasting_slowdown_is_what_comes_on_top_of_it(hotter):
    scenario = regular(*[6.0] * 40, *[13.0] * 60, *[hotter] * 60)
    hot = 100 * STEP + STEP // 2
    scenario.thermal += [StateRow(0, hot * MS, "Nominal"), StateRow(hot * MS, 49_000 * MS, "Serious")]
    late = account(trace_of(scenario)).sums(np.arange(40, 160))
    assert late == {Cause.LEVEL: 120 * 7 * MS} | ({Cause.HEAT: 60 * 13 * MS} if hotter > 13 else {})


@pytest.mark.parametrize("sampled", [False, True], ids=["no row shows it", "its units work longer"])
def test_the_first_predictions_after_gaps_take_longer(sampled):
    """Each fifth of 60 follows a gap of 3 s; more work may be a larger input, as the calls keep no pace."""
    scenario, start, firsts = Scenario(Process("App", 412), duration_ns=90_000 * MS), 0, []
    for number in range(60):
        after = number % 5 == 0
        start += (3_000 if after else STEP) * MS
        firsts += [number] if after and number else []
        length = 25 if after and number else 10
        scenario.predict(NET, start, length * MS).neural_engine(1 * MS, (23 if sampled and length == 25 else 8) * MS)
    found = account(trace_of(scenario))
    assert found.sums(np.array(firsts)) == {Cause.WORK if sampled else Cause.PAUSE: len(firsts) * 15 * MS}


def test_work_of_another_model_on_the_cpu_is_shared_time_where_it_makes_calls_longer():
    """Each third of 60 predictions on the CPU meets another model and takes 16 ms instead of 10."""
    for slows in (True, False):
        scenario = Scenario(Process("App", 412), duration_ns=20_000 * MS)
        for number in range(1, 61):
            start, length = number * STEP * MS, 16 if slows and number % 3 == 0 else 10
            scenario.predict(NET, start, length * MS).event("CPU", 0, length * MS)
            if number % 3 == 0:
                scenario.predict(OTHER, start + 1 * MS, 9 * MS).event("CPU", 0, 9 * MS)
        found = account(trace_of(scenario))
        assert found.sums(np.arange(60)) == ({Cause.SHARED_CPU: 20 * 6 * MS} if slows else {})


def test_rows_of_others_on_the_gpu_at_the_same_time_are_a_queue():
    scenario = Scenario(Process("App", 412), duration_ns=20_000 * MS)
    for number in range(1, 41):
        start, drawn = number * STEP * MS, number % 4 == 0
        scenario.predict(NET, start, (18 if drawn else 10) * MS).gpu(1 * MS, (16 if drawn else 8) * MS)
        if drawn:
            scenario.gpu_work(start + 2 * MS, 8 * MS, scenario.target)
    assert account(trace_of(scenario)).sums(np.arange(40)) == {Cause.QUEUED_MODELS: 10 * 8 * MS}


def test_compiled_shaders_take_what_their_rows_say_and_the_load_the_rest():
    scenario = recording(unexplained)
    first = scenario.predict(NET, 30 * MS, 50 * MS)
    first.neural_engine(1 * MS, 8 * MS)
    scenario.compile_shader(45 * MS, 6 * MS)
    # Of another process, and outside of any prediction.
    scenario.compile_shader(52 * MS, 6 * MS, process=Process("Notes", 77))
    scenario.compile_shader(90 * MS, 6 * MS)
    found = account(trace_of(scenario))
    assert found.sums(np.array([0])) == {Cause.FIRST: 34 * MS, Cause.PIPELINES: 6 * MS}


def test_what_is_prepared_in_a_load_of_another_model_is_none_of_a_prediction():
    def beside_a_load(scenario: Scenario, start: int) -> None:
        unexplained(scenario, start)
        scenario.load(OTHER, start + 9 * MS, 14 * MS)
        scenario.other_neural_engine(start + 10 * MS, 12 * MS, ENGINE_PREPARE)
        scenario.compile_shader(start + 10 * MS, 12 * MS)

    assert slow_parts(recording(beside_a_load)) == {Cause.NOT_VISIBLE: 15}


def test_a_model_with_too_few_predictions_is_not_compared():
    scenario = recording(unexplained)
    for number in range(2):
        scenario.predict(OTHER, (3_000 + 50 * number) * MS, 5 * MS)
    assert set(ledger(trace_of(scenario))) == {"Net"}


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
    for found in ledger(trace_of(scenario)).values():
        adding_up(found)
        waits = [found.ns[cause] for cause in QUEUED if cause in found.ns]
        assert all((wait >= 0).all() for wait in waits)
        assert (sum(waits, np.zeros(len(found.calls), np.int64)) <= found.durations).all()
