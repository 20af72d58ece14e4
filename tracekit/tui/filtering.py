"""Which rows of an event frame pass a filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.aggregation import hardware_titles
from tracekit.trace.cache import cached_by_trace

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from tracekit.arrays import BoolArray, IntArray
    from tracekit.trace.trace import Trace
    from tracekit.tui.state import EventFilter
    from tracekit.tui.viewport import Span


def passing(trace: Trace, name: str, chosen: EventFilter, span: Span | None) -> BoolArray:
    """Rows of an event frame that pass the filter and, where there is a range, lie in it at least in part: shape (n,).

    An instant lies in the ranges that hold its time. O(n); each distinct text is looked at once.
    """
    frame: pd.DataFrame = getattr(trace, name)
    starts = frame["start_ns"].to_numpy()
    durations = frame["duration_ns"].to_numpy()
    keep = np.ones(len(frame), np.bool_)
    if span is not None:
        keep &= (starts < span.end_ns) & (np.maximum(starts + durations, starts + 1) > span.start_ns)
    for column, value in (("model", chosen.model), ("kind", chosen.kind), ("device", chosen.device)):
        if value is not None:
            keep &= _where(frame[column], value.__eq__) if value else frame[column].isna().to_numpy(dtype=bool)
    if chosen.text:
        keep &= _holding(trace, name, chosen.text.casefold())
    if chosen.min_ns is not None:
        keep &= durations >= chosen.min_ns
    if chosen.max_ns is not None:
        keep &= durations <= chosen.max_ns
    return keep


def _holding(trace: Trace, name: str, wanted: str) -> BoolArray:
    """Rows of an event frame that hold a folded text in label, model or process, or in what the aggregation calls them.

    That is the label but for the hardware, whose labels name single pieces of work.
    """
    frame: pd.DataFrame = getattr(trace, name)
    holds = np.zeros(len(frame), np.bool_)
    for column in ("label", "model", "process"):
        holds |= _where(frame[column], lambda text: wanted in text.casefold())
    if name == "hardware":
        titles = _titles(trace)
        holds |= np.array([wanted in text.casefold() for text in titles.texts], np.bool_)[titles.codes]
    return holds


_titles = cached_by_trace(hardware_titles)


def _where(column: pd.Series, holds: Callable[[str], bool]) -> BoolArray:
    """Rows of a category column whose text fulfils a condition; asked once for each distinct text."""
    texts = [holds(text) for text in column.cat.categories.to_numpy()]
    mask: BoolArray = np.array([*texts, False], np.bool_)[column.cat.codes.to_numpy()]
    return mask


def ranks(column: pd.Series) -> IntArray:
    """Place of each text of a category column in alphabetical order, rows without one last: shape (n,)."""
    texts = [str(text).casefold() for text in column.cat.categories]
    order = np.empty(len(texts) + 1, np.int64)
    order[np.argsort(np.array(texts, dtype=object), kind="stable")] = np.arange(len(texts))
    order[-1] = len(texts)
    ranks_of_rows: IntArray = order[column.cat.codes.to_numpy()]
    return ranks_of_rows
