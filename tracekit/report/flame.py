"""Call stacks of the target as a page draws them: each sample with the node of the call tree that it ended in. A call
tree as text, as lines for flame graphs, and for speedscope."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from tracekit.analysis.code.tree import CallTree, call_tree, children
from tracekit.arrays import BoolArray, IntArray
from tracekit.characters import visible
from tracekit.report.redact import private_facts, redact_texts
from tracekit.trace.filter import Shown, in_ranges, model_names
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
    """Samples of the target in the range `shown`; None without a stack of a known target. O(frames log frames)."""
    sampled, target = trace.sampled, trace.run.target.process
    if sampled is None or target is None or not len(sampled.samples):
        return None
    mask: BoolArray = sampled.samples.pid.filled() == target.pid
    if shown is not None and shown.ranges is not None:
        mask &= in_ranges(shown.ranges, sampled.samples.time_ns)
    tree = call_tree(sampled, mask)
    if not tree.total:
        return None
    return flame_in(sampled, mask, fit_to_leave(tree, trace, sampled, redact=redact))


def flame_in(sampled: Samples, chosen: BoolArray, tree: CallTree) -> Flame:
    """The chosen samples that are in a tree. chosen: shape (samples,)."""
    stack = sampled.samples.stack.filled()
    rows = np.flatnonzero(chosen & (stack >= 0))
    rows = rows[tree.leaf[stack[rows]] >= 0]
    times = sampled.samples.time_ns[rows]
    order = np.argsort(times, kind="stable")
    return Flame(times[order], tree.leaf[stack[rows[order]]], tree)


def fit_to_leave(tree: CallTree, trace: Trace, sampled: Samples, *, redact: bool) -> CallTree:
    """The tree with names that may leave the machine: those in it and no others, redacted and fit for a screen."""
    used, name = np.unique(tree.name, return_inverse=True)
    texts = [each[index] for each in (tree.names, tree.images) for index in used.tolist()] + [*tree.places]
    if redact:
        facts = private_facts(trace)
        # Programs are libraries of their own processes, of which samples know more than the other tables.
        running = {name for name in sampled.samples.process.held() if name.strip()}
        facts = replace(facts, processes=tuple(sorted({*facts.processes, *running})))
        texts = redact_texts(texts, facts, model_names(trace))
    fit = tuple(map(visible, texts))
    is_app = tuple(tree.is_app[index] for index in used.tolist())
    names, images, places = fit[: len(used)], fit[len(used) : 2 * len(used)], fit[2 * len(used) :]
    return replace(tree, name=name.reshape(-1), names=names, images=images, is_app=is_app, places=places)


MIN_SHARE: Final = 0.01
"""Branches of fewer of all samples are counted, not printed."""
MAX_INDENT: Final = 40
"""Levels of indentation."""
MAX_LEVELS: Final = 500
"""Levels of calls that are drawn. Heuristic: only recursion goes deeper."""
DEEPER: Final = f"Calls deeper than {MAX_LEVELS} levels are not drawn."
_SPEEDSCOPE: Final = "https://www.speedscope.app/file-format-schema.json"


def as_text(tree: CallTree, title: str) -> str:
    """Samples and share of each branch, heaviest first."""
    lines = (f"{branch.numbers}  {branch.indent}{branch.name}" for branch in branches(tree))
    return "\n".join((title, *lines)) + "\n"


class Branch(NamedTuple):
    """A line of the tree."""

    numbers: str
    """Samples, or what they stand for, and the share of all, in cells that are the same for all branches."""
    indent: str
    name: str
    """The function, and its line; its library where no line is known and the name does not say it."""


def branches(tree: CallTree) -> Iterator[Branch]:
    """Heaviest first, to `MAX_LEVELS`. Of a chain in one library that no sample leaves: the first and the last."""
    below, width = children(tree), max(7, len(f"{tree.total:,}"))
    roots = [int(node) for node in below.get(-1, ())]
    large = [node for node in roots if tree.samples[node] >= MIN_SHARE * tree.total] or roots
    waiting = [(node, 1, 0, "") for node in reversed(large)]
    while waiting:
        node, level, depth, library = waiting.pop()
        samples, name = int(tree.samples[node]), int(tree.name[node])
        image = tree.images[name]
        inner = [int(child) for child in below.get(node, ()) if tree.samples[child] >= MIN_SHARE * tree.total]
        plain = len(inner) == 1 and int(tree.samples[inner[0]]) == samples and image == library
        if not plain or tree.is_app[name]:
            where = f"  [{image}]" if image and not tree.names[name].startswith(f"{image} + ") else ""
            if tree.place[node] >= 0:
                where = f" ({tree.places[tree.place[node]]})"
            numbers = f"{samples:{width},} {samples / tree.total:4.0%}"
            yield Branch(numbers, "  " * min(depth, MAX_INDENT), visible(tree.names[name] + where))
            depth += 1
        if level < MAX_LEVELS:
            waiting += [(child, level + 1, depth, image) for child in reversed(inner)]
        elif inner:
            yield Branch(" " * (width + 5), "  " * min(depth, MAX_INDENT), DEEPER)


def as_collapsed(tree: CallTree) -> str:
    """A line for each path on which samples end, joined by `;`, and their number, as flame graph tools read."""
    lines = (
        f"{';'.join(visible(tree.names[name]).replace(';', ':') for name in path)} {samples}"
        for path, samples in _paths(tree)
    )
    return "".join(f"{line}\n" for line in lines)


def as_speedscope(tree: CallTree, name: str) -> str:
    """A profile of the format of speedscope, whose samples stand path by path and not in order of time."""
    paths = list(_paths(tree))
    profile = {
        "type": "sampled",
        "name": name,
        "unit": "none",
        "startValue": 0,
        "endValue": sum(samples for _, samples in paths),
        "samples": [path for path, _ in paths],
        "weights": [samples for _, samples in paths],
    }
    frames = [{"name": name, "file": image} for name, image in zip(tree.names, tree.images, strict=True)]
    document = {"$schema": _SPEEDSCOPE, "shared": {"frames": frames}, "profiles": [profile], "exporter": "tracekit"}
    return json.dumps(document, ensure_ascii=False) + "\n"


def _paths(tree: CallTree) -> Iterator[tuple[list[int], int]]:
    """Names from the root on, and number of samples, of each node on which some end."""
    for node in np.flatnonzero(tree.self_samples).tolist():
        path, at = [], node
        while at >= 0:
            path.append(int(tree.name[at]))
            at = int(tree.parent[at])
        yield path[::-1], int(tree.self_samples[node])
