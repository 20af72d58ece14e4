"""Predictions that only the hardware shows, for recordings whose Core ML table holds no rows.

GPU rows, and Neural Engine rows with specific labels, name model and operation. A compiled model is a list of
operations that run in rising order, so a new prediction begins with a piece of work whose operation index does not rise
above that of the piece before it. A piece is one row on the Neural Engine; on the GPU it is a run of command buffers,
whose first one the label marks (`labels.HardwareLabel.buffer` is 0). Generic labels show no prediction.

Source: seven public recordings of Xcode 16.4, in which 34 command buffers of the GPU make up each prediction. There a
command buffer may have a second row, on another channel, which begins nothing. Work of predictions in flight at once
that alternates cannot be distinguished and is cut at each turn.

Time is a lower bound: from the first hardware row to the end of the last, without Core ML's work on the CPU around.

In a prediction a thread runs, and is sampled, or waits for a compute unit. Where all units were recorded, a time in
which none works and the thread is not sampled lies outside of the call (guess: threads wait for nothing else for long).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from tracekit.intervals import Intervals
from tracekit.trace.binding import constant
from tracekit.trace.collect import group_ids
from tracekit.trace.events import Attribution, Device, Kind, Lane, Level
from tracekit.trace.frames import FIXED_CATEGORIES, categorical, is_any, or_minus_one, or_null, reorder, sort_order

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, IndexArray, IntArray
    from tracekit.trace.calls.pieces import Timeline
    from tracekit.trace.instruments.instrument import CommandBuffers


INFERRED_LABEL = "Prediction (inferred from hardware)"
"""Event text of a prediction that Core ML did not record."""

_PREPARE = "prepare"
"""In the label of a load on the Neural Engine that did not come from the cache."""


def prepares(hardware: pd.DataFrame) -> BoolArray:
    """Which rows compile a model for the Neural Engine or prepare it for the cache, less those of others. O(rows)."""
    chosen, loads = (is_any(hardware["kind"], kind) for kind in (Kind.ANE_COMPILE, Kind.ANE_LOAD))
    chosen[loads] = [_PREPARE in str(text).casefold() for text in hardware["label"][loads]]
    result: BoolArray = chosen & ~is_any(hardware["attribution"], Attribution.FOREIGN)
    return result


def reconstruct_predictions(hardware: pd.DataFrame, buffers: CommandBuffers) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The Activity lane with the predictions that labels of the hardware show, and the hardware rows linked to them.

    Each prediction has the columns of `tracekit.trace.events`: process, pid, table and row are those of its first
    hardware row, device is that of all its rows and null where they ran on several. Rows of other processes make none;
    a row that names no process is foreign where only other processes' rows name its model. Rows before the first
    beginning of a prediction belong to none, nor does a first one that begins later in its model than others do: the
    recording began in the midst of it. O(n log n).
    """
    hardware = _without_models_of_others(hardware)
    # Those whose label says that they executed a model that may be the target's.
    executed = is_any(hardware["kind"], Kind.ANE_EXEC) | is_any(hardware["lane"], Lane.GPU)
    may_be_target = is_any(hardware["attribution"], Attribution.EXACT, Attribution.LABEL)
    rows = np.flatnonzero(executed & may_be_target & np.asarray(hardware["operation"].notna()))
    # A number for each model and process. Rows without a process go with the only one that names their model.
    chosen = hardware.iloc[rows]
    model = chosen["model"].cat.codes.to_numpy()
    names_process = chosen["process"].notna().to_numpy()
    process = group_ids([chosen["process"].cat.codes.to_numpy(), or_minus_one(chosen["pid"])], len(rows))
    size = int(model.max(initial=-1)) + 1
    lowest, highest = np.full(size, len(rows)), np.full(size, -1)
    np.minimum.at(lowest, model[names_process], process[names_process])
    np.maximum.at(highest, model[names_process], process[names_process])
    only = np.where(lowest == highest, highest, -1)
    who = group_ids([model, np.where(names_process, process, only[model])], len(rows))
    order = np.lexsort((rows, who))
    rows, who = rows[order], who[order]
    # Whether a prediction begins with the row. `rows` are sorted by `who`, then time.
    on_gpu = is_any(hardware["lane"], Lane.GPU)[rows]
    # A second row of a command buffer goes on with what the first began.
    buffer = np.where(on_gpu & (buffers.id[rows] != 0), buffers.id[rows], -1 - np.arange(len(rows)))
    again = pd.DataFrame({"who": who, "buffer": buffer}).duplicated().to_numpy()
    piece = np.flatnonzero(~on_gpu | (buffers.first[rows] & ~again))
    operation = or_minus_one(hardware["operation"])[rows[piece]]
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
    activity, frame_row = _activity(hardware, rows, call)
    prediction = np.full(len(hardware), -1, np.int64)
    prediction[rows] = frame_row[call]
    return activity, hardware.assign(prediction=or_null(prediction))


