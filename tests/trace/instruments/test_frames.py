"""Frames, run loops and waiting on the GPU, on real exports and on tables beside them."""

import numpy as np
import pytest

from tracekit.intervals import Intervals
from tracekit.lanes.lanes import Grouping, lanes_of
from tracekit.recording import open_recording
from tracekit.trace.build import build_trace, open_trace
from tracekit.trace.collect import collect
from tracekit.trace.context import bind_context
from tracekit.trace.frames import _refresh_times, frames_of
from tracekit.trace.instruments import frames
from tracekit.trace.instruments.frames import Aside, Frames, Hitches, RunLoop, Stage, ThreadStates

MS = 1_000_000
REFRESH = 16_666_667


def bound(path, schemas, rows_class):
    rows = collect(open_recording(path), schemas)
    assert rows is not None
    return bind_context(rows, rows_class)


@pytest.mark.corpus
def test_hitches_are_whole_refresh_intervals_on_one_grid(corpus):
    found = open_trace(corpus / "xml" / "xcode27.0-hitches.xml").frames
    assert found.intervals.values.tolist() == [13, 1, 12, 1, 1, 1, 1, 1, 2, 1, 3]
    apart = np.diff(found.start_ns)
    assert np.abs(apart / REFRESH - np.rint(apart / REFRESH)).max() < 0.01
    assert found.late.all()
    assert [f"0x{swap:x}" for swap in found.swap.values[:2]] == ["0xbbdb0", "0xbc069"]


@pytest.mark.corpus
def test_the_cause_of_a_hitch_lies_up_to_three_intervals_before_it(corpus, tmp_path):
    for name in ("hitches", "potential-hangs"):
        (tmp_path / f"{name}.xml").write_bytes((corpus / "xml" / f"xcode27.0-{name}.xml").read_bytes())
    trace = open_trace(tmp_path)
    hitches, hangs = Intervals.from_rows(trace.frames), Intervals.from_rows(trace.context["hangs"])
    assert (hangs.covered_within(hitches) > 0).sum() == 6
    before = Intervals(hitches.starts - 3 * REFRESH, hitches.ends)
    assert (hangs.covered_within(before) > 0).sum() >= 9


@pytest.mark.corpus
def test_a_swap_id_joins_what_was_drawn_with_what_was_shown(corpus):
    xml = corpus / "xml"
    tables = dict.fromkeys(frames.SOURCES) | {
        "late": Hitches.none(),
        Stage.RENDER: bound(xml / "xcode27.0-hitches-renders.xml", ["hitches-renders"], frames.Stages),
        "swaps": bound(xml / "xcode27.0-display-surface-swap.xml", ["display-surface-swap"], frames.Swaps),
    }
    found = frames_of(tables, None, None)
    assert len(found) == 9
    assert (found.surface.values == np.resize([9, 42, 19], 9)).all()
    shown = (found.start_ns - found.render_ns.values) / MS
    assert shown.min() > 32.5
    assert shown.max() < 33.0


@pytest.mark.corpus
def test_refreshes_of_a_variable_rate_are_multiples_and_each_stands_there_once(corpus):
    rows = bound(corpus / "xml" / "xcode15-display-vsyncs-interval.xml", ["display-vsyncs-interval"], frames.Refreshes)
    times = _refresh_times(rows)
    assert len({*map(id, times.values())}) == 1
    steps = np.diff(next(iter(times.values()))) / 4_166_667
    assert np.abs(steps - np.rint(steps)).max() < 0.01
    assert {2, 3, 4, 10} <= {*np.rint(steps).astype(int).tolist()}


@pytest.mark.corpus
def test_only_busy_run_loops_of_the_main_thread_are_work(corpus):
    trace = open_trace(corpus / "xml" / "xcode27.0-runloop-intervals.xml")
    loop = trace.table(RunLoop)
    assert {*loop.state.held()} == {"Busy"}
    assert (loop.start_ns[0], loop.duration_ns[0]) == (1_996_501_875, 9_638_958)


def hitches(make, *rows, columns="start duration process is-system swap-id display narrative-description"):
    return make.table("hitches", columns, *rows)


def read(make, *tables, **recording) -> Frames:
    return build_trace(make.recording(*tables, **recording)).frames


def test_late_frames_of_others_and_of_the_recorder_itself_do_not_count(make):
    app, other = make.process("app", 42), make.process("other", 43)
    rows = [
        (500 * MS, REFRESH, app, 0, 1, "Display 1", "Potentially expensive app update(s)"),
        (2_000 * MS, REFRESH, app, 0, 2, "Display 1", ""),
        (3_000 * MS, REFRESH, other, 0, 3, "Display 1", ""),
        (4_000 * MS, REFRESH, None, 1, 4, "Display 1", ""),
    ]
    found = read(make, hitches(make, *rows), target=app)
    assert found.aside.as_objects().tolist() == [Aside.EDGE, None, Aside.OTHER, Aside.SYSTEM]
    assert found.late.tolist() == [False, True, False, False]


def test_a_steady_lower_rate_is_no_row_of_late_frames(make):
    half = 8_333_333
    steady = [(2_000 * MS + n * 2 * half, half, None, 0, n, "Display 1", "") for n in range(8)]
    apart = [(4_000 * MS + n * 3 * half, half, None, 0, 20 + n, "Display 1", "") for n in range(8)]
    times = [(1_000 * MS + n * half, 1, "Display 1") for n in range(600)]
    vsyncs = make.table("display-vsyncs-interval", "timestamp duration display-name", *times)
    found = read(make, hitches(make, *steady, *apart), vsyncs)
    assert [reason == Aside.LOCKED for reason in found.aside.as_objects()] == [True] * 8 + [False] * 8


