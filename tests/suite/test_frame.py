"""The frame itself: what counts as right, as a miss and as a false positive."""

import pytest

from suite import accuracy, frame
from suite.cases.reload_before_predict import rebuilt_at_each_access
from suite.frame import CLEAN, INSUFFICIENT, NEAR_BELOW, NEGATIVE, POSITIVE, Case
from tracekit.testing.apps import NAMES, neural_engine_app

ID = "reload-before-predict"
OTHER = "excess-data-copies"
BY_NAME = tuple((ID, name) for name in NAMES)


def without_core_ml(draws):
    app = neural_engine_app(draws)
    app.scenario.emptied.add("coreml-os-signpost")
    return app


def broken(draws):
    raise ValueError("no such app")


@pytest.mark.parametrize(
    ("case", "expected", "missed", "unexpected"),
    [
        (Case(ID, POSITIVE, 0, rebuilt_at_each_access), ["finding"], set(), set()),
        (Case(ID, NEGATIVE, 0, neural_engine_app), ["passed"], set(), set()),
        (Case(ID, POSITIVE, 0, neural_engine_app), ["finding"], {ID}, set()),
        # What no one expects is wrong, unless it is allowed in each model or in those that are named.
        (Case(OTHER, NEGATIVE, 0, rebuilt_at_each_access), ["passed"], set(), {ID}),
        (Case(CLEAN, CLEAN, 0, rebuilt_at_each_access), [], set(), {ID}),
        (Case(OTHER, NEGATIVE, 0, rebuilt_at_each_access, also=(ID,)), ["passed"], set(), set()),
        (Case(OTHER, NEGATIVE, 0, rebuilt_at_each_access, also=BY_NAME), ["passed"], set(), set()),
        (Case(OTHER, NEGATIVE, 0, rebuilt_at_each_access, also=((ID, "Nothing"),)), ["passed"], set(), {ID}),
        # The answer for the recording stands for its models, and a model without an answer is a miss.
        (Case(ID, INSUFFICIENT, 0, without_core_ml), ["not_evaluated"], set(), set()),
        (Case(ID, NEGATIVE, 0, neural_engine_app, expected={"Nothing": "no_finding"}), ["no_finding"], {ID}, set()),
        (Case("not-there", POSITIVE, 0, neural_engine_app), [], set(), set()),
    ],
)
def test_what_is_expected_must_come_and_nothing_else_may(monkeypatch, case, expected, missed, unexpected):
    monkeypatch.setattr(frame, "load", lambda _: (case,))
    judged = frame._judged(("", 0))
    assert list(judged.expected.values()) == expected
    assert {key[0] for key in judged.missed} == missed
    assert {key[0] for key in judged.unexpected} & {ID} == unexpected


def test_a_recipe_that_fails_is_not_right(monkeypatch):
    monkeypatch.setattr(frame, "load", lambda _: (Case(ID, POSITIVE, 0, broken),))
    judged = frame._judged(("", 0))
    assert not judged.right
    assert "no such app" in judged.errors[0]


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
    assert (score.precision, score.recall) == (pytest.approx(1 / 3), 0.5)
    assert (score.right["near misses"], score.total["near misses"]) == (0, 1)
    assert (score.right["positives"], score.total["positives"]) == (1, 2)
    assert accuracy.scores()[OTHER].precision is None
