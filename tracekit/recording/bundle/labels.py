"""Labels, narratives and messages: arrays of typed parts, as text.

An array holds pairs of type number and value; the texts of its parts are joined. Labels of one kind have the same
types in the same order, so they are composed together, part by part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Final

import numpy as np

from tracekit.arrays import IndexArray, IntArray, ObjectArray, UInt64Array
from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.bundle.arrays import SharedArrays, equal_groups
from tracekit.recording.bundle.types import EngineeringType, Storage
from tracekit.units import format_duration

NOTHING: Final = 0xFFFF_FFFF
"""A part without value: references are 32-bit, in a field of 64."""
NO_VALUE: Final = "<none>"
"""Text of a part without value."""
_HEXADECIMAL: Final = frozenset({"metal-encoder-id", "metal-command-buffer-id", "address"})
"""Types that labels show with `0x`; `uint64-hex-lowercase` stands without, since the text before it has it."""

_SHARED: Final = 8
"""Labels that must share their words on average for them to be composed together."""


class Labels:
    """Texts of the typed arrays of a run."""

    def __init__(
        self,
        arrays: SharedArrays,
        types: Sequence[EngineeringType | None],
        texts: Callable[[EngineeringType, UInt64Array], list[str]],
        spend: Callable[[int], None],
    ) -> None:
        """types: type of each type number. texts: texts of strings, processes and threads. spend: takes how many
        characters are about to be written; raises `DamageError` where they are too many."""
        self._arrays = arrays
        self._types = types
        self._texts = texts
        self._spend = spend
        self._known: dict[int, str] = {}

    def texts(self, references: IntArray) -> list[str]:
        """Text of each array. Raises `DamageError`."""
        texts: list[str] = self._compose(references, 0).tolist()
        return texts

    def values(self, references: IntArray) -> list[str | int | None]:
        """Value of arrays that hold one part, with the type of its own: a number, a text, or no value.

        Arrays of several parts are labels.
        """
        result = np.full(len(references), "", object)
        for positions, part_type, numbers in self._single(references):
            if part_type.storage is Storage.INTEGER:
                result[positions] = numbers.tolist()
                continue
            words = self._words(part_type, numbers, 0)
            result[positions] = words.texts[words.codes]
            if part_type.storage is not Storage.PACKED:
                result[positions[numbers == NOTHING]] = None
        several = np.flatnonzero(self._arrays.lengths[references] != 2)
        result[several] = self._compose(references[several], 0)
        values: list[str | int | None] = result.tolist()
        return values

    def _single(self, references: IntArray) -> Iterator[tuple[IntArray, EngineeringType, UInt64Array]]:
        """Arrays of one part, those of one type at a time: positions, type and values."""
        for positions, numbers in self._arrays.of_one_length(references):
            if numbers.shape[1] != 2:
                continue
            for members in equal_groups(numbers[:, 0]):
                yield positions[members], self._type(int(numbers[members[0], 0])), numbers[members, 1]

    def _compose(self, references: IntArray, depth: int) -> ObjectArray:
        if depth > limits.MAX_NESTING:
            raise DamageError(f"labels are nested more than {limits.MAX_NESTING} levels deep")
        result = np.full(len(references), "", object)
        for positions, numbers in self._arrays.of_one_length(references):
            if numbers.shape[1] % 2:
                raise DamageError("a label has a part without type")
            for members in _patterns(numbers[:, 0::2]):
                types = [self._type(number) for number in numbers[members[0], 0::2].tolist()]
                result[positions[members]] = self._join_parts(types, numbers[members, 1::2], depth)
        return result

    def _join_parts(self, types: list[EngineeringType], values: UInt64Array, depth: int) -> ObjectArray:
        """Texts of labels with parts of these types: `values` has shape (labels, parts)."""
        parts = [
            _Numbers.of(each, values[:, index])
            if each.storage is Storage.INTEGER
            else self._words(each, values[:, index], depth)
            for index, each in enumerate(types)
        ]
        # What words take is known before they are repeated in each label, which a small file can make costly.
        words = [part for part in parts if isinstance(part, _Words)]
        known = sum(part.chars for part in words)
        self._spend(known)
        result = np.empty(len(values), object)
        for members in _alike(words, len(values)):
            # Most labels differ in one number only; what they share is written into the template.
            pieces = [part.at(members) for part in parts]
            columns = [column for _, column in pieces if column is not None]
            template = "".join(piece for piece, _ in pieces)
            filled = map(template.__mod__, zip(*columns, strict=True)) if columns else repeat(template % ())
            result[members] = np.fromiter(filled, object, len(members))
        self._spend(sum(map(len, result)) - known)
        return result

    def _words(self, part_type: EngineeringType, numbers: UInt64Array, depth: int) -> _Words:
        """Texts of one part of several labels."""
        distinct, index = np.unique(numbers, return_inverse=True)
        present = distinct != NOTHING if part_type.storage is not Storage.PACKED else np.ones(len(distinct), np.bool_)
        texts = np.full(len(distinct), NO_VALUE, object)
        if part_type.storage is Storage.TYPED:
            texts[present] = self._inner(_references(distinct[present]), depth + 1)
        else:
            if part_type.storage is Storage.ARRAY:
                _references(distinct[present])
            texts[present] = self._texts(part_type, distinct[present])
        return _Words(texts, index)

    def _inner(self, references: IntArray, depth: int) -> list[str]:
        """Texts of labels inside labels, each composed once: it may stand in many places at once."""
        wanted: list[int] = references.tolist()
        unknown = [reference for reference in wanted if reference not in self._known]
        texts = self._compose(np.array(unknown, np.int64), depth)
        self._known.update(zip(unknown, texts, strict=True))
        return [self._known[reference] for reference in wanted]

    def _type(self, number: int) -> EngineeringType:
        engineering_type = self._types[number] if number < len(self._types) else None
        if engineering_type is None:
            raise DamageError(f"a label has a part of the unknown type {number}")
        return engineering_type


@dataclass(frozen=True, slots=True)
class _Words:
    """One part of several labels, as text."""

    texts: ObjectArray
    """The distinct texts."""
    codes: IndexArray
    """Shape (labels,): index of each label's text in `texts`."""

    @property
    def chars(self) -> int:
        """Characters in all labels."""
        lengths = np.fromiter(map(len, self.texts), np.int64, len(self.texts))
        return int(lengths[self.codes].sum())

    def at(self, members: IndexArray) -> tuple[str, Iterable[object] | None]:
        """What stands for it in a template for these labels, and what each of them brings; None where all share it."""
        codes = self.codes[members]
        if (codes == codes[0]).all():
            return str(self.texts[codes[0]]).replace("%", "%%"), None
        return "%s", self.texts[codes].tolist()


