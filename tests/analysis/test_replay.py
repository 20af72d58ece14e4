"""Schedules replayed: unchanged they give the recorded times back, and changes reach what waited."""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from support.handover import trace_of
from tracekit.analysis import replay as module
from tracekit.analysis.changes import Changes, changed
from tracekit.analysis.replay import NO_QUEUE, Schedule, asked_at, replay, schedule_of
from tracekit.analysis.schedule import recorded_schedule
from tracekit.intervals import Intervals
from tracekit.testing import Draws, Model
from tracekit.testing.apps import MS
from tracekit.testing.recorder import neural_engine, start_recording
from tracekit.trace.events import Kind

TIME = st.integers(0, 60)


@st.composite
def schedules(draw):
    """Any calls and any pieces on two units and none, of calls and of others; most touch or overlap."""
    calls = sorted((start, start + draw(TIME)) for start in draw(st.lists(TIME, max_size=9)))
    starts, ends = np.array(calls, np.int64).reshape(-1, 2).T
    previous = np.array([draw(st.integers(-1, index - 1)) for index in range(len(calls))], np.intp)
    # A call can follow the end of another one only if that has ended.
    running = (previous >= 0) & (ends[np.maximum(previous, 0)] > starts) if len(calls) else previous >= 0
    from_start = running | np.array([draw(st.booleans()) for _ in calls], np.bool_)
    anchored = np.array([draw(st.booleans()) for _ in calls], np.bool_)
    rows = sorted(
        (draw(TIME), draw(st.integers(1, 20)), draw(st.integers(0, 1))) for _ in range(draw(st.integers(0, 12)))
    )
    begin, length, unit = np.array(rows, np.int64).reshape(-1, 3).T
    call = np.array([draw(st.integers(-1, len(calls) - 1)) for _ in rows], np.intp)
    group = np.array([draw(st.integers(0, 2)) for _ in rows], np.int64)
    pieces = Intervals(begin, begin + length)
    return schedule_of(
        Intervals(starts, ends),
        previous,
        from_start,
        anchored,
        pieces,
        unit,
        call,
        group,
        np.zeros(len(rows), np.int64),
    )


def times(schedule: Schedule) -> list[tuple[int, int]]:
    again = replay(schedule)
    return list(zip(again.starts.tolist(), again.ends.tolist(), strict=True))


@given(schedules())
def test_nothing_removed_gives_the_recorded_times_back(schedule):
    recorded = list(zip(schedule.calls.starts.tolist(), schedule.calls.ends.tolist(), strict=True))
    assert times(schedule) == recorded
    nothing = Changes.none(schedule, np.zeros(len(schedule.calls), np.int64))
    assert times(changed(schedule, nothing)) == recorded
    assert times(changed(schedule, nothing.joined(nothing))) == recorded


@given(schedules())
def test_calls_that_are_gone_take_no_time(schedule):
    nothing = Changes.none(schedule, np.zeros(len(schedule.calls), np.int64))
    after = replay(changed(schedule, replace(nothing, gone=np.ones(len(schedule.calls), np.bool_))))
    assert not after.durations.any()


@st.composite
def chains(draw):
    """One call after the other with pieces inside, some of which go with most of the rest; and what of that goes."""
    at, calls, pieces = 0, [], []
    for index in range(draw(st.integers(1, 6))):
        at += draw(st.integers(0, 9))
        inside = [draw(st.integers(0, 20)) for _ in range(draw(st.integers(0, 3)))]
        pieces += [(at + start, draw(st.integers(1, 9)), draw(st.integers(0, 1)), index) for start in inside]
        calls.append((at, at + 30))
        at += 30
    begin, length, unit, call = np.array(sorted(pieces), np.int64).reshape(-1, 4).T
    starts, ends = np.array(calls, np.int64).T
    anchored = np.array([draw(st.booleans()) for _ in calls], np.bool_)
    no_call = np.zeros(len(calls), np.bool_)
    work, before = Intervals(begin, begin + length), np.arange(-1, len(calls) - 1)
    schedule = schedule_of(
        Intervals(starts, ends),
        before,
        no_call,
        anchored,
        work,
        unit,
        call,
        2 * call + unit,
        np.zeros(len(work), np.int64),
    )
    some = np.array([draw(st.booleans()) for _ in calls], np.bool_)
    most = np.array([draw(st.integers(0, 40)) for _ in calls], np.int64)
    fixes = {
        "gone": some,
        "most_ns": most,
        "own": Intervals(starts, starts + most // 2),
        "own_call": np.arange(len(calls)),
    }
    nothing = Changes.none(schedule, np.zeros(len(calls), np.int64))
    wanted = draw(st.sampled_from([("gone",), ("most_ns",), ("own", "own_call")]))
    return changed(schedule, replace(nothing, **{name: fixes[name] for name in wanted}))


@given(chains())
def test_calls_in_a_row_run_at_the_same_times_as_event_by_event(schedule):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "in_a_row", lambda _: None)
        expected = times(schedule)
    assert times(schedule) == expected


