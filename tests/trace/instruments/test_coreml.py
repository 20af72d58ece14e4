import pytest

from support.rows import records_of, values_of
from tracekit.errors import MissingColumn, UnreadableRecording
from tracekit.trace.build import build_trace
from tracekit.trace.collect import collect
from tracekit.trace.instruments.coreml import INSTRUMENT, bind

FULL = (
    "start duration full-layout-id event-label model-name model-specific-track-model-name fully-qualified-model "
    "parent-model-name model-level event-type color graph-event-label"
)
"""The twelve columns of Xcode 16.4."""


def events(make, table):
    return bind(collect(make.recording(table), INSTRUMENT.schemas))[0]


def test_the_columns_of_xcode_16_bind_by_name(make):
    model = ("stage-2", "stage", "pipe/stage", "pipe-1", "sub")
    row = (7, 3, 1, "GPU Request", *model, "model-dispatch-event", "Blue", "GPU")
    (event,) = records_of(events(make, make.table("coreml-os-signpost", FULL, row)))
    assert (event["start_ns"], event["duration_ns"]) == (7, 3)
    assert (event["label"], event["kind"]) == ("GPU Request", "gpu_request")
    assert (event["model"], event["instance"], event["parent_model"], event["level"]) == ("stage", 2, "pipe", "sub")
    assert (event["lane"], event["device"], event["table"], event["row"]) == ("compute", "gpu", "coreml-os-signpost", 0)


def test_columns_may_stand_in_another_order_and_new_ones_beside_them(make):
    names = "model-name new-in-28 event-label duration start"
    (row,) = records_of(events(make, make.table("coreml-os-signpost", names, ("net-1", 1, "Load", 5, 2))))
    assert (row["start_ns"], row["duration_ns"], row["model"], row["kind"]) == (2, 5, "net", "load")


def test_what_a_table_does_not_have_is_null(make):
    table = make.table("coreml-os-signpost", "start duration event-label model-name", (0, 5, "Prediction", "n"))
    (row,) = records_of(events(make, table))
    assert {row[name] for name in ("instance", "parent_model", "device", "process", "pid", "depth")} == {None}
    assert row["level"] == "top"
    # An empty name is no name, and an empty level is the top one.
    rows = events(make, make.coreml((0, 1, "CPU", "", "p", None), (1, 1, "CPU", "s", "p", " Sub ")))
    assert values_of(rows, "model") == [None, "s"]
    assert values_of(rows, "level") == ["top", "sub"]
    # Without a column of levels a parent makes a stage.
    names = "start duration event-label model-name parent-model-name"
    table = make.table("coreml-os-signpost", names, (0, 1, "CPU", "s", "p"), (1, 1, "CPU", "p", None))
    assert values_of(events(make, table), "level") == ["sub", "top"]


@pytest.mark.parametrize("column", ["start", "duration", "event-label", "model-name"])
def test_a_needed_column_that_is_absent_is_named(make, column):
    cells = {"start": 0, "duration": 5, "event-label": "Prediction", "model-name": "n"}
    del cells[column]
    with pytest.raises(MissingColumn, match=f"'coreml-os-signpost' has no column '{column}'"):
        events(make, make.table("coreml-os-signpost", list(cells), tuple(cells.values())))


def test_the_event_type_decides_the_lane_and_the_string_the_kind(make):
    rows = [
        (0, 1, "Neural Engine - Data Copy", "n", None, "top", "model-dispatch-event"),
        (1, 1, "Flush", "n", None, "top", "model-data-event"),
        (2, 1, "Flush", "n", None, "top", "model-new-event"),
        (3, 1, "CPU", "n", None, "top", ""),
    ]
    events_read = events(make, make.coreml(*rows))
    assert values_of(events_read, "lane") == ["compute", "data", "unknown", "compute"]
    assert values_of(events_read, "kind") == ["neural_engine_data_copy", "other", "other", "cpu_compute"]


def test_the_event_type_names_a_lane_or_none(make):
    lanes = {
        "model-direct-event": "activity",
        "model-data-event": "data",
        "model-dispatch-event": "compute",
        " Model-Direct-Event ": "activity",
        "": "unknown",
        "model-state-event": "unknown",
    }
    names = "start duration event-label model-name event-type"
    rows = [(at, 1, "Frobnicate", "n", value) for at, value in enumerate(lanes)]
    found = events(make, make.table("coreml-os-signpost", names, *rows))
    assert values_of(found, "lane") == list(lanes.values())


def test_rows_of_unknown_lane_stay_visible_with_their_raw_text(make):
    trace = build_trace(make.recording(make.coreml((0, 1, "  Quux", "n"), (1, 1, None, "n"))))
    assert values_of(trace.other, "kind") == ["other", "other"]
    assert values_of(trace.other, "label") == ["  Quux", None]


def test_rows_are_sorted_by_start_then_longest_first_then_row(make):
    rows = [(5, 1, "CPU", "n"), (0, 1, "CPU", "n"), (0, 9, "CPU", "n"), (0, 1, "CPU", "n")]
    assert events(make, make.coreml(*rows)).row.tolist() == [2, 1, 3, 0]


def test_a_row_with_a_duration_that_none_can_be_is_left_out_and_one_without_has_none(make):
    rows = events(make, make.coreml((0, -5, "CPU", "n"), (1, 2**50, "CPU", "n"), (2, None, "CPU", "n")))
    assert (rows.start_ns.tolist(), rows.duration_ns.tolist()) == ([2], [0])
    rows = events(make, make.coreml((0, None, "CPU", "n"), (1, None, "CPU", "n")))
    assert rows.duration_ns.tolist() == [0, 0]


def test_durations_that_are_no_numbers_are_refused_by_name(make):
    names = ("start", "duration", "event-label", "model-name")
    with pytest.raises(UnreadableRecording, match="'duration' of table 'coreml-os-signpost' does not contain numbers"):
        events(make, make.table("coreml-os-signpost", names, (0, "5000", "Prediction", "n")))
