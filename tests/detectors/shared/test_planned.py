"""What checks say of a performance report: planned and timed beside recorded, deciding nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from support.handover import trace_of
from support.performance_reports import CPU_ONLY, article_2026, experiments, many, operation, xcode_json
from tracekit.detectors.outcomes import Finding, NotApplicable, Passed
from tracekit.detectors.runner import run_detectors
from tracekit.model_files.performance.read import report_of
from tracekit.testing.rows import LOAD_COLD, Model
from tracekit.trace.trace import Joined, Match

MS = 1_000_000
MODEL = "Segmenter"
DEVICE, PLATFORM = "iPhone 14 Pro", "iOS"
HERE = f"{DEVICE}, iOS 18.5, all compute units"


@pytest.fixture
def said(scenario):
    """`said(check, report, **settings)`: the outcome with the report, after it was held against that without."""
    scenario.other_neural_engine(55_000 * MS, MS)
    scenario.gpu_work(55_000 * MS, MS, None)

    def run(check: str, document, **settings):
        trace = trace_of(scenario)
        device = replace(trace.run.device, model=DEVICE, platform=PLATFORM)
        trace = replace(trace, run=replace(trace.run, device=device))
        report = report_of(json.loads(json.dumps(document)), Path("r.json"))
        with_report = replace(trace, performance_reports=(Joined("r.json", MODEL, Match.NAME, report),))
        chosen = {f"{check}.{name}": value for name, value in settings.items()}
        (_, alone, _), (_, outcome, _) = (
            run_detectors(each, only=[check], settings=chosen)[0] for each in (trace, with_report)
        )
        assert type(alone) is type(outcome)
        if isinstance(outcome, Finding):
            assert (outcome.metrics, outcome.cost, outcome.evidence) == (alone.metrics, alone.cost, alone.evidence)
            assert outcome.summary.startswith(alone.summary)
        return outcome

    return run


def calls(scenario, *events, count=20, length=20):
    """Predictions of `length` ms with `CPU` rows or Neural Engine work at these ms, for so many ms."""
    for k in range(count):
        prediction = scenario.predict(Model(MODEL), (100 + k * 50) * MS, length * MS)
        for unit, start, duration in events:
            if unit == "CPU":
                prediction.event("CPU", round(start * MS), round(duration * MS))
            else:
                prediction.neural_engine(round(start * MS), round(duration * MS))


def document(operations, *, device=DEVICE, system="iOS 18.5", **options):
    return xcode_json(MODEL, operations, device_name=device, system=system, **options)


PLAN = [
    *many(6, "ios16.conv", "neuralEngine"),
    operation("k", "ios16.topk", "cpu", ["cpu", "gpu"]),
    operation("a", "ios16.add", "cpu"),
    *many(2, "ios16.conv", "neuralEngine"),
]
PLANNED = f"Planned by the performance report ({HERE}): 10 operations: 8 on the Neural Engine, 2 on the CPU."


def test_work_elsewhere_is_set_against_the_plan(scenario, said) -> None:
    calls(scenario, ("CPU", 0, 16))
    found = said("not-on-expected-unit", document(PLAN), expected_unit=1)
    assert isinstance(found, Finding)
    assert found.summary.endswith(
        f" {PLANNED} Of the operations that are not on the Neural Engine, 1 (topk 1) may not run there and 1 (add 1) "
        "could. Most are planned for the Neural Engine: check `computeUnits` in the app."
    )


def test_marks_of_a_report_for_one_unit_say_nothing_of_the_others(scenario, said) -> None:
    calls(scenario, ("CPU", 0, 16))
    alone = document(many(4, "ios16.conv", "cpu", ["cpu"]), units=CPU_ONLY)
    found = said("not-on-expected-unit", alone, expected_unit=1)
    assert found.summary.endswith(
        "CPU only): 4 operations: 4 on the CPU. It was made without the Neural Engine, and says nothing of what could "
        "run there."
    )
    assert "may not" not in found.summary


def test_a_plan_of_another_device_is_told_as_one(scenario, said) -> None:
    calls(scenario, ("CPU", 0, 16))
    found = said("not-on-expected-unit", article_2026(), expected_unit=1)
    assert (
        f"(MacBook Pro, macOS 26.2, all compute units, not the {DEVICE} that was recorded): 764 operations: 740 on "
        in (found.summary)
    )
    assert "1 (cast 1) may not run there" in found.summary
    assert "computeUnits" not in found.summary


def test_without_an_expectation_planned_stands_beside_recorded(scenario, said) -> None:
    calls(scenario, ("CPU", 0, 16))
    outcome = said("not-on-expected-unit", document(PLAN))
    assert isinstance(outcome, NotApplicable)
    assert outcome.reason.endswith(f"(80% of their time), not on GPU. {PLANNED}")


@pytest.mark.parametrize("work", [2, 0.5])
def test_hand_offs_are_set_against_those_of_the_plan(scenario, said, work) -> None:
    ane = [("ANE", 3 * k, work) for k in range(6)]
    calls(scenario, *ane, *(("CPU", 3 * k + work, 2.9 - work) for k in range(6)))
    found = said("compute-unit-ping-pong", document(PLAN))
    assert isinstance(found, Finding)
    plan = f" The performance report ({HERE}) plans 2 hand-offs (Neural Engine → CPU 1, CPU → Neural Engine 1)"
    assert found.summary.endswith(
        f"{plan} in the order of its operations; not on the Neural Engine: 2 (topk 1, add 1), of which 1 (topk 1) may "
        "not run there."
    )
    none = said("compute-unit-ping-pong", document(many(3, "ios16.conv", "neuralEngine")))
    assert "plans no hand-offs in the order of its operations: check that the app uses the same device" in none.summary


@pytest.mark.parametrize(
    ("median_ms", "device", "words"),
    [
        (9, DEVICE, "which fits in 10.0 ms: look at what else runs at that time."),
        (15, DEVICE, "more than 10.0 ms: the model itself is too slow."),
        (
            30,
            DEVICE,
            "more than 10.0 ms; the app is faster, so check that the report is of this model and of the same ",
        ),
        (9, "MacBook Pro", f"not the {DEVICE} that was recorded), which fits in 10.0 ms."),
    ],
)
def test_a_missed_deadline_is_set_against_the_model_alone(scenario, said, median_ms, device, words) -> None:
    calls(scenario, ("CPU", 0, 16), count=40)
    timed = document(None, device=device, predict=experiments([0.3] * 3, [median_ms / 1e3] * 2))
    found = said("missed-deadline", timed, budget_ms=10)
    assert isinstance(found, Finding)
    assert f" Alone, the model takes {median_ms if median_ms > 9 else '9.00'}" in found.summary
    assert words in found.summary


def test_a_cold_load_is_set_against_the_loads_of_the_report(scenario, said) -> None:
    end = scenario.load(Model(MODEL), 100 * MS, 3_000 * MS, LOAD_COLD)
    for k in range(20):
        scenario.predict(Model(MODEL), end + (2 + k * 50) * MS, 20 * MS)
    found = said("cold-load", document(None, load=experiments([1.2, 0.9, 0.9], [0.4, 0.4])))
    assert isinstance(found, Finding)
    assert found.summary.endswith(
        f" By the performance report ({HERE}), a load takes 400 ms from the cache and 900 ms to 1.20 s without."
    )


def test_a_report_without_times_or_operations_adds_nothing(scenario, said) -> None:
    calls(scenario, ("CPU", 0, 16), count=40)
    empty = document(None, load=[1, 0.1, 0.1])
    assert "report" not in said("missed-deadline", empty, budget_ms=10).summary
    assert "report" not in said("not-on-expected-unit", empty, expected_unit=1).summary
    passed = said("not-on-expected-unit", empty, expected_unit=3)
    assert isinstance(passed, Passed)
    assert "report" not in passed.summary


def test_words_of_a_hostile_report_are_cut(scenario, said) -> None:
    calls(scenario, ("CPU", 0, 16))
    long = [operation("x", f"ios16.{'y' * 10_000}", "cpu")]
    found = said("not-on-expected-unit", document(long, device="d" * 10_000), expected_unit=1)
    assert len(found.summary) < 1_000
