"""What of a trace is shown: some models, one process, a range of time.

A choice never changes what is judged: what waits for another model waits for it, whether that one is shown or not. So
nothing is taken out of a trace before it is judged; `Shown` says what of it counts in the report. Every choice leaves a
note that says what it did and what it could not decide.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np

from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import or_null
from tracekit.intervals import Intervals
from tracekit.rows import held_texts
from tracekit.sorting import ranks
from tracekit.trace.context import ContextRows, OfProcesses
from tracekit.trace.events import AnyEvents, Events, numbered
from tracekit.trace.instruments import coreml
from tracekit.trace.instruments.catalogue import TIMELESS
from tracekit.trace.models import Models, models_of
from tracekit.trace.trace import Trace, cached_by_trace

CORE_ML_FRAMES = tuple(coreml.INSTRUMENT.frames.values())
"""Lanes of the Core ML instrument, whose table has no process column."""
EVENT_FRAMES = (*CORE_ML_FRAMES, "hardware")
"""Lanes of `Trace`: rows with the columns of `tracekit.trace.events`."""


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """What of a trace is shown."""

    rows: Mapping[str, BoolArray]
    """For each lane the rows that count: shape (rows,)."""
    context: Mapping[str, BoolArray]
    """For each class of the context the rows that are shown: shape (rows,)."""
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
        {name: np.ones(len(rows), dtype=bool) for name, rows in trace.events.items()},
        {name: np.ones(len(rows), dtype=bool) for name, rows in trace.context.items()},
    )


def only_models(shown: Shown, trace: Trace, names: Collection[str]) -> Shown:
    """Of what is shown the rows of these models; a pipeline keeps the rows of its stages. O(rows) per lane."""

    wanted = frozenset(names)

    def of_model(rows: Events) -> BoolArray:
        return rows.model.passing(wanted.__contains__) | rows.parent_model.passing(wanted.__contains__)

    words = f"model{'s' if len(names) > 1 else ''} {', '.join(sorted(names))}"
    note = (
        f"Only rows of {words} are counted, without rows that do not name a model. Checks "
        "ran on the whole recording; results for other models are hidden."
    )
    rows = {name: mask & of_model(trace.events[name]) for name, mask in shown.rows.items()}
    return replace(shown, rows=rows, models=frozenset(names), notes=(*shown.notes, note))


def only_range(shown: Shown, trace: Trace, start_ns: int, end_ns: int) -> Shown:
    """Of what is shown the rows that start in `[start_ns, end_ns)`, and all rows of the predictions among them.

    So each prediction is there as a whole or not at all; what of an earlier one starts in the range is there without
    it. Rows of the context stay where they reach into the range: a state holds until the next one. O(rows) per lane.
    """
    words = f"from {start_ns / 1e9:.6f} s to {end_ns / 1e9:.6f} s"
    return only_ranges(shown, trace, Intervals(np.array([start_ns]), np.array([end_ns])), words, "this range")


def only_ranges(shown: Shown, trace: Trace, ranges: Intervals, where: str, name: str) -> Shown:
    """As `only_range`, for any of several ranges; `where`, `name`: these in words. O(rows log ranges) per lane."""
    # A range without length, as of no time at all, shows nothing and stays one.
    ranges = ranges.union() if len(ranges) > 1 else ranges
    within = rows_in_ranges(trace, ranges)

    def reaching(rows: ContextRows) -> BoolArray:
        """Rows that lie in the ranges at least in part; an instant counts as 1 ns."""
        ends = np.maximum(rows.ends(np.iinfo(np.int64).max), rows.start_ns + 1)
        return reach_ranges(ranges, rows.start_ns, ends)

    note = (
        f"Numbers: events starting {where}, predictions with their children. Findings: whole recording, shown where "
        f"they touch {name}."
    )
    return replace(
        shown,
        rows={lane: mask & within[lane] for lane, mask in shown.rows.items()},
        context={
            table: mask if table in TIMELESS else mask & reaching(trace.context[table])
            for table, mask in shown.context.items()
        },
        ranges=ranges,
        where=where,
        notes=(*shown.notes, note),
    )


def only_process(shown: Shown, trace: Trace, process: str | int) -> Shown:
    """Of what is shown the rows of a process, by name or pid, and those that could be its own because their table names
    no process, as that of Core ML. Where the recording has a target, Core ML rows are the target's and none is of
    another one, and so are hardware rows that worked for its predictions. O(rows) per lane."""
    wanted = str(process)
    target = trace.run.target.process
    foreign = target is not None and wanted not in spellings(target.name, target.pid)
    rows = dict(shown.rows)
    for name in ("hardware", "activity") if trace.inferred else ("hardware",):
        rows[name] = rows[name] & _of_process(trace.events[name], wanted)
    if foreign:
        rows |= {name: np.zeros_like(rows[name]) for name in CORE_ML_FRAMES}
        rows["hardware"] = rows["hardware"] & ~trace.hardware.prediction.known
    # The list of processes stays whole: it is about the machine.
    context = {
        name: mask if name == "processes" else mask & _of_process(trace.context[name], wanted)
        for name, mask in shown.context.items()
    }
    # Redaction puts its own word in front of the name of a process.
    notes = [f"Only rows of {f'process {wanted}' if wanted.isdecimal() else wanted} are counted"]
    unnamed = int((~trace.hardware.process.known & rows["hardware"]).sum())
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
    stays: what was recorded does not depend on what one wants to look at. O(rows) per lane."""
    kept, sites = shown.rows["activity"], trace.sites
    # The entry behind the last stands for none.
    new_index = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)

    def part_of(lane: AnyEvents, name: str) -> AnyEvents:
        rows = lane.where(shown.rows[name])
        return numbered(replace(rows, prediction=or_null(new_index[rows.prediction.filled()])))

    return replace(
        trace,
        activity=part_of(trace.activity, "activity"),
        data=part_of(trace.data, "data"),
        compute=part_of(trace.compute, "compute"),
        other=part_of(trace.other, "other"),
        hardware=part_of(trace.hardware, "hardware"),
        sites=None if sites is None else sites.moved(new_index[sites.id]),
        models=shown_models(trace, shown),
        context={name: rows.where(shown.context[name]) for name, rows in trace.context.items()},
        notes=(*trace.notes, *shown.notes),
    )


