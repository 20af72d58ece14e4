"""What the numbers in cells stand for: strings, processes, threads, labels, call stacks.

Everything works on the distinct numbers of a column at once; rows never come here. What the parts of a bundle that its
tables share may cost is counted here.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

import numpy as np

from tracekit.arrays import IntArray, UInt64Array
from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.bundle.archive import read_archive, read_plist
from tracekit.recording.bundle.arrays import LOW, SharedArrays, Stacks, read_arrays
from tracekit.recording.bundle.files import BundleFiles
from tracekit.recording.bundle.labels import Labels
from tracekit.recording.bundle.stores import cache_small
from tracekit.recording.bundle.types import KNOWN, EngineeringType, Storage
from tracekit.recording.table import CellValue, Process, Thread

_EPOCH: Final = (1 << 63) - 1
"""Zero of dates and fixed-point numbers."""
_THREAD_CHARS: Final = 32
"""Characters of a thread beside its names, about: the ids and what stands between them."""
_LIST: Final = re.compile(
    rb'<\?xml version="1\.0" encoding="UTF-8"\?>\s*<!DOCTYPE plist PUBLIC "[^"<>]*" "[^"<>]*">\s*<plist version="1\.0">'
    rb"\s*<array>(?:\s*<string>([^<>]*+(?:</string>\s*+<string>[^<>]*+)*+)</string>)\s*</array>\s*</plist>\s*"
)
_CONTROLS: Final = bytes([*range(9), *range(11, 32)])
_OTHER_ENTITY: Final = re.compile(rb"&(?!amp;|lt;|gt;|quot;|apos;)")
_T = TypeVar("_T")


@dataclass(slots=True)
class Names:
    """Names of the processes and threads of a run, by reference."""

    processes: dict[int, str] = field(default_factory=dict)
    threads: dict[int, str] = field(default_factory=dict)
    main_threads: set[int] = field(default_factory=set)


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


class RunValues:
    """Values of one run, each part read when it is first needed. Methods raise `DamageError`."""

    def __init__(self, files: BundleFiles, folder: str, names: Callable[[], Names]) -> None:
        """folder: `uniquing` of the run. names: reads the names of processes and threads."""
        self._files = files
        self._folder = folder
        self._read_names = names
        self.budget = TextBudget(sum(files.sizes.values()))

    @Part
    def strings(self) -> list[str]:
        """All strings; the index is the reference."""
        data = self._files.read(f"{self._folder}/strings", limits.MAX_STRINGS_BYTES, limits.STRINGS_FREE_BYTES)
        plain = _plain_strings(data)
        strings = read_plist(data, "'strings'") if plain is None else plain
        if not isinstance(strings, list) or not all(isinstance(string, str) for string in strings):
            raise DamageError("'strings' is not a list of strings")
        if max(map(len, strings), default=0) > limits.MAX_STRING_CHARS:
            raise DamageError(f"'strings' contains a text of more than {limits.MAX_STRING_CHARS:,} characters")
        return strings

    @Part
    def arrays(self) -> SharedArrays:
        """Arrays of processes, threads, stacks."""
        return read_arrays(self._files, f"{self._folder}/arrayUniquer")

    @Part
    def names(self) -> Names:
        """Names of processes and threads."""
        return self._read_names()

    @Part
    def labels(self) -> Labels:
        """Texts of arrays of typed parts."""
        arrays = read_arrays(self._files, f"{self._folder}/typedArrayUniquer")
        types = self._files.read(f"{self._folder}/EngineeringTypes.etypes", limits.MAX_DESCRIPTION_BYTES)
        return Labels(arrays, _types(types), self.texts, self.budget.spend)

    @cached_property
    def _stacks(self) -> Stacks:
        return Stacks(self.arrays, self.budget.spend)

    def distinct(self, engineering_type: EngineeringType, numbers: UInt64Array) -> list[CellValue]:
        """Values behind the distinct numbers of a column, none of them "no value"."""
        if engineering_type.storage is Storage.STRING:
            return list(self.text_of_strings(numbers))
        if engineering_type.storage is Storage.TYPED:
            return list(self.labels.texts(numbers.astype(np.int64)))
        if engineering_type.storage is Storage.PACKED:
            pairs = [(number >> 32, number & LOW) for number in numbers.tolist()]
            match engineering_type.mnemonic:
                case "thread-name":
                    return list(self.text_of_strings(numbers >> np.uint64(32)))
                case "mach-timebase-info":
                    return [f"{numerator}/{denominator}" for numerator, denominator in pairs]
                case "return-location":
                    images = self.arrays.prefixes((numbers >> np.uint64(32)).astype(np.int64), 2).tolist()
                    return [f"{_uuid(*image)}+{offset:#x}" for image, (_, offset) in zip(images, pairs, strict=True)]
                case _:
                    signed = [(number - _EPOCH, abs(number - _EPOCH)) for number in numbers.tolist()]
                    return [f"{'-' if value < 0 else ''}{size // 10**9}.{size % 10**9:09d}" for value, size in signed]
        references = numbers.astype(np.int64)
        if engineering_type.mnemonic == "uuid":
            return [_uuid(high, low) for high, low in self.arrays.prefixes(references, 2).tolist()]
        readers: dict[str, Callable[[IntArray], Sequence[CellValue]]] = {
            "process": self.processes,
            "thread": self.threads,
            "backtrace": self._stacks.backtraces,
            "kperf-bt": self._stacks.samples,
            "text-backtrace": self._stacks.samples,
        }
        return list(readers.get(engineering_type.mnemonic, self._stacks.words)(references))

    def texts(self, engineering_type: EngineeringType, numbers: UInt64Array) -> list[str]:
        """The same as text; for parts of labels."""
        values = self.distinct(engineering_type, numbers)
        self.budget.spend(sum(len(value.name) for value in values if isinstance(value, Process)))
        return list(map(str, values))

    def text_of_strings(self, numbers: UInt64Array) -> list[str]:
        """Strings by index."""
        strings = self.strings
        if len(numbers) and int(numbers.max()) >= len(strings):
            raise DamageError(f"it refers to string {int(numbers.max())}, and there are {len(strings):,}")
        return [strings[number] for number in numbers.tolist()]

    def processes(self, references: IntArray) -> list[Process]:
        """Processes. The array holds the pid; the name comes from the tables that list processes."""
        pids = self.arrays.prefixes(references, 2)[:, 0]
        if len(pids) and int(pids.max()) >= 1 << 31:
            raise DamageError(f"a process has the number {int(pids.max())}")
        names = self.names.processes
        return [
            Process(names.get(reference, f"pid {pid}"), pid)
            for reference, pid in zip(references.tolist(), pids.tolist(), strict=True)
        ]

    def process_of(self, pid: int) -> Process:
        """The process of a pid."""
        references = np.fromiter(self.names.processes, np.int64, len(self.names.processes))
        return next(
            (process for process in self.processes(references) if process.pid == pid), Process(f"pid {pid}", pid)
        )

    def threads(self, references: IntArray) -> list[Thread]:
        """Threads. The array holds the thread id and the process."""
        tids_and_owners = self.arrays.prefixes(references, 2)
        owners, index = np.unique(tids_and_owners[:, 1].astype(np.int64), return_inverse=True)
        processes: list[Process | None] = [None] * len(owners)
        owned = np.flatnonzero(owners != LOW)
        for owner, process in zip(owned.tolist(), self.processes(owners[owned]), strict=True):
            processes[owner] = process
        main_threads, known = self.names.main_threads, self.names.threads
        names = ["Main Thread" if one in main_threads else known.get(one, "") for one in references.tolist()]
        lengths = np.array([len(process.name) if process else 0 for process in processes], np.int64)
        self.budget.spend(sum(map(len, names)) + int(lengths[index].sum()) + _THREAD_CHARS * len(names))
        suffixes = [f" ({process.name}, pid: {process.pid})" if process else "" for process in processes]
        return [
            Thread(
                f"{name} ({tid:#x}){suffixes[owner]}" if name else f"{tid:#x}{suffixes[owner]}", tid, processes[owner]
            )
            for name, tid, owner in zip(names, tids_and_owners[:, 0].tolist(), index.tolist(), strict=True)
        ]


def _plain_strings(data: bytes) -> list[str] | None:
    """Strings in the form in which Instruments lists them, in a third of the time of a parser; None for any other."""
    listed = _LIST.fullmatch(data)
    if listed is None or len(data.translate(None, _CONTROLS)) < len(data) or _OTHER_ENTITY.search(data):
        return None
    try:
        text = listed[1].decode()
    except UnicodeDecodeError:
        return None
    strings = re.split(r"</string>\s*<string>", text)
    return [html.unescape(string) if "&" in string else string for string in strings]


@cache_small
def _types(data: bytes) -> Sequence[EngineeringType | None]:
    archive = read_archive(data, "'EngineeringTypes.etypes'")
    return [KNOWN.get(archive.text(name) or "") for name in archive.items(archive.top.get("root"))]


def since_epoch(numbers: UInt64Array) -> IntArray:
    """Dates as ns since 1970."""
    return (numbers - np.uint64(_EPOCH)).view(np.int64)


def _uuid(high: int, low: int) -> str:
    digits = f"{high:016X}{low:016X}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