def made(calls, pieces=(), previous=None, anchored=(), models=None):
    """A schedule of calls one after the other, of one model; pieces are (start, end, call) on one unit."""
    starts, ends = np.array(calls, np.int64).reshape(-1, 2).T
    begin, end, call = np.array(pieces, np.int64).reshape(-1, 3).T
    before = np.arange(-1, len(calls) - 1) if previous is None else np.array(previous)
    fixed = np.isin(np.arange(len(calls)), anchored)
    zeros = np.zeros(len(begin), np.int64)
    group = (call < 0).astype(np.int64) if models is None else np.array(models)[call]
    return schedule_of(
        Intervals(starts, ends),
        before,
        np.zeros(len(calls), np.bool_),
        fixed,
        Intervals(begin, end),
        zeros,
        call,
        group,
        zeros,
    )


def changes(schedule, **fields):
    nothing = Changes.none(schedule, np.zeros(len(schedule.calls), np.int64))
    return changed(schedule, replace(nothing, **fields))


@pytest.mark.parametrize(("anchored", "start"), [((), 60), ((2,), 100)])
def test_what_follows_a_load_comes_earlier_unless_it_waits_for_its_time(anchored, start):
    schedule = made([(0, 10), (20, 60), (100, 110)], anchored=anchored)
    gone = np.array([False, True, False])
    assert times(changes(schedule, gone=gone)) == [(0, 10), (20, 20), (start, start + 10)]


def test_a_copy_that_goes_shortens_its_call_and_brings_the_next_one_forward():
    schedule = made([(0, 20), (25, 45)], [(8, 18, 0), (33, 43, 1)])
    own = Intervals(np.array([1, 26]), np.array([6, 31]))
    assert times(changes(schedule, own=own, own_call=np.array([0, 1]))) == [(0, 15), (20, 35)]


def test_a_copy_behind_other_work_saves_nothing():
    # The unit works for call 0 until 30: call 1 copies meanwhile, waits, and begins when it is free.
    schedule = made([(0, 32), (2, 44), (100, 120)], [(3, 30, 0), (30, 42, 1), (106, 118, 2)], previous=[-1, -1, -1])
    own = Intervals(np.array([3]), np.array([5]))
    assert times(changes(schedule, own=own, own_call=np.array([1])))[1] == (2, 44)


def test_a_call_in_a_queue_comes_forward_by_what_goes_before_it():
    schedule = made([(0, 32), (2, 44), (100, 120)], [(6, 30, 0), (30, 42, 1), (106, 118, 2)], previous=[-1, -1, -1])
    assert times(changes(schedule, gone=np.array([True, False, False])))[1] == (2, 22)


def test_work_of_others_that_is_done_elsewhere_holds_up_nobody():
    schedule = made([(0, 40), (100, 120)], [(0, 25, -1), (25, 38, 0), (105, 118, 1)], previous=[-1, -1])
    assert times(changes(schedule, elsewhere=schedule.call < 0))[0] == (0, 20)
    assert changes(schedule, elsewhere=schedule.call < 0).unit.tolist() == [NO_QUEUE, 0, 0]


def test_calls_that_all_wait_alike_count_as_waiting():
    work = [(0, 12, -1), (12, 16, 0), (100, 112, -1), (112, 116, 1)]
    schedule = made([(0, 17), (100, 117)], work, previous=[-1, -1])
    assert times(changes(schedule, elsewhere=schedule.call < 0)) == [(0, 5), (100, 105)]


