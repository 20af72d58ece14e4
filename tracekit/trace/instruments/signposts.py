"""Signposts of the app and of frameworks: intervals and events.

Newer tables hold finished intervals; `os-signpost` holds their beginnings and ends, which are paired here. Messages
are chosen by apps and may be private.
"""

from __future__ import annotations

import re

import numpy as np

from tracekit.arrays import BoolArray, IndexArray
from tracekit.columns import all_known
from tracekit.intervals import running_end
from tracekit.recording.table import Cells, Column, Process, Table
from tracekit.rows import group_ids, joined
from tracekit.sorting import is_first_of_each
from tracekit.trace import collect
from tracekit.trace.binding import optional_values, required_values
from tracekit.trace.collect import select_rows
from tracekit.trace.context import bind_context, of_target, sorted_by_start
from tracekit.trace.instruments.instrument import Context, Instrument
from tracekit.trace.instruments.tables import MetalPipelines, SignpostEvents, Signposts

EVENT_SCHEMAS = ("os-signpost",)

_PAIR_COLUMNS = ("process", "subsystem", "category", "name", "identifier")
"""What a beginning and its end share. A log, that is a subsystem and category, has identifiers of its own."""


def bind_signposts(rows: collect.Rows) -> tuple[Signposts, SignpostEvents, SignpostEvents, tuple[str, ...]]:
    """What the `os-signpost` tables hold: paired beginnings and ends (`row` of the beginning); single events;
    beginnings without an end, where the recording ended before, or the app never ended them; and how many beginnings
    and ends have no counterpart. Raises `MissingColumn` without time, name or event type."""
    event_type = required_values(rows.table, "event-type")
    words = event_type.recoded(lambda value: str(value).strip().casefold())
    begins, ends = words.is_any("begin"), words.is_any("end")
    begin, end = _pairs(rows, begins, ends)
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], end[order]
    table = rows.table
    taken = {name: optional_values(table, name).take(begin) for name in (*_PAIR_COLUMNS, "thread", "message")}
    start = rows.starts[begin]
    cells: dict[str, Cells] = {
        "start": all_known(start),
        "duration": all_known(rows.starts[end] - start),
        **{name: taken[name] for name in _PAIR_COLUMNS},
        "start-thread": taken["thread"],
        "start-message": taken["message"],
        "end-message": optional_values(table, "message").take(end),
    }
    columns = tuple(Column(mnemonic, "") for mnemonic in cells)
    paired = Table(table.schema, table.run, table.state, columns, tuple(cells.values()), len(begin))
    intervals = bind_context(collect.Rows(paired, rows.schema.take(begin), rows.row[begin]), Signposts)
    events = bind_context(select_rows(rows, ~(begins | ends)), SignpostEvents)
    begins[begin] = False
    unfinished = bind_context(select_rows(rows, begins), SignpostEvents)
    open_ends = int(ends.sum()) - len(end)
    counts = [(len(unfinished), "without an end"), (open_ends, "without a begin")]
    said = ", ".join(f"{count} {what}" for count, what in counts if count)
    notes = (f"Incomplete signpost intervals: {said}.",) if said else ()
    return intervals, events, unfinished, notes


def joined_intervals(recorded: Signposts | None, paired: Signposts) -> Signposts:
    """Both as one; an interval that the recording has finished and that was also paired is one interval. O(n log n)."""
    if recorded is None or not len(paired):
        return paired if recorded is None else recorded
    both = joined((recorded, paired))
    texts = (both.name.codes, both.identifier.codes, both.process.codes)
    same = group_ids((both.start_ns, both.duration_ns, *texts, both.pid.filled()), len(both))
    first = len(recorded)
    # The n-th of some equal ones that were paired is the n-th of those that were recorded.
    order = np.argsort(same[first:], kind="stable")
    ids = same[first:][order]
    occurrence = np.arange(len(ids)) - np.searchsorted(ids, ids)
    kept = np.ones(len(both), np.bool_)
    kept[first + order] = occurrence >= np.bincount(same[:first], minlength=int(same.max()) + 1)[ids]
    return sorted_by_start(both.where(kept))


def metal_pipelines(events: SignpostEvents, target: Process | None) -> MetalPipelines:
    """GPU functions that were compiled for the target: Metal's events, `function` in place of the message, each once:
    in one public recording of three all come again, word for word, without a compilation. O(n log n)."""
    compiled = events.name.is_any("FunctionCompiled") & events.subsystem.is_any(_SHADERS)
    own = events.where(compiled & of_target(events.pid, target))
    own = own.where(is_first_of_each(group_ids((own.pid.filled(), own.message.codes), len(own))) | ~own.message.known)
    function = own.message.recoded(lambda message: found[1] if (found := _FUNCTION.match(message)) else None)
    return MetalPipelines(own.start_ns, function, own.process, own.pid, own.thread, own.tid, own.table, own.row)


_SHADERS = "com.apple.Metal.AGXSignposts"
_FUNCTION = re.compile(r"Name=(\S+)")


def _pairs(rows: collect.Rows, begins: BoolArray, ends: BoolArray) -> tuple[IndexArray, IndexArray]:
    """Positions of the beginnings and of their ends. An end closes the latest open beginning of its kind (a stack for
    each process, log, name and identifier), in order of time. O(n log n)."""
    index = np.flatnonzero(begins | ends)
    if not len(index):
        return index, index
    group = group_ids([optional_values(rows.table, name).codes[index] for name in _PAIR_COLUMNS], len(index))
    order = np.lexsort((rows.starts[index], group))
    index, group = index[order], group[order]
    step = np.where(begins[index], 1, -1)
    opens = np.flatnonzero(np.diff(group, prepend=-1))
    before = np.cumsum(step) - step
    depth = before + step - np.repeat(before[opens], np.diff(np.append(opens, len(group))))
    # Ends without a beginning push the depth below zero; measured from the lowest point so far, they do not count.
    low = np.minimum(-running_end(group, -depth), 0)
    previous_low = np.where(np.diff(group, prepend=-1) != 0, 0, np.append(0, low)[:-1])
    matched = low == previous_low
    level = (depth - low + (step < 0))[matched]
    index, group, step = index[matched], group[matched], step[matched]
    order = np.lexsort((level, group))
    index, group, step, level = index[order], group[order], step[order], level[order]
    pair = (step[:-1] > 0) & (step[1:] < 0) & (group[:-1] == group[1:]) & (level[:-1] == level[1:])
    return index[:-1][pair], index[1:][pair]


INSTRUMENT = Instrument(
    "Signposts",
    "events and intervals that the app and the system log",
    EVENT_SCHEMAS,
    context=(Context("signposts", ("os-signpost-interval", "OSSignpostIntervals"), Signposts),),
    added_as="os_signpost",
    plural=True,
)
