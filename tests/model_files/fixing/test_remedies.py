"""Which findings can be fixed in which model, how that is typed, and what changed beside what was asked for."""

from dataclasses import replace

import pytest

from tracekit.detectors.model_runner import MODEL_RULES
from tracekit.detectors.registry import DETECTORS
from tracekit.errors import UsageError
from tracekit.model_files.facts import Form, Weights, WeightState
from tracekit.model_files.fixing.remedies import (
    RECORDED,
    REMEDIES,
    UNFIXABLE,
    changes_beside,
    check_fixable,
    check_shapes,
    fix_command,
    problem_of,
)


def test_every_check_of_model_files_is_fixed_or_says_why_not():
    assert {*REMEDIES, *UNFIXABLE} == set(MODEL_RULES)
    assert not REMEDIES.keys() & UNFIXABLE.keys()
    assert RECORDED.keys() <= {detector.id for detector in DETECTORS}
    assert set(RECORDED.values()) <= REMEDIES.keys()


def test_the_command_takes_the_path_as_a_shell_does(inspected):
    assert fix_command("interface-conversion", inspected("target_iOS16"), "my models/a.mlpackage") == (
        "tracekit fix 'my models/a.mlpackage' interface-conversion -o 'my models/a-fixed.mlpackage'"
    )
    assert fix_command("flexible-shapes", inspected("unbounded"), "a.mlmodel") == (
        "tracekit fix a.mlmodel flexible-shapes --shape x=1x3x8x8 --shape x=1x3x64x64 -o a-fixed.mlmodel"
    )


@pytest.mark.parametrize(
    ("name", "finding"),
    [
        ("image_to_image", "interface-conversion"),
        ("image_range", "flexible-shapes"),
        ("pipeline", "uncompressed-weights"),
        ("passed_state", "state-in-interface"),
        ("updatable", "uncompressed-weights"),
        ("cast_weights", "float32-compute"),
    ],
)
def test_what_cannot_be_fixed_has_a_reason_and_no_command(inspected, name, finding):
    assert problem_of(finding, inspected(name))
    assert fix_command(finding, inspected(name), "a.mlpackage") == ""


def test_compiled_models_and_those_without_their_weights_are_refused(inspected):
    compiled = replace(inspected("target_iOS16"), form=Form.COMPILED)
    assert fix_command("interface-conversion", compiled, "a.mlmodelc") == ""
    with pytest.raises(UsageError, match=r"compiled model and cannot be fixed; give the \.mlpackage"):
        check_fixable(compiled)
    missing = Weights(WeightState.MISSING, None, reason="weight.bin is gone")
    model = replace(inspected("target_iOS16"), weights=missing)
    with pytest.raises(UsageError, match=r"cannot be fixed: weight\.bin is gone"):
        check_fixable(model)
    # No command is offered that could only say so.
    assert fix_command("interface-conversion", model, "a.mlpackage") == ""


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ({}, "--shape x=3x4 --shape x=16x4"),
        ({"z": [(3, 4)]}, "--shape z=3x4: no input 'z' takes a range of shapes; choose from: x"),
        ({"x": [(17, 4)]}, r"x=17x4: the model takes 1\.\.\.16 × 4"),
        ({"x": [(3,)]}, r"x=3: the model takes 1\.\.\.16 × 4"),
    ],
)
def test_shapes_are_those_that_the_model_takes(inspected, shapes, words):
    with pytest.raises(UsageError, match=words):
        check_shapes(inspected("ranged"), shapes)
    check_shapes(inspected("ranged"), {"x": [(1, 4), (16, 4)]})


def test_with_layer_norm_only_one_shape_is_offered_and_taken(inspected):
    model = inspected("ranged")
    normed = replace(model, functions=(replace(model.main, counts=(("layer_norm", 1),)),))
    assert fix_command("flexible-shapes", normed, "a.mlpackage").count("--shape") == 1
    check_shapes(normed, {"x": [(3, 4)]})
    with pytest.raises(UsageError, match="listed shapes leave the Neural Engine"):
        check_shapes(normed, {"x": [(3, 4), (16, 4)]})


def test_changes_beside_what_was_asked_for_are_named(inspected):
    model = inspected("target_iOS16")
    wide = replace(model.main, inputs=tuple(replace(each, element="Float16") for each in model.main.inputs))
    assert changes_beside(model, model, ()) == []
    assert changes_beside(model, replace(model, functions=(wide,)), ("element",)) == []
    assert changes_beside(model, replace(model, functions=(wide,)), ("shape",)) == ["inputs of main"]
    model = inspected("stateful")
    without = replace(model, functions=(replace(model.main, states=()),), metadata=replace(model.metadata, author="x"))
    assert changes_beside(model, without, ()) == ["metadata", "states of main"]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ({"counts": (("conv", 1),)}, "operations of main"),
        ({"name": "other"}, "functions"),
        ({"outputs": ()}, "outputs of main"),
        # The description has the output, and the program no longer does.
        ({"operations": ()}, "outputs of main"),
    ],
)
def test_changed_functions_are_named(inspected, function, words):
    model = inspected("target_iOS16")
    changed = replace(model, functions=(replace(model.main, **function),))
    assert words in changes_beside(model, changed, ("element",))
