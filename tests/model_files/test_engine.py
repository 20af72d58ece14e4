"""Whether a model will run on the Neural Engine: models on both sides of each limit, and every kind of model."""

from __future__ import annotations

import fcntl
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from support.models import needs_coremltools
from support.models.kinds import KINDS, NETWORKS, network_with, of_kind, piped
from support.models.limits import LABELED, labeled_facts
from tracekit.detectors.model_rules.converter_faults import VERSION
from tracekit.detectors.model_runner import run_model_detectors
from tracekit.detectors.outcomes import DetectorFailed, Finding, NotApplicable, NotEvaluated, Passed
from tracekit.errors import UsageError
from tracekit.model_files.compiled import functions_of
from tracekit.model_files.engine import placements_of, verdict
from tracekit.model_files.engine_limits import Bounds, chip_of, parse_chip
from tracekit.model_files.facts import ModelFile
from tracekit.model_files.read import read_model
from tracekit.model_files.versions import parse_target

pytestmark = needs_coremltools

ABOUT = {
    "float32-compute", "weight-file-size", "state-shapes", "unsupported-dimensions", "unsupported-operations",
    "sequential-operations", "engine-pieces", "flexible-shapes", "per-block-weights",
}  # fmt: skip
"""Checks about the Neural Engine."""


