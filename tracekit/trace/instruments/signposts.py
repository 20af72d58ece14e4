"""Signposts of the app and of frameworks: intervals and events.

Newer tables hold finished intervals; `os-signpost` holds their beginnings and ends, which are paired here. Messages
are chosen by apps and may be private.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from tracekit.arrays import BoolArray, IndexArray
from tracekit.columns import Numbers
from tracekit.recording.table import Cells, Column, Process, Table
from tracekit.trace.binding import flags, optional_values, recode, required_values
from tracekit.trace.collect import Rows, group_ids, select_rows
from tracekit.trace.frames import Field, Form, categorical, context_frame, is_any, sorted_by_start
from tracekit.trace.instruments.instrument import Context, Instrument
from tracekit.trace.runtimes.phases import of_target

EVENT_SCHEMAS = ("os-signpost",)

_COMMON = (
    Field("name", required=True),
    Field("category"),
    Field("subsystem"),
    Field("identifier"),
    Field("process", Form.PROCESS),
)
INTERVAL_FIELDS = (
    *_COMMON,
    Field("thread", Form.THREAD, column="start-thread"),
    Field("start_message"),
    Field("end_message"),
)
EVENT_FIELDS = (*_COMMON, Field("thread", Form.THREAD), Field("message"))

_PAIR_COLUMNS = ("process", "subsystem", "category", "name", "identifier")
"""What a beginning and its end share. A log, that is a subsystem and category, has identifiers of its own."""


def bind_signposts(rows: Rows) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, tuple[str, ...]]:
    """What the `os-signpost` tables hold: paired beginnings and ends (columns of `INTERVAL_FIELDS`, `row` of the
    beginning); single events (columns of `EVENT_FIELDS`); with the same columns, beginnings without an end, where the
    recording ended before, or the app never ended them; and how many beginnings and ends have no counterpart. Raises
    `MissingColumn` without time, name or event type."""
    event_type = required_values(rows.table, "event-type")
    words = [str(value).strip().casefold() for value in event_type.values]
    begins = flags(event_type.codes, [word == "begin" for word in words])
    ends = flags(event_type.codes, [word == "end" for word in words])
    begin, end = _pairs(rows, begins, ends)
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], end[order]
    table = rows.table
    taken = {name: optional_values(table, name).take(begin) for name in (*_PAIR_COLUMNS, "thread", "message")}
    start = rows.starts[begin]
    valid = np.ones(len(begin), np.bool_)
    cells: dict[str, Cells] = {
        "start": Numbers(start, valid),
        "duration": Numbers(rows.starts[end] - start, valid),
        **{name: taken[name] for name in _PAIR_COLUMNS},
        "start-thread": taken["thread"],
        "start-message": taken["message"],
        "end-message": optional_values(table, "message").take(end),
    }
    columns = tuple(Column(mnemonic, "") for mnemonic in cells)
    paired = Table(table.schema, table.run, table.state, columns, tuple(cells.values()), len(begin))
    intervals = context_frame(Rows(paired, rows.schema.take(begin), rows.row[begin]), INTERVAL_FIELDS)
    events = context_frame(select_rows(rows, ~(begins | ends)), EVENT_FIELDS)
    begins[begin] = False
    unfinished = context_frame(select_rows(rows, begins), EVENT_FIELDS)
    open_ends = int(ends.sum()) - len(end)
    counts = [(len(unfinished), "without an end"), (open_ends, "without a begin")]
    said = ", ".join(f"{count} {what}" for count, what in counts if count)
    notes = (f"Incomplete signpost intervals: {said}.",) if said else ()
    return intervals, events, unfinished, notes


def joined_intervals(recorded: pd.DataFrame | None, paired: pd.DataFrame) -> pd.DataFrame:
    """Both frames as one; an interval that the recording has finished and that was also paired is one interval."""
    if recorded is None:
        return paired
    both = pd.concat([recorded, paired], ignore_index=True)
    both = both.astype({name: "category" for name, dtype in recorded.dtypes.items() if dtype == "category"})
    from_pairs = np.arange(len(both)) >= len(recorded)
    keys = [both[name] for name in ("start_ns", "duration_ns", "name", "identifier", "process", "pid")]
    occurrence = both.groupby([*keys, from_pairs], dropna=False, observed=True, sort=False).cumcount()
    same = pd.concat([*keys, occurrence], axis=1).duplicated().to_numpy()
    return sorted_by_start(both[~(same & from_pairs)])


def metal_pipelines(events: pd.DataFrame, target: Process | None) -> pd.DataFrame:
    """GPU functions that were compiled for the target: Metal's events, `function` in place of the message. O(n)."""
    compiled = is_any(events["name"], "FunctionCompiled") & is_any(events["subsystem"], _SHADERS)
    rows = np.flatnonzero(compiled & of_target(events, target))
    messages = categorical(events["message"])
    names = [_FUNCTION.match(str(message)) for message in messages.categories]
    function = recode(messages.codes[rows], [None if name is None else name[1] for name in names])
    others = {name: events[name].array.take(rows) for name in ("process", "pid", "thread", "tid", "table", "row")}
    start_ns = events["start_ns"].to_numpy()[rows]
    return pd.DataFrame({"start_ns": start_ns, "function": function, **others}, copy=False)


_SHADERS = "com.apple.Metal.AGXSignposts"
_FUNCTION = re.compile(r"Name=(\S+)")


def _pairs(rows: Rows, begins: BoolArray, ends: BoolArray) -> tuple[IndexArray, IndexArray]:
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
    low = np.minimum(pd.Series(depth).groupby(group).cummin().to_numpy(), 0)
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
    context=(Context("signposts", ("os-signpost-interval", "OSSignpostIntervals"), INTERVAL_FIELDS),),
    added_as="os_signpost",
    plural=True,
)
