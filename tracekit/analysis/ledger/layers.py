"""What the time of each prediction consists of, in layers: execution, copies, and the rest; and its waits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from tracekit.analysis.breakdown.partition import Breakdown, Part
from tracekit.analysis.code.call_sites import call_sites
from tracekit.analysis.load_waits import setup_times
from tracekit.analysis.loads import preparations
from tracekit.analysis.queues import all_waits
from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import Texts, column
from tracekit.intervals import Intervals
from tracekit.rows import Rows, sums_by
from tracekit.trace.calls.sites import Sites
from tracekit.trace.calls.stacks import HANDLING_DATA, MAKING_PIPELINES, LoadPhase
from tracekit.trace.events import Attribution
from tracekit.trace.instruments.tables import ShaderCompilations
from tracekit.trace.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class Compared(Rows):
    """What an answer says of the predictions themselves."""

    id: IntArray = column("row of `activity`")
    start_ns: IntArray = column("start")
    duration_ns: IntArray = column("duration")
    attribution: Texts = column("how sure the call is")
    resolution_ns: IntArray = column("how exactly its times are known")
    table: Texts = column("schema of the source table")
    row: IntArray = column("row in that table")


class Layer(IntEnum):
    """What the time of a prediction consists of, beside waits: columns of `Usual.layers_ns`."""

    NEURAL_ENGINE = 0
    GPU = 1
    CPU = 2
    DATA = 3
    SPECIALIZING = 4
    """The model was prepared for a compute unit."""
    PIPELINES = 5
    """The system compiled GPU code for the app."""
    REST = 6


UNITS = [Layer.NEURAL_ENGINE, Layer.GPU, Layer.CPU]
PREPARING = [Layer.SPECIALIZING, Layer.PIPELINES]
"""In the order of `tracekit.analysis.ledger.causes.PREPARING`."""


def on_units(spent: IntArray) -> IntArray:
    """Time of each prediction on compute units. Column by column, as it lies in memory."""
    total: IntArray = spent[:, Layer.NEURAL_ENGINE] + spent[:, Layer.GPU] + spent[:, Layer.CPU]
    return total


_PARTS = {
    Layer.NEURAL_ENGINE: (Part.ANE, Part.ANE_REQUESTED),
    Layer.GPU: (Part.GPU, Part.GPU_REQUESTED),
    Layer.CPU: (Part.CPU,),
    Layer.DATA: (Part.DATA_BEFORE, Part.DATA_BETWEEN, Part.DATA_AFTER, Part.DATA_UNPLACED),
}
"""Parts of a breakdown that each layer holds."""


SAMPLED = {
    Layer.SPECIALIZING: (LoadPhase.SPECIALIZING, LoadPhase.COMPILING),
    Layer.PIPELINES: (MAKING_PIPELINES,),
    Layer.DATA: (HANDLING_DATA,),
}
"""What samples show beside running code, by the columns of `call_sites`."""


def time_spent(ordered: Trace, times: Breakdown, calls: Compared) -> tuple[IntArray, IntArray, IntArray]:
    """Of calls, and their breakdown: time of each by `Layer`, its waits by `Behind`, and time in which a row may be its
    own or another's. With the latter two, the layers add up to the duration."""

    def time_of(*parts: Part) -> IntArray:
        # One by one: all of them at once would be the largest array of an analysis.
        total = np.zeros(len(calls), np.int64)
        for part in parts:
            total += times.part(part).values
        return total

    # Column by column in memory: each is filled by itself.
    spent = np.zeros((len(calls), len(Layer)), np.int64, order="F")
    for layer, parts in _PARTS.items():
        # Zeros that nobody writes take no memory.
        if (time := time_of(*parts)).any():
            spent[:, layer] = time
    inferred = calls.attribution.is_any(Attribution.INFERRED)
    sites = call_sites(ordered)
    if sites is not None and inferred.any():
        _add_samples(spent, sites, calls, inferred)
    waits = np.zeros((len(calls), 3), np.int64, order="F")
    for unit in all_waits(ordered).values():
        for behind in range(3):
            if (time := sums_by(calls.id, unit.call, unit.behind_ns[:, behind])).any():
                waits[:, behind] += time
    ambiguous = time_of(Part.AMBIGUOUS)
    spent[:, Layer.REST] = calls.duration_ns - spent.sum(axis=1) - waits.sum(axis=1) - ambiguous
    _add_preparing(spent, ordered, calls, inferred)
    if sites is not None and not inferred.all() and ordered.sampled is not None:
        # What rows leave open of a recorded call, samples of its thread may show.
        for layer, names in SAMPLED.items():
            # Rows of copies say it more exactly; while others prepare, its thread waits.
            shown = inferred | (spent[:, layer] > 0) & (layer == Layer.DATA)
            sampled = sums_by(calls.id, sites.id, sites.samples_in(*names)) * ordered.sampled.period_ns
            _move(spent, Layer.REST, layer, np.where(shown, 0, sampled))
    return spent, waits, ambiguous


