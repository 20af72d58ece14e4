"""Where the time of each prediction went: a partition that adds up exactly, and facts beside it.

Each instant of a prediction belongs to the first of these that covers it:

| # | part                                | covered by                                                               |
|---|-------------------------------------|--------------------------------------------------------------------------|
| 1 | `ane`                               | execution rows of the Neural Engine that belong to the prediction        |
| 2 | `gpu`                               | execution rows of the GPU that belong to it                              |
| 3 | `data_before`, `data_between`,      | rows of the Data lane, by their place before, between or after the first |
|   | `data_after`, `data_unplaced`       | and last compute activity; unplaced where there is none                  |
| 4 | `cpu`                               | `CPU` rows: what is nested in them (copies, other units) is not theirs   |
| 5 | `ane_queue` or `ane_requested`      | Neural Engine requests: waiting where execution rows of that unit exist  |
|   |                                     | in the prediction; else waiting and execution, not told apart            |
| 6 | `gpu_queue` or `gpu_requested`      | prepared and issued GPU requests, in the same way                        |
| 7 | `other`                             | Core ML events whose compute unit or lane is not known                   |
| 8 | `ambiguous`                         | rows that belong to it or to another prediction in flight                |
| 9 | `unaccounted`                       | nothing that was recorded                                                |

The reference gives the reasons: a request and its preparation overlap each other and the execution (so unions, never
sums), copies lie inside `CPU` rows, and current systems write no request row for the Neural Engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.analysis.breakdown_rows import Layer, Rows, linked_rows, model_codes
from tracekit.analysis.sweep import sweep
from tracekit.intervals import depth_profile, integrate, running_end, union, union_by_group
from tracekit.recording.table import TableState
from tracekit.trace.events import Device, Kind, Level
from tracekit.trace.instruments.catalogue import GPU, NEURAL_ENGINE

if TYPE_CHECKING:
    import numpy.typing as npt

    from tracekit.analysis.sweep import Steps
    from tracekit.trace.model import Trace

    IntArray = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]


class Part(StrEnum):
    """Parts of a prediction's time, in the order in which a reader cares."""

    ANE = "ane"
    GPU = "gpu"
    CPU = "cpu"
    DATA_BEFORE = "data_before"
    DATA_BETWEEN = "data_between"
    DATA_AFTER = "data_after"
    DATA_UNPLACED = "data_unplaced"
    ANE_QUEUE = "ane_queue"
    ANE_REQUESTED = "ane_requested"
    GPU_QUEUE = "gpu_queue"
    GPU_REQUESTED = "gpu_requested"
    OTHER = "other"
    AMBIGUOUS = "ambiguous"
    UNACCOUNTED = "unaccounted"

    @property
    def column(self) -> str:
        """Its column in `Breakdown.frame`."""
        return f"{self.value}_ns"


class Unknown(StrEnum):
    """Why a part is not known. Its time then lies in other parts: `unaccounted`, or what the reason names."""

    NOT_RECORDED = "not_recorded"
    """The table of the unit is missing or could not be read."""
    NO_REQUESTS = "no_requests"
    """The unit worked, and the recording holds no request rows that would tell when the work was asked for."""
    NOT_SPLIT = "not_split"
    """The unit was asked, and no execution row tells when it worked: see `ane_requested` and `gpu_requested`."""
    NO_CORE_ML = "no_core_ml"
    """The prediction is inferred from hardware rows; what Core ML did around them was not captured."""


REASONS: tuple[Unknown, ...] = tuple(Unknown)
"""What the numbers in `Breakdown.unknown` stand for."""


