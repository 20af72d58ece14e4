"""Options: typed values, and a clear refusal of everything else."""

from __future__ import annotations

import dataclasses

import pytest

from tracekit.detectors.options import configure, option_infos
from tracekit.detectors.registry import DETECTORS
from tracekit.errors import UsageError


def test_every_option_states_a_unit_and_where_its_number_comes_from():
    infos = [info for detector in DETECTORS for info in option_infos(detector)]
    assert infos
    for info in infos:
        assert info.unit
        assert info.basis.endswith(".")


def test_settings_replace_defaults_and_nothing_else():
    options = configure(DETECTORS, {"reload-before-predict.min_loads": "5", "excess-data-copies.copy_share": 0.2})
    assert options["reload-before-predict"].min_loads == 5
    assert options["excess-data-copies"].copy_share == 0.2
    untouched = dataclasses.replace(options["reload-before-predict"], min_loads=3)
    assert untouched == type(untouched)()


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("reload-before.min_loads", "1", "did you mean 'reload-before-predict'"),
        ("reload-before-predict.min_load", "1", "did you mean 'min_loads'"),
        ("reload-before-predict", "1", "no option of reload-before-predict named ''"),
        ("reload-before-predict.min_loads", "1.5", "a whole number"),
        ("reload-before-predict.min_loads", "many", "a whole number"),
        ("reload-before-predict.min_loads", "-1", "0 or more"),
        ("reload-before-predict.min_loads", True, "a whole number"),
        ("reload-before-predict.loads_per_prediction", "nan", "a number"),
        ("reload-before-predict.loads_per_prediction", "inf", "a number"),
        ("excess-data-copies.copy_share", "1.5", "0 to 1"),
    ],
)
def test_settings_that_do_not_fit_are_refused(key, value, words):
    with pytest.raises(UsageError, match=words):
        configure(DETECTORS, {key: value})
