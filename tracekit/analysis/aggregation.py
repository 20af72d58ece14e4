"""Model Activity Aggregation: per lane, event and model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from tracekit.analysis.loads import first_predictions
from tracekit.analysis.statistics import Statistics, duration_statistics
from tracekit.arrays import BoolArray, CodeArray, IndexArray
from tracekit.errors import unknown
from tracekit.recording.table import Process
from tracekit.sorting import few_bits
from tracekit.trace.events import Attribution, Kind, Level
from tracekit.trace.filter import CORE_ML_FRAMES
from tracekit.trace.frames import categorical
from tracekit.trace.instruments.catalogue import INSTRUMENTS
from tracekit.trace.trace import Trace


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

    `counted`: rows of each event frame that count, shape (rows,); None for all. Which predictions are warm follows from
    all loads, whether they count or not. `sort` is a column as in `sort_rows`. O(n log n).

    The label of hardware names every process but the target, so that its work is never taken for the target's. Rows
    nested in others of their lane (depth 1 and more) stand apart: together with those they would be counted twice.
    """
    rows: list[AggregationRow] = []
    for name in (*CORE_ML_FRAMES, "hardware"):
        frame = trace.framed(name)
        cold = first_predictions(trace) if name == "activity" else np.zeros(len(frame), dtype=bool)
        titles = hardware_titles(trace) if name == "hardware" else None
        if counted is not None:
            frame, cold = frame[counted[name]], cold[counted[name]]
            titles = replace(titles, codes=titles.codes[counted[name]]) if titles is not None else None
        rows.extend(_rows(frame, "label" if titles is None else "kind", cold, titles))
    return sort_rows(rows, sort)


def hardware_titles(trace: Trace) -> Titles:
    """The titles of the rows of `Trace.hardware`. O(rows); each title is made once."""
    hardware, target = trace.hardware.frame(), trace.run.target.process
    owner, owners = _owners(hardware)
    kinds, lanes = hardware["kind"].cat, hardware["lane"].cat
    foreign = (hardware["attribution"] == Attribution.FOREIGN).to_numpy(dtype=np.intp)
    nested = (hardware["depth"].fillna(0) > 0).to_numpy(dtype=np.intp)
    named = set(lanes.codes[hardware["process"].notna()].unique())
    # Every row has a kind and a lane.
    columns = (kinds.codes.to_numpy(), lanes.codes.to_numpy(), owner, foreign, nested)
    shape = (len(kinds.categories), len(lanes.categories), len(owners), 2, 2)
    codes, combinations = pd.factorize(np.ravel_multi_index(columns, shape))
    texts, processes = [], []
    for kind, lane, number, is_foreign, is_nested in zip(*np.unravel_index(combinations, shape), strict=True):
        process = owners[number]
        ending = "" if target is not None and process == str(target) else f", {process}"
        if process is None:
            ending = ", other processes" if is_foreign else ", unknown process" if lane in named else ""
        title = HARDWARE_TITLES.get(kinds.categories[kind], kinds.categories[kind])
        texts.append(f"{title}{ending}{', nested' if is_nested else ''}")
        processes.append(process)
    return Titles(codes, tuple(texts), tuple(processes))


def _owners(hardware: pd.DataFrame) -> tuple[IndexArray, list[str | None]]:
    """Process of each row as index into the processes, shape (rows,), and these as text; None for no process."""
    names = hardware["process"].cat
    pid, pids = hardware["pid"].factorize()
    # One more than the index of either, since 0 stands for none.
    pairs = (names.codes.to_numpy(dtype=np.intp) + 1) * (len(pids) + 1) + pid + 1
    number, distinct = pd.factorize(pairs)
    return number, [
        str(Process(names.categories[name - 1], int(pids[at - 1]) if at else None)) if name else None
        for name, at in zip(*divmod(distinct, len(pids) + 1), strict=True)
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


def _number(columns: Sequence[CodeArray | BoolArray]) -> IndexArray:
    """Number of each row's combination of codes, in order of appearance: shape (rows,). -1 is a code too. O(rows)."""
    number, count = np.zeros(len(columns[0]), np.int64), 1
    for codes in (column for column in columns if column.min() < column.max()):
        values = int(codes.max()) + 2
        if count * values > np.iinfo(np.int64).max:
            number, distinct = pd.factorize(number)
            count = len(distinct)
        number, count = number * values + codes + 1, count * values
    return pd.factorize(number)[0]


def _rows(frame: pd.DataFrame, name: str, cold: BoolArray, titles: Titles | None = None) -> Iterator[AggregationRow]:
    """One row for each lane, `name`, kind, model, level and title of an event frame.

    `cold`: rows that warm leaves out. `titles`: of the rows of hardware lanes; others are called by `name`.
    """
    if frame.empty:
        return
    apart = titles.codes if titles is not None else np.zeros(len(frame), np.intp)
    cells = [categorical(frame[key]) for key in dict.fromkeys(["lane", name, "kind", "model", "level"])]
    group = _number([cell.codes for cell in cells] + [frame["guessed"].to_numpy(), apart])
    order = np.argsort(few_bits(group), kind="stable")
    starts, durations = frame["start_ns"].to_numpy(), frame["duration_ns"].to_numpy()
    groups = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    # Taken for all groups at once: a row of a frame with columns of many types is slow to get.
    firsts = np.array([members[0] for members in groups])
    values = (frame[key].array.take(firsts) for key in ("lane", name, "kind", "guessed", "model", "level"))
    known_to = frame["resolution_ns"].to_numpy() if "resolution_ns" in frame else np.zeros(len(frame), np.int64)
    for members, lane, label, kind, guessed, model, level in zip(groups, *values, strict=True):
        statistics = duration_statistics(starts[members], durations[members])
        if statistics is None:
            continue
        title, process, warm = label, None, members[~cold[members]]
        if titles is not None:
            title, process = titles.texts[apart[members[0]]], titles.processes[apart[members[0]]]
        yield AggregationRow(
            lane=str(lane),
            label=title if isinstance(title, str) else NO_EVENT,
            kind=str(kind),
            guessed=bool(guessed),
            model=model if isinstance(model, str) else None,
            level=level if isinstance(level, str) else Level.TOP.value,
            statistics=statistics,
            warm=duration_statistics(starts[warm], durations[warm]) if kind == Kind.PREDICTION else None,
            process=process,
            resolution_ns=int(known_to[members].max()),
        )
