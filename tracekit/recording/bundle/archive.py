"""Property lists and keyed archives, read so that a hostile one costs no more than its size.

A keyed archive is a flat list of objects that refer to each other by number. The graph is shared and cyclic, so
nothing is resolved before it is asked for.
"""

from __future__ import annotations

import plistlib
import struct
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final
from xml.parsers.expat import ExpatError

from tracekit.recording.bundle.damage import DamageError

if TYPE_CHECKING:
    from collections.abc import Iterator

_BINARY: Final = b"bplist00"
_TRAILER: Final = struct.Struct(">6xBBQQQ")
_NULL: Final = "$null"
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


def read_plist(data: bytes, part: str) -> object:
    """A property list, binary or XML. Raises `DamageError`; entity declarations are refused by `plistlib`."""
    try:
        if data.startswith(_BINARY):
            _check_extent(data)
            return plistlib.loads(data, fmt=plistlib.FMT_BINARY)
        return plistlib.loads(data, fmt=plistlib.FMT_XML)
    except _FAILURES as error:
        raise DamageError(f"{part} is no readable property list") from error


def _check_extent(data: bytes) -> None:
    """Refuse objects that share bytes: each would be copied, and a small file could ask for any amount of memory.

    Layout: CFBinaryPList of Apple's open-source CoreFoundation.
    """
    offset_size, _, count, _, table = _TRAILER.unpack(data[-_TRAILER.size :])
    if not 0 < offset_size <= 8 or count * offset_size > len(data) or not count:
        raise ValueError("offsets")
    raw = data[table : table + count * offset_size]
    offsets = sorted(
        int.from_bytes(raw[place : place + offset_size], "big") for place in range(0, len(raw), offset_size)
    )
    offsets.append(table)
    for start, end in pairwise(offsets):
        if start >= end or start + _shallow_length(data, start) > end:
            raise ValueError("objects overlap")


def _shallow_length(data: bytes, start: int) -> int:
    """Least bytes of the object at an offset, from its marker."""
    kind, low = data[start] >> 4, data[start] & 0x0F
    if kind not in (0x4, 0x5, 0x6, 0x7, 0xA, 0xC, 0xD):
        return 1
    head = 1
    if low == 0x0F:
        width = 1 << (data[start + 1] & 0x0F)
        low = int.from_bytes(data[start + 2 : start + 2 + width], "big")
        head = 2 + width
    return head + low * (2 if kind in (0x6, 0xD) else 1)


@dataclass(frozen=True, slots=True)
class KeyedArchive:
    """Objects of one `NSKeyedArchiver` file. What stands in a field is a value or a reference to one."""

    objects: list[object]
    top: dict[str, object]
    part: str
    """How messages call the file."""

    def value(self, reference: object) -> object:
        """What a reference stands for; anything else stands for itself, and the null object for None."""
        if not isinstance(reference, plistlib.UID):
            return reference
        if reference.data >= len(self.objects):
            raise DamageError(f"{self.part} refers to an object that it does not hold")
        found = self.objects[reference.data]
        if isinstance(found, plistlib.UID):
            raise DamageError(f"{self.part} holds a reference to a reference")
        return None if found == _NULL else found

    def mapping(self, reference: object) -> dict[object, object]:
        """Keys and unresolved values of a dictionary, whatever class wrote it."""
        found = self.value(reference)
        if not isinstance(found, dict):
            raise DamageError(f"{self.part} holds something other than a dictionary where one belongs")
        if "NS.keys" in found:
            keys = [self.value(key) for key in _list(found["NS.keys"], self.part)]
            values = _list(found.get("NS.objects"), self.part)
            if len(keys) != len(values):
                raise DamageError(f"{self.part} holds a dictionary with unequal numbers of keys and values")
            return {key: value for key, value in zip(keys, values, strict=True) if isinstance(key, str | int)}
        if (pairs := self.value(found.get("$0"))) is not None and isinstance(pairs, int):
            return dict(self._numbered(found, pairs))
        return dict(found)

    def items(self, reference: object) -> list[object]:
        """Unresolved members of an array or set."""
        found = self.value(reference)
        if isinstance(found, dict) and "NS.objects" in found:
            return _list(found["NS.objects"], self.part)
        return _list(found, self.part)

    def text(self, reference: object) -> str | None:
        """A string, whatever class wrote it; None where there is none or it is empty."""
        found = self.value(reference)
        if isinstance(found, dict) and "NS.string" in found:
            found = self.value(found["NS.string"])
        return found.strip() or None if isinstance(found, str) else None

    def number(self, reference: object) -> int | None:
        """A whole number, also one written as text; None where there is none."""
        found = self.value(reference)
        if isinstance(found, str) and len(found) < 20 and found.isascii() and found.isdecimal():
            return int(found)
        return found if isinstance(found, int) else None

    def _numbered(self, found: dict[str, object], pairs: int) -> Iterator[tuple[object, object]]:
        """Pairs of an `XRIntKeyedDictionary`: `$0` their number, then key, value, key, value ..."""
        if pairs * 2 + 1 > len(found):
            raise DamageError(f"{self.part} declares more entries than it holds")
        for index in range(pairs):
            key = self.value(found.get(f"${2 * index + 1}"))
            if isinstance(key, int):
                yield key, found.get(f"${2 * index + 2}")


def read_archive(data: bytes, part: str) -> KeyedArchive:
    """A keyed archive. Raises `DamageError`."""
    found = read_plist(data, part)
    if not isinstance(found, dict) or found.get("$archiver") != "NSKeyedArchiver":
        raise DamageError(f"{part} is no keyed archive")
    objects, top = found.get("$objects"), found.get("$top")
    if not isinstance(objects, list) or not isinstance(top, dict) or not objects:
        raise DamageError(f"{part} is a keyed archive without objects")
    return KeyedArchive(objects, top, part)


def _list(found: object, part: str) -> list[object]:
    if not isinstance(found, list):
        raise DamageError(f"{part} holds something other than a list where one belongs")
    return found
