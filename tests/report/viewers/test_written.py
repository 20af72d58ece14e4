"""Files for other viewers, judged by Perfetto's own trace processor."""

from __future__ import annotations

import io
import re
from collections import Counter
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

import numpy as np
import pytest

from support.analyses import kept_analysis
from support.trace_processor import LOSSES, ask, engine
from tracekit.api import Analysis, analysis_of
from tracekit.cli.export import VIEWERS
from tracekit.cli.viewers import writer_of
from tracekit.lanes.lanes import Reason
from tracekit.report.timeline import DrawnLane, Timeline
from tracekit.report.viewers.tracks import CounterTrack, tracks_of
from tracekit.request import Request
from tracekit.trace.events import Kind
from tracekit.trace.instruments.tables import GpuPerformance, Hangs, Thermal

BEFORE = 1_500
"""How long before the run the first row starts, in ns."""
HARD = ((-BEFORE, -BEFORE), (-BEFORE, 0), (0, 0), (0, 0), (0, 7), (3, 12), (7, 7), (7, 9), (12, 10**15 + 1))
"""Starts and ends that a track of nested slices cannot hold: no length, touching, crossing; and a very long one."""
HOSTILE = 'a"b\\c</script> é 名 \U0001f600'


@pytest.fixture(scope="module")
def concurrent(samples):
    return analysis_of(samples / "captions_concurrent.trace", Request(redact=False, functions=False))


def with_hard_rows(timeline: Timeline) -> Timeline:
    """The same lanes, and one more with what is hard to draw."""
    order = sorted(HARD, key=lambda each: (each[0], -each[1]))
    starts, ends = np.array(order, np.int64).T
    none, zero = np.full(len(HARD), -1, np.int64), np.zeros(len(HARD), np.int64)
    # Two predictions at once, of which every other row is a part.
    belongs = 10**6 + np.arange(len(HARD)) % 2
    label = np.full(len(HARD), len(timeline.texts), np.int64)
    lane = DrawnLane(
        "x", "Hard", "Hard", "", False, starts, ends, zero, label, zero + 2**52 + 1, none, zero, belongs, 3
    )
    return replace(timeline, start_ns=-BEFORE, lanes=(*timeline.lanes, lane), texts=(*timeline.texts, HOSTILE))


@pytest.mark.parametrize("form", VIEWERS)
def test_every_interval_arrives_with_its_exact_times(form, concurrent):
    engine()
    tracks = tracks_of(concurrent.report, with_hard_rows(concurrent.timeline()))
    stream = io.BytesIO()
    writer_of(form)(tracks, stream)
    losses, groups, slices, flows, counted, works = ask(
        stream.getvalue(),
        [
            LOSSES,
            "select distinct p.name from track t join track p on t.parent_id = p.id where p.parent_id is not null "
            "union select name from process where name is not null",
            "select ts, dur, name, track_id, depth from slice",
            "select o.ts, i.ts from flow f join slice o on f.slice_out = o.id join slice i on f.slice_in = i.id",
            "select t.name, count(*), cast(sum(c.value) as int), min(c.ts), max(c.ts) from counter c "
            "join track t on c.track_id = t.id group by c.track_id",
            "select s.name from slice s join args a using (arg_set_id) where a.display_value = '0x10000000000001'",
        ],
    )
    assert losses == []
    assert {name for (name,) in groups} == {"Findings", "Predictions", "Core ML", "Hardware", "System", "Hard"}
    # One row of a track holds what does not overlap, so nothing is nested.
    assert {depth for *_, depth in slices} == {0}
    assert len({track for *_, track, _ in slices}) <= sum(track.row_count for track in tracks.slices)
    assert Counter((ts - BEFORE, dur, name) for ts, dur, name, *_ in slices) == expected(concurrent)
    assert works == [(HOSTILE,)] * len(HARD)
    assert Counter((out - BEFORE, into - BEFORE) for out, into in flows) == arrows(concurrent)
    assert {(name.removesuffix(" count").removesuffix(" ns"), *rest) for name, *rest in counted} == {
        (each.title, len(each.times), int(each.values.sum()), *(int(each.times[at]) + BEFORE for at in (0, -1)))
        for _, group in tracks.groups
        for each in group
        if isinstance(each, CounterTrack)
    }


