"""Options: typed values, and a clear refusal of everything else."""

from __future__ import annotations

import dataclasses

import pytest

from tracekit.detectors.framework import Metadata, RecordingDetector
from tracekit.detectors.options import ChosenChecks, Options, check_settings, configure, matches, option, option_infos
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
        ("reload-before-predict", "1", "'reload-before-predict': unknown option ''"),
        ("reload-before-predict.min_loads", "1.5", "a whole number"),
        ("reload-before-predict.min_loads", "many", "a whole number"),
        ("reload-before-predict.min_loads", "-1", "1 to 1,000,000,000"),
        ("reload-before-predict.min_loads", True, "a whole number"),
        ("reload-before-predict.loads_per_prediction", "nan", "a number"),
        ("reload-before-predict.loads_per_prediction", "inf", "a number"),
        ("excess-data-copies.copy_share", "1.5", "0 to 1"),
        ("shape-switching.ratio", "0", "1 to 1,000,000,000"),
        ("unused-load.unused_s", "1e300", r"0 to 31,536,000 \(s\)"),
        ("warm-up-spike.min_following", "0", "1 to"),
    ],
)
def test_settings_that_do_not_fit_are_refused(key, value, words):
    with pytest.raises(UsageError, match=words):
        configure(DETECTORS, {key: value})


def test_settings_for_a_model_come_on_top_and_the_last_pattern_that_matches_wins():
    key = "reload-before-predict.min_loads"
    special = {"Style*": {key: 5}, "StyleB": {key: 6}, "Other": {key: 7}}
    checks = ChosenChecks(settings={key: 4}, model_settings=special)
    loads = {
        name: configure(DETECTORS, checks.settings_of(name))["reload-before-predict"].min_loads
        for name in ("StyleA", "StyleB", "Pose")
    }
    assert loads == {"StyleA": 5, "StyleB": 6, "Pose": 4}


@pytest.mark.parametrize(("name", "meant"), [("Seg[1]", True), ("Seg1", True), ("Seg2", False), ("seg1", False)])
def test_a_name_is_a_pattern_for_itself(name, meant):
    assert matches(name, "Seg[1]") is meant


def test_settings_for_a_model_are_checked_too():
    with pytest.raises(UsageError, match="did you mean 'min_loads'"):
        check_settings(DETECTORS, {}, {"A": {"reload-before-predict.min_load": 1}})


def test_what_is_of_the_recording_cannot_be_set_for_one_model():
    detector = dataclasses.replace(DETECTORS[0])
    fields = {field.name: getattr(detector, field.name) for field in dataclasses.fields(Metadata)}
    of_recording = RecordingDetector(**fields)
    with pytest.raises(UsageError, match="applies to the whole recording, so it cannot be set for 'A' alone"):
        check_settings([of_recording], {}, {"A": {"reload-before-predict.min_loads": 1}})


def test_options_are_frozen_and_take_what_they_have_by_name():
    class Mine(Options):
        least: int = option(2, "loads", "A guess.")
        most: float = option(4.0, "ms", "A guess.")

    assert (Mine(most=5.0).least, Mine(most=5.0).most) == (2, 5.0)
    assert Mine(least=2) == Mine() != Mine(least=3)
    assert repr(Mine(least=3)).endswith("Mine(least=3, most=4.0)")
    with pytest.raises(TypeError, match="Mine has no option 'fewest'"):
        Mine(fewest=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Mine().least = 3


def test_options_may_refuse_values_that_do_not_fit_together():
    class Ordered(Options):
        least: int = option(2, "loads", "A guess.")

        def __post_init__(self):
            if self.least > 3:
                raise ValueError("too many")

    assert Ordered(least=3).least == 3
    with pytest.raises(ValueError, match="too many"):
        Ordered(least=4)
