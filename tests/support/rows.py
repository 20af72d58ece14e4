"""Frames made by hand, as rows."""

from __future__ import annotations

import pandas as pd

from tracekit.frame import rows_of
from tracekit.trace.calls.infer import recorded_calls
from tracekit.trace.events import Calls, Events


def events_of(frame: pd.DataFrame) -> Events:
    """Rows of a frame; its index is their id."""
    return rows_of(Events, frame)


def calls_of(frame: pd.DataFrame) -> Calls:
    """The same, of calls that Core ML recorded."""
    return recorded_calls(events_of(frame))
