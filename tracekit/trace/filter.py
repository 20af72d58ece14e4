"""What of a trace is shown: some models, one process, a range of time.

A choice never changes what is judged: what waits for another model waits for it, whether that one is shown or not. So
nothing is taken out of a trace before it is judged; `Shown` says what of it counts in the report. Every choice leaves a
note that says what it did and what it could not decide.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pandas as pd

from tracekit.arrays import BoolArray, IntArray
from tracekit.frame import rows_of
from tracekit.intervals import Intervals
from tracekit.trace.events import Calls, Events
from tracekit.trace.frames import categorical, ends_of, held_texts, or_minus_one, or_null
from tracekit.trace.instruments import coreml
from tracekit.trace.instruments.catalogue import TIMELESS
from tracekit.trace.models import Models, models_of
from tracekit.trace.trace import Trace, cached_by_trace

CORE_ML_FRAMES = tuple(coreml.INSTRUMENT.frames.values())
"""Frames of the Core ML instrument, whose table has no process column."""
EVENT_FRAMES = (*CORE_ML_FRAMES, "hardware")
"""Frames of `Trace` that share the columns of `tracekit.trace.events`."""


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """What of a trace is shown."""

    rows: Mapping[str, BoolArray]
    """For each event frame the rows that count: shape (rows,)."""
    context: Mapping[str, BoolArray]
    """For each frame of the context the rows that are shown: shape (rows,)."""
    models: frozenset[str] | None = None
    """Base names that were chosen; None where models were not chosen by name."""
    ranges: Intervals | None = None
    """Ranges of time, sorted, none touching another; None where none was chosen."""
    where: str = ""
    """The ranges in words, behind `starting`."""
    operation: str | None = None
    """Name of the app's signposts that the ranges are of; None where they are of none."""
    foreign: bool = False
    """Whether it is a process whose models the recording does not hold, because its Core ML rows are another's."""
    notes: tuple[str, ...] = ()


def everything(trace: Trace) -> Shown:
    """All rows. O(rows)."""
    return Shown(
        {name: np.ones(len(getattr(trace, name)), dtype=bool) for name in EVENT_FRAMES},
        {name: np.ones(len(frame), dtype=bool) for name, frame in trace.context.items()},
    )


def only_models(shown: Shown, trace: Trace, names: Collection[str]) -> Shown:
    """Of what is shown the rows of these models; a pipeline keeps the rows of its stages. O(rows) per frame."""

    def of_model(frame: pd.DataFrame) -> BoolArray:
        return (frame["model"].isin(names) | frame["parent_model"].isin(names)).to_numpy(dtype=bool)

    words = f"model{'s' if len(names) > 1 else ''} {', '.join(sorted(names))}"
    note = (
        f"Only rows of {words} are counted, without rows that do not name a model. Checks "
        "ran on the whole recording; results for other models are hidden."
    )
    rows = {name: mask & of_model(trace.framed(name)) for name, mask in shown.rows.items()}
    return replace(shown, rows=rows, models=frozenset(names), notes=(*shown.notes, note))


def only_range(shown: Shown, trace: Trace, start_ns: int, end_ns: int) -> Shown:
    """Of what is shown the rows that start in `[start_ns, end_ns)`, and all rows of the predictions among them.

    So each prediction is there as a whole or not at all; what of an earlier one starts in the range is there without
    it. Rows of the context stay where they reach into the range: a state holds until the next one. O(rows) per frame.
    """
    words = f"from {start_ns / 1e9:.6f} s to {end_ns / 1e9:.6f} s"
    return only_ranges(shown, trace, Intervals(np.array([start_ns]), np.array([end_ns])), words, "this range")


