"""Cold loads in a row."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated, Passed
from tracekit.testing.rows import ENGINE_PREPARE, LOAD, LOAD_CACHED, LOAD_COLD, Model
from tracekit.testing.scenario import Scenario

ID = "serialized-specialization"
MS = 1_000_000
NAMES = ("Encoder", "Decoder", "Voice", "Vad")


def in_a_row(scenario: Scenario, *lengths: int, gap: int = 1, label: str = LOAD_COLD) -> int:
    """Loads of different models, so many ms each, one after the other; returns the end of the last."""
    end = 0
    for name, length in zip(NAMES, lengths, strict=False):
        end = scenario.load(Model(name), end + gap * MS, length * MS, label)
    return end


def use(scenario: Scenario, start: int, count: int = 10, every: int = 30) -> None:
    """Calls of the first model."""
    for k in range(count):
        scenario.predict(Model(NAMES[0]), start + k * every * MS, 20 * MS)


def test_cold_loads_in_a_row_are_found_with_their_cost(scenario, judge):
    end = in_a_row(scenario, 3_000, 5_000, 2_000)
    use(scenario, end + MS)
    finding = judge(scenario, ID)[None]
    # Ten seconds of loading, of which the longest alone takes five; beside them ten calls of 20 ms.
    assert finding.cost.ns == 5_000 * MS
    assert finding.cost.share == pytest.approx(5_000 / (10_000 + 200))
    assert finding.evidence_total == 3
    assert finding.affected.starts.tolist() == [1 * MS, 3_002 * MS, 8_003 * MS]
    assert "3 models" in finding.summary
    assert "Encoder, Decoder, Voice" in finding.summary


@pytest.mark.parametrize(
    ("lengths", "given", "later", "settings", "expected", "words"),
    [
        ((900, 900, 900), {}, 1, {}, Finding, ""),
        ((900, 900), {}, 1, {}, Passed, ""),
        ((900, 900, 900), {"gap": 100}, 1, {}, Finding, ""),
        ((900, 900, 900), {"gap": 101}, 1, {}, Passed, ""),
        ((900, 900, 900), {}, 100, {}, Finding, ""),
        ((900, 900, 900), {}, 101, {}, Passed, "no prediction waited long"),
        ((900, 900, 900), {"label": LOAD_CACHED}, 1, {}, Passed, ""),
        ((900, 900, 900), {"label": LOAD}, 1, {}, NotEvaluated, "cache"),
        ((900, 900, 900), {}, 1, {"min_models": 4}, Passed, ""),
        ((900, 900, 900), {}, 1, {"min_lost_ms": 1_800}, Finding, ""),
        ((900, 900, 900), {}, 1, {"min_lost_ms": 1_801}, Passed, ""),
        ((900, 900, 900), {}, 1, {"soon_ms": 0.5}, Passed, ""),
    ],
)
def test_thresholds(scenario, judge, lengths, given, later, settings, expected, words):
    use(scenario, in_a_row(scenario, *lengths, **given) + later * MS)
    outcome = judge(scenario, ID, **settings)[None]
    assert isinstance(outcome, expected)
    assert words in (outcome.reason if isinstance(outcome, NotEvaluated) else outcome.summary)


@pytest.mark.parametrize(("hang", "expected"), [(2_253, Finding), (2_250, Passed)])
def test_a_main_thread_that_hangs_for_half_of_each_load_waits_for_the_row(scenario, judge, hang, expected):
    in_a_row(scenario, 900, 900, 900)
    scenario.hang(MS, hang * MS)
    assert isinstance(judge(scenario, ID)[None], expected)


@pytest.mark.parametrize(
    ("first", "called", "waited"),
    [
        pytest.param(1, "Encoder", NAMES, id="the first of the row is called, the others never"),
        pytest.param(1, "Vad", NAMES, id="the last"),
        pytest.param(101, "Encoder", (), id="none is called soon"),
        pytest.param(-3_000, "Encoder", (), id="one is called meanwhile"),
    ],
)
def test_it_counts_the_loads_that_cold_load_counts(scenario, judge, first, called, waited):
    end = in_a_row(scenario, 900, 900, 900, 900)
    for k in range(200):
        scenario.predict(Model(called), end + (first + k * 30) * MS, 20 * MS)
    in_row, each = judge(scenario, ID)[None], judge(scenario, "cold-load")
    shown = {row.model for row in in_row.evidence} if isinstance(in_row, Finding) else set()
    assert shown == {name for name in NAMES if isinstance(each[name], Finding)} == set(waited)


def test_the_same_model_again_is_no_row_of_models(scenario, judge):
    now = 0
    for _ in range(4):
        now = scenario.load(Model("Encoder"), now, 900 * MS, LOAD_COLD)
    use(scenario, now + MS)
    assert isinstance(judge(scenario, ID)[None], Passed)


def test_plain_loads_that_the_neural_engine_shows_to_be_cold_are_found(scenario, judge):
    end = in_a_row(scenario, 900, 900, 900, label=LOAD)
    for k in range(3):
        scenario.other_neural_engine((k * 901 + 100) * MS, 500 * MS, ENGINE_PREPARE)
    use(scenario, end + MS)
    assert isinstance(judge(scenario, ID)[None], Finding)


def overlapping(scenario: Scenario) -> int:
    """Three loads that begin together and end after 1, 2 and 3 s."""
    for k, name in enumerate(NAMES[:3], start=1):
        scenario.load(Model(name), 0, k * 1_000 * MS, LOAD_COLD)
    return 3_000 * MS


def test_loads_that_overlap_stand_in_line_where_the_neural_engine_shows_it(scenario, judge):
    end = overlapping(scenario)
    for k, length in enumerate((900, 950, 980)):
        scenario.other_neural_engine((k * 1_000 + 10) * MS, length * MS, ENGINE_PREPARE)
    use(scenario, end + MS)
    finding = judge(scenario, ID)[None]
    assert finding.cost.ns == (900 + 950) * MS


def test_loads_that_the_neural_engine_prepares_side_by_side_pass(scenario, judge):
    end = overlapping(scenario)
    for length in (900, 1_900, 2_900):
        scenario.other_neural_engine(10 * MS, length * MS, ENGINE_PREPARE)
    use(scenario, end + MS)
    outcome = judge(scenario, ID)[None]
    assert isinstance(outcome, Passed)
    assert "in parallel" in outcome.summary


def test_two_rows_count_together(scenario, judge):
    end = in_a_row(scenario, 900, 900, 900)
    use(scenario, end + MS)
    now = end + 2_000 * MS
    for name in NAMES[:3]:
        now = scenario.load(Model(name), now, 600 * MS, LOAD_COLD)
    use(scenario, now + MS)
    outcome = judge(scenario, ID)[None]
    assert outcome.cost.ns == (1_800 + 1_200) * MS
    assert outcome.evidence_total == 6
    assert "2 times" in outcome.summary


def test_without_loads_there_is_nothing_to_judge(scenario, judge):
    use(scenario, 0)
    assert isinstance(judge(scenario, ID)[None], NotApplicable)
