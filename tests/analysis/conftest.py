"""Rows made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace

import numpy as np
import pytest

from tracekit.recording.contents import Contents, Run
from tracekit.recording.table import TableState
from tracekit.trace.calls.infer import recorded_calls
from tracekit.trace.events import Calls, Events, no_events
from tracekit.trace.instruments.catalogue import INSTRUMENTS
from tracekit.trace.models import models_of
from tracekit.trace.trace import Coverage, Trace

DEFAULTS = {
    "lane": "activity",
    "kind": "prediction",
    "guessed": False,
    "label": "Prediction",
    "model": "Model",
    "level": "top",
    "attribution": "exact",
    "table": "coreml-os-signpost",
}
Make = Callable[..., Calls]


def calls(*rows: Sequence[int], ids: Sequence[int] | None = None, **columns: object) -> Calls:
    """Rows given as (start, end) in ns; `columns` sets a column for all rows, or per row as a list."""
    count = len(rows)
    starts, ends = np.array(rows, np.int64).reshape(count, 2).T
    cells = {
        name: value if isinstance(value, list) else [value] * count for name, value in (DEFAULTS | columns).items()
    }
    made = replace(
        Events.listed(count, cells),
        id=np.arange(count) if ids is None else np.array(ids),
        start_ns=starts,
        duration_ns=ends - starts,
        row=np.arange(count),
    )
    return recorded_calls(made)


@pytest.fixture(scope="session")
def events() -> Make:
    """`events((start, end), ..., kind=..., model=[...])`: rows of any lane."""
    return calls


@pytest.fixture(scope="session")
def trace_of() -> Callable[..., Trace]:
    """`trace_of(activity, data=..., compute=..., hardware=..., recorded=("GPU",))`."""

    def build(activity: Calls, recorded: Sequence[str] = (), **lanes: Calls) -> Trace:
        core_ml = [activity, *(lanes[name] for name in ("data", "compute") if name in lanes)]
        others = {name: Events(*(getattr(rows, each.name) for each in fields(Events))) for name, rows in lanes.items()}
        return Trace(
            contents=Contents("x", "xctrace export XML", False, (Run(1),)),
            run=Run(1),
            activity=activity,
            models=models_of(*core_ml),
            context={},
            coverage=tuple(
                Coverage(entry.name, TableState.ROWS if entry.name in recorded else TableState.MISSING, (), None, "")
                for entry in INSTRUMENTS
            ),
            **dict.fromkeys(("data", "compute", "other", "hardware"), no_events()) | others,
        )

    return build
