"""Predictions on the GPU that Core ML did not record, with and without what threads encode."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.analyses import kept_trace
from support.handover import trace_of
from tracekit.testing import Model, Process, Scenario, stacks, write_bundle
from tracekit.testing.machines import Thread, main_thread
from tracekit.testing.metal import encode_graphs
from tracekit.testing.scenario import CORE_ML
from tracekit.testing.stacks import SampleRow, Stack, app_function
from tracekit.trace.build import open_trace
from tracekit.trace.calls.stacks import API, Api, stacks_in
from tracekit.trace.events import Kind, Origin

APP = Process("Camera", 412)
MAIN, WORKER = main_thread(APP), Thread(9, APP)
MODEL = Model("Segmenter")
MS = 1_000_000
SUBMISSIONS = "metal-application-command-buffer-submissions"


def at_once(*shares: int, operations: int = 1) -> Scenario:
    """Two threads predict at once, so that the GPU works in turn for both; `shares` in ms are when, for each."""
    scenario = Scenario(APP, duration_ns=2_000 * MS, emptied={CORE_ML})
    threads = {}
    for number, start in enumerate(shares):
        prediction = scenario.predict(MODEL, (100 + start) * MS, 40 * MS)
        for operation in range(operations):
            prediction.gpu((3 + 17 * operation) * MS, 16 * MS, operation, buffers=4)
        threads[number] = (MAIN, WORKER)[number % 2]
    encode_graphs(scenario, threads)
    return scenario


def predictions(scenario: Scenario):
    activity = trace_of(scenario).activity
    return activity.where(activity.kind.is_any(Kind.PREDICTION))


def test_a_thread_that_encodes_tells_calls_at_once_apart():
    scenario = at_once(0, 2, 100, 102, 200, 202, operations=2)
    # Work of calls in flight at once is cut at each turn, where no thread is known.
    assert len(predictions(replace(scenario, missing={SUBMISSIONS}))) > 6
    found = predictions(scenario)
    assert len(found) == 6
    told = [max(row.end_ns for row in scenario.gpu if row.prediction == number) + 92_000 for number in range(6)]
    assert found.end_min_ns.tolist() == told


def test_a_call_lasts_from_its_first_command_buffer_until_the_process_is_told():
    scenario = at_once(0, 100, 200)
    found = predictions(scenario)
    calls = [row.start_ns for row in scenario.coreml]
    own = [[row for row in scenario.command_buffers if call <= row.start_ns < call + 40 * MS] for call in calls]
    assert found.origin.is_any(Origin.HARDWARE).all()
    assert found.start_max_ns.tolist() == [min(row.start_ns for row in rows) for rows in own]
    assert found.end_min_ns.tolist() == [max(row.completed_ns for row in rows) for rows in own]
    # The first and the third one are of one thread, on which nothing else was encoded.
    assert found.start_min_ns.tolist() == [0, 0, found.end_min_ns[0]]
    assert found.end_max_ns.tolist() == [found.start_max_ns[2], 2_000 * MS, 2_000 * MS]
    assert (abs(found.start_ns - calls) < 3 * MS).all()


def test_a_prediction_that_samples_miss_has_the_thread_that_encodes_it_and_the_place_of_the_others():
    scenario = Scenario(APP, duration_ns=1_000 * MS, emptied={CORE_ML})
    stack = Stack((stacks.EXECUTE, *stacks.PREDICT, app_function("run", 12), stacks.WORKER))
    for number in range(10):
        call = scenario.predict(MODEL, (100 + 60 * number) * MS, 9 * MS)
        call.gpu(2 * MS, 6 * MS, buffers=2)
        # Two samples in each but the fifth one.
        times = (call.row.start_ns + MS, call.row.end_ns - MS) if number != 4 else ()
        scenario.samples += [SampleRow(time, WORKER, stack) for time in times]
        outside = Stack((app_function("rest", 40), stacks.WORKER))
        scenario.samples += [SampleRow(call.row.end_ns + ms * MS, WORKER, outside) for ms in (2, 3, 4, 40)]
    encode_graphs(scenario, dict.fromkeys(range(10), WORKER))
    trace = trace_of(scenario)
    sites = trace.sites
    assert len(trace.activity) == len(sites) == 10
    assert [str(each) for each in set(sites.caller.held())] == ["App.run"]
    assert (sites.tid.values == WORKER.tid).all()
    assert np.flatnonzero(sites.samples == 0).tolist() == [4]


@pytest.mark.parametrize("lost", [SUBMISSIONS, "metal-command-buffer-completed"])
def test_what_metal_did_not_record_is_left_to_the_gpus_rows(lost):
    found = predictions(replace(at_once(0, 100), missing={lost}))
    work = [row for row in at_once(0, 100).gpu if row.channel == "Compute"]
    assert len(found) == 2
    assert found.end_min_ns.tolist() == [work[3].end_ns, work[7].end_ns]


@pytest.mark.parametrize("period_ms", [1, 5])
def test_bounds_of_sampled_calls_hold_and_begin_with_the_first_command_buffer(period_ms):
    scenario = at_once(0, 100, 200, 300)
    threads = [(MAIN, WORKER)[number % 2] for number in range(4)]
    for row, thread in zip(scenario.coreml, threads, strict=True):
        for time in range(row.start_ns - 20 * MS + 400_000, row.end_ns + 20 * MS, period_ms * MS):
            inside = row.start_ns <= time < row.end_ns
            begun = stacks.BIND if time < row.start_ns + MS else stacks.EXECUTE
            called = (begun, *stacks.PREDICT) if inside else ()
            stack = Stack((*called, app_function("run", 12), stacks.WORKER))
            if not inside or time < row.start_ns + 3 * MS or time >= row.start_ns + 19 * MS:
                scenario.samples.append(SampleRow(time, thread, stack))
    scenario.sample_ns = period_ms * MS
    found, without = predictions(scenario), predictions(replace(scenario, missing={SUBMISSIONS}))
    assert len(found) == len(without) == 4
    for low, high, least, most, row in zip(*found.bounds, scenario.coreml, strict=True):
        assert low <= row.start_ns <= high
        assert least <= row.end_ns <= most
    assert ((found.start_max_ns - found.start_min_ns) <= (without.start_max_ns - without.start_min_ns)).all()


def joined_by_samples() -> Scenario:
    """Two predictions without a pause between them, of which samples show no beginning."""
    scenario = Scenario(APP, duration_ns=500 * MS, emptied={CORE_ML})
    caller = (app_function("run", 12), stacks.START)
    for start in (100, 140):
        scenario.predict(MODEL, start * MS, 40 * MS).gpu(20 * MS, 10 * MS, buffers=4)
    for time in range(90 * MS + 700_000, 190 * MS, MS):
        called = (stacks.EXECUTE, *stacks.PREDICT) if 100 * MS <= time < 180 * MS else ()
        waits = any(row.start_ns <= time < row.end_ns for row in scenario.gpu)
        scenario.samples += [] if waits else [SampleRow(time, MAIN, Stack((*called, *caller)))]
    encode_graphs(scenario, callers={0: caller, 1: caller})
    return scenario


def test_what_asks_the_driver_of_the_gpu_shows_where_a_call_begins():
    scenario = joined_by_samples()
    found, without = predictions(scenario), predictions(replace(scenario, driver=[]))
    first, second = scenario.coreml
    assert found.start_min_ns[1] <= second.start_ns <= found.start_max_ns[1]
    assert found.end_min_ns[0] <= first.end_ns <= found.end_max_ns[0]
    # Between the last event of the one and the first of the other.
    assert found.start_max_ns[1] - found.start_min_ns[1] < MS
    assert len(found) == 2
    assert (without.start_max_ns - without.start_min_ns).max(initial=0) > 5 * MS


def test_a_bundle_holds_the_driver_s_stacks_as_they_were_made(tmp_path):
    scenario = joined_by_samples()
    read, made = (
        source.sampled for source in (open_trace(write_bundle(scenario, tmp_path / "X.trace")), trace_of(scenario))
    )
    names = [
        [
            tuple(sampled.stacks.function.take(np.arange(*sampled.starts[each : each + 2])).as_objects())
            for each in sampled.driver.stack.values
        ]
        for sampled in (read, made)
    ]
    assert names[0] == names[1]
    assert read.driver.time_ns.tolist() == sorted(row.time_ns for row in scenario.driver)
    assert set(read.driver.tid.values.tolist()) == {MAIN.tid}
    assert all(stacks.PREDICT[1].name in each for each in names[0])


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "count", "first_row", "last_row", "rows"),
    [
        # First and last event of the driver with a prediction in its stack, and their number in each prediction.
        ("quick_probe", 9, 3_941_423_958, 4_436_201_208, [2_050, *[1_066] * 8]),
        ("hello_coreml", 1, 4_909_871_708, 5_053_888_791, [2_288]),
        ("fp16_w8_60s_all", 10, 4_261_501_916, 4_765_320_125, [2_165, *[1_066] * 9]),
    ],
)
def test_real_predictions_are_counted_with_begin_and_end(corpus, name, count, first_row, last_row, rows):
    trace = kept_trace(corpus / "bundles" / f"{name}.trace")
    calls = trace.activity.where(trace.activity.kind.is_any(Kind.PREDICTION))
    buffers = trace.context["command_buffers"]
    created, told = (each.reshape(count, 34) for each in (buffers.start_ns, buffers.completed_ns.values))
    assert (len(calls), calls.single.all(), calls.model.values) == (count, True, ("MambaASR_fp16_w8",))
    assert (calls.start_max_ns <= created.min(axis=1)).all()
    assert (calls.end_min_ns >= told.max(axis=1)).all()
    assert calls.start_min_ns[0] <= first_row
    driver = trace.sampled.driver
    inside = driver.where(stacks_in(trace.sampled, API[Api.PREDICTION])[driver.stack.values])
    assert (inside.time_ns.min(), inside.time_ns.max()) == (first_row, last_row)
    edges = [*calls.start_max_ns.tolist(), trace.run.duration_ns]
    edges[0] = first_row
    assert np.histogram(inside.time_ns, edges)[0].tolist() == rows
    # Those of warm predictions lie between the last sample of other code and the first event of the driver.
    warm = created.min(axis=1) - created.min(axis=1)[0] > 0
    assert (calls.start_max_ns - calls.start_min_ns)[warm].max(initial=0) < MS * 3 // 4
    assert (calls.end_max_ns - calls.end_min_ns <= 3 * MS).all()
    assert (calls.end_min_ns[:-1] <= calls.start_max_ns[1:]).all()
