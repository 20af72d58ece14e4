"""Loads and compilations that Core ML logs as signposts, where its own table holds none: their times are exact.

Reported, never seen in a recording: intervals `MLModel_Load`, with the names of a model and of the pipeline that it is
a stage of, and `MLModel_Compile`, with that of a model. How their message spells the names is a guess: one after the
other, each with or without what it is called. An inferred load of the same thread and time is that load.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import numpy as np

from tracekit.arrays import IntArray
from tracekit.columns import coded, constant, or_null
from tracekit.recording.table import Process
from tracekit.trace.calls.infer import Inferred, calls_in_time, calls_with
from tracekit.trace.context import of_target
from tracekit.trace.events import (
    ATTRIBUTIONS,
    KINDS,
    LANES,
    LEVELS,
    LOAD_KINDS,
    Attribution,
    Calls,
    Kind,
    Lane,
    Level,
    Origin,
    bare_events,
)
from tracekit.trace.instruments.tables import Signposts

_KINDS: Final = {"MLModel_Load": Kind.LOAD, "MLModel_Compile": Kind.COMPILE}
_LABELS: Final = {Kind.LOAD: "Load (signpost)", Kind.COMPILE: "Compilation (signpost)"}
_NAMES: Final = re.compile(r"(?:^|,)\s*(?:[A-Za-z_ ]+[:=]\s*)?([^,]*)")


def with_signposts(inferred: Inferred, signposts: Signposts | None, target: Process | None) -> Inferred:
    """What is inferred, with the target's loads and compilations in signposts. O(n log n + calls²) in the former."""
    if signposts is None:
        return inferred
    calls, tid = _calls(signposts, target)
    if not len(calls):
        return inferred
    activity = inferred.activity
    same: list[list[int]] = []
    taken: set[int] = set()
    kinds = list(calls.kind.as_objects())
    for number in range(len(calls)):
        same.append([row for row in _same(inferred, calls, number, int(tid[number])) if row not in taken])
        taken.update(same[-1])
        # Samples show whether a load was cold or cached, which the signpost does not say.
        shown = set(activity.kind.take(np.array(same[-1], np.intp)).held())
        kinds[number] = next((each for each in (Kind.LOAD_UNCACHED, Kind.LOAD_CACHED) if each in shown), kinds[number])
    calls = replace(calls, kind=coded(kinds, KINDS))
    kept = np.setdiff1d(np.arange(len(activity)), sorted(taken))
    # The inferred calls, those of a model whose loads have one name under that name. A name on hardware rows stays.
    recorded_names = set(inferred.hardware.model.held())
    names: dict[str, set[str]] = {}
    for rows, name in zip(same, calls.model.as_objects().tolist(), strict=True):
        for row in rows:
            names.setdefault(activity.model.item(row) or "", set()).add(name)
    known = {old: new.pop() for old, new in names.items() if len(new) == 1 and old not in recorded_names}
    renamed = replace(activity, model=activity.model.recoded(lambda name: known.get(name, name)))
    both, place = calls_in_time([renamed.take(kept), calls])
    moved = np.full(len(activity) + 1, -1)
    moved[kept] = place[: len(kept)]
    first = {rows[0]: int(place[len(kept) + number]) for number, rows in enumerate(same) if rows}
    moved[list(first)] = list(first.values())
    sites = inferred.sites
    if sites is not None:
        # By the new rows of their calls. Of several pieces of one load, the site is that of the first.
        sites = sites.moved(moved[sites.id])
    linked = or_null(moved[inferred.hardware.prediction.filled()])
    return replace(inferred, activity=both, hardware=replace(inferred.hardware, prediction=linked), sites=sites)


def _calls(signposts: Signposts, target: Process | None) -> tuple[Calls, IntArray]:
    """A row of the Activity lane for each interval, and its thread, -1 where that is not known."""
    chosen = signposts.subsystem.is_any("com.apple.coreml") & signposts.name.is_any(*_KINDS)
    rows = signposts.where(chosen & of_target(signposts.pid, target))
    start, end = rows.start_ns, rows.ends(0)
    # Model and pipeline that each message names; the model has a name in any case.
    names: list[tuple[str, str | None]] = []
    for message in rows.start_message.as_objects().tolist():
        words = [name.strip() for name in _NAMES.findall(message)] if isinstance(message, str) else []
        names.append((next(iter(words), "") or "model without a name", (words[1] if len(words) > 1 else "") or None))
    kinds = [_KINDS[name] for name in rows.name.as_objects().tolist()]
    events = replace(
        bare_events(start, end - start),
        lane=constant(Lane.ACTIVITY, len(rows), LANES),
        kind=coded(kinds, KINDS),
        label=coded([_LABELS[kind] for kind in kinds]),
        model=coded([model for model, _ in names]),
        parent_model=coded([parent for _, parent in names]),
        level=coded([Level.TOP if parent is None else Level.SUB for _, parent in names], LEVELS),
        attribution=constant(Attribution.INFERRED, len(rows), ATTRIBUTIONS),
        process=rows.process,
        pid=rows.pid,
        table=rows.table,
        row=rows.row,
    )
    return calls_with(events, Origin.SIGNPOSTS, start, start, end, end), rows.tid.filled()


def _same(inferred: Inferred, calls: Calls, number: int, thread: int) -> list[int]:
    """Rows of the inferred loads, or compilations, that an interval is: of its thread and its time."""
    sites, kind = inferred.sites, calls.kind.item(number)
    if sites is None or kind is None or calls.level.item(number) != Level.TOP:
        return []
    rows, tid = inferred.activity.take(sites.id), sites.tid.filled()
    same = rows.kind.is_any(*(LOAD_KINDS if kind in LOAD_KINDS else (kind,)))
    same &= (tid == thread) | (tid < 0) | (thread < 0)
    same &= (rows.start_max_ns < calls.end_max_ns[number]) & (rows.end_min_ns > calls.start_min_ns[number])
    found: list[int] = sites.id[same].tolist()
    return found
