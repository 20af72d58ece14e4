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
import pandas as pd

from tracekit.recording.table import Process
from tracekit.trace.calls.infer import Inferred, calls_in_time, with_bounds
from tracekit.trace.events import LOAD_KINDS, Attribution, Kind, Lane, Level, Origin
from tracekit.trace.frames import fixed_categorical, is_any, made_events, or_minus_one, or_null, texts_in
from tracekit.trace.runtimes.phases import of_target

_KINDS: Final = {"MLModel_Load": Kind.LOAD, "MLModel_Compile": Kind.COMPILE}
_LABELS: Final = {Kind.LOAD: "Load (signpost)", Kind.COMPILE: "Compilation (signpost)"}
_NAMES: Final = re.compile(r"(?:^|,)\s*(?:[A-Za-z_ ]+[:=]\s*)?([^,]*)")


def with_signposts(inferred: Inferred, signposts: pd.DataFrame | None, target: Process | None) -> Inferred:
    """What is inferred, with the target's loads and compilations in signposts. O(n log n + calls²) in the former."""
    if signposts is None:
        return inferred
    calls = _calls(signposts, target)
    if calls.empty:
        return inferred
    activity = inferred.activity
    same: list[list[int]] = []
    taken: set[int] = set()
    kinds = []
    for call, kind in zip(calls.itertuples(), calls["kind"], strict=True):
        same.append([row for row in _same(inferred, call) if row not in taken])
        taken.update(same[-1])
        # Samples show whether a load was cold or cached, which the signpost does not say.
        shown = set(activity["kind"].iloc[same[-1]])
        kinds.append(next((each for each in (Kind.LOAD_UNCACHED, Kind.LOAD_CACHED) if each in shown), kind))
    calls = calls.assign(kind=fixed_categorical("kind", np.arange(len(kinds)), kinds))
    kept = np.setdiff1d(np.arange(len(activity)), sorted(taken))
    # The inferred calls, those of a model whose loads have one name under that name. A name on hardware rows stays.
    activity, recorded_names = inferred.activity, texts_in(inferred.hardware["model"])
    model = activity["model"].astype(object)
    names: dict[str, set[str]] = {}
    for rows, name in zip(same, calls["model"].astype(object), strict=True):
        for row in rows:
            names.setdefault(model.iloc[row], set()).add(name)
    known = {old: new.pop() for old, new in names.items() if len(new) == 1 and old not in recorded_names}
    both, place = calls_in_time(
        [
            activity.assign(model=model.map(lambda name: known.get(name, name)).astype("category")).take(kept),
            calls.drop(columns="tid"),
        ]
    )
    moved = np.full(len(activity) + 1, -1)
    moved[kept] = place[: len(kept)]
    first = {rows[0]: int(place[len(kept) + number]) for number, rows in enumerate(same) if rows}
    moved[list(first)] = list(first.values())
    sites = inferred.sites
    if sites is not None:
        # By the new rows of their calls. Of several pieces of one load, the site is that of the first.
        index = moved[sites.index.to_numpy()]
        sites = sites.set_axis(pd.Index(index, name="event"))[index >= 0].sort_index()
    linked = moved[or_minus_one(inferred.hardware["prediction"])]
    return replace(
        inferred,
        activity=both,
        hardware=inferred.hardware.assign(prediction=or_null(linked)),
        sites=sites,
    )


def _calls(signposts: pd.DataFrame, target: Process | None) -> pd.DataFrame:
    """A row of the Activity lane for each interval, and its `tid`."""
    chosen = is_any(signposts["subsystem"], "com.apple.coreml") & is_any(signposts["name"], *_KINDS)
    chosen &= of_target(signposts, target)
    rows = signposts[chosen].reset_index(drop=True)
    start = rows["start_ns"].to_numpy(np.int64)
    end = start + rows["duration_ns"].to_numpy(np.int64)
    # Model and pipeline that each message names; the model has a name in any case.
    names: list[tuple[str, str | None]] = []
    for message in rows["start_message"].astype(object):
        words = [name.strip() for name in _NAMES.findall(message)] if isinstance(message, str) else []
        names.append((next(iter(words), "") or "model without a name", (words[1] if len(words) > 1 else "") or None))
    kinds = [_KINDS[str(name)] for name in rows["name"]]
    frame = made_events(
        len(rows),
        {
            "start_ns": start,
            "duration_ns": end - start,
            "lane": Lane.ACTIVITY,
            "kind": kinds,
            "label": [_LABELS[kind] for kind in kinds],
            "model": [model for model, _ in names],
            "parent_model": [parent for _, parent in names],
            "level": [Level.TOP if parent is None else Level.SUB for _, parent in names],
            "attribution": Attribution.INFERRED,
            **{name: rows[name].array for name in ("process", "pid", "table", "row")},
        },
    )
    return with_bounds(frame, Origin.SIGNPOSTS, start, start, end, end).assign(tid=or_minus_one(rows["tid"]))


def _same(inferred: Inferred, call: object) -> list[int]:
    """Rows of the inferred loads, or compilations, that an interval is: of its thread and its time."""
    activity, sites = inferred.activity, inferred.sites
    if sites is None or call.level != Level.TOP:  # type: ignore[attr-defined]
        return []
    rows = activity.loc[sites.index]
    kinds = LOAD_KINDS if call.kind in LOAD_KINDS else (call.kind,)  # type: ignore[attr-defined]
    tid = or_minus_one(sites["tid"])
    same = is_any(rows["kind"], *kinds) & ((tid == call.tid) | (tid < 0) | (call.tid < 0))  # type: ignore[attr-defined]
    same &= rows["start_max_ns"].to_numpy() < call.end_max_ns  # type: ignore[attr-defined]
    same &= rows["end_min_ns"].to_numpy() > call.start_min_ns  # type: ignore[attr-defined]
    return [int(row) for row in rows.index[same]]
