"""Profiling with a stand-in for Core ML: what is timed, what is kept apart, and what a failure does."""

from __future__ import annotations

import platform
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from standin.core_ml import COMPILING, DEVICES, MS, PLANS, STATES, StandIn, operation, program, structure

from support.models import needs_coremltools
from tracekit.errors import TracekitError
from tracekit.model_files.facts import Feature, FeatureKind, Shape
from tracekit.model_files.performance.facts import ComputeUnit, ReportForm, Transition
from tracekit.model_files.profiling import core_ml
from tracekit.model_files.profiling.measure import inputs_for, profile
from tracekit.model_files.read import read_model
from tracekit.model_files.untrusted import UnreadableModel

CPU, GPU, ANE = ComputeUnit.CPU, ComputeUnit.GPU, ComputeUnit.NEURAL_ENGINE


def profiled(path: Path, runtime: StandIn, **options):
    return profile(path, runtime, clock=runtime.clock, **options)


@pytest.fixture
def model(built_models):
    return built_models / "float16_interface.mlpackage"


def report_of(path: Path, runtime: StandIn, predictions: int = 1):
    ((_, report),) = profiled(path, runtime, choices=["all"], predictions=predictions).reports
    return report


def test_each_choice_is_timed_with_cold_values_apart(model):
    runtime = StandIn(predict_ms={"all": (50, 8), "cpuOnly": (30, 20)})
    result = profiled(model, runtime, predictions=5)
    reports = dict(result.reports)
    assert list(reports) == ["all", "cpuOnly", "cpuAndGPU", "cpuAndNeuralEngine"]
    assert result.failures == ()
    every, alone = reports["all"], reports["cpuOnly"]
    assert (every.name, every.device, every.system) == ("float16_interface", "Mac16,1", "macOS 26.2")
    assert (every.form, every.asked, alone.asked) == (ReportForm.TRACEKIT, (CPU, GPU, ANE), (CPU,))
    assert (every.prediction.count, every.prediction.median_ns, every.prediction.first_ns) == (5, 8 * MS, (50 * MS,))
    assert every.prediction.stdev_ns == 0
    assert every.prediction.median_ns == 8e6
    assert (every.load.count, every.load.median_ns, every.load.first_ns) == (3, 40 * MS, (900 * MS,))
    assert every.compile.median_ns == 120 * MS
    assert alone.prediction.median_ns == 20 * MS


def test_only_chosen_units_run_and_each_is_announced(model):
    runtime, begun = StandIn(), []
    result = profiled(model, runtime, choices=["cpuOnly"], predictions=1, on_choice=begun.append)
    assert [choice for choice, _ in result.reports] == begun == ["cpuOnly"]
    assert runtime.calls == ["compile", *["load cpuOnly"] * 4, *["predict cpuOnly"] * 2, "plan"]


def test_a_compiled_model_is_not_compiled(tmp_path):
    folder = tmp_path / "compiled.mlmodelc"
    folder.mkdir()
    (folder / "metadata.json").write_text(
        '[{"specificationVersion": 7, "mlProgramOperationTypeHistogram": {}, "inputSchema": [{"name": "x", "type": '
        '"MultiArray", "dataType": "Float16", "shape": "[2, 3]"}]}]'
    )
    runtime = StandIn()
    report = report_of(folder, runtime)
    assert "compile" not in runtime.calls
    assert report.compile is None
    # It may have been in the cache before.
    assert (report.load.count, report.load.first_ns) == (4, ())
    assert runtime.inputs["x"].shape == (2, 3)


def test_of_several_functions_the_default_one_is_run(built_models):
    (path,) = built_models.glob("*function*.mlpackage")
    report = report_of(path, StandIn())
    assert report.notes[1] == "Of 2 functions only the default one was run."


def test_one_choice_that_fails_stops_no_other(model):
    runtime = StandIn(
        failing={"load cpuAndGPU": RuntimeError("Error in building plan.\nmore"), "predict cpuOnly": Exception()}
    )
    result = profiled(model, runtime, predictions=2)
    assert [choice for choice, _ in result.reports] == ["all", "cpuAndNeuralEngine"]
    assert list(result.failures) == [
        "predicting failed for cpuOnly: Exception",
        "loading failed for cpuAndGPU: Error in building plan",
    ]


def test_compiling_fails_as_coremltools_does(model):
    result = profiled(model, StandIn(failing={"compile": Exception(COMPILING)}))
    assert result.reports == ()
    assert result.failures[0] == f"compiling failed for all: {COMPILING.rstrip('.')}"


def test_without_a_plan_the_times_remain(model):
    runtime = StandIn(failing={"plan": ValueError(PLANS)})
    report = report_of(model, runtime)
    assert report.operations is None
    assert report.prediction.median_ns == 10 * MS
    assert report.notes[-1] == "No compute plan: MLComputePlan is not supported."


def test_states_are_made_once_and_given(built_models):
    stateful = built_models / "stateful.mlpackage"
    runtime = StandIn()
    assert profiled(stateful, runtime, choices=["all"], predictions=2).failures == ()
    assert runtime.calls.count("make_state") == 1
    assert runtime.states == ["state"] * 3
    old = StandIn(failing={"make_state": Exception(STATES)})
    (failure,) = profiled(stateful, old, choices=["all"]).failures
    assert failure == f"making states failed for all: {STATES}"


