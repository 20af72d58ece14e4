"""Loads and compilations that Core ML logs as signposts, where its own table holds none: their times are exact.

Reported, never seen in a recording: intervals `MLModel_Load`, with the names of a model and of the pipeline that it is
a stage of, and `MLModel_Compile`, with that of a model. How their message spells the names is a guess: one after the
other, each with or without what it is called. An inferred load of the same thread and time is that load.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd

from tracekit.recording.table import Process
from tracekit.trace.binding import recode
from tracekit.trace.calls.infer import Inferred, with_bounds
from tracekit.trace.events import LOAD_KINDS, Attribution, Kind, Lane, Level, Origin
from tracekit.trace.frames import FIXED_CATEGORIES, empty_events, is_any, or_minus_one, or_null, sort_order, texts_in
from tracekit.trace.runtimes.phases import of_target

_SUBSYSTEM: Final = "com.apple.coreml"
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
    calls = calls.assign(kind=_fixed("kind", kinds))
    kept = np.setdiff1d(np.arange(len(activity)), sorted(taken))
    both = pd.concat([_renamed(inferred, calls, same).take(kept), calls.drop(columns="tid")], ignore_index=True)
    named = dict.fromkeys(("label", "model", "parent_model", "process", "table"), "category")
    both = both.astype({**empty_events().dtypes.to_dict(), **named})
    order = sort_order(both)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
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
        activity=both.take(order).reset_index(drop=True),
        hardware=inferred.hardware.assign(prediction=or_null(linked)),
        sites=sites,
    )


def _calls(signposts: pd.DataFrame, target: Process | None) -> pd.DataFrame:
    """A row of the Activity lane for each interval, and its `tid`."""
    chosen = is_any(signposts["subsystem"], _SUBSYSTEM) & is_any(signposts["name"], *_KINDS)
    chosen &= of_target(signposts, target)
    rows = signposts[chosen].reset_index(drop=True)
    count, start = len(rows), rows["start_ns"].to_numpy(np.int64)
    end = start + rows["duration_ns"].to_numpy(np.int64)
    names = [_names(message) for message in rows["start_message"].astype(object)]
    kinds = [_KINDS[str(name)] for name in rows["name"]]
    frame = (
        empty_events()
        .reindex(range(count))
        .assign(
            start_ns=start,
            duration_ns=end - start,
            guessed=False,
            lane=_fixed("lane", [Lane.ACTIVITY] * count),
            kind=_fixed("kind", kinds),
            label=recode(np.arange(count), [_LABELS[kind] for kind in kinds]),
            model=recode(np.arange(count), [model for model, _ in names]),
            parent_model=recode(np.arange(count), [parent for _, parent in names]),
            level=_fixed("level", [Level.TOP if parent is None else Level.SUB for _, parent in names]),
            attribution=_fixed("attribution", [Attribution.INFERRED] * count),
            process=rows["process"].array,
            pid=rows["pid"].array,
            table=rows["table"].array,
            row=rows["row"].to_numpy(np.int64),
            tid=or_minus_one(rows["tid"]),
        )
    )
    return with_bounds(frame, Origin.SIGNPOSTS, start, start, end, end)


def _names(message: object) -> tuple[str, str | None]:
    """Model and pipeline that a message names; the model has a name in any case."""
    names = [name.strip() for name in _NAMES.findall(message)] if isinstance(message, str) else []
    model = next(iter(names), "") or "model without a name"
    return model, (names[1] if len(names) > 1 else "") or None


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


def _renamed(inferred: Inferred, calls: pd.DataFrame, same: Sequence[Sequence[int]]) -> pd.DataFrame:
    """The inferred calls, those of a model whose loads have one name under that name. A name on hardware rows stays."""
    activity, hardware = inferred.activity, texts_in(inferred.hardware["model"])
    model = activity["model"].astype(object)
    names: dict[str, set[str]] = {}
    for rows, name in zip(same, calls["model"].astype(object), strict=True):
        for row in rows:
            names.setdefault(model.iloc[row], set()).add(name)
    known = {old: new.pop() for old, new in names.items() if len(new) == 1 and old not in hardware}
    return activity.assign(model=model.map(lambda name: known.get(name, name)).astype("category"))


def _fixed(column: str, values: Sequence[str]) -> pd.Categorical:
    return recode(np.arange(len(values)), values, FIXED_CATEGORIES[column])
