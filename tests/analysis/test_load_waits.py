"""Who waits for what."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tracekit.analysis.load_waits import gaps_after, hung_share, next_call, setup_work, stand_alone, waits_for_loads
from tracekit.recording.contents import Target
from tracekit.recording.table import Process
from tracekit.trace.events import Kind
from tracekit.trace.instruments.tables import Hangs


def alone(calls, min_gap_ns):
    return stand_alone(calls, np.arange(len(calls)), min_gap_ns)


def test_gaps_are_counted_from_the_end_and_never_negative(events):
    gaps = gaps_after(events((0, 10), (15, 40), (30, 35), (50, 60)))
    assert gaps[:3].tolist() == [5, 0, 15]
    assert gaps[3] > 10**18
    assert gaps_after(events()).tolist() == []


def test_a_call_stands_alone_where_the_gap_after_it_is_long_and_unusual(events):
    # Gaps: 100, 10, 10, 10, 60.
    calls = events((0, 1), (101, 102), (112, 113), (123, 124), (134, 135), (195, 196))
    assert alone(calls, 100)[0].tolist() == [True] + [False] * 5
    assert alone(calls, 60)[0].tolist() == [True, False, False, False, True, False]
    assert alone(calls, 101)[0].tolist() == [False] * 6
    assert not alone(calls, 100)[1].any()


@pytest.mark.parametrize(("gap", "expected"), [(50, True), (49, False)])
def test_a_gap_stands_out_from_five_times_the_usual_one(events, gap, expected):
    calls = events((0, 1), (1 + gap, 2 + gap), (12 + gap, 13 + gap), (23 + gap, 24 + gap))
    assert alone(calls, 0)[0][0] == expected


@pytest.mark.parametrize(("gap_ms", "surely"), [(249, True), (250, False)])
def test_a_gap_at_a_users_pace_shows_no_warm_up(events, gap_ms, surely):
    gap, later = gap_ms * 1_000_000, 5_000_000_000
    calls = events(*[(start, start + 1) for start in (0, *(later + (gap + 1) * k for k in range(4)))])
    sure, perhaps = alone(calls, 1_000_000_000)
    assert (sure[0], perhaps[0]) == (surely, not surely)
    assert not (sure | perhaps)[1:].any()


def test_one_gap_cannot_be_compared(events):
    for calls in (events((0, 1), (1_000, 1_001)), events((0, 1)), events()):
        surely, perhaps = alone(calls, 10)
        assert surely.tolist() == perhaps.tolist() == [False] * len(calls)


def test_a_call_waited_for_work_that_it_follows_closely(events):
    work = events((0, 100), (200, 300), (400, 500), (600, 700))
    calls = events((110, 120), (250, 260), (305, 310), (511, 520))
    # The second work saw a call start while it lasted, the third comes 11 ns late, nothing follows the last.
    assert next_call(work, calls, 10).tolist() == [0, -1, -1, -1]
    assert next_call(work, calls, 11).tolist() == [0, -1, 3, -1]
    assert next_call(work, events(), 10).tolist() == [-1] * 4


def test_a_call_that_begins_with_the_end_of_the_work_waited_and_one_that_begins_with_it_did_not(events):
    assert next_call(events((0, 100)), events((100, 110)), 0).tolist() == [0]
    assert next_call(events((0, 100)), events((0, 5), (100, 110)), 0).tolist() == [-1]


def hangs(*rows: tuple[int, int, str | None]) -> Hangs:
    return Hangs.listed(
        len(rows), dict(zip(("start_ns", "duration_ns", "process"), zip(*rows, strict=True), strict=True))
    )


def test_the_share_of_work_in_which_the_app_hung_counts_each_instant_once(events, trace_of):
    trace = trace_of(events((0, 100)))
    trace = replace(
        trace,
        run=replace(trace.run, target=Target(process=Process("App", 7))),
        context={"hangs": hangs((10, 20, "App"), (20, 20, "App"), (50, 40, "Other"), (95, 100, None))},
    )
    assert hung_share(events((0, 100), (200, 300), (20, 20)), trace).tolist() == [0.35, 0.0, 0.0]


def test_without_hangs_nothing_hung(events, trace_of):
    assert hung_share(events((0, 100)), trace_of(events((0, 100)))).tolist() == [0.0]


@pytest.mark.parametrize(
    ("setup", "expected"),
    [
        pytest.param([], -1, id="nothing fills the time"),
        pytest.param([(110, 290)], 0, id="one load fills it"),
        pytest.param([(110, 200), (205, 290)], 0, id="two in a row"),
        pytest.param([(50, 290)], 0, id="one that began before"),
        pytest.param([(110, 200), (211, 290)], -1, id="a gap that is too long"),
        pytest.param([(111, 290)], -1, id="it begins too late"),
        pytest.param([(110, 289)], -1, id="it ends too early"),
        pytest.param([(110, 400)], -1, id="it still lasts when the call comes"),
        pytest.param([(110, 290), (305, 900)], 0, id="more follows the call"),
        pytest.param([(110, 200), (150, 900), (190, 290)], 0, id="another one beside it goes on"),
    ],
)
def test_setup_on_the_way_to_the_call_is_part_of_the_wait(events, setup, expected):
    calls = events((300, 310), (320, 330))
    assert next_call(events((0, 100)), calls, 10, events(*setup)).tolist() == [expected]


def test_setup_during_which_the_model_is_called_holds_nobody_up(events):
    # The second load is waited for by nobody, since the call before it came while the setup lasted.
    work, calls = events((100, 200)), events((50, 60), (400, 410))
    assert next_call(work, calls, 10, events((20, 395))).tolist() == [-1]
    assert next_call(work, calls, 10, events((70, 395))).tolist() == [1]


def test_setup_is_what_all_models_need_before_their_first_result(events, trace_of):
    activity = events(
        (0, 10),
        (10, 20),
        (20, 30),
        (30, 40),
        (40, 50),
        (50, 60),
        kind=["load_cached", "compile", "prediction", "prediction", "load_uncached", "load"],
        model=["A", "A", "A", "A", "B", "B"],
        level=["top"] * 5 + ["sub"],
    )
    assert setup_work(trace_of(activity=activity)).start_ns.tolist() == [0, 10, 20, 40]


@pytest.mark.parametrize(
    ("loads", "waited"),
    [
        pytest.param([("A", 0, 100), ("B", 105, 300)], [True, True], id="behind another one"),
        pytest.param([("B", 0, 95), ("A", 100, 300)], [True, True], id="in line after another one"),
        pytest.param([("B", 0, 80), ("A", 100, 300)], [False, True], id="another one was done before"),
        pytest.param([("A", 0, 300), ("B", 100, 295)], [True, False], id="another one ends beside it"),
        pytest.param([("A", 0, 100), ("B", 50, 300)], [True, True], id="another one goes on behind it"),
        pytest.param([("A", 0, 100), ("B", 105, 400)], [False, False], id="another one still lasts"),
    ],
)
def test_a_call_waits_for_loads_of_other_models_in_line_with_its_own(events, trace_of, loads, waited):
    names, *times = zip(*loads, strict=True)
    calls = [(start, start + 5) for start in (305, 320, 335)]
    rows = [*zip(*times, strict=True), *calls]
    kinds = [Kind.LOAD_UNCACHED] * len(loads) + [Kind.PREDICTION] * len(calls)
    activity = events(*rows, kind=kinds, model=[*names, *"AAA"])
    trace = trace_of(activity)
    surely, perhaps = waits_for_loads(trace.activity.take(slice(len(loads))), trace, 10 / 1e6, 1_000 / 1e9)
    assert surely.tolist() == waited
    assert not perhaps.any()
