"""What a command is. Modules of commands are light: whatever is heavy is imported inside `run`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from tracekit.cli.exits import ExitStatus


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
