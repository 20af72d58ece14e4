"""Calls of Core ML from samples, their call sites, and what they were busy with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from support.analyses import kept_trace
from support.call_stacks import MAIN, MS, START, WORKER, WQ, Call, Held, Sample, app, call_stacks, core_ml, source
from support.choice import sweep_rest
from support.rows import records_of, values_of
from tracekit.analysis.code.call_sites import call_sites
from tracekit.analysis.code.sites import Place, all_sites, sites_of
from tracekit.columns import Numbers
from tracekit.trace.calls.infer import Inferred, infer_calls
from tracekit.trace.calls.stacks import Api, LoadPhase, Unit
from tracekit.trace.events import no_events
from tracekit.trace.instruments.instrument import CommandBuffers
from tracekit.trace.samples import SampleSource
from tracekit.trace.trace import Trace

LOAD = core_ml("+[MLModel modelWithContentsOfURL:configuration:error:]")
PREDICT = core_ml("-[MLModel predictionFromFeatures:error:]")
DELEGATE = core_ml("-[MLDelegateModel predictionFromFeatures:options:error:]")
BIND = core_ml("-[MLE5ExecutionStream _prepareForInputFeatures:options:error:]")
EXECUTE = core_ml("-[MLE5ExecutionStream _executeStream:error:]")
GPU = Call("Espresso", "E5RT::Ops::MpsGraphInferenceOperation::ExecuteSync")
CPU = Call("Espresso", "E5RT::Ops::BnnsCpuInferenceOperation::ExecuteSync")
COMPILE = Call("Espresso", "E5RT::OnDeviceAOTCompilerInterface::Compile")
OVERLAY = app("MLModel.init", 0, 0x99, "_$sSo7MLModelC10contentsOf13configurationABSo0A13ConfigurationC_tKcfC")
APPLY, RUN = app("Style.apply", 42), app("App.run", 7)
Build = Callable[..., Trace]


@pytest.fixture
def traced(trace_of, events):
    """A trace of these samples, and of rows (start, end) in ms of Core ML's table."""

    def build(samples: list[Sample], *rows: tuple[int, int], **columns: object) -> Trace:
        activity = events(*((start * MS, end * MS) for start, end in rows), **columns)
        return replace(trace_of(activity), sample_source=source(*samples))

    return build


def prediction(*inner: Call, caller: Call = APPLY) -> list[Call]:
    return [*inner, DELEGATE, PREDICT, caller, RUN, START]


def inferred(*samples: Sample) -> Inferred:
    """What these samples alone show of a second."""
    sampled = source(*samples).read()
    nothing = CommandBuffers(np.zeros(0, np.int64), np.zeros(0, bool))
    return infer_calls(no_events(), nothing, sampled, 1_000 * MS, watched=False)


def of_inferred(trace_of: Callable[..., Trace], *samples: Sample) -> Trace:
    """A trace of the same."""
    found = inferred(*samples)
    return replace(trace_of(found.activity), sites=found.sites, sample_source=source(*samples))