def only_ranges(shown: Shown, trace: Trace, ranges: Intervals, where: str, name: str) -> Shown:
    """As `only_range`, for any of several ranges; `where`, `name`: these in words. O(rows log ranges) per frame."""
    # A range without length, as of no time at all, shows nothing and stays one.
    ranges = ranges.union() if len(ranges) > 1 else ranges
    within = rows_in_ranges(trace, ranges)

    def reaching(frame: pd.DataFrame) -> BoolArray:
        """Rows that lie in the ranges at least in part; an instant counts as 1 ns."""
        starts = frame["start_ns"].to_numpy()
        return reach_ranges(ranges, starts, np.maximum(ends_of(frame, np.iinfo(np.int64).max), starts + 1))

    note = (
        f"Numbers: events starting {where}, predictions with their children. Findings: whole recording, shown where "
        f"they touch {name}."
    )
    return replace(
        shown,
        rows={frame: mask & within[frame] for frame, mask in shown.rows.items()},
        context={
            frame: mask if frame in TIMELESS else mask & reaching(trace.context[frame])
            for frame, mask in shown.context.items()
        },
        ranges=ranges,
        where=where,
        notes=(*shown.notes, note),
    )


def only_process(shown: Shown, trace: Trace, process: str | int) -> Shown:
    """Of what is shown the rows of a process, by name or pid, and those that could be its own because their table names
    no process, as that of Core ML. Where the recording has a target, Core ML rows are the target's and none is of
    another one, and so are hardware rows that worked for its predictions. O(rows) per frame."""
    wanted = str(process)
    target = trace.run.target.process
    foreign = target is not None and wanted not in spellings(target.name, target.pid)
    rows = dict(shown.rows)
    for name in ("hardware", "activity") if trace.inferred else ("hardware",):
        rows[name] = rows[name] & _of_process(trace.framed(name), wanted)
    if foreign:
        rows |= {name: np.zeros_like(rows[name]) for name in CORE_ML_FRAMES}
        rows["hardware"] = rows["hardware"] & trace.hardware.frame()["prediction"].isna().to_numpy(dtype=bool)
    # The list of processes stays whole: it is about the machine.
    context = {
        name: mask if name == "processes" else mask & _of_process(trace.context[name], wanted)
        for name, mask in shown.context.items()
    }
    # Redaction puts its own word in front of the name of a process.
    notes = [f"Only rows of {f'process {wanted}' if wanted.isdecimal() else wanted} are counted"]
    unnamed = int(trace.hardware.frame()["process"].isna().to_numpy()[rows["hardware"]].sum())
    if unnamed:
        notes.append(f"{unnamed} hardware rows do not name a process and are counted too")
    if target is None and trace.inferred:
        notes.append(
            "predictions inferred from hardware are counted unless their rows name another process; a model that "
            "several processes ran is evaluated for all of them together"
        )
    elif target is None:
        notes.append("Core ML rows do not name a process and are all counted")
    elif foreign:
        notes.append("Core ML rows do not name a process; they belong to the target, so none are counted")
    notes.append("checks ran on the whole recording")
    return replace(shown, rows=rows, context=context, foreign=foreign, notes=(*shown.notes, f"{'; '.join(notes)}."))


def narrow(trace: Trace, shown: Shown) -> Trace:
    """The trace with only what is shown, links and models brought in line: to be looked at, not to be judged. Coverage
    stays: what was recorded does not depend on what one wants to look at. O(rows) per frame."""
    kept, sites = shown.rows["activity"], trace.sites
    if sites is not None:
        sites = sites[kept[sites.index]]
        sites = sites.set_axis((np.cumsum(kept) - 1)[sites.index]).rename_axis("event")
    # The entry behind the last stands for none.
    new_index = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
    frames: dict[str, Any] = {}
    for name in EVENT_FRAMES:
        frame = trace.framed(name)[shown.rows[name]].reset_index(drop=True)
        of_lane = Calls if name == "activity" else Events
        frames[name] = rows_of(of_lane, frame.assign(prediction=or_null(new_index[or_minus_one(frame["prediction"])])))
    return replace(
        trace,
        **frames,
        sites=sites,
        models=shown_models(trace, shown),
        context={name: frame[shown.context[name]].reset_index(drop=True) for name, frame in trace.context.items()},
        notes=(*trace.notes, *shown.notes),
    )


def shown_models(trace: Trace, shown: Shown | None) -> Models:
    """`Trace.models` of the rows that are shown; None: all. O(rows)."""
    if shown is None:
        return trace.models
    return models_of(*(trace.events[name].where(shown.rows[name]) for name in CORE_ML_FRAMES))


