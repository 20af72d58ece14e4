"""What the detectors of reloads share: which reloads count, however long the model was unused before them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.loads import uses_of_loads
from tracekit.detectors import Kind, ModelView, is_any, option
from tracekit.detectors.shared.load_options import SOON_MS, WARM_UP_PAUSE_S, called

if TYPE_CHECKING:
    from typing import Any

    import pandas as pd

    from tracekit.arrays import BoolArray
    from tracekit.detectors.framework import ModelView


TIMES_USE = 3.0
"""A load that takes so many times as long as the predictions that it serves makes up most of the user's wait, whatever
memory its release saves (heuristic)."""

FELT_MS = 250
"""The delay from which Instruments' Hangs instrument notes a hang. A published speech app that loads its stages for
each sentence, on purpose, stays below."""


def max_idle_option() -> Any:
    """Option: how long in s a model may have been unused for every reload to count."""
    return option(
        5.0,
        "s",
        "Heuristic: a model that is unused for longer may have been released on purpose, for example between screens.",
    )


def outweigh_use(view: ModelView) -> BoolArray:
    """Shape (loads,): the load was waited for, is long enough to be felt, and takes `TIMES_USE` times as long as the
    predictions that ran on it.

    Loads that prepare the model for the device are left out: the cache is what they lack. O((l + p) log(l + p)).
    """
    uses = uses_of_loads(view.loads, view.predictions)
    durations = view.loads["duration_ns"].to_numpy()
    known = uses.load >= 0
    predicting = np.zeros(len(durations))
    each = np.bincount(uses.group, view.predictions["duration_ns"].to_numpy(), minlength=len(known))
    predicting[uses.load[known]] = each[known]
    chosen = (durations >= FELT_MS * 1_000_000) & (predicting > 0) & (durations >= TIMES_USE * predicting)
    chosen &= ~is_any(view.loads["kind"], Kind.LOAD_UNCACHED)
    if chosen.any():
        chosen[chosen] = called(view, view.loads[chosen], SOON_MS, WARM_UP_PAUSE_S)
    return chosen


def beside_cold(loads: pd.DataFrame, *, either_side: bool = False) -> BoolArray:
    """Shape (loads,): a load from the cache that comes right after one that prepared the model for the device, or with
    `either_side` right before it: both belong to the model's first run, and neither repeats the other. O(l)."""
    cold, cached = (is_any(loads["kind"], kind) for kind in (Kind.LOAD_UNCACHED, Kind.LOAD_CACHED))
    near = np.append(False, cold)[:-1]
    if either_side:
        near |= np.append(cold, False)[1:]
    beside: BoolArray = cached & near
    return beside
