"""Compiled models and the compiler's JSON, read without coremltools.

Only a Mac compiles, so that texts stand for what the compiler writes: in the form of the one compiled model of the
corpus (opset ios16), and of opset ios18 as public converters write it.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from tracekit.model_files.facts import FeatureKind, Form, Kind, SizeRange, WeightState
from tracekit.model_files.read import read_model
from tracekit.model_files.untrusted import UnreadableModel
from tracekit.model_files.versions import opset_name

HEAD = (
    'program(1.0)\n[buildInfo = dict<tensor<string, []>, tensor<string, []>>({{"coremlc-version", "3402.4.1"}})]\n{\n'
)
IOS16 = (
    HEAD
    + """\
    func main<ios16>(tensor<fp32, [1, 3, 8, 8]> x) {
            tensor<fp32, []> scale = const()[name = tensor<string, []>("scale"), val = tensor<fp32, []>(0x1p-8)];
            tensor<fp32, [1, 3, 8, 8]> scaled = mul(x = x, y = scale)[name = tensor<string, []>("scaled")];
            tensor<string, []> half = const()[name = tensor<string, []>("half"), val = tensor<string, []>("fp16")];
            tensor<fp16, [1, 3, 8, 8]> x_16 = cast(dtype = half, x = scaled)[name = tensor<string, []>("cast_in")];
            tensor<fp16, [4, 3, 1, 1]> w = const()[name = tensor<string, []>("w"), val = tensor<fp16, [4, 3, 1, 1]>\
(BLOBFILE(path = tensor<string, []>("@model_path/weights/weight.bin"), offset = tensor<uint64, []>(64)))];
            tensor<fp16, [1, 4, 8, 8]> y_16 = conv(weight = w, x = x_16)[name = tensor<string, []>("conv")];
            tensor<string, []> single = const()[name = tensor<string, []>("s"), val = tensor<string, []>("fp32")];
            tensor<fp32, [1, 4, 8, 8]> y = cast(dtype = single, x = y_16)[name = tensor<string, []>("cast_out")];
        } -> (y);
}
"""
)
IOS18 = """\
program(1.3)
{
    func main<ios18>(state<tensor<fp16, [1, 4]>> memory, tensor<fp16, [1, ?]> x) {
            tensor<uint4, [64, 64]> idx = const()[name = string("idx"), val = tensor<uint4, [64, 64]>\
(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64)))];
            tensor<fp16, [1, 1, 16, 1]> lut = const()[name = string("lut"), val = tensor<fp16, [1, 1, 16, 1]>\
(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(2176)))];
            tensor<fp16, [64, 64]> w = constexpr_lut_to_dense(indices = idx, lut = lut)[name = string("w")];
            tensor<fp16, [1, 4]> old = read_state(input = memory)[name = string("old")];
            tensor<fp16, [1, ?]> y = linear(weight = w, x = x)[name = string("y")];
            write_state(data = y, input = memory)[name = string("kept")];
        } -> (y);
}
"""


def item(name: str, **keys: object) -> dict[str, object]:
    return {"name": name, "type": "MultiArray", "dataType": "Float32", "shape": "[1, 3, 8, 8]", **keys}


DOCUMENT: dict[str, object] = {
    "metadataOutputVersion": "3.0",
    "specificationVersion": 7,
    "computePrecision": "Mixed (Float16, Float32)",
    "storagePrecision": "Float16",
    "mlProgramOperationTypeHistogram": {
        "Ios16.conv": 1,
        "Ios16.cast": 2,
        "Ios16.constexprLutToDense": 3,
        "Ios16.mul": 1,
    },
    "modelType": {"name": "MLModelType_mlProgram"},
    "availability": {"iOS": "16.0", "visionOS": "1.0"},
    "inputSchema": [item("x")],
    "outputSchema": [item("y", shape="[]")],
    "stateSchema": [],
    "generatedClassName": "Own",
    "isUpdatable": "0",
    "userDefinedMetadata": {"com.github.apple.coremltools.version": "9.0"},
}


def blob(*sizes: int) -> bytes:
    """A weight file of version 2 with tensors of these sizes in bytes."""
    data = bytearray(struct.pack("<II", len(sizes), 2).ljust(64, b"\0"))
    for size in sizes:
        start = len(data)
        data += struct.pack("<IIQQ", 0xDEADBEEF, 1, size, start + 64).ljust(64, b"\0") + bytes(size)
        data += bytes(-len(data) % 64)
    return bytes(data)


def compiled(
    folder: Path, program: str | None, document: dict[str, object] | None = None, weights: bytes = b""
) -> Path:
    model = folder / "Own.mlmodelc"
    (model / "weights").mkdir(parents=True)
    (model / "metadata.json").write_text(json.dumps([document or DOCUMENT]), "utf-8")
    if program is not None:
        (model / "model.mil").write_text(program, "utf-8")
    if weights:
        (model / "weights" / "weight.bin").write_bytes(weights)
    return model


def test_an_opset_has_one_name_in_every_form(tmp_path):
    """`CoreML6` is the name that specifications have for the `ios16` of programs."""
    (tmp_path / "alone.json").write_text(json.dumps([DOCUMENT]), "utf-8")
    assert read_model(tmp_path / "alone.json").main.opset == "CoreML6"
    assert read_model(compiled(tmp_path / "16", IOS16)).main.opset == "CoreML6"
    # The program knows better than the operations that the compiler counted.
    assert read_model(compiled(tmp_path / "18", IOS18)).main.opset == "CoreML8"
    newer = compiled(tmp_path / "new", IOS18.replace("<ios18>", "<ios99>"))
    assert read_model(newer).main.opset == "ios99"


@pytest.mark.parametrize("release", ["15", "16", "17", "18", "26"])
def test_opsets_are_those_of_coremltools(release):
    ct = pytest.importorskip("coremltools")
    assert opset_name(f"ios{release}") == opset_name(f"Ios{release}") == ct._OPSET[getattr(ct.target, f"iOS{release}")]


def test_the_text_of_a_compiled_program_tells_what_its_package_would(tmp_path):
    model = read_model(compiled(tmp_path, IOS16, weights=blob(24)))
    assert (model.name, model.form) == ("Own", Form.COMPILED)
    assert (model.kind, model.specification_version) == (Kind.ML_PROGRAM, 7)
    assert dict(model.counts) == {"cast": 2, "conv": 1, "mul": 1}
    assert model.main.precision == ("Float16",)
    # The scale of the input stands before its cast.
    assert [(entry.feature, entry.outside, entry.inside, entry.operation) for entry in model.main.conversions] == [
        ("x", "Float32", "Float16", "cast_in"),
        ("y", "Float32", "Float16", "cast_out"),
    ]
    (weight,) = model.weights.tensors
    assert (weight.name, weight.element, weight.count, weight.bytes) == ("w", "Float16", 12, 24)
    assert model.weights.state is WeightState.FILE
    assert model.main.outputs[0].shape is None


def test_states_palettes_and_unknown_sizes_of_the_newer_text(tmp_path):
    document = DOCUMENT | {
        "specificationVersion": 9,
        "inputSchema": [item("x", dataType="Float16", shape="[1, 4]")],
        "outputSchema": [item("y", dataType="Float16")],
        "stateSchema": [{"name": "memory", "type": "State", "dataType": "Float16", "shape": "[1, 4]"}],
    }
    model = read_model(compiled(tmp_path, IOS18, document, blob(2048, 32)))
    assert model.weights.state is WeightState.FILE, model.weights.reason
    (weight,) = model.weights.tensors
    assert (weight.technique, weight.bits, weight.granularity) == (("palettized",), 4, "per tensor")
    assert (weight.count, weight.bytes) == (64 * 64, 64 * 64 // 2 + 32)
    (state,) = model.main.states
    assert (state.kind, state.shape.dimensions) == (FeatureKind.STATE, (1, 4))
    shapes = {value.name: value.dimensions for entry in model.main.operations for value in entry.outputs}
    assert shapes["y"] == (1, None)
    assert model.main.conversions == ()


def test_the_json_alone_tells_the_interface_and_counts(tmp_path):
    path = tmp_path / "from-a-mac.json"
    path.write_text(json.dumps([DOCUMENT]), "utf-8")
    model = read_model(path)
    assert (model.name, model.form) == ("Own", Form.COMPILER_JSON)
    assert dict(model.counts) == {"cast": 2, "conv": 1, "mul": 1}
    assert model.main.precision == ("Float16", "Float32")
    assert [(entry.feature, entry.direction, entry.operation) for entry in model.main.conversions] == [
        ("x", "input", None),
        ("y", "output", None),
    ]
    assert (model.weights.state, model.weights.bytes, model.weights.precision) == (WeightState.UNKNOWN, None, "Float16")
    assert dict(model.availability)["visionOS"] == "1.0"


def test_flexible_shapes_and_images_of_the_json(tmp_path):
    path = tmp_path / "shapes.json"
    inputs = [
        item(
            "ranged", hasShapeFlexibility="1", shapeFlexibility="0...4", shapeRange="[[0, -1], [4, 4]]", shape="[1, 4]"
        ),
        item("listed", shapeFlexibility="1 | 2", enumeratedShapes="[[1], [2]]", shape="[1]"),
        {"name": "photo", "type": "Image", "width": "640", "height": "480", "colorspace": "RGB", "isColor": "1"},
        {"name": "half", "type": "Image", "width": "8", "height": "4", "colorspace": "Grayscale16Half"},
    ]
    path.write_text(json.dumps([DOCUMENT | {"inputSchema": inputs}]), "utf-8")
    ranged, listed, photo, half = read_model(path).main.inputs
    assert ranged.shape.ranges == (SizeRange(0, None), SizeRange(4, 4))
    assert listed.shape.choices == ((1,), (2,))
    assert (photo.shape.dimensions, photo.element, photo.color_space) == ((480, 640), "UInt8", "RGB")
    assert (half.shape.dimensions, half.element) == ((4, 8), "Float16")


def test_functions_and_stages_of_the_json(tmp_path):
    functions = [{"name": "decode", "inputSchema": [item("token")]}, {"name": "encode", "inputSchema": [item("text")]}]
    path = tmp_path / "functions.json"
    path.write_text(json.dumps([DOCUMENT | {"functions": functions, "defaultFunctionName": "encode"}]), "utf-8")
    assert [function.name for function in read_model(path).functions] == ["encode", "decode"]
    staged = {"name": "MLModelType_pipeline", "structure": [{"name": "MLModelType_neuralNetwork"}] * 2}
    path.write_text(json.dumps([DOCUMENT | {"modelType": staged}]), "utf-8")
    model = read_model(path)
    assert (model.kind, [stage.kind for stage in model.stages]) == (Kind.PIPELINE, [Kind.NEURAL_NETWORK] * 2)


@pytest.mark.parametrize(
    ("weights", "state", "words"),
    [
        (b"", WeightState.MISSING, "is missing"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", WeightState.POINTER, "git lfs pull"),
        (blob(24)[:140], WeightState.DAMAGED, "is truncated: it has 140 bytes"),
        (blob(8), WeightState.DAMAGED, "does not belong to this model"),
        (bytes(256), WeightState.DAMAGED, "is not a weight file"),
    ],
)
def test_what_is_wrong_with_weights_is_said(tmp_path, weights, state, words):
    model = read_model(compiled(tmp_path, IOS16, weights=weights))
    assert model.weights.state is state
    assert words in model.weights.reason
    # What the program declares is known all the same.
    assert model.weights.bytes == 24


def test_damaged_texts_and_old_networks_are_refused(tmp_path):
    for program, words in (("", "does not begin with a program"), (IOS16[:400], "no function in it is complete")):
        with pytest.raises(UnreadableModel, match=words):
            read_model(compiled(tmp_path / words, program))
    model = tmp_path / "Old.mlmodelc"
    model.mkdir()
    (model / "model.espresso.net").write_text("{}", "utf-8")
    with pytest.raises(UnreadableModel, match=r"compiled neural network.*inspect the \.mlmodel"):
        read_model(model)


def test_a_file_that_every_compiled_model_has_is_missed(tmp_path):
    model = compiled(tmp_path, IOS16)
    assert read_model(model).absent == ("coremldata.bin",)
    (model / "coremldata.bin").write_bytes(b"\0")
    assert read_model(model).absent == ()
