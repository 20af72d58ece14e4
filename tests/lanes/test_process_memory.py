"""Lanes of memory, and what other viewers draw of them."""

from __future__ import annotations

from support.handover import trace_of
from tracekit.api import Analysis, judge
from tracekit.documents.report import report_file
from tracekit.lanes.categories import Category
from tracekit.lanes.process import memory_lanes
from tracekit.report.viewers.tracks import CounterTrack, tracks_of
from tracekit.testing import MemoryRow, Model, Process, Scenario

APP, OTHER = Process("Camera", 412), Process("Helper", 77)
S, MB = 1_000_000_000, 1_000_000


def recorded(*megabytes: int) -> Scenario:
    scenario = Scenario(APP, duration_ns=max(len(megabytes) + 1, 2) * S, processes=[OTHER])
    scenario.load(Model("Net"), S // 2, S // 10)
    scenario.predict(Model("Net"), S, S // 100).event("CPU", 0, S // 200)
    scenario.memory = [MemoryRow((at + 1) * S, size * MB) for at, size in enumerate(megabytes)]
    # Another process holds more, which is nothing to the app.
    scenario.memory.append(MemoryRow(S, 5_000 * MB, OTHER))
    return scenario


def test_levels_of_the_target_hold_until_the_next_one():
    (lane,) = memory_lanes(trace_of(recorded(100, 101, 400, 1_000, 1_000)))
    events = lane.events
    assert (lane.title, lane.section, lane.strip, lane.pinned) == ("Footprint", "System", True, True)
    assert [events.label(row) for row in range(len(events))] == ["101 MB", "400 MB", "1.00 GB"]
    assert events.starts.tolist() == [S, 3 * S, 4 * S]
    assert events.ends.tolist() == [3 * S, 4 * S, 6 * S]
    assert events.categories.tolist() == [Category.LOW, Category.LOW, Category.HIGH]


def test_there_is_no_lane_of_what_was_not_sampled():
    scenario = recorded()
    assert list(memory_lanes(trace_of(scenario))) == []


def test_viewers_and_pages_get_every_sample():
    trace = trace_of(recorded(100, 101, 400))
    analysis = Analysis(trace, None, judge(trace), True)
    tracks = tracks_of(analysis.report, analysis.timeline())
    (counter,) = [
        track
        for _, members in tracks.groups
        for track in members
        if isinstance(track, CounterTrack) and track.unit == "bytes"
    ]
    assert (counter.times.tolist(), counter.values.tolist()) == ([S, 2 * S, 3 * S], [100 * MB, 101 * MB, 400 * MB])
    page = report_file(analysis.report, "html", analysis.timeline())
    assert 'aria-label="Footprint over time"' in page
    assert "lies in other processes" in page
