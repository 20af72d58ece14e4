"""What changed beside what was asked for is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tracekit.model_files.fixing.kept import changes_beside


def test_nothing_and_what_was_asked_for_are_no_change(inspected) -> None:
    model = inspected("target_iOS16")
    wide = replace(model.main, inputs=tuple(replace(each, element="Float16") for each in model.main.inputs))
    assert changes_beside(model, model, ()) == []
    assert changes_beside(model, replace(model, functions=(wide,)), ("element",)) == []
    assert changes_beside(model, replace(model, functions=(wide,)), ("shape",)) == ["inputs of main"]


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
def test_functions(inspected, function: dict, words: str) -> None:
    model = inspected("target_iOS16")
    changed = replace(model, functions=(replace(model.main, **function),))
    assert words in changes_beside(model, changed, ("element",))


def test_metadata_and_states(inspected) -> None:
    model = inspected("stateful")
    without = replace(model, functions=(replace(model.main, states=()),), metadata=replace(model.metadata, author="x"))
    assert changes_beside(model, without, ()) == ["metadata", "states of main"]
