"""What a remedy must leave as it was."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from tracekit.model_files.facts import Feature, Function, ModelFile, is_constant

_NOTHING: dict[str, Any] = {"element": None, "color_space": None, "shape": None}


def changes_beside(before: ModelFile, after: ModelFile, may_change: Collection[str]) -> list[str]:
    """Names of what changed though nobody asked for it; `may_change` are fields of `Feature`. O(operations)."""
    return list(dict.fromkeys(_changes(before, after, {name: _NOTHING[name] for name in may_change})))


def _changes(before: ModelFile, after: ModelFile, asked: dict[str, Any]) -> Iterator[str]:
    pairs = (
        ("metadata", before.metadata, after.metadata),
        ("custom layers", before.custom_layers, after.custom_layers),
        ("being updatable", before.updatable, after.updatable),
        ("functions", [each.name for each in before.functions], [each.name for each in after.functions]),
    )
    yield from (name for name, old, new in pairs if old != new)
    for old, new in zip(before.functions, after.functions, strict=False):
        for role in ("inputs", "outputs", "states"):
            if _features(old, role, asked) != _features(new, role, asked):
                yield f"{role} of {old.name}"
        if _backends(old) != _backends(new):
            yield "compute units that the file asks for"
        # Shapes that become fixed take operations away that worked sizes out.
        if "shape" not in asked and _computing(old) != _computing(new):
            yield f"operations of {old.name}"


def _features(function: Function, role: str, asked: dict[str, Any]) -> list[Feature]:
    return [replace(feature, **asked) for feature in getattr(function, role)]


def _backends(function: Function) -> set[str]:
    return {each.backend for each in function.operations or () if each.backend and not is_constant(each)}


def _computing(function: Function) -> dict[str, int]:
    """Operations by type, without conversions."""
    return {name: count for name, count in function.counts if name not in ("cast", "identity")}
