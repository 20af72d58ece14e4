"""Facts of models that are built for them. What is expected is what was built."""

from __future__ import annotations

import pytest

from support.models import CHANNELS, TARGETS, WEIGHTS
from tracekit.model_files import Conversion, FeatureKind, Form, Kind, SizeRange, WeightState, read_model
from tracekit.model_files.specification import message_types


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


@pytest.mark.parametrize(("name", "color"), [("image_rgb", "RGB"), ("image_gray", "Grayscale")])
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


@pytest.mark.parametrize(
    ("name", "technique", "bits", "granularity", "size"),
    [
        ("palettized_4bit", ("palettized",), 4, "per tensor", WEIGHTS // 2 + 16 * 2),
        # Four groups of eight channels, each with a palette of 16 entries of 16 bits.
        ("palettized_groups", ("palettized",), 4, "per group", WEIGHTS // 2 + 4 * 16 * 2),
        # iOS 16 stores a zero point for each channel beside its scale.
        ("quantized_8bit", ("quantized",), 8, "per channel", WEIGHTS + CHANNELS * (2 + 1)),
        ("quantized_tensor", ("quantized",), 8, "per tensor", WEIGHTS),
        # Two blocks of 16 along the input channels; a scale of 16 bits for each.
        ("quantized_blocks", ("quantized",), 4, "per block", WEIGHTS // 2 + CHANNELS * 2 * 2),
        ("pruned", ("pruned",), 16, None, WEIGHTS // 2 * 2 + WEIGHTS // 8),
        ("pruned_quantized", ("pruned", "quantized"), 8, "per channel", WEIGHTS // 2 + WEIGHTS // 8 + CHANNELS * 2),
        ("float16_interface", (), 16, None, 2 * WEIGHTS),
    ],
)
def test_compressed_weights(inspected, name: str, technique, bits: int, granularity: str | None, size: int) -> None:
    weights = inspected(name).weights
    (weight,) = weights.tensors
    assert weights.state is WeightState.FILE
    assert (weight.count, weight.element) == (WEIGHTS, "Float16")
    assert (weight.technique, weight.bits, weight.granularity) == (technique, bits, granularity)
    assert weight.bytes == weights.bytes == size


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


def test_who_casts_is_named(inspected) -> None:
    model = inspected("passed_state")
    casts = {entry.name for entry in model.main.operations if entry.type == "cast"}
    assert {entry.operation for entry in model.main.conversions} == casts
    assert isinstance(model.main.conversions[0], Conversion)
