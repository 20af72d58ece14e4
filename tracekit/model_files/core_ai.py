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

from tracekit.model_files import facts
from tracekit.model_files.json_values import entries, mapping, whole_number, words

_ARRAY = re.compile(r"NDArray \((\w{1,40}), ([^()]{0,500})\)")
_UNLISTED = facts.Weights(
    facts.WeightState.UNKNOWN, None, reason="weights of a Core AI model are not listed in this JSON"
)


def is_core_ai(document: Mapping[str, Any]) -> bool:
    """Whether JSON has the parts that are known."""
    functions = entries(mapping(document.get("summary")).get("functions"))
    return any("inputs" in mapping(each) for each in functions)


def core_ai_model(document: Mapping[str, Any], name: str, source: str) -> facts.ModelFile:
    """Facts of the model. O(functions and operations)."""
    summary = document["summary"]
    listed = [entry for entry in summary["functions"] if isinstance(entry, Mapping)]
    # Operations are counted for all functions together.
    counts = _counts(summary.get("operationDistribution")) if len(listed) == 1 else ()
    functions = tuple(
        facts.Function(
            words(entry.get("name")) or f"function {number}",
            _features(entry.get("inputs"), facts.FeatureKind.ARRAY),
            _features(entry.get("outputs"), facts.FeatureKind.ARRAY),
            _features(entry.get("states"), facts.FeatureKind.STATE),
            counts=counts,
        )
        for number, entry in enumerate(listed, 1)
    )
    return facts.ModelFile(
        name, source, facts.Form.CORE_AI, facts.Kind.CORE_AI, None, functions, _UNLISTED, facts.Metadata()
    )


def _features(value: object, kind: facts.FeatureKind) -> tuple[facts.Feature, ...]:
    return tuple(
        _feature(words(entry["name"]), words(entry.get("type")), kind)
        for entry in map(mapping, entries(value))
        if words(entry.get("name"))
    )


def _feature(name: str, text: str, kind: facts.FeatureKind) -> facts.Feature:
    match = _ARRAY.fullmatch(text)
    if match is None:
        return facts.Feature(name, facts.FeatureKind.UNKNOWN, None, None)
    sizes = [size.strip() for size in re.split("[×x]", match[2]) if size.strip()]
    shape = facts.Shape(tuple(whole_number(size) for size in sizes)) if sizes else None
    return facts.Feature(name, kind, match[1], shape)


def _counts(value: object) -> tuple[tuple[str, int], ...]:
    counts: Counter[str] = Counter()
    for entry in map(mapping, entries(value)):
        if words(entry.get("name")):
            counts[words(entry["name"])] += max(whole_number(entry.get("count")) or 0, 0)
    return facts.by_count(counts)
