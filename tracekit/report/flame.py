"""Call stacks of the target as a page draws them: each sample with the node of the call tree that it ended in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.code.tree import CallTree, call_tree
from tracekit.characters import visible
from tracekit.report.redact import private_facts, redact_texts
from tracekit.trace.filter import Shown, in_ranges, model_names
from tracekit.trace.frames import or_minus_one, texts_in

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, IntArray
    from tracekit.trace.samples import Samples
    from tracekit.trace.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class Flame:
    """Samples of running threads of the target."""

    times: IntArray
    """Shape (samples,): ns since the start of the run, sorted."""
    leaves: IntArray
    """Shape (samples,): node of `tree` that each ended in."""
    tree: CallTree
    """Of all of these samples, with names that are redacted and fit for a screen."""


def flame_of(trace: Trace, *, shown: Shown | None = None, redact: bool = True) -> Flame | None:
    """The samples of the target, in the range that is `shown`; None where none of them caught a call stack, and where
    the recording does not say whose samples it has. O(frames log frames)."""
    sampled, target = trace.sampled, trace.run.target.process
    if sampled is None or target is None or sampled.samples.empty:
        return None
    chosen: BoolArray = (sampled.samples["pid"] == target.pid).fillna(value=False).to_numpy(dtype=bool)
    if shown is not None and shown.ranges is not None:
        chosen &= in_ranges(shown.ranges, sampled.samples["time_ns"].to_numpy(np.int64))
    tree = call_tree(sampled, chosen)
    if not tree.total:
        return None
    return flame_in(sampled, chosen, fit_to_leave(tree, trace, sampled, redact=redact))


def flame_in(sampled: Samples, chosen: BoolArray, tree: CallTree) -> Flame:
    """The chosen samples that are in a tree. chosen: shape (samples,)."""
    stack = or_minus_one(sampled.samples["stack"])
    rows = np.flatnonzero(chosen & (stack >= 0))
    rows = rows[tree.leaf[stack[rows]] >= 0]
    times = sampled.samples["time_ns"].to_numpy(np.int64)[rows]
    order = np.argsort(times, kind="stable")
    return Flame(times[order], tree.leaf[stack[rows[order]]], tree)


def fit_to_leave(tree: CallTree, trace: Trace, sampled: Samples, *, redact: bool) -> CallTree:
    """The tree with names that may leave the machine: those in it and no others, redacted and fit for a screen."""
    used, name = np.unique(tree.name, return_inverse=True)
    texts = [each[index] for each in (tree.names, tree.images) for index in used.tolist()] + [*tree.places]
    if redact:
        facts = private_facts(trace)
        # Programs are libraries of their own processes, of which samples know more than the other tables.
        running = {name for name in texts_in(sampled.samples["process"]) if name.strip()}
        facts = replace(facts, processes=tuple(sorted({*facts.processes, *running})))
        texts = redact_texts(texts, facts, model_names(trace))
    fit = tuple(map(visible, texts))
    is_app = tuple(tree.is_app[index] for index in used.tolist())
    names, images, places = fit[: len(used)], fit[len(used) : 2 * len(used)], fit[2 * len(used) :]
    return replace(tree, name=name.reshape(-1), names=names, images=images, is_app=is_app, places=places)
