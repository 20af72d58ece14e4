"""What a remedy must leave as it was."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracekit.model_files.facts import Function, ModelFile


def changes_beside(before: ModelFile, after: ModelFile, may_change: Collection[str]) -> list[str]:
    """Names of what changed though nobody asked for it; `may_change` are fields of `Feature`. O(operations)."""
    old, new = (_facts(model, may_change) for model in (before, after))
    return [name for name in old if old[name] != new.get(name)]


def _facts(model: ModelFile, may_change: Collection[str]) -> dict[str, object]:
    facts: dict[str, object] = {
        "metadata": model.metadata,
        "custom layers": model.custom_layers,
        "training on the device": model.updatable,
        "functions": [function.name for function in model.functions],
    }
    without: dict[str, Any] = dict.fromkeys(may_change)
    for function in model.functions:
        for role in ("inputs", "outputs", "states"):
            described = getattr(function, role)
            # An app asks by the name in the description, which the program must have too.
            known = [each.name in _values(function) for each in described]
            facts[f"{role} of {function.name}"] = [known, *(replace(each, **without) for each in described)]
        facts[f"compute units that {function.name} asks for"] = {each.backend for each in function.operations or ()}
        # Where a shape becomes fixed, operations that worked sizes out go.
        facts[f"operations of {function.name}"] = None if "shape" in may_change else _computing(function)
    return facts


def _values(function: Function) -> set[str]:
    """Names of what the program is given and computes."""
    results = {value.name for operation in function.operations or () for value in operation.outputs}
    return results | {value.name for value in function.parameters}


def _computing(function: Function) -> dict[str, int]:
    """Operations by type, without conversions."""
    return {name: count for name, count in function.counts if name not in ("cast", "identity")}
