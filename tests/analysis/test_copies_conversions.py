"""Conversions inside predictions, against counting nanosecond by nanosecond."""

import pytest
from hypothesis import given, settings, strategies as st

from tracekit.analysis.copies import summarize_conversions

KINDS = ("data_cast", "neural_engine_data_copy", "output_transformation", "input_copy")
ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 19), st.integers(0, 12), st.sampled_from(KINDS)))


@settings(deadline=None, max_examples=200)
@given(ROWS, st.integers(0, 12))
def test_counting_every_nanosecond_gives_the_same(events, drawn, least):
    # Four predictions of 20 ns, one every 30 ns; rows may run past the end of theirs.
    predictions = events(*[(30 * k, 30 * k + 20) for k in range(4)], ids=[3, 5, 7, 11])
    data = events(
        *[(30 * owner + at, 30 * owner + at + length) for owner, at, length, _ in drawn],
        lane="data",
        kind=[kind for *_, kind in drawn],
        prediction=[(3, 5, 7, 11)[owner] for owner, *_ in drawn],
        attribution="contained",
    )
    summary = summarize_conversions(predictions, data, min_ns=least)
    converting = {owner for owner, _, length, kind in drawn if kind == "data_cast" and length >= least}
    covered, unclear = set(), set()
    for owner, at, length, kind in drawn:
        if kind == "input_copy":
            continue
        times = {30 * owner + at + k for k in range(length)}
        if owner in converting:
            covered |= {time for time in times if time < 30 * owner + 20}
        else:
            unclear |= times
    assert summary.predicted_ns == 80
    assert summary.covered_ns == len(covered)
    assert summary.unclear_ns == len(unclear)
    assert summary.converting == len(converting)
    assert summary.share == pytest.approx(len(covered) / 80)
    assert summary.rows.tolist() == [
        k for k, (owner, _, _, kind) in enumerate(drawn) if kind != "input_copy" and owner in converting
    ]


def test_rows_that_lie_in_no_prediction_are_unclear(events):
    predictions = events((0, 20), ids=[3])
    data = events((30, 40), lane="data", kind="data_cast", prediction=[None], attribution="unattributed")
    summary = summarize_conversions(predictions, data, min_ns=1)
    assert (summary.covered_ns, summary.unclear_ns, summary.converting) == (0, 10, 0)
    assert summarize_conversions(predictions.take(slice(0)), data, min_ns=1).unclear_ns == 10


def test_rows_that_lie_in_several_predictions_count_once(events):
    predictions = events((0, 20), (5, 25), ids=[3, 5])
    kinds = ["data_cast", "neural_engine_data_copy"]
    data = events((6, 10), (8, 14), lane="data", kind=kinds, prediction=[None, None], attribution="ambiguous")
    summary = summarize_conversions(predictions, data, min_ns=4)
    assert (summary.covered_ns, summary.cast_ns, summary.converting) == (8, 4, 0)
    assert summarize_conversions(predictions, data, min_ns=5).covered_ns == 0