def test_calls_that_all_wait_are_handed_over_as_fast_as_those_of_others():
    # Model 0 finds the unit free after 1; each call of model 1 waits behind it, for 5 to 11.
    calls = [(0, 14), (2, 20), (100, 114), (106, 120), (200, 214), (208, 220)]
    work = [(1, 13, 0), (13, 18, 1), (101, 113, 2), (113, 118, 3), (201, 213, 4), (213, 218, 5)]
    schedule = made(calls, work, previous=[-1] * 6, models=[0, 1] * 3)
    assert times(changes(schedule, gone=np.array([True, False] * 3)))[1::2] == [(2, 10), (106, 114), (208, 216)]


def test_work_of_others_that_a_unit_begins_with_holds_up_what_waits_behind_it():
    # Call 0 has its piece ready at 0; the unit works for others from 4 to 10.
    schedule = made([(0, 22)], [(4, 10, -1), (10, 20, 0)], previous=[-1])
    assert times(schedule) == [(0, 22)]
    assert times(changes(schedule, elsewhere=schedule.call < 0)) == [(0, 12)]


def test_no_more_are_in_flight_than_allowed():
    # Four at once, each asks the unit for 10.
    calls = [(index, 12 + 10 * index) for index in range(4)]
    pieces = [(1 + 10 * index, 11 + 10 * index, index) for index in range(4)]
    limited = changes(made(calls, pieces, previous=[-1] * 4), in_flight=np.full(4, 2))
    after = replay(limited)
    assert all((after.starts[2:] >= after.ends[:-2]).tolist())
    assert after.ends.max() <= max(end for _, end in calls) + 2


def served(asked, works, limit):
    """Who comes first is served first: start and end of each call, with so many in flight and one on the unit. A call
    takes 1 before its work, and as given after it."""
    in_flight, free, found = [], 0, []
    for ask, (work, after) in zip(asked, works, strict=True):
        start = ask if len(in_flight) < limit else max(ask, heapq.heappop(in_flight))
        free = max(start + 1, free) + work
        heapq.heappush(in_flight, free + after)
        found.append((start, free + after))
    return found


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 12), st.integers(0, 30)), min_size=2, max_size=12),
    st.integers(1, 4),
)
def test_with_fewer_in_flight_who_comes_first_is_served_first(inputs, limit):
    asked, works = np.cumsum([step for step, _, _ in inputs]).tolist(), [each[1:] for each in inputs]
    recorded = served(asked, works, len(inputs))
    done = [end - after for (_, end), (_, after) in zip(recorded, works, strict=True)]
    pieces = [(end - work, end, call) for call, (end, (work, _)) in enumerate(zip(done, works, strict=True))]
    limited = changes(made(recorded, pieces, previous=[-1] * len(inputs)), in_flight=np.full(len(inputs), limit))
    assert times(limited) == served(asked, works, limit)
    assert asked_at(limited, replay(limited)).tolist() == asked


def test_an_app_that_prepares_ahead_waits_only_for_what_is_longer():
    # Preparing takes 8, a call 20.
    after = replay(
        changes(made([(0, 20), (28, 48), (56, 76)]), ahead=np.array([False, True, True]), in_flight=np.ones(3, int))
    )
    assert after.starts.tolist() == [0, 20, 40]


LOADED = [(0, 10), (10, 17), (25, 35), (40, 47), (55, 65), (70, 77)]
"""Each prediction takes 7 and follows a load of 10; the app works for 8 before a load and for 5 after it."""
ROW = [(0, 20), (30, 50), (60, 80), (90, 110), (120, 140)]


@pytest.mark.parametrize(
    ("calls", "predicted", "in_flight", "ends"),
    [
        pytest.param(LOADED, [1, 3, 5], 2, [17, 40, 57], id="17 for a load and a prediction"),
        pytest.param(LOADED, [1, 3, 5], 1, [17, 40, 57], id="the same with one in flight"),
        pytest.param(ROW, range(5), 2, [20, 30, 50, 60, 80], id="each of two takes 30 to prepare and predict"),
        pytest.param(ROW, range(5), 1, [20, 40, 60, 80, 100], id="20 for a prediction, which hides 10 of preparation"),
    ],
)
def test_what_is_prepared_ahead_at_most_doubles_the_rate_and_saves_no_load(calls, predicted, in_flight, ends):
    mine = np.isin(np.arange(len(calls)), predicted)
    first = np.flatnonzero(mine)[0]
    after = replay(
        changes(made(calls), ahead=mine & (np.arange(len(calls)) > first), in_flight=np.where(mine, in_flight, 0))
    )
    assert after.ends[mine].tolist() == ends


