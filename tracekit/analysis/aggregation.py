"""Model Activity Aggregation: per lane, event and model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.loads import first_predictions
from tracekit.analysis.statistics import Statistics, duration_statistics
from tracekit.arrays import BoolArray, IndexArray
from tracekit.errors import unknown
from tracekit.recording.table import Process
from tracekit.rows import first_codes, group_ids
from tracekit.sorting import distinct_numbers, equal_groups, few_bits
from tracekit.trace.events import Attribution, Calls, Events, Kind, Level
from tracekit.trace.instruments.catalogue import INSTRUMENTS
from tracekit.trace.trace import Trace

if TYPE_CHECKING:
    from tracekit.columns import Places


@dataclass(frozen=True, slots=True)
class AggregationRow:
    """One row of the aggregation: a lane, an event and a model."""

    lane: str
    """Lane that the events are on."""
    label: str
    """Event as recorded. For the hardware lanes a title of the kind, since their labels name
    single pieces of work."""
    kind: str
    """Kind of event."""
    guessed: bool
    """Whether the kind was guessed from the name."""
    model: str | None
    """Base name; None where the rows name no model."""
    level: str
    """`top`, or `sub` for a stage of a pipeline."""
    statistics: Statistics
    """Durations."""
    warm: Statistics | None
    """Predictions only: without the first one after each load. None for other kinds, and where none is left."""
    process: str | None = None
    """Whose work it is, as Instruments writes it: `name (pid)`. None where the rows name no process, and for the Core
    ML lanes, which hold the target alone."""
    resolution_ns: int = 0
    """How exactly begin and end are known: the time between two samples, where only call stacks show them."""


@dataclass(frozen=True, slots=True, eq=False)
class Titles:
    """What rows of the hardware lanes are called in the aggregation, and whose work they are."""

    codes: IndexArray
    """Shape (rows,): indexes in the other two."""
    texts: tuple[str, ...]
    processes: tuple[str | None, ...]


HARDWARE_TITLES = {kind: work.title for entry in INSTRUMENTS for kind, work in entry.kinds.items() if work.title}
"""What rows of the hardware lanes are called in the aggregation."""

NO_EVENT = "unnamed event"
"""What stands for the event of rows whose cell holds none."""

SORT_COLUMNS: dict[str, str] = {
    "total": "total_ns",
    "sum": "total_ns",
    "count": "count",
    "elapsed": "elapsed_ns",
    "mean": "mean_ns",
    "min": "min_ns",
    "median": "p50_ns",
    "p50": "p50_ns",
    "p90": "p90_ns",
    "p95": "p95_ns",
    "p99": "p99_ns",
    "max": "max_ns",
    "stdev": "stdev_ns",
}
"""Names for `--sort`, with the field of `Statistics` that each sorts by, descending."""


def aggregate(
    trace: Trace, counted: Mapping[str, BoolArray] | None = None, sort: str = "total"
) -> tuple[AggregationRow, ...]:
    """The Core ML lanes by lane, event, model and level; those of the hardware by lane, kind, model and process.

    `counted`: rows of each of `Trace.events` that count, shape (rows,); None for all. Which predictions are warm
    follows from all loads, whether they count or not. `sort` is a column as in `sort_rows`. O(n log n).

    The label of hardware names every process but the target, so that its work is never taken for the target's. Rows
    nested in others of their lane (depth 1 and more) stand apart: together with those they would be counted twice.
    """
    found: list[AggregationRow] = []
    for name, rows in trace.events.items():
        cold = first_predictions(trace) if name == "activity" else np.zeros(len(rows), np.bool_)
        titles = hardware_titles(trace) if name == "hardware" else None
        found.extend(_rows(rows, slice(None) if counted is None else np.flatnonzero(counted[name]), cold, titles))
    return sort_rows(found, sort)


def hardware_titles(trace: Trace) -> Titles:
    """The titles of the rows of `Trace.hardware`. O(rows); each title is made once."""
    hardware, target = trace.hardware, trace.run.target.process
    owner, owners = _owners(hardware)
    kinds, lanes = hardware.kind, hardware.lane
    foreign = hardware.attribution.is_any(Attribution.FOREIGN).astype(np.intp)
    nested = (hardware.depth.filled(0) > 0).astype(np.intp)
    named = set(distinct_numbers(lanes.codes[hardware.process.known]).tolist())
    # Every row has a kind and a lane.
    columns = (kinds.codes, lanes.codes, owner, foreign, nested)
    shape = (len(kinds.values), len(lanes.values), len(owners), 2, 2)
    codes, combinations = first_codes(np.ravel_multi_index(columns, shape))
    texts, processes = [], []
    for kind, lane, number, is_foreign, is_nested in zip(*np.unravel_index(combinations, shape), strict=True):
        process = owners[number]
        ending = "" if target is not None and process == str(target) else f", {process}"
        if process is None:
            ending = ", other processes" if is_foreign else ", unknown process" if lane in named else ""
        title = HARDWARE_TITLES.get(kinds.values[kind], kinds.values[kind])
        texts.append(f"{title}{ending}{', nested' if is_nested else ''}")
        processes.append(process)
    return Titles(codes, tuple(texts), tuple(processes))


def _owners(hardware: Events) -> tuple[IndexArray, list[str | None]]:
    """Process of each row as index into the processes, shape (rows,), and these as text; None for no process."""
    names = hardware.process
    pid, pids = first_codes(hardware.pid.filled())
    number, distinct = first_codes(names.codes * np.int64(len(pids)) + pid)
    return number, [
        None if name < 0 else str(Process(names.values[name], int(pids[at]) if pids[at] >= 0 else None))
        for name, at in zip(*divmod(distinct, max(len(pids), 1)), strict=True)
    ]


def sort_rows(rows: Iterable[AggregationRow], column: str) -> tuple[AggregationRow, ...]:
    """Rows by a column of `SORT_COLUMNS`, descending, rows without a value last; ties by lane, label, model, level.

    Raises `UsageError` for an unknown column.
    """
    if column not in SORT_COLUMNS:
        raise unknown("column", column, SORT_COLUMNS)
    field = SORT_COLUMNS[column]

    def key(row: AggregationRow) -> tuple[bool, float, str, str, str, str]:
        value = getattr(row.statistics, field)
        return (value is None, -(value or 0), row.lane, row.label, row.model or "", row.level)

    return tuple(sorted(rows, key=key))


def _rows(events: Events, at: Places, cold: BoolArray, titles: Titles | None) -> Iterator[AggregationRow]:
    """One row for each lane, label, kind, model, level and title of the events at some positions.

    `cold`: events that warm leaves out. `titles`: of the hardware lanes, whose events are not called by their label.
    """
    lane, kind, model, level = (cells.take(at) for cells in (events.lane, events.kind, events.model, events.level))
    if not len(lane):
        return
    guessed, starts, durations, cold = events.guessed[at], events.start_ns[at], events.duration_ns[at], cold[at]
    label = (events.label if titles is None else events.kind).take(at)
    apart = np.zeros(len(lane), np.intp) if titles is None else titles.codes[at]
    known_to = events.resolution_ns[at] if isinstance(events, Calls) else np.zeros(len(lane), np.int64)
    texts = (cells.codes for cells in (lane, label, kind, model, level))
    group = group_ids((*texts, guessed, apart), len(lane))
    for members in equal_groups(few_bits(group)):
        first, warm = members[0], members[~cold[members]]
        statistics = duration_statistics(starts[members], durations[members])
        if statistics is None:
            continue
        title, process = label.item(first), None
        if titles is not None:
            title, process = titles.texts[apart[first]], titles.processes[apart[first]]
        yield AggregationRow(
            lane=str(lane.item(first)),
            label=NO_EVENT if title is None else title,
            kind=str(kind.item(first)),
            guessed=bool(guessed[first]),
            model=model.item(first),
            level=level.item(first) or Level.TOP.value,
            statistics=statistics,
            warm=duration_statistics(starts[warm], durations[warm]) if kind.item(first) == Kind.PREDICTION else None,
            process=process,
            resolution_ns=int(known_to[members].max()),
        )
