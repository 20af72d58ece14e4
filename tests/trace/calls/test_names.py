"""Whose calls are whose: places of the app, work of the hardware, loads and predictions of one model."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from support.call_stacks import WORKER, WQ, Call, Sample, app, source
from support.simulated_threads import BIND, CPU, DELEGATE, EXECUTE, LOAD, MS, OPEN, PREDICT, PROGRAM, hardware_of
from tracekit.trace.calls.infer import Inferred, infer_calls
from tracekit.trace.events import Attribution, Kind

SPECIALIZING = Call("MetalPerformanceShadersGraph", "-[MPSGraphExecutable specializedModuleWithDevice:options:]")


def loaded(start: int, end: int, *callers: Call) -> list[Sample]:
    """A load from ms to ms, sampled every ms."""
    first = [OPEN, LOAD, *callers, WQ]
    return [(at, WORKER, first if at == start else [PROGRAM, LOAD, *callers, WQ]) for at in range(start, end)]


def predicted(start: int, end: int, *callers: Call, inner: Sequence[Call] = (CPU,)) -> list[Sample]:
    """A prediction from ms to ms, sampled every ms: it binds, and executes."""
    outer = [DELEGATE, PREDICT, *callers, WQ]
    return [(at, WORKER, [BIND, *outer] if at == start else [*inner, EXECUTE, *outer]) for at in range(start, end)]


def inferred(samples: Sequence[Sample], *engine: tuple[int, int, str]) -> Inferred:
    """What these samples and rows of the Neural Engine (start, end in ms, model) show of a second."""
    hardware, buffers = hardware_of([(start * MS, end * MS, model) for start, end, model in engine])
    sampled = source(*sorted(samples, key=lambda sample: sample[0])).read()
    return infer_calls(hardware, buffers, sampled, 1_000 * MS, watched=True)


def models(found: Inferred) -> dict[str, set[str]]:
    """Kinds of calls by the name of their model."""
    model, predicts = found.activity.model, found.activity.kind.is_any(Kind.PREDICTION)
    return {
        name: {"prediction" if each else "load" for each in predicts[model.is_any(name)].tolist()}
        for name in model.held()
    }


def test_loads_and_predictions_from_one_line_of_the_app_are_of_one_model():
    run, other = app("App.run", 7), app("App.other", 9)
    load, predict = app("Wrapper.load", 30), app("Wrapper.predict", 40)
    samples = [*loaded(10, 40, load, run), *loaded(50, 80, load, other)]
    for at in range(100, 300, 20):
        samples += [*predicted(at, at + 4, predict, run), *predicted(at + 8, at + 14, predict, other)]
    assert models(inferred(samples)) == {
        "model called at main.swift:40 from main.swift:7": {"load", "prediction"},
        "model called at main.swift:40 from main.swift:9": {"load", "prediction"},
    }


def test_methods_of_one_class_are_of_one_model():
    samples = [*loaded(10, 40, app("App.Captions.init", 30)), *loaded(50, 80, app("App.Faces.init", 60))]
    for at in range(100, 300, 20):
        samples += predicted(at, at + 4, app("App.Captions.describe", 33))
        samples += predicted(at + 8, at + 14, app("App.Faces.find", 66))
    assert models(inferred(samples)) == {
        "model called at main.swift:33": {"load", "prediction"},
        "model called at main.swift:66": {"load", "prediction"},
    }


def test_two_loads_that_nothing_ties_to_predictions_keep_their_own_names():
    samples = [*loaded(10, 40, app("one", 30)), *loaded(50, 80, app("two", 60))]
    for at in range(100, 300, 20):
        samples += [*predicted(at, at + 4, app("three", 33)), *predicted(at + 8, at + 14, app("four", 66))]
    found = inferred(samples)
    assert models(found)["model loaded at main.swift:30"] == {"load"}
    assert models(found)["model called at main.swift:33"] == {"prediction"}


def test_work_goes_to_the_place_whose_samples_lie_at_it():
    samples: list[Sample] = []
    engine = []
    for at in range(100, 900, 40):
        # Binds, waits for the Neural Engine for 8 ms, and ends; then another model computes on the CPU.
        samples += predicted(at, at + 1, app("engine", 33), inner=())
        samples += [(at + 9, WORKER, [EXECUTE, DELEGATE, PREDICT, app("engine", 33), WQ])]
        samples += [(at + 10, WORKER, [app("work", 5), WQ])]
        samples += predicted(at + 11, at + 18, app("cpu", 66))
        engine.append((at + 1, at + 9, "Net"))
    found = inferred(samples, *engine)
    assert models(found) == {"Net": {"prediction"}, "model called at main.swift:66": {"prediction"}}
    model = found.activity.model
    assert [model.is_any(name).sum() for name in model.held()] == [len(engine), len(engine)]
    assert found.activity.single.all()


def test_work_that_the_app_never_waits_for_is_of_another_process():
    samples: list[Sample] = []
    ours, others = [], []
    for at in range(20, 950, 30):
        samples += predicted(at, at + 1, app("engine", 66), inner=())
        samples += [(later, WORKER, [app("work", 5), WQ]) for later in range(at + 8, at + 12)]
        ours.append((at + 1, at + 7, "Net"))
        # Far from every call.
        others.append((at + 16, at + 20, "Listener"))
    found = inferred(samples, *others, *ours)
    assert models(found) == {"Net": {"prediction"}}
    listener = found.hardware.where(found.hardware.model.is_any("Listener"))
    assert listener.attribution.is_any(Attribution.FOREIGN).all()
    assert not listener.prediction.known.any()


@pytest.mark.parametrize(
    ("inner", "works", "calls"),
    [
        # Nothing that a call waits for happens in the gap.
        ((CPU,), (), 2),
        # The thread may wait for another's work.
        ((CPU,), ((8, 41, "Other"),), 1),
        # Metal's compiler is no unit.
        ((SPECIALIZING,), (), 1),
    ],
    ids=["idle", "a unit works", "preparing"],
)
def test_a_gap_without_samples_ends_a_call_where_no_unit_works(inner, works, calls):
    place = app("run", 33)
    executing = [*inner, EXECUTE, DELEGATE, PREDICT, place, WQ]
    samples = [*predicted(5, 10, place, inner=inner), *((at, WORKER, executing) for at in range(40, 50))]
    found = inferred(samples, *works)
    assert len(found.activity) == calls
