"""What must not change an answer does not: order, files, time, repetition, a clean model beside."""

from __future__ import annotations

import pytest

from suite import metamorphic
from suite.cases.reload_before_predict import rebuilt_at_each_access
from suite.frame import CLEAN, NEGATIVE, Case
from suite.metamorphic import BESIDE, RELATIONS, Answers, all_keys, answers, broken_in, no_worse, the_same
from tracekit.testing import Draws
from tracekit.testing.apps import cpu_app, gpu_app, many_models_app, neural_engine_app
from tracekit.testing.rows import PREDICTION

SAMPLED = 760
"""Without `--every-case`, one in so many labeled recordings is changed in every way."""
PARTS = 5
"""So that several processes of tests can share them."""
GAPS, SERIAL = metamorphic.GAP_CHECKS
ID, OTHER = ("latency-jitter", "Net"), ("cold-load", "Net")
CASE = Case(CLEAN, CLEAN, 0, neural_engine_app)


@pytest.mark.turns(2)
@pytest.mark.parametrize("part", range(PARTS))
def test_changes_leave_the_answers_to_labeled_recordings(request, part):
    step = 1 if request.config.getoption("--every-case") else SAMPLED
    wrong = broken_in(all_keys()[::step][part::PARTS])
    assert not wrong, "\n" + "\n".join(wrong)


def said(**outcomes: str) -> Answers:
    present = {key: outcomes[name] for name, key in (("jitter", ID), ("cold", OTHER)) if name in outcomes}
    return Answers(present, {key: (1,) for key, outcome in present.items() if outcome == "finding"}, ())


@pytest.mark.parametrize("after", ["passed", "not_evaluated", "not_applicable"])
def test_no_finding_may_vanish(after):
    before = said(jitter="finding")
    assert no_worse(CASE, before, said(jitter=after), {})
    assert the_same(CASE, before, said(jitter=after), {})


@pytest.mark.parametrize("before", ["passed", "not_applicable"])
def test_what_passed_becomes_no_finding(before):
    assert no_worse(CASE, said(jitter=before), said(jitter="finding"), {ID: "not_evaluated"})


def test_what_lacked_data_becomes_a_finding_only_where_the_label_allows_it():
    few, answers = said(jitter="not_evaluated"), said(jitter="finding")
    assert no_worse(CASE, few, answers, {})
    assert not no_worse(CASE, few, answers, {ID: "not_evaluated"})
    assert not no_worse(Case(CLEAN, CLEAN, 0, neural_engine_app, also=("latency-jitter",)), few, answers, {})
    assert not no_worse(CASE, few, said(jitter="passed"), {})


def test_checks_of_gaps_lack_data_together():
    before = Answers({(GAPS, "Net"): "passed", (SERIAL, "Net"): "not_evaluated"}, {}, ())
    after = Answers({(GAPS, "Net"): "passed", (SERIAL, "Net"): "finding"}, {}, ())
    assert not no_worse(Case(CLEAN, CLEAN, 0, neural_engine_app, also=(GAPS, SERIAL)), before, after, {})
    assert no_worse(CASE, before, after, {})


def test_a_case_names_what_its_size_decides():
    answers, passed = said(jitter="finding"), said(jitter="passed")
    more = Case(CLEAN, CLEAN, 0, neural_engine_app, found_in_more=("latency-jitter",))
    less = Case(CLEAN, CLEAN, 0, neural_engine_app, lost_in_more=("latency-jitter",))
    assert not no_worse(more, passed, answers, {})
    assert no_worse(more, answers, passed, {})
    assert not no_worse(less, answers, passed, {})
    assert no_worse(less, passed, answers, {})


def test_gaps_may_be_found_by_the_other_check_of_gaps():
    long, short = (Answers({(check, "Net"): "finding"}, {}, ()) for check in metamorphic.GAP_CHECKS)
    assert not no_worse(CASE, long, short, {})
    assert no_worse(CASE, long, said(), {})
    assert no_worse(CASE, said(), short, {})


def test_a_finding_has_the_same_metrics_afterwards():
    before = said(jitter="finding")
    assert the_same(CASE, before, Answers(before.outcomes, {ID: (2,)}, ()), {})
    assert not the_same(CASE, before, said(jitter="finding"), {})
    assert the_same(CASE, before, said(jitter="finding", cold="passed"), {})


def test_the_new_model_is_clean():
    new = ("latency-jitter", BESIDE.base)
    after = Answers({new: "finding"}, {}, ())
    assert no_worse(CASE, said(), after, {})
    assert not no_worse(Case(CLEAN, NEGATIVE, 0, neural_engine_app, settings={"a.b": 1}), said(), after, {})


def test_twice_repeats_every_row_half_a_minute_later():
    scenario = neural_engine_app(Draws(2)).finish()
    both = metamorphic.twice(scenario)
    rows, half = both.coreml, len(scenario.coreml)
    offset = scenario.duration_ns + metamorphic.GAP_NS
    assert both.duration_ns == offset + scenario.duration_ns
    assert [row.start_ns - offset for row in rows[half:]] == [row.start_ns for row in scenario.coreml]
    for row in both.neural_engine:
        if row.prediction is not None:
            cause = rows[row.prediction]
            assert cause.label == PREDICTION
            assert cause.start_ns <= row.start_ns <= cause.end_ns
    assert sum(row.duration_ns for row in both.gpu_performance) in (0, both.duration_ns)
    ids = [row.submission_id for row in both.gpu]
    assert len(set(ids)) == len(ids)


def test_later_moves_all_rows_and_keeps_the_states_of_the_beginning():
    app = gpu_app(Draws(4))
    app.thermal("Fair")
    scenario = app.finish()
    changed = metamorphic.later(scenario)
    assert {new.start_ns - old.start_ns for new, old in zip(changed.gpu, scenario.gpu, strict=True)} == {
        metamorphic.SHIFT_NS
    }
    assert changed.thermal[0].start_ns == 0
    assert sum(row.duration_ns for row in changed.thermal) == changed.duration_ns


@pytest.mark.parametrize(
    ("maker", "unit"), [(neural_engine_app, "CPU"), (gpu_app, "CPU"), (cpu_app, "GPU Request"), (many_models_app, None)]
)
def test_the_model_beside_takes_a_unit_that_is_free(maker, unit):
    changed = metamorphic.beside(maker(Draws(5)).finish())
    if unit is None:
        assert changed is None
    else:
        labels = {row.label for row in changed.coreml if row.model == BESIDE and row.lane == "model-dispatch-event"}
        assert labels == {unit}


@pytest.mark.parametrize("name", RELATIONS)
def test_a_clear_finding_survives(name):
    scenario = rebuilt_at_each_access(Draws(3)).finish()
    relation = RELATIONS[name]
    before = answers(scenario, CASE)
    after = relation.answers(relation.change(scenario) or scenario, CASE, Draws(1))
    assert "finding" in before.outcomes.values()
    assert not relation.differences(CASE, before, after, {})