@pytest.fixture(scope="session")
def labeled(shared_folder: Path) -> Callable[[str], ModelFile]:
    """Facts of a labeled model by its name. The process that comes first builds them."""
    file = shared_folder / "labeled.pickle"
    with (shared_folder / "labeled.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            file.write_bytes(pickle.dumps(labeled_facts()))
    return pickle.loads(file.read_bytes()).__getitem__  # noqa: S301 - it was written above


def said(model, chip: str | None = None, system: str | None = None, **bounds: int) -> list[str]:
    target = parse_target(system) if system else None
    placed = placements_of(model, parse_chip(chip) if chip else None, target, Bounds(**bounds))
    return [verdict(each) for each in placed]


def outcomes(model, chip: str | None = None, system: str | None = None) -> dict:
    target = parse_target(system) if system else None
    judged = run_model_detectors(model, target, chip=parse_chip(chip) if chip else None)
    return {each.detector.id: each.outcome for each in judged}


@pytest.mark.parametrize("name", LABELED)
def test_every_labeled_model_gets_its_verdict_and_its_findings(labeled, name: str) -> None:
    assert said(labeled(name)) == [LABELED[name].verdict]
    answers = outcomes(labeled(name))
    assert {key for key in ABOUT if isinstance(answers[key], Finding)} == set(LABELED[name].findings)
    assert not any(isinstance(each, DetectorFailed) for each in answers.values())


@pytest.mark.parametrize(
    ("name", "chip", "right"),
    [
        ("sin", "M2 Pro", "likely, all but 1 of 3 operations (sin: 3 pieces, 2 hand-offs)"),
        ("sin", "A16", "likely, all of it"),
        ("width_16385", "M3", "no: relu, exp, sqrt"),
        ("width_16385", "A17 Pro", "likely, all of it"),
        ("kernel_15", "M1", "likely, all but 1 of 3 operations (conv: 3 pieces, 2 hand-offs)"),
        ("kernel_15", "m5", "likely, all of it"),
        ("width_65537", "M5", "no: relu, exp, sqrt"),
    ],
)
def test_the_chip_decides_what_the_file_leaves_open(labeled, name: str, chip: str, right: str) -> None:
    assert said(labeled(name), chip) == [right]
    found = {key for key in ABOUT if isinstance(outcomes(labeled(name), chip)[key], Finding)}
    assert bool(found) is (right != "likely, all of it")


@pytest.mark.parametrize(
    ("device", "generation"),
    [
        ("iPhone 13 Pro Max", 14),
        ("iPhone 14", 14),
        ("iPhone 15 Pro", 16),
        ("iPhone 16 Plus", 16),
        ("iPhone Air", 17),
        ("MacBook Pro", None),
    ],
)
def test_names_of_devices_tell_the_chip_where_they_do(device, generation) -> None:
    assert chip_of(device) == generation


def test_chips_of_one_generation_have_one_engine() -> None:
    # H13 to H17 of the reference.
    for phone, mac in (("A14", "M1"), ("A15", "M2"), ("A16", "M3"), ("A17 Pro", "M4"), ("A18", "M4"), ("A19", "M5")):
        assert parse_chip(phone) == parse_chip(mac)


def test_a_chip_that_is_not_known_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown chip"):
        parse_chip("Snapdragon")


@pytest.mark.parametrize(
    ("size", "system", "right"),
    [
        (1_072_681_458, "macOS27", "likely, all of it"),
        (1_074_770_418, "macOS27", "no: on macOS 27 and later its weight file is too large (1 GiB)"),
        (1_074_770_418, "macOS26", "likely, all of it"),
        (1_074_770_418, "iOS27", "likely, all of it"),
        (1_074_770_418, None, "not known: on macOS 27 and later its weight file is too large (1 GiB)"),
        (2_147_483_649, "macOS26", "no: its weight file is larger than 2 GiB"),
    ],
)
def test_the_system_decides_how_large_weights_may_be(labeled, size: int, system: str | None, right: str) -> None:
    model = labeled("float16")
    heavy = replace(model, weights=replace(model.weights, bytes=size))
    assert said(heavy, system=system) == [right]
    assert isinstance(outcomes(heavy, system=system)["weight-file-size"], Finding) is (right != "likely, all of it")


def test_thresholds_can_be_set(labeled) -> None:
    assert said(labeled("state_270"), state_multiple=10) == ["likely, all of it"]
    assert said(labeled("tensor_4096"), max_elements=1_000_000) == ["no: relu, exp, sqrt"]
    judged = run_model_detectors(labeled("pieces_9"), settings={"engine-pieces.max_pieces": "8"})
    assert isinstance({each.detector.id: each.outcome for each in judged}["engine-pieces"], Finding)


def test_what_a_check_says_names_operations_chips_and_certainty(labeled) -> None:
    summary = outcomes(labeled("kernel_15"))["unsupported-operations"].summary
    assert "1 `conv` on A14, M1 and older (kernel wider than 13; measured)" in summary
    assert "`x` (1 × 4 × 1 × 16385)" in outcomes(labeled("width_16385"))["unsupported-dimensions"].summary
    assert "288" in outcomes(labeled("state_270"))["state-shapes"].fix
    assert "narrower" in outcomes(labeled("kernel_17"))["unsupported-operations"].fix


def said_by(answers: dict, right: dict) -> dict:
    """The class of each answer, with the words that are right where it has them, and all that it says where not."""
    texts = {key: getattr(each, "reason", getattr(each, "summary", "")) for key, each in answers.items()}
    return {
        key: (type(each), words if (words := right.get(key, (None, "-"))[1]) in texts[key] else texts[key])
        for key, each in answers.items()
    }


OF_OPERATIONS = (
    "interface-conversion", "float32-compute", "unsupported-dimensions", "unsupported-operations",
    "sequential-operations", "engine-pieces",
)  # fmt: skip
OF_WEIGHTS = ("weight-file-size", "per-block-weights", "uncompressed-weights")
EVERY_KIND = {
    "deployment-target": (NotEvaluated, "was not given"),
    "load-failure": (Passed, "source form"),
    "custom-layers": (Passed, "No custom layers"),
    "state-shapes": (NotApplicable, "has no states"),
    "state-in-interface": (Passed, "No state is passed"),
    "converter-faults": (NotApplicable, "no version of coremltools"),
}
"""What is right to say of every kind, by check."""


@pytest.mark.parametrize("kind", NETWORKS)
@pytest.mark.parametrize(
    ("layer", "check", "found"),
    [
        ("convolution", None, None),
        ("convolution_stride_5", "unsupported-operations", "1 `convolution` (stride not made of 2s and 3s"),
        ("convolution_17", "unsupported-operations", "1 `convolution` (kernel wider than 15"),
        ("deconvolution_3", "unsupported-operations", "1 `convolution` (odd stride"),
        ("deconvolution_2", None, None),
        ("average_33", "unsupported-operations", "1 `pooling` (kernel above 31"),
        ("maximum_33", None, None),
        ("topK", "unsupported-operations", "1 `top_k`"),
        ("convolution3d", "unsupported-operations", "1 `convolution3d` (3 spatial dimensions"),
        ("uniDirectionalLSTM", "sequential-operations", "1 `uni_directional_lstm`"),
        ("custom", "custom-layers", "`Own`"),
        ("gather_computed", "unsupported-operations", "1 `gather` (computed index"),
        ("gather_fixed", None, None),
        ("getShape", None, None),
        ("channels_65537", "unsupported-dimensions", "65537"),
        ("channels_20000", None, None),
    ],
)
def test_networks_classifiers_and_regressors_are_judged_alike(kind, layer, check, found) -> None:
    """Alone, and as a stage of each kind of pipeline."""
    for model in (network_with(kind, layer), piped("pipelineClassifier", kind, layer), piped("pipeline", kind, layer)):
        answers = outcomes(model)
        of_engine = ABOUT | {"custom-layers"}
        assert {key for key in of_engine if isinstance(answers[key], Finding)} == ({check} if check else set())
        assert found is None or found in answers[check].summary
        answered = dict.fromkeys(answers, (Passed, ""))
        right = answered | EVERY_KIND | dict.fromkeys(OF_OPERATIONS[:2], (NotApplicable, "does not fix the type"))
        weighted = layer != "convolution3d" and "convolution" in layer
        none = "are not counted." if model.stages and not weighted else "o weights"
        right |= dict.fromkeys(OF_WEIGHTS, (NotApplicable, none))
        if weighted:
            right |= {"weight-file-size": (Passed, "64 bytes"), "uncompressed-weights": (Passed, "large enough")}
        if check:
            right[check] = (Finding, found)
        assert said_by(answers, right) == right


@pytest.mark.parametrize("kind", KINDS)
def test_models_of_every_other_kind_are_told_the_truth(kind: str) -> None:
    """Nothing is found in them that nobody could change, and what does not apply has a reason that is true."""
    answers = outcomes(of_kind(kind))
    assert (said(of_kind(kind))[0] == "no: a class of the app computes it") is (kind == "customModel")
    right = EVERY_KIND | dict.fromkeys(OF_OPERATIONS, (NotApplicable, KINDS[kind]))
    right |= dict.fromkeys(OF_WEIGHTS, (NotApplicable, "are not counted."))
    right["flexible-shapes"] = (NotApplicable, KINDS[kind])
    if KINDS[kind] == "Apple's own":
        right["flexible-shapes"] = (Passed, "takes any size")
    if kind == "customModel":
        right["custom-layers"] = (Finding, "Needs `Own` in the app")
        assert "MLCustomModel" in answers["custom-layers"].fix
    if kind == "linkedModel":
        right["custom-layers"] = (NotApplicable, KINDS[kind])
    assert said_by(answers, right) == right


@pytest.mark.parametrize(
    ("name", "version", "states", "found"),
    [
        ("int4_channels", "9.0", True, None),
        ("palettes_4", "9.0", True, "4-bit palettes beside states"),
        ("palettes_4", "9.0", False, None),
        ("palettes_4", "8.3.0", True, None),
        ("palettes_scaled", "9.0", False, "a scale per channel"),
        ("palettes_scaled", "8.3.0", False, None),
        ("palettes_4", None, True, None),
    ],
)
def test_faults_of_a_version_need_what_they_are_about(labeled, name, version, states, found) -> None:
    model = labeled(name)
    kept = {VERSION: version} if version else {}
    model = replace(model, metadata=replace(model.metadata, user_defined=kept))
    if states:
        model = replace(model, functions=(replace(model.main, states=labeled("state_256").main.states),))
    answer = outcomes(model)["converter-faults"]
    assert isinstance(answer, Finding) is (found is not None)
    assert found is None or found in answer.summary


def test_the_sample_model_is_what_its_builder_makes(labeled) -> None:
    kept = read_model(Path(__file__).resolve().parents[2] / "sample_models" / "SharpenFilter.mlpackage")
    assert (kept.functions, kept.weights.bytes) == (labeled(kept.name).functions, labeled(kept.name).weights.bytes)


def test_strides_are_read_from_the_text_of_a_compiled_model(labeled, labeled_text: str) -> None:
    (function,) = functions_of(labeled_text)
    model = replace(labeled("float16"), functions=(function,))
    assert said(model) == ["no: conv"]


@pytest.fixture
def labeled_text() -> str:
    return """program(1.0)
{
    func main<ios16>(tensor<fp16, [1, 4, 20, 20]> x) {
            tensor<int32, [2]> st = const()[name = string("st"), val = tensor<int32, [2]>([5, 5])];
            tensor<fp16, [8, 4, 3, 3]> w = const()[name = string("w"), val = tensor<fp16, [8, 4, 3, 3]>(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64)))];
            tensor<fp16, [1, 8, 4, 4]> y = conv(strides = st, weight = w, x = x)[name = string("y")];
        } -> (y);
}
"""  # noqa: E501