def _move(spent: IntArray, source: Layer, target: Layer, ns: IntArray) -> None:
    """Up to so much of the time of one layer to another."""
    moved = np.clip(ns, 0, np.maximum(spent[:, source], 0))
    if moved.any():
        spent[:, source] -= moved
        spent[:, target] += moved


def _add_preparing(spent: IntArray, ordered: Trace, calls: Compared, inferred: BoolArray) -> None:
    """What rows show of specializing and compiling, of the time that nothing else explains."""
    windows = Intervals.from_rows(calls)
    for layer, time in (
        (Layer.SPECIALIZING, _engine_prepares(ordered, calls, windows)),
        (Layer.PIPELINES, _pipelines_compile(ordered, windows)),
    ):
        if not time.any():
            continue
        left = time - spent[:, layer]
        # Of a call that only samples show, its thread may be seen to run meanwhile.
        for source, ns in ((Layer.REST, left), (Layer.CPU, np.where(inferred, left, 0))):
            before = spent[:, source].copy()
            _move(spent, source, layer, ns)
            left = left - (before - spent[:, source])


def _engine_prepares(ordered: Trace, calls: Compared, windows: Intervals) -> IntArray:
    """Time of each call in which the Neural Engine compiles its model or prepares it, outside of loads."""
    rows = preparations(ordered)
    prepared = np.zeros(len(calls), np.int64)
    if not len(rows):
        return prepared
    times, alone = _outside_loads(ordered, Intervals.from_rows(rows))
    called = ordered.activity.model.take(calls.id)
    for name in (None, *rows.model.held()):
        named = rows.model.is_any(name) if name else ~rows.model.known
        mine = np.flatnonzero(called.is_any(name)) if name else np.arange(len(calls))
        prepared[mine] += times.where(named[alone]).covered_within(windows.where(mine))
    return prepared


def _pipelines_compile(ordered: Trace, windows: Intervals) -> IntArray:
    """Time of each call in which GPU code is compiled for the app, outside of loads."""
    shaders, target = ordered.table(ShaderCompilations), ordered.run.target.process
    if shaders is None:
        return np.zeros(len(windows), np.int64)
    rows = shaders if target is None else shaders.where(shaders.pid.filled() == target.pid)
    times, _ = _outside_loads(ordered, Intervals.from_rows(rows))
    return times.covered_within(windows)


def _outside_loads(ordered: Trace, times: Intervals) -> tuple[Intervals, BoolArray]:
    """Those of some rows that are in no load or compilation, whose own they could be; and which these are."""
    outside = setup_times(ordered).covered_within(times) == 0
    return times.where(outside), outside


def _add_samples(spent: IntArray, sites: Sites, calls: Compared, inferred: BoolArray) -> None:
    """What the thread of each inferred call did, as samples show; units count while it did not run."""

    def sampled(samples: IntArray) -> IntArray:
        return np.where(inferred, sums_by(calls.id, sites.id, samples) * calls.resolution_ns, 0)

    left = np.where(inferred, calls.duration_ns, np.iinfo(np.int64).max // 2)
    shown = {layer: sampled(sites.samples_in(*names)) for layer, names in SAMPLED.items()}
    for layer, time in (
        *shown.items(),
        (Layer.CPU, np.maximum(sampled(sites.samples) - sum(shown.values()), 0)),
        (Layer.NEURAL_ENGINE, spent[:, Layer.NEURAL_ENGINE].copy()),
        (Layer.GPU, spent[:, Layer.GPU].copy()),
    ):
        taken = np.minimum(time, left)
        spent[:, layer] = np.where(inferred, taken, spent[:, layer])
        left = left - taken
