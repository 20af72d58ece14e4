"""Waits for the Neural Engine and pieces of work, against looking at every nanosecond."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tracekit.analysis import queues
from tracekit.analysis.breakdown.device_runs import device_runs_of, gaps_between
from tracekit.analysis.queues import Behind, all_waits
from tracekit.trace.events import Device

NANOSECOND = 1


@pytest.fixture
def no_slack(monkeypatch):
    """Times of a few ns, too few to tell how long a hand-over takes, or the way to a free engine."""
    monkeypatch.setattr(queues, "_by_chance", lambda *_: False)
    monkeypatch.setattr(queues, "HANDOVER_NS", 0)
    monkeypatch.setattr(queues, "MIN_FREE", 100)


def serial(lengths):
    """Start and end of rows that follow each other, from (pause, length, own) each."""
    now, rows = 10, []
    for pause, length, group in lengths:
        now += pause
        rows.append((now, now + length, group))
        now += length
    return rows


def others_ns(waits):
    return waits.behind_ns[:, (Behind.MODELS, Behind.PROCESSES)].sum(axis=1)


@pytest.mark.usefixtures("no_slack")
@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 5), st.booleans()), min_size=1, max_size=12),
    st.integers(0, 10),
)
def test_a_wait_is_the_time_without_own_work_before_work_that_begins_when_others_end(events, trace_of, lengths, begin):
    rows = serial(lengths)
    starts, ends = [start for start, _, _ in rows], [end for _, end, _ in rows]
    own_rows = [mine for _, _, mine in rows]
    hardware = events(
        *zip(starts, ends, strict=True),
        kind="neural_engine_exec",
        device="neural-engine",
        attribution=["label" if mine else "foreign" for mine in own_rows],
        prediction=[0 if mine else None for mine in own_rows],
    )
    call = events((begin, ends[-1] + 1))
    waits = all_waits(trace_of(call, hardware=hardware))[Device.ANE] if any(own_rows) else None
    if waits is None:
        return

    busy = {t for start, end, _ in rows for t in range(start, end)}
    ours = {t for start, end, is_own in rows for t in range(start, end) if is_own}
    expected = set()
    for start, _, is_own in rows:
        time = start - NANOSECOND
        while is_own and time >= begin and time in busy and time not in ours:
            expected.add(time)
            time -= NANOSECOND
    waited = {t for low, high in zip(waits.times.starts, waits.times.ends, strict=True) for t in range(low, high)}
    assert waited == expected
    assert int(waits.times.durations.sum()) == len(expected)
    assert int(others_ns(waits).sum()) == len(expected)


def test_waiting_for_the_same_model_is_told_apart(events, trace_of):
    hardware = events(
        (0, 6),
        (6, 10),
        (10, 20),
        kind="neural_engine_exec",
        attribution=["label", "foreign", "label"],
        prediction=[0, None, 1],
    )
    calls = events((0, 7), (1, 20))
    waits = all_waits(trace_of(calls, hardware=hardware))[Device.ANE]
    assert waits.call.tolist() == [1]
    assert (waits.times.durations.tolist(), others_ns(waits).tolist()) == ([9], [4])


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 6), st.booleans()), min_size=2, max_size=12),
    st.integers(0, 12),
)
def test_only_rows_of_others_and_what_follows_them_are_work_of_others(events, trace_of, monkeypatch, lengths, ahead):
    monkeypatch.setattr(queues, "_by_chance", lambda *_: False)
    monkeypatch.setattr(queues, "HANDOVER_NS", 3)
    rows = serial(lengths)
    hardware = events(
        *[(start, end) for start, end, _ in rows],
        kind="neural_engine_exec",
        attribution=["label" if own else "foreign" for _, _, own in rows],
        prediction=[number if own else None for number, (_, _, own) in enumerate(rows)],
    )
    # Each row has a call, which starts some time before.
    calls = events(*[(max(start - ahead, 0), end + 1) for start, end, _ in rows])
    waits = all_waits(trace_of(calls, hardware=hardware)).get(Device.ANE)
    followed = [start for start, _, _ in rows[1:]] + [10**9]
    others = {
        t
        for (start, end, own), following in zip(rows, followed, strict=True)
        for t in range(start, following if following - end <= 3 else end)
        if not own
    }
    if waits is not None:
        for low, high, time in zip(waits.times.starts, waits.times.ends, others_ns(waits), strict=True):
            assert time == len(others & set(range(low, high)))


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 15), st.integers(0, 8)), max_size=10))
def test_gaps_are_what_lies_between_the_pieces_of_a_prediction(events, drawn):
    rows = sorted((call, start, start + length) for call, start, length in drawn)
    pieces = events(*((start, end) for _, start, end in rows), prediction=[call for call, _, _ in rows])
    prediction, times = gaps_between(pieces, pieces.prediction.known)
    expected = set()
    for call in range(3):
        spans = [(start, end) for owner, start, end in rows if owner == call]
        edges = range(min((s for s, _ in spans), default=0), max((s for s, _ in spans), default=0))
        expected |= {(call, t) for t in edges if not any(start <= t < end for start, end in spans)}
    gaps = zip(prediction, times.starts, times.ends, strict=True)
    assert {(call, t) for call, start, end in gaps for t in range(start, end)} == expected
    assert len(prediction) == sum(max(sum(1 for row in rows if row[0] == call) - 1, 0) for call in range(3))


def test_runs_join_rows_of_one_unit_and_leave_out_preparation(events):
    hardware = events((10, 20), (22, 30), kind="neural_engine_exec", device="neural-engine", prediction=0)
    compute = events(
        (0, 5),
        (5, 40),
        (30, 32),
        (32, 39),
        (20, 21),
        kind=["cpu_compute", "neural_engine_request", "gpu_prepare", "gpu_request", "cpu_compute"],
        device=["cpu", "neural-engine", "gpu", "gpu", "cpu"],
        prediction=0,
    )
    runs = device_runs_of(compute, hardware, np.array([0]), min_cpu_ns=2)
    assert runs.unit.tolist() == [2, 0, 1]
    assert runs.start_ns.tolist() == [0, 10, 32]
    assert runs.end_ns.tolist() == [5, 30, 39]
    assert runs.work_ns.tolist() == [5, 18, 7]
    assert runs.main_unit == "neural-engine"
    assert runs.changes(np.array([0, 1])).tolist() == [2, 0]
    assert runs.usual_order() == ("cpu", "neural-engine", "gpu")


def test_the_usual_order_is_that_of_most_predictions(events):
    ran = [(0, "neural-engine"), (0, "gpu"), (1, "gpu"), (1, "neural-engine"), (2, "neural-engine"), (2, "gpu")]
    hardware = events(
        *[(10 * index, 10 * index + 5) for index in range(6)],
        kind=[f"{unit.replace('-', '_')}_exec" for _, unit in ran],
        device=[unit for _, unit in ran],
        prediction=[call for call, _ in ran],
    )
    none, calls = events(), np.arange(3)
    assert device_runs_of(none, hardware, calls, min_cpu_ns=0).usual_order() == ("neural-engine", "gpu")
    assert device_runs_of(none, none, calls, min_cpu_ns=0).usual_order() == ()


def by_chance(behind, delay):
    return queues._by_chance(np.array(behind, np.int64), np.array(delay, np.int64))


@pytest.mark.parametrize("median_us", [20, 100, 200, 300, 500])
def test_waits_are_none_by_chance_however_long_a_handover_takes(median_us):
    rng = np.random.default_rng(median_us)
    behind = (median_us * 1_000 * rng.lognormal(0, 0.25, 40)).astype(int)
    assert not by_chance(behind, behind + rng.integers(2_000_000, 9_000_000, 40))


def test_ends_of_other_work_that_are_spread_evenly_are_chance():
    rng = np.random.default_rng(3)
    delay = rng.integers(1_000_000, 5_000_000, 60)
    lured = sum(not by_chance((delay * rng.random(60)).astype(int), delay) for _ in range(200))
    assert lured <= 200 * queues.CHANCE * 1.8
