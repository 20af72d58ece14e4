"""Names of Core ML's types, operations and shapes as tracekit writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tracekit.model_files.facts import Kind, Shape, SizeRange

_EDGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake(name: str) -> str:
    """`innerProduct` as `inner_product`, as operations of programs are written."""
    return _EDGE.sub("_", name).lower()


def kind_words(kind: str) -> str:
    """Kind of a model: `treeEnsembleClassifier` as `tree ensemble classifier`."""
    return Kind.ML_PROGRAM if kind == "mlProgram" else _EDGE.sub(" ", kind).lower()


LISTED_SHAPES = 4
"""Most shapes that a list shows; a model may have 128."""


def default_shape(shape: Shape) -> str:
    """`1 × 3 × 224 × 224`; `320 × 240 (width × height)` for an image; `?` for a size known only when the model runs."""
    words = _times(shape, ("?" if size is None else f"{size}" for size in shape.dimensions)) or "scalar"
    return f"{words}{f' ({_times(shape, shape.axes)})' if shape.axes else ''}"


def allowed_shapes(shape: Shape) -> str:
    """`1...16 × 4`, or the shapes that are listed: `1 × 4 | 2 × 4 | 3 more`; of images, the width first."""
    if shape.ranges:
        return _times(shape, map(_range, shape.ranges))
    shown = [_times(shape, map(str, sizes)) for sizes in shape.choices[:LISTED_SHAPES]]
    more = len(shape.choices) - len(shown)
    return " | ".join([*shown, *([f"{more} more"] if more > 0 else [])])


def _times(shape: Shape, words: Iterable[str]) -> str:
    each = tuple(words)
    return " × ".join(each[::-1] if shape.axes else each)


def _range(size: SizeRange) -> str:
    """`1...16`; `1 or more` without an upper bound."""
    if size.lower == size.upper:
        return str(size.lower)
    return f"{size.lower} or more" if size.upper is None else f"{size.lower}...{size.upper}"
