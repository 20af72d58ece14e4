"""Call trees: samples by the functions that they were in, from the outermost or the innermost on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from tracekit.arrays import BoolArray, IndexArray, IntArray
from tracekit.rows import group_ids
from tracekit.trace.samples import APP, Samples
from tracekit.units import format_count

UNKNOWN = "unknown"
"""A frame of which not even the library is known."""
THREAD_LIBRARIES = ("dyld", "libsystem_pthread.dylib", "libdispatch.dylib")
"""They begin threads and run their blocks: the outermost frames of most stacks."""


class Frames(StrEnum):
    """Which frames of a stack are in a call tree."""

    FOLDED = "folded"
    """Those of the app, and of each run of system frames the outermost: what the app called. Where no frame of the app
    lies outside, the first one that does more than begin a thread."""
    ALL = "all"
    APP = "app"


@dataclass(frozen=True, slots=True)
class CallTree:
    """Nodes of a call tree; parents stand before their children, and the root is not among them. Shape (nodes,)."""

    parent: IntArray
    """-1 for the first level."""
    name: IntArray
    """Place in `names`."""
    samples: IntArray
    """That were in the function, called so, whatever it called itself."""
    self_samples: IntArray
    """Of these the samples that end here: in the function itself, or, inverted, that began there."""
    names: tuple[str, ...]
    """Distinct names: the function, or the library and the bytes from its begin where no function is known."""
    images: tuple[str, ...]
    """Library of each name; empty where it is not known."""
    is_app: tuple[bool, ...]
    """Whether each name is of the app."""
    leaf: IntArray
    """Shape (stacks,): node in which each stack ends; -1 for one that is not in the tree."""
    place: IntArray
    """Place in `places`: the line in the function that most of its samples were in; -1 where it is not known."""
    places: tuple[str, ...]
    """`File.swift:42`, and how many other lines samples of that node were in: ` +2 lines`."""

    @property
    def total(self) -> int:
        """Samples in the tree."""
        return int(self.samples[self.parent < 0].sum())


def call_tree(sampled: Samples, chosen: BoolArray, frames: Frames = Frames.ALL, *, invert: bool = False) -> CallTree:
    """The tree of the chosen samples. chosen: shape (samples,). O(frames log frames).

    Samples count for what each stands for where that is not time (`Samples.weights`): the numbers are cycles then.

    Those without a stack, and with `Frames.APP` those without a frame of the app, are not in it.
    """
    stack = sampled.samples.stack.filled() if len(sampled.samples) else np.zeros(0, np.int64)
    count = len(sampled.starts) - 1
    counted, weights = chosen & (stack >= 0), sampled.weights
    weight = np.bincount(stack[counted], None if weights is None else weights[counted], count).astype(np.int64)
    name, names, images, owners = _names(sampled)
    of_stack = sampled.stacks.stack
    rows = np.flatnonzero((weight[of_stack] > 0) & _kept(sampled, frames)) if count else np.zeros(0, np.int64)
    if not invert:
        # Stacks stand innermost first.
        rows = rows[::-1]
    parent, of_name, samples, self_samples, leaf, node = _nodes(of_stack[rows], name[rows], weight, count)
    place, places = _places(sampled, rows, node, weight, len(parent))
    return CallTree(parent, of_name, samples, self_samples, names, images, owners, leaf, place, places)


def _kept(sampled: Samples, frames: Frames) -> BoolArray:
    """Shape (frames,): whether each frame of `Samples.stacks` is in the tree."""
    stacks = sampled.stacks
    is_app = stacks.owner.is_any(APP)
    if frames is Frames.APP:
        return is_app
    kept = np.ones(len(stacks), np.bool_)
    if frames is Frames.ALL or not is_app.any():
        return kept
    stack, index = stacks.stack, np.arange(len(stacks))
    first = np.flatnonzero(np.append(True, (stack[1:] != stack[:-1]) | (is_app[1:] != is_app[:-1])))
    last = np.append(first[1:], len(stacks)) - 1
    # Stacks stand innermost first: of a run, the last frame is the outermost.
    working = np.maximum.reduceat(np.where(stacks.image.is_any(*THREAD_LIBRARIES), -1, index), first)
    kept = is_app.copy()
    kept[np.where(working < 0, last, working)] = True
    return kept


def _places(
    sampled: Samples, rows: IndexArray, node: IntArray, weight: IntArray, count: int
) -> tuple[IntArray, tuple[str, ...]]:
    """`CallTree.place` and `CallTree.places`, given the rows of `Samples.stacks` in the tree and the node of each."""
    place = np.full(count, -1)
    stacks = sampled.stacks
    known = np.flatnonzero((stacks.line.known & stacks.file.known)[rows])
    if not len(known):
        return place, ()
    frames, node = stacks.take(rows[known]), node[known]
    keys = (frames.line.values, frames.file.codes, node)
    order = np.lexsort(keys)
    # The first frame of each line of a node.
    begins = np.flatnonzero(np.logical_or.reduce([np.diff(key[order], prepend=-1) != 0 for key in keys]))
    by_weight = np.argsort(-np.add.reduceat(weight[frames.stack[order]], begins), kind="stable")
    lines = order[begins][by_weight]
    heaviest = lines[np.sort(np.unique(node[lines], return_index=True)[1])]
    others = np.bincount(node[lines])[node[heaviest]] - 1
    code_of: dict[str, int] = {}
    for at, more in zip(heaviest.tolist(), others.tolist(), strict=True):
        text = f"{frames.file.item(at)}:{frames.line.item(at)}" + (f" +{format_count(more, 'line')}" if more else "")
        place[node[at]] = code_of.setdefault(text, len(code_of))
    return place, tuple(code_of)


def _names(sampled: Samples) -> tuple[IntArray, tuple[str, ...], tuple[str, ...], tuple[bool, ...]]:
    """Name of each frame, as a place among the distinct ones, and these."""
    stacks = sampled.stacks
    if not len(stacks):
        return np.zeros(0, np.int64), (), (), ()
    function, image = stacks.function, stacks.image
    offset = stacks.offset.filled()
    keys = (function.codes, image.codes, np.where(function.codes < 0, offset, -1))
    name_index = group_ids(keys, len(stacks))
    _, first = np.unique(name_index, return_index=True)
    images = ["" if code < 0 else image.values[code] for code in image.codes[first]]
    names = [
        function.values[code] if code >= 0 else f"{library} + {at:#x}" if library and at >= 0 else library
        for code, library, at in zip(function.codes[first], images, offset[first].tolist(), strict=True)
    ]
    is_app = stacks.owner.is_any(APP)[first].tolist()
    return name_index, tuple(name or UNKNOWN for name in names), tuple(images), tuple(is_app)


def _nodes(
    stack: IntArray, name: IntArray, weight: IntArray, count: int
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray, IntArray]:
    """Parent, name, samples and self samples of nodes, level by level, the last node of each stack, and the node of
    each frame. stack, name: of frames, from the root on within each stack."""
    order = np.argsort(stack, kind="stable")
    stack, name = stack[order], name[order]
    node_of_frame = np.zeros(len(order), np.int64)
    starts = np.searchsorted(stack, np.arange(count + 1))
    lengths = np.diff(starts)
    last_node = np.full(count, -1)
    name_count = int(name.max(initial=0)) + 1
    parents, names, samples, node_count = [], [], [], 0
    for level in range(int(lengths.max()) if count else 0):
        deep_enough = np.flatnonzero(lengths > level)
        # Parent and name as one number: a stack may have thousands of levels.
        keys = (last_node[deep_enough] + 1) * name_count + name[starts[deep_enough] + level]
        distinct, node = np.unique(keys, return_inverse=True)
        last_node[deep_enough] = node_of_frame[order[starts[deep_enough] + level]] = node + node_count
        parents.append(distinct // name_count - 1)
        names.append(distinct % name_count)
        samples.append(np.bincount(node, weight[deep_enough], minlength=len(distinct)).astype(np.int64))
        node_count += len(distinct)
    self_samples = np.bincount(last_node[last_node >= 0], weight[last_node >= 0], minlength=node_count).astype(np.int64)
    nothing = np.zeros(0, np.int64)
    return (
        np.concatenate([nothing, *parents]),
        np.concatenate([nothing, *names]),
        np.concatenate([nothing, *samples]),
        self_samples,
        last_node,
        node_of_frame,
    )


def in_functions(tree: CallTree) -> tuple[IntArray, IntArray]:
    """Samples that were in each function, however often it is on their stack, and those that ended in it: shape
    (names,) each. O(nodes log nodes)."""
    inside, on_the_way = [0] * len(tree.names), [0] * len(tree.names)
    below, names, samples = children(tree), tree.name.tolist(), tree.samples.tolist()
    # Each node comes twice, on the way down and, as its complement, on the way up.
    waiting: list[int] = below.get(-1, np.zeros(0, np.int64)).tolist()
    while waiting:
        node = waiting.pop()
        if node < 0:
            on_the_way[names[~node]] -= 1
            continue
        # It counts for its function unless the function is on the way to it already.
        inside[names[node]] += 0 if on_the_way[names[node]] else samples[node]
        if node in below:
            on_the_way[names[node]] += 1
            waiting += [~node, *below[node].tolist()]
    self_samples = np.bincount(tree.name, tree.self_samples, len(tree.names))
    return np.array(inside, np.int64), self_samples.astype(np.int64)


def without_deeper(tree: CallTree, levels: int) -> tuple[CallTree, IntArray]:
    """The first levels of a tree, and for each node of the whole tree the one of these that it is, or lies below: shape
    (nodes,). Samples that ended deeper end in the last level. O(nodes log depth)."""
    count = 0
    for _ in range(levels):
        # Nodes stand level by level, those of a level by their parents.
        count = int(np.searchsorted(tree.parent, count))
    shown: IntArray = np.arange(len(tree.parent))
    shown[count:] = tree.parent[count:]
    while (shown >= count).any():
        shown = shown[shown]
    leaf = np.where(tree.leaf < 0, -1, shown[tree.leaf]) if len(shown) else tree.leaf
    self_samples = np.bincount(shown, tree.self_samples, count).astype(np.int64)
    kept = {each: getattr(tree, each)[:count] for each in ("parent", "name", "samples", "place")}
    return replace(tree, **kept, self_samples=self_samples, leaf=leaf), shown


def children(tree: CallTree) -> dict[int, IndexArray]:
    """Children of each node that has any, and of -1, the first level: those with most samples first."""
    order = np.lexsort((-tree.samples, tree.parent))
    parent, first = np.unique(tree.parent[order], return_index=True)
    return dict(zip(parent.tolist(), np.split(order, first[1:]), strict=True)) if len(parent) else {}
