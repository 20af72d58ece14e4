"""Event frames made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pandas as pd
import pytest

from tracekit.frame import rows_of
from tracekit.recording.contents import Contents, Run
from tracekit.recording.table import TableState
from tracekit.trace.calls.infer import recorded_calls
from tracekit.trace.events import Events
from tracekit.trace.frames import EVENT_DTYPES
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
Frame = Callable[..., pd.DataFrame]


def event_frame(*rows: Sequence[int], index: Sequence[int] | None = None, **columns: object) -> pd.DataFrame:
    """A frame of rows given as (start, end) in ns; `columns` sets a column for all rows, or per row as a list."""
    times = np.array(rows, np.int64).reshape(len(rows), 2)
    values: dict[str, object] = {}
    for name, dtype in EVENT_DTYPES.items():
        value = columns.get(name, DEFAULTS.get(name))
        values[name] = (
            pd.Series(value).astype(dtype).array if isinstance(value, list) else _repeated(value, len(rows), dtype)
        )
    values |= {"start_ns": times[:, 0], "duration_ns": times[:, 1] - times[:, 0], "row": np.arange(len(rows))}
    return pd.DataFrame(values, index=range(len(rows)) if index is None else list(index))


@cache
def _repeated(value: object, count: int, dtype: str) -> object:
    """A column that holds one value; making them takes most of the time of a frame."""
    return pd.Series([value if dtype != "int64" else 0] * count).astype(dtype).array


@pytest.fixture(scope="session")
def frame() -> Frame:
    """`frame((start, end), ..., kind=..., model=[...])`."""
    return event_frame


@pytest.fixture(scope="session")
def trace_of() -> Callable[..., Trace]:
    """`trace_of(activity, data=..., compute=..., hardware=..., recorded=("GPU",))`."""

    def build(activity: pd.DataFrame, recorded: Sequence[str] = (), **frames: pd.DataFrame) -> Trace:
        empty = event_frame()
        core_ml = [activity, *(frames[name] for name in ("data", "compute") if name in frames)]
        return Trace(
            contents=Contents("x", "xctrace export XML", False, (Run(1),)),
            run=Run(1),
            activity=recorded_calls(rows_of(Events, activity)),
            data=rows_of(Events, frames.get("data", empty)),
            compute=rows_of(Events, frames.get("compute", empty)),
            other=rows_of(Events, frames.get("other", empty)),
            hardware=rows_of(Events, frames.get("hardware", empty)),
            models=models_of(*(rows_of(Events, frame) for frame in core_ml)),
            context={},
            coverage=tuple(
                Coverage(entry.name, TableState.ROWS if entry.name in recorded else TableState.MISSING, (), None, "")
                for entry in INSTRUMENTS
            ),
        )

    return build