def test_the_plan_comes_out_in_the_one_form(model):
    inner = operation("inner", "ios16.add", device=DEVICES[0], cost=0.25)
    runtime = StandIn(
        structure=program(
            operation("w", "const"),
            operation("y", "ios16.conv", device=DEVICES[2], cost=0.5),
            operation("loop", "while_loop", blocks=[SimpleNamespace(operations=[inner])]),
        )
    )
    report = report_of(model, runtime, 3)
    assert [(entry.number, entry.name, entry.type, entry.unit) for entry in report.operations] == [
        (0, "y", "conv", ANE),
        (1, "loop", "while_loop", None),
        (2, "inner", "add", CPU),
    ]
    assert report.operations[0].estimated_ns == 5 * MS
    assert report.operations[0].supported == (CPU, GPU, ANE)
    # A model whose deployment target is too old has no usage.
    assert report.operations[1].supported is None
    assert report.transitions == (Transition(ANE, CPU, 1),)


def test_plans_of_networks_and_pipelines(model):
    layer = SimpleNamespace(name="conv1", type="convolution", device=DEVICES[1])
    network = structure(neuralnetwork=SimpleNamespace(layers=[layer]))
    stages = {"first": network, "second": program(operation("y", "ios16.mul", device=DEVICES[0]))}
    runtime = StandIn(structure=structure(pipeline=SimpleNamespace(sub_models=stages)))
    report = report_of(model, runtime)
    assert [(entry.function, entry.name, entry.type, entry.unit) for entry in report.operations] == [
        ("first", "conv1", "convolution", GPU),
        ("second", "y", "mul", CPU),
    ]


@pytest.mark.parametrize(
    ("element", "kind"),
    [("Float32", np.float32), ("Float16", np.float16), ("Double", np.float64), ("Int32", np.int32), ("Int8", np.int8)],
)
def test_arrays_have_the_type_and_the_default_shape(element, kind):
    feature = Feature("x", FeatureKind.ARRAY, element, Shape((1, None, 4)))
    value = inputs_for([feature], StandIn().image)["x"]
    assert (value.dtype, value.shape) == (kind, (1, 1, 4))
    assert (value >= 0).all()
    assert (value < 1).all() or element == "Float16"
    assert np.array_equal(value, inputs_for([feature], StandIn().image)["x"])


def test_images_have_height_width_and_colors():
    for color, shape, kind in (
        ("RGB", (4, 6, 3), np.uint8),
        ("BGR", (4, 6, 3), np.uint8),
        ("Grayscale", (4, 6), np.uint8),
        ("Grayscale16Half", (4, 6), np.float32),
    ):
        feature = Feature("x", FeatureKind.IMAGE, "UInt8", Shape((4, 6)), color_space=color)
        pixels, given = inputs_for([feature], StandIn().image)["x"]
        assert (pixels.shape, pixels.dtype, given) == (shape, kind, color)


def test_other_inputs_and_optional_ones_that_are_left_out():
    for kind, element, value in (
        (FeatureKind.NUMBER, "Int64", 0),
        (FeatureKind.NUMBER, "Double", 0.5),
        (FeatureKind.STRING, "String", "text"),
        (FeatureKind.DICTIONARY, "Int64", {0: 0.5}),
        (FeatureKind.DICTIONARY, "String", {"key": 0.5}),
        (FeatureKind.SEQUENCE, "Int64", [0]),
        (FeatureKind.SEQUENCE, "String", ["text"]),
    ):
        assert inputs_for([Feature("x", kind, element, None)], StandIn().image) == {"x": value}
    assert inputs_for([Feature("x", FeatureKind.STRING, "String", None, optional=True)], StandIn().image) == {}


@pytest.mark.parametrize(
    ("feature", "words"),
    [
        (Feature("x", FeatureKind.UNKNOWN, None, None), "does not state its type"),
        (Feature("x", FeatureKind.ARRAY, "Float32", None), "does not state its shape"),
        (Feature("x", FeatureKind.ARRAY, None, Shape((1,))), "of type unknown"),
        (Feature("x", FeatureKind.ARRAY, "Float32", Shape((1 << 20, 1 << 20))), "at most 268,435,456 are made up"),
    ],
)
def test_inputs_that_cannot_be_made_up(feature, words):
    with pytest.raises(UnreadableModel, match="'x'") as caught:
        inputs_for([feature], StandIn().image)
    assert words in str(caught.value)


def test_what_only_describes_a_model_cannot_run(tmp_path):
    path = tmp_path / "metadata.json"
    path.write_text('[{"specificationVersion": 8, "inputSchema": []}]')
    with pytest.raises(UnreadableModel, match="only describes a model"):
        profile(path, StandIn())


def test_inputs_of_built_models_are_made(built_models):
    for path in sorted(built_models.glob("*.mlpackage")):
        model = read_model(path)
        assert set(inputs_for(model.main.inputs, StandIn().image)) == {
            entry.name for entry in model.main.inputs if not entry.optional
        }


def test_off_a_mac_there_is_one_sentence(monkeypatch):
    monkeypatch.setattr("platform.system", lambda: "Linux")
    with pytest.raises(TracekitError, match="needs a Mac"):
        core_ml.runtime()


@needs_coremltools
@pytest.mark.skipif(platform.system() == "Darwin", reason="Core ML works there")
def test_coremltools_fails_off_a_mac_as_the_standin_does(tmp_path):
    """Holds the words of the stand-in, and that each call gets through to coremltools."""
    runtime = core_ml.CoreML()
    with pytest.raises(Exception, match=re.escape(COMPILING)):
        runtime.compile(tmp_path / "a.mlpackage", tmp_path / "a.mlmodelc")
    for choice in core_ml.COREMLTOOLS_UNITS:
        with pytest.raises(Exception, match="Loading compiled Core ML models is only support on macOS"):
            runtime.load(tmp_path, choice)
        with pytest.raises(ValueError, match=re.escape(PLANS)):
            runtime.plan(tmp_path, choice)
    assert runtime.device() is None
    assert runtime.system() is None
