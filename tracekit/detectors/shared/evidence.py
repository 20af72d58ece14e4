"""Turns rows of an event frame into the intervals that a finding shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.detectors.outcomes import Evidence

if TYPE_CHECKING:
    import pandas as pd

MAX_EVIDENCE = 50
"""Intervals kept per finding: enough to walk through by hand, small enough for a bug report. Our judgement."""


def evidence_of(rows: pd.DataFrame) -> tuple[Evidence, ...]:
    """The longest rows of an event frame first, at most `MAX_EVIDENCE`; ties by start, then by index."""
    # Sorting two columns and taking few values of some is much faster than sorting the frame.
    order = np.lexsort((rows["start_ns"].to_numpy(), -rows["duration_ns"].to_numpy()))[:MAX_EVIDENCE]
    columns = (rows[name].array.take(order) for name in ("start_ns", "duration_ns", "model", "label", "table", "row"))
    return tuple(
        Evidence(
            start_ns=int(start),
            end_ns=int(start) + int(duration),
            model=None if not isinstance(model, str) else model,
            label=str(label),
            table=str(table),
            row=int(row),
        )
        for start, duration, model, label, table, row in zip(*columns, strict=True)
    )
