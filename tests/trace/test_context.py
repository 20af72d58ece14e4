import pytest

from support.rows import records_of
from tracekit.trace.build import build_trace


def context(make, *tables):
    return build_trace(make.recording(*tables)).context


def only(rows):
    (row,) = records_of(rows)
    return row


def test_thermal_states_and_hangs_are_read_by_name(make):
    app = make.process("app", 42)
    thermal = make.table(
        "device-thermal-state-intervals",
        "start duration end thermal-state track-label is-induced narrative",
        (0, 446285247, 446285247, "Nominal", "Current", 0, "Nominal thermal state"),
    )
    hangs = make.table(
        "potential-hangs",
        "start duration hang-type thread process",
        (9, 104, "Brief Unresponsiveness", make.thread("Main Thread 0x1 (app, pid: 42)", 1, app), app),
    )
    rows = context(make, thermal, hangs)
    row = only(rows["thermal"])
    assert (row["start_ns"], row["duration_ns"], row["state"], row["induced"]) == (0, 446285247, "Nominal", 0)
    row = only(rows["hangs"])
    assert (row["hang_type"], row["process"], row["pid"], row["tid"]) == ("Brief Unresponsiveness", "app", 42, 1)
    assert row["thread"] == "Main Thread 0x1 (app, pid: 42)"


def test_the_duration_of_launch_phases_is_found_wherever_it_stands(make):
    older = make.table("life-cycle-period", "start duration group lane process period", (0, 7, "g", 1, None, "Launch"))
    newer = make.table("life-cycle-period", "start group lane duration process period", (0, "g", 1, 7, None, "Launch"))
    for table in (older, newer):
        row = only(context(make, table)["life_cycle"])
        assert (row["duration_ns"], row["period"], row["group"]) == (7, "Launch", "g")


def test_gpu_states_clock_and_processes_are_read(make):
    rows = context(
        make,
        make.table("metal-gpu-state-intervals", "start duration state label gpu", (0, 5, "Idle", "Idle", "M2")),
        make.table(
            "gpu-performance-state-intervals",
            "start duration gpu-performance-state track-label is-induced",
            (398802625, 4519375, "Minimum", "M2 Ultra", 1),
        ),
        make.table(
            "time-info",
            "update-time mabs-epoch mct-epoch timebase-info trace-start-time",
            (0, 2371010520781, 5, "125/3", 1755552427788202000),
        ),
        make.table("process-info", "time pid process", (0, 42, make.process("app", 42))),
    )
    assert only(rows["gpu_states"])["state"] == "Idle"
    clock = only(rows["gpu_performance"])
    assert (clock["state"], clock["gpu"], clock["induced"]) == ("Minimum", "M2 Ultra", 1)
    clock = only(rows["clock"])
    assert (clock["mabs_epoch"], clock["timebase"]) == (2371010520781, "125/3")
    process = only(rows["processes"])
    assert (process["process"], process["pid"]) == ("app", 42)


def test_rows_are_absent_where_their_table_is_and_none_where_the_table_is_empty(make):
    assert context(make) == {}
    rows = context(make, make.table("hang-risks", "time process message severity"), make.table("potential-hangs", ""))
    assert sorted(rows) == ["hang_risks", "hangs"]
    assert all(len(each) == 0 and each.start_ns.dtype == "int64" for each in rows.values())


def test_a_table_that_lacks_its_meaning_makes_only_its_instrument_unreadable(make):
    broken = make.table("potential-hangs", "start duration", (0, 5))
    trace = build_trace(make.recording(broken, make.coreml((0, 1, "Prediction", "net"))))
    assert "hangs" not in trace.context
    assert trace.coverage_of("Hangs").state == "unreadable"
    assert "'potential-hangs' has no column 'hang-type'" in trace.coverage_of("Hangs").conclusion
    assert trace.coverage_of("Hangs").rows is None
    assert len(trace.activity) == 1


@pytest.mark.parametrize("names", ["time message process", "time message process thread severity event-type backtrace"])
def test_columns_that_came_later_are_null_where_they_are_missing(make, names):
    values = {"time": 3, "message": "m", "process": make.process("app", 42)}
    row = tuple(values.get(name) for name in names.split())
    rows = context(make, make.table("hang-risks", names, row))["hang_risks"]
    assert (only(rows)["severity"], only(rows)["message"]) == (None, "m")
