"""Shell completion scripts, made from the parser itself."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from argparse import Action, ArgumentParser
    from collections.abc import Iterator

SHELLS = ("bash", "zsh", "fish")


class PrintCompletion(argparse.Action):
    """`--print-completion SHELL`: print the script and leave, whatever else stands on the command line."""

    def __call__(self, parser: ArgumentParser, _namespace: object, shell: Any, _flag: str | None = None) -> None:
        """Print and exit with status 0."""
        from tracekit.cli.output import emit

        emit(completion_script(parser, str(shell)))
        parser.exit()


def completion_script(parser: ArgumentParser, shell: str) -> str:
    """Script for `shell` that completes commands, flags, files and detector ids. Changes the parser it is given."""
    import shtab

    from tracekit.detectors.plugins import listed_detectors

    ids = [detector.id for detector in listed_detectors()]
    for action in _actions(parser):
        if action.metavar in ("PATH", "FILE", "[MODEL=]PATH"):
            action.complete = shtab.FILE  # type: ignore[attr-defined] # shtab's own convention
        elif action.metavar == "DIR":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif action.metavar == "ID":
            action.choices = ids
    return str(shtab.complete(parser, shell))


def _actions(parser: ArgumentParser) -> Iterator[Action]:
    """Every argument of the parser and of its commands."""
    for action in parser._actions:  # noqa: SLF001 - argparse offers no public way to list arguments
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for command in action.choices.values():
                yield from _actions(command)
        else:
            yield action
