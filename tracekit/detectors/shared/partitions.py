"""Models that a runtime calls one after another as partitions of one graph, with code of its own between them."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.code.threads import Between, work_between
from tracekit.analysis.idle import Idle
from tracekit.analysis.runtimes import frames_of
from tracekit.analysis.statistics import top_calls
from tracekit.detectors.shared.idle_gaps import RUNNING_SHARE, Activity, SequenceGaps, pacing_words, read_gaps
from tracekit.detectors.views import cached_by_model
from tracekit.trace.runtimes.registry import Runtime, runtimes

ROUNDS, MODELS = 10, 3
"""Fewer rounds are no pipeline, and two models in turn may well be two graphs (heuristic)."""
ALIKE = 0.8
"""Share of the rounds that hold the same models in one order, and of the code that is the runtime's (heuristic)."""


@dataclass(frozen=True, slots=True, eq=False)
class Partitions:
    """Rounds of models."""

    runtime: str
    models: tuple[str, ...]
    """In the order of a round; the first is the one that is called first in the recording."""
    idle: Idle
    """Steps from round to round, with the gaps inside rounds alone."""
    code: Between | None
    """What the runtime does in these; None where only names of the models show it."""


def why_no_gaps(view: tk.ModelView, gaps: SequenceGaps) -> str:
    """Why the gaps are none of the app's own before predictions of the model; empty where they may be."""
    if partitions_of(view):
        return "A runtime works in the gaps, between partitions of one graph: see graph-partitions."
    if gaps.activity is Activity.PACED:
        return pacing_words(view, gaps)
    return "" if gaps.culprit == view.name else f"The gaps before predictions of {gaps.culprit} take the most time."


@cached_by_model
def partitions_of(view: tk.ModelView) -> Partitions | None:
    """Those that the model is one of; None where nothing shows any."""
    able = [each for each in runtimes() if each.partitions]
    if view.trace.sampled is None and not any(_is_named(each, view.name) for each in able):
        return None
    idle = read_gaps(view, ROUNDS).idle
    own, values = view.trace.activity.model.values.index(view.name), view.trace.activity.model.values
    inner = idle.next_model != own
    size = np.bincount(idle.step[inner], minlength=len(idle.distance_ns))
    usual = int(np.bincount(size).argmax()) if len(size) else 0
    if usual < MODELS - 1 or (size == usual).sum() < max(ROUNDS, ALIKE * len(size)):
        return None
    following = idle.next_model[inner & (size == usual)[idle.step]].reshape(-1, usual)
    # What most rounds hold is the median in each place.
    order = np.partition(following, len(following) // 2, axis=0)[len(following) // 2]
    count, round_of = int((following == order).all(axis=1).sum()), [own, *order.tolist()]
    if count < ALIKE * len(size) or len({*round_of}) <= usual or min(round_of) < 0:
        return None
    called = top_calls(view.trace, tk.Kind.PREDICTION).model.codes
    first = round_of.index(int(called[np.isin(called, round_of)][0]))
    models = tuple(values[code] for code in (*round_of[first:], *round_of[:first]))
    inside = idle.where(inner)
    every = work_between(view.trace, inside.gaps)
    for runtime in able:
        code = work_between(view.trace, inside.gaps, partial(frames_of, runtime))
        ran = every is not None and code is not None and code.calling >= max(RUNNING_SHARE, ALIKE * every.calling)
        named = all(_is_named(runtime, name) for name in models)
        if ran or named:
            return Partitions(runtime.name, models, inside, code if ran else None)
    return None


def _is_named(runtime: Runtime, model: str) -> bool:
    """Whether a model has a name as the runtime gives them."""
    return any(fnmatchcase(model, glob) for glob in runtime.recognized.models)
