"""What call stacks are in: which call of Core ML, made by which code of the app, and how far it has come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from tracekit.trace.cache import cached
from tracekit.trace.calls.patterns import (
    API,
    BINDING,
    CORE_ML,
    DATA_PHASES,
    EXECUTING,
    LOAD_PHASES,
    NEURAL_ENGINE_COMPILER,
    OPENING,
    PIPELINE,
    UNIT_PATTERNS,
    Api,
    LoadPhase,
    app_frames,
    callers,
    matches_function,
    outermost,
    stacks_with,
)
from tracekit.trace.frames import categorical, is_any, or_minus_one

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, IndexArray, IntArray
    from tracekit.trace.samples import Samples

UNKNOWN, BEGUN, UNDER_WAY = 0, 1, 2
"""How far a call has come, by its stack."""
OUTSIDE, HIDDEN = -1, -2
"""Keys of stacks outside of calls, and of those in functions of Core ML without names, which may be in one."""
_ROOT_SHARE: Final = 0.02
"""Share of stacks that begin in a function, from which on threads begin there (heuristic)."""
CALLED: Final = (Api.LOAD, Api.COMPILE, Api.PREDICTION)
"""Calls that stand on the Activity lane."""


@cached
def core_ml_stacks(sampled: Samples) -> pd.DataFrame:
    """One row for each distinct stack, indexed by its number: `api` (category of `Api`, null where the stack is not in
    Core ML), `entry` (row of `Samples.stacks` of the function of Core ML), `caller` (row of the app's frame that called
    it; -1 where there is none). O(frames)."""
    in_core_ml = _in_core_ml(sampled)
    entry = np.full(len(sampled.starts) - 1, -1)
    api = np.full(len(entry), -1)
    for code, pattern in enumerate(API.values() if len(entry) else ()):
        entry_of_kind = outermost(sampled, matches_function(sampled.stacks, pattern) & in_core_ml)
        farther = entry_of_kind > entry
        entry[farther], api[farther] = entry_of_kind[farther], code
    caller = callers(sampled, entry) if len(entry) else entry
    kind = pd.Categorical.from_codes(api, categories=pd.Index(list(API), dtype=object))
    return pd.DataFrame({"api": kind, "entry": entry, "caller": caller})


def with_progress(sampled: Samples, kinds: pd.DataFrame) -> pd.DataFrame:
    """The rows of `core_ml_stacks` with `key` (equal for stacks of one function of `CALLED` that was called from one
    place; else `OUTSIDE` or `HIDDEN`), `progress`, and `nested` (whether it is in a stage of a pipeline).
    O(frames)."""
    entry, caller = kinds["entry"].to_numpy(), kinds["caller"].to_numpy()
    stacks = sampled.stacks
    called = is_any(kinds["api"], *CALLED)
    function = np.append(categorical(stacks["function"]).codes, -1)[entry]
    image = np.append(categorical(stacks["image"]).codes, -1)[caller]
    offset = np.append(or_minus_one(stacks["offset"]), -1)[caller]
    places = pd.DataFrame({"f": function, "i": np.where(caller < 0, -1, image), "o": np.where(caller < 0, -1, offset)})
    place = places.groupby(["f", "i", "o"], sort=False).ngroup().to_numpy()
    numbers = _with_paths(sampled, place.astype(np.int64), caller)
    outer = outermost(sampled, _in_core_ml(sampled)) if len(kinds) else entry
    unnamed = np.append(stacks["function"].isna().to_numpy(), False)[outer] & (outer >= 0)
    hidden = unnamed & kinds["api"].isna().to_numpy()
    predicts, loads = is_any(kinds["api"], Api.PREDICTION), is_any(kinds["api"], Api.LOAD)

    def inside(pattern: str) -> BoolArray:
        return stacks_with(sampled, matches_function(stacks, pattern)) if len(kinds) else np.zeros(0, np.bool_)

    under_way = predicts & inside(EXECUTING)
    begun = (predicts & inside(BINDING) & ~under_way) | (loads & inside(OPENING))
    under_way |= loads & ~begun
    return kinds.assign(
        key=np.select([called, hidden], [numbers, HIDDEN], OUTSIDE),
        progress=np.select([under_way, begun], [UNDER_WAY, BEGUN], UNKNOWN),
        nested=predicts & (inside(PIPELINE) | _recursive(sampled)),
    )


def _with_paths(sampled: Samples, place: IntArray, caller: IndexArray) -> IntArray:
    """Shape (stacks,): a number for each place that calls and the code of the app that leads there. A stack that was
    cut short, which does not begin where threads do, counts as the most common one of its place. O(frames)."""
    stacks, count = sampled.stacks, len(place)
    if not count:
        return place
    stack = stacks["stack"].to_numpy()
    leads = np.flatnonzero(app_frames(stacks) & (np.arange(len(stacks)) >= np.append(caller, -1)[stack]))
    frame = pd.DataFrame({"i": categorical(stacks["image"]).codes[leads], "o": or_minus_one(stacks["offset"])[leads]})
    code = pd.util.hash_array(frame.groupby(["i", "o"], sort=False).ngroup().to_numpy())
    inwards = frame.groupby(stack[leads]).cumcount(ascending=False).to_numpy(np.uint64)
    path = np.zeros(count, np.uint64)
    np.add.at(path, stack[leads], code * (2 * inwards + 1))
    outermost_function = categorical(stacks["function"]).codes[sampled.starts[1:] - 1]
    common = np.bincount(outermost_function + 1, minlength=1)[outermost_function + 1] >= _ROOT_SHARE * count
    numbers = pd.DataFrame({"place": place, "path": path}).groupby(["place", "path"], sort=False).ngroup()
    usual = numbers[common].groupby(place[common]).agg(lambda own: own.mode().iloc[0])
    cut = ~common & np.isin(place, usual.index)
    result: IntArray = np.where(cut, usual.reindex(place).fillna(-1).to_numpy(np.int64), numbers.to_numpy())
    return result


def _in_core_ml(sampled: Samples) -> BoolArray:
    # Without samples there is nothing to tell images by.
    return is_any(sampled.stacks["image"], CORE_ML) if len(sampled.stacks) else np.zeros(0, np.bool_)


def _recursive(sampled: Samples) -> BoolArray:
    """Shape (stacks,): one function of Core ML that predicts is on it twice, as where one model calls another."""
    result = np.zeros(len(sampled.starts) - 1, np.bool_)
    predicting = np.flatnonzero(matches_function(sampled.stacks, API[Api.PREDICTION]) & _in_core_ml(sampled))
    stack = sampled.stacks["stack"].to_numpy()[predicting]
    function = categorical(sampled.stacks["function"]).codes[predicting]
    again = pd.DataFrame({"s": stack, "f": function}).duplicated().to_numpy()
    result[stack[again]] = True
    return result


@cached
def busy_stacks(sampled: Samples) -> dict[str, BoolArray]:
    """For each phase of a call and each unit of a prediction: whether a stack is in it. Shape (stacks,) each; nothing
    without stacks. O(frames)."""
    if sampled.stacks.empty:
        return {}
    patterns = (*LOAD_PHASES.items(), *UNIT_PATTERNS.items(), *DATA_PHASES.items())
    flags = {str(name): stacks_with(sampled, matches_function(sampled.stacks, pattern)) for name, pattern in patterns}
    flags[LoadPhase.NEURAL_ENGINE] |= stacks_with(sampled, is_any(sampled.stacks["image"], NEURAL_ENGINE_COMPILER))
    return flags


def place_of(stacks: pd.DataFrame, rows: IndexArray) -> dict[str, object]:
    """Function, image, file and line of frames of the app, as columns, null for row -1; and `frame`, their row."""
    columns = {"caller": "function", "image": "image", "file": "file", "line": "line"}
    location = {name: stacks[source].array.take(rows, allow_fill=True) for name, source in columns.items()}
    return {**location, "frame": rows}


def same_depth(sampled: Samples, one: int, other: int) -> int:
    """How many frames two stacks share, from the outermost on. O(frames of a stack)."""
    # Function and image of their frames, from the outermost on: shape (frames, 2) each.
    names = [categorical(sampled.stacks[name]).codes for name in ("function", "image")]
    spans = [slice(int(sampled.starts[stack]), int(sampled.starts[stack + 1])) for stack in (one, other)]
    sides = [np.stack([codes[rows] for codes in names], axis=1)[::-1] for rows in spans]
    count = min(map(len, sides))
    differs = np.flatnonzero((sides[0][:count] != sides[1][:count]).any(axis=1))
    return int(differs[0]) if len(differs) else count
