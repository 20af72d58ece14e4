"""Cold loads that run one after another: chains of them, and the time that standing in line costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tracekit.analysis.cold_loads import ColdRule, cold_loads, preparations
from tracekit.intervals import Intervals
from tracekit.trace.events import LOAD_KINDS, Level
from tracekit.trace.frames import categorical, is_any, rows_where

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.arrays import BoolArray
    from tracekit.trace.trace import Trace


TOLERANCE = 0.02
"""Part of the time by which work that runs one after another may overlap: clocks and rounding (our judgment)."""

COVERED = 0.8
"""Least part of loads that overlap which preparation on the Neural Engine must cover to show what they wait for (our
judgment)."""


class LoadChain(NamedTuple):
    """Cold loads without a gap between them."""

    loads: pd.DataFrame
    models: int
    """Different models and instances."""
    start_ns: int
    end_ns: int
    in_line: bool | None
    """Whether each was prepared after the one before; None where loads overlap and nothing shows it."""
    lost_ns: int
    """What it took beyond the longest single one; 0 where `in_line` is not True."""


class TopLoads(NamedTuple):
    """Loads that the app called for, sorted by start."""

    rows: pd.DataFrame
    cold: BoolArray
    unknown: BoolArray
    """Neither cold nor cached can be shown."""


def top_loads(trace: Trace, rule: ColdRule) -> TopLoads:
    """The loads of all models with what is known of each. O(l log l + models × rows of the hardware)."""
    activity = trace.activity
    named = categorical(activity["model"]).codes >= 0
    rows = rows_where(activity, is_any(activity["kind"], *LOAD_KINDS) & is_any(activity["level"], Level.TOP) & named)
    cold, unknown = np.zeros(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
    codes = rows["model"].cat.codes.to_numpy()
    for code in np.unique(codes):
        of_model = codes == code
        known = cold_loads(rows_where(rows, of_model), trace, rule)
        cold[of_model], unknown[of_model] = known.cold, known.unknown
    return TopLoads(rows, cold, unknown)


def load_chains(loads: pd.DataFrame, trace: Trace, gap_ns: int, min_models: int) -> tuple[LoadChain, ...]:
    """Chains of loads (sorted by start) in which each starts at most `gap_ns` after those before it have ended, with
    `min_models` different models or instances. O(l log l + chains × preparations)."""
    times = Intervals.from_rows(loads)
    if not len(times):
        return ()
    reach = np.maximum.accumulate(times.ends)
    chain = np.concatenate(([0], np.cumsum(times.starts[1:] - reach[:-1] > gap_ns)))
    instance = loads.groupby(["model", "instance"], observed=True, dropna=False, sort=False).ngroup().to_numpy()
    models = np.bincount(np.unique(np.column_stack((chain, instance)), axis=0)[:, 0])
    edges = np.searchsorted(chain, np.arange(len(models) + 1))
    prepared = preparations(trace)
    return tuple(
        _chain(loads.iloc[edges[number] : edges[number + 1]], int(models[number]), prepared)
        for number in np.flatnonzero(models >= min_models)
    )


def _chain(loads: pd.DataFrame, models: int, prepared: pd.DataFrame) -> LoadChain:
    times = Intervals.from_rows(loads)
    first, last = int(times.starts[0]), int(times.ends.max())
    if _apart(times):
        return LoadChain(loads, models, first, last, True, _beyond_longest(times))
    possible = prepared["model"].isna() | prepared["model"].isin(loads["model"].unique())
    work = Intervals.from_rows(prepared)
    work = work.where(possible.to_numpy(dtype=bool) & (work.starts >= first) & (work.ends <= last))
    if len(work) < len(loads) or work.covered_ns < COVERED * (last - first):
        return LoadChain(loads, models, first, last, None, 0)
    if not _apart(work):
        return LoadChain(loads, models, first, last, False, 0)
    return LoadChain(loads, models, first, last, True, _beyond_longest(work))


def _apart(times: Intervals) -> bool:
    """Whether intervals run one after another."""
    return bool(times.durations.sum() <= times.covered_ns * (1 + TOLERANCE))


def _beyond_longest(times: Intervals) -> int:
    """Summed durations in ns, less the longest."""
    return int(times.durations.sum() - times.durations.max())
