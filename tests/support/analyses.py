"""Recordings, each analyzed once by a process of tests. Nothing changes a trace or a report."""

from __future__ import annotations

from functools import cache

from tracekit.api import analysis_of

kept_analysis = cache(analysis_of)
"""As `analysis_of`, of a recording that does not change either."""
