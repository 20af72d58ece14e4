"""Recordings, each read once by a process of tests, and judged, measured and drawn once in the same way. Nothing
changes a trace or a report."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tracekit import api, open_trace
from tracekit.api import Analysis
from tracekit.comparison import measuring
from tracekit.detectors import runner
from tracekit.detectors.framework import AnyDetector, Judgment
from tracekit.detectors.outcomes import Outcome
from tracekit.errors import TracekitError
from tracekit.recording.open import usable_tool
from tracekit.report import build, timeline
from tracekit.report.report import Report
from tracekit.request import Request, request_of, shown_of_request
from tracekit.trace.file_matching import join_files
from tracekit.trace.filter import Shown
from tracekit.trace.runtimes.registry import ALL_OWN
from tracekit.trace.trace import Trace

_answers, _run_detectors = api.judge_with_answers, api.run_detectors
_measure, _timeline_of, _detect = measuring.measure, timeline.timeline_of, runner._detect
USED_BY = {
    "open_trace": (
        "tracekit.request",
        "tracekit.cli.stacks",
        "tracekit.notebook.recordings",
        "tracekit.mcp_server.answers",
    ),
    "judge_with_answers": ("tracekit.api",),
    "run_detectors": ("tracekit.api",),
    "measure": ("tracekit.comparison.measuring", "tracekit.measured", "tracekit.mcp_server.answers"),
    "timeline_of": ("tracekit.report.timeline", "tracekit.notebook.trace_plots"),
}
"""Functions whose results are kept, and modules that call them."""
_KEPT: dict[int, Trace] = {}
"""By identity: what is not here may be let go of, and another trace take its place."""
_ANSWERS: dict[tuple[object, ...], tuple[Report, tuple[Judgment, ...]]] = {}
_JUDGMENTS: dict[tuple[object, ...], tuple[Judgment, ...]] = {}
_OUTCOMES: dict[tuple[object, ...], tuple[Outcome, AnyDetector]] = {}
"""With the detector, whose identity is in the key."""
_MADE: dict[tuple[object, ...], tuple[Any, object]] = {}
"""With what was judged, whose identity is in the key."""


def absolute(path: Path | str) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - `..` goes, links stay


def kept_trace(path: Path) -> Trace:
    """As `open_trace`, of a recording that does not change either."""
    return _kept_trace(absolute(path))


@cache
def _kept_trace(path: Path) -> Trace:
    trace = open_trace(path)
    _KEPT[id(trace)] = trace
    return trace


def is_kept(trace: Trace) -> bool:
    return _KEPT.get(id(trace)) is trace


def kept_judgments(trace: Trace, *, detectors: Sequence[AnyDetector], **options: object) -> tuple[Judgment, ...]:
    """Which part of a trace is shown, and where a setting is written, is nothing to the detectors."""
    if not is_kept(trace):
        return _run_detectors(trace, detectors=detectors, **options)
    key = (id(trace), tuple(map(id, detectors)), repr(sorted(options.items())))
    if key not in _JUDGMENTS:
        _JUDGMENTS[key] = _run_detectors(trace, detectors=detectors, **options)
    return _JUDGMENTS[key]


def kept_outcome(detector: AnyDetector, seen: Any, options: Any, model: str | None) -> Outcome:
    """What one of tracekit's own detectors says of a trace, whatever others are asked with it."""
    if not is_kept(seen.trace) or runner._is_foreign(detector):
        return _detect(detector, seen, options, model)
    key = (id(seen.trace), id(detector), repr(options), model)
    if key not in _OUTCOMES:
        _OUTCOMES[key] = _detect(detector, seen, options, model), detector
    return _OUTCOMES[key][0]


def kept_answers(trace: Trace, asked: Request, shown: Shown | None) -> tuple[Report, tuple[Judgment, ...]]:
    """What is reported again: a trace that is not kept, a part of one, and by settings from a file."""
    if not is_kept(trace) or shown is not None or asked.settings.path is not None:
        return _answers(trace, asked, shown)
    key = (id(trace), tuple(map(id, api.all_detectors())), repr(replace(asked, xctrace=None, progress=None)))
    if key not in _ANSWERS:
        _ANSWERS[key] = _answers(trace, asked, shown)
    return _ANSWERS[key]


def made_once(make: Callable[..., Any]) -> Callable[..., Any]:
    """What `make` makes of a trace that is kept and of its report or results."""

    def made(trace: Trace, judged: object, shown: Shown | None = None, **options: bool) -> Any:
        if not is_kept(trace) or shown is not None:
            return make(trace, judged, shown=shown, **options)
        key = (make, id(trace), id(judged), repr(sorted(options.items())))
        if key not in _MADE:
            _MADE[key] = make(trace, judged, **options), judged
        return _MADE[key][0]

    return made


def found_once(find: Callable[..., Any]) -> Callable[..., Any]:
    """What a report finds in a trace that is kept, whatever it was judged by."""

    def found(trace: Trace, shown: Shown | None) -> Any:
        if not is_kept(trace) or shown is not None:
            return find(trace, shown)
        key = (find, id(trace))
        if key not in _MADE:
            _MADE[key] = find(trace, shown), trace
        return _MADE[key][0]

    return found


_FOUND = {
    name: found_once(getattr(build, name))
    for name in ("code_info", "operations", "summarize_models", "summarize_requests", "summarize_runtimes")
}
kept_measures, kept_timeline = made_once(_measure), made_once(_timeline_of)


@cache
def kept_analysis(path: Path, **options: Any) -> Analysis:
    """As `analysis_of`, with the options of `request_of` that do not concern reading."""
    trace, request = join_files(kept_trace(path), path), request_of(**options)
    shown = shown_of_request(trace, request)
    return Analysis(trace, shown, kept_answers(trace, request, shown)[0], request.functions)


def keep(monkeypatch: pytest.MonkeyPatch, folders: Collection[Path]) -> None:
    """For one test, take what is kept of the recordings in these folders, which no test changes."""

    def opened(path: Path | str | Sequence[Path | str], **options: object) -> Trace:
        paths = [path] if isinstance(path, Path | str) else list(path)
        usual = len(paths) == 1 and options.get("run") is None and options.get("units", ALL_OWN) == ALL_OWN
        usual = usual and options.get("reader") in (None, "auto", "native")
        unchanged = {*map(absolute, folders)}
        if usual and absolute(paths[0]).parent in unchanged and usable_tool(paths, "auto") is None:
            # What is wrong is told of the path as it was given.
            with suppress(TracekitError):
                return kept_trace(Path(paths[0]))
        return open_trace(path, **options)

    monkeypatch.setattr(runner, "_detect", kept_outcome)
    for name, found in _FOUND.items():
        monkeypatch.setattr(build, name, found)
    for attribute, kept in {
        "open_trace": opened,
        "judge_with_answers": kept_answers,
        "run_detectors": kept_judgments,
        "measure": kept_measures,
        "timeline_of": kept_timeline,
    }.items():
        for module in USED_BY[attribute]:
            # What is loaded later does without: it would hold what is kept beyond the test.
            if module in sys.modules:
                monkeypatch.setattr(sys.modules[module], attribute, kept)
