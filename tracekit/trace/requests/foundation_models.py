"""Requests and their phases in the tables of the Foundation Models instrument.

No public recording shows rows of most of these tables: columns are those of their schemas, what they mean follows from
Apple's documentation. Texts of prompts, answers, instructions, and tools become numbers that are equal where the texts
are, and stay here otherwise.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

import numpy as np

from tracekit.columns import Keyed, codes_of, numbers_by_code
from tracekit.grouping import grouped
from tracekit.intervals import CoveredTime, Intervals, containing
from tracekit.recording.table import Process
from tracekit.trace.binding import as_coded, optional_integers
from tracekit.trace.collect import Rows
from tracekit.trace.requests import pairing
from tracekit.trace.requests.frame import FOUNDATION_MODELS, INSTRUMENT, NO_ERROR, RECORDED, Requests
from tracekit.trace.runtimes.phases import INTERVAL, OPEN, Phases
from tracekit.trace.runtimes.registry import PHASES as LANE_OF

SESSIONS, REQUESTS, INSTRUCTIONS, INFERENCES, TOOLS, LOADS, EVENTS = FOUNDATION_MODELS
_LONGEST: Final = 80
"""Characters of a name of a model at most; what is longer is something else."""


@dataclass(slots=True)
class _Row:
    table: str
    row: int
    start_ns: int
    duration_ns: int | None
    cells: Mapping[str, str | None]
    phase: str = ""
    name: str = ""
    request: int | None = None
    said: dict[str, int | str | None] = field(default_factory=dict)
    """What becomes a column of phases."""

    @property
    def end_ns(self) -> int:
        return self.start_ns + (self.duration_ns or 0)

    @property
    def session(self) -> int | None:
        return _count(self.cells.get("session-index"))


def _number(text: str | None, numbers: dict[str, int]) -> int | None:
    """A number that is equal where texts are; `numbers` has those of the texts so far."""
    return numbers.setdefault(text, len(numbers) + 1) if text else None


@dataclass(slots=True)
class _Request:
    row: _Row
    inferences: list[_Row]
    tools: list[_Row]
    events: list[pairing.Event]
    region: _Row | None
    """Instructions that it began with."""
    loads: CoveredTime | None
    """Time of loads; None where these were not recorded."""
    recorded: frozenset[str]
    """Tables that say something of all requests."""
    runs: dict[str, list[_Row]] = field(init=False)
    """Inferences by id."""

    def __post_init__(self) -> None:
        ids = (inference.cells.get("model-request-id") or f"row {inference.row}" for inference in self.inferences)
        self.runs = grouped(zip(ids, self.inferences, strict=True))

    def columns(self) -> dict[str, object]:
        """Columns of the frame of requests, and `transcript`."""
        row = self.row
        consumed, cached, generated = (self._tokens(kind) for kind in ("consumed", "cached", "generated"))
        first_ns, shown_by = self._first_token()
        region = self.region
        errors = [inference.cells.get("error-message") for inference in self.inferences]
        totals = map(_sum, zip(consumed, generated, strict=True))
        contexts = [total for total in totals if total is not None]
        own = (row, *(() if row.duration_ns is not None else (*self.inferences, *self.tools)))
        shown = self.inferences[0].said.get("instructions") if self.inferences else None
        kinds = [kind for kind in map(pairing.error_kind, errors) if kind is not None]
        named = next((kind for kind in kinds if kind != NO_ERROR), None)
        counted = _count(self.row.cells.get("error-count"))
        names = {inference.cells.get("model-information") or "" for inference in self.inferences}
        name = names.pop() if len(names) == 1 else ""
        return {
            "start_ns": row.start_ns,
            "duration_ns": row.duration_ns,
            "last_ns": max(each.end_ns for each in own),
            "session": row.session,
            "model": name if 0 < len(name) <= _LONGEST and not set(name) & set('\n{"') else None,
            "first_token_ns": first_ns,
            "first_token_from": shown_by,
            "prompt_ns": self._elapsed(pairing.PROMPT),
            "generation_ns": self._generation(),
            "consumed_tokens": _sum(consumed),
            "cached_tokens": _sum(cached),
            "processed_tokens": _sum(
                None if all_tokens is None or reused is None else max(all_tokens - reused, 0)
                for all_tokens, reused in zip(consumed, cached, strict=True)
            ),
            "generated_tokens": _sum(generated),
            "context_tokens": max(contexts, default=None),
            "window_tokens": next(filter(None, map(pairing.window_named, errors)), None),
            "inferences": len(self.runs) if INFERENCES in self.recorded else None,
            "tool_ns": _spans(self.tools).covered_ns if TOOLS in self.recorded else None,
            "tools": len(self.tools) if TOOLS in self.recorded else None,
            "load_ns": self._loads(first_ns),
            "error": named or (pairing.UNKNOWN if counted else NO_ERROR if kinds or counted == 0 else None),
            "instructions": region.said["identity"] if region else shown,
            "instructions_form": region.said["form_identity"] if region else None,
            "instructions_region": region.row if region else None,
            "table": row.table,
            "row": row.row,
            "transcript": next((event.transcript for event in self.events if event.transcript is not None), None),
        }

    def _tokens(self, kind: str) -> list[int | None]:
        """Of each run of the model: what its rows say, else what its event says."""
        found: list[int | None] = []
        for name, rows in self.runs.items():
            said = [count for row in rows if isinstance(count := row.said.get(f"{kind}_tokens"), int)]
            key = f"{kind}TokenCount"
            told = [
                event.counts[key]
                for event in self.events
                if key in event.counts and (name in event.ids or len(self.runs) == 1)
            ]
            found.append(max(said, default=max(told, default=None) if told else None))
        return found

    def _time_of(self, name: str) -> int | None:
        return min((event.time_ns for event in self.events if event.name == name), default=None)

    def _first_token(self) -> tuple[int | None, str | None]:
        response, asked = self._time_of("response_start"), self._time_of("request_start")
        if response is not None:
            return max(response - (self.row.start_ns if asked is None else asked), 0), "response event"
        generates = any(inference.phase == pairing.GENERATION for inference in self.inferences)
        prompt = next(
            (
                inference
                for inference in self.inferences
                if inference.phase == pairing.PROMPT and inference.duration_ns is not None
            ),
            None,
        )
        return (max(prompt.end_ns - self.row.start_ns, 0), "prompt") if generates and prompt else (None, None)

    def _elapsed(self, phase: str) -> int | None:
        """Time of a phase of all runs; None where that of any is unknown."""
        rows = [inference for inference in self.inferences if inference.phase == phase]
        unknown = len(rows) != len(self.runs) or any(row.duration_ns is None for row in rows)
        return None if not rows or unknown else _spans(rows).covered_ns

    def _generation(self) -> int | None:
        begin, end = self._time_of("response_start"), self._time_of("response_complete")
        if begin is not None and end is not None and len(self.runs) <= 1 and end >= begin:
            return end - begin
        return self._elapsed(pairing.GENERATION)

    def _loads(self, first_ns: int | None) -> int | None:
        if self.loads is None:
            return None
        end = self.row.end_ns if first_ns is None else self.row.start_ns + first_ns
        return int(self.loads.within(np.array([self.row.start_ns]), np.array([end]))[0])


def bind_foundation_models(
    tables: Mapping[str, Rows | None], target: Process | None
) -> tuple[Phases, Requests, tuple[str, ...]]:
    """Phases, requests, and notes. The rows name no process, so they are the target's. O(n log n), in Python: there are
    few, since each stands for what somebody waited for."""
    rows = {schema: _rows(schema, table) for schema, table in tables.items() if table is not None}

    def of(schema: str) -> list[_Row]:
        return rows.get(schema, [])

    events = [pairing.event_of(row.start_ns, row.cells.get("message") or "") for row in of(EVENTS)]
    _name_phases(rows)
    requests = of(REQUESTS) or _from_inferences(of(INFERENCES))
    for number, row in enumerate(requests):
        row.request = number
    owners = pairing.Owners([(row.cells.get(name), row.request or 0) for row in requests for name in _TURN], events)
    for schema, names in _IDS.items():
        for row in of(schema):
            row.request = owners.of(row.cells.get(name) for name in names)
        if schema != LOADS:
            _place([row for row in of(schema) if row.request is None], requests)
    told = grouped((owners.of(event.ids), event) for event in events)
    runs, calls = (grouped((row.request, row) for row in of(schema)) for schema in (INFERENCES, TOOLS))
    loads = _spans(row for row in of(LOADS) if row.phase == "load").covered_time() if LOADS in rows else None
    regions = grouped((row.session, row) for row in sorted(of(INSTRUCTIONS), key=lambda row: row.start_ns))
    made = [
        _Request(
            *(row, runs.get(at, []), calls.get(at, []), told.get(at, [])),
            _in_force(regions.get(row.session, ()), row.start_ns),
            loads,
            recorded=frozenset(schema for schema, listed in rows.items() if listed or schema != INFERENCES),
        ).columns()
        for at, row in enumerate(requests)
    ]
    # Whether each transcript begins with that of the request before it in its session.
    in_time = sorted(made, key=lambda each: str(each["start_ns"]).zfill(20))
    by_session = grouped((each["session"], each) for each in in_time if each["session"] is not None)
    for listed in by_session.values():
        for before, after in pairwise(listed):
            old, new = before["transcript"], after["transcript"]
            if isinstance(old, tuple) and isinstance(new, tuple):
                after["appended"] = new[: len(old)] == old
    broken = sum(event.broken for event in events)
    notes = (f"{EVENTS}: {broken} of {len(events)} messages are cut off; what they say is unknown.",) if broken else ()
    drawn = [row for schema in (SESSIONS, INSTRUCTIONS, INFERENCES, TOOLS, LOADS, REQUESTS) for row in of(schema)]
    count = len(made)
    given = {name: [each.get(name) for each in made] for name in (*(made[0] if made else ()), "appended")}
    given |= {"runtime": [INSTRUMENT] * count, "origin": [RECORDED] * count, "unvalidated": [True] * count}
    if target is not None:
        given |= {"process": [target.name] * count, "pid": [target.pid] * count}
    return _phases(drawn, target), Requests.listed(count, given), notes


_TURN: Final = ("turn-id", "model-request-id")
_IDS: Final = {
    INFERENCES: ("model-request-id", "turn-index"),
    TOOLS: ("resolve-key", "tool-id"),
    LOADS: ("request-id",),
}
"""Columns whose ids may name a request."""


def _rows(schema: str, rows: Rows) -> list[_Row]:
    table = rows.table
    texts: dict[str, list[str | None]] = {}
    for column, cells in zip(table.columns, table.cells, strict=True):
        coded = as_coded(cells)
        values = [*map(str, coded.values), None]
        texts[column.mnemonic] = [values[code] for code in coded.codes.tolist()]
    length = optional_integers(table, "duration")
    return [
        _Row(
            schema,
            int(rows.row[at]),
            int(start),
            int(length.values[at]) if length.known[at] else None,
            {name: column[at] for name, column in texts.items()},
        )
        for at, start in enumerate(rows.starts.tolist())
    ]


def _count(text: str | None) -> int | None:
    """A count that a table holds as text; None for an empty one, which is no 0."""
    digits = (text or "").strip().replace(",", "")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < len(str(1 << 53)) else None


def _name_phases(rows: Mapping[str, list[_Row]]) -> None:
    """Phase, name, and what is kept of each row."""
    texts, arguments = dict[str, int](), dict[str, int]()
    for schema, phase in ((SESSIONS, "session"), (REQUESTS, "request"), (INSTRUCTIONS, "instructions")):
        for row in rows.get(schema, ()):
            row.phase, row.name = phase, phase.capitalize()
            row.said = {"session": row.session}
    for row in rows.get(INSTRUCTIONS, ()):
        text = row.cells.get("instruction")
        form = text and "".join("0" if letter.isdigit() else letter for letter in text)
        row.said |= {"identity": _number(text, texts), "form_identity": _number(form, texts)}
    inferences = rows.get(INFERENCES, [])
    signs = [(row.cells.get("color") or "", row.cells.get("resolve") or "") for row in inferences]
    ids = [row.cells.get("model-request-id") for row in inferences]
    for row, phase in zip(inferences, pairing.phases_of(ids, [row.start_ns for row in inferences], signs), strict=True):
        row.phase, row.name = phase, phase.capitalize()
        counts = {f"{kind}_tokens": _count(row.cells.get(column)) for kind, column in _TOKENS.items()}
        row.said = {"session": row.session, **counts, "error": pairing.error_kind(row.cells.get("error-message"))}
        row.said["instructions"] = _number(row.cells.get("instruction") or row.cells.get("instructions"), texts)
    for row in rows.get(TOOLS, ()):
        row.phase, row.name = "tool call", row.cells.get("tool-name") or "Tool"
        row.said = {"session": row.session, "error": pairing.error_kind(row.cells.get("error-message"))}
        row.said["identity"] = _number(f"{row.name}\n{row.cells.get('argument-json')}", arguments)
    for row in rows.get(LOADS, ()):
        row.phase = {"loaded": "load", "unloaded": "unload"}.get((row.cells.get("to-state") or "").casefold(), "other")
        row.name = (row.cells.get("asset-id") or "Asset").partition("?")[0]


_TOKENS: Final = {"consumed": "prompt-tokens", "generated": "response-tokens", "cached": "cached-tokens"}


def _from_inferences(inferences: Iterable[_Row]) -> list[_Row]:
    """A request for each id of an inference, where no table names requests: several may belong to one."""
    named = ((row.cells.get("model-request-id"), row) for row in inferences)
    made = []
    for rows in grouped((name if pairing.is_id(name) else f"row {row.row}", row) for name, row in named).values():
        first, end = rows[0], max(row.end_ns for row in rows)
        length = None if any(row.duration_ns is None for row in rows) else end - first.start_ns
        made.append(_Row(first.table, first.row, first.start_ns, length, first.cells, "request", "Request"))
    return made


def _place(rows: Sequence[_Row], requests: Sequence[_Row]) -> None:
    """Give each row the one request of its session in which it begins; none for none or several. O(n log n)."""
    of_session = grouped((request.session, request) for request in requests)
    for session, own in grouped((row.session, row) for row in rows).items():
        around = requests if session is None else [*of_session.get(session, ()), *of_session.get(None, ())]
        spans, times = _spans(around), np.array([row.start_ns for row in own], np.int64)
        endless = np.array([each.duration_ns is None for each in around], np.bool_)
        found, _ = containing(spans.starts, np.where(endless, _FOREVER, spans.ends), times, times + 1)
        for row, at in zip(own, found.tolist(), strict=True):
            row.request = around[at].request if at >= 0 else None


_FOREVER: Final = 1 << 60


def _spans(rows: Iterable[_Row]) -> Intervals:
    listed = [*rows]
    return Intervals(*(np.array([getattr(row, name) for row in listed], np.int64) for name in ("start_ns", "end_ns")))


def _in_force(regions: Sequence[_Row], time_ns: int) -> _Row | None:
    """The last of some instructions, in order of time, that begin by then."""
    at = bisect_right(regions, time_ns, key=lambda row: row.start_ns)
    return regions[at - 1] if at else None


def _sum(counts: Iterable[int | None]) -> int | None:
    """Their sum; None where there are none, or any is unknown."""
    known = [*counts]
    return None if not known or None in known else sum(filter(None, known))


def _phases(rows: Sequence[_Row], target: Process | None) -> Phases:
    """Rows as rows of `Trace.phases`."""
    count, at = len(rows), np.arange(len(rows))
    given: dict[str, list[int | str | None]] = {
        "start_ns": [row.start_ns for row in rows],
        "duration_ns": [row.duration_ns for row in rows],
        "form": [INTERVAL if row.duration_ns is not None else OPEN for row in rows],
        "runtime": [INSTRUMENT] * count,
        "phase": [row.phase for row in rows],
        "lane": [LANE_OF[row.phase] for row in rows],
        "name": [row.name for row in rows],
        "process": [target.name if target else None] * count,
        "pid": [target.pid if target else None] * count,
        "table": [row.table for row in rows],
        "row": [row.row for row in rows],
        "request": [row.request for row in rows],
    }
    numbers = ("session", "identity", *(f"{kind}_tokens" for kind in _TOKENS))
    said = {
        name: numbers_by_code(at, [value if isinstance(value := row.said.get(name), int) else None for row in rows])
        for name in numbers
    }
    errors = codes_of(at, [value if isinstance(value := row.said.get("error"), str) else None for row in rows])
    return replace(Phases.listed(count, given), said=Keyed({"error": errors, **said}))
