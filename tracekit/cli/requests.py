"""What a command line asks of recordings, and reading them one after another or several at a time."""

from __future__ import annotations

import gc
import os
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tracekit.cli.output import narrate
from tracekit.cli.process import keep_freed_memory
from tracekit.cli.reading import REPORT, RUNNING, check_recordings, config_of, showing_progress, xctrace_options
from tracekit.errors import TracekitError, UsageError, words_of
from tracekit.recording import XctraceOptions
from tracekit.report.choice import Part
from tracekit.request import Request, request_of

if TYPE_CHECKING:
    from tracekit.api import Analysis

Item = TypeVar("Item")
Result = TypeVar("Result")

PROCESS_DIED = "the process that read it died, as when memory runs out"
"""Why `results_of` has no result for an item."""
_ASKED = frozenset(signature(request_of).parameters)
"""Arguments of commands that have the name of what they ask for."""


def request_from(arguments: Namespace, **more: Any) -> Request:
    """What the arguments of a command ask for, with `more` as `request_of` takes it. Reads the settings of the project,
    once for all that is done. Raises `UsageError`."""
    taken = {name: value for name, value in vars(arguments).items() if name in _ASKED}
    taken["settings"] = dict(taken.get("settings", ()))
    taken["part"] = part_of(arguments)
    if "config" not in more:
        taken["config"] = config_of(arguments)
    taken["xctrace"] = xctrace_options(arguments)
    keep_freed_memory()
    return request_of(**taken | more)


def part_of(arguments: Namespace) -> Part | None:
    """The part of the time that is asked for; None for all of it. Raises `UsageError` for one without length."""
    values = vars(arguments)
    part = Part(values.get("start"), values.get("end"), values.get("signpost"))
    if part.start_ns is not None and part.end_ns is not None and part.start_ns >= part.end_ns:
        raise UsageError("--from must be before --to")
    return None if part == Part() else part


def analyze_with_progress(paths: Sequence[str], request: Request, *, quiet: bool = False) -> Analysis:
    """The analysis of one recording; shows how far it has come where a person is looking, unless `quiet`."""
    # `view` has its first screen without what it takes to judge.
    from tracekit.api import analysis_of

    check_recordings(paths)
    with showing_progress(quiet, then=RUNNING) as progress:
        return analysis_of(paths, replace(request, progress=progress))


def results_of(
    work: Callable[..., Result],
    items: Sequence[Item],
    name_of: Callable[[Item], str],
    arguments: Namespace,
    request: Request,
) -> Iterator[Result | None]:
    """The result of each recording, in their order, as soon as it is there: read `--jobs` at a time, by default one on
    each core, or on the cluster of `--dask`; None for one whose process died. `work` takes an item and a `request`,
    gives the result also where it failed, and can be sent to another process. Shows how far it has come where a person
    is looking, unless `--quiet`."""
    address, quiet = getattr(arguments, "dask", None), arguments.quiet
    began, count = time.monotonic(), len(items)
    # A JSON report is read sooner than a process starts.
    slow = sum(not name_of(item).endswith(REPORT) for item in items)
    jobs = 1 if count < 2 else arguments.jobs or min(cores(), slow)
    if count < 2 or (jobs < 2 and address is None):
        for number, item in enumerate(items, 1):
            label = f"{number} of {count}{_time_left(began, number - 1, count)}: {name_of(item)}:" if count > 1 else ""
            with showing_progress(quiet, label=label, then=RUNNING) as progress:
                done = work(item, request=replace(request, progress=progress))
            # Parts of a recording refer to each other, and processes of the command line look for such objects too
            # seldom to free it in time. What was there before is not looked through again.
            gc.collect(1)
            yield done
        return
    # Most command lines are about one recording.
    from tracekit.cli.workers import in_processes, on_cluster

    # Messages cannot come from another process.
    asked = partial(work, request=replace(request, xctrace=XctraceOptions(arguments.timeout)))
    results = in_processes(asked, items, jobs) if address is None else on_cluster(asked, items, address)
    for number, (item, result) in enumerate(zip(items, results, strict=True), 1):
        # Other processes cannot show how far they have come.
        if not quiet and sys.stderr is not None and sys.stderr.isatty():
            narrate(f"tracekit: {number} of {count} done{_time_left(began, number, count)}: {name_of(item)}")
        yield result


def _time_left(began: float, done: int, count: int) -> str:
    """About how long the rest takes, of what `began` on the monotonic clock, in s; empty where that is not known."""
    if not 0 < done < count:
        return ""
    left = (time.monotonic() - began) / done * (count - done)
    return f", about {max(left, 1):.0f} s left" if left < 100 else f", about {left / 60:.0f} min left"


def cores() -> int:
    """Cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def sentence_on(error: Exception, path: str, where: str) -> str:
    """What went wrong with a recording that was found at `where`, named as the user did."""
    if isinstance(error, TracekitError):
        text, name = str(error).replace(where, path), Path(path).name
        # Of many recordings, which one is meant.
        return text if name in text else f"{name}: {text}"
    if isinstance(error, OSError):
        return f"cannot read {path}: {error.strerror or error}"
    return f"internal error ({words_of(error).splitlines()[0]}); run analyze --debug on it"
