"""Measurements of the sample recordings, taken once."""

from __future__ import annotations

from functools import cache

import pytest

from tracekit.api import judge
from tracekit.compare.measurements import measure
from tracekit.trace.open import open_trace


@pytest.fixture(scope="session")
def measured(samples):
    """Measurements of a sample by its name."""

    @cache
    def of(name):
        trace = open_trace(samples / f"{name}.trace")
        return measure(trace, judge(trace))

    return of
