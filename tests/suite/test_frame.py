"""The frame itself: what counts as right, as a miss and as a false positive."""

from __future__ import annotations

import pytest

from suite import accuracy, frame
from suite.cases.reload_before_predict import rebuilt_at_each_access
from suite.frame import CLEAN, INSUFFICIENT, NEAR_BELOW, NEGATIVE, POSITIVE, Case
from tracekit.testing.apps import NAMES, neural_engine_app

ID = "reload-before-predict"
OTHER = "excess-data-copies"


def without_core_ml(draws):
    app = neural_engine_app(draws)
    app.scenario.emptied.add("coreml-os-signpost")
    return app


def broken(draws):
    raise ValueError("no such app")


@pytest.fixture
def judge(monkeypatch):
    """Judges cases that are in no module."""

    def run(*cases):
        monkeypatch.setattr(frame, "load", lambda _: cases)
        return [frame._judged(("", index)) for index in range(len(cases))]

    return run


def test_what_is_expected_and_comes_is_right(judge):
    answers, passed = judge(Case(ID, POSITIVE, 0, rebuilt_at_each_access), Case(ID, NEGATIVE, 0, neural_engine_app))
    assert not answers.missed
    assert list(answers.expected.values()) == ["finding"]
    assert passed.right
    assert list(passed.expected.values()) == ["passed"]


def test_what_is_expected_and_does_not_come_is_missed(judge):
    (judged,) = judge(Case(ID, POSITIVE, 0, neural_engine_app))
    assert [key[0] for key in judged.missed] == [ID]
    assert not judged.right


@pytest.mark.parametrize("detector", [OTHER, CLEAN])
def test_a_finding_that_no_one_expects_is_a_false_positive_of_its_detector(judge, detector):
    (judged,) = judge(Case(detector, NEGATIVE if detector == OTHER else CLEAN, 0, rebuilt_at_each_access))
    assert ID in {key[0] for key in judged.unexpected}
    assert not judged.right


def test_a_finding_that_is_allowed_is_none(judge):
    by_id, by_key, other_model = judge(
        Case(OTHER, NEGATIVE, 0, rebuilt_at_each_access, also=(ID,)),
        Case(OTHER, NEGATIVE, 0, rebuilt_at_each_access, also=tuple((ID, name) for name in NAMES)),
        Case(OTHER, NEGATIVE, 0, rebuilt_at_each_access, also=((ID, "Nothing"),)),
    )
    assert ID not in {key[0] for key in (*by_id.unexpected, *by_key.unexpected)}
    assert ID in {key[0] for key in other_model.unexpected}


def test_an_answer_for_the_recording_stands_for_its_models(judge):
    (judged,) = judge(Case(ID, INSUFFICIENT, 0, without_core_ml))
    assert dict(judged.expected) == {(ID, None): "not_evaluated"}
    assert not judged.missed


def test_a_model_that_is_not_judged_at_all_is_a_miss(judge):
    (judged,) = judge(Case(ID, NEGATIVE, 0, neural_engine_app, expected={"Nothing": "no_finding"}))
    assert judged.missed == ((ID, "Nothing"),)


def test_a_recipe_that_fails_is_not_right(judge):
    (judged,) = judge(Case(ID, POSITIVE, 0, broken))
    assert not judged.right
    assert "no such app" in judged.errors[0]


def test_a_detector_that_is_not_registered_is_not_asked(judge):
    (judged,) = judge(Case("not-there", POSITIVE, 0, neural_engine_app))
    assert judged.expected == {}


def test_scores_count_misses_and_false_positives_outside_the_near_misses(monkeypatch):
    key = (ID, "Net")
    judged_cases = [
        (Case(ID, POSITIVE, 0, broken), frame.Judged({key: "finding"}, {key: "finding"}, (), ())),
        (Case(ID, POSITIVE, 1, broken), frame.Judged({key: "passed"}, {key: "finding"}, (), ())),
        (Case(OTHER, NEGATIVE, 0, broken), frame.Judged({key: "finding"}, {}, (key,), ())),
        (Case(ID, NEAR_BELOW, 0, broken), frame.Judged({key: "finding"}, {key: "passed"}, (key,), ())),
        (Case(CLEAN, CLEAN, 0, broken), frame.Judged({key: "finding"}, {}, (key,), ())),
    ]
    monkeypatch.setattr(accuracy, "_judgments", lambda: iter(judged_cases))
    score = accuracy.scores()[ID]
    assert (score.found, score.missed, score.false) == (1, 1, 2)
    assert score.precision == pytest.approx(1 / 3)
    assert score.recall == 0.5
    assert (score.right["near misses"], score.total["near misses"]) == (0, 1)
    assert (score.right["positives"], score.total["positives"]) == (1, 2)
    assert accuracy.scores()[OTHER].precision is None
