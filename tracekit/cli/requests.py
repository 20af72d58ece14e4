"""What a command line asks of a recording, and the analysis of one."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Any

from tracekit.api import analysis_of, request_of
from tracekit.cli.reading import RUNNING, config_of, showing_progress, xctrace_options

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from tracekit.api import Analysis
    from tracekit.request import Request

_ASKED = frozenset(signature(request_of).parameters)
"""Arguments of commands that have the name of what they ask for."""


def request_from(arguments: Namespace, **more: Any) -> Request:
    """What the arguments of a command ask for, with `more` as `request_of` takes it. Reads the settings of the project,
    once for all that is done. Raises `UsageError`."""
    given = {name: value for name, value in vars(arguments).items() if name in _ASKED}
    given["settings"] = dict(given.get("settings", ()))
    if "config" not in more:
        given["config"] = config_of(arguments)
    given["xctrace"] = xctrace_options(arguments, quiet=getattr(arguments, "quiet", False))
    return request_of(**given | more)


def analyze_with_progress(paths: Sequence[str], request: Request, *, quiet: bool = False) -> Analysis:
    """The analysis of one recording; shows how far it has come where a person is looking, unless `quiet`."""
    with showing_progress(quiet, then=RUNNING) as progress:
        return analysis_of(paths, replace(request, progress=progress))
