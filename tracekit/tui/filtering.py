"""Which rows of an event frame pass a filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt
    import pandas as pd

    from tracekit.tui.state import EventFilter
    from tracekit.tui.timeline.viewport import Span

    Mask = npt.NDArray[np.bool_]


def passing(frame: pd.DataFrame, chosen: EventFilter, span: Span | None) -> Mask:
    """Rows that pass the filter and, where there is a range, lie in it at least in part: shape (n,). O(n).

    An instant lies in the ranges that hold its time.
    """
    starts = frame["start_ns"].to_numpy()
    durations = frame["duration_ns"].to_numpy()
    keep = np.ones(len(frame), np.bool_)
    if span is not None:
        keep &= (starts < span.end_ns) & (np.maximum(starts + durations, starts + 1) > span.start_ns)
    for column, value in (("model", chosen.model), ("kind", chosen.kind), ("device", chosen.device)):
        if value is not None:
            keep &= _where(frame[column], value.__eq__) if value else frame[column].isna().to_numpy(dtype=bool)
    if chosen.text:
        wanted = chosen.text.casefold()
        found = np.zeros(len(frame), np.bool_)
        for column in ("label", "model", "process"):
            found |= _where(frame[column], lambda text: wanted in text.casefold())
        keep &= found
    if chosen.min_ns is not None:
        keep &= durations >= chosen.min_ns
    if chosen.max_ns is not None:
        keep &= durations <= chosen.max_ns
    return keep


def _where(column: pd.Series, holds: Callable[[str], bool]) -> Mask:
    """Rows of a category column whose text fulfils a condition; asked once for each distinct text."""
    texts = [holds(str(text)) for text in column.cat.categories]
    found: Mask = np.array([*texts, False], np.bool_)[column.cat.codes.to_numpy()]
    return found


def ranks(column: pd.Series) -> npt.NDArray[np.int64]:
    """Place of each text of a category column in alphabetical order, rows without one last: shape (n,)."""
    texts = [str(text).casefold() for text in column.cat.categories]
    order = np.empty(len(texts) + 1, np.int64)
    order[np.argsort(np.array(texts, dtype=object), kind="stable")] = np.arange(len(texts))
    order[-1] = len(texts)
    found: npt.NDArray[np.int64] = order[column.cat.codes.to_numpy()]
    return found
