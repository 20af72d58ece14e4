"""Attributes of tables as a table of contents prints them.

The rule was found by comparing both forms of every attribute.
"""

from __future__ import annotations

import plistlib
from typing import TYPE_CHECKING, Final

from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.quoting import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tracekit.recording.bundle.archive import KeyedArchive

_ALWAYS_QUOTED: Final = frozenset({"pmc-events", "pmi-event"})


class PrintedAttributes:
    """Prints the attributes of all tables of one archive. Objects of an archive are shared and may hold themselves, so
    what they add up to is counted while it is printed."""

    def __init__(self, archive: KeyedArchive) -> None:
        self._archive = archive
        self._chars = 0
        self._known: dict[int, Mapping[str, str]] = {}

    def of(self, reference: object) -> Mapping[str, str]:
        """Printed value of each attribute. Raises `DamageError`."""
        index = reference.data if isinstance(reference, plistlib.UID) else -1
        printed = self._known.get(index)
        if printed is None:
            attributes = self._archive.mapping(reference)
            printed = {str(name): self._printed(value, str(name), 0) for name, value in attributes.items()}
            if index >= 0:
                self._known[index] = printed
        return printed

    def _printed(self, reference: object, name: str, depth: int) -> str:
        value = self._archive.value(reference)
        if isinstance(value, dict | list):
            if depth >= limits.MAX_ATTRIBUTE_DEPTH:
                raise DamageError(f"{self._archive.part} contains the attribute {shortened(name)}, nested too deep")
            return " ".join([self._printed(item, name, depth + 1) for item in self._archive.items(reference)])
        text = self._text(value, name)
        self._chars += len(text) + len(name) + 1
        if self._chars > limits.MAX_ATTRIBUTE_CHARS:
            raise DamageError(
                f"the attributes in {self._archive.part} have more than {limits.MAX_ATTRIBUTE_CHARS:,} characters"
            )
        return text

    def _text(self, value: object, name: str) -> str:
        if isinstance(value, str):
            if len(value) > limits.MAX_ATTRIBUTE_CHARS:
                raise DamageError(
                    f"{self._archive.part} contains the attribute {shortened(name)} with too long a value"
                )
            plain = value and all(char.isalnum() or char in "_-" for char in value) and name not in _ALWAYS_QUOTED
            return value if plain else f'"{value}"'
        if isinstance(value, bool):
            return str(int(value))
        if isinstance(value, int | float):
            return str(value)
        raise DamageError(f"{self._archive.part} contains the attribute {shortened(name)} in an unknown form")
