"""`--config` and `--no-config`: which file of settings holds for commands that judge a recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace, _ArgumentGroup


def add_config_arguments(parser: ArgumentParser | _ArgumentGroup) -> None:
    """The two arguments, of which one excludes the other."""
    project = parser.add_mutually_exclusive_group()
    project.add_argument("--config", metavar="FILE", help="file of settings (default: tracekit.toml or pyproject.toml)")
    project.add_argument("--no-config", action="store_true", help="use no file of settings")


def config_of(arguments: Namespace) -> Path | None:
    """The file of settings to use: the one that is given, else the one that holds for the current folder."""
    from tracekit.config import find_config

    if arguments.no_config:
        return None
    return Path(arguments.config) if arguments.config else find_config(Path.cwd())
