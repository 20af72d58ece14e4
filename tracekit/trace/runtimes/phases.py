"""Phases of runtimes and operations of the app, from their signposts: one frame, `Trace.phases`.

| column       | dtype    | holds                                                                                     |
|--------------|----------|-------------------------------------------------------------------------------------------|
| start_ns     | int64    | start                                                                                     |
| duration_ns  | Int64    | duration; 0 for a point, null for an interval without an end                              |
| form         | category | `interval`, `open` (its end is not in the recording), `point`                             |
| runtime      | category | name of the runtime; null for operations of the app                                       |
| phase        | category | one of `registry.PHASES`; `unknown` for a name that is not known, `operation` of the app |
| lane         | category | one of `registry.LANES`; the name, for the app's                                          |
| name         | category | name of the signpost; so are `subsystem` and `category`                                   |
| process      | category | process that logged it; and `pid` (Int64)                                                 |
| thread       | category | thread on which it began; and `tid` (Int64)                                               |
| one for each | Int64,   | what messages say: declared keys (`registry.Key`) of the runtimes that occur; null where  |
| key          | Float64, | the message does not have it, or has something else                                       |
|              | category |                                                                                           |
| table, row   |          | as in other frames of the context; `row` is that of the begin                             |
| request      | Int64    | number of its request in `Trace.requests`; null for none, or where it may be of several   |

Rows of Foundation Models' and Core AI's own tables stand here too, as phases of a runtime of that name. They add the
columns `session`, `error`, `consumed_tokens`, `cached_tokens`, `generated_tokens`, and `identity`, a number that is
equal where arguments of tools or texts of instructions are.

Messages of runtimes stay in the reader: they may hold what a user wrote.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from tracekit.arrays import BoolArray, IntArray, ObjectArray
from tracekit.recording.table import Process
from tracekit.trace.binding import constant, flags, recode
from tracekit.trace.collect import group_ids
from tracekit.trace.frames import categorical, concat_frames, is_any, made_once, or_minus_one, or_null, sorted_by_start
from tracekit.trace.runtimes.registry import COLUMNS, PHASES as LANE_OF, Key, Runtime, Signpost, Units, runtimes
from tracekit.units import format_count, format_names

PHASES: Final = "phases"
"""Name of the frame in the context."""
INTERVAL, OPEN, POINT = "interval", "open", "point"
FORMS: Final = (INTERVAL, OPEN, POINT)
OPERATION: Final = "operation"
MESSAGES: Final = ("start_message", "end_message", "message")
"""Columns of signposts that may hold what a user wrote."""
UNKNOWN: Final = "unknown"
"""Phase of a signpost of a runtime whose name is not known."""
FRAMES: Final = {"signposts": INTERVAL, "open_signposts": OPEN, "signpost_events": POINT, "points_of_interest": POINT}
"""Frames of the context that hold signposts, and what form these have."""
_AS_RECORDED: Final = ("name", "subsystem", "category", "process", "pid", "thread", "tid")
_LARGEST: Final = 2.0**53
"""What a number of a message may be: beyond, not every whole number is one."""


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
    signposts: Mapping[str, pd.DataFrame], units: Units, target: Process | None
) -> tuple[pd.DataFrame, dict[str, pd.DataFrame], tuple[str, ...]]:
    """Phases and operations among frames of signposts, by name; these frames without the messages of runtimes; and
    notes. `FRAMES` says what form those of each name have. `target` is the process whose own signposts are operations;
    None: no process is. O(n log n) in the signposts, and O(m) in distinct messages of runtimes."""
    pid = target.pid if target is not None else None
    parts = {name: part for name, frame in signposts.items() if (part := _part(frame, units, pid)) is not None}
    if not parts:
        return pd.DataFrame(), dict(signposts), ()
    of_runtimes = (each.runtime for part in parts.values() for each in part.meanings if each.runtime is not None)
    keys = {name: key for runtime in of_runtimes for name, key in runtime.keys.items()}
    bound = [_bound(signposts[name], part, FRAMES[name], keys) for name, part in parts.items()]
    frame = concat_frames(bound, map(str, bound[0]))
    if len(bound) > 1:
        # A point that two tables hold is one.
        twice = frame["form"].eq(POINT) & frame.duplicated(["start_ns", "form", "name", "subsystem", "pid", "tid"])
        frame = frame[~twice.to_numpy()].reset_index(drop=True)
    frame = sorted_by_start(frame)
    without = {name: _without_messages(signposts[name], part) for name, part in parts.items()}
    notes = []
    for runtime, rows in frame[is_any(frame["phase"], UNKNOWN)].groupby("runtime", observed=True):
        names = [f"'{name}'" for name in rows["name"].astype(str).value_counts().index]
        notes.append(
            f"{runtime}: {format_count(len(rows), 'signpost')} with unknown names ({format_names(names)}) on the lane "
            f"{LANE_OF[UNKNOWN]}."
        )
    return frame, {**signposts, **without}, tuple(notes)


@made_once
def no_phases() -> pd.DataFrame:
    """A frame of phases without rows, as most recordings have it."""
    columns: dict[str, object] = dict.fromkeys(COLUMNS, constant(None, 0))
    columns |= dict.fromkeys(("start_ns", "row"), np.zeros(0, np.int64))
    columns |= dict.fromkeys(("duration_ns", "pid", "tid", "request"), or_null(np.zeros(0, np.int64)))
    return pd.DataFrame(columns, copy=False)


def with_recorded(phases: pd.DataFrame, parts: Sequence[pd.DataFrame], request: IntArray) -> pd.DataFrame:
    """Phases of signposts with their requests, shape (phases,) (-1: none), and those of tables. O(n log n)."""
    phases = (no_phases() if phases.empty else phases).assign(request=or_null(request))
    parts = [phases, *(part for part in parts if len(part))]
    if len(parts) == 1:
        return phases
    texts = {name for part in parts for name, dtype in part.dtypes.items() if dtype in ("category", "object", "str")}
    frame = pd.concat([part.astype(dict.fromkeys(texts & {*part}, object)) for part in parts], ignore_index=True)
    whole = {name: "Int64" for name in frame if name not in texts and name not in ("start_ns", "row", "memory")}
    frame = frame.astype(dict.fromkeys(texts, "category") | whole | {"start_ns": "int64", "row": "int64"})
    return sorted_by_start(frame.assign(form=frame["form"].cat.set_categories(list(FORMS))))


def of_target(rows: pd.DataFrame, target: Process | None) -> BoolArray:
    """Shape (rows,): what is of the target, such as what it logged; where no process is the target, all."""
    if target is None or target.pid is None:
        return np.ones(len(rows), np.bool_)
    own: BoolArray = or_minus_one(rows["pid"]) == target.pid
    return own


@dataclass(frozen=True, slots=True)
class _Part:
    """What the rows of one frame of signposts mean."""

    codes: IntArray
    """Shape (rows,): codes into `meanings`."""
    meanings: Sequence[_Meaning]
    chosen: BoolArray
    """Shape (rows,): phases of a runtime and operations."""


def _part(frame: pd.DataFrame, units: Units, pid: int | None) -> _Part | None:
    """What each row means; None where none means anything. A loop over distinct subsystems, categories and names."""
    if frame.empty:
        return None
    columns = [categorical(frame[name]) if name in frame else constant(None, len(frame)) for name in _NAMES]
    codes = group_ids([column.codes.astype(np.int64) for column in columns], len(frame))
    _, first = np.unique(codes, return_index=True)
    owners = {subsystem: runtime for runtime in runtimes() for subsystem in runtime.subsystems}
    meanings = []
    for row in first.tolist():
        subsystem, category, name = ("" if pd.isna(text) else str(text) for text in (each[row] for each in columns))
        runtime = owners.get(subsystem)
        if runtime is not None:
            meanings.append(_Meaning(name, runtime, runtime.signpost(subsystem, category, name)))
        else:
            meanings.append(_Meaning(name, is_operation=units.choose(subsystem, name)))
    own = or_minus_one(frame["pid"]) == (-2 if pid is None else pid)
    of_runtime = flags(codes, (each.runtime is not None for each in meanings))
    chosen = of_runtime | (flags(codes, (each.is_operation for each in meanings)) & own)
    return _Part(codes, meanings, chosen) if chosen.any() else None


_NAMES: Final = ("subsystem", "category", "name")


def _without_messages(frame: pd.DataFrame, part: _Part) -> pd.DataFrame:
    """The frame with null messages in rows of runtimes; texts that no row holds any more are gone as well."""
    private = flags(part.codes, (each.runtime is not None for each in part.meanings))
    if not private.any():
        return frame
    without = {}
    for name in MESSAGES:
        if name in frame:
            cells = categorical(frame[name])
            codes = np.where(private, -1, cells.codes)
            without[name] = pd.Categorical.from_codes(codes, dtype=cells.dtype).remove_unused_categories()
    return frame.assign(**without)


def _bound(frame: pd.DataFrame, part: _Part, form: str, keys: Mapping[str, Key]) -> pd.DataFrame:
    """The phases and operations among the rows of one frame, with the columns of `Trace.phases`."""
    at = np.flatnonzero(part.chosen)
    rows, codes, meanings = frame.take(at), part.codes[at], part.meanings
    lengths = rows["duration_ns"].to_numpy(np.int64) if form == INTERVAL else np.zeros(len(at), np.int64)
    columns: dict[str, object] = {
        "start_ns": rows["start_ns"].to_numpy(),
        "duration_ns": pd.arrays.IntegerArray(lengths, np.full(len(at), form == OPEN)),
        "form": constant(form, len(at), FORMS),
        "runtime": recode(codes, [each.runtime.name if each.runtime else None for each in meanings]),
        "phase": recode(codes, [each.phase for each in meanings]),
        "lane": recode(codes, [each.lane for each in meanings]),
        **{name: rows[name].array if name in rows else constant(None, len(at)) for name in _AS_RECORDED},
        **_values(rows, codes, meanings, keys),
        "table": rows["table"].array,
        "row": rows["row"].to_numpy(),
    }
    return pd.DataFrame(columns, copy=False)


def _values(
    rows: pd.DataFrame, codes: IntArray, meanings: Sequence[_Meaning], keys: Mapping[str, Key]
) -> dict[str, object]:
    values = {name: np.full(len(rows), None, object) for name in keys}
    for code, meaning in enumerate(meanings):
        entry = meaning.signpost
        if entry is None or not entry.keys:
            continue
        at = np.flatnonzero(codes == code)
        for column in MESSAGES:
            if column not in rows or not len(at):
                continue
            cells = categorical(rows[column])
            present, inverse = np.unique(cells.codes[at], return_inverse=True)
            texts = np.append(cells.categories.to_numpy(dtype=object), "")[present].tolist()
            for name, found in _read(texts, entry).items():
                said = found[inverse]
                has = pd.notna(said)
                values[name][at[has]] = said[has]
    return {name: _column(values[name], key) for name, key in keys.items()}


def _read(texts: Sequence[str], entry: Signpost) -> dict[str, ObjectArray]:
    """The value of each key in each message, shape (texts,); None where it has none."""
    patterns = [re.compile(pattern) for pattern in entry.patterns] or [
        re.compile(rf"(?:^|,)\s*{key}\s*=\s*(?P<{key}>[^,]*)") for key in entry.keys
    ]
    found: dict[str, ObjectArray] = {key: np.full(len(texts), None, object) for key in entry.keys}
    for pattern in patterns:
        groups = tuple(pattern.groupindex)
        for number, match in enumerate(map(pattern.search, texts)):
            if match is not None:
                for group in groups:
                    found[group][number] = match[group]
    return found


def _column(values: ObjectArray, key: Key) -> object:
    """The values of a key; null where there is none, or no number where one is declared."""
    if key.type == "text":
        codes, texts = pd.factorize(values)
        return recode(codes, [str(text).strip() for text in texts])
    numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce").to_numpy(np.float64, na_value=np.nan)
    known = np.abs(numbers) < _LARGEST
    filled = np.where(known, numbers, 0.0)
    if key.type == "integer":
        known &= filled == np.floor(filled)
        return pd.arrays.IntegerArray(filled.astype(np.int64), ~known)
    return pd.arrays.FloatingArray(filled, ~known)
