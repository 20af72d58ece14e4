"""Characters that may reach a screen, and a walk over all strings of a value. A recording, a path or a plug-in may hold
other characters: they steer terminals."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from functools import cache
from operator import is_
from typing import Any, TypeVar, cast

Value = TypeVar("Value")

REPLACEMENT = "\ufffd"
"""Stands for a character that must not reach a screen."""
_ZERO_WIDTH_JOINER = "\u200d"
"""The one invisible character that stays: emoji and several scripts are written with it, and it moves nothing."""
_UNSAFE = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
"""Unicode categories of controls, invisible formatting, private use, surrogates, line and paragraph separators."""
_ASCII_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
"""Control characters of ASCII but tab and line feed."""
_STYLE = re.compile("(\x1b\\[[0-9;]*m)")
"""Sequences that change color and weight of text, and nothing else."""
_PLAIN = frozenset({type(None), bool, int, float})
"""Types without strings. Most values of a report are of them, and a report has tens of thousands."""


def visible(text: str, *, multiline: bool = False) -> str:
    """Text that cannot steer a terminal or reorder a line. Control characters, escape sequences, bidirectional
    overrides, invisible characters and lone surrogates become `REPLACEMENT`; white space becomes one blank, except that
    `multiline` keeps line breaks."""
    if multiline:
        return "\n".join(visible(line) for line in text.split("\n"))
    return text if text.isprintable() else "".join(map(_visible_character, text))


def printable(text: str, *, styled: bool = False) -> str:
    """Text of many lines to print: line breaks and tabs stay, all else that `visible` replaces does not; colors and
    weights stay where it is `styled`. O(n)."""
    if styled:
        return "".join(part if index % 2 else printable(part) for index, part in enumerate(_STYLE.split(text)))
    unsafe = {ord(character): REPLACEMENT for character in _unsafe(text) if character != _ZERO_WIDTH_JOINER}
    return text.translate(unsafe) if unsafe else text


def escape_json(text: str) -> str:
    r"""JSON text in which characters that are not for a screen stand as `\uXXXX`, which means the same. O(n)."""
    unsafe = {ord(character): _escape(character) for character in _unsafe(text)}
    return text.translate(unsafe) if unsafe else text


def _unsafe(text: str) -> list[str]:
    """The characters in a text, each once, that must not reach a screen."""
    if text.isascii() and _ASCII_CONTROL.search(text) is None:
        return []
    return [each for each in set(text) if each not in "\n\t" and unicodedata.category(each) in _UNSAFE]


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{int.from_bytes(units[index : index + 2], 'big'):04x}" for index in range(0, len(units), 2))


def _visible_character(character: str) -> str:
    if character in "\t\n\r":
        return " "
    if character == _ZERO_WIDTH_JOINER:
        return character
    return REPLACEMENT if unicodedata.category(character) in _UNSAFE else character


def map_strings(value: Value, change: Callable[[str, str], str]) -> Value:
    """`value` (dataclass, tuple, dict or plain value) with `change(field, text)` for each string in it, so that a rule
    about text holds for every field, also for later ones. `field` is the name of the dataclass field or the key of the
    dict that holds the string, directly or in a tuple; empty where none does. Keys and members of enumerations stay. A
    dataclass or tuple in which nothing changes is not copied. O(size)."""
    known: dict[int, Any] = {}

    def changed(value: Any, field: str) -> Any:
        kind: object = type(value)
        if kind is str:
            new = change(field, value)
            # Equal text is kept, so that nothing is copied for it.
            return value if new == value else new
        if kind in _PLAIN:
            return value
        if isinstance(value, str):
            return value if isinstance(value, Enum) else change(field, value)
        if isinstance(value, tuple):
            items = tuple([item if type(item) in _PLAIN else changed(item, field) for item in value])
            return value if all(map(is_, items, value)) else items
        if isinstance(value, dict):
            return {key: changed(item, str(key)) for key, item in value.items()}
        # Results share the rules that they follow.
        if id(value) not in known:
            changes = {}
            for name in _argument_names(kind):
                old = getattr(value, name)
                if type(old) not in _PLAIN and (new := changed(old, name)) is not old:
                    changes[name] = new
            known[id(value)] = replace(value, **changes) if changes else value
        return known[id(value)]

    return cast("Value", changed(value, ""))


@cache
def _argument_names(kind: object) -> tuple[str, ...]:
    """Fields of a dataclass that are arguments, from which its others follow; none of any other type."""
    return tuple(name for name, field in getattr(kind, "__dataclass_fields__", {}).items() if field.init)


def shorten(text: str, cells: int) -> str:
    """Text in at most `cells` terminal cells, with `…` in the middle: beginnings and ends distinguish long names."""
    from rich.cells import cell_len

    if cell_len(text) <= cells:
        return text
    if cells <= 1:
        return "…"[:cells]
    tail_cells = (cells - 1) // 2
    head = _fitting(text, cells - 1 - tail_cells)
    tail = _fitting(text[::-1], tail_cells)[::-1]
    return f"{head}…{tail}"


def _fitting(text: str, cells: int) -> str:
    """The longest beginning of `text` that fits."""
    from rich.cells import cell_len

    used = 0
    for index, character in enumerate(text):
        used += cell_len(character)
        if used > cells:
            return text[:index]
    return text


def lower_first(sentence: str) -> str:
    """A sentence as a clause; a first word with capitals inside is a name."""
    word = sentence.split(" ")[0]
    return sentence if word[1:] != word[1:].lower() else sentence[:1].lower() + sentence[1:]
