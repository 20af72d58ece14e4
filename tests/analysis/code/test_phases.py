"""Phases of inferred calls, against samples whose phases are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from support.call_stacks import MAIN, MS, START, Call, Sample, app, core_ml, source
from tracekit.analysis.code.phases import FIRST, LOAD, OTHER, OTHERS, WAITING, CallPhases, call_phases
from tracekit.trace.calls.infer import infer_calls
from tracekit.trace.calls.stacks import DataPhase, LoadPhase, Unit
from tracekit.trace.events import Kind, no_events
from tracekit.trace.instruments.instrument import CommandBuffers

LOADS = core_ml("+[MLModel modelWithContentsOfURL:configuration:error:]")
PROGRAM = core_ml(
    "-[MLE5ProgramLibraryOnDeviceAOTCompilationImpl createProgramLibraryHandleWithRespecialization:error:]"
)
COMPILE = Call("Espresso", "E5RT::OnDeviceAOTCompilerInterface::Compile")
TRY = Call("Espresso", "Espresso::AOT::Validators::AneValidator::Validate")
PREDICT = core_ml("-[MLModel predictionFromFeatures:error:]")
BIND = core_ml("-[MLE5ExecutionStream _prepareForInputFeatures:options:error:]")
EXECUTE = core_ml("-[MLE5ExecutionStream _executeStream:error:]")
ON_GPU = Call("Espresso", "E5RT::Ops::MpsGraphInferenceOperation::ExecuteSync")
ON_CPU = Call("Espresso", "E5RT::Ops::BnnsCpuInferenceOperation::ExecuteSync")
SPECIALIZE = Call("MetalPerformanceShadersGraph", "-[MPSGraphExecutable specializedModuleWithDevice:inputTypes:]")
COPY = Call("libsystem_platform.dylib", "_platform_memmove")
CALLER, RUN = app("Style.apply", 42), app("App.run", 7)
Build = Callable[..., tuple[CallPhases, ...]]


def during(first_ms: int, *frames: Call, ms: int = 1) -> list[Sample]:
    """A sample each ms of the main thread in these frames."""
    return [(first_ms + each, MAIN, [*frames, CALLER, RUN, START]) for each in range(ms)]


@pytest.fixture
def phases(trace_of):
    """The phases of what the samples show, where the first prediction is the cold one."""

    def build(*parts: list[Sample]) -> tuple[CallPhases, ...]:
        # Between calls, the app runs.
        samples = sorted((sample for part in parts for sample in part), key=lambda sample: sample[0])
        found = infer_calls(
            no_events(),
            CommandBuffers(np.zeros(0, np.int64), np.zeros(0, bool)),
            source(*samples).read(),
            900 * MS,
            watched=False,
        )
        trace = replace(trace_of(found.activity), sites=found.sites, sample_source=source(*samples))
        predicts = found.activity.kind.is_any(Kind.PREDICTION)
        loads, predictions = np.flatnonzero(~predicts), np.flatnonzero(predicts)
        warm = np.arange(len(predictions)) > 0
        return call_phases(trace, loads, predictions, warm)

    return build


def times(calls: CallPhases) -> dict[tuple[str, ...], int]:
    """Mean times in whole ms, by path."""
    return {phase.path: round(phase.mean_ns / MS) for phase in calls.phases}


def test_phases_of_a_load_lie_inside_one_another_and_add_up(phases):
    (load,) = phases(
        during(10, COMPILE, PROGRAM, LOADS, ms=30),
        during(40, TRY, COMPILE, PROGRAM, LOADS, ms=20),
        during(60, PROGRAM, LOADS, ms=5),
        during(65, LOADS, ms=2),
        during(67, ms=5),
    )
    program = str(LoadPhase.PROGRAM)
    compiling = (program, str(LoadPhase.COMPILING))
    assert (load.kind, load.calls) == (LOAD, 1)
    assert times(load) == {(program,): 55, compiling: 50, (*compiling, str(LoadPhase.NEURAL_ENGINE)): 20, (OTHER,): 2}
    assert sum(phase.share for phase in load.phases if len(phase.path) == 1) == pytest.approx(1)


def test_a_prediction_is_code_for_units_and_waiting(phases):
    first, later = phases(
        during(10, BIND, PREDICT, ms=3),
        during(13, SPECIALIZE, ON_GPU, EXECUTE, PREDICT, ms=20),
        during(33, ON_GPU, EXECUTE, PREDICT, ms=10),
        # Two samples are missing.
        during(45, ON_GPU, EXECUTE, PREDICT, ms=7),
        during(52, ON_CPU, EXECUTE, PREDICT, ms=6),
        during(58, ms=5),
        during(63, BIND, PREDICT, ms=2),
        during(65, COPY, ON_GPU, EXECUTE, PREDICT, ms=4),
        during(69, ON_GPU, EXECUTE, PREDICT, ms=4),
        during(73, ms=5),
    )
    gpu, bind = str(Unit.GPU), str(DataPhase.BINDING)
    assert (first.kind, later.kind) == (FIRST, OTHERS)
    assert times(first) == {
        (gpu,): 37,
        (gpu, str(LoadPhase.SPECIALIZING)): 20,
        (str(Unit.CPU),): 6,
        (bind,): 3,
        (WAITING,): 2,
    }
    assert times(later) == {(gpu,): 8, (gpu, str(DataPhase.COPYING)): 4, (bind,): 2}
    for calls in (first, later):
        outer = sum(phase.mean_ns for phase in calls.phases if len(phase.path) == 1)
        assert outer == pytest.approx(calls.mean_ns)


def test_calls_that_core_ml_recorded_have_no_phases(trace_of, events):
    samples = during(10, ON_GPU, EXECUTE, PREDICT, ms=20)
    trace = replace(trace_of(events((10 * MS, 30 * MS))), sample_source=source(*samples))
    assert call_phases(trace, np.zeros(0, np.int64), np.array([0]), np.array([True])) == ()
