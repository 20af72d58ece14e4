"""What each check finds in models that were built for it, and that it finds nothing in the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tracekit.detectors import model_runner, value_of
from tracekit.detectors.explanation import page_markdown
from tracekit.detectors.framework import InspectedModel
from tracekit.detectors.model_rules.state_in_interface import SOURCE
from tracekit.detectors.model_runner import MODEL_DETECTORS, run_model_detectors
from tracekit.detectors.outcomes import DetectorFailed, Finding, NotApplicable, NotEvaluated, Passed
from tracekit.detectors.registry import DETECTORS
from tracekit.errors import UsageError
from tracekit.model_files.facts import Form, Function, SizeRange, WeightState
from tracekit.model_files.versions import parse_target

CLEAN = (
    "float16_interface", "palettized_vectors", "palettized_quantized", "pruned_palettized", "quantized_channels",
    "image_to_image",
    "programs_in_a_row", "classifying_pipeline", "network_quantized", "updatable", "image_classifier", "linear",
    "trees", "neighbors", "palettized_4bit", "palettized_groups", "quantized_8bit", "pruned", "pipeline",
    "network",
)  # fmt: skip
CONVERTED = (
    "target_iOS17", "multifunction", "image_rgb", "int8_interface", "enumerated", "image_sizes",
    "int8_both_ways", "channels_last",
)  # fmt: skip
FOUND = {
    **{name: set() for name in CLEAN},
    **{name: {"interface-conversion"} for name in CONVERTED},
    **{name: {"sequential-operations"} for name in ("lstm", "lstm_both_ways", "network_loop")},
    "ranged": {"flexible-shapes", "interface-conversion"},
    "float32_compute": {"float32-compute"},
    "recurrent": {"float32-compute", "sequential-operations"},
    "loop": {"interface-conversion", "sequential-operations"},
    "long_input": {"unsupported-dimensions"},
    "passed_state": {"interface-conversion", "state-in-interface"},
    "quantized_blocks": {"per-block-weights"},
    "stateful": {"state-shapes"},
    "custom_layer": {"custom-layers"},
    "custom_model": {"custom-layers"},
    "condition": {"interface-conversion", "sequential-operations"},
    "unbounded": {"flexible-shapes"},
    "image_range": {"flexible-shapes", "interface-conversion"},
    "cast_weights": {"float32-compute"},
}
"""By model: what is wrong with it."""


def found(judgments) -> dict[str, Finding]:
    return {entry.detector.id: entry.outcome for entry in judgments if isinstance(entry.outcome, Finding)}


def answer(model, name: str, target: str | None = None, **settings):
    (judgment,) = run_model_detectors(
        model, parse_target(target) if target else None, only=[name], settings=settings or None
    )
    return judgment.outcome


@pytest.mark.parametrize("name", FOUND)
def test_each_model_has_the_findings_that_it_was_built_for(inspected, name: str) -> None:
    judgments = run_model_detectors(inspected(name))
    assert set(found(judgments)) == FOUND[name]
    assert len(judgments) == len(MODEL_DETECTORS)
    assert not any(isinstance(entry.outcome, DetectorFailed) for entry in judgments)


def test_every_check_finds_something_in_some_model() -> None:
    by_target_or_file = {"deployment-target", "load-failure", "uncompressed-weights", "weight-file-size"}
    # Their models are those of test_engine.py.
    by_target_or_file |= {"unsupported-operations", "engine-pieces", "converter-faults"}
    assert set().union(*FOUND.values()) | by_target_or_file == {detector.id for detector in MODEL_DETECTORS}


def test_a_conversion_names_input_type_and_direction_and_the_arguments_that_avoid_it(inspected) -> None:
    finding = answer(inspected("target_iOS15"), "interface-conversion")
    assert finding.summary == (
        "Converted in every prediction: input `x` (Float32 to Float16), output `y` (Float16 to Float32)."
    )
    assert 'inputs=[ct.TensorType(name="x", shape=(1, 32, 8, 8), dtype=np.float16)],' in finding.fix
    assert 'outputs=[ct.TensorType(name="y", dtype=np.float16)],' in finding.fix
    # Float16 interfaces need iOS 16, whatever the model was made for.
    assert "minimum_deployment_target=ct.target.iOS16," in finding.fix
    assert "iOS 16, macOS 13" in finding.fix
    assert "let x = try MLMultiArray(shape: [1, 32, 8, 8], dataType: .float16)" in finding.fix


def test_a_conversion_that_only_the_precision_tells_of_is_a_may(inspected) -> None:
    model = inspected("target_iOS16")
    bare = replace(model, functions=(replace(model.main, operations=None),))
    assert "may be converted in every prediction: input `x`" in answer(bare, "interface-conversion").summary


def test_gray_images_become_float16_and_color_ones_cannot(inspected) -> None:
    gray = answer(inspected("image_gray"), "interface-conversion")
    assert 'ct.ImageType(name="picture", color_layout=ct.colorlayout.GRAYSCALE_FLOAT16)' in gray.fix
    color = answer(inspected("image_rgb"), "interface-conversion")
    assert "8-bit color images (`picture`) have no Float16 form" in color.fix
    assert "GRAYSCALE_FLOAT16" not in color.fix
    both = answer(inspected("image_to_image"), "interface-conversion")
    assert isinstance(both, Passed)
    assert "output `y` (Float16 to 8-bit image)" in both.summary
    assert "input `picture` (8-bit image to Float16)" in color.summary


def test_8_bit_integers_become_float16(inspected) -> None:
    finding = answer(inspected("int8_both_ways"), "interface-conversion")
    assert "input `x` (Int8 to Float16), output `y` (Float16 to Int8)" in finding.summary
    assert 'inputs=[ct.TensorType(name="x", shape=(1, 4), dtype=np.float16)],' in finding.fix
    assert 'outputs=[ct.TensorType(name="y", dtype=np.float16)],' in finding.fix


def test_an_image_that_vision_scales_has_no_range_of_shapes_to_avoid(inspected) -> None:
    """The classifiers of Create ML take any size; nobody chooses it, and the network behind it sees one."""
    model = inspected("image_classifier")
    passed = answer(model, "flexible-shapes")
    assert isinstance(passed, Passed)
    assert passed.summary == "`image` goes to a model of Apple's own, which takes any size that is allowed."
    # The compiler's JSON has the kinds of the stages and not what they take.
    bare = replace(
        model, stages=tuple(replace(stage, functions=(Function("main", (), (), ()),)) for stage in model.stages)
    )
    assert isinstance(answer(bare, "flexible-shapes"), Passed)
    # Of trees and the like, nothing runs on the Neural Engine, and before a network the range is one.
    assert isinstance(answer(replace(model, stages=model.stages[1:]), "flexible-shapes"), NotApplicable)
    networks = replace(model, stages=(replace(inspected("network"), functions=model.functions),))
    assert isinstance(answer(networks, "flexible-shapes"), Finding)


def test_nobody_is_asked_to_move_a_loop_out_of_a_recurrent_layer(inspected) -> None:
    assert ".cpuOnly" in answer(inspected("lstm"), "sequential-operations").fix
    assert answer(inspected("network_loop"), "sequential-operations").fix == ""


def test_ranges_of_images_say_which_size_comes_first(inspected) -> None:
    finding = answer(inspected("image_range"), "flexible-shapes")
    assert "`picture` (8 or more × 4...64, width × height): a range of shapes" in finding.summary


def test_the_upper_bound_of_a_range_counts(inspected) -> None:
    model = inspected("ranged")
    shape = model.main.inputs[0].shape
    long = replace(shape, ranges=(SizeRange(1, 20_000), shape.ranges[1]))
    function = replace(model.main, inputs=(replace(model.main.inputs[0], shape=long),))
    finding = answer(replace(model, functions=(function,)), "unsupported-dimensions")
    assert "`x` (20000 × 4)" in finding.summary
    assert isinstance(answer(model, "unsupported-dimensions"), Passed)


def test_a_compiled_model_without_the_file_that_all_have_is_incomplete(inspected) -> None:
    model = replace(inspected("float16_interface"), form=Form.COMPILED)
    assert isinstance(answer(model, "load-failure"), Passed)
    broken = answer(replace(model, absent=("coremldata.bin",)), "load-failure")
    assert broken.summary == "Incomplete: `coremldata.bin` is missing."


def test_parameters_that_are_not_counted_are_no_weights(inspected) -> None:
    for name in ("uncompressed-weights", "per-block-weights"):
        outcome = answer(inspected("trees"), name)
        assert isinstance(outcome, NotApplicable)
        assert "Parameters of the tree ensemble classifier" in outcome.reason


def test_the_fix_of_a_range_lists_shapes(inspected) -> None:
    finding = answer(inspected("ranged"), "flexible-shapes")
    assert "`x` (1...16 × 4)" in finding.summary
    assert "ct.EnumeratedShapes([(3, 4), (1, 4), (16, 4)], default=(3, 4))" in finding.fix
    assert isinstance(answer(inspected("enumerated"), "flexible-shapes"), Passed)


def test_state_is_told_by_name_and_shape(inspected) -> None:
    finding = answer(inspected("passed_state"), "state-in-interface")
    assert value_of(finding.metrics, "state") == 2 * 64 * 32 * 4
    assert "ct.StateType(" in finding.fix
    # The filter of an image has the shape of its result too.
    assert isinstance(answer(inspected("float16_interface"), "state-in-interface"), Passed)


@pytest.mark.parametrize(
    ("name", "target", "words"),
    [
        ("stateful", "iOS17", "Does not load on iOS 17: specification version 9 needs iOS 18, macOS 15 or later."),
        ("stateful", "iOS17", "it would lose states"),
        ("int8_interface", "macOS15", "it would lose Int8 inputs or outputs"),
        ("float16_interface", "iOS15", "it would lose Float16 inputs or outputs"),
        ("multifunction", "iOS 17.4", "it would lose several functions"),
        ("target_iOS26", "iOS18", "Nothing in its interface or weights needs that"),
        ("target_iOS15", "iOS18", "it could have Float16 inputs and outputs"),
        ("passed_state", "iOS18", "it could have states that the model keeps itself"),
        ("network", "iOS17", "the ML program format"),
    ],
)
def test_a_target_that_does_not_fit(inspected, name: str, target: str, words: str) -> None:
    assert words in answer(inspected(name), "deployment-target", target).summary


@pytest.mark.parametrize(("name", "target"), [("float16_interface", "iOS16"), ("stateful", "macOS 15.1")])
def test_a_target_that_fits(inspected, name: str, target: str) -> None:
    assert isinstance(answer(inspected(name), "deployment-target", target), Passed)


def test_without_a_target_the_check_says_how_to_name_one(inspected) -> None:
    outcome = answer(inspected("stateful"), "deployment-target")
    assert isinstance(outcome, NotEvaluated)
    assert "--system" in outcome.record


@pytest.mark.parametrize("state", [WeightState.MISSING, WeightState.POINTER, WeightState.DAMAGED])
def test_weights_that_cannot_be_read_are_a_load_failure(inspected, state: WeightState) -> None:
    model = inspected("float16_interface")
    broken = replace(model, weights=replace(model.weights, state=state, reason="what is wrong"))
    outcome = answer(broken, "load-failure")
    assert isinstance(outcome, Finding)
    assert "what is wrong (18.4 KB expected)" in outcome.summary


def test_a_version_beyond_the_newest_is_said_to_be_unknown(inspected) -> None:
    newer = replace(inspected("float16_interface"), specification_version=11)
    assert "newer than this tool knows" in answer(newer, "load-failure").summary


def test_state_is_moved_only_where_the_source_and_the_inputs_allow_it(inspected) -> None:
    model = inspected("passed_state")
    by_tensorflow = replace(model, metadata=replace(model.metadata, user_defined={SOURCE: "tensorflow==2.15.1"}))
    flexible = replace(model.main, inputs=(*model.main.inputs, *inspected("ranged").main.inputs))
    for changed in (by_tensorflow, replace(model, functions=(flexible,))):
        fix = answer(changed, "state-in-interface").fix
        assert "outputBackings" in fix
        assert "StateType" not in fix


def test_the_size_of_weights_worth_compressing_is_an_option(inspected) -> None:
    model = inspected("float16_interface")
    assert isinstance(answer(model, "uncompressed-weights"), Passed)
    finding = answer(model, "uncompressed-weights", **{"uncompressed-weights.min_mb": 0.01})
    # 9,216 weights of two bytes; one byte each, or half a byte and a palette of 16 entries.
    assert "18.4 KB of large weights are stored as Float16" in finding.summary
    assert "8-bit quantization would save about 9.22 KB, 4-bit palettes would save about 13.8 KB" in finding.summary
    assert isinstance(
        answer(inspected("palettized_4bit"), "uncompressed-weights", **{"uncompressed-weights.min_mb": 0.01}), Passed
    )


def test_networks_do_not_fix_their_precision(inspected) -> None:
    for name in ("float32-compute", "interface-conversion"):
        assert isinstance(answer(inspected("network"), name), NotApplicable)


def test_findings_come_first_and_loading_before_speed(inspected) -> None:
    model = replace(inspected("passed_state"), custom_layers=("Own",))
    judgments = run_model_detectors(model, parse_target("iOS15"))
    findings = [entry.detector.id for entry in judgments if isinstance(entry.outcome, Finding)]
    assert findings == [entry.detector.id for entry in judgments[: len(findings)]]
    assert findings == ["deployment-target", "custom-layers", "interface-conversion", "state-in-interface"]


def test_a_check_that_fails_is_an_answer(inspected, monkeypatch) -> None:
    def fail(_view: InspectedModel, _options: object) -> None:
        raise RuntimeError("broken")

    broken = replace(MODEL_DETECTORS[0], detect=fail)
    monkeypatch.setattr(model_runner, "MODEL_DETECTORS", (broken, *MODEL_DETECTORS[1:]))
    judgments = run_model_detectors(inspected("float16_interface"))
    failed = [entry.outcome for entry in judgments if isinstance(entry.outcome, DetectorFailed)]
    assert [entry.error for entry in failed] == ["RuntimeError: broken"]
    assert len(judgments) == len(MODEL_DETECTORS)


@pytest.mark.parametrize("settings", [{"load-failure.limit": 1}, {"nothing.limit": 1}])
def test_unknown_options_are_refused(inspected, settings) -> None:
    with pytest.raises(UsageError):
        run_model_detectors(inspected("float16_interface"), settings=settings)


def test_ids_are_unique_among_all_checks() -> None:
    ids = [detector.id for detector in (*DETECTORS, *MODEL_DETECTORS)]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("detector", MODEL_DETECTORS, ids=lambda detector: detector.id)
def test_nothing_is_certain_about_the_neural_engine(detector) -> None:
    """No file decides where an operation runs: Core ML does, on the device."""
    page = page_markdown(detector)
    assert "tracekit inspect" in page
    certain = (
        "does not run on the Neural Engine",
        "cannot run on the Neural Engine",
        "never runs on the Neural Engine",
    )
    assert not any(words in page for words in certain)
    for sentence in (detector.page.finding_title, detector.page.why):
        assert "Neural Engine" not in sentence or "may" in sentence
