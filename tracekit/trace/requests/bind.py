"""Puts requests together: those that signposts show and those that tables of instruments name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from tracekit.recording.table import Process
from tracekit.trace.collect import Rows
from tracekit.trace.frames import or_minus_one
from tracekit.trace.requests.core_ai import bind_core_ai
from tracekit.trace.requests.foundation_models import bind_foundation_models
from tracekit.trace.requests.frame import joined_requests
from tracekit.trace.requests.logged import logged_requests
from tracekit.trace.runtimes.phases import with_recorded


class Requests(NamedTuple):
    """What a recording shows of language models."""

    phases: pd.DataFrame
    """Those of signposts and of tables, with their requests."""
    requests: pd.DataFrame
    notes: tuple[str, ...]


def bind_requests(
    phases: pd.DataFrame, tables: Mapping[str, Rows | None], core_ai: Rows | None, target: Process | None
) -> Requests:
    """Phases and requests. `tables`: those of Foundation Models by schema; `core_ai`: rows of Core AI's own.
    O(n log n) in the phases."""
    logged, request = logged_requests(phases)
    drawn, recorded, notes = bind_foundation_models(tables, target)
    if len(drawn):
        drawn["request"] = drawn["request"].astype("Int64") + len(logged)
    joined = joined_requests((logged, recorded))
    parts = (drawn, pd.DataFrame() if core_ai is None else bind_core_ai(core_ai, target))
    if phases.empty and not any(map(len, parts)):
        return Requests(phases, joined, notes)
    frame = with_recorded(phases, parts, request)
    if len(joined):
        new = np.empty(len(joined), np.int64)
        new[joined["request"].to_numpy()] = np.arange(len(joined))
        old = or_minus_one(frame["request"])
        frame["request"] = pd.arrays.IntegerArray(new[np.maximum(old, 0)], old < 0)
        joined["request"] = np.arange(len(joined))
    return Requests(frame, joined, notes)