def shown_models(trace: Trace, shown: Shown | None) -> Models:
    """`Trace.models` of the rows that are shown; None: all. O(rows)."""
    if shown is None:
        return trace.models
    return models_of(*(trace.events[name].where(shown.rows[name]) for name in CORE_ML_FRAMES))


def shown_model_names(trace: Trace, shown: Shown) -> frozenset[str]:
    """Base names of `shown_models`, without counting anything of them. O(rows)."""
    return frozenset(held_texts(trace.events[name].model.take(shown.rows[name]) for name in CORE_ML_FRAMES))


def rows_in_range(trace: Trace, start_ns: int, end_ns: int) -> dict[str, BoolArray]:
    """For each lane the rows that `only_range` keeps: shape (rows,) each. O(rows) per lane."""
    return rows_in_ranges(trace, Intervals(np.array([start_ns]), np.array([end_ns])))


def rows_in_ranges(trace: Trace, ranges: Intervals) -> dict[str, BoolArray]:
    """For each lane the rows that `only_ranges` keeps: shape (rows,) each. `ranges` are sorted and disjoint."""

    def within(rows: Events, called: BoolArray) -> BoolArray:
        """Rows that start in the ranges, and those whose prediction is among the chosen rows of the Activity lane."""
        starting: BoolArray = in_ranges(ranges, rows.start_ns)
        starting |= np.append(called, False)[rows.prediction.filled()]
        return starting

    # Twice, because a row in a stage of a pipeline belongs to the stage, which belongs to the call.
    called = in_ranges(ranges, trace.activity.start_ns)
    called = within(trace.activity, called)
    return {name: within(rows, called) for name, rows in trace.events.items()}


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
    """Base names that rows of any lane mention, sorted; looked for once for each trace."""
    return tuple(
        sorted(held_texts(cells for rows in trace.events.values() for cells in (rows.model, rows.parent_model)))
    )


def matching(names: Collection[str], pattern: str) -> set[str]:
    """Names that a case-sensitive shell pattern chooses. A name, even one with brackets, also chooses itself."""
    return {name for name in names if name == pattern or fnmatchcase(name, pattern)}


def process_names(trace: Trace) -> list[tuple[str, int | None]]:
    """Processes that the target, the hardware rows and the context name: name and pid, sorted. O(rows)."""
    target = trace.run.target.process
    processes: set[tuple[str, int | None]] = set() if target is None else {(target.name, target.pid)}
    for rows in (trace.hardware, *trace.context.values()):
        if isinstance(rows, OfProcesses):
            names = rows.process.take(rows.process.known)
            pids, place = ranks(rows.pid.filled()[rows.process.known])
            for pair in ranks(names.codes * np.int64(len(pids)) + place)[0].tolist():
                code, at = divmod(pair, len(pids))
                processes.add((names.values[code], None if pids[at] < 0 else int(pids[at])))
    return sorted(processes, key=lambda pair: (pair[0], pair[1] or 0))


def spellings(name: str, pid: int | None) -> tuple[str, ...]:
    """How a user may write a process."""
    return (name,) if pid is None else (name, str(pid))


def _of_process(rows: ContextRows | Events, wanted: str) -> BoolArray:
    """Rows of the process, and rows without one, as all of a class that knows no processes."""
    if not isinstance(rows, OfProcesses):
        return np.ones(len(rows), np.bool_)
    same = rows.process.is_any(wanted) | ~rows.process.known
    if wanted.isdecimal() and str(int(wanted)) == wanted:
        same |= rows.pid.filled() == int(wanted)
    return same
