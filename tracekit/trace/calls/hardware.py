"""Predictions that only the hardware shows, for recordings whose Core ML table holds no rows.

GPU rows, and Neural Engine rows with specific labels, name model and operation. A compiled model is a list of
operations that run in rising order, so a new prediction begins with a piece of work whose operation index does not rise
above that of the piece before it. A piece is one row on the Neural Engine; on the GPU it is a run of command buffers,
whose first one the label marks (`labels.HardwareLabel.buffer` is 0). Generic labels show no prediction.

Source: seven public recordings of Xcode 16.4, in which 34 command buffers of the GPU make up each prediction. There a
command buffer may have a second row, on another channel, which begins nothing. Work of predictions in flight at once
that alternates is told apart by the thread that encodes it; where none is known it is cut at each turn.

Time is a lower bound: from the first hardware row to the end of the last, or as long as `encoded` says, without Core
ML's other work on the CPU around.

In a prediction a thread runs, and is sampled, or waits for a compute unit. Where all units were recorded, a time in
which none works and the thread is not sampled lies outside of the call (guess: threads wait for nothing else for long).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from tracekit.columns import constant, no_numbers, or_null
from tracekit.intervals import Intervals
from tracekit.rows import group_ids, in_order
from tracekit.trace.calls.encoded import Encoded
from tracekit.trace.events import (
    ATTRIBUTIONS,
    KINDS,
    LANES,
    LEVELS,
    Attribution,
    Device,
    Events,
    Kind,
    Lane,
    Level,
    numbered,
    order_of,
)

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, IndexArray, IntArray
    from tracekit.trace.calls.pieces import Timeline
    from tracekit.trace.instruments.instrument import CommandBuffers


INFERRED_LABEL = "Prediction (inferred from hardware)"
"""Event text of a prediction that Core ML did not record."""

_PREPARE = "prepare"
"""In the label of a load on the Neural Engine that did not come from the cache."""


def prepares(hardware: Events) -> BoolArray:
    """Which rows compile a model for the Neural Engine or prepare it for the cache, less those of others. O(rows)."""
    chosen, loads = (hardware.kind.is_any(kind) for kind in (Kind.ANE_COMPILE, Kind.ANE_LOAD))
    at = np.flatnonzero(loads)
    chosen[at] |= hardware.label.take(at).passing(lambda text: _PREPARE in text.casefold())
    result: BoolArray = chosen & ~hardware.attribution.is_any(Attribution.FOREIGN)
    return result


def reconstruct_predictions(
    hardware: Events, buffers: CommandBuffers, encoded: Encoded | None = None
) -> tuple[Events, Events]:
    """The Activity lane with the predictions that labels of the hardware show, and the hardware rows linked to them.

    Each prediction has the columns of `tracekit.trace.events`: process, pid, table and row are those of its first
    hardware row, device is that of all its rows and null where they ran on several. Rows of other processes make none;
    a row that names no process is foreign where only other processes' rows name its model. Rows before the first
    beginning of a prediction belong to none, nor does a first one that begins later in its model than others do: the
    recording began in the midst of it. What was `encoded` on several threads is of several predictions, and one that
    was lasts from the creation of its first command buffer until the process learns that the last is done. O(n log n).
    """
    encoded = encoded or Encoded.of(hardware, buffers, None)
    hardware = _without_models_of_others(hardware)
    # Those whose label says that they executed a model that may be the target's.
    executed = hardware.kind.is_any(Kind.ANE_EXEC) | hardware.lane.is_any(Lane.GPU)
    may_be_target = hardware.attribution.is_any(Attribution.EXACT, Attribution.LABEL)
    rows = np.flatnonzero(executed & may_be_target & hardware.operation.known)
    # A number for each model and process. Rows without a process go with the only one that names their model.
    model, names_process = hardware.model.codes[rows], hardware.process.known[rows]
    process = group_ids([hardware.process.codes[rows], hardware.pid.filled()[rows]], len(rows))
    size = int(model.max(initial=-1)) + 1
    lowest, highest = np.full(size, len(rows)), np.full(size, -1)
    np.minimum.at(lowest, model[names_process], process[names_process])
    np.maximum.at(highest, model[names_process], process[names_process])
    only = np.where(lowest == highest, highest, -1)
    who = group_ids([model, np.where(names_process, process, only[model])], len(rows))
    # Where a thread is known of all work of a model, no prediction has work of two.
    thread, nameless = encoded.thread[rows], np.zeros(int(who.max(initial=-1)) + 1, np.bool_)
    nameless[who[thread < 0]] = True
    who = group_ids([who, np.where(nameless[who], -1, thread)], len(rows))
    order = np.lexsort((rows, who))
    rows, who = rows[order], who[order]
    # Whether a prediction begins with the row. `rows` are sorted by `who`, then time.
    on_gpu = hardware.lane.is_any(Lane.GPU)[rows]
    # A second row of a command buffer goes on with what the first began.
    buffer = np.where(on_gpu & (buffers.id[rows] != 0), buffers.id[rows], -1 - np.arange(len(rows)))
    again = np.ones(len(rows), np.bool_)
    again[np.unique(group_ids([who, buffer], len(rows)), return_index=True)[1]] = False
    piece = np.flatnonzero(~on_gpu | (buffers.first[rows] & ~again))
    operation = hardware.operation.values[rows[piece]]
    begins = np.zeros(len(rows), np.bool_)
    whose = who[piece]
    opens = np.append(True, whose[1:] != whose[:-1])[: len(piece)]
    first = np.full(int(who.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, whose, operation)
    falls = np.append(False, operation[1:] <= operation[:-1])[: len(piece)]
    begins[piece] = (opens & (operation == first[whose])) | (falls & ~opens)
    call = np.cumsum(begins) - 1
    known = (call >= 0) & (who[begins][call] == who) if begins.any() else begins
    rows, call = rows[known], call[known]
    activity, frame_row = _activity(hardware, encoded, rows, call)
    prediction = np.full(len(hardware), -1, np.int64)
    prediction[rows] = frame_row[call]
    return activity, replace(hardware, prediction=or_null(prediction))


def _without_models_of_others(hardware: Events) -> Events:
    """The rows, with those marked foreign that name no process and a model that only other processes are seen with."""
    model, names_process = hardware.model.codes, hardware.process.known
    foreign = hardware.attribution.is_any(Attribution.FOREIGN)
    of_others = np.isin(model, model[foreign & names_process]) & ~np.isin(model, model[~foreign & names_process])
    unattributed = ~names_process & (model >= 0) & of_others
    if not unattributed.any():
        return hardware
    return replace(hardware, attribution=hardware.attribution.changed(unattributed, Attribution.FOREIGN.value))


def _activity(hardware: Events, encoded: Encoded, rows: IndexArray, call: IntArray) -> tuple[Events, IntArray]:
    """Predictions of some rows, whose own has an ascending number in `call`; and by that number its row there."""
    firsts = np.flatnonzero(np.diff(call, prepend=-1))
    chosen = hardware.take(rows[firsts])
    if not len(firsts):
        return chosen, firsts
    device = hardware.device.codes[rows]
    mixed = np.minimum.reduceat(device, firsts) != np.maximum.reduceat(device, firsts)
    count = len(chosen)
    none = no_numbers(count)
    start = np.minimum.reduceat(encoded.starts[rows], firsts)
    calls = replace(
        chosen,
        start_ns=start,
        duration_ns=np.maximum.reduceat(encoded.ends[rows], firsts) - start,
        lane=constant(Lane.ACTIVITY, count, LANES),
        kind=constant(Kind.PREDICTION, count, KINDS),
        label=constant(INFERRED_LABEL, count),
        instance=none,
        level=constant(Level.TOP, count, LEVELS),
        device=chosen.device.changed(mixed, None),
        depth=none,
        operation=none,
        prediction=none,
        attribution=constant(Attribution.INFERRED, count, ATTRIBUTIONS),
    )
    order = order_of(calls)
    return numbered(in_order(calls, order)), np.argsort(order)


FEW: Final = 3
"""Sampling periods within which a running thread is sampled (heuristic)."""


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """Times in which compute units work, with less than `slack_ns` between the rows of one: shape (n,) each."""

    starts: IntArray
    ends: IntArray
    slack_ns: int

    @classmethod
    def of(cls, work: Intervals, slack_ns: int) -> Reach:
        """From the times of rows of hardware. O(n log n)."""
        times = Intervals(work.starts - slack_ns, work.ends).union()
        return cls(times.starts + slack_ns, times.ends, slack_ns)

    def latest_end(self, time_ns: int) -> int:
        """When a prediction ends at the latest that is last seen at this time. O(log n)."""
        index = int(np.searchsorted(self.starts, time_ns + self.slack_ns, "right")) - 1
        covered = index >= 0 and self.ends[index] >= time_ns
        return (int(self.ends[index]) if covered else time_ns) + self.slack_ns

    def earliest_start(self, time_ns: int) -> int:
        """When a prediction begins at the earliest that is first seen at this time. O(log n)."""
        index = int(np.searchsorted(self.ends, time_ns - self.slack_ns, "left"))
        covered = index < len(self.starts) and self.starts[index] <= time_ns
        return (int(self.starts[index]) if covered else time_ns) - self.slack_ns


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Predictions that hardware shows: shape (n,) each."""

    starts: IntArray
    ends: IntArray
    """Of its rows of hardware."""
    begins: IntArray
    lasts: IntArray
    """Of the prediction: a thread begins to encode before the GPU works, and learns of its end later."""
    model: IntArray
    on_gpu: BoolArray
    thread: IntArray
    """The thread of the timeline that encodes it; -1 where that is not known."""
    told: BoolArray
    """Whether it ends when the process learns that, and its call lasts until then."""
    reach: Reach | None
    """How far a prediction may reach; None where not all units were recorded."""
    loading: Reach
    """The same of a load, that waits for the Neural Engine to take a model in, or for GPU code to be compiled."""
    pieces: Intervals
    """All rows of hardware, those of a prediction next to each other, in order of time."""
    first_piece: IntArray
    """Shape (n + 1,): the first of these of each prediction, and their number."""

    def is_over(self, line: Timeline, place: int, end: int, start: int) -> bool:
        """Whether the prediction that worked until `end` is over before `start`: for a while in between no unit works,
        and the thread of this place is not sampled. O(log n + samples in between)."""
        if self.reach is None or start - end <= FEW * line.period_ns:
            return False
        until = int(np.searchsorted(line.thread, line.thread[place], "right"))
        times = line.time[place:until]
        inside = times[slice(*np.searchsorted(times, (end, start)).tolist())].tolist()
        return any(self.reach.latest_end(one) < other for one, other in pairwise([end, *inside, start]))

    def own(self, index: int) -> Intervals:
        """When units work for a prediction."""
        own = slice(int(self.first_piece[index]), int(self.first_piece[index + 1]))
        return Intervals(self.pieces.starts[own], self.pieces.ends[own])

    def busy_at(self, index: int, times: IntArray) -> int:
        """At how many of these times a prediction has a unit at work. O(rows of the prediction)."""
        own = self.own(index)
        begun = np.searchsorted(own.starts, times, "right") - 1
        ends = np.maximum.accumulate(own.ends)
        return int(((begun >= 0) & (times < ends[begun])).sum()) if len(ends) else 0

    @classmethod
    def of(
        cls,
        activity: Events,
        hardware: Events,
        encoded: Encoded,
        slack_ns: int,
        line: Timeline,
        *,
        watched: bool,
        shaders: Intervals | None,
    ) -> Work:
        """From the rows of `reconstruct_predictions`, all hardware rows, and when GPU code was compiled; `watched`: all
        units were recorded."""
        times, rows = Intervals.from_rows(activity), Intervals.from_rows(hardware)
        shaders = shaders or Intervals.none()
        units = rows.where(hardware.lane.is_any(Lane.NEURAL_ENGINE, Lane.GPU)).joined(shaders)
        loading = rows.where(hardware.kind.is_any(Kind.ANE_LOAD, Kind.ANE_COMPILE)).joined(shaders)
        prediction = hardware.prediction.filled()
        order = np.argsort(prediction, kind="stable")
        order = order[np.searchsorted(prediction[order], 0) :]
        tid = np.append(encoded.tid, -1)[encoded.rows_of(prediction, len(times))]
        # Each has a row.
        first = np.searchsorted(prediction[order], np.arange(len(times)))
        return cls(
            np.minimum.reduceat(rows.starts[order], first) if len(times) else times.starts,
            np.maximum.reduceat(rows.ends[order], first) if len(times) else times.ends,
            times.starts,
            times.ends,
            activity.model.codes.astype(np.int64),
            activity.device.is_any(Device.GPU),
            line.calling(tid),
            tid >= 0,
            Reach.of(units, slack_ns) if watched else None,
            Reach.of(loading, slack_ns),
            rows.where(order),
            np.searchsorted(prediction[order], np.arange(len(times) + 1)),
        )
