"""The runner abstains by itself, survives a failing detector, and refuses names that do not exist."""

from dataclasses import replace

import numpy as np
import pytest

from support.handover import trace_of
from tracekit.detectors.framework import Detector
from tracekit.detectors.options import choose
from tracekit.detectors.outcomes import (
    Cost,
    DetectorFailed,
    Evidence,
    EvidenceColumns,
    Finding,
    Metric,
    NotApplicable,
    NotEvaluated,
    Passed,
    Severity,
    severity_of,
)
from tracekit.detectors.registry import DETECTORS
from tracekit.detectors.rules import reload_before_predict
from tracekit.detectors.runner import run_detectors
from tracekit.errors import UsageError
from tracekit.intervals import Intervals
from tracekit.report.groups import results_from
from tracekit.testing.machines import Process
from tracekit.testing.rows import Model
from tracekit.testing.scenario import CORE_ML, Scenario

MS = 1_000_000
ONE, NONE = np.ones(1, np.int64), np.zeros(0, np.int64)


@pytest.fixture(scope="module")
def trace():
    scenario = Scenario(Process("Camera", 412), duration_ns=60_000 * MS)
    for name in ("A", "B"):
        scenario.load(Model(name), 0, MS)
        for k in range(5):
            scenario.predict(Model(name), (10 + 10 * k) * MS, 5 * MS)
    return trace_of(scenario)


def test_every_detector_answers_once_for_every_model(trace):
    pairs = [(detector.id, outcome.model) for detector, outcome, _ in run_detectors(trace)]
    can_look = [set(detector.needs) <= {"Core ML"} and isinstance(detector, Detector) for detector in DETECTORS]
    assert pairs == [
        (detector.id, name)
        for detector, able in zip(DETECTORS, can_look, strict=True)
        for name in (("A", "B") if able else (None,))
    ]


def test_some_models_have_the_answers_that_they_have_among_all(trace):
    of_all = [each for each in run_detectors(trace) if each.outcome.model in (None, "B")]
    assert repr(run_detectors(trace, models=["B"])) == repr(tuple(of_all))


def test_a_detector_that_fails_leaves_the_others_running(trace):
    def fails(view, options):
        raise ZeroDivisionError("no such number")

    broken = replace(reload_before_predict.DETECTOR, id="broken", detect=fails)
    outcomes = run_detectors(trace, detectors=(broken, reload_before_predict.DETECTOR))
    assert [type(outcome) for _, outcome, _ in outcomes] == [DetectorFailed, DetectorFailed, Passed, Passed]
    assert outcomes[0][1].error == "ZeroDivisionError: no such number"


def found(model="A", affected=((0, 5),), evidence=(), **cost):
    starts, ends = np.array(affected, np.int64).reshape(-1, 2).T
    given = Cost(**{"ns": 5, "share": 0.1, "basis": "", **cost})
    return Finding(model, "", (), given, evidence, affected=Intervals(starts, ends))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "the answer is of type NoneType, not an outcome"),
        (True, "the answer is of type bool, not an outcome"),
        (Passed("Other", ""), "the answer is about Other, not A"),
        (Passed(None, ""), "the answer is about the recording, not A"),
        (found(share=float("nan")), "a cost share of nan"),
        (found(share=-0.1), "a cost share of -0.1"),
        (found(share=1.5), "a cost share of 1.5"),
        (found(ns=-1), "a cost of -1"),
        (found(ns=0.5), "a cost of 0.5"),
        (found(affected=()), "a cost exceeds the time of its affected intervals"),
        (found(affected=[(0, 2), (7, 9)]), "a cost exceeds the time of its affected intervals"),
        (found(longest_wait_ns=6), "the longest wait of a cost is not a part of it"),
        (found(longest_wait_ns=-1), "the longest wait of a cost is not a part of it"),
        (found(usual_ns=-1), "a usual time of -1"),
        (replace(found(), missed=1.1), "a share of 1.1 that is missed"),
        (found(affected=[(5, 0)]), "are empty"),
        (found(affected=[(0, 5), (3, 6)]), "overlap"),
        (found(affected=[(10, 12), (0, 5)]), "not sorted"),
        (found(evidence=(Evidence(5, 3, "A", "", "t", 0),)), "evidence ends before it starts"),
        (found(evidence=(Evidence(0, 1, "A", None, "t", 0),)), "label is of type NoneType, not text"),
        (Passed("A", None), "summary is of type NoneType, not text"),
        (NotApplicable("A", 5), "reason is of type int, not text"),
        (type("Mine", (Passed,), {})("A", ""), "the answer is of type Mine, not an outcome"),
        (Passed("A", "", [Metric("a", "a", 1, "ns")]), "metrics is not a tuple of Metric"),
        (Passed("A", "", (Metric("a", "a", "b", "ns"),)), "metric 'a' is a str, not a number"),
        (Passed("A", "", (Metric("a", "a", 10**5000, "ns"),)), "metric 'a' does not fit in 64 bits"),
        (Passed("A", "", (Metric("a", "one", 1, "ns"), Metric("a", "two", 1, "ns"))), "two metrics have the same id"),
        (replace(found(), affected=([0], [1])), "affected is of type tuple, not Intervals"),
        (replace(found(), affected=type("Mine", (Intervals,), {})(ONE, ONE + 1)), "affected is of type Mine"),
        (replace(found(), all_evidence=EvidenceColumns(Intervals.none(), [], [], (7,))), "must be int64 arrays"),
        (replace(found(), all_evidence=EvidenceColumns(Intervals.none(), NONE, NONE, (7,))), "is not a tuple of str"),
        (replace(found(), all_evidence=EvidenceColumns(Intervals(ONE, ONE + 1), ONE, ONE, ("t",))), "without name"),
    ],
)
def test_an_answer_that_cannot_be_fails_alone(trace, answer, message):
    odd = replace(reload_before_predict.DETECTOR, id="odd", detect=lambda _view, _options: answer)
    judgments = run_detectors(trace, detectors=(odd, reload_before_predict.DETECTOR))
    first, *_, last = [judgment.outcome for judgment in judgments]
    assert isinstance(first, DetectorFailed)
    assert message in first.error
    assert isinstance(last, Passed)
    assert {check.outcome for check in results_from(judgments)} == {"error", "passed"}


