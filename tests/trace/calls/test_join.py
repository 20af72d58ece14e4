"""Pieces of calls and work of hardware, joined into calls, and whose work it is: drawn ms by ms.

A letter is a sample: `b` binds inputs, `x` executes, `m` does so without the outermost frame of Core ML, `l` loads, `o`
is other code, and the same in capitals is called from another place. A blank is none.
"""

from __future__ import annotations

from collections import Counter

import pytest

from support.handover import trace_of
from tracekit.testing import Model, Process, Scenario, stacks
from tracekit.testing.machines import Thread
from tracekit.testing.rows import NeuralEngineRow
from tracekit.testing.scenario import CORE_ML
from tracekit.testing.stacks import SampleRow, Stack, app_function
from tracekit.trace.events import Kind, Origin

MS = 1_000_000
APP = Process("Camera", 412)
FIRST, SECOND = Model("Segmenter"), Model("Tagger")
BEGIN = 1_000
INNER = {"b": (stacks.BIND, *stacks.PREDICT), "x": (stacks.EXECUTE, *stacks.PREDICT), "o": ()}
INNER |= {"m": INNER["x"][:-1], "l": (stacks.LOAD_PROGRAM, stacks.LOAD)}
USUAL = "oxxxxxxxxxxo"


def drawn(*threads: str, work: tuple[tuple[Model, int, int], ...] = ()) -> Scenario:
    """Threads that are sampled so from 1 s on, and when the Neural Engine works for which model, in ms behind that."""
    scenario = Scenario(APP, duration_ns=5_000 * MS, emptied={CORE_ML})
    for number, letters in enumerate(threads):
        for at, letter in enumerate(letters):
            if letter != " ":
                place = app_function("tag" if letter.isupper() else "segment", 40 if letter.isupper() else 12)
                stack = Stack((*INNER[letter.lower()], place, stacks.WORKER))
                scenario.samples.append(SampleRow((BEGIN + at) * MS, Thread(9 + number, APP), stack))
    scenario.neural_engine += [
        NeuralEngineRow((BEGIN + start) * MS, length * MS, model.engine_label()) for model, start, length in work
    ]
    return scenario


def found(scenario: Scenario):
    activity = trace_of(scenario).activity
    return activity.where(activity.kind.is_any(Kind.PREDICTION))