@dataclass(frozen=True, slots=True, eq=False)
class Breakdown:
    """Where the time of each prediction that the app called went."""

    frame: pd.DataFrame
    """One row per prediction, indexed by its label in `Trace.activity`. Null: not known; never zero for it.

    | column                                     | dtype    | holds                                                 |
    |--------------------------------------------|----------|-------------------------------------------------------|
    | model                                      | category | base name                                             |
    | duration_ns                                | int64    | the whole                                             |
    | one column for each `Part`                 | Int64    | ns; together, nulls left out, exactly the duration    |
    | ane_busy_ns, gpu_busy_ns, cpu_busy_ns      | Int64    | ns in which the unit executed for it, whatever else   |
    |                                            |          | happened meanwhile                                    |
    | handoffs                                   | Int64    | changes of the unit from one compute row to the next  |
    | handoff_gap_ns                             | Int64    | ns at those changes in which no unit worked for it    |
    | segments                                   | Int64    | distinct operations (`Op<N>`) on the Neural Engine    |
    | lead_ns, tail_ns                           | Int64    | ns before the first and after the last work of a unit |
    | other_models_ns                            | int64    | ns in which predictions of other models were running  |
    """
    unknown: dict[Part, npt.NDArray[np.int8]]
    """Shape (predictions,) each: why the part is null, as a place in `REASONS`; -1 where it is known."""
    ambiguous_rows: int
    """Rows that lie in several predictions at once and are therefore in none; their time is in `ambiguous`."""

    def of(self, predictions: pd.Index) -> Breakdown:
        """The breakdown of some predictions, by label; those it does not hold are left out. O(predictions)."""
        place = self.frame.index.get_indexer(predictions)
        place = place[place >= 0]
        unknown = {part: codes[place] for part, codes in self.unknown.items()}
        return Breakdown(self.frame.take(place), unknown, self.ambiguous_rows)


def breakdown(trace: Trace) -> Breakdown:
    """Breakdown of every top-level prediction. Rows in the stages of a pipeline count for the app's prediction.

    Rows are cut to their prediction. O(n log n) in the rows of the trace.
    """
    activity = trace.activity
    called = (activity["kind"] == Kind.PREDICTION) & (activity["level"] == Level.TOP)
    predictions = activity[called.to_numpy(dtype=bool)]
    rows, ambiguous = linked_rows(trace, predictions)
    count = len(predictions)
    steps = sweep(rows.window, rows.layer, rows.start_ns, rows.end_ns, windows=count, layers=len(Layer))
    seen = _Seen(
        inferred=(predictions["attribution"].astype(object) == "inferred").to_numpy(dtype=bool),
        recorded={Device.ANE: _recorded(trace, NEURAL_ENGINE), Device.GPU: _recorded(trace, GPU)},
        executed={device: steps.of(steps.covered[layer]) > 0 for device, layer in _EXECUTION.items()},
        requested={device: steps.of(steps.covered[layer]) > 0 for device, layer in _REQUESTS.items()},
    )
    unknown = _unknown(seen)
    parts = _parts(steps, seen, predictions, ambiguous)
    columns: dict[str, pd.arrays.IntegerArray | pd.Series | IntArray] = {
        "model": predictions["model"],
        "duration_ns": predictions["duration_ns"],
    }
    columns |= {part.column: pd.arrays.IntegerArray(parts[part], unknown[part] >= 0) for part in Part}
    columns |= _busy(steps, unknown)
    columns |= _work(rows, seen, predictions)
    columns["segments"] = _segments(rows, unknown[Part.ANE] >= 0, count)
    columns["other_models_ns"] = _other_models(predictions)
    return Breakdown(pd.DataFrame(columns, index=predictions.index), unknown, len(ambiguous[0]))


