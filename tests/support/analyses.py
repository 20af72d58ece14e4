"""Recordings, each analyzed once by a process of tests. Nothing changes a trace or a report."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from tracekit.api import Analysis, analysis_of, request_of


@cache
def kept_analysis(path: Path, **options: Any) -> Analysis:
    """As `analysis_of`, with the options of `request_of`, of a recording that does not change either."""
    return analysis_of(path, request_of(**options))
