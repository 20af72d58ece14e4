"""What `xcrun coreai-build inspect MODEL --json` prints of a Core AI model.

Apple documents neither keys nor values, and no output of it is published. Keys and types are those that public tools
read from it (`summary.functions`, `summary.operationDistribution`, types such as `NDArray (Float16, 1 × ? × 64)`): a
guess, so that anything else in it is passed over.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tracekit.model_files.facts import (
    Feature,
    FeatureKind,
    Form,
    Function,
    Kind,
    Metadata,
    ModelFile,
    Shape,
    Weights,
    WeightState,
    by_count,
)
from tracekit.model_files.schema_items import text, whole_number

_ARRAY = re.compile(r"NDArray \((\w{1,40}), ([^()]{0,500})\)")
_UNLISTED = Weights(WeightState.UNKNOWN, None, reason="weights of a Core AI model are not listed in this JSON")


def is_core_ai(document: Mapping[str, Any]) -> bool:
    """Whether JSON has the parts that are known."""
    summary = document.get("summary")
    functions = summary.get("functions") if isinstance(summary, Mapping) else None
    return isinstance(functions, list) and any(isinstance(each, Mapping) and "inputs" in each for each in functions)


def core_ai_model(document: Mapping[str, Any], name: str, source: str) -> ModelFile:
    """Facts of the model. O(functions and operations)."""
    summary = document["summary"]
    entries = [entry for entry in summary["functions"] if isinstance(entry, Mapping)]
    # Operations are counted for all functions together.
    counts = _counts(summary.get("operationDistribution")) if len(entries) == 1 else ()
    functions = tuple(
        Function(
            text(entry.get("name")) or f"function {number}",
            _features(entry.get("inputs"), FeatureKind.ARRAY),
            _features(entry.get("outputs"), FeatureKind.ARRAY),
            _features(entry.get("states"), FeatureKind.STATE),
            counts=counts,
        )
        for number, entry in enumerate(entries, 1)
    )
    return ModelFile(name, source, Form.CORE_AI, Kind.CORE_AI, None, functions, _UNLISTED, Metadata())


def _features(value: object, kind: FeatureKind) -> tuple[Feature, ...]:
    entries = value if isinstance(value, list) else []
    return tuple(
        _feature(text(entry["name"]), text(entry.get("type")), kind)
        for entry in entries
        if isinstance(entry, Mapping) and text(entry.get("name"))
    )


def _feature(name: str, words: str, kind: FeatureKind) -> Feature:
    match = _ARRAY.fullmatch(words)
    if match is None:
        return Feature(name, FeatureKind.UNKNOWN, None, None)
    sizes = [size.strip() for size in re.split("[×x]", match[2]) if size.strip()]
    shape = Shape(tuple(whole_number(size) for size in sizes)) if sizes else None
    return Feature(name, kind, match[1], shape)


def _counts(value: object) -> tuple[tuple[str, int], ...]:
    counts: Counter[str] = Counter()
    for entry in value if isinstance(value, list) else ():
        if isinstance(entry, Mapping) and text(entry.get("name")):
            counts[text(entry["name"])] += max(whole_number(entry.get("count")) or 0, 0)
    return by_count(counts)
