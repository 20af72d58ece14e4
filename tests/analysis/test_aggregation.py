"""Aggregation rows, their order, and the sort columns."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from tracekit.analysis.aggregation import NO_EVENT, SORT_COLUMNS, aggregate, sort_rows
from tracekit.errors import UsageError
from tracekit.recording.contents import Target
from tracekit.recording.table import Process


@pytest.fixture
def trace(events, trace_of):
    activity = events(
        (0, 10),
        (10, 16),
        (20, 24),
        (30, 34),
        kind=["load_cached", *["prediction"] * 3],
        label=["Load (cached)", *["Prediction"] * 3],
    )
    data = events((10, 11), (10, 12), (20, 21), lane="data", kind="input_copy", label="Input Copy")
    hardware = events(
        (11, 15), (13, 16), lane="neural-engine", kind="neural_engine_exec", label=["a", "b"], level=None, model=None
    )
    return trace_of(activity, data=data, hardware=hardware)


def test_rows_are_grouped_by_lane_event_and_model_and_hardware_by_kind(trace):
    rows = {
        (row.lane, row.label, row.model): (row.statistics.count, row.statistics.total_ns, row.statistics.elapsed_ns)
        for row in aggregate(trace)
    }
    assert rows == {
        ("activity", "Load (cached)", "Model"): (1, 10, 10),
        ("activity", "Prediction", "Model"): (3, 14, 14),
        ("data", "Input Copy", "Model"): (3, 4, 3),
        ("neural-engine", "Neural Engine execution", None): (2, 7, 5),
    }


def test_warm_leaves_out_the_first_prediction_after_a_load(trace):
    rows = {row.label: row for row in aggregate(trace)}
    assert rows["Prediction"].warm.count == 2
    assert rows["Prediction"].warm.total_ns == 8
    assert rows["Load (cached)"].warm is None
    assert rows["Input Copy"].warm is None


def test_without_predictions_left_there_are_no_warm_statistics_and_without_rows_nothing(events, trace_of):
    activity = events((0, 1), (2, 3), kind=["load", "prediction"])
    assert next(row for row in aggregate(trace_of(activity)) if row.kind == "prediction").warm is None
    assert aggregate(trace_of(events())) == ()


def test_hardware_work_of_other_processes_stands_apart(events, trace_of):
    hardware = events(
        (0, 3), (1, 9), lane="gpu", kind="gpu_exec", model=None, level=None, attribution=["unattributed", "foreign"]
    )
    rows = [(row.label, row.statistics.total_ns) for row in aggregate(trace_of(events(), hardware=hardware))]
    assert rows == [("GPU execution, other processes", 8), ("GPU execution", 3)]


def test_every_process_but_the_target_is_named(events, trace_of):
    hardware = events(
        (0, 3),
        (4, 9),
        (10, 12),
        (20, 21),
        (30, 34),
        lane="gpu",
        kind="gpu_exec",
        model=None,
        level=None,
        process=["App", "Screen", "Screen", None, "App"],
        pid=[7, 8, 8, None, 9],
        depth=[0, 0, 1, 0, 0],
        attribution=["unattributed", "foreign", "foreign", "unattributed", "foreign"],
    )
    trace = trace_of(events(), hardware=hardware)
    run = replace(trace.run, target=Target(process=Process("App", 7)))
    rows = aggregate(replace(trace, run=run))
    assert {(row.label, row.process, row.statistics.total_ns) for row in rows} == {
        ("GPU execution", "App (7)", 3),
        ("GPU execution, App (9)", "App (9)", 4),
        ("GPU execution, Screen (8)", "Screen (8)", 5),
        ("GPU execution, Screen (8), nested", "Screen (8)", 2),
        ("GPU execution, unknown process", None, 1),
    }


def test_no_process_is_missed_in_a_table_that_names_none(events, trace_of):
    hardware = events(
        (0, 3),
        (4, 9),
        lane=["gpu", "mps"],
        kind=["gpu_exec", "mps_dispatch"],
        model=None,
        level=None,
        process=["App", None],
        pid=[7, None],
        attribution="unattributed",
    )
    rows = aggregate(trace_of(events(), hardware=hardware))
    assert [row.label for row in rows] == ["MPS graph dispatch", "GPU execution, App (7)"]


def test_pipelines_and_their_stages_are_apart(events, trace_of):
    activity = events((0, 10), (1, 5), level=["top", "sub"])
    assert [(row.level, row.statistics.total_ns) for row in aggregate(trace_of(activity))] == [("top", 10), ("sub", 4)]


def test_the_largest_total_comes_first_and_ties_go_by_name(events, trace_of):
    activity = events((0, 5), (0, 5), (0, 9), model=["B", "A", "C"])
    assert [row.model for row in aggregate(trace_of(activity))] == ["C", "A", "B"]


@pytest.mark.parametrize(("column", "field"), SORT_COLUMNS.items())
def test_every_column_sorts_descending_with_missing_values_last(trace, column, field):
    values = [getattr(row.statistics, field) for row in sort_rows(aggregate(trace), column)]
    known = [value for value in values if value is not None]
    assert known == sorted(known, reverse=True)
    assert values == known + [None] * (len(values) - len(known))


def test_an_unknown_column_is_refused_with_the_choices(trace):
    with pytest.raises(UsageError, match="did you mean 'total'"):
        sort_rows(aggregate(trace), "totl")


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["CPU", "GPU Request", "New Event"]),
            st.sampled_from(["A", "B", None]),
            st.sampled_from(["top", "sub"]),
            st.integers(0, 9),
        ),
        max_size=25,
    ),
    st.randoms(use_true_random=False),
)
def test_no_row_is_lost_whatever_it_names_and_order_does_not_matter(events, trace_of, drawn, random):
    def build(rows):
        compute = events(
            *[(10 * k, 10 * k + length) for k, (*_, length) in enumerate(rows)],
            lane="compute",
            kind="other",
            label=[label for label, *_ in rows],
            model=[model for _, model, *_ in rows],
            level=[level for *_, level, _ in rows],
        )
        return [
            (row.label, row.model, row.level, row.statistics.count, row.statistics.total_ns)
            for row in aggregate(trace_of(events(), compute=compute))
        ]

    count, total = Counter(), Counter()
    for *key, length in drawn:
        count[tuple(key)] += 1
        total[tuple(key)] += length
    counted = build(drawn)
    assert {row[:3]: row[3:] for row in counted} == {key: (count[key], total[key]) for key in count}
    assert len(counted) == len(count)
    assert build(random.sample(drawn, len(drawn))) == counted


def test_rows_without_an_event_are_called_so(events, trace_of):
    (row,) = aggregate(trace_of(events((0, 5), kind="other", label=[None])))
    assert (row.label, row.statistics.count) == (NO_EVENT, 1)


def test_nested_hardware_rows_are_not_counted_with_those_around_them(events, trace_of):
    hardware = events(
        (0, 9), (0, 4), (4, 9), (20, 23), lane="gpu", kind="gpu_exec", model=None, level=None, depth=[0, 1, 1, None]
    )
    rows = [
        (row.label, row.statistics.count, row.statistics.total_ns)
        for row in aggregate(trace_of(events(), hardware=hardware))
    ]
    assert rows == [("GPU execution", 2, 12), ("GPU execution, nested", 2, 9)]
