"""What goes to the terminal, read by a small terminal."""

from __future__ import annotations

import asyncio
import os
import re
from threading import Thread

import pytest
from hypothesis import given, strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.app import App
from textual.geometry import Region
from textual.strip import Strip

from tracekit.tui.terminal import Changes, TerminalCells, TerminalDriver

WIDTH, HEIGHT = 8, 2
PLAIN = ("", "39", "49")
"""Attributes, color and ground as the terminal begins."""
_CODE = re.compile(r"[34]8;2;\d+;\d+;\d+|\d+")
_PIECE = re.compile(r"\x1b\[(\d+);(\d+)H|\x1b\[([\d;]*)m|(.)", re.DOTALL)


def changed(style: tuple[str, str, str], codes: str) -> tuple[str, str, str]:
    attributes, color, ground = style
    for code in _CODE.findall(codes):
        if code == "0":
            attributes, color, ground = PLAIN
        elif code[:2] in {"38", "39"}:
            color = code
        elif code[:2] in {"48", "49"}:
            ground = code
        else:
            attributes += code
    return attributes, color, ground


class Terminal:
    """Cells with their style; half of a wide character cannot be overwritten without the other half being lost."""

    def __init__(self) -> None:
        self.cells = {(x, y): ("?", PLAIN) for x in range(WIDTH) for y in range(HEIGHT)}

    def read(self, text: str) -> None:
        x = y = 0
        style = PLAIN
        for row, column, codes, character in _PIECE.findall(text):
            if row:
                x, y = int(column) - 1, int(row) - 1
            elif character:
                for at in range(cell_len(character)):
                    self._clear(x + at, y)
                self.cells[x, y] = (character, style)
                for at in range(1, cell_len(character)):
                    self.cells[x + at, y] = ("", style)
                x += cell_len(character)
            else:
                style = changed(style, codes)

    def _clear(self, x: int, y: int) -> None:
        character = self.cells[x, y][0]
        if character == "":
            self.cells[x - 1, y] = (" ", PLAIN)
        elif cell_len(character) == 2:
            self.cells[x + 1, y] = (" ", PLAIN)

    def line(self, y: int) -> list[tuple[str, tuple[str, str, str]]]:
        return [self.cells[x, y] for x in range(WIDTH)]


LOOKS = (
    None,
    Style(color="#ff0000"),
    Style(color="#ff0000", bgcolor="#000080"),
    Style(color="#00ff00", bgcolor="#000080"),
    Style(bold=True, bgcolor="#000080"),
    Style(bold=True, underline=True),
)
CONSOLE = Console(color_system="truecolor", force_terminal=True)


@st.composite
def lines(draw) -> Strip:
    segments, used = [], 0
    while used < WIDTH:
        character = draw(st.sampled_from("ab 漢▄"))
        if used + cell_len(character) > WIDTH:
            character = "c"
        segments.append(Segment(character, draw(st.sampled_from(LOOKS))))
        used += cell_len(character)
    return Strip(segments, WIDTH)


screens = st.lists(st.lists(lines(), min_size=HEIGHT, max_size=HEIGHT), min_size=1, max_size=4)


@given(screens)
def test_the_terminal_shows_what_was_drawn_last(drawn):
    terminal, cells = Terminal(), TerminalCells()
    for screen in drawn:
        update = LayoutUpdate([[strip] for strip in screen], Region(0, 0, WIDTH, HEIGHT))
        terminal.read(Changes(cells, update).render_segments(CONSOLE))
        whole = Terminal()
        whole.read(update.render_segments(CONSOLE).replace("\n", ""))
        for y in range(HEIGHT):
            assert terminal.line(y) == whole.line(y)


def strip(text: str) -> Strip:
    return Strip([Segment(text)], len(text))


@pytest.fixture
def shown():
    cells = TerminalCells()
    update = LayoutUpdate([[strip("one   "), strip("ab")], [strip("two     ")]], Region(0, 0, WIDTH, HEIGHT))
    Changes(cells, update).render_segments(CONSOLE)
    return cells


def partly(*first: Strip) -> ChopsUpdate:
    chops = [{0: first[0], 6: first[1] if len(first) > 1 else None}, {0: strip("two     ")}]
    return ChopsUpdate(chops, [(0, 0, 6)], [[6, 8], [8]])


def test_what_is_there_already_is_not_written_again(shown):
    assert Changes(shown, partly(strip("one   "))).render_segments(CONSOLE) == ""
    assert Changes(shown, partly(strip("onE   "))).render_segments(CONSOLE) == "\x1b[1;3HE"


def test_after_the_terminal_was_resized_all_is_written(shown):
    shown.forget()
    assert Changes(shown, partly(strip("one   "))).render_segments(CONSOLE) == "\x1b[1;1Hone   "


def test_nothing_reads_from_a_terminal_that_is_gone_once_the_driver_is_closed():
    other_end, terminal = os.openpty()

    async def driver_of(app: App[None]) -> TerminalDriver:
        return TerminalDriver(app)

    driver = asyncio.run(driver_of(App()))
    driver.fileno = terminal
    reading = Thread(target=driver.run_input_thread, daemon=True)
    reading.start()
    os.close(other_end)
    reading.join(0.3)
    assert reading.is_alive()
    driver.close()
    reading.join(5)
    assert not reading.is_alive()
    os.close(terminal)
