"""`tracekit completion SHELL`: a script that completes words in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import shtab

from tracekit.cli.commands import COMMANDS
from tracekit.cli.dispatch import build_parser
from tracekit.cli.options import OPTIONS, PARTS
from tracekit.cli.output import emit
from tracekit.cli.process import ExitStatus
from tracekit.detectors.plugins import listed_detectors

_KINDS = {"PATH": shtab.FILE, "OTHER": shtab.FILE, "MODEL": shtab.FILE, "FILE": shtab.FILE, "DIR": shtab.DIRECTORY}
"""What completes a value that help calls so."""


def run(arguments: argparse.Namespace) -> ExitStatus:
    """Print the script."""
    parser = build_parser()
    checks = [detector.id for detector in listed_detectors()]
    choices = {option.value: option.choices for option in OPTIONS.values() if option.choices} | {"PARTS": PARTS}
    choices |= {each.shown: each.choices for command in COMMANDS for each in command.arguments if each.choices}
    for action, forms in _actions(parser):
        metavar = str(action.metavar).rpartition("]")[2] if isinstance(action.metavar, str) else ""
        if metavar in _KINDS:
            action.complete = _KINDS[metavar]  # type: ignore[attr-defined] # shtab's own convention
        elif metavar == "CHECK":
            action.choices = checks
        elif metavar == "FORMAT":
            action.choices = forms
        elif metavar in choices:
            action.choices = choices[metavar]
    emit(str(shtab.complete(parser, arguments.shell)))
    return ExitStatus.DONE


def _actions(parser: argparse.ArgumentParser) -> Iterator[tuple[argparse.Action, tuple[str, ...]]]:
    """Every argument of the parser and of its commands, with the formats of its command."""
    for action in parser._actions:  # noqa: SLF001 - argparse offers no public way to list arguments
        if isinstance(action.choices, dict):
            for command in action.choices.values():
                yield from _actions(command)
        else:
            yield action, parser.get_default("forms") or ()
