"""Whose work each prediction of the hardware is, and whose calls each place of the app makes.

It belongs to the calls of the place whose samples are nearest to it, time and again, and whose thread rather waits than
runs meanwhile. A call may have work of several models, as a pipeline does. Work of a model that no place calls is
another process's, or of calls whose threads were not sampled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracekit.arrays import BoolArray, IntArray
from tracekit.grouping import grouped
from tracekit.trace.calls.hardware import Work
from tracekit.trace.calls.pieces import APART, Pieces, Timeline
from tracekit.trace.calls.stacks import Api

OUTLIVES_NS: Final = 1_500_000
"""How far a prediction that the GPU shows may reach beyond its call. All 42 of seven public recordings fit."""
NEAR: Final = 3
"""Sampling periods between samples of a call and the work of hardware that it waits for (heuristic)."""
_OFTEN: Final = 30
"""Predictions of one model, of which some would be sampled if the app called it (heuristic)."""
_FEW: Final = 3
"""Calls that show no habit (heuristic)."""
_FITTING_SHARE: Final = 0.8
"""Part of the predictions of a model of the app that fit calls of the one place that calls it (heuristic)."""
_NAMED_SHARE: Final = 0.9
"""A label names calls of a site if so many of these have work of it, or so much of its work is in them (heuristic)."""
Candidates = dict[int, list[int]]
"""Pieces that each prediction of the hardware may be of."""


@dataclass(frozen=True, slots=True, eq=False)
class Owners:
    """The chain of each prediction of the hardware: pieces of one site with nothing between, known by the first."""

    chain: IntArray
    """Shape (predictions of the hardware,): -1 where none is known."""
    possible: BoolArray
    """Whether it may be of any chain at all."""
    sites: Sites
    doubtful: set[int]
    """Chains that may have work which may be of others too."""
    foreign: BoolArray
    """Whether it is of a model that is never at work for a sampled thread: another process calls it."""
    left: BoolArray
    """Whether it is of a place whose calls have one each, and it is not known of which call."""


@dataclass(frozen=True, slots=True)
class Sites:
    """Whose work the calls of each site have, by key."""

    named: dict[int, set[int]]
    later: dict[int, set[int]]
    """Those of them that work behind another one in the same calls, as the second stage of a pipeline does."""
    all_have: frozenset[int]
    """Sites of which each chain has work."""


def owners_of(line: Timeline, pieces: Pieces, work: Work, opens: IntArray) -> Owners:
    """The owner of each prediction of the hardware. `opens` are the first pieces of the chains. O(n log n)."""
    chain_of = np.repeat(opens, np.diff(np.append(opens, len(pieces.first))))
    around, far = _candidates(line, pieces, work, opens)
    # Of the sites that fit each model best.
    likely = _likely_sites(line, pieces, work, around, chain_of)
    fitting = {
        index: [piece for piece in options if (int(work.model[index]), int(pieces.key[piece])) in likely]
        for index, options in around.items()
    }
    near = {index: options for index, options in fitting.items() if options}
    owner = _sole_chains(pieces, work, near, chain_of)
    shared = _shared(work, owner)
    sites = _sites(line, pieces, work, near, owner, chain_of)
    for index in np.flatnonzero(owner >= 0).tolist():
        key, model = int(pieces.key[owner[index]]), int(work.model[index])
        # Where several calls are at work at once, the work tells no call from another.
        if model in shared or model not in sites.named.get(key, ()):
            owner[index] = -1
    doubtful = {int(chain_of[piece]) for index, options in near.items() if owner[index] < 0 for piece in options}
    possible = np.zeros(len(owner), np.bool_)
    for index, options in around.items():
        keys = _keys(pieces, options)
        possible[index] = any(work.model[index] in sites.named.get(key, {work.model[index]}) for key in keys)
    # What a call does after its leading model is no call of its own, wherever that one was seen.
    possible |= np.isin(work.model, [model for models in sites.later.values() for model in models])
    taken = set(owner.tolist())
    threads = Counter(key for key, _ in set(zip(pieces.key.tolist(), pieces.thread.tolist(), strict=True)))
    for index, options in far.items():
        free = {
            int(chain_of[piece])
            for piece in options
            if (chain_of[piece] not in taken or threads[int(pieces.key[piece])] == 1)
            and work.model[index] in sites.named.get(int(pieces.key[piece]), ())
        }
        if index in near or not free:
            continue
        possible[index] = True
        if len(free) == 1 and work.model[index] not in shared:
            owner[index] = free.pop()
            taken.add(int(owner[index]))
    sites = _sites(line, pieces, work, near, owner, chain_of)
    left = _left_over(work, owner, sites)
    return Owners(owner, possible & ~left, sites, doubtful, _foreign(pieces, work, around, sites), left)


def _left_over(work: Work, owner: IntArray, sites: Sites) -> BoolArray:
    """Shape (predictions of the hardware,): of a call of its own, which may be one of several or not sampled: the
    places that call the model call no other, and each of their calls has work."""
    keys = grouped((model, key) for key, models in sites.named.items() for model in models)
    alike = [
        model for model, own in keys.items() if all(key in sites.all_have and len(sites.named[key]) == 1 for key in own)
    ]
    result: BoolArray = (owner < 0) & np.isin(work.model, alike)
    return result


def _foreign(pieces: Pieces, work: Work, around: Candidates, sites: Sites) -> BoolArray:
    """Shape (predictions of the hardware,): of a model that often works while no sampled thread may wait for it."""
    near: Counter[tuple[int, int]] = Counter()
    for index, options in around.items():
        near.update({(int(work.model[index]), int(pieces.key[piece])) for piece in options})
    named = {model for models in sites.named.values() for model in models}
    count = Counter(work.model.tolist())
    unnamed = {(key, model) for model, key in near if key not in sites.named}
    usual = {model for key, model in unnamed if near[model, key] >= _FITTING_SHARE * count[model]}
    foreign = [model for model in count if count[model] >= _OFTEN and model not in named | usual and named]
    return np.isin(work.model, foreign)


def _misfits(
    line: Timeline, pieces: Pieces, work: Work, near: Candidates, chain_of: IntArray
) -> dict[tuple[int, int], list[int]]:
    """For each model and site: how long, in ns, samples of its calls are away from the work, or run during it."""
    misfits: dict[tuple[int, int], list[int]] = {}
    ends = np.append(np.flatnonzero(pieces.follows == APART), len(pieces.first))
    for index, options in near.items():
        for chain in {int(chain_of[piece]) for piece in options}:
            last = int(pieces.last[ends[np.searchsorted(ends, chain, "right")] - 1])
            places = slice(int(pieces.first[chain]), last + 1)
            times, runs = line.time[places], ~line.on_gpu[places] | ~work.on_gpu[index]
            before, after = np.searchsorted(times, (work.starts[index], work.ends[index]))
            away = [int(work.starts[index] - times[before - 1])] if before else []
            away += [int(times[after] - work.ends[index])] if after < len(times) else []
            inside = times[before:after][runs[before:after]]
            misfit = work.busy_at(index, inside) * line.period_ns if after > before else min(away)
            misfits.setdefault((int(work.model[index]), int(pieces.key[chain])), []).append(misfit)
    return misfits


def _likely_sites(
    line: Timeline, pieces: Pieces, work: Work, near: Candidates, chain_of: IntArray
) -> set[tuple[int, int]]:
    """Models and the sites that call them, as far as their work may tell."""
    misfits = _misfits(line, pieces, work, near, chain_of)
    usual = {pair: sorted(each)[len(each) // 2] for pair, each in misfits.items()}
    total = Counter(pieces.key[np.unique(chain_of)].tolist())
    half = line.period_ns // 2
    # Chains may hold many calls: of the pieces with any work, nearly all have that of the model.
    close: dict[tuple[int, int], set[int]] = {}
    worked: dict[int, set[int]] = {}
    for index, options in near.items():
        for piece in options:
            close.setdefault((int(work.model[index]), int(pieces.key[piece])), set()).add(piece)
            worked.setdefault(int(pieces.key[piece]), set()).add(piece)
    strong: dict[int, set[int]] = {}
    most: Counter[int] = Counter()
    for (model, key), each in misfits.items():
        most[model] = max(most[model], len(each))
        nearly_all = len(close[model, key]) >= _NAMED_SHARE * len(worked[key])
        if nearly_all and len(each) >= _NAMED_SHARE * total[key]:
            strong.setdefault(key, set()).add(model)
    # A place whose calls have work of one model alone is where that is called from.
    home: dict[int, set[int]] = {}
    for key, models in strong.items():
        best = min(usual[model, key] for model in models)
        fitting = [model for model in models if usual[model, key] <= best + half // 2]
        if len(fitting) == 1 and total[key] >= _FEW and best <= line.period_ns:
            home.setdefault(fitting[0], set()).add(key)
    rivals = {(model, key) for (model, key), each in misfits.items() if 2 * len(each) >= most[model]}
    rivals = {
        (model, key)
        for model, key in rivals | {(model, key) for model, keys in home.items() for key in keys}
        if key in home.get(model, {key}) or not strong.get(key, set()) - {model}
    }
    best_of_model = _least(usual, rivals, 0)
    best_of_key = _least(usual, usual.keys(), 1)
    # The only place that may have some work has it.
    contested = {int(pieces.key[piece]) for each in near.values() if len(_keys(pieces, each)) > 1 for piece in each}
    sole = {
        (model, key) for key, models in strong.items() if len(models) == 1 and key not in contested for model in models
    }
    return sole | {
        (model, key)
        for model, key in rivals
        if usual[model, key] <= best_of_model[model] + half
        and (model in strong.get(key, ()) or usual[model, key] <= best_of_key[key] + half)
    }


def _least(usual: Mapping[tuple[int, int], int], pairs: Iterable[tuple[int, int]], side: int) -> dict[int, int]:
    """The least misfit of each model (side 0) or site (side 1) among these pairs."""
    least: dict[int, int] = {}
    for pair in pairs:
        least[pair[side]] = min(usual[pair], least.get(pair[side], usual[pair]))
    return least


def _keys(pieces: Pieces, options: Collection[int]) -> set[int]:
    return {int(pieces.key[piece]) for piece in options}


def _sole_chains(pieces: Pieces, work: Work, near: Candidates, chain_of: IntArray) -> IntArray:
    """Shape (predictions of the hardware,): the only chain that each may be of, not counting chains of the same place
    that have work of the model which can be of no other; -1 where there are several or none."""
    owner = np.full(len(work.starts), -1)
    chains = {index: {int(chain_of[piece]) for piece in options} for index, options in near.items()}
    for index, own in chains.items():
        if len(own) == 1:
            owner[index] = next(iter(own))
    served = {(int(owner[index]), int(work.model[index])) for index in np.flatnonzero(owner >= 0)}
    for index, own in chains.items():
        if len(own) > 1 and len(_keys(pieces, own)) == 1:
            free = {chain for chain in own if (chain, int(work.model[index])) not in served}
            if len(free) == 1:
                owner[index] = free.pop()
    return owner


def _shared(work: Work, owner: IntArray) -> set[int]:
    """Models with work of two predictions at once in what seems to be one call after another."""
    shared: set[int] = set()
    until: dict[tuple[int, int], int] = {}
    for index in np.flatnonzero(owner >= 0).tolist():
        whose = int(owner[index]), int(work.model[index])
        if until.get(whose, 0) > work.starts[index]:
            shared.add(whose[1])
        until[whose] = max(until.get(whose, 0), int(work.ends[index]))
    return shared


def _candidates(line: Timeline, pieces: Pieces, work: Work, opens: IntArray) -> tuple[Candidates, Candidates]:
    """Those near in time, and those only within reach."""
    slack = np.where(work.on_gpu, OUTLIVES_NS, 0)
    reach = NEAR * line.period_ns
    near: Candidates = {}
    far: Candidates = {}
    api = line.kinds["api"].to_numpy()[line.stack[pieces.first]]
    predicts = np.flatnonzero(api == Api.PREDICTION)
    sizes = np.diff(np.append(opens, len(pieces.first)))
    after = np.repeat(pieces.after[opens], sizes)
    before = np.repeat(pieces.before[opens + sizes - 1], sizes)
    for thread in np.unique(pieces.thread[predicts]):
        own = predicts[pieces.thread[predicts] == thread]
        behind = np.searchsorted(pieces.starts[own], work.ends, "right") - 1
        for step in (-1, 0, 1):
            inside = (behind + step >= 0) & (behind + step < len(own))
            piece = own[np.clip(behind + step, 0, len(own) - 1)]
            fits = inside & (after[piece] - slack <= work.starts) & (work.ends - slack <= before[piece])
            is_near = (work.starts <= pieces.ends[piece] + reach) & (work.ends >= pieces.starts[piece] - reach)
            for index in np.flatnonzero(fits):
                if not _works_itself(line, pieces, int(piece[index]), work, int(index)):
                    (near if is_near[index] else far).setdefault(int(index), []).append(int(piece[index]))
    return near, far


def _works_itself(line: Timeline, pieces: Pieces, piece: int, work: Work, index: int) -> bool:
    """Whether the thread of a piece computes for most of the time in which the hardware does this work: on the CPU, or
    while the Neural Engine works, for which it would wait."""
    inside = slice(int(pieces.first[piece]), int(pieces.last[piece]) + 1)
    runs = line.time[inside][line.on_cpu[inside] | (line.ran[inside] & ~work.on_gpu[index])]
    return work.busy_at(index, runs) * line.period_ns >= 0.5 * work.own(index).covered_ns


def _sites(line: Timeline, pieces: Pieces, work: Work, near: Candidates, owner: IntArray, chain_of: IntArray) -> Sites:
    total = Counter(pieces.key[np.unique(chain_of)].tolist())
    all_work = Counter(work.model.tolist())
    counts: Counter[tuple[int, int]] = Counter()
    chains: dict[tuple[int, int], set[int]] = {}
    for index, options in near.items():
        counts.update({(int(pieces.key[piece]), int(work.model[index])) for piece in options})
        for piece in options:
            chains.setdefault((int(pieces.key[piece]), int(work.model[index])), set()).add(int(chain_of[piece]))
    covered = {key for (key, _), own in chains.items() if len(own) >= _NAMED_SHARE * total[key]}
    named: dict[int, set[int]] = {}
    for (key, model), own in chains.items():
        # Where calls have work of one model, what a few have of another is somebody else's.
        least = 0.5 if key in covered else 0.0
        has_most = counts[key, model] >= _NAMED_SHARE * all_work[model]
        if len(own) >= (least if has_most else _NAMED_SHARE) * total[key]:
            named.setdefault(key, set()).add(model)
    leads, owned = _leads(line, pieces, work, owner)
    later: dict[int, set[int]] = {}
    for key, models in named.items():
        # A stage of a pipeline runs in most calls.
        least = 0.5 * max((owned[key, model] for model in models), default=0)
        later[key] = {
            model for model in models if owned[key, model] >= least and leads[key, model] < 0.5 * owned[key, model]
        }
    have = Counter(pieces.key[np.unique(owner[owner >= 0])].tolist())
    complete = frozenset(key for key in named if have[key] == total[key])
    return Sites(named, {key: models for key, models in later.items() if models}, complete)


def _leads(
    line: Timeline, pieces: Pieces, work: Work, owner: IntArray
) -> tuple[Counter[tuple[int, int]], Counter[tuple[int, int]]]:
    """How often work of each model comes first in a call of each site, and how often there is any."""
    leads: Counter[tuple[int, int]] = Counter()
    owned: Counter[tuple[int, int]] = Counter()
    until: dict[int, int] = {}
    call_of: dict[int, set[int]] = {}
    for index in np.flatnonzero(owner >= 0).tolist():
        chain, model, start = int(owner[index]), int(work.model[index]), int(work.starts[index])
        which = int(pieces.key[chain]), model
        owned[which] += 1
        again = model in call_of.get(chain, {model})
        if again or work.is_over(line, int(pieces.first[chain]), until[chain], start):
            leads[which] += 1
            call_of[chain] = set()
        call_of[chain].add(model)
        until[chain] = max(until.get(chain, 0), int(work.ends[index]))
    return leads, owned
