"""`--config` and `--no-config`: which config file applies to commands that run checks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace, _ArgumentGroup


def add_config_arguments(parser: ArgumentParser | _ArgumentGroup) -> None:
    """The two arguments, of which one excludes the other."""
    project = parser.add_mutually_exclusive_group()
    project.add_argument("--config", metavar="FILE", help="config file (default: tracekit.toml or pyproject.toml)")
    project.add_argument("--no-config", action="store_true", help="ignore config files")


def config_of(arguments: Namespace) -> Path | None:
    """The config file to use: the one that is given, else the one that applies to the current folder."""
    from tracekit.config_file import find_config

    if arguments.no_config:
        return None
    return Path(arguments.config) if arguments.config else find_config(Path.cwd())
