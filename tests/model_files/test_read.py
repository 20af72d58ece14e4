"""Facts of models that are built for them. What is expected is what was built."""

from io import BytesIO

import pytest

from support.models import TARGETS, WEIGHTS, needs_coremltools
from tracekit.model_files.facts import Conversion, FeatureKind, Form, Kind, SizeRange, WeightState
from tracekit.model_files.read import message_types, read_model, read_piped

pytestmark = needs_coremltools


@pytest.mark.parametrize(("target", "version"), TARGETS.items())
def test_each_deployment_target_has_its_version_and_its_conversions(inspected, target, version):
    model = inspected(f"target_{target}")
    assert (model.form, model.kind, model.specification_version) == (Form.PACKAGE, Kind.ML_PROGRAM, version)
    assert model.name == f"target_{target}"
    assert dict(model.counts) == {"conv": 1, "relu": 1, "cast": 2}
    assert model.main.precision == ("Float16",)
    assert [(entry.feature, entry.direction, entry.outside, entry.inside) for entry in model.main.conversions] == [
        ("x", "input", "Float32", "Float16"),
        ("y", "output", "Float32", "Float16"),
    ]


@pytest.mark.parametrize(
    ("name", "precision", "conversions"),
    [
        ("float16_interface", "Float16", []),
        ("float32_compute", "Float32", []),
        ("int8_interface", "Float16", ["x input Int8 Float16"]),
        ("int8_both_ways", "Float16", ["x input Int8 Float16", "y output Int8 Float16"]),
        ("image_half", "Float16", ["y output Float32 Float16"]),
        ("image_to_image", "Float16", ["picture input UInt8 Float16 image", "y output UInt8 Float16 image"]),
        # The scaling before the cast is Float32, and is no part of what the model computes.
        ("channels_last", "Float16", ["x input Float32 Float16", "y output Float32 Float16"]),
        # What is computed in Float32 last needs no conversion to leave the model.
        ("mixed", "Float16 Float32", ["x input Float32 Float16"]),
    ],
)
def test_precision_and_conversions(inspected, name, precision, conversions):
    main = inspected(name).main
    assert " ".join(main.precision) == precision
    assert [
        f"{entry.feature} {entry.direction} {entry.outside} {entry.inside}{' image' * entry.image}"
        for entry in main.conversions
    ] == conversions


@pytest.mark.parametrize(
    ("name", "features"),
    [
        ("float16_interface", ["x array Float16 None (1, 32, 8, 8)", "y array Float16 None (1, 32, 8, 8)"]),
        ("int8_both_ways", ["x array Int8 None (1, 4)", "y array Int8 None (1, 4)"]),
        ("image_half", ["picture image Float16 Grayscale16Half (8, 8)", "y array Float32 None (1, 1, 8, 8)"]),
        ("image_to_image", ["picture image UInt8 RGB (8, 8)", "y image UInt8 RGB (8, 8)"]),
    ],
)
def test_features_have_kind_type_color_space_and_fixed_shape(inspected, name, features):
    shown = [
        f"{entry.name} {entry.kind} {entry.element} {entry.color_space} {entry.shape.dimensions}"
        for entry in inspected(name).main.features
        if not entry.shape.flexible
    ]
    assert shown == features


@pytest.mark.parametrize(("name", "color"), [("image_rgb", "RGB"), ("image_bgr", "BGR"), ("image_gray", "Grayscale")])
def test_the_conversion_of_an_image_is_found_behind_its_scale(inspected, name, color):
    model = inspected(name)
    picture = model.main.inputs[0]
    assert (picture.kind, picture.color_space, picture.element) == (FeatureKind.IMAGE, color, "UInt8")
    assert picture.shape.dimensions == (8, 8)
    first = model.main.conversions[0]
    assert (first.feature, first.direction, first.outside, first.inside) == ("picture", "input", "UInt8", "Float16")
    assert first.image
    assert model.main.precision == ("Float16",)


def test_an_8_bit_integer_interface_needs_a_version(inspected):
    assert inspected("int8_interface").specification_version == 10


def test_a_classifier_gives_a_label_and_probabilities(inspected):
    label, probabilities = inspected("classifier").main.outputs
    assert (label.kind, label.element, label.shape) == (FeatureKind.STRING, "String", None)
    assert (probabilities.kind, probabilities.element) == (FeatureKind.DICTIONARY, "String")


def test_flexible_shapes(inspected):
    enumerated, ranged, images, heights, unbounded = (
        inspected(name).main.inputs[0].shape
        for name in ("enumerated", "ranged", "image_sizes", "image_range", "unbounded")
    )
    assert (enumerated.dimensions, set(enumerated.choices)) == ((2, 4), {(1, 4), (2, 4), (8, 4)})
    assert (ranged.dimensions, ranged.ranges) == ((3, 4), (SizeRange(1, 16), SizeRange(4, 4)))
    assert (images.dimensions, images.choices) == ((8, 8), ((8, 8), (16, 24)))
    assert heights.ranges == (SizeRange(4, 64), SizeRange(8, None))
    assert images.axes == heights.axes == ("height", "width")
    assert unbounded.dimensions == (1, 3, 8, 8)
    assert unbounded.ranges == (SizeRange(1, None), SizeRange(3, 3), SizeRange(8, 64), SizeRange(8, 64))
    assert all(shape.flexible for shape in (enumerated, ranged, images, heights))
    # The specification gives no shape for them: that is not a scalar.
    assert [inspected(name).main.outputs[0].shape for name in ("enumerated", "ranged")] == [None, None]


