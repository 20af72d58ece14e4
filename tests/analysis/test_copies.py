"""Copies inside predictions, against counting nanosecond by nanosecond."""

import statistics

import pytest
from hypothesis import given, settings, strategies as st

from tracekit.analysis.copies import summarize_copies

KINDS = ("input_copy", "data_cast", "input_validation")
COPIES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 19), st.integers(0, 12), st.sampled_from(KINDS)))


def summarize(predictions, data, ratio=10.0, least=1):
    return summarize_copies(predictions, data, large_ratio=ratio, large_ns=least)


@settings(deadline=None, max_examples=200)
@given(COPIES)
def test_counting_every_nanosecond_gives_the_same(events, drawn):
    # Four predictions of 20 ns, one every 30 ns; copies may run past the end of theirs.
    predictions = events(*[(30 * k, 30 * k + 20) for k in range(4)], ids=[3, 5, 7, 11])
    rows = [(30 * owner + at, 30 * owner + at + length) for owner, at, length, _ in drawn]
    data = events(
        *rows,
        lane="data",
        kind=[kind for *_, kind in drawn],
        prediction=[(3, 5, 7, 11)[owner] for owner, *_ in drawn],
        attribution="contained",
    )
    summary = summarize(predictions, data)
    inside = [
        {(owner, time) for time in range(start, min(end, 30 * owner + 20))}
        for (start, end), (owner, *_) in zip(rows, drawn, strict=True)
    ]
    covered = set().union(*(times for times, (*_, kind) in zip(inside, drawn, strict=True) if kind in KINDS[:2]))
    assert summary.predicted_ns == 80
    assert summary.covered_ns == len(covered)
    assert summary.share == pytest.approx(len(covered) / 80)
    for kind in KINDS[:2]:
        chosen = [times for times, row in zip(inside, drawn, strict=True) if row[3] == kind]
        assert summary.by_kind.get(kind) == (len(set().union(*chosen)) if chosen else None)
    assert summary.rows.tolist() == [k for k, row in enumerate(drawn) if row[3] in KINDS[:2]]


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 60)), max_size=15), st.sampled_from([1.5, 2.0, 10.0]))
def test_outstanding_inputs_are_compared_with_the_others_of_their_call(events, drawn, ratio):
    predictions = events(*[(100 * k, 100 * k + 100) for k in range(3)])
    data = events(
        *[(100 * owner, 100 * owner + length) for owner, length in drawn],
        lane="data",
        kind="input_copy",
        prediction=[owner for owner, _ in drawn],
    )
    expected = []
    for index, (owner, length) in enumerate(drawn):
        others = [size for k, (call, size) in enumerate(drawn) if call == owner and k != index]
        if others and length >= 5 and length >= ratio * statistics.median(others):
            expected.append(index)
    assert sorted(summarize(predictions, data, ratio, least=5).large_rows.tolist()) == expected


@pytest.mark.parametrize(
    ("predictions", "copies", "attribution", "predicted_ns", "covered_ns", "rows"),
    [
        ([(0, 30), (10, 40)], [(12, 18)], "ambiguous", 60, 6, [0]),  # Of no single prediction: it counts once.
        ([(0, 30)], [(50, 60)], "exact", 30, 0, []),
        ([], [(12, 18)], "ambiguous", 0, 0, []),
        ([], [], "exact", 0, 0, []),
    ],
)
def test_rows_of_no_one_prediction(events, predictions, copies, attribution, predicted_ns, covered_ns, rows):
    data = events(*copies, lane="data", kind="input_copy", prediction=[None] * len(copies), attribution=attribution)
    summary = summarize(events(*predictions), data)
    assert (summary.predicted_ns, summary.covered_ns, summary.rows.tolist()) == (predicted_ns, covered_ns, rows)
    assert summary.share == pytest.approx(covered_ns / max(predicted_ns, 1))


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 15)), max_size=8))
def test_rows_of_several_predictions_never_cover_more_than_there_is(events, drawn):
    # Two predictions at once, from 0 to 20 and from 10 to 30 ns. Owner 2 stands for rows that could be of either.
    spans = [(0, 20), (10, 30), (0, 30)]
    predictions = events(*spans[:2])
    data = events(
        *[(at, at + length) for _, at, length in drawn],
        lane="data",
        kind="input_copy",
        prediction=[None if owner == 2 else owner for owner, *_ in drawn],
        attribution=["ambiguous" if owner == 2 else "contained" for owner, *_ in drawn],
    )
    times = [
        {time for time in range(at, at + length) if spans[owner][0] <= time < spans[owner][1]}
        for owner, at, length in drawn
    ]
    owned = [set().union(*(t for t, row in zip(times, drawn, strict=True) if row[0] == owner)) for owner in range(3)]
    summary = summarize(predictions, data)
    assert summary.covered_ns == len(owned[0]) + len(owned[1]) + len(owned[2] - owned[0] - owned[1])
    assert summary.share <= 1
