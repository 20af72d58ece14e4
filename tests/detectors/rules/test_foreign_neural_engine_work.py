"""Work of others on the Neural Engine, on both sides of the share from which it matters."""

from __future__ import annotations

import pytest

from support.choice import sweep_rest
from support.outcomes import values
from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
from tracekit.testing.rows import ENGINE_LOAD, ENGINE_PREDICTION, Model

ID = "foreign-neural-engine-work"
MS = 1_000_000
NET = Model("Net")


def use(scenario, label: str | None = None) -> None:
    """19 predictions of 60 ms, 50 ms of each on the Neural Engine: 950 ms."""
    scenario.load(NET, 0, 50 * MS)
    for number in range(19):
        scenario.predict(NET, (100 + 100 * number) * MS, 60 * MS).neural_engine(5 * MS, 50 * MS, label)


def judged(judge, scenario, **settings):
    return judge(scenario, ID, **settings)[None]


def test_a_target_that_has_the_engine_for_itself(scenario, judge):
    use(scenario)
    scenario.other_neural_engine(90 * MS, 9 * MS, ENGINE_LOAD)
    outcome = judged(judge, scenario)
    assert isinstance(outcome, Passed)
    assert "matches the target's predictions" in outcome.summary


@pytest.mark.parametrize(
    ("length", "settings", "expected"), [(50, {}, Finding), (49, {}, Passed), (100, {"min_share": 0.1}, Passed)]
)
@pytest.mark.parametrize("label", sweep_rest(ENGINE_PREDICTION, Model("Photos").engine_label()))
def test_the_share_of_others_decides(scenario, judge, label, length, settings, expected):
    # 50 of 1,000 ms are the threshold of 5 %.
    use(scenario)
    scenario.other_neural_engine(3_000 * MS, length * MS, label)
    outcome = judged(judge, scenario, **settings)
    assert isinstance(outcome, expected)
    if expected is Finding:
        assert outcome.cost is None
        assert [(entry.start_ns, entry.end_ns) for entry in outcome.evidence] == [(3_000 * MS, (3_000 + length) * MS)]
    elif not settings:
        assert "4.9%" in outcome.summary


def test_models_of_others_inside_predictions_count_too(scenario, judge):
    use(scenario)
    scenario.other_neural_engine(110 * MS, 50 * MS, Model("Photos").engine_label())
    scenario.other_neural_engine(210 * MS, 50 * MS, Model("Photos").engine_label())
    finding = judged(judge, scenario)
    assert isinstance(finding, Finding)
    assert "Photos" in finding.summary
    numbers = values(finding)
    assert numbers["execution outside all predictions"] == 0
    # Rows of both overlap: 2 x 50 ms of 19 x 50 ms and 2 x 5 ms.
    assert numbers["execution of models that the target never loaded"] == pytest.approx(100 / 960)


def test_without_the_table_nothing_is_known(scenario, judge):
    use(scenario)
    scenario.missing.add(scenario.xcode.neural_engine_schema)
    outcome = judged(judge, scenario)
    assert isinstance(outcome, NotEvaluated)
    assert "Neural Engine" in outcome.reason
