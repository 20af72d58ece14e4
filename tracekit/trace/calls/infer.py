"""Calls of a process of which Core ML recorded nothing: one row each on the Activity lane, whatever shows it.

Columns beyond those of `tracekit.trace.events`: `CALL_DTYPES`. A call begins and ends within its bounds; `start_ns` and
`duration_ns` are the best guess inside of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from tracekit.trace.binding import constant, recode
from tracekit.trace.calls.hardware import reconstruct_predictions
from tracekit.trace.calls.join import OUTLIVES_NS, Joined, Owners, Work, joined_calls
from tracekit.trace.calls.patterns import Api, LoadPhase
from tracekit.trace.calls.pieces import Pieces, Timeline, pieces_of, timeline
from tracekit.trace.calls.stacks import BEGUN, busy_stacks, place_of
from tracekit.trace.events import Attribution, Kind, Lane, Level
from tracekit.trace.frames import FIXED_CATEGORIES, categorical, empty_events, or_minus_one, sort_order
from tracekit.trace.samples import TIMED, Samples

if TYPE_CHECKING:
    from tracekit.trace.instruments.hardware import CommandBuffers


class Origin(StrEnum):
    """What recorded a call."""

    CORE_ML = "core-ml"
    CALL_STACKS = "call-stacks"
    HARDWARE = "hardware"


CALL_DTYPES: Final = {
    "origin": "category",
    "resolution_ns": "int64",
    "start_min_ns": "int64",
    "start_max_ns": "int64",
    "end_min_ns": "int64",
    "end_max_ns": "int64",
    "single": "bool",
}
"""`resolution_ns` is the sampling period, 0 without; `single`: whether the row is known to be one call, not several."""

NOUNS: Final = {Api.LOAD: "Load", Api.COMPILE: "Compilation", Api.PREDICTION: "Prediction"}
_FEW: Final = 2
_STEADY: Final = 1.5
"""Durations of calls whose 90% quantile is not this many times their 10% quantile are of one call each (heuristic)."""


@dataclass(frozen=True, slots=True, eq=False)
class Inferred:
    """What ran, without Core ML's own rows."""

    activity: pd.DataFrame
    hardware: pd.DataFrame
    """With the calls that its rows belong to."""
    sites: pd.DataFrame
    """For each row of `activity` that call stacks show, by its index: the code that made the call (columns of
    `tracekit.trace.calls.stacks.place_of`), `thread`, `tid`, `main_thread`, `samples` of the running thread, `api`, and
    how many samples were in each `LoadPhase` and `Unit`."""
    notes: tuple[str, ...]
    """What cannot be told apart, one sentence each."""


def infer_calls(hardware: pd.DataFrame, buffers: CommandBuffers, sampled: Samples | None, end_ns: int) -> Inferred:
    """What samples and the hardware show; `end_ns` is the end of the recording. O(n log n)."""
    shown, hardware = reconstruct_predictions(hardware, buffers)
    if sampled is None or not len(sampled.stacks):
        return Inferred(_hardware_only(shown, end_ns), hardware, pd.DataFrame(), ())
    line = timeline(sampled)
    pieces = pieces_of(line, max(end_ns, int(line.time.max(initial=0)) + 1))
    work = Work.of(shown)
    calls, owners = joined_calls(line, pieces, work)
    if not any(call.pieces for call in calls):
        return Inferred(_hardware_only(shown, end_ns), hardware, pd.DataFrame(), ())
    names, notes = _names(line, pieces, owners, shown)
    return _framed(line, pieces, work, calls, shown, hardware, names, notes, end_ns)


def _hardware_only(shown: pd.DataFrame, end_ns: int) -> pd.DataFrame:
    """Predictions of the hardware alone: nothing tells when their calls began and ended."""
    count, starts = len(shown), shown["start_ns"].to_numpy()
    return shown.assign(
        origin=constant(Origin.HARDWARE, count, tuple(Origin)),
        resolution_ns=np.zeros(count, np.int64),
        start_min_ns=np.zeros(count, np.int64),
        start_max_ns=starts,
        end_min_ns=starts + shown["duration_ns"].to_numpy(),
        end_max_ns=np.full(count, end_ns, np.int64),
        single=np.ones(count, np.bool_),
    )


