"""Walks over a report and changes its strings, so that a rule about text holds for every field, also for later ones."""

from __future__ import annotations

from dataclasses import replace
from operator import is_
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

Value = TypeVar("Value")

_PLAIN = frozenset({type(None), bool, int, float})
"""Types without strings. Most values of a report are of them, and a report has tens of thousands."""


def map_strings(value: Value, change: Callable[[str, str], str]) -> Value:
    """`value` (dataclass, tuple, dict or plain value) with `change(field, text)` for each string in it.

    `field` is the name of the dataclass field or the key of the dict that holds the string, directly or in a tuple;
    empty where none does. Keys stay. A dataclass or tuple in which nothing changes is not copied. O(size of the
    report).
    """
    return cast("Value", _with_strings(value, change, ""))


def _with_strings(value: Any, change: Callable[[str, str], str], field: str) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, str):
        return change(field, value)
    if isinstance(value, tuple):
        items = tuple([_with_strings(item, change, field) for item in value])
        return value if all(map(is_, items, value)) else items
    if isinstance(value, dict):
        return {key: _with_strings(item, change, str(key)) for key, item in value.items()}
    changes = {}
    # What `fields` gives, without making a list of it for each of many thousand values.
    for name, field_of in getattr(value, "__dataclass_fields__", {}).items():
        old = getattr(value, name)
        # What is not an argument follows from the other fields.
        if type(old) in _PLAIN or not field_of.init:
            continue
        new = _with_strings(old, change, name)
        if new is not old:
            changes[name] = new
    return replace(value, **changes) if changes else value
