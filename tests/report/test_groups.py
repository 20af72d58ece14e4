"""Checks that say the same are told once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tracekit.report.groups import Group, names, skip_reasons

if TYPE_CHECKING:
    from tracekit.report.report import Result


@pytest.fixture
def blind(full):
    """Makes checks that could not look, of a detector for a model, with a reason and an advice."""
    template = next(check for check in full.results if check.outcome == "not_evaluated")

    def make(name: str, model: str | None, reason: str, record: str) -> Result:
        return replace(template, id=name, model=model, summary=reason, record=record)

    return make


def test_reasons_that_differ_in_the_numbers_of_each_model_are_taken_together(blind):
    checks = [blind("jitter", f"m{n}", f"Only {n} predictions.", "Record more.") for n in (1, 2, 3)]
    assert skip_reasons(checks) == [("Only 1 predictions.", "Record more.", tuple(checks))]


def test_reasons_of_other_detectors_or_with_other_advice_stay_apart(blind):
    checks = [
        blind("jitter", "m1", "Only 1.", "Record more."),
        blind("shape", "m1", "Only 1 of each.", "Record more."),
        blind("jitter", "m2", "They overlap.", "Record one at a time."),
    ]
    assert [(reason, record) for reason, record, _ in skip_reasons(checks)] == [
        ("Only 1.", "Record more."),
        ("Only 1 of each.", "Record more."),
        ("They overlap.", "Record one at a time."),
    ]


def test_one_reason_of_several_detectors_is_told_once(blind):
    checks = [blind(name, "m1", "Only 1.", "Record more.") for name in ("jitter", "shape")]
    assert len(skip_reasons(checks)) == 1


def test_a_detector_says_of_how_many_models_only_where_it_is_not_all(blind):
    every = [blind(name, model, "", "") for name in ("jitter", "shape") for model in ("m1", "m2", "m3")]
    every.append(blind("whole", None, "", ""))
    assert names(every, every) == ("jitter", "shape", "whole")
    assert names(every[1:], every) == ("jitter (2 of 3 models)", "shape", "whole")


def test_fixes_that_differ_are_told_for_each_model(full):
    template = next(check for check in full.results if check.outcome == "finding")
    first, second, third = (
        replace(template, model=name, own_fix=fix)
        for name, fix in (("a", "Do this."), ("b", "Do that."), ("c", "Do this."))
    )
    assert Group((first, third)).fix == "Do this."
    assert Group((first, second, third)).fix == "`a`, `c`:\n\nDo this.\n\n`b`:\n\nDo that."