def test_states_are_told_from_inputs(inspected):
    model = inspected("stateful")
    (state,) = model.main.states
    assert (state.name, state.kind, state.element) == ("memory", FeatureKind.STATE, "Float16")
    assert state.shape.dimensions == (1, 4)
    assert [feature.name for feature in model.main.inputs] == ["x"]


def test_functions_share_their_weights_which_have_the_size_of_their_type(inspected):
    model = inspected("multifunction")
    assert [function.name for function in model.functions] == ["decode", "encode"]
    assert [function.inputs[0].name for function in model.functions] == ["x", "x"]
    assert (model.weights.bytes, len(model.weights.tensors)) == (2 * WEIGHTS, 1)
    assert inspected("float32_compute").weights.bytes == 4 * WEIGHTS


def test_what_stands_in_conditions_and_loops_is_counted(inspected):
    condition = inspected("condition")
    assert {"cond": 1, "relu": 1, "sqrt": 1}.items() <= dict(condition.counts).items()
    # A condition has the type of what it chooses from.
    assert condition.main.precision == ("Float16",)
    assert dict(inspected("network_loop").counts) == {"copy": 2, "add": 1, "loop": 1}
    loop = inspected("loop")
    assert dict(loop.counts)["while_loop"] == 1
    assert {entry.type for entry in loop.main.operations if entry.depth == 1} >= {"less", "mul"}


def test_an_old_network_has_layers_and_weights_inside(inspected):
    model = inspected("network")
    assert (model.form, model.kind) == (Form.MODEL, Kind.NEURAL_NETWORK)
    assert model.counts == (("inner_product", 1),)
    assert model.main.inputs[0].element == "Double"
    assert (model.weights.state, model.weights.bytes) == (WeightState.INSIDE, 4 * (12 + 3))
    assert (model.main.precision, model.main.conversions) == (None, None)


def test_a_custom_layer_names_its_class(inspected):
    model = inspected("custom_layer")
    assert model.custom_layers == ("AppOwnLayer",)
    assert dict(model.counts)["custom"] == 1


def test_a_pipeline_has_stages(inspected):
    model = inspected("pipeline")
    assert model.kind == Kind.PIPELINE
    assert [stage.kind for stage in model.stages] == [Kind.NEURAL_NETWORK] * 2
    assert [feature.name for feature in model.stages[1].main.inputs] == ["between"]
    assert model.counts == (("inner_product", 2),)
    assert model.weights.bytes == 2 * 4 * (12 + 3)


def test_programs_in_a_row_keep_their_operations_and_weights(inspected):
    model = inspected("programs_in_a_row")
    assert (model.kind, model.specification_version) == (Kind.PIPELINE, 7)
    assert [(stage.kind, stage.main.precision) for stage in model.stages] == [(Kind.ML_PROGRAM, ("Float16",))] * 2
    assert (model.weights.state, model.weights.bytes) == (WeightState.FILE, 2 * 2 * WEIGHTS)


def test_what_can_be_trained_on_the_device_says_so(inspected):
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
def test_other_kinds_have_an_interface_and_no_operations(inspected, name, kind, features):
    model = inspected(name)
    assert (model.kind, model.counts, model.main.conversions) == (kind, (), None)
    assert [entry.element for entry in model.main.features] == features
    # Not counted is not none.
    assert (model.weights.state, model.weights.bytes, model.weights.tensors) == (WeightState.UNKNOWN, None, None)
    assert f"parameters of the {kind}" in model.weights.reason


def test_a_pipeline_of_other_kinds(inspected):
    model = inspected("classifying_pipeline")
    assert model.kind == "pipeline classifier"
    assert [stage.kind for stage in model.stages] == ["feature vectorizer", "glm classifier"]
    assert [feature.name for feature in model.main.features] == ["a", "b", "label"]
    assert model.weights.bytes is None


def test_a_function_may_have_any_name_and_ask_for_a_compute_unit(tmp_path):
    message = message_types().Model(specificationVersion=9)
    function = message.mlProgram.functions["predict"]
    function.opset = "CoreML8"
    operation = function.block_specializations["CoreML8"].operations.add(type="relu")
    asked = operation.attributes["IntendedBackend"]
    asked.type.tensorType.dataType = 2
    asked.immediateValue.tensor.strings.values.append("ane")
    path = tmp_path / "placed.mlmodel"
    path.write_bytes(message.SerializeToString())
    model = read_model(path)
    assert (model.main.name, model.counts) == ("predict", (("relu", 1),))
    assert [entry.backend for entry in model.main.operations] == ["ane"]


def test_a_specification_has_the_weights_beside_it_and_misses_them_elsewhere(built_models, tmp_path):
    package = built_models / "float16_interface.mlpackage"
    inside = package / "Data/com.apple.CoreML/model.mlmodel"
    inner = read_model(inside)
    assert (inner.form, inner.weights.state) == (Form.MODEL, WeightState.FILE)
    assert inner.weights == read_model(package).weights
    (tmp_path / "alone.mlmodel").write_bytes(inside.read_bytes())
    assert read_model(tmp_path / "alone.mlmodel").weights.state is WeightState.MISSING
    assert read_piped(BytesIO(inside.read_bytes())).weights.state is WeightState.MISSING


def test_who_casts_is_named(inspected):
    model = inspected("passed_state")
    casts = {entry.name for entry in model.main.operations if entry.type == "cast"}
    assert {entry.operation for entry in model.main.conversions} == casts
    assert isinstance(model.main.conversions[0], Conversion)
