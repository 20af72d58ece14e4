"""Names of Core ML's types and operations as tracekit writes them."""

from __future__ import annotations

import re

_EDGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake(name: str) -> str:
    """`innerProduct` as `inner_product`, as operations of programs are written."""
    return _EDGE.sub("_", name).lower()


def spaced(name: str) -> str:
    """`treeEnsembleClassifier` as `tree ensemble classifier`."""
    return _EDGE.sub(" ", name).lower()