def test_predictions_without_a_name_are_reported_as_not_judged(scenario):
    for k in range(5):
        scenario.predict(Model("", None), 10 * k * MS, 5 * MS)
    outcomes = run_detectors(trace_of(scenario), only=["reload-before-predict"])
    assert [type(outcome) for _, outcome, _ in outcomes] == [NotEvaluated]
    assert "5 predictions have no model name" in outcomes[0][1].reason


def test_only_and_skip_choose_detectors():
    ids = [detector.id for detector in DETECTORS]
    assert [detector.id for detector in choose(DETECTORS, [ids[1]], [])] == [ids[1]]
    assert [detector.id for detector in choose(DETECTORS, [], [ids[0]])] == ids[1:]


@pytest.mark.parametrize(
    ("only", "skip", "words"),
    [
        (["reload-before-predic"], [], "did you mean 'reload-before-predict'?"),
        ([], ["nothing"], "unknown check 'nothing'; list them with"),
        (["reload-before-predict"], ["reload-before-predict"], "no check is left"),
    ],
)
def test_names_that_do_not_exist_are_refused(only, skip, words):
    with pytest.raises(UsageError, match=words.replace("?", r"\?")):
        choose(DETECTORS, only, skip)


@pytest.mark.parametrize(
    ("share", "severity"),
    [
        (0.5, Severity.CRITICAL),
        (0.499, Severity.HIGH),
        (0.25, Severity.HIGH),
        (0.249, Severity.MEDIUM),
        (0.1, Severity.MEDIUM),
        (0.099, Severity.LOW),
        (0.0, Severity.LOW),
    ],
)
def test_severity_follows_the_share_that_could_be_saved_or_that_is_missed(share, severity):
    assert severity_of(found(share=share)) is severity
    assert severity_of(Finding("A", "", (), None, (), missed=share)) is severity


@pytest.mark.parametrize(
    ("cost", "severity"),
    [
        # A wait once is rated by its length alone.
        ({"ns": 3_000_000_000, "share": 0.0001, "once": True}, Severity.CRITICAL),
        ({"ns": 2_999_999_999, "share": 0.9, "once": True}, Severity.HIGH),
        ({"ns": 2_000_000_000, "share": 0.0001, "once": True}, Severity.HIGH),
        ({"ns": 1_999_999_999, "share": 0.9, "once": True}, Severity.MEDIUM),
        ({"ns": 1_000_000_000, "share": 0.0001, "once": True}, Severity.MEDIUM),
        ({"ns": 999_999_999, "share": 0.9, "once": True}, Severity.LOW),
        # A stall among answers that seem instant is medium at least.
        ({"ns": 100_000_000, "share": 0.01, "once": True, "usual_ns": 99_999_999}, Severity.MEDIUM),
        ({"ns": 100_000_000, "share": 0.01, "usual_ns": 99_999_999}, Severity.LOW),
        ({"ns": 99_999_999, "share": 0.01, "once": True, "usual_ns": 16_000_000}, Severity.LOW),
        ({"ns": 999_999_999, "share": 0.01, "once": True, "usual_ns": 100_000_000}, Severity.LOW),
        ({"ns": 999_999_999, "share": 0.01, "once": True, "usual_ns": 0}, Severity.LOW),
        ({"ns": 3_000_000_000, "share": 0.01, "once": True, "usual_ns": 16_000_000}, Severity.CRITICAL),
        # A wait that comes again is rated by its length or its share.
        ({"ns": 90_000_000_000, "share": 0.05}, Severity.LOW),
        ({"ns": 90_000_000_000, "share": 0.05, "longest_wait_ns": 6_000_000_000}, Severity.CRITICAL),
        ({"ns": 90_000_000_000, "share": 0.3, "longest_wait_ns": 1_000_000_000}, Severity.HIGH),
    ],
)
def test_severity_follows_waits(cost, severity):
    assert severity_of(found(**cost)) is severity


def test_a_finding_without_cost_is_low():
    assert severity_of(Finding("A", "", (), None, ())) is Severity.LOW


def test_settings_for_a_model_hold_for_that_model_alone(trace):
    outcomes = run_detectors(
        trace,
        only=["missed-deadline"],
        model_settings={"B": {"missed-deadline.budget_ms": 1, "missed-deadline.min_predictions": 2}},
    )
    assert {outcome.model: type(outcome) for _, outcome, _ in outcomes} == {"A": NotApplicable, "B": Finding}


def test_predictions_inferred_from_hardware_stand_in_for_core_ml_where_a_detector_can_use_them(scenario):
    for k in range(30):
        scenario.predict(Model("A"), 80 * k * MS, (10 + 2 * k) * MS).gpu(MS, (8 + 2 * k) * MS)
    scenario.emptied.add(CORE_ML)
    answers = {entry.detector.id: entry for entry in run_detectors(trace_of(scenario))}
    assert isinstance(answers["growing-latency"].outcome, Finding)
    assert answers["growing-latency"].caveats == ("From hardware rows: actual durations are longer.",)
    assert isinstance(answers["excess-data-copies"].outcome, NotEvaluated)
