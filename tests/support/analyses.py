"""Recordings, each read once by a process of tests, and analyzed once with the same options. Nothing changes a trace
or a report."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from tracekit.api import Analysis, judge, request_of
from tracekit.request import ALL, read_trace, shown_of_request
from tracekit.trace.trace import Trace


@cache
def kept_trace(path: Path) -> Trace:
    """As `open_trace`, of a recording that does not change either."""
    return read_trace(path, ALL)


@cache
def kept_analysis(path: Path, **options: Any) -> Analysis:
    """As `analysis_of`, with the options of `request_of` that do not concern reading."""
    trace, request = kept_trace(path), request_of(**options)
    shown = shown_of_request(trace, request)
    return Analysis(trace, shown, judge(trace, request, shown), request.functions)
