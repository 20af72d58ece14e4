"""How text is broken into lines."""

from __future__ import annotations

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tracekit.tui.text import Broken


def lines(text: str, width: int, indent: int = 0) -> list[str]:
    console = Console(width=width)
    with console.capture() as shown:
        console.print(Broken(Text(text, overflow="fold"), indent))
    return [line.rstrip() for line in shown.get().splitlines()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://a.example/docs-guides/source", ["https://a.example/docs-", "guides/source"]),
        ("see https://a.example/documentation", ["see https://a.example/", "documentation"]),
        ("App.Library.sharpenAll (Library.swift:64)", ["App.Library.sharpenAll", "(Library.swift:64)"]),
        ("PhotoLibrary.sharpenAllOfThem", ["PhotoLibrary.", "sharpenAllOfThem"]),
        ("createHandleWithRespecialization", ["createHandleWith", "Respecialization"]),
        ("0x0123456789abcdef0123456789abcdef", ["0x0123456789abcdef012345", "6789abcdef"]),
        ("words that fit are left as they are", ["words that fit are left", "as they are"]),
        ("", [""]),
    ],
)
def test_a_word_longer_than_a_line_is_broken_between_its_parts(text, expected):
    assert lines(text, 24) == expected


@pytest.mark.parametrize("width", range(2, 40))
def test_no_line_is_too_long_and_no_character_is_lost(width):
    text = "+[MLModel modelWithContentsOfURL:configuration:error:] 漢字/漢字漢字漢字"
    shown = lines(text, width)
    assert all(Text(line).cell_len <= width for line in shown)
    assert "".join("".join(shown).split()) == "".join(text.split())


def test_all_lines_are_indented_by_half_a_line_at_most():
    assert lines("one two three", 10, indent=4) == ["    one", "    two", "    three"]
    assert lines("one two three", 10, indent=80) == ["     one", "     two", "     three"]


def test_a_table_gives_indented_text_the_room_of_its_indent():
    grid = Table.grid()
    grid.add_column()
    grid.add_row(Broken(Text("Library.sharpenAll"), 6))
    console = Console(width=60)
    with console.capture() as shown:
        console.print(grid)
    assert shown.get().rstrip() == "      Library.sharpenAll"