@pytest.mark.parametrize(
    ("letters", "work", "calls"),
    [
        # Where no hardware tells calls apart, the samples may be of several: one is sure to last until its first.
        pytest.param("ooxxxoo", [], [(2, 2)], id="samples in a row"),
        pytest.param("oobxmxoo", [], [(2, 2)], id="a frame is missing"),
        pytest.param("oo  b oo", [(2, 2)], [(2, 4)], id="the engine is done as it is sampled"),
        pytest.param("oo  b oo", [(2, 1)], [(2, 3), (4, 4)], id="the engine was done before it begins"),
        pytest.param("oobxxbxxoo", [], [(2, 2), (5, 5)], id="a call begins again"),
        pytest.param("ooxxooxxoo", [], [(2, 3), (6, 7)], id="other code between"),
        pytest.param("oobx          xxoo", [(4, 9)], [(2, 15)], id="the engine works in the gap"),
        pytest.param("oobx          bxoo", [(3, 3), (14, 1)], [(2, 6), (14, 15)], id="each has work, and begins"),
        pytest.param("oobx                    bxoo", [], [(2, 3), (24, 25)], id="no unit works for long"),
        pytest.param(" ".join([USUAL] * 9), [], [(13 * n + 1, 13 * n + 10) for n in range(9)], id="calls in a row"),
        pytest.param(
            " ".join([*[USUAL] * 9, "oxx     xxxo"]), [], [(13 * n + 1, 13 * n + 10) for n in range(10)], id="missed"
        ),
    ],
)
def test_pieces_are_joined_into_calls(letters, work, calls):
    """`calls`: first and last ms that are sure to be in each."""
    inferred = found(drawn(letters, work=tuple((FIRST, start, length) for start, length in work)))
    inner = [
        (late // MS - BEGIN, early // MS - BEGIN)
        for late, early in zip(inferred.start_max_ns.tolist(), inferred.end_min_ns.tolist(), strict=True)
    ]
    assert inner == calls


def rounds(*turns: tuple[str, int], models: tuple[Model, ...]) -> tuple[str, tuple[tuple[Model, int, int], ...]]:
    """Turns of a thread ten times, each with work of its model so many ms behind its begin."""
    letters, work = "", []
    for _ in range(10):
        for (turn, after), model in zip(turns, models, strict=True):
            work.append((model, len(letters) + after, 4))
            letters += turn
    return letters, tuple(work)


def test_work_belongs_to_the_place_that_waits_for_it():
    letters, work = rounds(("oobx    xoo", 4), ("OOBX    XOO", 4), models=(FIRST, SECOND))
    scenario = drawn(letters, work=work)
    trace = trace_of(scenario)
    calls = trace.activity.where(trace.activity.kind.is_any(Kind.PREDICTION))
    assert calls.model.as_objects().tolist() == ["Segmenter", "Tagger"] * 10
    assert trace.sites.caller.take(trace.sites.id).as_objects().tolist() == ["App.segment", "App.tag"] * 10
    owner = trace.activity.model.take(trace.hardware.prediction.values)
    assert trace.hardware.prediction.known.all()
    assert owner.as_objects().tolist() == trace.hardware.model.as_objects().tolist()


def test_work_of_a_model_that_no_thread_waits_for_is_another_process_s():
    letters, work = rounds(("oobx    xooooooooooooo", 4), models=(FIRST,))
    others = tuple((SECOND, 22 * number + offset, 1) for number in range(10) for offset in (12, 15, 18))
    trace = trace_of(drawn(letters, work=work + others))
    assert set(trace.activity.model.held()) == {"Segmenter"}
    assert len(found(drawn(letters, work=work + others))) == 10


def test_work_that_many_calls_in_a_row_are_near_to_by_chance_is_not_theirs():
    """Nothing but calls is seen of the thread. Another process has the engine work for long before, and on."""
    call = "bx    x        x    "
    begins = range(0, 40 * len(call), len(call))
    work = tuple((FIRST, begin + 7, 7) for begin in begins)
    others = tuple((SECOND, at, 1) for at in (*range(-900, 0, 15), *range(16, begins.stop, 3 * len(call))))
    calls = found(drawn(call * len(begins), work=work + others))
    assert Counter(calls.model.as_objects()) == {"Segmenter": len(begins)}


@pytest.mark.parametrize(("other", "calls"), [(" ", 10), ("o", 11)], ids=["samples are missed", "the thread waits"])
def test_samples_behind_a_silence_without_work_are_no_call_where_each_call_has_some(other, calls):
    letters, work = rounds(("oobx    xooo", 4), models=(FIRST,))
    last = letters[:-3] + "x" * 20
    gap = 12
    assert len(found(drawn(last + " " * gap + "xxxxoo", " " * len(last) + other * gap, work=work))) == calls


@pytest.mark.parametrize(("between", "single"), [("o", False), ("ooo", True)])
def test_a_load_between_calls_does_not_show_that_what_lies_between_calls_is_seen(between, single):
    """They are not seen to begin: where so little lies between two, several may look like one."""
    calls = found(drawn(("l" * 6 + "x" * 6 + between) * 12))
    assert len(calls) == 12
    assert calls.single.tolist() == [single] * 12


@pytest.mark.parametrize(("pause", "told"), [(0, True), (6, False)])
def test_calls_that_are_not_seen_to_begin_do_so_as_others_of_their_place(pause, told):
    """Behind work of the engine the CPU computes for 4 ms: for the next call, where calls are seen to begin, or with
    every other one 6 ms later, for either."""
    letters, work = "b", list[tuple[Model, int, int]]()
    for number in range(24):
        seen = number % 2 == 0
        letters += "xxxx" + " " * 4 + "x" * (pause if number % 4 == 0 else 0) + ("b" if seen else "x")
        work.append((FIRST, len(letters) - 5 - (pause if number % 4 == 0 else 0), 4))
    inferred = found(drawn(letters + "oo", work=tuple(work)))
    hidden = [each for each in range(1, 23) if each % 2 == 0]
    width = (inferred.start_max_ns - inferred.start_min_ns)[hidden] // MS
    assert (width <= 2).all() == told
    assert len(inferred) == 24


@pytest.mark.parametrize("count", [3, 12])
def test_a_place_that_calls_several_models_by_turns_has_all_of_their_work_though_few_calls_are_sampled(count):
    models = [Model(f"Part{number}") for number in range(count)]
    letters, work = "", list[tuple[Model, int, int]]()
    for number in range(15 * count):
        work.append((models[number % count], len(letters) + 3, 2))
        letters += "oo" + ("b  " if number % 5 == 0 else "   ") + "oooo"
    calls = found(drawn(letters, work=tuple(work)))
    assert Counter(calls.model.as_objects()) == dict.fromkeys((each.base for each in models), 15)
    assert {*calls.origin.held()} == {Origin.CALL_STACKS}