def starts_of(found: Inferred) -> list[int]:
    return (found.activity.start_max_ns // MS).tolist()


def test_a_gap_that_nothing_explains_may_end_a_call():
    found = inferred((10, MAIN, prediction(EXECUTE)), (90, MAIN, prediction(GPU, EXECUTE)), (91, MAIN, [RUN, START]))
    (call,) = records_of(found.activity)
    assert (call["start_max_ns"], call["end_min_ns"], call["end_max_ns"]) == (10 * MS, 10 * MS, 91 * MS)
    assert not call["single"]
    (site,) = records_of(found.sites)
    assert (site["caller"], site["file"], site["line"], site["samples"]) == ("Style.apply", "main.swift", 42, 2)
    assert (site[Unit.GPU], site[Unit.CPU], site["main_thread"], site["tid"]) == (1, 0, True, 9)


def test_another_place_or_binding_after_executing_begins_another_call():
    found = inferred(
        (1, MAIN, prediction(BIND)),
        (2, MAIN, prediction(EXECUTE)),
        (3, MAIN, prediction(CPU, EXECUTE)),
        (4, MAIN, prediction(BIND)),
        (5, MAIN, prediction(BIND)),
        (6, MAIN, prediction(EXECUTE, caller=app("Style.apply", 50))),
        (7, MAIN, [RUN, START]),
        (8, MAIN, prediction(EXECUTE, caller=app("Style.apply", 50))),
    )
    assert starts_of(found) == [1, 4, 6, 8]
    assert found.sites.samples.tolist() == [3, 2, 1, 1]
    assert found.sites.line.values.tolist() == [42, 42, 50, 50]
    names = found.activity.model.as_objects().tolist()[1:3]
    assert names == ["model called at main.swift:42", "model called at main.swift:50"]


def test_samples_without_stack_or_name_end_nothing_and_threads_are_apart():
    found = inferred(
        (1, MAIN, prediction(EXECUTE)),
        (2, WORKER, [EXECUTE, PREDICT, app("work", 3), WQ]),
        (2, MAIN, []),
        (3, MAIN, [Call("CoreML"), APPLY, RUN, START]),
        (4, MAIN, prediction(EXECUTE)),
        (5, MAIN, [RUN, START]),
    )
    assert found.sites.samples.tolist() == [2, 1]
    assert found.sites.main_thread.values.tolist() == [True, False]


def test_threads_that_wait_are_in_a_call_and_not_counted():
    waits = replace(
        call_stacks([(time, MAIN, prediction(EXECUTE)) for time in range(1, 60)]),
        weight_ns=Numbers(np.array([MS, *([0] * 57), MS]), np.ones(59, bool)),
    )
    sampled = SampleSource(Held({"time-profile": [waits]})).read()  # type: ignore[arg-type]
    nothing = CommandBuffers(np.zeros(0, np.int64), np.zeros(0, bool))
    found = infer_calls(no_events(), nothing, sampled, 1_000 * MS, watched=False)
    (call,) = records_of(found.activity)
    assert found.sites.samples.tolist() == [2]
    assert call["end_max_ns"] > 59 * MS


def test_the_caller_of_a_load_is_not_the_face_of_core_ml_in_the_app():
    found = inferred((1, MAIN, [COMPILE, LOAD, OVERLAY, APPLY, START]), (2, MAIN, [LOAD, OVERLAY, APPLY, START]))
    (site,) = records_of(found.sites)
    assert (site["caller"], site["line"], site["samples"], site[LoadPhase.COMPILING]) == ("Style.apply", 42, 2, 1)
    assert found.activity.kind.as_objects().tolist() == ["load_uncached"]
    assert found.activity.model.as_objects().tolist() == ["model loaded at main.swift:42"]


def test_names_of_core_ml_elsewhere_are_no_calls_and_a_caller_is_code_of_the_app(trace_of, events):
    assert inferred((1, WORKER, [PREDICT, WQ])).sites.caller.as_objects().tolist() == [None]
    found = inferred((1, MAIN, [app("-[MLThing predictionFromX:]", 1), START]), (2, MAIN, [Call("CoreML"), START]))
    assert not len(found.activity)
    assert found.sites is None
    trace = trace_of(events())
    assert call_sites(trace) is None
    assert not len(call_sites(replace(trace, sample_source=source())))


def test_each_row_of_core_ml_has_the_call_site_of_the_samples_in_it(traced):
    other = app("Warm.up", 9)
    samples = [
        (5, MAIN, [LOAD, OVERLAY, APPLY, START]),
        (12, MAIN, prediction(EXECUTE)),
        (13, MAIN, prediction(EXECUTE)),
        (14, MAIN, prediction(EXECUTE, caller=other)),
        (22, WORKER, [PREDICT, other, WQ]),
        (23, MAIN, prediction(EXECUTE)),
        (24, MAIN, prediction(EXECUTE)),
        (35, MAIN, [RUN, START]),
    ]
    kinds = ["load", "prediction", "prediction", "prediction"]
    trace = traced(samples, (0, 10), (10, 20), (20, 30), (30, 40), kind=kinds)
    sites = call_sites(trace)
    assert sites.id.tolist() == [0, 1, 2]
    assert sites.caller.as_objects().tolist() == ["Style.apply"] * 3
    assert sites.samples.tolist() == [1, 2, 2]
    assert sites.ambiguous.tolist() == [False, False, True]
    (site,) = sites_of(trace, [1, 2, 3])
    assert (site.function, site.file, site.line, site.thread) == ("Style.apply", "main.swift", 42, "main")
    assert (site.calls, site.of, site.share, site.samples, site.ambiguous) == (2, 2, 1.0, 4, 1)
    assert (site.first_ns, site.last_ns, site.median_ns) == (10 * MS, 30 * MS, 10 * MS)
    assert site.called_by == (Place("App.run", "main.swift", 7),)
    assert not site.inferred


def test_call_sites_are_counted_by_rows(traced):
    rows = [(10 * number, 10 * number + 9) for number in range(4)]
    callers = [APPLY, APPLY, app("Warm.up", 9), APPLY]
    samples = [(10 * number + 3, MAIN, prediction(EXECUTE, caller=each)) for number, each in enumerate(callers)]
    sites = sites_of(traced(samples, *rows), range(4))
    assert [(site.function, site.calls, site.share) for site in sites] == [
        ("Style.apply", 3, 0.75),
        ("Warm.up", 1, 0.25),
    ]


ELEMENT = core_ml("-[MLMultiArray objectAtIndexedSubscript:]")


def test_every_call_of_core_ml_has_its_site_and_what_it_was_busy_with(traced):
    samples = [
        (5, MAIN, [COMPILE, LOAD, OVERLAY, APPLY, START]),
        (6, MAIN, [LOAD, OVERLAY, APPLY, START]),
        (12, MAIN, prediction(GPU, EXECUTE)),
        (13, MAIN, prediction(CPU, EXECUTE)),
        (25, MAIN, [ELEMENT, APPLY, START]),
    ]
    load, call, element = all_sites(traced(samples, (0, 10), (10, 20), kind=["load", "prediction"]))
    assert (load.api, load.calls, load.inferred) == ("load", 1, False)
    assert [(each.what, each.samples) for each in load.busy] == [("compiling", 1)]
    assert (call.api, call.calls) == ("prediction", 1)
    assert [(each.what, each.samples) for each in call.busy] == [("GPU", 1), ("CPU", 1)]
    assert (element.api, element.calls, element.of, element.inferred) == ("element access", None, 1, True)


PROGRAM = core_ml(
    "-[MLE5ProgramLibraryOnDeviceAOTCompilationImpl createProgramLibraryHandleWithRespecialization:error:]"
)
CACHE_KEY = Call("Espresso", "E5RT::E5BundleCacheKeyUtils::ToE5BundleCacheKey")
READY = core_ml("-[MLE5Engine prepareWithConcurrencyHint:error:]")


def test_a_phase_lies_within_the_innermost_one_that_all_of_its_stacks_are_in(traced):
    inner = [PROGRAM, LOAD, OVERLAY, APPLY, START]
    stacks = [inner, [CACHE_KEY, *inner], [COMPILE, *inner], [READY, LOAD, OVERLAY, APPLY, START]]
    samples = [(at, MAIN, stack) for at, stack in enumerate(stacks, 1)]
    (load,) = all_sites(traced(samples, (0, 10), kind=["load"]))
    assert {each.what: each.within for each in load.busy} == {
        LoadPhase.PROGRAM: None,
        LoadPhase.CACHE_KEY: LoadPhase.PROGRAM,
        LoadPhase.COMPILING: LoadPhase.PROGRAM,
        LoadPhase.READYING: None,
    }
    outside = (5, MAIN, [CACHE_KEY, LOAD, OVERLAY, APPLY, START])
    (load,) = all_sites(traced([*samples, outside], (0, 10), kind=["load"]))
    assert {each.what: each.within for each in load.busy}[LoadPhase.CACHE_KEY] is None


def test_without_rows_of_core_ml_samples_alone_tell_the_calls(trace_of):
    worker = [PREDICT, app("work", 3), WQ]
    main, other = all_sites(
        of_inferred(
            trace_of,
            (1, MAIN, prediction(BIND)),
            (3, MAIN, prediction(EXECUTE)),
            (2, WORKER, worker),
            (4, MAIN, [RUN, START]),
        )
    )
    assert (main.function, main.calls, main.of, main.inferred, main.thread) == ("Style.apply", 1, 2, True, "main")
    assert (main.samples, other.samples) == (2, 1)
    assert (other.function, other.thread, other.called_by) == ("work", "other", ())


LOADS = {
    # first and last sample in s, samples, getting the program, cache key, compiling, trying the Neural Engine
    "hello_coreml": (4.7011, 4.9031, 179, 161, 31, 0, 0),
    "quick_probe": (0.7076, 3.9316, 3119, 3106, 32, 2954, 1573),
    "fp16_w8_60s_all": (4.0348, 4.2508, 196, 180, 34, 0, 0),
}
CALLS = {
    "hello_coreml": ([152], 144, 5),
    "quick_probe": ([172, 17, 15, 16, 16, 18, 16, 16, 17], 282, 15),
    "fp16_w8_60s_all": ([169, 17, 19, 19, 19, 19, 20, 21, 18, 19], 317, 18),
}
PLACES = {"quick_probe": ([1514], {1229, 1261}), "fp16_w8_60s_all": ([1514], {1229, 1261})}


@pytest.mark.corpus
@pytest.mark.parametrize("name", sweep_rest(*LOADS))
def test_loads_and_calls_of_public_recordings(corpus, name):
    trace = kept_trace(corpus / f"bundles/{name}.trace")
    activity, sites = trace.activity, trace.sites
    assert activity.id.tolist() == sites.id.tolist()
    (load,) = [
        call | site
        for call, site in zip(records_of(activity), records_of(sites), strict=True)
        if site["api"] == Api.LOAD
    ]
    outer = [each.samples for site in all_sites(trace) if site.api == Api.LOAD for each in site.busy if not each.within]
    assert sum(outer) <= load["samples"]
    phases = (LoadPhase.PROGRAM, LoadPhase.CACHE_KEY, LoadPhase.COMPILING, LoadPhase.NEURAL_ENGINE)
    assert (
        round(load["start_max_ns"] / 1e9, 4),
        round(load["end_min_ns"] / 1e9, 4),
        load["samples"],
        *(load[phase] for phase in phases),
    ) == LOADS[name]
    predictions = sites.where(sites.api.is_any(Api.PREDICTION))
    samples, on_gpu, on_cpu = CALLS[name]
    assert predictions.samples.tolist() == samples
    assert [sum(values_of(predictions, unit)) for unit in (Unit.GPU, Unit.CPU)] == [on_gpu, on_cpu]
    assert predictions.main_thread.values.all()
    if name in PLACES:
        assert ([load["line"]], set(values_of(predictions, "line"))) == PLACES[name]
        assert set(predictions.caller.held()) == {"MambaASRRunner.runStreaming"}
    # Each prediction that the GPU shows lies in one call of its own, and one model does all.
    assert activity.origin.is_any("call-stacks").all()
    assert activity.single.all()
    assert activity.model.is_any("MambaASR_fp16_w8").all()
    assert set(trace.hardware.prediction.filled().tolist()) - {-1} == set(predictions.id.tolist())
