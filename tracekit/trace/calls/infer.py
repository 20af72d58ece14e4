"""Calls of a process of which Core ML recorded nothing: one row each on the Activity lane, whatever shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from tracekit.intervals import Intervals
from tracekit.trace.binding import constant, recode
from tracekit.trace.calls.hardware import reconstruct_predictions
from tracekit.trace.calls.join import OUTLIVES_NS, Joined, Owners, Work, joined_calls
from tracekit.trace.calls.patterns import Api, LoadPhase
from tracekit.trace.calls.pieces import Pieces, Timeline, pieces_of, timeline
from tracekit.trace.calls.stacks import BEGUN, busy_stacks, place_of
from tracekit.trace.events import BOUNDS, Attribution, Kind, Lane, Level, Origin
from tracekit.trace.frames import FIXED_CATEGORIES, categorical, empty_events, or_minus_one, sort_order
from tracekit.trace.samples import TIMED, Samples

if TYPE_CHECKING:
    from tracekit.trace.instruments.hardware import CommandBuffers


NOUNS: Final = {Api.LOAD: "Load", Api.COMPILE: "Compilation", Api.PREDICTION: "Prediction"}
FEW: Final = 3
"""Sampling periods within which a running thread is sampled, and calls that show no habit (heuristic)."""
_VISIBLE: Final = 2
"""Samples between calls, from which on none is overlooked (heuristic)."""
_STEADY: Final = 1.5
"""Durations of calls whose 90% quantile is not this many times their 10% quantile are of one call each (heuristic)."""


@dataclass(frozen=True, slots=True, eq=False)
class Inferred:
    """What ran, without Core ML's own rows."""

    activity: pd.DataFrame
    hardware: pd.DataFrame
    """With the calls that its rows belong to."""
    sites: pd.DataFrame | None
    """For each row of `activity` that call stacks show, by its index: the code that made the call (columns of
    `tracekit.trace.calls.stacks.place_of`), `thread`, `tid`, `main_thread`, `samples` of the running thread, `api`, and
    how many samples were in each `LoadPhase` and `Unit`."""
    notes: tuple[str, ...]
    """What cannot be told apart, one sentence each."""


def infer_calls(hardware: pd.DataFrame, buffers: CommandBuffers, sampled: Samples | None, end_ns: int) -> Inferred:
    """What samples and the hardware show; `end_ns` is the end of the recording. O(n log n)."""
    shown, hardware = reconstruct_predictions(hardware, buffers)
    if sampled is None or not len(sampled.stacks):
        return Inferred(_hardware_only(shown, end_ns), hardware, None, ())
    line = timeline(sampled)
    pieces = pieces_of(line, max(end_ns, int(line.time.max(initial=0)) + 1))
    work = Work.of(shown)
    calls, owners = joined_calls(line, pieces, work)
    if not len(pieces.first):
        return Inferred(_hardware_only(shown, end_ns), hardware, None, ())
    stacked = [call for call in calls if call.chain >= 0]
    names, notes = _names(line, pieces, work, stacked, owners, shown)
    return _framed(line, pieces, work, calls, shown, hardware, names, notes, end_ns)


def recorded_calls(activity: pd.DataFrame) -> pd.DataFrame:
    """Rows of the Activity lane that Core ML recorded, with the columns that all calls have. O(n)."""
    spans, count = Intervals.from_rows(activity), len(activity)
    return activity.assign(
        origin=constant(Origin.CORE_ML, count, FIXED_CATEGORIES["origin"]),
        resolution_ns=np.zeros(count, np.int64),
        **dict.fromkeys(BOUNDS[:2], spans.starts),
        **dict.fromkeys(BOUNDS[2:], spans.ends),
        single=np.ones(count, np.bool_),
    )


