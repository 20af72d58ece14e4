"""Operations of the app: their time in parts, against what a scenario says happened."""

from __future__ import annotations

import pytest

from support.handover import trace_of
from support.samples.runtimes import FRAMES, GAP_NS, RESIZE_NS, WAIT_NS, frame_camera
from tracekit.analysis.operations import Operation, operations
from tracekit.api import judge
from tracekit.testing import LoggedRow, Model, Process, Scenario
from tracekit.testing.rows import PREDICTION
from tracekit.testing.scenario import CORE_ML
from tracekit.trace.filter import everything, only_range

SAMPLE_NS = 1_000_000
MS = 1_000_000


def by_name(found: tuple[Operation, ...]) -> dict[str, Operation]:
    return {each.name: each for each in found}


def means(operation: Operation) -> dict[str, float]:
    return {part.part: part.mean_ns for part in operation.parts}


def test_parts_are_those_of_the_scenario_and_add_up():
    scenario = frame_camera()
    found = by_name(operations(trace_of(scenario)))
    assert list(found) == ["ProcessFrame", "Resize", "Shutter"]
    frame = found["ProcessFrame"]
    logged = [row for row in scenario.logged if row.name == "ProcessFrame"]
    predictions = [row for row in scenario.coreml if row.label == PREDICTION]
    assert frame.statistics is not None
    assert (frame.statistics.count, frame.statistics.total_ns) == (FRAMES, sum(row.duration_ns for row in logged))
    for operation in found.values():
        total = operation.statistics.total_ns if operation.statistics else 0
        assert sum(part.total_ns for part in operation.parts) == total
    known = means(frame)
    assert known["core_ml"] == pytest.approx(sum(row.duration_ns for row in predictions) / FRAMES)
    # Call stacks are a sample apart at each end of what they show.
    assert known["gpu_wait"] == pytest.approx(WAIT_NS, abs=SAMPLE_NS)
    assert known["app_code"] == pytest.approx(RESIZE_NS, abs=2 * SAMPLE_NS)
    assert known["not_running"] == pytest.approx(3 * GAP_NS, abs=2 * SAMPLE_NS)
    assert frame.place is not None
    assert (frame.place.function, frame.place.file, frame.place.line) == ("FrameCam.Frame.resize", "Frame.swift", 88)
    assert (found["Shutter"].statistics, found["Shutter"].points) == (None, FRAMES // 30)


def test_without_call_stacks_it_says_what_is_not_visible():
    scenario = frame_camera()
    scenario.samples = []
    report = judge(trace_of(scenario))
    frame = by_name(report.operations)["ProcessFrame"]
    assert set(means(frame)) == {"core_ml", "gpu", "not_visible"}
    assert means(frame)["gpu"] == WAIT_NS
    assert frame.place is None


def test_what_overlaps_or_has_no_end_is_counted():
    scenario = Scenario(Process("App", 7), duration_ns=1_000 * MS)
    model = Model("Net")
    scenario.predict(model, 20 * MS, 30 * MS)
    log = ("Step", "org.app", "app")
    scenario.logged = [LoggedRow(10 * MS, 50 * MS, *log), LoggedRow(40 * MS, 60 * MS, *log)]
    scenario.logged += [LoggedRow(200 * MS, 10 * MS, *log), LoggedRow(300 * MS, 0, *log, form="open")]
    # Phases of a runtime outside of Core ML are a part of their own.
    scenario.logged += [LoggedRow(45 * MS, 15 * MS, "EncodeAudio", "com.argmax.whisperkit", "AudioEncoding")]
    trace = trace_of(scenario)
    (step,) = operations(trace)
    assert (step.unfinished, step.at_once) == (1, 2)
    totals = {part.part: part.total_ns for part in step.parts}
    assert totals == {"core_ml": 40 * MS, "runtimes": 20 * MS, "not_visible": 60 * MS}
    shown = only_range(everything(trace), trace, 150 * MS, 250 * MS)
    assert [each.statistics.count for each in operations(trace, shown) if each.statistics] == [1]


def test_a_report_begins_with_what_ran_where_no_check_could_be_evaluated():
    scenario = frame_camera()
    judged = judge(trace_of(scenario)).summary
    assert (judged.evaluated, judged.ran) == (True, "")
    scenario = Scenario(Process("App", 7), duration_ns=1_000 * MS, emptied={CORE_ML})
    assert not judge(trace_of(scenario)).summary.says
    scenario.logged = [LoggedRow(at * MS, MS, "Step", "org.app", "app") for at in range(3)]
    scenario.logged += [LoggedRow(0, 5 * MS, "EncodeAudio", "com.argmax.whisperkit", "AudioEncoding")]
    summary = judge(trace_of(scenario)).summary
    assert (summary.evaluated, summary.says, summary.findings) == (False, True, 0)
    ran = "WhisperKit ran (audio encoding 1 time) and the app ran Step 3 times."
    assert summary.verdict == f"{ran} No check evaluates these phases and operations yet."
