"""A call tree as text, as lines for flame graphs, and for speedscope."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from tracekit.analysis.code.tree import CallTree, children
from tracekit.characters import visible

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
    """Heaviest first, down to `MAX_LEVELS`. Of a chain of calls inside one library that no sample leaves, only the
    first and the last."""
    below, width = children(tree), max(7, len(f"{tree.total:,}"))
    roots = [int(node) for node in below.get(-1, ())]
    shown = [node for node in roots if tree.samples[node] >= MIN_SHARE * tree.total] or roots
    waiting = [(node, 1, 0, "") for node in reversed(shown)]
    while waiting:
        node, level, depth, library = waiting.pop()
        samples, name = int(tree.samples[node]), int(tree.name[node])
        image = tree.images[name]
        inner = [int(each) for each in below.get(node, ()) if tree.samples[each] >= MIN_SHARE * tree.total]
        plain = len(inner) == 1 and int(tree.samples[inner[0]]) == samples and image == library
        if not plain or tree.is_app[name]:
            where = f"  [{image}]" if image and not tree.names[name].startswith(f"{image} + ") else ""
            if tree.place[node] >= 0:
                where = f" ({tree.places[tree.place[node]]})"
            numbers = f"{samples:{width},} {samples / tree.total:4.0%}"
            yield Branch(numbers, "  " * min(depth, MAX_INDENT), visible(tree.names[name] + where))
            depth += 1
        if level < MAX_LEVELS:
            waiting += [(each, level + 1, depth, image) for each in reversed(inner)]
        elif inner:
            yield Branch(" " * (width + 5), "  " * min(depth, MAX_INDENT), DEEPER)


def as_collapsed(tree: CallTree) -> str:
    """One line for each path on which samples end: its functions joined by `;`, and their number. The form that flame
    graph tools read."""
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
    frames = [{"name": each, "file": image} for each, image in zip(tree.names, tree.images, strict=True)]
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
