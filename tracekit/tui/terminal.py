"""The terminal that the app runs on: whether it is still there, how many colors it has, and what it sends."""

from __future__ import annotations

import select
import sys
from contextlib import suppress
from typing import Any

from rich.console import Console
from textual.constants import COLOR_SYSTEM
from textual.drivers.linux_driver import LinuxDriver


class TerminalDriver(LinuxDriver):
    """Textual's own, which ends the app at the first bytes that no keyboard sends, as of a binary paste."""

    def run_input_thread(self) -> None:
        """Read keys and mouse until the app is left; what cannot be read is dropped."""
        while not self.exit_event.is_set():
            # Bytes that are not UTF-8, and codes of keys and sizes that no terminal has.
            with suppress(ArithmeticError, LookupError, ValueError):
                super().run_input_thread()


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
