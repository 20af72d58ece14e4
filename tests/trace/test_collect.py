from collections import Counter

import pytest
from hypothesis import given, settings, strategies as st

from tracekit.errors import MissingColumn, UnreadableRecording
from tracekit.trace.collect import collect

COLUMNS = "start duration label"


def gathered(rows):
    """Rows as tuples, in order."""
    return [tuple(cells.item(row) for cells in rows.table.cells) for row in range(rows.table.rows)]


def test_a_schema_that_the_recording_does_not_hold_gives_nothing_and_an_empty_table_no_rows(make):
    assert collect(make.recording(), ["x"]) is None
    assert collect(make.recording(make.unreadable("x", "not exported")), ["x"]) is None
    rows = collect(make.recording(make.table("x", COLUMNS)), ["x"])
    assert (rows.table.rows, rows.notes) == (0, ())


DRAWN = "start label color full-layout-id"


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        pytest.param([(COLUMNS, (0, 5, "a"), (0, 5, "a"))], [(0, 5, "a")] * 2, id="one table repeats"),
        pytest.param([(COLUMNS, *[(0, 5, "a")] * 2), (COLUMNS, *[(0, 5, "a")] * 3)], [(0, 5, "a")] * 3, id="both do"),
        pytest.param([(DRAWN, (0, "a", 1, 1)), (DRAWN, (0, "a", 2, 2))], [(0, "a", 1, 1)], id="drawn otherwise"),
        pytest.param(
            [(COLUMNS, (0, 5, "a")), ("start label duration", (9, "b", 6))],
            [(0, 5, "a"), (9, 6, "b")],
            id="columns in another order",
        ),
        pytest.param(
            [("start id", (0, 7)), ("start id", (0, "7"), (1, "OS_SIGNPOST_ID_EXCLUSIVE"))],
            [(0, "7"), (1, "OS_SIGNPOST_ID_EXCLUSIVE")],
            id="text in one is text in all",
        ),
        pytest.param(
            [(COLUMNS, (0, None, "a")), (COLUMNS, (1, 5, "b"))],
            [(0, None, "a"), (1, 5, "b")],
            id="no value takes nothing from numbers",
        ),
        pytest.param([(COLUMNS, (2**50 - 2, 5, "a"))], [(2**50 - 2, 5, "a")], id="a time below the largest"),
        pytest.param([(COLUMNS, (2**50 - 1, 5, "a"))], [], id="the largest time is none"),
    ],
)
def test_rows_of_tables_of_one_schema(make, tables, expected):
    recording = make.recording(*(make.table("x", columns, *rows) for columns, *rows in tables))
    assert gathered(collect(recording, ["x"])) == expected


def test_rows_of_two_tables_of_one_schema_are_counted_once(make):
    one = make.table("x", COLUMNS, (0, 5, "a"), (10, 5, "b"), position=1, target="SINGLE")
    other = make.table("x", COLUMNS, (10, 5, "b"), (0, 5, "a"), (20, 5, "c"), position=2, target="ALL")
    rows = collect(make.recording(one, other), ["x"])
    assert gathered(rows) == [(0, 5, "a"), (10, 5, "b"), (20, 5, "c")]
    # Counted on: the third row of the second table is the fifth of the schema.
    assert rows.row.tolist() == [0, 1, 4]
    assert rows.notes == ("Ignored 2 of 5 rows of x: also in another table of this run.",)


def test_with_once_identical_rows_are_one_across_schemas_too(make):
    one = make.table("x", COLUMNS, (0, 5, "a"), (0, 5, "a"), (1, 5, "a"))
    other = make.table("y", COLUMNS, (0, 5, "a"), (2, 5, "a"))
    rows = collect(make.recording(one, other), ["x", "y"], once=True)
    assert gathered(rows) == [(0, 5, "a"), (1, 5, "a"), (2, 5, "a")]
    assert [rows.schema.item(row) for row in range(3)] == ["x", "x", "y"]
    assert rows.row.tolist() == [0, 2, 1]


def test_a_missing_value_is_not_zero_and_not_empty_text(make):
    rows = [(0, 5, "a"), (0, None, "a"), (0, 0, "a"), (0, 5, None), (0, 5, "")]
    kept = gathered(collect(make.recording(make.table("x", COLUMNS, *rows)), ["x"], once=True))
    assert kept == rows


def test_rows_without_a_usable_time_are_left_out_and_counted(make):
    rows = collect(make.recording(make.table("x", COLUMNS, (None, 5, "a"), (2**62, 5, "b"), (3, 5, "c"))), ["x"])
    assert gathered(rows) == [(3, 5, "c")]
    assert rows.notes == ("Ignored 2 of 3 rows of x: no usable time.",)


def test_a_table_with_rows_and_no_time_is_refused_by_name(make):
    with pytest.raises(MissingColumn, match="table 'x' has no column 'start'"):
        collect(make.recording(make.table("x", "duration label", (5, "a"))), ["x"])
    with pytest.raises(UnreadableRecording, match="'start' of table 'x' does not contain numbers"):
        collect(make.recording(make.table("x", COLUMNS, ("soon", 5, "a"))), ["x"])


ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([0, 1, None]), st.sampled_from(["a", "b", "", None])),
    min_size=1,
    max_size=6,
)


@given(st.lists(ROWS, min_size=1, max_size=3))
@settings(deadline=None)
def test_each_row_counts_as_often_as_in_the_table_that_holds_it_most_often(make, tables):
    recording = make.recording(*(make.table("x", COLUMNS, *rows) for rows in tables))
    expected = Counter()
    for rows in tables:
        expected |= Counter(rows)
    # Numbers read as text where a column has no number at all in some table; both sides as text.
    counts = Counter(
        tuple(None if cell is None else str(cell) for cell in row) for row in gathered(collect(recording, ["x"]))
    )
    as_text = Counter({tuple(None if cell is None else str(cell) for cell in row): n for row, n in expected.items()})
    assert counts == as_text
    once = gathered(collect(recording, ["x"], once=True))
    assert len(once) == len(set(once)) == len(expected)