def _without_models_of_others(hardware: pd.DataFrame) -> pd.DataFrame:
    """The rows, with those marked foreign that name no process and a model that only other processes are seen with."""
    model = np.asarray(hardware["model"].cat.codes)
    foreign = is_any(hardware["attribution"], Attribution.FOREIGN)
    names_process = np.asarray(hardware["process"].notna())
    of_others = np.setdiff1d(model[foreign & names_process], model[~foreign & names_process])
    unattributed = ~names_process & (model >= 0) & np.isin(model, of_others)
    if not unattributed.any():
        return hardware
    attribution = hardware["attribution"].copy()
    attribution[unattributed] = Attribution.FOREIGN.value
    return hardware.assign(attribution=attribution)


def _activity(hardware: pd.DataFrame, rows: IndexArray, call: IntArray) -> tuple[pd.DataFrame, IntArray]:
    """Predictions of some rows, whose own has an ascending number in `call`; and by that number its row there."""
    firsts = np.flatnonzero(np.diff(call, prepend=-1))
    chosen = hardware.iloc[rows[firsts]].reset_index(drop=True)
    ends = Intervals.from_rows(hardware).ends[rows]
    device = hardware["device"].cat.codes.to_numpy()[rows]
    if not len(firsts):
        return chosen, firsts
    mixed = np.minimum.reduceat(device, firsts) != np.maximum.reduceat(device, firsts)
    count = len(chosen)
    null = pd.arrays.IntegerArray(np.zeros(count, np.int64), np.ones(count, np.bool_))
    fixed = {"lane": Lane.ACTIVITY, "kind": Kind.PREDICTION, "level": Level.TOP, "attribution": Attribution.INFERRED}
    frame = chosen.assign(
        duration_ns=np.maximum.reduceat(ends, firsts) - chosen["start_ns"].to_numpy(),
        label=constant(INFERRED_LABEL, count),
        device=chosen["device"].mask(mixed),
        **dict.fromkeys(("instance", "depth", "operation", "prediction"), null),
        **{name: constant(value, count, FIXED_CATEGORIES[name]) for name, value in fixed.items()},
    )
    order = sort_order(frame)
    return reorder(frame, order), np.argsort(order)


FEW: Final = 3
"""Sampling periods within which a running thread is sampled (heuristic)."""


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """Times in which compute units work, with less than `slack_ns` between the rows of one: shape (n,) each."""

    starts: IntArray
    ends: IntArray
    slack_ns: int

    @classmethod
    def of(cls, rows: pd.DataFrame, slack_ns: int) -> Reach:
        """From rows of hardware. O(n log n)."""
        work = Intervals.from_rows(rows)
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
    model: IntArray
    on_gpu: BoolArray
    reach: Reach | None
    """How far a prediction may reach; None where not all units were recorded."""
    loading: Reach
    """The same of a load, that waits for the Neural Engine to take a model in."""
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
    def of(cls, activity: pd.DataFrame, hardware: pd.DataFrame, slack_ns: int, *, watched: bool) -> Work:
        """From the frame of `reconstruct_predictions` and all hardware rows; `watched`: all units were recorded."""
        times = Intervals.from_rows(activity)
        units = hardware[is_any(hardware["lane"], Lane.NEURAL_ENGINE, Lane.GPU)]
        loading = hardware[is_any(hardware["kind"], Kind.ANE_LOAD, Kind.ANE_COMPILE)]
        reach = Reach.of(units, slack_ns) if watched else None
        prediction = or_minus_one(hardware["prediction"])
        order = np.argsort(prediction, kind="stable")
        order = order[np.searchsorted(prediction[order], 0) :]
        return cls(
            times.starts,
            times.ends,
            categorical(activity["model"]).codes.astype(np.int64),
            is_any(activity["device"], Device.GPU),
            reach,
            Reach.of(loading, slack_ns),
            Intervals.from_rows(hardware).where(order),
            np.searchsorted(prediction[order], np.arange(len(times) + 1)),
        )
