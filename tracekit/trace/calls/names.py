"""Whose calls are whose: names of inferred models, and which loads and predictions are of one model.

A model is named by the label of its work on the hardware, else by the code that calls it. A load is of the model whose
predictions come from the same code: from the only place there is, from a line of the app that leads to no other, from
what its thread calls after each load and never else, or from the only one left.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from tracekit.grouping import grouped
from tracekit.trace.calls.hardware import Work
from tracekit.trace.calls.join import Joined
from tracekit.trace.calls.owners import Owners
from tracekit.trace.calls.pieces import Pieces, Timeline
from tracekit.trace.calls.stacks import Api, app_frames
from tracekit.trace.events import Events
from tracekit.trace.samples import StackRows

_VERBS: Final = {Api.PREDICTION: "called", Api.LOAD: "loaded", Api.COMPILE: "compiled"}
_SOME: Final = 0.1
"""Share of the calls that have the most common name of a place, below which another is a mistake (heuristic)."""
_TURNS: Final = 5
"""Loads each of which the same model is called after, from which on they are its own (heuristic)."""
_TYPE: Final = re.compile(r"[-+]\[(\w+) |(\w+\.\w+)\.")
"""The class of a method, as Objective-C and Swift write it."""


@dataclass(frozen=True, slots=True)
class _Site:
    """Code of the app that calls Core ML."""

    api: Api
    words: tuple[str, ...]
    """Its place and those that lead to it, the innermost first."""
    places: frozenset[tuple[int, int]]
    """Image and offset of these."""
    types: frozenset[str]


def keys_of(pieces: Pieces, calls: Sequence[Joined]) -> list[int]:
    """Key of the call site of each call."""
    return [int(pieces.key[call.chain]) for call in calls]


def names_of(
    line: Timeline, pieces: Pieces, work: Work, calls: Sequence[Joined], owners: Owners, shown: Events
) -> list[str]:
    """Name of the model of each call."""
    labels, keys, sites = shown.model.values, keys_of(pieces, calls), owners.sites
    stack_of = dict(zip(line.kinds.key.tolist(), range(len(line.kinds)), strict=True))
    site_of = {key: _site(line, stack_of[key]) for key in sorted(set(keys))}
    named = _site_names(site_of)
    # A place that alone calls a model, as often as that works, calls no other.
    alone = Counter(model for models in sites.named.values() for model in models)
    works, made = Counter(work.model.tolist()), Counter(keys)
    sole = {key: next(iter(models)) for key, models in sites.named.items() if len(models) == 1}
    counted = {
        key
        for key, model in sole.items()
        if alone[model] == 1 and abs(made[key] - works[model]) <= _SOME * works[model]
    }
    names: list[str] = []
    called: dict[int, Counter[str]] = defaultdict(Counter)
    for key, call in zip(keys, calls, strict=True):
        models = set(work.model[call.work].tolist()) - sites.later.get(key, set())
        if not call.work and (key in sites.all_have or key in counted):
            models = sites.named[key] - sites.later.get(key, set())
        one_label = len(models) == 1 and not sites.later.get(key)
        names.append(labels[models.pop()] if one_label else named[key])
        called[key][names[-1]] += 1
    # A name that few calls of a place have is a mistake; where it calls many models, each has few.
    least = {key: _SOME * max(own.values()) for key, own in called.items()}
    names = [named[key] if called[key][name] < least[key] else name for name, key in zip(names, keys, strict=True)]
    predicted: dict[str, set[int]] = defaultdict(set)
    for key, own in called.items():
        if site_of[key].api is Api.PREDICTION:
            for name, count in own.items():
                if count >= least[key]:
                    predicted[name].add(key)
    unseen = {labels[work.model[each]] for each in np.flatnonzero(~owners.possible & ~owners.foreign)}
    loading = [key for key in site_of if site_of[key].api is not Api.PREDICTION]
    if not loading or not predicted.keys() | unseen:
        return names
    model_of: dict[int, str] = {}
    in_time = sorted(zip(calls, keys, strict=True), key=lambda each: each[0].low_ns)
    loads = [site_of[key].api is not Api.PREDICTION for _, key in in_time]
    in_turn = not any(one and other for one, other in pairwise(loads))
    turns = _in_turns([(int(pieces.thread[call.chain]), key) for call, key in in_time], site_of, called)
    # What compiles a model and what loads it may lie on one line.
    for api in (Api.LOAD, Api.COMPILE):
        of_api = [key for key in loading if site_of[key].api is api]
        model_of |= _models_of_loads(site_of, of_api, predicted, unseen, turns, in_turn=in_turn)
    return [model_of.get(key, name) for name, key in zip(names, keys, strict=True)]


def _in_turns(
    calls: Sequence[tuple[int, int]], site_of: Mapping[int, _Site], called: Mapping[int, Counter[str]]
) -> dict[int, str]:
    """The one model that is called after each load of a site on its thread, and never else. `calls` are thread and site
    of each, in order of time."""
    after: dict[int, Counter[int]] = defaultdict(Counter)
    loads: Counter[int] = Counter()
    last: dict[int, int] = {}
    for thread, key in calls:
        loads[key] += site_of[key].api is Api.LOAD
        if loads[before := last.get(thread, key)] and site_of[key].api is Api.PREDICTION:
            after[before][key] += 1
        last[thread] = key
    found = {}
    for load, following in after.items():
        ((key, count),) = following.most_common(1)
        if len(following) == len(called[key]) == 1 and loads[load] == count == called[key].total() >= _TURNS:
            found[load] = next(iter(called[key]))
    return found


def _site(line: Timeline, stack: int) -> _Site:
    stacks, caller = line.samples.stacks, int(line.kinds.caller[stack])
    api = Api(line.kinds.api.values[line.kinds.api.codes[stack]])
    if caller < 0:
        return _Site(api, ("by the system",), frozenset(), frozenset())
    rows = stacks.take(slice(caller, int(line.samples.starts[stack + 1])))
    rows = rows.where(app_frames(rows))
    places = zip(rows.image.codes.tolist(), rows.offset.filled().tolist(), strict=True)
    found = map(_TYPE.match, rows.function.held())
    types = frozenset(match[1] or match[2] for match in found if match)
    return _Site(api, tuple(_where(rows, at) for at in range(len(rows))), frozenset(places), types)


def _where(frames: StackRows, at: int) -> str:
    if (file := frames.file.item(at)) is not None:
        return f"at {file}" if (line := frames.line.item(at)) is None else f"at {file}:{line}"
    if (function := frames.function.item(at)) is not None:
        return f"by {function}"
    offset = frames.offset.item(at)
    return "by code without a name" if offset is None else f"by {frames.image.item(at)}+0x{offset:x}"


def _site_names(site_of: Mapping[int, _Site]) -> dict[int, str]:
    """A name for each site; where several have the same place, with the first that leads to one alone."""
    shared = grouped(((site.api, site.words[0]), key) for key, site in site_of.items())
    names = {}
    for (api, place), keys in shared.items():
        words = [site_of[key].words for key in keys]
        depth = next((depth for depth, each in enumerate(zip(*words, strict=False)) if len(set(each)) == len(keys)), 0)
        for key, own in zip(keys, words, strict=True):
            names[key] = f"model {_VERBS[api]} {place}" + (f" from {own[depth].partition(' ')[2]}" if depth else "")
    return names


def _models_of_loads(
    site_of: Mapping[int, _Site],
    loading: Sequence[int],
    predicted: Mapping[str, set[int]],
    unseen: set[str],
    turns: Mapping[int, str],
    *,
    in_turn: bool,
) -> dict[int, str]:
    """The model of each site that loads, as far as it is known. `turns`: those that a model is called after each time;
    `in_turn`: no load follows another one."""
    names = predicted.keys() | unseen
    if len(loading) == len(names) == 1 and in_turn:
        return dict.fromkeys(loading, next(iter(names)))
    model_of: dict[int, str] = {}
    for evidence in ("places", "types"):
        own = {key: getattr(site_of[key], evidence) for key in loading}
        of_name = {
            name: frozenset[object]().union(*(getattr(site_of[key], evidence) for key in keys))
            for name, keys in predicted.items()
        }
        loads, models = (Counter(each for some in sides.values() for each in some) for sides in (own, of_name))
        for key in loading:
            specific = {each for each in own[key] if loads[each] == models[each] == 1}
            found = {name for name, theirs in of_name.items() if theirs & specific}
            if len(found) == 1:
                model_of.setdefault(key, found.pop())
    for key in turns.keys() & {*loading}:
        model_of.setdefault(key, turns[key])
    taken = Counter(model_of.values())
    if any(count > 1 for count in taken.values()):
        return {}
    rest, left = set(loading) - model_of.keys(), names - taken.keys()
    if model_of and len(rest) == len(left) == 1:
        model_of[rest.pop()] = left.pop()
    return model_of
