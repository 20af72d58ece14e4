"""Property lists and keyed archives, read so that a hostile one costs no more than its size.

A keyed archive is a flat list of objects that refer to each other by number. The graph is shared and cyclic, so
nothing is resolved before it is asked for.
"""

from __future__ import annotations

import plistlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar
from xml.parsers.expat import ExpatError

import numpy as np

from tracekit.arrays import IntArray
from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.quoting import excerpt

_TRAILER: Final = struct.Struct(">6xBBQQQ")
_ITEM_BYTES: Final = np.array([0, 0, 0, 0, 1, 1, 2, 1, 0, 0, 1, 0, 1, 2, 0, 0])
"""Least bytes of each character or reference behind the marker of an object, by its kind; 0 where none are counted."""
_KINDS, _COUNTS = np.divmod(np.arange(256), 16)
_SHORT_BYTES: Final = 1 + np.where(np.isin(_KINDS, (1, 2, 3)), 1 << _COUNTS, _COUNTS * _ITEM_BYTES[_KINDS])
"""Least bytes of an object by its marker, which counts its items. Of integers, reals and dates, 1 to 3, it gives the
number of bytes as a power of two."""
_IS_LONG: Final = (_COUNTS == 0x0F) & (_ITEM_BYTES[_KINDS] > 0)
"""Whether a number behind the marker counts them."""
_LONGEST: Final = 1 << 40
_HARMLESS_BYTES: Final = 1 << 17
"""What all objects of a list may take if each were all of its bytes; half of the lists are so small."""
_FAILURES = (
    plistlib.InvalidFileException,
    ExpatError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    OverflowError,
    RecursionError,
    struct.error,
)
"""What `plistlib` raises for lists that are broken in one way or another."""
_ALWAYS_QUOTED: Final = frozenset({"pmc-events", "pmi-event"})


def read_plist(data: bytes, part: str) -> object:
    """A property list, binary or XML. Raises `DamageError`; entity declarations are refused by `plistlib`."""
    try:
        if data.startswith(b"bplist00"):
            _check_extent(data)
            return plistlib.loads(data, fmt=plistlib.FMT_BINARY)
        # Counted before any is made: an object has a tag to begin and one to end.
        if data.count(b"<") > 2 * limits.MAX_OBJECTS:
            raise ValueError("objects")
        return plistlib.loads(data, fmt=plistlib.FMT_XML)
    except _FAILURES as error:
        raise DamageError(f"{part} is not a readable property list") from error


def _check_extent(data: bytes) -> None:
    """Refuse objects that share bytes: each would be copied, and a small file could ask for any amount of memory.

    Layout: CFBinaryPList of Apple's open-source CoreFoundation. O(objects), without a step for each.
    """
    offset_size, _, count, _, table = _TRAILER.unpack(data[-_TRAILER.size :])
    end = table + count * offset_size
    if not 0 < offset_size <= 8 or not 0 < count <= limits.MAX_OBJECTS or end > len(data) - _TRAILER.size:
        raise ValueError("offsets")
    if count * len(data) <= _HARMLESS_BYTES:
        return
    raw = np.frombuffer(data, np.uint8, count * offset_size, table).reshape(count, offset_size)
    offsets = np.zeros(count, np.uint64)
    for column in range(offset_size):
        offsets = offsets << np.uint64(8) | raw[:, column]
    if int(offsets.max()) >= table:
        raise ValueError("an object is outside the file")
    # Least bytes of each object, from its marker. A length beyond 2^40 stands for any other.
    content = np.frombuffer(data, np.uint8)
    starts = offsets.astype(np.int64)
    markers = content[starts]
    lengths: IntArray = _SHORT_BYTES[markers]
    long = np.flatnonzero(_IS_LONG[markers])
    widths = np.int64(1) << (content[starts[long] + 1] & 0x03).astype(np.int64)
    counts = np.zeros(len(long), np.int64)
    for byte in range(int(widths.max(initial=0))):
        reached = np.flatnonzero(byte < widths)
        read = content[np.minimum(starts[long[reached]] + 2 + byte, len(content) - 1)]
        counts[reached] = np.minimum(counts[reached] << 8 | read, _LONGEST)
    lengths[long] = 2 + widths + counts * _ITEM_BYTES[markers[long] >> 4]
    if int(lengths.sum()) > table:
        raise ValueError("objects overlap")


_Members = TypeVar("_Members", list[object], dict[str, object])