@pytest.mark.parametrize("in_flight", [1, 2])
@pytest.mark.parametrize(
    ("models", "ahead", "steps", "round_ns"),
    [
        pytest.param("AB", "AB", [(15, 20), (5, 10)], 30, id="calls take longest"),
        pytest.param(
            "AB", "AB", [(30, 10), (20, 5)], 50, id="each gap lies in rounds of both, and takes its time once"
        ),
        pytest.param("ABC", "ABC", [(9, 1), (2, 3), (7, 2)], 18, id="the same of three"),
        pytest.param("AAB", "B", [(9, 3), (5, 6), (8, 17)], 26, id="one of two models"),
        # The app prepares B and the first of A while the second of A runs: 6 of its 17.
        pytest.param("AAB", "A", [(9, 3), (5, 6), (8, 17)], 3 + 17 + 17, id="a model that is called twice in a round"),
    ],
)
def test_where_rounds_overlap_no_gap_counts_twice_and_no_call_overtakes(models, ahead, steps, round_ns, in_flight):
    kinds = np.tile([*models], 12)
    lengths = np.tile(steps, (12, 1)).ravel().cumsum().reshape(-1, 2)
    mine = np.isin(kinds, [*ahead])
    first = [int(np.flatnonzero(kinds == each)[0]) for each in ahead]
    changes_of = replace(
        Changes.none(made(lengths.tolist()), np.unique(kinds, return_inverse=True)[1]),
        ahead=mine & ~np.isin(np.arange(len(kinds)), first),
        in_flight=np.where(mine, in_flight, 0),
    )
    ends = replay(changed(made(lengths.tolist()), changes_of)).ends[len(models) - 1 :: len(models)]
    assert set(np.diff(ends)[3:-3].tolist()) == {round_ns}


@pytest.mark.parametrize(
    ("works_ms", "late_ms", "prepares_ms"),
    [((8, 6), 0, 9), ((6, 8), 0, 9), ((8, 6), 3, 9), ((6, 8), 3, 9), ((8, 6), 0, 40), ((2, 9), 1, 3), ((12, 3), 3, 12)],
)
def test_models_that_are_asked_at_once_are_prepared_at_once_and_share_their_unit(works_ms, late_ms, prepares_ms):
    app = start_recording(Draws(1), jitter=0, noise=False)
    models = [Model("first"), Model("second")]
    for model in models:
        app.load(model)
    prepared_ns = [prepares_ms * app.draws.integer(800, 1_200) * MS // 1_000 for _ in range(30)]
    for own_ns in prepared_ns:
        app.pause(own_ns)
        first = app.predict(models[0], neural_engine(works_ms[0] * MS), wait=False)
        app.pause(late_ms * MS)
        second = app.predict(models[1], neural_engine(works_ms[1] * MS), wait=False)
        app.now_ns = max(first.row.end_ns, second.row.end_ns)
    asked_ns = app.now_ns - first.row.start_ns
    recorded = recorded_schedule(trace_of(app.finish()))
    predicted = recorded.calls.kind.is_any(Kind.PREDICTION)
    of = {code: predicted & (recorded.model == code) for code in np.unique(recorded.model).tolist()}
    for ahead in (*of.values(), predicted):
        nothing = Changes.none(recorded.schedule, recorded.model)
        fixed = replace(nothing, ahead=ahead & ~recorded.user, in_flight=np.where(ahead, 2, 0))
        after = replay(changed(recorded.schedule, fixed))
        for mine in of.values():
            for step_ns, own_ns in list(zip(np.diff(after.ends[mine]).tolist(), prepared_ns[1:], strict=True))[3:-3]:
                assert step_ns >= sum(works_ms) * MS
                assert 2 * step_ns >= asked_ns + own_ns
                assert step_ns == pytest.approx(max(asked_ns, own_ns), abs=MS // 10)


def test_a_load_that_waits_for_the_user_is_not_made_ahead():
    schedule = made(LOADED, anchored=[2, 4])
    predicted = np.array([False, True] * 3)
    ahead = changes(schedule, ahead=predicted & (schedule.calls.starts > 10), in_flight=np.where(predicted, 2, 0))
    assert times(ahead) == LOADED


def test_a_call_is_shortened_to_what_is_usual():
    schedule = made([(0, 50), (60, 70)], [(40, 48, 0), (62, 68, 1)])
    most = np.array([10, 100])
    assert times(changes(schedule, most_ns=most)) == [(0, 10), (20, 30)]
