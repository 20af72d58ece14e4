"""Memory of processes and of Metal as one frame."""

from __future__ import annotations

import pytest

from support.handover import trace_of
from support.rows import values_of
from tracekit.recording.table import TableState
from tracekit.testing import Draws, MemoryRow, Process, Scenario, write_bundle, write_export
from tracekit.testing.apps import MS, neural_engine_app
from tracekit.trace.build import build_trace, open_trace
from tracekit.trace.instruments.memory import Memory, of_process
from tracekit.trace.runtimes.registry import ALL_OWN

APP, OTHER = Process("Camera", 412), Process("Helper", 77)
S = 1_000_000_000


def scenario(**options) -> Scenario:
    memory = [MemoryRow(S, 60_000_000), MemoryRow(S, 9_000_000, OTHER), MemoryRow(2 * S, 61_000_000)]
    gpu = [MemoryRow(S + 5, 4_096), MemoryRow(3 * S, 0)]
    return Scenario(APP, duration_ns=4 * S, memory=memory, gpu_memory=gpu, processes=[OTHER], **options)


@pytest.mark.parametrize("live", [False, True])
def test_a_bundle_and_an_export_give_the_rows_that_were_described(tmp_path, live):
    described = scenario(live_memory=live)
    write_bundle(described, tmp_path / "run.trace", rows_per_block=64)
    write_export(described, tmp_path / "exported")
    for path in (tmp_path / "run.trace", tmp_path / "exported"):
        trace = open_trace(path)
        columns = ("start_ns", "kind", "pid", "bytes")
        assert list(zip(*(values_of(trace.memory, name) for name in columns), strict=True)) == [
            (S, "footprint", 412, 60_000_000),
            (S, "footprint", 77, 9_000_000),
            (S + 5, "gpu", 412, 4_096),
            (2 * S, "footprint", 412, 61_000_000),
            (3 * S, "gpu", 412, 0),
        ]
        assert set(trace.memory.table.held()) == {described.footprint_schema, "metal-current-allocated-size"}


def test_what_was_not_recorded_or_caught_no_row_is_told_apart():
    without = trace_of(Scenario(APP, duration_ns=S))
    assert not len(without.memory)
    assert without.coverage_of("Activity Monitor").state is TableState.MISSING
    assert "--instrument 'Activity Monitor'" in without.coverage_of("Activity Monitor").advice
    empty = trace_of(Scenario(APP, duration_ns=S, recorded={"sysmon-process"}))
    assert not len(empty.memory)
    assert "memory" in empty.context
    assert empty.coverage_of("Activity Monitor").state is TableState.EMPTY
    assert empty.coverage_of("GPU Memory").state is TableState.MISSING


def test_both_tables_of_activity_monitor_count_once(make):
    columns = "start process pid memory-physical-footprint"
    sampled = make.table("sysmon-process", columns, (5, "App", 1, 10), (9, "App", 1, 20))
    live = make.table("activity-monitor-process-live", columns, (5, "App", 1, 10), (7, "App", 1, 15))
    trace = build_trace(make.recording(make.coreml(), sampled, live), ALL_OWN)
    assert trace.memory.bytes.tolist() == [10, 20]


def test_without_a_target_only_a_process_alone_is_meant():
    rows = trace_of(scenario()).memory
    assert rows.bytes[of_process(rows, Memory.FOOTPRINT, APP)].tolist() == [60_000_000, 61_000_000]
    assert not len(of_process(rows, Memory.FOOTPRINT, None))
    assert rows.bytes[of_process(rows, Memory.GPU, None)].tolist() == [4_096, 0]


def test_an_app_that_holds_memory_leaves_its_samples():
    app = neural_engine_app(Draws(3), memory=True, noise=False, period_ns=200 * MS, runs=1)
    app.held += [(2 * S, 50_000_000), (5 * S, -20_000_000)]
    memory = app.finish().memory
    sizes = {row.start_ns // S: row.bytes for row in memory}
    assert (sizes[1], sizes[3], sizes[6]) == (60_000_000, 110_000_000, 90_000_000)