@dataclass(frozen=True, slots=True)
class _Numbers:
    """One part of several labels that is a number."""

    form: str
    values: UInt64Array

    @staticmethod
    def of(part_type: EngineeringType, values: UInt64Array) -> _Numbers:
        """Numbers in the form in which labels show those of their type."""
        if part_type.mnemonic == "uint64-hex-lowercase":
            return _Numbers("%x", values)
        if part_type.mnemonic in _HEXADECIMAL:
            return _Numbers("%#x", values)
        return _Numbers("%s" if part_type.is_time else "%d", values)

    def at(self, members: IndexArray) -> tuple[str, Iterable[object] | None]:
        """As for `_Words`."""
        values: list[int] = self.values[members].tolist()
        return self.form, map(format_duration, values) if self.form == "%s" else values


def _alike(words: Sequence[_Words], labels: int) -> list[IndexArray]:
    """Labels that share all their words, as indexes; all of them together where few share them."""
    group = np.zeros(labels, np.int64)
    count = 1
    for part in words:
        if len(part.texts) > 1:
            distinct, group = np.unique(group * len(part.texts) + part.codes, return_inverse=True)
            count = len(distinct)
    return equal_groups(group) if 1 < count <= labels // _SHARED else [np.arange(labels)]


def _references(numbers: UInt64Array) -> IntArray:
    if len(numbers) and int(numbers.max()) > NOTHING:
        raise DamageError(f"a label refers to shared array {int(numbers.max())}")
    return numbers.astype(np.int64)


def _patterns(types: UInt64Array) -> list[IndexArray]:
    """Rows with equal types, as indexes."""
    if not len(types) or (types == types[0]).all():
        return [np.arange(len(types))] if len(types) else []
    distinct, inverse = np.unique(types, axis=0, return_inverse=True)
    if len(distinct) > limits.MAX_PATTERNS:
        raise DamageError(f"labels have more than {limits.MAX_PATTERNS:,} different sequences of types")
    return equal_groups(inverse.reshape(-1))
