"""The terminal that the app runs on: whether it is still there, how many colors it has, and what it sends.

Only the cells that changed are written to it: Textual draws whole widgets again, and all of them after a layout.
"""

from __future__ import annotations

import select
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import COLOR_SYSTEMS, Console
from rich.control import Control
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.constants import COLOR_SYSTEM
from textual.drivers.linux_driver import LinuxDriver
from textual.strip import Strip


class TerminalDriver(LinuxDriver):
    """Textual's own, which ends the app at the first bytes that no keyboard sends, as of a binary paste."""

    def run_input_thread(self) -> None:
        """Read keys and mouse until the app is left; what cannot be read is dropped."""
        while not self.exit_event.is_set():
            # Bytes that are not UTF-8, and codes of keys and sizes that no terminal has.
            with suppress(ArithmeticError, LookupError, ValueError):
                super().run_input_thread()

    def close(self) -> None:
        """End all threads. Where the terminal went away, Textual can fail to stop the one that reads."""
        self.exit_event.set()
        super().close()


def terminal_is_gone() -> bool:
    """Whether nobody is at the other end of standard input any more."""
    if sys.__stdin__ is None:
        return False
    ends = select.poll()
    # The system reports a hang-up without being asked.
    ends.register(sys.__stdin__.fileno(), 0)
    return any(event & select.POLLHUP for _, event in ends.poll(0))


def has_sixteen_colors() -> bool:
    """Whether the terminal says that it has no more, in the words that Textual goes by."""
    wanted: Any = COLOR_SYSTEM
    return Console(color_system=wanted, force_terminal=True).color_system in {"standard", "windows"}


_GAP = 6
"""Unchanged cells that are written again rather than skipped: to move the cursor takes as many bytes."""

_Look = tuple[str, str, str]
"""Parameters of the attributes of text, of its color and of the ground."""
_PLAIN = ("", "39", "49")
_Cell = tuple[str, _Look]
"""A character and its look. An empty one is the right half of that before it."""


class TerminalCells:
    """What the terminal shows, as far as it is known."""

    def __init__(self) -> None:
        self._lines: dict[int, list[_Cell | None]] = {}

    def forget(self) -> None:
        """Nothing is known any more, so that all is written again."""
        self._lines.clear()

    def write(self, pieces: Iterable[tuple[int, int, Strip]], console: Console) -> str:
        """What to send for strips at lines and columns, and take them over. O(cells)."""
        written: list[str] = []
        look = _PLAIN
        system = COLOR_SYSTEMS[console.color_system or "truecolor"]
        for y, x, strip in pieces:
            line = self._lines.setdefault(y, [])
            new = _cells(strip, system)
            line.extend([None] * (x + len(new) - len(line)))
            old = line[x : x + len(new)]
            if old == new:
                continue
            line[x : x + len(new)] = new
            # Each run of cells that changed, from its first to the one after its last; a wide character is never cut.
            runs: list[tuple[int, int]] = []
            for at, (before, cell) in enumerate(zip(old, new, strict=True)):
                if before == cell:
                    continue
                if runs and at - runs[-1][1] <= _GAP:
                    runs[-1] = (runs[-1][0], at + 1)
                else:
                    runs.append((at, at + 1))
            for first, after in [(_whole(new, first, -1), _whole(new, after, 1)) for first, after in runs]:
                written.append(Control.move_to(x + first, y).segment.text)
                for character, wanted in new[first:after]:
                    if wanted != look:
                        written.append(_change(look, wanted))
                        look = wanted
                    written.append(character)
        if look != _PLAIN:
            written.append("\x1b[0m")
        return "".join(written)


class Changes(CompositorUpdate):
    """An update that writes only what it changes. What it is made from is worked out when it is written."""

    def __init__(self, terminal: TerminalCells, update: CompositorUpdate) -> None:
        self._terminal, self._update = terminal, update

    def render_segments(self, console: Console) -> str:
        """What to send to the terminal."""
        if isinstance(self._update, LayoutUpdate):
            return self._terminal.write(_of_layout(self._update), console)
        if isinstance(self._update, ChopsUpdate):
            return self._terminal.write(_of_chops(self._update), console)
        self._terminal.forget()
        return self._update.render_segments(console)


def _of_layout(update: LayoutUpdate) -> Iterator[tuple[int, int, Strip]]:
    for y, strips in enumerate(update.strips, update.region.y):
        x = update.region.x
        for strip in strips:
            yield y, x, strip
            x += strip.cell_length


def _of_chops(update: ChopsUpdate) -> Iterator[tuple[int, int, Strip]]:
    for y in dict.fromkeys(y for y, _, _ in update.spans):
        spans = [(first, after) for line, first, after in update.spans if line == y]
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and any(x < after and end > first for first, after in spans):
                yield y, x, strip


def _cells(strip: Strip, system: ColorSystem) -> list[_Cell]:
    cells: list[_Cell] = []
    for segment in strip:
        if segment.control:
            continue
        look = _look(segment.style, system)
        if segment.text.isascii():
            cells.extend([(character, look) for character in segment.text])
            continue
        for character in segment.text:
            size = cell_len(character)
            if size:
                cells += [(character, look), *[("", look)] * (size - 1)]
            elif cells:
                # It stands on the character before it.
                cells[-1] = (cells[-1][0] + character, cells[-1][1])
    return cells


@lru_cache(4096)
def _look(style: Style | None, system: ColorSystem) -> _Look:
    if style is None:
        return _PLAIN
    color, ground = (
        ";".join(color.downgrade(system).get_ansi_codes(foreground)) if color else plain
        for color, foreground, plain in ((style.color, True, _PLAIN[1]), (style.bgcolor, False, _PLAIN[2]))
    )
    return Strip.render_ansi(style.without_color, system), color, ground


@lru_cache(4096)
def _change(before: _Look, after: _Look) -> str:
    """What makes a terminal that writes with one look go on with another."""
    if before[0] == after[0]:
        new = [code for old, code in zip(before, after, strict=True) if old != code]
    else:
        # Attributes end only together.
        new = ["0", *(code for code, plain in zip(after, _PLAIN, strict=True) if code != plain)]
    return f"\x1b[{';'.join(new)}m"


def _whole(cells: Sequence[_Cell], at: int, step: int) -> int:
    while 0 < at < len(cells) and not cells[at][0]:
        at += step
    return at