@pytest.mark.parametrize(("form", "table"), [("perfetto", "perf_sample"), ("chrome", "cpu_profile_stack_sample")])
def test_call_stacks_arrive_with_their_functions_and_times(form, table, samples):
    engine()
    analysis = kept_analysis(samples / "sharpen_8bit.trace")
    stream = io.BytesIO()
    writer_of(form)(tracks_of(analysis.report, analysis.timeline()), stream)
    wanted = [
        "select ts from TABLE order by ts",
        "select distinct p.name, p.pid from TABLE join thread using (utid) join process p using (upid)",
        "select f.name, count(*) from TABLE s join stack_profile_callsite c on s.callsite_id = c.id "
        "join stack_profile_frame f on f.id = c.frame_id group by f.name",
        "select distinct f.name from stack_profile_callsite c join stack_profile_frame f on f.id = c.frame_id "
        "where c.depth = DEPTH",
    ]
    queries = [LOSSES, *(query.replace("TABLE", table).replace("DEPTH", "01"[form == "chrome"]) for query in wanted)]
    losses, times, processes, innermost, outermost = ask(stream.getvalue(), queries)
    assert losses == []
    target = analysis.trace.run.target.process
    assert processes == [(target.name, target.pid)]
    rows, stacks = analysis.trace.samples, analysis.trace.stacks
    own = rows.where(rows.pid.filled() == target.pid)
    # The trace event format counts in µs.
    step = 1000 if form == "chrome" else 1
    assert [time for (time,) in times] == (np.sort(own.time_ns) // step * step).tolist()
    functions = np.array(stacks.function.as_objects(), object)
    first = {stack: at for at, stack in reversed([*enumerate(stacks.stack.tolist())])}
    last = {stack: at for at, stack in enumerate(stacks.stack.tolist())}
    assert dict(innermost) == Counter(functions[first[stack]] for stack in own.stack.filled().tolist())
    assert {name for (name,) in outermost} == {functions[last[stack]] for stack in own.stack.filled().tolist()}


def expected(analysis: Analysis) -> Counter[tuple[int, int, str]]:
    """Start, duration and name of all that a viewer should show, from the trace and the report."""
    rows: Counter[tuple[int, int, str]] = Counter()
    for lane in analysis.trace.events.values():
        texts = zip(lane.label.as_objects(), lane.model.as_objects(), strict=True)
        for start, duration, (label, model) in zip(lane.start_ns, lane.duration_ns, texts, strict=True):
            text = re.sub(r"\s+0x[0-9a-f]+$", "", label)
            rows[start, duration, text if model is None else f"{text} · {model}"] += 1
    table = analysis.trace.table
    for of, states in (
        (table(Thermal), lambda rows: rows.state),
        (table(GpuPerformance), lambda rows: rows.state),
        (table(Hangs), lambda rows: rows.hang_type),
    ):
        if of is not None:
            rows.update(zip(of.start_ns, of.duration_ns, states(of).as_objects(), strict=True))
    for check in analysis.report.results:
        if check.outcome == "finding":
            found = zip(check.marked.starts.tolist(), check.marked.ends.tolist(), strict=True)
            rows.update((start, end - start, check.title) for start, end in found)
            assert len(check.marked) == check.evidence_total or not check.evidence_total
            rows[0, 0, check.title] += not check.evidence_total
    empty = [lane.words for lane in analysis.timeline().lanes if lane.words]
    assert Reason.ABSENT in empty
    rows.update((0, 0, words) for words in empty if words != Reason.ABSENT)
    rows.update((start, end - start, HOSTILE) for start, end in HARD)
    return rows


def arrows(analysis: Analysis) -> Counter[tuple[int, int]]:
    """Starts of what each arrow joins: a prediction and the rows that belong to it, each to the next one in time."""
    trace = analysis.trace
    own = trace.activity.where(trace.activity.kind.is_any(Kind.PREDICTION))
    chains = {prediction: [start] for prediction, start in zip(own.id.tolist(), own.start_ns.tolist(), strict=True)}
    for rows in trace.events.values():
        for prediction, start in zip(rows.prediction.filled().tolist(), rows.start_ns.tolist(), strict=True):
            if prediction >= 0:
                chains[prediction].append(start)
    assert any(len(starts) > 1 for starts in chains.values())
    hard = sorted(start for start, _ in HARD)
    return Counter(pair for starts in (*chains.values(), hard[::2], hard[1::2]) for pair in pairwise(sorted(starts)))


def test_perfetto_knows_the_time_of_day_at_the_start(concurrent):
    pytest.importorskip("perfetto")
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

    for date, known in ((concurrent.report.recording.start_date, True), ("yesterday", False), (None, False)):
        tracks = replace(tracks_of(concurrent.report, concurrent.timeline()), started=date)
        stream = io.BytesIO()
        writer_of("perfetto")(tracks, stream)
        clocks = next(
            packet.clock_snapshot.clocks
            for packet in Trace.FromString(stream.getvalue()).packet
            if packet.HasField("clock_snapshot")
        )
        assert len(clocks) == 1 + known
        if date is not None and known:
            assert clocks[1].timestamp == round(datetime.fromisoformat(date).timestamp() * 1e3) * 10**6
