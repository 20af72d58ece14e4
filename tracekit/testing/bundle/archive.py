"""Write keyed archives, the binary property lists that Apple's `NSKeyedArchiver` makes of object graphs."""

from __future__ import annotations

import plistlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from plistlib import UID

_DATA = ("NSMutableData", "NSData", "NSObject")
_DICTIONARY = ("NSDictionary", "NSObject")
_LIST = ("NSMutableArray", "NSArray", "NSObject")
_SET = ("NSSet", "NSObject")


@dataclass(frozen=True, slots=True)
class Coded:
    """An instance of a class. Numbers among its fields are stored in place unless they are `Boxed`."""

    name: str
    """Class, derived from `NSObject`."""
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Boxed:
    """A number as an object of its own."""

    value: int


@dataclass(frozen=True, slots=True)
class MutableText:
    """A string that is stored as an instance with a field, not as a plain string."""

    text: str


@dataclass(frozen=True, slots=True)
class Mutable:
    """A dictionary of the changeable class."""

    items: Mapping[object, object]


def numbered_dictionary(pairs: Iterable[tuple[int, object]]) -> Coded:
    """A dictionary with whole numbers as keys: `$0` is the number of pairs, then keys and values alternate."""
    listed = [(Boxed(key), value) for key, value in pairs]
    fields = {f"${position}": item for position, item in enumerate(chain.from_iterable(listed), start=1)}
    return Coded("XRIntKeyedDictionary", {"$0": len(listed), **fields})


class _Writer:
    """Objects of one archive, in the order in which they are met."""

    def __init__(self) -> None:
        self.objects: list[object] = ["$null"]
        self._simple: dict[tuple[type, object], UID] = {}
        self._classes: dict[tuple[str, ...], UID] = {}
        self._instances: dict[int, tuple[object, UID]] = {}

    def reference(self, value: object) -> UID:
        """Place of a value, which is stored where it is new."""
        if value is None:
            return UID(0)
        if isinstance(value, Boxed):
            value = value.value
        if isinstance(value, bool | int | float | str):
            key = type(value), value
            if key not in self._simple:
                self._simple[key] = UID(len(self.objects))
                self.objects.append(value)
            return self._simple[key]
        reference = self._instances.get(id(value))
        if reference is not None:
            return reference[1]
        uid = UID(len(self.objects))
        # The value is kept, so that no other object gets its identity while this writer lives.
        self._instances[id(value)] = value, uid
        self.objects.append(None)
        self.objects[uid.data] = self._instance_fields(value)
        return uid

    def _instance_fields(self, value: object) -> dict[str, object]:
        """Fields of an instance as the archive holds them."""
        match value:
            case Coded(name, fields):
                stored = {
                    key: item if isinstance(item, bool | int | float) else self.reference(item)
                    for key, item in fields.items()
                }
                return stored | self._class((name, "NSObject"))
            case MutableText(text):
                return {"NS.string": text} | self._class(("NSMutableString", "NSString", "NSObject"))
            case bytes():
                return {"NS.data": value} | self._class(_DATA)
            case Mutable(items):
                return self._pairs(items) | self._class(("NSMutableDictionary", *_DICTIONARY))
            case dict():
                return self._pairs(value) | self._class(_DICTIONARY)
            case list():
                return {"NS.objects": list(map(self.reference, value))} | self._class(_LIST)
            case frozenset():
                return {"NS.objects": [self.reference(item) for item in sorted(value)]} | self._class(_SET)
        raise TypeError(f"no way to archive {type(value).__name__}")

    def _pairs(self, items: Mapping[object, object]) -> dict[str, object]:
        return {
            "NS.keys": [self.reference(key) for key in items],
            "NS.objects": [self.reference(item) for item in items.values()],
        }

    def _class(self, names: tuple[str, ...]) -> dict[str, object]:
        if names not in self._classes:
            self._classes[names] = UID(len(self.objects))
            self.objects.append({"$classname": names[0], "$classes": list(names)})
        return {"$class": self._classes[names]}


def archive(**roots: object) -> bytes:
    """A binary property list with the given named roots. Names may hold any character: pass them by `**`.

    Takes None, bool, int, float, str, bytes, list, dict, frozenset and the classes above. An object that occurs
    several times is stored once.
    """
    writer = _Writer()
    top = {name: writer.reference(value) for name, value in roots.items()}
    document = {"$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": top, "$objects": writer.objects}
    return plistlib.dumps(document, fmt=plistlib.FMT_BINARY, sort_keys=False)
