"""Facts of models that are built for them. What is expected is what was built."""

from __future__ import annotations

from io import BytesIO

import pytest

from support.models import CHANNELS, TARGETS, WEIGHTS, needs_coremltools
from tracekit.model_files.facts import Conversion, FeatureKind, Form, Kind, SizeRange, WeightState
from tracekit.model_files.read import message_types, read_model, read_piped

pytestmark = needs_coremltools


@pytest.mark.parametrize(("target", "version"), TARGETS.items())
def test_each_deployment_target_has_its_version_and_its_conversions(inspected, target: str, version: int) -> None:
    model = inspected(f"target_{target}")
    assert (model.form, model.kind, model.specification_version) == (Form.PACKAGE, Kind.ML_PROGRAM, version)
    assert model.name == f"target_{target}"
    assert dict(model.counts) == {"conv": 1, "relu": 1, "cast": 2}
    assert model.main.precision == ("Float16",)
    assert [(entry.feature, entry.direction, entry.outside, entry.inside) for entry in model.main.conversions] == [
        ("x", "input", "Float32", "Float16"),
        ("y", "output", "Float32", "Float16"),
    ]


def test_a_float16_interface_is_not_converted(inspected) -> None:
    model = inspected("float16_interface")
    (taken,), (given,) = model.main.inputs, model.main.outputs
    assert (taken.name, taken.kind, taken.element) == ("x", FeatureKind.ARRAY, "Float16")
    assert taken.shape.dimensions == (1, CHANNELS, 8, 8)
    assert not taken.shape.flexible
    assert given.element == "Float16"
    assert model.main.conversions == ()


def test_float32_compute_is_not_converted_either(inspected) -> None:
    model = inspected("float32_compute")
    assert model.main.precision == ("Float32",)
    assert model.main.conversions == ()
    assert model.weights.bytes == 4 * WEIGHTS


def test_an_8_bit_integer_interface_names_its_type(inspected) -> None:
    model = inspected("int8_interface")
    assert model.specification_version == 10
    assert model.main.inputs[0].element == "Int8"
    assert [(entry.outside, entry.inside) for entry in model.main.conversions] == [("Int8", "Float16")]
    both = inspected("int8_both_ways").main
    assert [(entry.element, entry.name) for entry in both.features] == [("Int8", "x"), ("Int8", "y")]
    assert [(entry.direction, entry.outside, entry.inside) for entry in both.conversions] == [
        ("input", "Int8", "Float16"),
        ("output", "Int8", "Float16"),
    ]


@pytest.mark.parametrize(("name", "color"), [("image_rgb", "RGB"), ("image_bgr", "BGR"), ("image_gray", "Grayscale")])
def test_the_conversion_of_an_image_is_found_behind_its_scale(inspected, name: str, color: str) -> None:
    model = inspected(name)
    picture = model.main.inputs[0]
    assert (picture.kind, picture.color_space, picture.element) == (FeatureKind.IMAGE, color, "UInt8")
    assert picture.shape.dimensions == (8, 8)
    first = model.main.conversions[0]
    assert (first.feature, first.direction, first.outside, first.inside) == ("picture", "input", "UInt8", "Float16")
    assert first.image
    assert model.main.precision == ("Float16",)


def test_a_float16_image_is_not_converted(inspected) -> None:
    model = inspected("image_half")
    assert (model.main.inputs[0].color_space, model.main.inputs[0].element) == ("Grayscale16Half", "Float16")
    assert [entry.feature for entry in model.main.conversions] == ["y"]


def test_an_image_that_comes_out_is_converted_too(inspected) -> None:
    model = inspected("image_to_image")
    given = model.main.outputs[0]
    assert (given.kind, given.color_space, given.shape.dimensions) == (FeatureKind.IMAGE, "RGB", (8, 8))
    assert [(entry.direction, entry.image, entry.inside) for entry in model.main.conversions] == [
        ("input", True, "Float16"),
        ("output", True, "Float16"),
    ]


def test_sizes_of_images_are_height_and_width(inspected) -> None:
    listed, ranged = (inspected(name).main.inputs[0].shape for name in ("image_sizes", "image_range"))
    assert (listed.dimensions, listed.choices) == ((8, 8), ((8, 8), (16, 24)))
    assert ranged.ranges == (SizeRange(4, 64), SizeRange(8, None))
    assert listed.axes == ranged.axes == ("height", "width")
    assert listed.flexible
    assert ranged.flexible


