"""How columns of a list share its width."""

from __future__ import annotations

from tracekit.tui.detail.columns import ListColumn, column_widths


def column(title: str, width: int, **room: int) -> ListColumn[str]:
    return ListColumn(title, str, width=width, **room)


def test_hidden_columns_take_no_room():
    columns = (column("a", 10), column("b", 0, min_width=20), column("c", 5, drop=1))
    assert column_widths(columns, 60) == [10, 40, 5]
    assert column_widths(columns, 60, frozenset({"a"})) == [0, 52, 5]
    assert column_widths(columns, 38) == [10, 25, 0]


def test_names_take_the_room_they_need_before_prose_takes_the_rest():
    columns = (column("name", 10, max_width=16), column("number", 5), column("prose", 0, min_width=20, drop=1))
    # One blank cell at the left, two between columns.
    assert column_widths(columns, 40) == [10, 5, 20]
    assert column_widths(columns, 44) == [14, 5, 20]
    assert column_widths(columns, 60) == [16, 5, 34]
    assert column_widths(columns, 30) == [16, 5, 0]
