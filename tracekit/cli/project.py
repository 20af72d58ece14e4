"""Arguments of commands that run checks: which config file applies, which checks run, and with which options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace, _ArgumentGroup
    from collections.abc import Sequence


def add_config_arguments(parser: ArgumentParser | _ArgumentGroup) -> None:
    """`--config` and `--no-config`, of which one excludes the other."""
    project = parser.add_mutually_exclusive_group()
    project.add_argument("--config", metavar="FILE", help="config file (default: tracekit.toml or pyproject.toml)")
    project.add_argument("--no-config", action="store_true", help="ignore config files")


def config_of(arguments: Namespace) -> Path | None:
    """The config file to use: the one that is given, else the one that applies to the current folder."""
    from tracekit.config_file import find_config

    if arguments.no_config:
        return None
    return Path(arguments.config) if arguments.config else find_config(Path.cwd())


def add_check_arguments(parser: ArgumentParser | _ArgumentGroup) -> None:
    """`--only`, `--skip` and `--set`."""
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="run only this check (repeatable)")
    parser.add_argument("--skip", action="append", default=[], metavar="ID", help="skip this check (repeatable)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="CHECK.OPTION=VALUE",
        help="change an option of a check (repeatable); list them with 'tracekit detectors'",
    )


def ids(values: Sequence[str]) -> tuple[str, ...]:
    """Check ids of a repeatable flag that also takes comma-separated lists."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def settings(texts: Sequence[str]) -> dict[str, str]:
    """Values of `--set` by `CHECK.OPTION`. Raises `UsageError`."""
    return dict(_setting(text) for text in texts)


def _setting(text: str) -> tuple[str, str]:
    """One `--set`."""
    key, equals, value = text.partition("=")
    if not equals or "." not in key:
        raise UsageError(f"--set {text}: expected CHECK.OPTION=VALUE; list options with `tracekit detectors`")
    return key.strip(), value.strip()