def shown_model_names(trace: Trace, shown: Shown) -> frozenset[str]:
    """Base names of `shown_models`, without counting anything of them. O(rows)."""
    names: set[str] = set()
    for frame in CORE_ML_FRAMES:
        cells = categorical(trace.framed(frame)["model"])
        rows_of_code = np.bincount(cells.codes[shown.rows[frame]] + 1, minlength=len(cells.categories) + 1)
        names.update(map(str, cells.categories[rows_of_code[1:] > 0]))
    return frozenset(names)


def rows_in_range(trace: Trace, start_ns: int, end_ns: int) -> dict[str, BoolArray]:
    """For each event frame the rows that `only_range` keeps: shape (rows,) each. O(rows) per frame."""
    return rows_in_ranges(trace, Intervals(np.array([start_ns]), np.array([end_ns])))


def rows_in_ranges(trace: Trace, ranges: Intervals) -> dict[str, BoolArray]:
    """For each event frame the rows that `only_ranges` keeps: shape (rows,) each. `ranges` are sorted and disjoint."""

    def within(frame: pd.DataFrame, called: BoolArray) -> BoolArray:
        """Rows that start in the ranges, and those whose prediction is among the chosen rows of the Activity lane."""
        starting: BoolArray = in_ranges(ranges, frame["start_ns"].to_numpy())
        starting |= np.append(called, False)[or_minus_one(frame["prediction"])]
        return starting

    # Twice, because a row in a stage of a pipeline belongs to the stage, which belongs to the call.
    called = in_ranges(ranges, trace.activity.start_ns)
    called = within(trace.activity.frame(), called)
    return {name: within(trace.framed(name), called) for name in EVENT_FRAMES}


def in_ranges(ranges: Intervals, times_ns: IntArray) -> BoolArray:
    """Which times lie in any of some sorted, disjoint ranges: shape (times,). O(times log ranges)."""
    return reach_ranges(ranges, times_ns, times_ns + 1)


def reach_ranges(ranges: Intervals, starts_ns: IntArray, ends_ns: IntArray) -> BoolArray:
    """Which intervals `[start, end)` share time with any of some sorted, disjoint ranges. O(intervals log ranges)."""
    first = np.searchsorted(ranges.ends, starts_ns, side="right")
    begins = np.append(ranges.starts, np.iinfo(np.int64).max)
    return np.asarray(begins[first] < ends_ns)


@cached_by_trace
def model_names(trace: Trace) -> tuple[str, ...]:
    """Base names that any event frame mentions, sorted; looked for once for each trace."""
    frames: list[pd.DataFrame] = [trace.framed(name) for name in EVENT_FRAMES]
    columns = (frame[name] for frame in frames if len(frame) for name in ("model", "parent_model"))
    return tuple(sorted(set().union(*map(held_texts, columns))))


def matching(names: Collection[str], pattern: str) -> set[str]:
    """Names that a case-sensitive shell pattern chooses. A name, even one with brackets, also chooses itself."""
    return {name for name in names if name == pattern or fnmatchcase(name, pattern)}


def process_names(trace: Trace) -> list[tuple[str, int | None]]:
    """Processes that the target, the hardware rows and the context name: name and pid, sorted. O(rows)."""
    target = trace.run.target.process
    processes: set[tuple[str, int | None]] = set() if target is None else {(target.name, target.pid)}
    for frame in (trace.hardware.frame(), *trace.context.values()):
        if {"process", "pid"} <= set(frame.columns):
            pairs = frame[["process", "pid"]].dropna(subset=["process"]).drop_duplicates()
            processes |= {
                (str(name), None if pd.isna(pid) else int(pid)) for name, pid in pairs.itertuples(index=False)
            }
    return sorted(processes, key=lambda pair: (pair[0], pair[1] or 0))


def spellings(name: str, pid: int | None) -> tuple[str, ...]:
    """How a user may write a process."""
    return (name,) if pid is None else (name, str(pid))


def _of_process(frame: pd.DataFrame, wanted: str) -> BoolArray:
    """Rows of the process, and rows without one; all rows of a frame that knows no processes."""
    if not {"process", "pid"} <= set(frame.columns):
        return np.ones(len(frame), dtype=bool)
    same = frame["process"].astype("object").eq(wanted) | frame["pid"].astype("string").eq(wanted).fillna(value=False)
    return (same | frame["process"].isna()).to_numpy(dtype=bool)
