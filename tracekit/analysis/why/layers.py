"""What the time of each prediction consists of, in layers: execution, copies, and the rest; and its waits."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import pandas as pd

from tracekit.analysis.breakdown.partition import Breakdown
from tracekit.analysis.code.call_sites import call_sites
from tracekit.analysis.queues import all_waits
from tracekit.arrays import BoolArray, IntArray
from tracekit.rows import sums_by
from tracekit.trace.calls.stacks import HANDLING_DATA, LoadPhase
from tracekit.trace.events import Attribution
from tracekit.trace.frames import is_any
from tracekit.trace.trace import Trace


class Layer(IntEnum):
    """What the time of a prediction consists of, beside waits: columns of `Differences.usual_ns`."""

    ANE = 0
    GPU = 1
    CPU = 2
    DATA = 3
    SPECIALIZING = 4
    REST = 5


UNITS = [Layer.ANE, Layer.GPU, Layer.CPU]


_PARTS = {
    Layer.ANE: ("ane", "ane_requested"),
    Layer.GPU: ("gpu", "gpu_requested"),
    Layer.CPU: ("cpu",),
    Layer.DATA: ("data_before", "data_between", "data_after", "data_unplaced"),
}
"""Parts of a breakdown that each layer holds."""


def time_spent(ordered: Trace, times: Breakdown, calls: pd.DataFrame) -> tuple[IntArray, IntArray, IntArray]:
    """Of calls, and their breakdown: time of each by `Layer`, its waits by `Behind`, and time in which a row may be its
    own or another's. With the latter two, the layers add up to the duration."""

    def column(*names: str) -> IntArray:
        # One by one: all of them at once would be the largest array of an analysis.
        total = np.zeros(len(calls), np.int64)
        for name in names:
            total += times.numbers(f"{name}_ns")
        return total

    # Column by column in memory: each is filled by itself.
    spent = np.zeros((len(calls), len(Layer)), np.int64, order="F")
    for layer, names in _PARTS.items():
        # Zeros that nobody writes take no memory.
        if (time := column(*names)).any():
            spent[:, layer] = time
    inferred = is_any(calls["attribution"], Attribution.INFERRED)
    sites = call_sites(ordered) if inferred.any() else None
    if sites is not None:
        _add_samples(spent, sites, calls, inferred)
    waits = np.zeros((len(calls), 3), np.int64, order="F")
    for unit in all_waits(ordered).values():
        for behind in range(3):
            if (time := sums_by(calls.index.to_numpy(), unit.call, unit.behind_ns[:, behind])).any():
                waits[:, behind] += time
    ambiguous = column("ambiguous")
    spent[:, Layer.REST] = calls["duration_ns"].to_numpy() - spent.sum(axis=1) - waits.sum(axis=1) - ambiguous
    return spent, waits, ambiguous


def _add_samples(spent: IntArray, sites: pd.DataFrame, calls: pd.DataFrame, inferred: BoolArray) -> None:
    """What the thread of each inferred call did, as samples show; units count while it did not run."""

    def sampled(*names: str) -> IntArray:
        return np.where(inferred, samples_of(sites, calls, *names) * calls["resolution_ns"].to_numpy(), 0)

    left = np.where(inferred, calls["duration_ns"].to_numpy(), np.iinfo(np.int64).max // 2)
    running = sampled("samples")
    special = sampled(LoadPhase.SPECIALIZING, LoadPhase.COMPILING)
    data = sampled(HANDLING_DATA)
    for layer, time in (
        (Layer.SPECIALIZING, np.minimum(special, running)),
        (Layer.DATA, np.minimum(data, running - np.minimum(special, running))),
        (Layer.CPU, running - np.minimum(special + data, running)),
        (Layer.ANE, spent[:, Layer.ANE].copy()),
        (Layer.GPU, spent[:, Layer.GPU].copy()),
    ):
        taken = np.minimum(time, left)
        spent[:, layer] = np.where(inferred, taken, spent[:, layer])
        left = left - taken


def samples_of(sites: pd.DataFrame, calls: pd.DataFrame, *names: str) -> IntArray:
    """How many samples of these sorts `call_sites` counted for each call."""
    # Position -1 is that of the zero behind them.
    row = sites.index.get_indexer(calls.index)
    total = np.zeros(len(calls), np.int64)
    for name in names:
        if name in sites:
            total += np.append(sites[name].to_numpy(np.int64), 0)[row]
    return total