def test_a_cast_behind_scaling_belongs_to_the_input(inspected) -> None:
    model = inspected("channels_last")
    assert [(entry.feature, entry.outside, entry.inside) for entry in model.main.conversions] == [
        ("x", "Float32", "Float16"),
        ("y", "Float32", "Float16"),
    ]
    # The scaling before the cast is Float32, and is no part of what the model computes.
    assert model.main.precision == ("Float16",)


def test_operations_of_both_types_are_told_apart(inspected) -> None:
    model = inspected("mixed")
    assert model.main.precision == ("Float16", "Float32")
    # What is computed in Float32 last needs no conversion to leave the model.
    assert [entry.direction for entry in model.main.conversions] == ["input"]


def test_a_condition_has_the_type_of_what_it_chooses_from(inspected) -> None:
    model = inspected("condition")
    assert {"cond": 1, "relu": 1, "sqrt": 1}.items() <= dict(model.counts).items()
    assert model.main.precision == ("Float16",)


def test_a_classifier_gives_a_label_and_probabilities(inspected) -> None:
    label, probabilities = inspected("classifier").main.outputs
    assert (label.kind, label.element, label.shape) == (FeatureKind.STRING, "String", None)
    assert (probabilities.kind, probabilities.element) == (FeatureKind.DICTIONARY, "String")


def test_flexible_shapes(inspected) -> None:
    listed, ranged = inspected("enumerated").main, inspected("ranged").main
    assert listed.inputs[0].shape.dimensions == (2, 4)
    assert set(listed.inputs[0].shape.choices) == {(1, 4), (2, 4), (8, 4)}
    assert ranged.inputs[0].shape.dimensions == (3, 4)
    assert ranged.inputs[0].shape.ranges == (SizeRange(1, 16), SizeRange(4, 4))
    assert all(function.inputs[0].shape.flexible for function in (listed, ranged))
    # The specification gives no shape for them: that is not a scalar.
    assert [function.outputs[0].shape for function in (listed, ranged)] == [None, None]


def test_states_are_told_from_inputs(inspected) -> None:
    model = inspected("stateful")
    (state,) = model.main.states
    assert (state.name, state.kind, state.element, state.shape.dimensions) == (
        "memory",
        FeatureKind.STATE,
        "Float16",
        (1, 4),
    )
    assert [feature.name for feature in model.main.inputs] == ["x"]


def test_functions_share_their_weights(inspected) -> None:
    model = inspected("multifunction")
    assert [function.name for function in model.functions] == ["decode", "encode"]
    assert [function.inputs[0].name for function in model.functions] == ["x", "x"]
    assert model.weights.bytes == 2 * WEIGHTS
    assert len(model.weights.tensors) == 1


def test_operations_of_loops_are_counted(inspected) -> None:
    model = inspected("loop")
    assert dict(model.counts)["while_loop"] == 1
    assert {entry.type for entry in model.main.operations if entry.depth == 1} >= {"less", "mul"}


def test_an_old_network_has_layers_and_weights_inside(inspected) -> None:
    model = inspected("network")
    assert (model.form, model.kind) == (Form.MODEL, Kind.NEURAL_NETWORK)
    assert model.counts == (("inner_product", 1),)
    assert model.main.inputs[0].element == "Double"
    assert (model.weights.state, model.weights.bytes) == (WeightState.INSIDE, 4 * (12 + 3))
    assert (model.main.precision, model.main.conversions) == (None, None)


def test_a_custom_layer_names_its_class(inspected) -> None:
    model = inspected("custom_layer")
    assert model.custom_layers == ("AppOwnLayer",)
    assert dict(model.counts)["custom"] == 1


def test_a_pipeline_has_stages(inspected) -> None:
    model = inspected("pipeline")
    assert model.kind == Kind.PIPELINE
    assert [stage.kind for stage in model.stages] == [Kind.NEURAL_NETWORK] * 2
    assert [feature.name for feature in model.stages[1].main.inputs] == ["between"]
    assert model.counts == (("inner_product", 2),)
    assert model.weights.bytes == 2 * 4 * (12 + 3)


def test_programs_in_a_row_keep_their_operations_and_weights(inspected) -> None:
    model = inspected("programs_in_a_row")
    assert (model.kind, model.specification_version) == (Kind.PIPELINE, 7)
    assert [(stage.kind, stage.main.precision) for stage in model.stages] == [(Kind.ML_PROGRAM, ("Float16",))] * 2
    assert (model.weights.state, model.weights.bytes) == (WeightState.FILE, 2 * 2 * WEIGHTS)