def _framed(
    line: Timeline,
    pieces: Pieces,
    work: Work,
    calls: Sequence[Joined],
    shown: pd.DataFrame,
    hardware: pd.DataFrame,
    names: Sequence[str],
    notes: tuple[str, ...],
    end_ns: int,
) -> Inferred:
    stacked = [call for call in calls if call.pieces]
    alone = [call.work[0] for call in calls if not call.pieces]
    mistakable = _mistakable(line, pieces, stacked)
    bounds = np.array(
        [
            _bounds(line, pieces, work, call, mistakable=several)
            for call, several in zip(stacked, mistakable, strict=True)
        ],
        np.int64,
    )
    half = line.period_ns // 2
    start = bounds[:, 1] - np.minimum(half, (bounds[:, 1] - bounds[:, 0]) // 2)
    end = np.maximum(bounds[:, 2] + np.minimum(half, (bounds[:, 3] - bounds[:, 2]) // 2), start)
    first = np.array([pieces.first[call.pieces[0]] for call in stacked], np.int64)
    rows, count = line.rows.iloc[first], len(stacked)
    api = line.kinds["api"].array[line.stack[first]]
    samples = _samples(line, pieces, stacked)
    device = [_device(shown, call) for call in stacked]
    frame = pd.DataFrame(empty_events()).reindex(range(count))
    frame = frame.assign(
        start_ns=start,
        duration_ns=end - start,
        guessed=False,
        label=recode(np.arange(count), [f"{NOUNS[Api(each)]} (inferred from call stacks)" for each in api]),
        model=recode(np.arange(count), [names[index] for index in first_keys(pieces, stacked)]),
        device=_fixed("device", device),
        process=rows["process"].array,
        pid=rows["pid"].array,
        lane=_fixed("lane", [Lane.ACTIVITY] * count),
        kind=_fixed("kind", [_kind(Api(each), row) for each, row in zip(api, samples.to_dict("records"), strict=True)]),
        level=_fixed("level", [Level.TOP] * count),
        attribution=_fixed("attribution", [Attribution.INFERRED] * count),
        table=constant(TIMED[0], count),
        row=np.searchsorted(line.samples.samples["time_ns"].to_numpy(), line.time[first]),
        origin=constant(Origin.CALL_STACKS, count, tuple(Origin)),
        resolution_ns=line.period_ns,
        **{name: bounds[:, column] for column, name in enumerate(list(CALL_DTYPES)[2:6])},
        single=[call.single and not several for call, several in zip(stacked, mistakable, strict=True)],
    )
    frame = pd.concat([frame, _hardware_only(shown.iloc[alone], end_ns)], ignore_index=True)
    frame = frame.astype(
        {**empty_events().dtypes.to_dict(), **dict.fromkeys(("label", "model", "process", "table"), "category")}
    )
    order = sort_order(frame)
    row_of = np.empty_like(order)
    row_of[order] = np.arange(len(order))
    place = place_of(line.samples.stacks, line.kinds["caller"].to_numpy()[line.stack[first]])
    columns = {name: rows[name].array for name in ("thread", "tid", "main_thread")}
    sites = pd.DataFrame(place | columns | {"ambiguous": False, "api": api}).assign(**samples)
    sites = sites.set_axis(pd.Index(row_of[: len(stacked)], name="event")).sort_index()
    call_of = np.full(len(shown) + 1, -1)
    for number, call in enumerate(stacked):
        call_of[call.work] = row_of[number]
    call_of[alone] = row_of[len(stacked) :]
    linked = call_of[or_minus_one(hardware["prediction"])]
    hardware = hardware.assign(prediction=pd.arrays.IntegerArray(np.maximum(linked, 0), linked < 0))
    return Inferred(frame.take(order).reset_index(drop=True), hardware, sites, notes)


def first_keys(pieces: Pieces, calls: Sequence[Joined]) -> list[int]:
    """Key of the call site of each call."""
    return [int(pieces.key[call.pieces[0]]) for call in calls]


def _fixed(column: str, values: Sequence[str | None]) -> pd.Categorical:
    return pd.Categorical(values, categories=list(FIXED_CATEGORIES[column]))


def _bounds(line: Timeline, pieces: Pieces, work: Work, call: Joined, *, mistakable: bool) -> tuple[int, int, int, int]:
    """Earliest and latest start, earliest and latest end."""
    last = call.sure if call.sure >= 0 else call.pieces[-1]
    first_sample, last_sample = int(pieces.starts[call.pieces[0]]), int(pieces.ends[last])
    begun = [int(work.starts[each]) for each in call.work]
    done = [int(work.ends[each]) for each in call.work if work.starts[each] <= last_sample or call.sure < 0]
    slack = [OUTLIVES_NS if work.on_gpu[each] else 0 for each in call.work]
    start_max = min((time for time in (first_sample, *begun) if time >= call.low_ns), default=call.low_ns)
    known_ends = [last_sample, *(end - less for end, less in zip(done, slack, strict=False))]
    end_min = max((time for time in known_ends if time <= call.high_ns), default=start_max)
    low, high = call.low_ns, call.high_ns
    if not call.single or mistakable:
        return low, start_max, start_max if mistakable else max(end_min, start_max), high
    place, end_place = int(pieces.first[call.pieces[0]]), int(pieces.last[last])
    api = line.kinds["api"].iloc[int(line.stack[place])]
    begins = line.kinds["progress"].iloc[int(line.stack[place])] == BEGUN or line.on_cpu[place] or api != Api.PREDICTION
    if first_sample >= low and (begins or (begun and min(begun) > first_sample)):
        # A thread that runs is sampled within a period, or two where one is missed.
        low = max(low, start_max - 2 * line.period_ns)
    if done and max(done) > last_sample:
        high = min(high, max(max(done), end_min) + 3 * line.period_ns)
    elif done or line.on_cpu[end_place]:
        high = min(high, last_sample + 2 * line.period_ns)
    return low, start_max, max(end_min, start_max), max(high, end_min, start_max)


def _mistakable(line: Timeline, pieces: Pieces, calls: Sequence[Joined]) -> list[bool]:
    """Whether each call may be several, one right behind the other: of predictions that no hardware separates, where
    neither what lies between calls nor how they begin is long enough to be seen each time."""
    progress = line.kinds["progress"].to_numpy()[line.stack]
    by_site: dict[int, list[int]] = {}
    for number, key in enumerate(first_keys(pieces, calls)):
        by_site.setdefault(key, []).append(number)
    result = [False] * len(calls)
    for numbers in by_site.values():
        firsts = np.array([pieces.first[calls[number].pieces[0]] for number in numbers])
        lasts = np.array([pieces.last[calls[number].pieces[-1]] for number in numbers])
        api = line.kinds["api"].iloc[int(line.stack[firsts[0]])]
        if api != Api.PREDICTION or not (lasts > firsts).any():
            continue
        # How many samples show what is not the call: before it, and at its beginning.
        between = firsts[1:] - lasts[:-1] - 1
        begins = [int((progress[first : last + 1] == BEGUN).sum()) for first, last in zip(firsts, lasts, strict=True)]
        lengths = line.time[lasts] - line.time[firsts] + line.period_ns
        steady = np.quantile(lengths, 0.9) <= _STEADY * np.quantile(lengths, 0.1)
        visible = np.median(between) >= _FEW if len(between) else progress[firsts[0]] == BEGUN
        if visible or np.mean(begins) >= 1.5 or (steady and len(numbers) > _FEW):
            continue
        for number, first, last in zip(numbers, firsts, lasts, strict=True):
            result[number] = bool(last > first and not calls[number].work)
    return result


def _samples(line: Timeline, pieces: Pieces, calls: Sequence[Joined]) -> pd.DataFrame:
    """Samples of the running thread in each call, in all and in each phase and unit."""
    ran = line.rows["ran"].to_numpy(np.bool_)
    flags = {name: inside[line.stack] & ran for name, inside in busy_stacks(line.samples).items()}
    sums = {name: np.concatenate(([0], np.cumsum(inside))) for name, inside in ({"samples": ran} | flags).items()}
    counts = {
        name: [sum(int(total[pieces.last[p] + 1] - total[pieces.first[p]]) for p in call.pieces) for call in calls]
        for name, total in sums.items()
    }
    return pd.DataFrame(counts)


def _kind(api: Api, samples: dict[str, int]) -> Kind:
    if api is not Api.LOAD:
        return Kind.PREDICTION if api is Api.PREDICTION else Kind.COMPILE
    if samples.get(LoadPhase.COMPILING):
        return Kind.LOAD_UNCACHED
    return Kind.LOAD_CACHED if samples.get(LoadPhase.PROGRAM) else Kind.LOAD


def _device(shown: pd.DataFrame, call: Joined) -> str | None:
    devices = {shown["device"].iloc[each] for each in call.work}
    device = devices.pop() if len(devices) == 1 else None
    return device if isinstance(device, str) else None


def _names(line: Timeline, pieces: Pieces, owners: Owners, shown: pd.DataFrame) -> tuple[list[str], tuple[str, ...]]:
    """Name of the model of each call site, by key, and what of it is not known."""
    stacks, kinds = line.samples.stacks, line.kinds
    keys = np.unique(pieces.key)
    labels = categorical(shown["model"]).categories
    stack_of = dict(zip(kinds["key"].tolist(), range(len(kinds)), strict=True))
    names = [""] * (int(keys.max(initial=-1)) + 1)
    apis = {key: kinds["api"].iloc[stack_of[key]] for key in keys.tolist()}
    for key in keys.tolist():
        models = owners.named.get(key, [])
        if len(models) == 1:
            names[key] = str(labels[models[0]])
            continue
        caller = int(kinds["caller"].iloc[stack_of[key]])
        verb = "called" if apis[key] == Api.PREDICTION else "loaded" if apis[key] == Api.LOAD else "compiled"
        names[key] = f"model {verb} {_where(stacks, caller)}"
    loads = [key for key in keys.tolist() if apis[key] == Api.LOAD]
    predicted = {names[key] for key in keys.tolist() if apis[key] == Api.PREDICTION}
    notes = []
    if len(loads) == 1 and len(predicted) == 1:
        names[loads[0]] = predicted.pop()
        notes.append("The one load site and the one model that predicts are taken for the same model.")
    elif loads and predicted:
        notes.append(
            "Call stacks do not tell which of the loaded models predicts: loads of one place count as one model."
        )
    return names, tuple(notes)


def _where(stacks: pd.DataFrame, row: int) -> str:
    if row < 0:
        return "by the system"
    file, line, function = (stacks[name].iloc[row] for name in ("file", "line", "function"))
    if isinstance(file, str):
        return f"at {file}" if pd.isna(line) else f"at {file}:{line}"
    return f"by {function}" if isinstance(function, str) else "by code without a name"
