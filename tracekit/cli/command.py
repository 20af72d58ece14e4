"""What a command is, and what it returns. Modules of commands are light: whatever is heavy is imported inside `run`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable


class ExitStatus(IntEnum):
    """What the process returns to its caller. Scripts and CI depend on the numbers."""

    DONE = 0
    """Done; no finding at or above `--fail-on`."""
    GATE_FAILED = 1
    """A finding reached `--fail-on`."""
    UNUSABLE = 2
    """Unusable input, bad usage, or a check that failed."""
    INCONCLUSIVE = 3
    """No check could be evaluated."""
    INTERRUPTED = 130
    """Stopped with Ctrl-C (128 + SIGINT, as shells have it)."""


@dataclass(frozen=True, slots=True)
class Next:
    """What a command wants to be run after it: a command line, without the name of the program."""

    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """One word after `tracekit`."""

    name: str
    summary: str
    """One line for the list of commands."""
    description: str
    """What `tracekit NAME --help` says first."""
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], ExitStatus | Next]
    """Does the work. Raises `TracekitError` for what the user can mend."""