def test_layers_of_loops_are_counted(inspected) -> None:
    assert dict(inspected("network_loop").counts) == {"copy": 2, "add": 1, "loop": 1}


def test_a_batch_without_end(inspected) -> None:
    shape = inspected("unbounded").main.inputs[0].shape
    assert shape.dimensions == (1, 3, 8, 8)
    assert shape.ranges == (SizeRange(1, None), SizeRange(3, 3), SizeRange(8, 64), SizeRange(8, 64))


def test_what_can_be_trained_on_the_device_says_so(inspected) -> None:
    names = {"updatable", "neighbors", "network"}
    assert {name for name in names if inspected(name).updatable} == {"updatable", "neighbors"}


@pytest.mark.parametrize(
    ("name", "kind", "features"),
    [
        ("trees", "tree ensemble classifier", ["Double", "Int64", "String", "String"]),
        ("linear", "glm classifier", ["Double", "String"]),
        ("neighbors", "k nearest neighbors classifier", ["Float32", "String", "String"]),
        ("custom_model", "custom model", []),
    ],
)
def test_other_kinds_have_an_interface_and_no_operations(inspected, name: str, kind: str, features: list[str]) -> None:
    model = inspected(name)
    assert (model.kind, model.counts, model.main.conversions) == (kind, (), None)
    assert [entry.element for entry in model.main.features] == features
    # Not counted is not none.
    assert (model.weights.state, model.weights.bytes, model.weights.tensors) == (WeightState.UNKNOWN, None, None)
    assert f"parameters of a {kind}" in model.weights.reason


def test_a_pipeline_of_other_kinds(inspected) -> None:
    model = inspected("classifying_pipeline")
    assert model.kind == "pipeline classifier"
    assert [stage.kind for stage in model.stages] == ["feature vectorizer", "glm classifier"]
    assert [feature.name for feature in model.main.features] == ["a", "b", "label"]
    assert model.weights.bytes is None


def test_a_compute_unit_that_the_file_asks_for_is_told(tmp_path) -> None:
    message = message_types().Model(specificationVersion=9)
    function = message.mlProgram.functions["main"]
    function.opset = "CoreML8"
    operation = function.block_specializations["CoreML8"].operations.add(type="relu")
    asked = operation.attributes["IntendedBackend"]
    asked.type.tensorType.dataType = 2
    asked.immediateValue.tensor.strings.values.append("ane")
    path = tmp_path / "placed.mlmodel"
    path.write_bytes(message.SerializeToString())
    assert [entry.backend for entry in read_model(path).main.operations] == ["ane"]


def test_a_function_by_another_name_than_main_is_found(tmp_path) -> None:
    message = message_types().Model(specificationVersion=8)
    function = message.mlProgram.functions["predict"]
    function.opset = "CoreML7"
    function.block_specializations["CoreML7"].operations.add(type="relu")
    path = tmp_path / "named.mlmodel"
    path.write_bytes(message.SerializeToString())
    model = read_model(path)
    assert (model.main.name, model.counts) == ("predict", (("relu", 1),))


def test_the_specification_inside_a_package_has_the_weights_beside_it(built_models) -> None:
    package = built_models / "float16_interface.mlpackage"
    inner = read_model(package / "Data/com.apple.CoreML/model.mlmodel")
    assert (inner.form, inner.weights.state) == (Form.MODEL, WeightState.FILE)
    assert inner.weights == read_model(package).weights


def test_a_specification_away_from_its_weights_misses_them(built_models, tmp_path) -> None:
    data = (built_models / "float16_interface.mlpackage/Data/com.apple.CoreML/model.mlmodel").read_bytes()
    (tmp_path / "alone.mlmodel").write_bytes(data)
    assert read_model(tmp_path / "alone.mlmodel").weights.state is WeightState.MISSING
    assert read_piped(BytesIO(data)).weights.state is WeightState.MISSING


def test_who_casts_is_named(inspected) -> None:
    model = inspected("passed_state")
    casts = {entry.name for entry in model.main.operations if entry.type == "cast"}
    assert {entry.operation for entry in model.main.conversions} == casts
    assert isinstance(model.main.conversions[0], Conversion)
