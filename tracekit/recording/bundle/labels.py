"""Labels, narratives and messages: arrays of typed parts, as text.

An array holds pairs of type number and value; the texts of its parts are joined. Labels of one kind have the same
types in the same order, so they are composed together, part by part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, repeat
from typing import Final

import numpy as np

from tracekit.arrays import IndexArray, Int32Array, IntArray, ObjectArray, UInt64Array
from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.bundle.arrays import SharedArrays
from tracekit.recording.bundle.types import EngineeringType, Storage
from tracekit.recording.table import number_codes
from tracekit.sorting import equal_groups

NOTHING: Final = 0xFFFF_FFFF
"""A part without value: references are 32-bit, in a field of 64."""
NO_VALUE: Final = "<none>"
"""Text of a part without value."""
_HEXADECIMAL: Final = frozenset({"metal-encoder-id", "metal-command-buffer-id", "address"})
"""Types that labels show with `0x`; `uint64-hex-lowercase` stands without, since the text before it has it."""


@dataclass(frozen=True, slots=True)
class _Words:
    """One part of several labels, as text."""

    texts: ObjectArray
    """The distinct texts."""
    codes: Int32Array
    """Shape (labels,): index of each label's text in `texts`."""

    @property
    def chars(self) -> int:
        """Characters in all labels."""
        lengths = np.fromiter(map(len, self.texts), np.int64, len(self.texts))
        return int(lengths[self.codes].sum())


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
        for places, parts in self._arrays.of_one_length(references):
            # Those of one part, of one type at a time.
            for members in equal_groups(parts[:, 0]) if parts.shape[1] == 2 else ():
                positions, numbers = places[members], parts[members, 1]
                part_type = self._type(int(parts[members[0], 0]))
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
            None if part_type.storage is Storage.INTEGER else self._words(part_type, values[:, index], depth)
            for index, part_type in enumerate(types)
        ]
        # What words take is known before they are repeated in each label, which a small file can make costly.
        chars = sum(part.chars for part in parts if part is not None)
        self._spend(chars)
        columns: list[Iterable[str]] = []
        for is_words, run in groupby(range(len(parts)), lambda index: parts[index] is not None):
            if is_words:
                columns.append(_joined([part for index in run if (part := parts[index]) is not None]))
                continue
            for index in run:
                # As labels show numbers of this type.
                mnemonic, numbers = types[index].mnemonic, values[:, index].tolist()
                if mnemonic == "uint64-hex-lowercase":
                    columns.append(map("%x".__mod__, numbers))
                elif mnemonic in _HEXADECIMAL:
                    columns.append(map(hex, numbers))
                else:
                    columns.append(map(_time_text if types[index].is_time else str, numbers))
        texts = map("".join, zip(*columns, strict=True)) if columns else repeat("")
        result = np.fromiter(texts, object, len(values))
        self._spend(sum(map(len, result)) - chars)
        return result

    def _words(self, part_type: EngineeringType, numbers: UInt64Array, depth: int) -> _Words:
        """Texts of one part of several labels."""
        distinct, codes = number_codes(numbers, np.ones(len(numbers), np.bool_))
        present = distinct != NOTHING if part_type.storage is not Storage.PACKED else np.ones(len(distinct), np.bool_)
        texts = np.full(len(distinct), NO_VALUE, object)
        if part_type.storage is Storage.TYPED:
            # Texts of labels inside labels, each composed once: it may stand in many places at once.
            wanted: list[int] = _references(distinct[present]).tolist()
            unknown = [reference for reference in wanted if reference not in self._known]
            inner = self._compose(np.array(unknown, np.int64), depth + 1)
            self._known.update(zip(unknown, inner, strict=True))
            texts[present] = [self._known[reference] for reference in wanted]
        else:
            if part_type.storage is Storage.ARRAY:
                _references(distinct[present])
            texts[present] = self._texts(part_type, distinct[present])
        return _Words(texts, codes)

    def _type(self, number: int) -> EngineeringType:
        engineering_type = self._types[number] if number < len(self._types) else None
        if engineering_type is None:
            raise DamageError(f"a label has a part of the unknown type {number}")
        return engineering_type


def _joined(words: Sequence[_Words]) -> list[str]:
    """Text of neighboring words in each label. Most labels differ in numbers only: what they share is joined once."""
    group = words[0].codes.astype(np.int64)
    for part in words[1:]:
        if len(part.texts) > 1:
            group = group * len(part.texts) + part.codes
            group = number_codes(group, np.ones(len(group), np.bool_))[1].astype(np.int64)
    example = np.zeros(int(group.max()) + 1, np.intp)
    example[group] = np.arange(len(group))
    texts = np.empty(len(example), object)
    texts[:] = list(map("".join, zip(*(part.texts[part.codes[example]] for part in words), strict=True)))
    joined: list[str] = texts[group].tolist()
    return joined


def _time_text(ns: int) -> str:
    """Two decimals in the largest unit that keeps it at 1 or more, as Instruments writes it."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        # Half a hundredth below the unit already rounds up to it.
        if ns >= size * 0.999995:
            return f"{ns / size:.2f} {unit}"
    return f"{ns} ns"


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
