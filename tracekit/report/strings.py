"""Walks over a report and changes its strings, so that a rule about text holds for every field, also for later ones."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

Value = TypeVar("Value")


def map_strings(value: Value, change: Callable[[str, str], str], field: str = "") -> Value:
    """A copy of `value` (dataclass, tuple, dict or plain value) with `change(field, text)` for each string in it.

    `field` is the name of the dataclass field or the key of the dict that holds the string, directly or in a tuple.
    Keys stay. O(size of the report).
    """
    return cast("Value", _changed(value, change, field))


def _changed(value: Any, change: Callable[[str, str], str], field: str) -> Any:
    if isinstance(value, str):
        return change(field, value)
    if isinstance(value, tuple):
        return tuple(_changed(item, change, field) for item in value)
    if isinstance(value, dict):
        return {key: _changed(item, change, str(key)) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _changed(getattr(value, f.name), change, f.name) for f in fields(value)})
    return value
