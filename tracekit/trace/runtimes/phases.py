"""Phases of runtimes and operations of the app, from their signposts: `Trace.phases`.

Rows of Foundation Models' and Core AI's own tables stand here too, as phases of a runtime of that name. What they say
is `session`, `error`, `consumed_tokens`, `cached_tokens`, `generated_tokens`, and `identity`, a number that is equal
where arguments of tools or texts of instructions are.

Messages of runtimes stay in the reader: they may hold what a user wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import (
    Codes,
    Keyed,
    Numbers,
    Reals,
    Texts,
    all_known,
    codes_of,
    column,
    constant,
    no_numbers,
    or_null,
)
from tracekit.recording.table import Process
from tracekit.rows import group_ids, in_order, joined, start_order
from tracekit.trace.binding import flags
from tracekit.trace.context import ROW, TABLE, ContextRows
from tracekit.trace.instruments.tables import Logged, Signposts
from tracekit.trace.runtimes.registry import PHASES as LANE_OF, Key, Runtime, Signpost, Units, runtimes
from tracekit.units import format_count, format_names

PHASES: Final = "phases"
"""Name of the rows in the context."""
INTERVAL, OPEN, POINT = "interval", "open", "point"
FORMS: Final = (INTERVAL, OPEN, POINT)
OPERATION: Final = "operation"
UNKNOWN: Final = "unknown"
"""Phase of a signpost of a runtime whose name is not known."""
FRAMES: Final = {"signposts": INTERVAL, "open_signposts": OPEN, "signpost_events": POINT, "points_of_interest": POINT}
"""Rows of the context that hold signposts, and what form these have."""
_LARGEST: Final = 2.0**53
"""What a number of a message may be: beyond, not every whole number is one."""


@dataclass(frozen=True, slots=True, eq=False)
class Phases(ContextRows):
    """Phases of runtimes and operations of the app."""

    duration_ns: Numbers = column("duration; 0 for a point, null for an interval without an end")
    form: Texts = column("`interval`, `open` for one without an end, or `point`")
    runtime: Texts = column("runtime that logged it; null for operations of the app")
    phase: Texts = column("what it is, in one vocabulary for all runtimes; `operation` for those of the app")
    lane: Texts = column("lane that it stands on")
    name: Texts = column("name of the signpost")
    subsystem: Texts = column("its subsystem")
    category: Texts = column("its category")
    process: Texts = column("name of the process")
    pid: Numbers = column("id of the process")
    thread: Texts = column("the thread, as Instruments shows it")
    tid: Numbers = column("id of the thread")
    said: Keyed = column("what messages say, by keys of the runtimes; null where one does not, or says something else")
    table: Texts = column(TABLE)
    row: IntArray = column(f"{ROW}, of the begin")
    request: Numbers = column(
        "request to a language model that it is a part of; null for none, or where it may be of several"
    )

    def ends(self, end_ns: int) -> IntArray:
        """Shape (rows,): when each row ends; what has no end lasts until the recording does."""
        ends = self.start_ns + self.duration_ns.values
        return np.where(self.duration_ns.known, ends, np.maximum(end_ns, self.start_ns))


@dataclass(frozen=True, slots=True)
class _Meaning:
    name: str
    runtime: Runtime | None = None
    signpost: Signpost | None = None
    """None where the runtime is not known to use the name."""
    is_operation: bool = False

    @property
    def phase(self) -> str:
        return OPERATION if self.runtime is None else self.signpost.phase if self.signpost else UNKNOWN

    @property
    def lane(self) -> str:
        return self.name if self.runtime is None else self.signpost.lane if self.signpost else LANE_OF[UNKNOWN]


def bind_phases(
    signposts: Mapping[str, Logged], units: Units, target: Process | None
) -> tuple[Phases, dict[str, Logged], tuple[str, ...]]:
    """Phases and operations among signposts, by name; these without the messages of runtimes; and notes. `FRAMES` says
    what form those of each name have. `target` is the process whose own signposts are operations; None: no process is.
    O(n log n) in the signposts, and O(m) in distinct messages of runtimes."""
    pid = target.pid if target is not None else None
    parts = {name: part for name, rows in signposts.items() if (part := _part(rows, units, pid)) is not None}
    if not parts:
        return Phases.none(), dict(signposts), ()
    of_runtimes = (
        meaning.runtime for part in parts.values() for meaning in part.meanings if meaning.runtime is not None
    )
    keys = {name: key for runtime in of_runtimes for name, key in runtime.keys.items()}
    phases = joined([_bound(signposts[name], part, FRAMES[name], keys) for name, part in parts.items()])
    if len(parts) > 1:
        # A point that two tables hold is one.
        texts = (phases.form.codes, phases.name.codes, phases.subsystem.codes)
        same = group_ids((phases.start_ns, *texts, phases.pid.filled(), phases.tid.filled()), len(phases))
        again = np.ones(len(phases), np.bool_)
        again[np.unique(same, return_index=True)[1]] = False
        phases = phases.where(~(again & phases.form.is_any(POINT)))
    phases = _sorted(phases)
    without = {name: _without_messages(signposts[name], part) for name, part in parts.items()}
    return phases, {**signposts, **without}, tuple(_unknown(phases))


def _sorted(phases: Phases) -> Phases:
    # Of those that begin together, what has no end stands last.
    return in_order(phases, start_order(phases.start_ns, phases.duration_ns.filled()))


def _unknown(phases: Phases) -> Iterator[str]:
    rows = phases.where(phases.phase.is_any(UNKNOWN))
    for runtime in sorted(rows.runtime.held(), key=rows.runtime.values.index):
        own = rows.where(rows.runtime.is_any(runtime)).name
        codes, first, counts = np.unique(own.codes, return_index=True, return_counts=True)
        names = [f"'{own.values[code]}'" for code in codes[np.lexsort((first, -counts))].tolist()]
        yield (
            f"{runtime}: {format_count(len(own), 'signpost')} with unknown names ({format_names(names)}) on the lane "
            f"{LANE_OF[UNKNOWN]}."
        )


def with_recorded(phases: Phases, parts: Sequence[Phases], request: IntArray) -> Phases:
    """Phases of signposts with their requests, shape (phases,) (-1: none), and those of tables. O(n log n)."""
    phases = replace(phases, request=or_null(request))
    parts = [part for part in (phases, *parts) if len(part)]
    if not parts:
        return phases
    first = {name: cells for part in reversed(parts) for name, cells in part.said.cells.items()}
    return _sorted(joined([replace(part, said=_with_all(part, first)) for part in parts]))


def _with_all(part: Phases, wanted: Mapping[str, Texts | Numbers | Reals | IntArray]) -> Keyed:
    """What it says under all of some names, each with the type of the cells that are given: null for what it lacks."""
    count = len(part)
    nothing: dict[type, Texts | Numbers | Reals] = {
        Codes: constant(None, count),
        Numbers: no_numbers(count),
        Reals: Reals(np.zeros(count), np.zeros(count, np.bool_)),
    }
    own = part.said.cells
    return Keyed(
        {
            name: own[name] if name in own and type(own[name]) is type(cells) else nothing[type(cells)]
            for name, cells in wanted.items()
        }
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """What the rows of one table of signposts mean."""

    codes: IntArray
    """Shape (rows,): codes into `meanings`."""
    meanings: Sequence[_Meaning]
    chosen: BoolArray
    """Shape (rows,): phases of a runtime and operations."""


def _part(rows: Logged, units: Units, pid: int | None) -> _Part | None:
    """What each row means; None where none means anything. A loop over distinct subsystems, categories and names."""
    if not len(rows):
        return None
    columns = (rows.subsystem, rows.category, rows.name)
    codes = group_ids([each.codes.astype(np.int64) for each in columns], len(rows))
    _, first = np.unique(codes, return_index=True)
    owners = {subsystem: runtime for runtime in runtimes() for subsystem in runtime.subsystems}
    meanings = []
    for row in first.tolist():
        subsystem, category, name = (each.item(row) or "" for each in columns)
        runtime = owners.get(subsystem)
        if runtime is not None:
            meanings.append(_Meaning(name, runtime, runtime.signpost(subsystem, category, name)))
        else:
            meanings.append(_Meaning(name, is_operation=units.choose(subsystem, name)))
    own = rows.pid.filled() == (-2 if pid is None else pid)
    of_runtime = flags(codes, (meaning.runtime is not None for meaning in meanings))
    chosen = of_runtime | (flags(codes, (meaning.is_operation for meaning in meanings)) & own)
    return _Part(codes, meanings, chosen) if chosen.any() else None


def _without_messages(rows: Logged, part: _Part) -> Logged:
    """The rows with null messages where they are of runtimes; texts that no row holds any more are gone as well."""
    private = flags(part.codes, (meaning.runtime is not None for meaning in part.meanings))
    if not private.any():
        return rows
    without: dict[str, Any] = {
        name: Codes(np.where(private, -1, each.codes), each.values).used() for name, each in rows.messages.items()
    }
    return replace(rows, **without)


def _bound(signposts: Logged, part: _Part, form: str, keys: Mapping[str, Key]) -> Phases:
    """The phases and operations among some signposts."""
    at = np.flatnonzero(part.chosen)
    rows, codes, meanings = signposts.take(at), part.codes[at], part.meanings
    lengths = all_known(rows.duration_ns if isinstance(rows, Signposts) else np.zeros(len(at), np.int64))
    return Phases(
        start_ns=rows.start_ns,
        duration_ns=no_numbers(len(at)) if form == OPEN else lengths,
        form=constant(form, len(at), FORMS),
        runtime=codes_of(codes, [meaning.runtime.name if meaning.runtime else None for meaning in meanings]),
        phase=codes_of(codes, [meaning.phase for meaning in meanings]),
        lane=codes_of(codes, [meaning.lane for meaning in meanings]),
        name=rows.name,
        subsystem=rows.subsystem,
        category=rows.category,
        process=rows.process,
        pid=rows.pid,
        thread=rows.thread,
        tid=rows.tid,
        said=_said(rows, codes, meanings, keys),
        table=rows.table,
        row=rows.row,
        request=no_numbers(len(at)),
    )


def _said(rows: Logged, codes: IntArray, meanings: Sequence[_Meaning], keys: Mapping[str, Key]) -> Keyed:
    # Of each key a code for each row, and the texts that these stand for.
    values = {name: (np.full(len(rows), -1, np.int64), dict[str, int]()) for name in keys}
    for code, meaning in enumerate(meanings):
        entry = meaning.signpost
        if entry is None or not entry.keys:
            continue
        at = np.flatnonzero(codes == code)
        for cells in rows.messages.values() if len(at) else ():
            present, inverse = np.unique(cells.codes[at], return_inverse=True)
            for name, found in _read([*(cells.values[each] if each >= 0 else "" for each in present)], entry).items():
                of_row, texts = values[name]
                said = np.array([-1 if text is None else texts.setdefault(text, len(texts)) for text in found])[inverse]
                of_row[at[said >= 0]] = said[said >= 0]
    return Keyed({name: _column(values[name][0], [*values[name][1]], key) for name, key in keys.items()})


def _read(texts: Sequence[str], entry: Signpost) -> dict[str, list[str | None]]:
    """The value of each key in each message; None where it has none."""
    patterns = [re.compile(pattern) for pattern in entry.patterns] or [
        re.compile(rf"(?:^|,)\s*{key}\s*=\s*(?P<{key}>[^,]*)") for key in entry.keys
    ]
    found: dict[str, list[str | None]] = {key: [None] * len(texts) for key in entry.keys}
    for pattern in patterns:
        groups = tuple(pattern.groupindex)
        for number, match in enumerate(map(pattern.search, texts)):
            if match is not None:
                for group in groups:
                    found[group][number] = match[group]
    return found


_NUMBER: Final = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*", re.ASCII | re.IGNORECASE)


def _column(codes: IntArray, texts: Sequence[str], key: Key) -> Texts | Numbers | Reals:
    """The values of a key, by code; null where there is none, or no number where one is declared."""
    if key.type == "text":
        return codes_of(codes, [text.strip() for text in texts])
    read = [float(text) if _NUMBER.fullmatch(text) else np.inf for text in texts]
    numbers = np.array([*read, np.inf])
    known = np.abs(numbers) < _LARGEST
    filled = np.where(known, numbers, 0.0)
    if key.type == "integer":
        known &= filled == np.floor(filled)
        return Numbers(np.where(known, filled, 0).astype(np.int64)[codes], known[codes])
    return Reals(filled[codes], known[codes])