def _hardware_only(shown: pd.DataFrame, end_ns: int) -> pd.DataFrame:
    """Predictions of the hardware alone: nothing tells when their calls began and ended."""
    count, starts = len(shown), shown["start_ns"].to_numpy()
    return shown.assign(
        origin=constant(Origin.HARDWARE, count, FIXED_CATEGORIES["origin"]),
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
    stacked = [call for call in calls if call.chain >= 0]
    alone = [call.work[0] for call in calls if call.chain < 0]
    mistakable = _mistakable(line, pieces, stacked)
    bounds = np.array(
        [_bounds(line, work, call, mistakable=several) for call, several in zip(stacked, mistakable, strict=True)],
        np.int64,
    )
    half = line.period_ns // 2
    start = bounds[:, 1] - np.minimum(half, (bounds[:, 1] - bounds[:, 0]) // 2)
    end = np.maximum(bounds[:, 2] + np.minimum(half, (bounds[:, 3] - bounds[:, 2]) // 2), start)
    # A call without samples of its own is like those around it.
    first = np.array(
        [call.first if call.after > call.first else pieces.first[call.chain] for call in stacked], np.int64
    )
    rows, count = line.rows.iloc[first], len(stacked)
    api = line.kinds["api"].array[line.stack[first]]
    samples = _samples(line, stacked)
    device = [_device(shown, call) for call in stacked]
    frame = pd.DataFrame(empty_events()).reindex(range(count))
    frame = frame.assign(
        start_ns=start,
        duration_ns=end - start,
        guessed=False,
        label=recode(np.arange(count), [f"{NOUNS[Api(each)]} (inferred from call stacks)" for each in api]),
        model=recode(np.arange(count), names),
        device=_fixed("device", device),
        process=rows["process"].array,
        pid=rows["pid"].array,
        lane=_fixed("lane", [Lane.ACTIVITY] * count),
        kind=_fixed("kind", [_kind(Api(each), samples, index) for index, each in enumerate(api)]),
        level=_fixed("level", [Level.TOP] * count),
        attribution=_fixed("attribution", [Attribution.INFERRED] * count),
        table=constant(TIMED[0], count),
        row=np.searchsorted(line.samples.samples["time_ns"].to_numpy(), line.time[first]),
        origin=_fixed("origin", [Origin.CALL_STACKS] * count),
        resolution_ns=line.period_ns,
        **{name: bounds[:, column] for column, name in enumerate(BOUNDS)},
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


def keys_of(pieces: Pieces, calls: Sequence[Joined]) -> list[int]:
    """Key of the call site of each call."""
    return [int(pieces.key[call.chain]) for call in calls]


def _fixed(column: str, values: Sequence[str | None]) -> pd.Categorical:
    return recode(np.arange(len(values)), values, FIXED_CATEGORIES[column])


def _bounds(line: Timeline, work: Work, call: Joined, *, mistakable: bool) -> tuple[int, int, int, int]:
    """Earliest and latest start, earliest and latest end."""
    low, high = call.low_ns, call.high_ns
    last = call.sure if call.sure >= 0 else call.after - 1
    sampled = [int(line.time[place]) for place in (call.first, last)] if last >= call.first else []
    begun = [int(work.starts[each]) for each in call.work]
    done = [
        int(work.ends[each]) - (OUTLIVES_NS if work.on_gpu[each] else 0)
        for each in call.work
        if call.sure < 0 or work.starts[each] <= sampled[1]
    ]
    start_max = max(min((*sampled[:1], *begun)), low)
    end_min = start_max if mistakable else max(*sampled[1:], *done, start_max)
    if call.single and not mistakable:
        if sampled and (_begins(line, call.first) or (begun and min(begun) > sampled[0])):
            # A thread that runs is sampled within a period, if none is missed.
            low = max(low, start_max - FEW * line.period_ns)
        if not call.ends_with_work:
            pass
        elif done and not (sampled and line.time[last] > max(done)):
            high = min(high, max(int(work.ends[each]) for each in call.work) + FEW * line.period_ns)
        elif sampled and (done or line.on_cpu[last]):
            high = min(high, sampled[1] + FEW * line.period_ns)
    return low, start_max, end_min, max(high, end_min)


def _begins(line: Timeline, place: int) -> bool:
    """Whether a call whose first sample this is had not waited before."""
    stack = int(line.stack[place])
    begun = line.kinds["progress"].iloc[stack] == BEGUN or line.kinds["api"].iloc[stack] != Api.PREDICTION
    return bool(begun or line.on_cpu[place])


def _mistakable(line: Timeline, pieces: Pieces, calls: Sequence[Joined]) -> list[bool]:
    """Whether each call may be several, one right behind the other: of predictions that no hardware separates, where
    neither what lies between calls nor how they begin is long enough to be seen each time."""
    progress = line.kinds["progress"].to_numpy()[line.stack]
    by_site: dict[int, list[int]] = {}
    for number, key in enumerate(keys_of(pieces, calls)):
        by_site.setdefault(key, []).append(number)
    result = [False] * len(calls)
    for numbers in by_site.values():
        firsts, afters = (np.array([getattr(calls[number], name) for number in numbers]) for name in ("first", "after"))
        api = line.kinds["api"].iloc[int(line.stack[pieces.first[calls[numbers[0]].chain]])]
        if api != Api.PREDICTION or not (afters > firsts + 1).any():
            continue
        # How many samples show what is not the call: before it, and at its beginning.
        between = firsts[1:] - afters[:-1]
        begins = [int((progress[first:after] == BEGUN).sum()) for first, after in zip(firsts, afters, strict=True)]
        seen = afters > firsts
        lengths = line.time[afters[seen] - 1] - line.time[firsts[seen]] + line.period_ns
        short, long = np.sort(lengths)[[len(lengths) // 10, len(lengths) * 9 // 10]]
        steady = FEW * line.period_ns <= short and long <= _STEADY * short
        visible = (
            np.sort(between)[len(between) // 2] >= _VISIBLE if len(between) else progress[firsts[seen]][0] == BEGUN
        )
        if visible or np.mean(begins) >= _STEADY or (steady and len(numbers) > FEW):
            continue
        for number, first, after in zip(numbers, firsts, afters, strict=True):
            result[number] = bool(after > first + 1 and not calls[number].work)
    return result


def _samples(line: Timeline, calls: Sequence[Joined]) -> pd.DataFrame:
    """Samples of the running thread in each call, in all and in each phase and unit."""
    ran = line.rows["ran"].to_numpy(np.bool_)
    flags = {"samples": ran}
    flags |= {name: inside[line.stack] & ran for name, inside in busy_stacks(line.samples).items()}
    edges = np.array([(call.first, call.after) for call in calls], np.int64)
    totals = {name: np.concatenate(([0], np.cumsum(inside))) for name, inside in flags.items()}
    return pd.DataFrame({name: total[edges[:, 1]] - total[edges[:, 0]] for name, total in totals.items()})


def _kind(api: Api, samples: pd.DataFrame, index: int) -> Kind:
    if api is not Api.LOAD:
        return Kind.PREDICTION if api is Api.PREDICTION else Kind.COMPILE
    if samples[LoadPhase.COMPILING].iloc[index]:
        return Kind.LOAD_UNCACHED
    return Kind.LOAD_CACHED if samples[LoadPhase.PROGRAM].iloc[index] else Kind.LOAD


def _device(shown: pd.DataFrame, call: Joined) -> str | None:
    devices = {shown["device"].iloc[each] for each in call.work}
    device = devices.pop() if len(devices) == 1 else None
    return device if isinstance(device, str) else None


def _names(
    line: Timeline, pieces: Pieces, work: Work, calls: Sequence[Joined], owners: Owners, shown: pd.DataFrame
) -> tuple[list[str], tuple[str, ...]]:
    """Name of the model of each call, and what of it is not known: that of its work on the hardware, else where it is
    called from."""
    kinds, labels = line.kinds, categorical(shown["model"]).categories
    stack_of = dict(zip(kinds["key"].tolist(), range(len(kinds)), strict=True))
    keys, sites = keys_of(pieces, calls), owners.sites
    api_of = {key: kinds["api"].iloc[stack_of[key]] for key in set(keys)}
    names = []
    for key, call in zip(keys, calls, strict=True):
        models = set(work.model[call.work].tolist()) - sites.later.get(key, set())
        if not call.work and key in sites.all_have:
            models = sites.named[key] - sites.later.get(key, set())
        if len(models) == 1 and not sites.later.get(key):
            names.append(str(labels[models.pop()]))
            continue
        verb = {Api.PREDICTION: "called", Api.LOAD: "loaded"}.get(api_of[key], "compiled")
        names.append(f"model {verb} {_where(line.samples.stacks, int(kinds['caller'].iloc[stack_of[key]]))}")
    loads = [number for number, key in enumerate(keys) if api_of[key] == Api.LOAD]
    predicted = {name for name, key in zip(names, keys, strict=True) if api_of[key] == Api.PREDICTION}
    predicted |= {str(labels[work.model[call]]) for call in np.flatnonzero(~owners.possible)}
    if not loads or not predicted:
        return names, ()
    order = sorted(range(len(calls)), key=lambda number: calls[number].low_ns)
    in_turn = not any({one, other} <= set(loads) for one, other in pairwise(order))
    if len({keys[number] for number in loads}) > 1 or len(predicted) > 1 or not in_turn:
        return names, ("Call stacks do not tell which loaded model predicts; loads of one place count as one model.",)
    for number in loads:
        names[number] = next(iter(predicted))
    return names, ("The one place that loads and the one model that predicts are taken for the same model.",)


def _where(stacks: pd.DataFrame, row: int) -> str:
    if row < 0:
        return "by the system"
    file, line, function = (stacks[name].iloc[row] for name in ("file", "line", "function"))
    if isinstance(file, str):
        return f"at {file}" if pd.isna(line) else f"at {file}:{line}"
    return f"by {function}" if isinstance(function, str) else "by code without a name"
