"""Whose work each prediction of the hardware is, and whose calls each place of the app makes.

It belongs to the calls of the place whose samples are nearest to it, time and again, and whose thread rather waits than
runs meanwhile. A call may have work of several models, as a pipeline does. Work of a model that no place calls is
another process's, or of calls whose threads were not sampled.

    thread of A   ──xxx········xx───────xxx········xx──    ─ other code   x in a call of a place   · no sample
    thread of B   ────────xxxxxxxxxxxxxx───────────────
    engine           ████████             ████████         A waits for this work, time and again; B runs meanwhile

    candidates    every work with the chains near it whose threads wait for half of it         _candidates
      ▼           places that fit a model: the least time that they run in its work,
                  or lie away from it, in nearly all of their calls                            _likely_sites
    sole chain    the only one left for a work; none of models whose work overlaps in a chain  _sole_chains, _shared
      ▼           models of each place, and those of them that come second in its calls        _sites
    far work      within reach, for the only chain of such a place that has none               owners_of
      ▼
    owner         a chain · `left`: a call that is not known · `foreign`: no thread waits      _foreign
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from tracekit.arrays import BoolArray, IntArray
from tracekit.grouping import grouped
from tracekit.sorting import distinct_numbers
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


class Candidate(NamedTuple):
    """A piece that a prediction of the hardware may be of."""

    work: int
    """Place of the prediction."""
    model: int
    piece: int
    chain: int
    key: int


@dataclass(frozen=True, slots=True)
class Sites:
    """Whose work the calls of each site have, by key."""

    named: dict[int, set[int]]
    later: dict[int, set[int]]
    """Those of them that work behind another one in the same calls, as the second stage of a pipeline does."""
    all_have: frozenset[int]
    """Sites of which each chain has work."""


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


def owners_of(line: Timeline, pieces: Pieces, work: Work, opens: IntArray) -> Owners:
    """The owner of each prediction of the hardware. `opens` are the first pieces of the chains. O(n log n)."""
    around, far = _candidates(line, pieces, work, opens)
    total = Counter(pieces.key[opens].tolist())
    # Of the sites that fit each model best.
    likely = _likely_sites(line, pieces, work, around, total)
    near = [each for each in around if (each.model, each.key) in likely]
    threads = Counter(key for key, _ in set(zip(pieces.key.tolist(), pieces.thread.tolist(), strict=True)))
    # Of several threads that call from one place, one that sleeps may have waited longest.
    asleep = [each for each in far if (each.model, each.key) in likely and threads[each.key] > 1]
    # Chains of one piece hold one call, others perhaps several.
    alone = np.append(pieces.follows[1:] == APART, True)
    owner = _sole_chains([*near, *asleep], alone, len(work.starts))
    for index, chains in grouped((each.work, each.chain) for each in (*near, *asleep) if owner[each.work] < 0).items():
        woken = [chain for chain in set(chains) if _wakes(line, pieces, work, chain, index)]
        if len(woken) == 1:
            owner[index] = woken[0]
    shared = _shared(work, owner)
    sites = _sites(line, pieces, work, near, owner, total)
    for index in np.flatnonzero(owner >= 0).tolist():
        key, model = int(pieces.key[owner[index]]), int(work.model[index])
        # Where several calls are at work at once, the work tells no call from another.
        if model in shared or model not in sites.named.get(key, ()):
            owner[index] = -1
    doubtful = {each.chain for each in near if owner[each.work] < 0}
    possible = np.zeros(len(owner), np.bool_)
    possible[[each.work for each in (*around, *asleep) if each.model in sites.named.get(each.key, {each.model})]] = True
    # What a call does after its leading model is no call of its own, wherever that one was seen.
    possible |= np.isin(work.model, [model for models in sites.later.values() for model in models])
    taken, placed = set(owner.tolist()), {each.work for each in near}
    for index, options in grouped((each.work, each) for each in far).items():
        free = {
            option.chain
            for option in options
            if (option.chain not in taken or threads[option.key] == 1 or not alone[option.chain])
            and option.model in sites.named.get(option.key, ())
        }
        if index in placed or not free:
            continue
        possible[index] = True
        if len(free) == 1 and work.model[index] not in shared:
            owner[index] = free.pop()
            taken.add(int(owner[index]))
    sites = _sites(line, pieces, work, near, owner, total)
    # Of a call of its own, which may be one of several or not sampled, where the places that call the model call no
    # other and each of their calls has work.
    keys = grouped((model, key) for key, models in sites.named.items() for model in models)
    unsure = {int(pieces.key[chain]) for chain in doubtful}
    sole = {key for key in sites.all_have - unsure if len(sites.named[key]) == 1}
    left = (owner < 0) & np.isin(work.model, [model for model, own in keys.items() if sole.issuperset(own)])
    return Owners(owner, possible & ~left, sites, doubtful, _foreign(work, around, sites), left)


def _foreign(work: Work, around: Sequence[Candidate], sites: Sites) -> BoolArray:
    """Shape (predictions of the hardware,): of a model that often works while no sampled thread may wait for it."""
    near = Counter((model, key) for _, model, key in {(each.work, each.model, each.key) for each in around})
    named = {model for models in sites.named.values() for model in models}
    count = Counter(work.model.tolist())
    unnamed = {(key, model) for model, key in near if key not in sites.named}
    usual = {model for key, model in unnamed if near[model, key] >= _FITTING_SHARE * count[model]}
    foreign = [model for model in count if count[model] >= _OFTEN and model not in named | usual and named]
    return np.isin(work.model, foreign)


def _likely_sites(
    line: Timeline, pieces: Pieces, work: Work, around: Sequence[Candidate], total: Counter[int]
) -> set[tuple[int, int]]:
    """Models and the sites that call them, as far as their work may tell."""
    # For each model and site: how long, in ns, samples of its calls are away from the work, or run during it.
    misfits: dict[tuple[int, int], list[int]] = {}
    ends = np.append(np.flatnonzero(pieces.follows == APART), len(pieces.first))
    for index, model, chain, key in {(each.work, each.model, each.chain, each.key) for each in around}:
        last = int(pieces.last[ends[np.searchsorted(ends, chain, "right")] - 1])
        places = slice(int(pieces.first[chain]), last + 1)
        times, runs = line.time[places], ~line.on_gpu[places] | ~work.on_gpu[index]
        before, after = np.searchsorted(times, (work.starts[index], work.ends[index]))
        away = [int(work.starts[index] - times[before - 1])] if before else []
        away += [int(times[after] - work.ends[index])] if after < len(times) else []
        inside = times[before:after][runs[before:after]]
        misfit = work.busy_at(index, inside) * line.period_ns if after > before else min(away)
        misfits.setdefault((model, key), []).append(misfit)
    usual = {pair: sorted(each)[len(each) // 2] for pair, each in misfits.items()}
    half = line.period_ns // 2
    # Chains may hold many calls: of the pieces with any work, nearly all have that of the model.
    close = Counter((model, key) for _, model, key in {(each.piece, each.model, each.key) for each in around})
    worked = Counter(key for _, key in {(each.piece, each.key) for each in around})
    strong: dict[int, set[int]] = {}
    most: Counter[int] = Counter()
    for (model, key), each in misfits.items():
        most[model] = max(most[model], len(each))
        nearly_all = close[model, key] >= _NAMED_SHARE * worked[key]
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
    keys = grouped({(each.work, each.key) for each in around})
    contested = {key for own in keys.values() if len(own) > 1 for key in own}
    sole = {
        (model, key) for key, models in strong.items() if len(models) == 1 and key not in contested for model in models
    }
    # So it has where it calls several by turns.
    sole |= {
        pair for pair, misfit in usual.items() if pair[1] not in strong.keys() | contested and misfit <= line.period_ns
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


def _wakes(line: Timeline, pieces: Pieces, work: Work, chain: int, index: int) -> bool:
    """Whether a thread that had begun a call of the chain slept during this work, and wakes up as that ends."""
    start, end = int(work.starts[index]), int(work.ends[index])
    first = int(pieces.first[chain])
    own = slice(first, int(np.searchsorted(line.thread, line.thread[first], "right")))
    times = line.time[own][line.ran[own]]
    behind = int(np.searchsorted(times, end))
    slept = behind > 0 and int(times[behind - 1]) <= start + line.period_ns
    return slept and behind < len(times) and int(times[behind]) <= end + line.period_ns


def _sole_chains(near: Sequence[Candidate], alone: BoolArray, count: int) -> IntArray:
    """Shape (predictions of the hardware,): the only chain that each may be of, not counting chains of the same place
    that are `alone` and have work of the model which can be of no other; -1 where there are several or none."""
    owner = np.full(count, -1)
    chains = grouped({(each.work, (each.chain, each.key, each.model)) for each in near})
    served = {own[0] for own in chains.values() if len(own) == 1 and alone[own[0][0]]}
    for index, own in chains.items():
        alike = len({key for _, key, _ in own}) == 1
        free = [each for each in own if each not in served] if len(own) > 1 and alike else own
        if len(free) == 1:
            owner[index] = free[0][0]
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


def _candidates(line: Timeline, pieces: Pieces, work: Work, opens: IntArray) -> tuple[list[Candidate], list[Candidate]]:
    """Those near in time, and those only within reach."""
    slack = np.where(work.on_gpu, OUTLIVES_NS, 0)
    reach = NEAR * line.period_ns
    near: list[Candidate] = []
    far: list[Candidate] = []
    predicts = np.flatnonzero(line.kinds.api.is_any(Api.PREDICTION)[line.stack[pieces.first]])
    sizes = np.diff(np.append(opens, len(pieces.first)))
    chain_of = np.repeat(opens, sizes)
    after, before = pieces.after[chain_of], pieces.before[np.repeat(opens + sizes - 1, sizes)]
    for thread in distinct_numbers(pieces.thread[predicts]):
        own = predicts[pieces.thread[predicts] == thread]
        behind = np.searchsorted(pieces.starts[own], work.ends, "right") - 1
        for step in (-1, 0, 1):
            inside = (behind + step >= 0) & (behind + step < len(own))
            piece = own[np.clip(behind + step, 0, len(own) - 1)]
            fits = inside & (after[piece] - slack <= work.starts) & (work.ends - slack <= before[piece])
            is_near = (work.starts <= pieces.ends[piece] + reach) & (work.ends >= pieces.starts[piece] - reach)
            fits &= (work.thread < 0) | (work.thread == thread)
            for index in np.flatnonzero(fits).tolist():
                each, model = int(piece[index]), int(work.model[index])
                # Whether the thread of a piece computes for most of the time in which the hardware does this work: on
                # the CPU, or while the Neural Engine works, for which it would wait.
                samples = slice(int(pieces.first[each]), int(pieces.last[each]) + 1)
                runs = line.time[samples][line.on_cpu[samples] | (line.ran[samples] & ~work.on_gpu[index])]
                if work.busy_at(index, runs) * line.period_ns < 0.5 * work.own(index).covered_ns:
                    found = Candidate(index, model, each, int(chain_of[each]), int(pieces.key[each]))
                    (near if is_near[index] else far).append(found)
    return near, far


def _in_turn(near: Sequence[Candidate], total: Counter[int], covered: set[int]) -> dict[int, list[int]]:
    """Models of places that call several by turns, as the partitions of a graph: each is near calls of no other place,
    and nearly all calls of the place have work of one of them."""
    places = grouped({(each.model, each.key) for each in near})
    only = [each for each in near if len(places[each.model]) == 1 and each.key not in covered]
    worked = Counter(key for _, key in {(each.chain, each.key) for each in only})
    return {
        key: models
        for key, models in grouped({(each.key, each.model) for each in only}).items()
        if worked[key] >= max(_NAMED_SHARE * total[key], _FEW)
    }


def _sites(
    line: Timeline, pieces: Pieces, work: Work, near: Sequence[Candidate], owner: IntArray, total: Counter[int]
) -> Sites:
    all_work = Counter(work.model.tolist())
    counts = Counter((key, model) for _, key, model in {(each.work, each.key, each.model) for each in near})
    chains = Counter((key, model) for _, key, model in {(each.chain, each.key, each.model) for each in near})
    covered = {key for (key, _), own in chains.items() if own >= _NAMED_SHARE * total[key]}
    in_turn = _in_turn(near, total, covered)
    named = {key: set(models) for key, models in in_turn.items()}
    most: Counter[int] = Counter()
    for (key, _), count in counts.items():
        most[key] = max(most[key], count)
    for (key, model), own in chains.items():
        # Where calls have work of one model, what a few have of another is somebody else's.
        least = 0.5 if key in covered else 0.0
        has_most = counts[key, model] >= _NAMED_SHARE * all_work[model]
        # A chain of many calls is near some work of any model.
        has_some = has_most or counts[key, model] >= 0.5 * most[key]
        if has_some and own >= (least if has_most else _NAMED_SHARE) * total[key]:
            named.setdefault(key, set()).add(model)
    # How often work of each model comes first in a call of each site, and how often there is any.
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
    later: dict[int, set[int]] = {}
    for key, models in named.items():
        if key in in_turn:
            continue
        # A stage of a pipeline runs in most calls.
        least = 0.5 * max((owned[key, model] for model in models), default=0)
        later[key] = {
            model for model in models if owned[key, model] >= least and leads[key, model] < 0.5 * owned[key, model]
        }
    have = Counter(pieces.key[distinct_numbers(owner[owner >= 0])].tolist())
    complete = frozenset(key for key in named if have[key] == total[key])
    return Sites(named, {key: models for key, models in later.items() if models}, complete)