_EXECUTION = {Device.ANE: Layer.ANE, Device.GPU: Layer.GPU}
_REQUESTS = {Device.ANE: Layer.ANE_REQUEST, Device.GPU: Layer.GPU_REQUEST}


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the recording tells of each prediction: masks of shape (predictions,), by device."""

    inferred: Mask
    recorded: dict[Device, bool]
    """Whether execution of the device was recorded at all."""
    executed: dict[Device, Mask]
    requested: dict[Device, Mask]


def _recorded(trace: Trace, instrument: str) -> bool:
    """Whether the absence of a row of this instrument means that nothing happened."""
    states = [entry.state for entry in trace.coverage if entry.instrument == instrument]
    return bool(states) and states[0] in (TableState.ROWS, TableState.EMPTY)


def _unknown(seen: _Seen) -> dict[Part, npt.NDArray[np.int8]]:
    """Why each part is not known, as `Breakdown.unknown`."""
    count = len(seen.inferred)
    of_core_ml = np.where(seen.inferred, REASONS.index(Unknown.NO_CORE_ML), -1).astype(np.int8)
    codes = dict.fromkeys(Part, of_core_ml)
    known = np.full(count, -1, np.int8)
    codes |= {Part.AMBIGUOUS: known, Part.UNACCOUNTED: known}
    for device, part, queue in (
        (Device.ANE, Part.ANE, Part.ANE_QUEUE),
        (Device.GPU, Part.GPU, Part.GPU_QUEUE),
    ):
        executed, requested, recorded = seen.executed[device], seen.requested[device], seen.recorded[device]
        missing = np.full(count, not recorded)
        codes[part] = np.where(
            requested & ~executed,
            REASONS.index(Unknown.NOT_SPLIT),
            np.where(missing & ~executed, REASONS.index(Unknown.NOT_RECORDED), -1),
        ).astype(np.int8)
        codes[queue] = np.select(
            [seen.inferred, requested & ~executed, executed & ~requested, missing & ~executed],
            [
                REASONS.index(reason)
                for reason in (Unknown.NO_CORE_ML, Unknown.NOT_SPLIT, Unknown.NO_REQUESTS, Unknown.NOT_RECORDED)
            ],
            -1,
        ).astype(np.int8)
    return codes


def _parts(
    steps: Steps, seen: _Seen, predictions: pd.DataFrame, ambiguous: tuple[IntArray, IntArray]
) -> dict[Part, IntArray]:
    """Time of each part in each prediction; 0 for what is not known."""
    layer, window, time = steps.layer, steps.window, steps.of
    first, last = _compute_span(steps)
    data = layer == Layer.DATA
    placed = (first <= last)[window]
    before = steps.start_ns < first[window]
    after = steps.start_ns >= last[window]
    parts = {
        Part.ANE: time(layer == Layer.ANE),
        Part.GPU: time(layer == Layer.GPU),
        Part.CPU: time(layer == Layer.CPU),
        Part.DATA_BEFORE: time(data & placed & before),
        Part.DATA_BETWEEN: time(data & placed & ~before & ~after),
        Part.DATA_AFTER: time(data & placed & after),
        Part.DATA_UNPLACED: time(data & ~placed),
        Part.OTHER: time(layer == Layer.OTHER),
    }
    for device, queue, requested in (
        (Device.ANE, Part.ANE_QUEUE, Part.ANE_REQUESTED),
        (Device.GPU, Part.GPU_QUEUE, Part.GPU_REQUESTED),
    ):
        waiting = time(layer == _REQUESTS[device])
        parts[queue] = np.where(seen.executed[device], waiting, 0)
        parts[requested] = np.where(seen.executed[device], 0, waiting)
    starts = predictions["start_ns"].to_numpy()
    durations = predictions["duration_ns"].to_numpy()
    shared, level = depth_profile(*union(*ambiguous))
    ends = steps.start_ns + steps.length_ns
    hidden = np.concatenate(([0], np.cumsum(integrate(shared, level, steps.start_ns, ends))))
    hidden = np.diff(hidden[steps.edges])
    parts[Part.AMBIGUOUS] = integrate(shared, level, starts, starts + durations) - hidden
    parts[Part.UNACCOUNTED] = durations - np.sum(list(parts.values()), axis=0)
    return parts


def _compute_span(steps: Steps) -> tuple[IntArray, IntArray]:
    """Start of the first and end of the last compute activity of each window; start after end where there is none."""
    active = steps.covered[[Layer.ANE, Layer.GPU, Layer.CPU, Layer.ANE_REQUEST, Layer.GPU_REQUEST]].any(axis=0)
    window, start = steps.window[active], steps.start_ns[active]
    end = start + steps.length_ns[active]
    count = len(steps.edges) - 1
    first, last = np.zeros(count, np.int64), np.full(count, -1, np.int64)
    opens = np.flatnonzero(np.diff(window, prepend=-1))
    first[window[opens]] = start[opens]
    closes = np.append(opens[1:], len(window))[: len(opens)] - 1
    last[window[opens]] = end[closes]
    return first, last


def _busy(steps: Steps, unknown: dict[Part, npt.NDArray[np.int8]]) -> dict[str, pd.arrays.IntegerArray]:
    """Time in which each unit executed for each prediction."""
    layers = ((Part.ANE, Layer.ANE), (Part.GPU, Layer.GPU), (Part.CPU, Layer.CPU))
    return {
        f"{part}_busy_ns": pd.arrays.IntegerArray(steps.of(steps.covered[layer]), unknown[part] >= 0)
        for part, layer in layers
    }


def _work(rows: Rows, seen: _Seen, predictions: pd.DataFrame) -> dict[str, pd.arrays.IntegerArray]:
    """Hand-offs between units, and the time before and after all work of units.

    A unit works while it executes; where no execution was recorded, its requests stand for it.
    """
    count = len(predictions)
    chosen = np.isin(rows.layer, [Layer.ANE, Layer.GPU, Layer.CPU])
    hidden = seen.inferred.copy()
    for device, requests in _REQUESTS.items():
        stands_in = (rows.layer == requests) & ~rows.preparation & ~seen.executed[device][rows.window]
        chosen |= stands_in
        if not seen.recorded[device]:
            hidden |= ~seen.requested[device] & ~seen.executed[device]
    order = np.flatnonzero(chosen)
    order = order[np.lexsort((-rows.end_ns[order], rows.start_ns[order], rows.window[order]))]
    window, start, end = rows.window[order], rows.start_ns[order], rows.end_ns[order]
    unit = _UNITS[rows.layer[order]]
    reach = running_end(window, end)
    changes = np.flatnonzero((window[1:] == window[:-1]) & (unit[1:] != unit[:-1])) + 1
    gaps = np.zeros(count, np.int64)
    np.add.at(gaps, window[changes], np.maximum(start[changes] - reach[changes - 1], 0))
    opens = np.flatnonzero(np.diff(window, prepend=-1))
    lead, tail = np.zeros(count, np.int64), np.zeros(count, np.int64)
    starts = predictions["start_ns"].to_numpy()
    ends = starts + predictions["duration_ns"].to_numpy()
    worked = window[opens]
    lead[worked] = start[opens] - starts[worked]
    tail[worked] = ends[worked] - reach[np.append(opens[1:], len(window))[: len(opens)] - 1]
    idle = np.ones(count, dtype=bool)
    idle[worked] = False
    return {
        "handoffs": pd.arrays.IntegerArray(np.bincount(window[changes], minlength=count).astype(np.int64), hidden),
        "handoff_gap_ns": pd.arrays.IntegerArray(gaps, hidden),
        "lead_ns": pd.arrays.IntegerArray(lead, hidden | idle),
        "tail_ns": pd.arrays.IntegerArray(tail, hidden | idle),
    }


_UNITS = np.array(
    [
        {Layer.ANE: 0, Layer.ANE_REQUEST: 0, Layer.GPU: 1, Layer.GPU_REQUEST: 1, Layer.CPU: 2}.get(layer, -1)
        for layer in Layer
    ]
)
"""Number of the compute unit of each layer."""


def _segments(rows: Rows, hidden: Mask, count: int) -> pd.arrays.IntegerArray:
    """Distinct operations of each prediction on the Neural Engine; null where a row does not name its operation."""
    ane = rows.layer == Layer.ANE
    nameless = hidden.copy()
    nameless[rows.window[ane & (rows.operation < 0)]] = True
    keys = np.unique(np.stack((rows.window[ane], rows.model[ane], rows.operation[ane])), axis=1)
    return pd.arrays.IntegerArray(np.bincount(keys[0], minlength=count).astype(np.int64), nameless)


def _other_models(predictions: pd.DataFrame) -> IntArray:
    """Time of each prediction in which at least one prediction of another model was running."""
    starts = predictions["start_ns"].to_numpy()
    ends = starts + predictions["duration_ns"].to_numpy()
    # Within a prediction its own model runs all the time, so two models at once are it and another.
    _, piece_starts, piece_ends = union_by_group(model_codes(predictions), starts, ends)
    times, depth = depth_profile(piece_starts, piece_ends)
    return integrate(times, (depth >= 2).astype(np.int64), starts, ends)