def test_displays_with_different_rates_are_not_mixed(make):
    first, second = REFRESH, 8_333_333
    rows = [(2_000 * MS, first, None, 0, 1, "A", ""), (2_000 * MS, second, None, 0, 2, "B", "")]
    times = sorted(
        [(n * first + 2_000 * MS % first, 1, "A") for n in range(200)]
        + [(n * second + 2_000 * MS % second, 1, name) for n in range(400) for name in ("B", "Built-In Display")]
    )
    vsyncs = make.table("display-vsyncs-interval", "timestamp duration display-name", *times)
    found = read(make, hitches(make, *rows), vsyncs)
    assert found.interval_ns.values.tolist() == [first, second]
    assert found.intervals.values.tolist() == [1, 1]


def test_stages_of_frames_are_joined_and_rows_that_stand_twice_count_once(make):
    app = make.process("app", 42)
    late = hitches(make, (2_000 * MS, REFRESH, app, 0, 7, "Display 1", ""))
    updates = make.table(
        "hitches-updates",
        "start duration process display swap-id surface-id",
        (1_960 * MS, 12 * MS, app, "Display 1", 7, 3),
        (1_960 * MS, 12 * MS, app, "Display 1", 7, 3),
        (1_940 * MS, 4 * MS, app, "Display 1", 6, 2),
        (1_940 * MS, 4 * MS, make.process("other", 43), "Display 1", 5, 2),
    )
    lifetimes = make.table(
        "hitches-frame-lifetimes",
        "start duration display swap-id",
        *((1_940 * MS, 43 * MS, "Display 1", swap) for swap in (5, 6)),
    )
    found = read(make, late, updates, lifetimes, target=app)
    assert found.swap.values.tolist() == [6, 7]
    assert found.start_ns.tolist() == [1_983 * MS, 2_000 * MS]
    assert (found.update_ns.values[1], found.update_end_ns.values[1]) == (1_960 * MS, 1_972 * MS)
    assert found.duration_ns.tolist() == [0, REFRESH]


def test_lifetimes_of_older_systems_say_how_late_frames_are(make):
    lifetimes = make.table(
        "hitches-lifetime-interval",
        "start duration swap-id hitch-duration",
        (2_000 * MS, 50 * MS, 1, REFRESH),
        (2_100 * MS, 33 * MS, 2, 0),
    )
    found = read(make, lifetimes)
    assert (found.start_ns.tolist(), found.duration_ns.tolist()) == ([2_050 * MS - REFRESH], [REFRESH])
    summary = make.table("hitches-summary", "start duration", (2_000 * MS, REFRESH))
    assert read(make, summary).late.tolist() == [True]


def test_without_a_table_of_late_frames_there_are_none(make):
    renders = make.table("hitches-renders", "start duration swap-id", (2_000 * MS, 6 * MS, 1))
    trace = build_trace(make.recording(renders))
    assert "frames" not in trace.context
    assert len(trace.frames) == 0


def test_work_on_the_gpu_waited_from_its_commit_on(make):
    gpu = make.table("metal-gpu-intervals", "start duration start-latency event-label state", (9, 5, 4, "a", "Active"))
    assert build_trace(make.recording(gpu)).hardware.waited_ns.values.tolist() == [4]


def test_threads_that_want_a_core_are_read(make):
    app, other = make.process("app", 42), make.process("other", 43)
    rows = [
        (1, make.thread("Main Thread", 7, app), "Runnable", 5, app),
        (6, make.thread("Main Thread", 7, app), "Running", 9, app),
        (9, make.thread("Main Thread", 8, other), "Preempted", 2, other),
        (15, make.thread("Main Thread", 7, app), "Blocked", 4, app),
    ]
    table = make.table("thread-state", "start thread state duration process", *rows)
    states = build_trace(make.recording(table, target=app)).table(ThreadStates)
    assert list(states.state.held()) == ["Runnable", "Running", "Preempted"]
    assert states.duration_ns.tolist() == [5, 9, 2]
    assert states.pid.values.tolist() == [42, 42, 43]


@pytest.mark.corpus
def test_thread_states_of_a_real_export(corpus):
    states = open_trace(corpus / "xml" / "xcode26-thread-state.xml").table(ThreadStates)
    assert states.duration_ns.tolist() == [9_193_333, 4_254_041]
    assert states.pid.values.tolist() == [565, 0]
    assert [text.startswith("Main Thread") for text in states.thread.as_objects()] == [True, False]


def test_late_frames_of_others_have_a_lane_of_their_own(make):
    app, other = make.process("app", 42), make.process("other", 43)
    rows = [
        (2_000 * MS, REFRESH, app, 0, 2, "Display 1", ""),
        (3_000 * MS, REFRESH, other, 0, 3, "Display 1", ""),
        (4_000 * MS, 2 * REFRESH, None, 1, 4, "Display 1", ""),
    ]
    trace = build_trace(make.recording(hitches(make, *rows), target=app))
    (lane,) = (each for each in lanes_of(trace, Grouping.LANES) if each.title == "Late frames, not counted")
    assert lane.events.starts.tolist() == [3_000 * MS, 4_000 * MS]
    assert (lane.events.ends - lane.events.starts).tolist() == [REFRESH, 2 * REFRESH]
    assert [lane.events.label_texts[code] for code in lane.events.labels] == [Aside.OTHER, Aside.SYSTEM]
