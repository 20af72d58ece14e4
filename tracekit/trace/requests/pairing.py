"""Which rows of Foundation Models' tables belong together, and which errors their texts name.

Rows name each other by ids. The order of the ids in an event is disputed, so that what counts is whether one is among
them, never where. Where ids leave it open or name several requests, nothing is paired.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeGuard

from tracekit.grouping import grouped
from tracekit.trace.requests.frame import NO_ERROR

PROMPT, GENERATION, INFERENCE = "prompt", "generation", "inference"
_SIGNS: Final = {("yellow", "nprompt"): PROMPT, ("orange", "nresolve"): GENERATION}
"""Color and resolve that say which phase a row is, if both say so: neither is to be trusted alone."""
_FEWEST: Final = 4
"""Digits of an id at least: shorter numbers count something, and stand in for several things."""
_LARGEST: Final = 1 << 40
"""What a count may be."""
_NO_ID: Final = ("", "-", "n/a", "none", "null")


@dataclass(frozen=True, slots=True)
class Event:
    """A row of `FMEventTable`, without its texts."""

    time_ns: int
    ids: frozenset[str]
    name: str = ""
    """What happened: `request_start`, `response_start`, `response_complete`; empty for what says nothing of that."""
    counts: Mapping[str, int] = field(default_factory=dict)
    transcript: tuple[int, ...] | None = None
    """A hash of each entry of a transcript; None for an event without one."""
    broken: bool = False
    """Its JSON is cut off, or none."""


def event_of(time_ns: int, message: str) -> Event:
    """What a message `TAG,id,id,id,id::{json}` says."""
    head, _, text = message.partition("::")
    ids = frozenset(filter(is_id, (part.strip() for part in head.split(",")[1:])))
    try:
        said = json.loads(text) if text.strip() else {}
        if not isinstance(said, dict):
            return Event(time_ns, ids, broken=True)
        data = said.get("data")
        known = {**said, **(data if isinstance(data, dict) else {})}
        entries = known.get("entries")
        transcript = None
        if isinstance(entries, list):
            transcript = tuple(hash(json.dumps(entry, sort_keys=True)) for entry in entries)
    except (ValueError, RecursionError):
        return Event(time_ns, ids, broken=True)
    counts = {name: value for name, value in known.items() if type(value) is int and 0 <= value < _LARGEST}
    name = said.get("event")
    return Event(time_ns, ids, name if isinstance(name, str) else "", counts, transcript)


def is_id(text: str | None) -> TypeGuard[str]:
    """Whether a text can name a row."""
    return text is not None and text.casefold() not in _NO_ID and not (text.isdigit() and len(text) < _FEWEST)


def phases_of(ids: Sequence[str | None], starts: Sequence[int], signs: Sequence[tuple[str, str]]) -> list[str]:
    """The phase of each row of `ModelInferenceTable`: of two with one id the first is the prompt and the second the
    generation. One alone is what color and resolve say if both do, else `inference`; and so are more than two."""
    phases = [_SIGNS.get((color.casefold(), resolve.casefold()), INFERENCE) for color, resolve in signs]
    for rows in grouped((name, row) for row, name in enumerate(ids) if is_id(name)).values():
        rows.sort(key=lambda row: (starts[row], row))
        if len(rows) == len(_PAIR) and starts[rows[0]] < starts[rows[1]]:
            phases[rows[0]], phases[rows[1]] = _PAIR
        elif len(rows) > 1:
            for row in rows:
                phases[row] = INFERENCE
    return phases


_PAIR: Final = (PROMPT, GENERATION)


class Owners:
    """Which request an id names."""

    def __init__(self, turns: Iterable[tuple[str | None, int]], events: Iterable[Event]) -> None:
        """`turns`: ids and their requests. An event that names a request passes it on to its other ids."""
        self._of: dict[str, set[int]] = {}
        for turn, request in turns:
            if is_id(turn):
                self._of.setdefault(turn, set()).add(request)
        turns_of = {name: frozenset(requests) for name, requests in self._of.items()}
        for event in events:
            named = frozenset[int]().union(*(turns_of.get(name, frozenset()) for name in event.ids))
            for name in (each for each in event.ids if each not in turns_of):
                self._of.setdefault(name, set()).update(named)

    def of(self, names: Iterable[str | None]) -> int | None:
        """The one request that ids name; None for none or several. One of several, as a session's, says nothing."""
        sure = {
            next(iter(found)) for name in names if name is not None and len(found := self._of.get(name, set())) == 1
        }
        return sure.pop() if len(sure) == 1 else None


OTHER, UNKNOWN = "other", "unknown kind"
_ERRORS: Final = {
    "context window": ("contextSizeExceeded", "exceededContextWindowSize", "contextWindow"),
    "guardrail": ("guardrailViolation",),
    "refusal": ("refusal",),
    "rate limit": ("rateLimited", "quotaLimitReached"),
    "concurrent requests": ("concurrentRequests",),
    "assets unavailable": ("assetsUnavailable",),
    "unsupported": ("unsupported",),
    "decoding failure": ("decodingFailure",),
    "timeout": ("timeout", "timed out"),
    "canceled": ("cancel",),
}
"""Names of `LanguageModelError` and `GenerationError`; in tables never seen, so they count in any case and place."""
KINDS: Final = (NO_ERROR, *_ERRORS, OTHER, UNKNOWN)
"""`UNKNOWN` is an error of which only the count was recorded, not what it says."""
_WITHOUT: Final = ("", "n/a")
"""What stands for no error."""
_WINDOW: Final = re.compile(r"context\s?size\D{0,12}(\d{3,9})", re.IGNORECASE)


def error_kind(text: str | None) -> str | None:
    """One of `KINDS`; None where there is no text to go by."""
    if text is None:
        return None
    words = text.strip().casefold()
    if words in _WITHOUT:
        return NO_ERROR
    return next((kind for kind, names in _ERRORS.items() if any(name.casefold() in words for name in names)), OTHER)


def window_named(text: str | None) -> int | None:
    """The size of the context window that an error names."""
    found = _WINDOW.search(text or "")
    return None if found is None else int(found[1])
