"""Which predictions ran on which load, and the first one after each."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tracekit.analysis.loads import first_after_load, uses_of_loads

LOAD = "load_cached"
ROWS = st.lists(
    st.tuples(
        st.integers(0, 15),
        st.integers(0, 5),
        st.sampled_from(["load", LOAD, "prediction", "prediction", "compile"]),
        st.sampled_from(["A", "B", None]),
        st.sampled_from([1, 2, None]),
    ),
    max_size=12,
)


@settings(deadline=None, max_examples=200)
@given(ROWS)
def test_searching_forward_from_each_load_marks_the_same(events, drawn):
    rows = sorted(drawn, key=lambda row: row[:2])
    starts, lengths, kinds, models, instances = zip(*rows, strict=True) if rows else [()] * 5
    expected = set()
    for load, kind in enumerate(kinds):
        later = [
            k
            for k in range(len(rows))
            if kinds[k] == "prediction"
            and (models[k], instances[k]) == (models[load], instances[load])
            and starts[k] >= starts[load] + lengths[load]
        ]
        if kind in ("load", LOAD) and models[load] is not None and later:
            expected.add(later[0])
    activity = events(
        *[(start, start + length) for start, length, *_ in rows],
        kind=list(kinds),
        model=list(models),
        instance=list(instances),
    )
    assert first_after_load(activity).tolist() == [k in expected for k in range(len(rows))]
    of_model = [k for k in range(len(rows)) if models[k] == "A"]
    loads = [k for k in of_model if kinds[k] in ("load", LOAD)]
    predictions = [k for k in of_model if kinds[k] == "prediction"]
    uses = uses_of_loads(activity.take(loads), activity.take(predictions))
    firsts = {predictions[k] for k in uses.first[uses.load >= 0].tolist()}
    assert firsts == expected & set(predictions)


CALL = "prediction"


@pytest.mark.parametrize(
    ("times", "columns", "first"),
    [
        ([(0, 1), (1, 2), (5, 9), (10, 11), (12, 13)], {"kind": [CALL, LOAD, CALL, CALL, CALL]}, [2]),
        ([(0, 1), (2, 3), (4, 5)], {"kind": [LOAD, CALL, CALL], "model": ["A", "B", "A"]}, [2]),
        ([(0, 1), (2, 3), (4, 5), (6, 7)], {"kind": [LOAD, LOAD, CALL, CALL], "instance": [1, 2, 1, 2]}, [2, 3]),
        # A call during the load belongs to what was loaded before.
        ([(0, 10), (5, 7), (10, 12)], {"kind": [LOAD, CALL, CALL]}, [2]),
        ([(0, 1), (2, 3)], {"kind": ["compile", CALL]}, []),
        ([(0, 1), (2, 3), (4, 5), (6, 7)], {"kind": [LOAD, LOAD, CALL, CALL]}, [2]),
        ([], {}, []),
    ],
)
def test_the_first_prediction_after_each_load_is_marked(events, times, columns, first):
    assert np.flatnonzero(first_after_load(events(*times, **columns))).tolist() == first


@settings(deadline=None, max_examples=200)
@given(ROWS)
def test_looking_back_from_each_prediction_finds_the_same_load(events, drawn):
    rows = [(start, length, kind, instance) for start, length, kind, _, instance in sorted(drawn, key=lambda r: r[:2])]
    loads = [row for row in rows if row[2] in ("load", LOAD)]
    calls = [row for row in rows if row[2] == "prediction"]

    def of_rows(chosen):
        return events(*[(row[0], row[0] + row[1]) for row in chosen], instance=[row[3] for row in chosen])

    uses = uses_of_loads(of_rows(loads), of_rows(calls))
    load = uses.load[uses.group]
    for (start, _, _, instance), load_used in zip(calls, load.tolist(), strict=True):
        before = [
            (load[0] + load[1], index)
            for index, load in enumerate(loads)
            if load[3] == instance and load[0] + load[1] <= start
        ]
        assert load_used == max(before)[1] if before else load_used < 0
    for group in range(len(uses.load)):
        mine = [index for index, number in enumerate(uses.group) if number == group]
        assert uses.first[group] == mine[0]
        assert uses.first_ns[group] == calls[mine[0]][0]
        assert uses.last_ns[group] == calls[mine[-1]][0]
        assert uses.end_ns[group] == max(calls[index][0] + calls[index][1] for index in mine)
        assert uses.count[group] == len(mine)
    assert len(set(uses.load.tolist())) == len(uses.load)
    assert uses.first.tolist() == sorted(uses.first.tolist())


def test_processes_on_one_load_are_told_apart(events):
    loads, predictions = events((0, 1), kind=LOAD), events((2, 3), (4, 5), (6, 7), (8, 9), (10, 11))
    uses = uses_of_loads(loads, predictions, np.array([7, 9, 7, -1, 9]))
    assert uses.group.tolist() == [0, 1, 0, 2, 1]
    assert (uses.load.tolist(), uses.first.tolist()) == ([0, 0, 0], [0, 1, 3])
    # A call that names no process is of the only one that is named.
    assert uses_of_loads(loads, predictions, np.array([7, -1, 7, -1, 7])).group.tolist() == [0] * 5
    assert uses_of_loads(loads, predictions, np.full(5, -1)).group.tolist() == [0] * 5


def test_predictions_before_any_load_are_grouped_by_instance(events):
    calls = events((0, 1), (2, 3), (4, 5), (6, 7), instance=[1, 2, 1, None])
    uses = uses_of_loads(events(), calls)
    assert uses.group.tolist() == [0, 1, 0, 2]
    assert uses.count.tolist() == [2, 1, 1]
    assert (uses.load < 0).all()