@dataclass(frozen=True, slots=True)
class KeyedArchive:
    """Objects of one `NSKeyedArchiver` file. What stands in a field is a value or a reference to one."""

    objects: list[object]
    top: dict[str, object]
    part: str
    """How messages call the file."""
    size: int
    """Its bytes."""
    visited: list[int] = field(default_factory=lambda: [0])
    """How many members of dictionaries and lists were looked at so far."""

    def value(self, reference: object) -> object:
        """What a reference stands for; anything else stands for itself, and the null object for None."""
        if not isinstance(reference, plistlib.UID):
            return reference
        if reference.data >= len(self.objects):
            raise DamageError(f"{self.part} refers to an object that it does not contain")
        value = self.objects[reference.data]
        if isinstance(value, plistlib.UID):
            raise DamageError(f"{self.part} contains a reference to a reference")
        return None if value == "$null" else value

    def mapping(self, reference: object) -> dict[object, object]:
        """Keys and unresolved values of a dictionary, whatever class wrote it."""
        content = self.value(reference)
        if not isinstance(content, dict):
            raise DamageError(f"{self.part} contains something other than a dictionary where one is expected")
        if "NS.keys" in content:
            keys = [self.value(key) for key in self._visit(_list(content["NS.keys"], self.part))]
            values = _list(content.get("NS.objects"), self.part)
            if len(keys) != len(values):
                raise DamageError(f"{self.part} contains a dictionary with unequal numbers of keys and values")
            return {key: value for key, value in zip(keys, values, strict=True) if isinstance(key, str | int)}
        self._visit(content)
        pairs = self.value(content.get("$0"))
        if not isinstance(pairs, int):
            return dict(content)
        # An `XRIntKeyedDictionary`: `$0` is the number of pairs, then key, value, key, value ...
        if pairs * 2 + 1 > len(content):
            raise DamageError(f"{self.part} declares more entries than it contains")
        keys = [self.value(content.get(f"${2 * index + 1}")) for index in range(pairs)]
        return {key: content.get(f"${2 * index + 2}") for index, key in enumerate(keys) if isinstance(key, int)}

    def items(self, reference: object) -> list[object]:
        """Unresolved members of an array or set."""
        value = self.value(reference)
        if isinstance(value, dict) and "NS.objects" in value:
            value = value["NS.objects"]
        return self._visit(_list(value, self.part))

    def text(self, reference: object) -> str | None:
        """A string, whatever class wrote it; None where there is none or it is empty."""
        value = self.value(reference)
        if isinstance(value, dict) and "NS.string" in value:
            value = self.value(value["NS.string"])
        return value.strip() or None if isinstance(value, str) else None

    def number(self, reference: object) -> int | None:
        """A whole number, also one written as text; None where there is none."""
        value = self.value(reference)
        if isinstance(value, str) and len(value) < 20 and value.isascii() and value.isdecimal():
            return int(value)
        return value if isinstance(value, int) else None

    def _visit(self, members: _Members) -> _Members:
        """Members that are about to be looked at. Raises `DamageError` where sharing makes them too many."""
        self.visited[0] += len(members) + 1
        if self.visited[0] > limits.MAX_VISITS * self.size:
            raise DamageError(f"{self.part} refers to the same objects too often")
        return members


def read_archive(data: bytes, part: str) -> KeyedArchive:
    """A keyed archive. Raises `DamageError`."""
    content = read_plist(data, part)
    if not isinstance(content, dict) or content.get("$archiver") != "NSKeyedArchiver":
        raise DamageError(f"{part} is not a keyed archive")
    objects, top = content.get("$objects"), content.get("$top")
    if not isinstance(objects, list) or not isinstance(top, dict) or not objects:
        raise DamageError(f"{part} is a keyed archive without objects")
    return KeyedArchive(objects, top, part, len(data))


def _list(value: object, part: str) -> list[object]:
    if not isinstance(value, list):
        raise DamageError(f"{part} contains something other than a list where one is expected")
    return value


class PrintedAttributes:
    """Prints the attributes of all tables of one archive as a table of contents does: the rule was found by comparing
    both forms of every attribute. Objects of an archive are shared and may hold themselves, so what they add up to is
    counted while it is printed."""

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
            printed = {str(name): self._attribute_text(value, str(name), 0) for name, value in attributes.items()}
            if index >= 0:
                self._known[index] = printed
        return printed

    def _attribute_text(self, reference: object, name: str, depth: int) -> str:
        value = self._archive.value(reference)
        if isinstance(value, dict | list):
            if depth >= limits.MAX_ATTRIBUTE_DEPTH:
                raise DamageError(f"{self._archive.part} contains the attribute {excerpt(name)}, nested too deep")
            return " ".join([self._attribute_text(item, name, depth + 1) for item in self._archive.items(reference)])
        if isinstance(value, str):
            if len(value) > limits.MAX_ATTRIBUTE_CHARS:
                raise DamageError(f"{self._archive.part} contains the attribute {excerpt(name)} with too long a value")
            plain = value and all(char.isalnum() or char in "_-" for char in value) and name not in _ALWAYS_QUOTED
            text = value if plain else f'"{value}"'
        elif isinstance(value, int | float):
            text = str(int(value) if isinstance(value, bool) else value)
        else:
            raise DamageError(f"{self._archive.part} contains the attribute {excerpt(name)} in an unknown form")
        self._chars += len(text) + len(name) + 1
        if self._chars > limits.MAX_ATTRIBUTE_CHARS:
            raise DamageError(
                f"the attributes in {self._archive.part} have more than {limits.MAX_ATTRIBUTE_CHARS:,} characters"
            )
        return text
