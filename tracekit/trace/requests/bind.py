"""Puts requests together: those that signposts show and those that tables of instruments name. Binds the table of the
Core AI instrument, too: specializations, loads, setups and inferences of models."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from tracekit.columns import all_known, codes_of, constant, numbers_by_code, or_null
from tracekit.recording.table import Process
from tracekit.rows import group_ids
from tracekit.trace.binding import as_texts, optional_integers, optional_values
from tracekit.trace.collect import Rows
from tracekit.trace.requests.foundation_models import bind_foundation_models
from tracekit.trace.requests.frame import CORE_AI_RUNTIME, Requests, joined_requests
from tracekit.trace.requests.logged import logged_requests
from tracekit.trace.runtimes.phases import FORMS, INTERVAL, Phases, with_recorded
from tracekit.trace.runtimes.registry import PHASES as LANE_OF


def bind_requests(
    phases: Phases, tables: Mapping[str, Rows | None], core_ai: Rows | None, target: Process | None
) -> tuple[Phases, Requests, tuple[str, ...]]:
    """Phases of signposts and of tables, with their requests; requests; and notes. `tables`: those of Foundation Models
    by schema; `core_ai`: rows of Core AI's own. O(n log n) in the phases."""
    logged, request = logged_requests(phases)
    drawn, recorded, notes = bind_foundation_models(tables, target)
    drawn = replace(drawn, request=or_null(np.where(drawn.request.known, drawn.request.values + len(logged), -1)))
    requests = joined_requests((logged, recorded))
    every = with_recorded(phases, (drawn, *([] if core_ai is None else [bind_core_ai(core_ai, target)])), request)
    # By its number so far, the place of each request in order of time. The last stands for none.
    place = np.full(len(requests) + 1, -1, np.int64)
    place[requests.request] = np.arange(len(requests))
    every = replace(every, request=or_null(place[every.request.filled()]))
    return every, replace(requests, request=np.arange(len(requests))), notes


_PHASES: Final = ("specialization", "load", "setup", "inference")
_TIME: Final = re.compile(r"\s*\([\d.,]+\s*(?:ns|µs|us|ms|s)\)$")
"""A duration in the text of a label."""


def bind_core_ai(rows: Rows, target: Process | None) -> Phases:
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
    count, none = len(codes), np.zeros(len(codes), np.int64)
    return replace(
        Phases.blank(count),
        start_ns=rows.starts,
        duration_ns=all_known(optional_integers(rows.table, "duration").values),
        form=constant(INTERVAL, count, FORMS),
        runtime=constant(CORE_AI_RUNTIME, count),
        phase=codes_of(codes, phases),
        lane=codes_of(codes, [LANE_OF[phase] for phase in phases]),
        name=codes_of(codes, labels),
        process=constant(target.name if target else None, count),
        pid=numbers_by_code(none, [target.pid if target else None]),
        table=as_texts(rows.schema),
        row=rows.row,
    )
