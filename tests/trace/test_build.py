from collections import Counter

import numpy as np
from hypothesis import given, settings, strategies as st

from tracekit.trace.build import NEEDED_SCHEMAS, build_trace


def assert_sound(trace):
    """What holds for the rows of every trace."""
    for rows in trace.events.values():
        assert rows.id.tolist() == list(range(len(rows)))
        assert (np.diff(rows.start_ns) >= 0).all()
        assert (rows.duration_ns >= 0).all()
        assert all(cells.known.all() for cells in (rows.lane, rows.kind, rows.attribution, rows.table))
        linked = rows.prediction.values[rows.prediction.known]
        assert trace.activity.kind.is_any("prediction")[linked].all()
        assert (rows.prediction.known == rows.attribution.is_any("contained")).all()


def test_a_recording_without_tables_gives_empty_frames_of_the_right_shape(make):
    for recording in (make.recording(), make.recording(toc=False), make.recording(make.coreml(), make.engine())):
        trace = build_trace(recording)
        assert_sound(trace)
        assert not any(map(len, trace.events.values()))
        assert not len(trace.models)
        assert (trace.contents, trace.run) == (recording.contents, recording.run)


def test_the_schemas_of_all_binders_are_needed():
    # Listed again, so that a binder that gets lost is noticed.
    listed = """coreml-os-signpost ane-hw-intervals ane-hw-intervals-internal metal-gpu-intervals mps-hw-intervals
        metal-gpu-state-intervals os-signpost os-signpost-interval OSSignpostIntervals PointsOfInterestEvents
        device-thermal-state-intervals gpu-performance-state-intervals potential-hangs hang-risks time-info
        process-info life-cycle-period SessionTable RequestTable InstructionsTable ModelInferenceTable ToolTable
        ModelLoadingTable FMEventTable ODIEProfile CoreAIProfile sysmon-process activity-monitor-process-live
        metal-current-allocated-size graphics-compiler-activity-intervals metal-application-intervals
        metal-application-encoders-list metal-application-command-buffer-submissions metal-command-buffer-completed
        hitches hitches-summary hitches-updates hitches-ca-commit-interval hitches-commit-interval hitches-renders
        hitches-render-interval hitches-gpu hitches-gpu-interval hitches-frame-lifetimes hitches-lifetime-interval
        display-vsyncs-interval display-surface-swap runloop-intervals thread-state"""
    assert frozenset(listed.split()) == NEEDED_SCHEMAS


def test_each_core_ml_row_is_in_exactly_one_frame(make):
    labels = ["Prediction", "Load", "Input Copy", "CPU", "Quux", None]
    trace = build_trace(make.recording(make.coreml(*((index, 1, label, "n") for index, label in enumerate(labels)))))
    assert_sound(trace)
    lanes = {name: rows.row.tolist() for name, rows in trace.events.items()}
    assert lanes == {"activity": [0, 1], "data": [2], "compute": [3], "other": [4, 5], "hardware": []}


def test_tables_of_hardware_are_read_once_where_calls_are_inferred(make):
    recording, read = make.recording(make.coreml(), make.engine((0, 5, "ANE Exec"))), Counter()
    tables = recording.tables
    recording.tables = lambda schema, **attributes: read.update([schema]) or tables(schema, **attributes)
    assert len(build_trace(recording).hardware) == 1
    assert read["ane-hw-intervals"] == 1


ROWS = st.lists(
    st.tuples(
        st.integers(-5, 40),
        st.one_of(st.none(), st.integers(-3, 30)),
        st.sampled_from(["Prediction", "CPU", "Input Copy", "Load", "Batch Prediction", "Odd", "", None]),
        st.sampled_from(["a-1", "a-2", "b", "", None]),
        st.sampled_from(["a-1", "b", None]),
        st.sampled_from(["top", "sub", "", None]),
        st.sampled_from(["model-direct-event", "model-data-event", "model-dispatch-event", "odd", "", None]),
    ),
    max_size=12,
)


@given(ROWS, ROWS)
@settings(deadline=None)
def test_any_rows_give_a_sound_trace(make, first, second):
    trace = build_trace(
        make.recording(make.coreml(*first), make.coreml(*second), make.engine(*(row[:3] for row in first)))
    )
    assert_sound(trace)
