"""A trace whose lanes hold rows of every instrument."""

from __future__ import annotations

from pathlib import Path

import pytest

import tracekit
from tracekit.trace.trace import Trace


@pytest.fixture(scope="session")
def reload_trace(samples: Path) -> Trace:
    """The sample that loads its models again and again."""
    return tracekit.open_trace(samples / "style_transfer_reload.trace")
