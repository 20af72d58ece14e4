"""Requests that signposts of a runtime show, by the phases of its signposts and whatever runtime it is.

Where a runtime logs brackets (phase `request`), each is a request; behind the last one there may be one that the
recording does not see end, and so without its bracket. Elsewhere a request begins with the first tokenization or prompt
phase behind anything that generates, outside of warm-ups. A row is a request's if it starts in
that request and in no other, or in no other that began on its thread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import Numbers, codes_of, constant
from tracekit.intervals import Intervals, containing, running_end, union_length_by_group
from tracekit.rows import group_ids, joined
from tracekit.sorting import distinct_numbers
from tracekit.trace.requests.frame import FIRST_TOKEN, LOGGED, OUTSIDE, TOKENIZER, Requests
from tracekit.trace.runtimes.phases import INTERVAL, OPEN, POINT, Phases
from tracekit.trace.runtimes.registry import runtimes

_OF_MODELS: Final = ("prompt", "generation", "token interval", "token")
"""Phases that language models alone have."""
_AFTER: Final = ("forward pass", "sampling", "detokenization", "token interval", "token")
"""Those that generate tokens."""
_APART: Final = ("request", "load", "warm-up", "reset", "unload", "memory", "other", "unknown", "operator", "delegate")
"""Rows that belong to no request."""
_NEVER: Final = np.iinfo(np.int64).max


class _Rows:
    """Phases of one runtime in one process, in order of time."""

    def __init__(self, phases: Phases) -> None:
        self.rows = phases
        self.starts = phases.start_ns
        self.ends: IntArray = self.starts + phases.duration_ns.filled(0)
        self.ended, self.open = (phases.form.is_any(form) for form in (INTERVAL, OPEN))
        self.points = phases.form.is_any(POINT)

    def of(self, *phases: str) -> BoolArray:
        """Rows of some phases."""
        return self.rows.phase.is_any(*phases)

    def values(self, key: str) -> IntArray:
        """What messages say, shape (rows,); -1 for nothing."""
        said = self.rows.said.cells.get(key)
        return said.filled() if isinstance(said, Numbers) else np.full(len(self.rows), -1, np.int64)


def logged_requests(phases: Phases) -> tuple[Requests, IntArray]:
    """Requests among the phases, and for each phase the place of its own, shape (phases,), -1 for none. O(n log n)."""
    request = np.full(len(phases), -1, np.int64)
    found: list[Requests] = []
    models = {runtime.name for runtime in runtimes() if any(entry.phase in _OF_MODELS for entry in runtime.signposts)}
    at = np.flatnonzero(phases.runtime.is_any(*models))
    groups = group_ids((phases.runtime.codes[at].astype(np.int64), phases.pid.filled()[at]), len(at))
    for group in range(int(groups.max(initial=-1)) + 1):
        rows = at[groups == group]
        part = _Rows(phases.take(rows))
        brackets = np.flatnonzero(part.of("request") & ~part.points)
        windows = _of_brackets(part, brackets) if len(brackets) else _of_order(part, 0)
        if not len(windows.starts):
            continue
        request[rows] = np.where(windows.owner < 0, -1, windows.owner + sum(map(len, found)))
        found.append(_numbers(part, windows))
    return joined(found or [Requests.none()]), request


@dataclass(frozen=True, slots=True)
class _Windows:
    """Requests, and which rows are their own."""

    starts: IntArray
    ends: IntArray
    """Shape (requests,): of one without an end, that of its last row."""
    unfinished: BoolArray
    uncertain: BoolArray
    owner: IntArray
    """Shape (rows,): request of each row, -1 for none."""
    row: IntArray
    """Shape (requests,): the row that stands for it."""


def _of_brackets(rows: _Rows, brackets: IntArray) -> _Windows:
    starts, unfinished = rows.starts[brackets], rows.open[brackets]
    # One that never ends lasts until the next begins.
    following = np.append(starts[1:], _NEVER - 1)
    limits = np.where(unfinished, np.maximum(following, starts), rows.ends[brackets])
    owner, own = np.full(len(rows.starts), -1, np.int64), ~rows.of(*_APART)
    at = np.flatnonzero(own)
    # A token at the end of a request is its own, and not that of one that begins with it.
    when = np.maximum(rows.starts - (rows.points & rows.of(*_AFTER)), 0)
    owner[at], count = containing(starts, limits, when[at], when[at] + 1)
    several = at[count > 1]
    tids = rows.rows.tid.filled()
    for tid in distinct_numbers(tids[several]).tolist():
        of_thread, same = np.flatnonzero(tids[brackets] == tid), several[tids[several] == tid]
        if tid >= 0 and len(of_thread):
            found, _ = containing(starts[of_thread], limits[of_thread], when[same], when[same] + 1)
            owner[same] = np.where(found < 0, -1, of_thread[found])
    doubtful = np.sort(rows.starts[several[owner[several] < 0]])
    uncertain = np.searchsorted(doubtful, limits) > np.searchsorted(doubtful, starts)
    owner[brackets] = np.arange(len(brackets))
    last = _greatest(owner, rows.ends, len(brackets))
    known = _Windows(starts, np.where(unfinished, last, limits), unfinished, uncertain, owner, brackets)
    # Instruments writes an interval when it ends.
    behind = _of_order(rows, int(limits.max()))
    if not (behind.owner[rows.of(*_AFTER)] >= 0).any():
        return known
    owner = np.where(behind.owner >= 0, behind.owner + len(known.row), known.owner)
    pairs = zip(*((each.starts, each.ends, each.uncertain, each.row) for each in (known, behind)), strict=True)
    starts, ends, uncertain, row = map(np.concatenate, pairs)
    # Those behind were not seen to end.
    unfinished = np.append(known.unfinished, np.ones(len(behind.row), np.bool_))
    return _Windows(starts, ends, unfinished, uncertain, owner, row)


def _of_order(rows: _Rows, from_ns: int) -> _Windows:
    """Requests among the rows from a time on."""
    warm = Intervals(rows.starts, rows.ends).where(rows.of("warm-up") & rows.ended).union()
    at = np.flatnonzero(~rows.of(*_APART) & (rows.starts >= from_ns))
    at = at[warm.covered_within(Intervals(rows.starts[at], rows.starts[at] + 1)) == 0]
    before, prompts = rows.of("tokenization", "image encoding", "prompt")[at], rows.of("prompt")[at]
    until = np.maximum.accumulate(np.where(prompts, rows.ends[at], 0)) if len(at) else rows.ends[at]
    within = rows.starts[at] < np.append(0, until[:-1])[: len(at)]
    generates = ~before & ~within
    begins = before & ~within & np.append(True, generates[:-1])[: len(at)]
    number = np.cumsum(begins) - 1
    has_prompt = np.bincount(number[prompts & (number >= 0)], minlength=int(begins.sum())) > 0
    new = np.where(has_prompt, np.cumsum(has_prompt) - 1, -1)
    owner = np.full(len(rows.starts), -1, np.int64)
    owner[at] = np.append(new, -1)[number]
    count = int(has_prompt.sum())
    row = at[begins][has_prompt]
    last = _greatest(owner, rows.ends, count)
    unfinished = np.bincount(owner[rows.open & (owner >= 0)], minlength=count) > 0
    return _Windows(rows.starts[row], last, unfinished, np.zeros(count, np.bool_), owner, row)


def _greatest(owner: IntArray, values: IntArray, count: int, none: int = 0) -> IntArray:
    """The greatest value of each request, such as its latest time; `none` where it has no row."""
    greatest = np.full(count, none, np.int64)
    np.maximum.at(greatest, owner[owner >= 0], values[owner >= 0])
    return greatest


@dataclass(frozen=True, slots=True)
class _Measured:
    """What the rows of requests add up to. Arrays have the shape (requests,)."""

    rows: _Rows
    owner: IntArray
    size: int

    def time(self, *phases: str, without: str = "") -> tuple[IntArray, BoolArray]:
        """Time that rows of some phases cover, without that of another, and whether there are any."""
        chosen = self.rows.of(*phases) & self.rows.ended & (self.owner >= 0)
        other = self.rows.of(without) & self.rows.ended & (self.owner >= 0)
        return self._union(chosen | other) - self._union(other), self.any(chosen)

    def _union(self, chosen: BoolArray) -> IntArray:
        return union_length_by_group(self.owner[chosen], self.rows.starts[chosen], self.rows.ends[chosen], self.size)

    def count(self, chosen: BoolArray) -> IntArray:
        return np.bincount(self.owner[chosen & (self.owner >= 0)], minlength=self.size).astype(np.int64)

    def any(self, chosen: BoolArray) -> BoolArray:
        return self.count(chosen) > 0

    def _prompt_end(self) -> IntArray:
        """-1 where no prompt phase ended."""
        chosen = self.rows.of("prompt") & self.rows.ended
        last = _greatest(np.where(chosen, self.owner, -1), self.rows.ends, self.size)
        return np.where(self.any(chosen), last, -1)

    def first_token(self) -> tuple[IntArray, IntArray]:
        """Time of the first token, -1 where nothing shows it, and what shows it: a place in `FIRST_TOKEN` or -1."""
        rows = self.rows
        signs = {
            "token": (rows.of("token") & rows.points, rows.starts),
            "detokenization": (rows.of("detokenization") & rows.ended, rows.ends),
            "token interval": (rows.of("token interval"), rows.starts),
            "sampling": (rows.of("sampling") & rows.ended, rows.ends),
        }
        time, shown_by = np.full(self.size, _NEVER, np.int64), np.full(self.size, -1)
        for name, (chosen, times) in signs.items():
            free, own = time == _NEVER, chosen & (self.owner >= 0)
            earliest = np.full(self.size, _NEVER, np.int64)
            np.minimum.at(earliest, self.owner[own], times[own])
            time = np.where(free, earliest, time)
            shown_by[free & (time < _NEVER)] = FIRST_TOKEN.index(name)
        prompt = np.where(self.generation()[1], self._prompt_end(), -1)
        shown_by[(time == _NEVER) & (prompt >= 0)] = FIRST_TOKEN.index("prompt")
        return np.where(time < _NEVER, time, prompt), shown_by

    def generation(self) -> tuple[IntArray, BoolArray]:
        """From the prompt to the last token: the time of phases of generation, where these are logged."""
        rows, prompt = self.rows, self._prompt_end()
        bracket, has_bracket = self.time("generation", without="prompt")
        chosen = rows.of(*_AFTER) & ~rows.open
        last = _greatest(np.where(chosen, self.owner, -1), rows.ends, self.size)
        has = has_bracket | ((prompt >= 0) & (last > prompt))
        return np.where(has_bracket, bracket, last - prompt), has

    def consumed(self) -> tuple[IntArray, BoolArray]:
        """Tokens of the prompt, -1 where none are said, and whether the bracket says so."""
        said = _greatest(self.owner, self.rows.values("prompt_tokens"), self.size, -1)
        tokenized = self._sum(self.rows.of("tokenization"))
        others = np.where(tokenized >= 0, tokenized, self.processed())
        return np.where(said >= 0, said, others), said >= 0

    def processed(self) -> IntArray:
        """Tokens in prompt phases; chunks that lie in another prompt phase are a part of it."""
        rows = self.rows
        at = np.flatnonzero(rows.of("prompt") & (self.owner >= 0))
        at = at[np.lexsort((-rows.ends[at], rows.starts[at], self.owner[at]))]
        groups = self.owner[at]
        before = np.append(-1, running_end(groups, rows.ends[at])[:-1])[: len(at)]
        first = np.append(True, groups[1:] != groups[:-1])[: len(at)]
        outer = np.zeros(len(rows.starts), np.bool_)
        outer[at[first | (rows.ends[at] > before)]] = True
        return self._sum(outer)

    def _sum(self, chosen: BoolArray) -> IntArray:
        """Tokens of some rows; -1 where there are none, or any does not say how many."""
        tokens, chosen = self.rows.values("tokens"), chosen & (self.owner >= 0)
        known = self.any(chosen) & ~self.any(chosen & (tokens < 0))
        total = np.zeros(self.size, np.int64)
        np.add.at(total, self.owner[chosen], tokens[chosen])
        return np.where(known, total, -1)

    def generated(self) -> IntArray:
        """Tokens of the answer: those that the end of a request names, else those that were logged; -1 for neither."""
        rows = self.rows
        said = _greatest(self.owner, rows.values("generated_tokens"), self.size, -1)
        between = self.count(rows.of("token interval") & rows.ended)
        counts = (
            self.count(rows.of("token") & rows.points),
            self.count(rows.of("detokenization") & rows.ended),
            np.where(between > 0, between + 1, 0),
            self.count(rows.of("sampling") & rows.ended),
        )
        for count in counts:
            said = np.where((said < 0) & (count > 0), count, said)
        return said


def _numbers(rows: _Rows, windows: _Windows) -> Requests:
    count = len(windows.starts)
    measured = _Measured(rows, windows.owner, count)
    prompt, has_prompt = measured.time("prompt")
    has_prompt &= ~measured.any(rows.of("prompt") & rows.open)
    first, shown_by = measured.first_token()
    generation, has_generation = measured.generation()
    consumed, consumed_from_bracket = measured.consumed()
    processed = measured.processed()
    cached = np.where(consumed_from_bracket & (processed >= 0) & (consumed >= processed), consumed - processed, -1)
    generated = measured.generated()
    outside, has_outside = measured.time(*OUTSIDE, without="forward pass")
    loads = Intervals(rows.starts, rows.ends).where(rows.of("load", "warm-up") & rows.ended).union()
    until = np.where(first >= 0, first, windows.ends)
    tools, has_tools = measured.time("tool call")
    known = ~windows.uncertain
    times = {
        "duration_ns": (windows.ends - windows.starts, ~windows.unfinished),
        "first_token_ns": (first - windows.starts, known & (first >= 0)),
        "prompt_ns": (prompt, known & has_prompt),
        "generation_ns": (generation, known & has_generation),
        "consumed_tokens": (consumed, consumed >= 0),
        "cached_tokens": (cached, known & (cached >= 0)),
        "processed_tokens": (processed, known & (processed >= 0)),
        "generated_tokens": (generated, generated >= 0),
        "context_tokens": (consumed + generated, (consumed >= 0) & (generated >= 0)),
        "tokenizer_ns": measured.time(*TOKENIZER),
        "sampling_ns": measured.time("sampling"),
        "cache_ns": measured.time("cache"),
        "outside_ns": (outside, known & has_outside),
        "tool_ns": (tools, known & has_tools),
        "tools": (measured.count(rows.of("tool call")), known & has_tools),
        "load_ns": (loads.covered_within(Intervals(windows.starts, np.maximum(until, windows.starts))), known),
    }
    own = rows.rows.take(windows.row)
    numbers: dict[str, Any] = {
        name: Numbers(np.where(has, each, 0).astype(np.int64), has) for name, (each, has) in times.items()
    }
    return replace(
        Requests.blank(count),
        start_ns=windows.starts,
        last_ns=windows.ends,
        runtime=own.runtime,
        process=own.process,
        pid=own.pid,
        first_token_from=codes_of(np.where(known, shown_by, -1), FIRST_TOKEN),
        uncertain=windows.uncertain,
        origin=constant(LOGGED, count),
        table=own.table,
        row=own.row,
        **numbers,
    )
