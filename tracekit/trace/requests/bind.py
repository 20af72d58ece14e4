"""Puts requests together: those that signposts show and those that tables of instruments name. Binds the table of the
Core AI instrument, too: specializations, loads, setups and inferences of models."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd

from tracekit.recording.table import Process
from tracekit.trace.binding import constant, optional_integers, optional_values, recode, text
from tracekit.trace.collect import Rows, group_ids
from tracekit.trace.frames import or_minus_one, or_null
from tracekit.trace.requests.foundation_models import bind_foundation_models
from tracekit.trace.requests.frame import joined_requests
from tracekit.trace.requests.logged import logged_requests
from tracekit.trace.runtimes.phases import FORMS, INTERVAL, with_recorded
from tracekit.trace.runtimes.registry import PHASES as LANE_OF


def bind_requests(
    phases: pd.DataFrame, tables: Mapping[str, Rows | None], core_ai: Rows | None, target: Process | None
) -> tuple[pd.DataFrame, pd.DataFrame, tuple[str, ...]]:
    """Phases of signposts and of tables, with their requests; requests; and notes. `tables`: those of Foundation Models
    by schema; `core_ai`: rows of Core AI's own. O(n log n) in the phases."""
    logged, request = logged_requests(phases)
    drawn, recorded, notes = bind_foundation_models(tables, target)
    if len(drawn):
        drawn["request"] = drawn["request"].astype("Int64") + len(logged)
    joined = joined_requests((logged, recorded))
    parts = (drawn, pd.DataFrame() if core_ai is None else bind_core_ai(core_ai, target))
    if phases.empty and not any(map(len, parts)):
        return phases, joined, notes
    frame = with_recorded(phases, parts, request)
    if len(joined):
        # The last stands for none.
        new = np.full(len(joined) + 1, -1, np.int64)
        new[joined["request"].to_numpy()] = np.arange(len(joined))
        frame["request"] = or_null(new[or_minus_one(frame["request"])])
        joined["request"] = np.arange(len(joined))
    return frame, joined, notes


NAME: Final = "Core AI"
_PHASES: Final = ("specialization", "load", "setup", "inference")
_TIME: Final = re.compile(r"\s*\([\d.,]+\s*(?:ns|µs|us|ms|s)\)$")
"""A duration in the text of a label."""


def bind_core_ai(rows: Rows, target: Process | None) -> pd.DataFrame:
    """The rows as rows of `Trace.phases`. Which columns the table has is reported, in which order and with which values
    is not, so each is read by its name and none is needed. Rows name no process, so they are the target's. Category,
    not color, says which phase a row is. O(n), with a loop over distinct models, functions and categories."""
    names = ("category", "phase", "model-name", "function-name", "base-function-name")
    columns = [optional_values(rows.table, name) for name in names]
    codes = group_ids([column.codes for column in columns], rows.table.rows)
    _, first = np.unique(codes, return_index=True)
    phases, labels = [], []
    for row in first.tolist():
        category, phase, model, function, base = (str(column.item(row) or "") for column in columns)
        known = [word for word in (category.casefold(), phase.casefold()) if word in _PHASES]
        phases.append(known[0] if known else "unknown")
        labels.append(_TIME.sub("", "::".join(filter(None, (model, function or base)))) or category or None)
    duration = optional_integers(rows.table, "duration")
    return pd.DataFrame(
        {
            "start_ns": rows.starts,
            "duration_ns": pd.arrays.IntegerArray(duration.values, np.zeros(len(codes), np.bool_)),
            "form": constant(INTERVAL, len(codes), FORMS),
            "runtime": constant(NAME, len(codes)),
            "phase": recode(codes, phases),
            "lane": recode(codes, [LANE_OF[phase] for phase in phases]),
            "name": recode(codes, labels),
            "process": constant(target.name if target else None, len(codes)),
            "pid": pd.array([target.pid if target else None] * len(codes), dtype="Int64"),
            "table": text(rows.schema),
            "row": rows.row,
        }
    )
