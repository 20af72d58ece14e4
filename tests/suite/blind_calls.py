"""Calls that are inferred without Core ML's rows, against those that the app made."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suite.blind_stacks import TrueCall
from tracekit.testing.machines import Thread
from tracekit.testing.rows import COMPILE, LOAD, PREDICTION
from tracekit.testing.stacks import SampleRow
from tracekit.trace.events import LOAD_KINDS, Attribution, Calls as Recorded, Kind

KINDS = {**dict.fromkeys(map(str, LOAD_KINDS), LOAD), str(Kind.COMPILE): COMPILE, str(Kind.PREDICTION): PREDICTION}


@dataclass(frozen=True)
class Calls:
    """Inferred calls of a recording."""

    true: int
    inferred: int
    within: int
    """Inferred calls whose bounds hold begin and end of a true one, each of another."""
    widths: tuple[float, ...]
    """Distance of the bounds of each begin and end at which the thread runs, in samples."""
    too_many: tuple[str, ...]
    """Kinds and models of which more calls are inferred than there are."""
    several: int
    """Inferred calls that are said to be single ones, and of which one thread made two and more meanwhile."""
    predictions: int
    contradicted: int
    """Of the true predictions, those that an inferred one says to begin or end elsewhere, or to be one with others. One
    that is inferred where there is none counts too."""


def compare_calls(activity: Recorded, calls: Sequence[TrueCall], samples: Sequence[SampleRow], period_ns: int) -> Calls:
    """What the inferred calls of a trace hold of the true ones."""
    rows = activity.where(activity.attribution.is_any(Attribution.INFERRED) & activity.kind.is_any(*KINDS))
    times: dict[Thread, list[int]] = defaultdict(list)
    for row in samples:
        times[row.thread].append(row.time_ns)
    by_kind = {kind: [call for call in calls if call.kind == kind] for kind in set(KINDS.values())}
    starts = {kind: [call.row.start_ns for call in of_kind] for kind, of_kind in by_kind.items()}
    widths: list[float] = []
    several = contradicted = 0
    named = [
        (KINDS[str(kind)], str(name))
        for kind, name in zip(rows.kind.as_objects(), rows.model.as_objects(), strict=True)
    ]
    meant = {name: {id(call) for call in calls_meant(name, calls)} for name in {name for _, name in named}}
    bounds = list(zip(*map(np.ndarray.tolist, rows.bounds), strict=True))
    fitting = []
    for (kind, name), (low, high, least, most) in zip(named, bounds, strict=True):
        inside = by_kind[kind][bisect_left(starts[kind], low) : bisect_right(starts[kind], high)]
        ends = (call for call in inside if least <= call.row.end_ns <= most and id(call) in meant[name])
        fitting.append({id(call): call for call in ends})
    held = _held([list(of_row) for of_row in fitting])
    for at, ((kind, name), (low, high, least, most)) in enumerate(zip(named, bounds, strict=True)):
        if at in held:
            call = fitting[at][held[at]]
            own = times[call.thread]
            widths += [int(high - low) / period_ns] * _runs(own, call.row.start_ns, period_ns)
            widths += [int(most - least) / period_ns] * _runs(own, call.row.end_ns, period_ns)
        else:
            inside = by_kind[kind][bisect_left(starts[kind], high) : bisect_right(starts[kind], least)]
            of_threads = Counter(each.thread for each in inside if each.row.end_ns <= least and id(each) in meant[name])
            as_one = max(of_threads.values(), default=0) if rows.single[at] else 0
            several += as_one > 1
            contradicted += max(as_one, 1) if kind == PREDICTION else 0
    there = {(kind, name): sum(id(call) in meant[name] for call in by_kind[kind]) for kind, name in set(named)}
    there |= {(kind, "all models"): len(of_kind) for kind, of_kind in by_kind.items()}
    counted = Counter(named) + Counter((kind, "all models") for kind, _ in named)
    more = [each for each, count in counted.items() if count > there[each]]
    too_many = tuple(sorted(map(" of ".join, more)))
    predictions = len(by_kind[PREDICTION])
    return Calls(len(calls), len(rows), len(held), tuple(widths), too_many, several, predictions, contradicted)


def _held(fitting: Sequence[Sequence[int]]) -> dict[int, int]:
    """By its place, the call that each row holds of those that fit it: each another, and as many as can be."""
    row_of: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for call in sorted(fitting[row], key=row_of.__contains__):
            if call not in tried:
                tried.add(call)
                if call not in row_of or place(row_of[call], tried):
                    row_of[call] = row
                    return True
        return False

    for row in sorted(range(len(fitting)), key=lambda row: len(fitting[row])):
        place(row, set())
    return {row: call for call, row in row_of.items()}


def calls_meant(name: str | None, calls: Sequence[TrueCall]) -> Sequence[TrueCall]:
    """The calls that the name of an inferred model may stand for: those of a model or stage of that name, else those
    of the models that a place in the app calls that it names, else all."""
    own = [call for call in calls if name in call.names]
    places = {place for call in calls for place in call.places}
    of_place = {place for place in places if re.search(rf"{re.escape(place)}(?!\d)", str(name))}
    called = frozenset[str]().union(*(call.names for call in calls if call.places & of_place))
    return own or [call for call in calls if call.names & called] or calls


def _runs(times: Sequence[int], time_ns: int, period_ns: int) -> bool:
    """Whether a thread has samples right before and right after."""
    index = bisect_left(times, time_ns)
    return 0 < index < len(times) and times[index] - times[index - 1] <= 2 * period_ns
