"""What the parts of a bundle that are shared by its tables may cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tracekit.recording.bundle import limits
from tracekit.recording.bundle.damage import DamageError

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


class Part(Generic[_T]):
    """A part that is read when it is first needed and kept, as `functools.cached_property` does. What it raised is
    kept too: a part that cannot be read is not read again for each table."""

    def __init__(self, read: Callable[[Any], _T]) -> None:
        self._read = read
        self.__doc__ = read.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, owner: object, _: type | None = None) -> _T:
        # Asked for once only: what lies in the dictionary of the object goes before this.
        failures: dict[str, str] = owner.__dict__.setdefault("_failed_parts", {})
        if self._name in failures:
            raise DamageError(failures[self._name])
        try:
            value = self._read(owner)
        except DamageError as error:
            failures[self._name] = str(error)
            raise
        owner.__dict__[self._name] = value
        return value


class TextBudget:
    """How many characters the labels, threads and call stacks of a run may have. Tables share strings, so a small
    bundle could ask for any amount. A table that is read again counts once."""

    def __init__(self, size: int) -> None:
        """size: bytes of the bundle."""
        self.allowed = min(limits.TEXT_FREE_CHARS + limits.MAX_TEXT_GROWTH * size, limits.MAX_TEXT_CHARS)
        self._spent: dict[str, int] = {}
        self._total = 0
        self._table = ""

    def begin(self, table: str) -> None:
        """A table is about to be read."""
        self._total -= self._spent.pop(table, 0)
        self._table = table

    def spend(self, chars: int) -> None:
        """Take note of characters that are about to be written. Raises `DamageError` where they are too many."""
        if self._total + chars > self.allowed:
            raise DamageError(f"the texts of its tables have more than {self.allowed:,} characters in total")
        self._total += chars
        self._spent[self._table] = self._spent.get(self._table, 0) + chars
