"""What in a model needs which specification version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.model_files.facts import FeatureKind, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tracekit.model_files.facts import ModelFile

_GRANULAR = ("per block", "per group")


@dataclass(frozen=True, slots=True)
class Need:
    """A part of a model that older systems do not have."""

    words: str
    """For sentences: `Float16 inputs or outputs`."""
    version: int


def needs_of(model: ModelFile) -> tuple[Need, ...]:
    """What the interface, the form and the weights need, the newest first."""
    return tuple(sorted(_needs(model), key=lambda need: -need.version))


def _needs(model: ModelFile) -> Iterator[Need]:
    features = [feature for function in model.functions for feature in function.features]
    if any(part.kind == Kind.ML_PROGRAM for part in model.parts):
        yield Need("the form of an ML program", 6)
    if any(feature.element == "Float16" and feature.kind is not FeatureKind.STATE for feature in features):
        yield Need("Float16 inputs or outputs", 7)
    if any(feature.element == "Int8" for feature in features):
        yield Need("Int8 inputs or outputs", 10)
    if any(feature.kind is FeatureKind.STATE for feature in features):
        yield Need("states", 9)
    if len(model.functions) > 1:
        yield Need("several functions", 9)
    tensors = model.weights.tensors or ()
    compressed = [weight for weight in tensors if weight.technique and model.kind == Kind.ML_PROGRAM]
    newer = [weight for weight in compressed if len(weight.technique) > 1 or weight.granularity in _GRANULAR]
    if newer:
        yield Need("weights compressed per block, per group or in two ways", 9)
    if len(newer) < len(compressed):
        yield Need("compressed weights", 7)
