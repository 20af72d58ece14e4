"""Labels, narratives and messages: arrays of typed parts, as text.

An array holds pairs of type number and value; the texts of its parts are joined. Labels of one kind have the same
types in the same order, so they are composed together, part by part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tracekit.recording.bundle import limits
from tracekit.recording.bundle.damage import DamageError
from tracekit.recording.bundle.types import Storage
from tracekit.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from tracekit.recording.bundle.arrays import SharedArrays
    from tracekit.recording.bundle.types import EngineeringType

    Int64Array = npt.NDArray[np.int64]
    UInt64Array = npt.NDArray[np.uint64]

NOTHING: Final = 0xFFFF_FFFF
"""A part without value: references are 32-bit, in a field of 64."""
NO_VALUE: Final = "<none>"
"""Text of a part without value."""
_HEXADECIMAL: Final = frozenset({"metal-encoder-id", "metal-command-buffer-id", "address"})
"""Types that labels show with `0x`; `uint64-hex-lowercase` stands without, since the text before it has it."""


class Labels:
    """Texts of the typed arrays of a run."""

    def __init__(
        self,
        arrays: SharedArrays,
        types: list[EngineeringType | None],
        texts: Callable[[EngineeringType, UInt64Array], list[str]],
    ) -> None:
        """types: type of each type number. texts: texts of strings, processes and threads."""
        self._arrays = arrays
        self._types = types
        self._texts = texts
        self._spent = 0
        self._known: dict[int, str] = {}

    def texts(self, references: Int64Array) -> list[str]:
        """Text of each array. Raises `DamageError`."""
        self._spent = 0
        return self._composed(references, 0)

    def values(self, references: Int64Array) -> list[str | int | None]:
        """Value of arrays that hold one part, with the type of its own: a number, a text, or no value.

        Arrays of several parts are labels.
        """
        self._spent = 0
        result: list[str | int | None] = [""] * len(references)
        for positions, part_type, numbers in self._single(references):
            found: list[str | int | None]
            if part_type.storage is Storage.INTEGER:
                found = list(numbers.tolist())
            else:
                found = list(self._part(part_type, numbers, 0))
                if part_type.storage is not Storage.PACKED:
                    found = [
                        None if number == NOTHING else text
                        for number, text in zip(numbers.tolist(), found, strict=True)
                    ]
            for position, value in zip(positions.tolist(), found, strict=True):
                result[position] = value
        several = np.flatnonzero(self._arrays.lengths[references] != 2)
        for position, text in zip(several.tolist(), self._composed(references[several], 0), strict=True):
            result[position] = text
        return result

    def _single(self, references: Int64Array) -> Iterator[tuple[Int64Array, EngineeringType, UInt64Array]]:
        """Arrays of one part, those of one type at a time: positions, type and values."""
        for positions, numbers in self._arrays.of_one_length(references):
            if numbers.shape[1] != 2:
                continue
            for members in _grouped(numbers[:, 0]):
                yield positions[members], self._type(int(numbers[members[0], 0])), numbers[members, 1]

    def _composed(self, references: Int64Array, depth: int) -> list[str]:
        if depth > limits.MAX_NESTING:
            raise DamageError(f"labels are nested more than {limits.MAX_NESTING} levels deep")
        result = [""] * len(references)
        for positions, numbers in self._arrays.of_one_length(references):
            if numbers.shape[1] % 2:
                raise DamageError("a label has a part without type")
            for members in _patterns(numbers[:, 0::2]):
                types = [self._type(number) for number in numbers[members[0], 0::2].tolist()]
                parts = [self._part(each, numbers[members, 2 * index + 1], depth) for index, each in enumerate(types)]
                self._spent += sum(sum(map(len, texts)) for texts in parts)
                if self._spent > limits.MAX_TEXT_CHARS:
                    raise DamageError(f"labels have more than {limits.MAX_TEXT_CHARS:,} characters altogether")
                joined = map("".join, zip(*parts, strict=True)) if parts else [""] * len(members)
                for position, text in zip(positions[members].tolist(), joined, strict=True):
                    result[position] = text
        return result

    def _part(self, part_type: EngineeringType, numbers: UInt64Array, depth: int) -> list[str]:
        """Texts of one part of several labels."""
        if part_type.storage is Storage.INTEGER:
            return _number_texts(part_type, numbers)
        distinct, place = np.unique(numbers, return_inverse=True)
        present = distinct != NOTHING if part_type.storage is not Storage.PACKED else np.ones(len(distinct), np.bool_)
        texts = np.full(len(distinct), NO_VALUE, object)
        if part_type.storage is Storage.TYPED:
            texts[present] = self._inner(_references(distinct[present]), depth + 1)
        else:
            if part_type.storage is Storage.ARRAY:
                _references(distinct[present])
            texts[present] = self._texts(part_type, distinct[present])
        found: list[str] = texts[place].tolist()
        return found

    def _inner(self, references: Int64Array, depth: int) -> list[str]:
        """Texts of labels inside labels, each composed once: it may stand in many places at once."""
        wanted: list[int] = references.tolist()
        unknown = [reference for reference in wanted if reference not in self._known]
        texts = self._composed(np.array(unknown, np.int64), depth)
        self._known.update(zip(unknown, texts, strict=True))
        return [self._known[reference] for reference in wanted]

    def _type(self, number: int) -> EngineeringType:
        found = self._types[number] if number < len(self._types) else None
        if found is None:
            raise DamageError(f"a label has a part of the unknown type {number}")
        return found


def _number_texts(part_type: EngineeringType, numbers: UInt64Array) -> list[str]:
    values: list[int] = numbers.tolist()
    if part_type.mnemonic == "uint64-hex-lowercase":
        return [f"{value:x}" for value in values]
    if part_type.mnemonic in _HEXADECIMAL:
        return [f"{value:#x}" for value in values]
    if part_type.is_time:
        return [format_duration(value) for value in values]
    return list(map(str, values))


def _references(numbers: UInt64Array) -> Int64Array:
    if len(numbers) and int(numbers.max()) > NOTHING:
        raise DamageError(f"a label refers to shared array {int(numbers.max())}")
    return numbers.astype(np.int64)


def _patterns(types: UInt64Array) -> list[npt.NDArray[np.intp]]:
    """Rows with equal types, as indexes."""
    if not len(types) or (types == types[0]).all():
        return [np.arange(len(types))] if len(types) else []
    _, inverse = np.unique(types, axis=0, return_inverse=True)
    return _grouped(inverse.reshape(-1))


def _grouped(keys: npt.NDArray[np.generic]) -> list[npt.NDArray[np.intp]]:
    """Indexes of equal keys. O(n log n)."""
    if not len(keys):
        return []
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    return np.split(order, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1)
