"""Names that stand for private ones: `process A`, `foreign model B`, `function AA`."""

from __future__ import annotations

from string import ascii_uppercase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def alias_names(names: Iterable[str], noun: str) -> dict[str, str]:
    """`process A` to `process Z`, then `process AA`, in alphabetical order of the names."""
    return {name: f"{noun} {_ordinal_letters(index)}" for index, name in enumerate(sorted(set(names)))}


def alias_foreign_models(models: Iterable[str]) -> dict[str, str]:
    """Aliases of foreign models, also in the spelling of labels, which may write `_` for a hyphen."""
    aliases = alias_names(models, "foreign model")
    return {name.replace("-", "_"): alias for name, alias in aliases.items()} | aliases


def _ordinal_letters(index: int) -> str:
    """0 is A, 25 is Z, 26 is AA."""
    letters = ""
    index += 1
    while index:
        index, digit = divmod(index - 1, len(ascii_uppercase))
        letters = ascii_uppercase[digit] + letters
    return letters
