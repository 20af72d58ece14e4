"""From addresses to functions, each distinct address once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tracekit.arrays import BoolArray, IndexArray, IntArray, RecordArray
from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.bundle.files import BundleFiles
from tracekit.recording.bundle.images import Images
from tracekit.recording.bundle.symbol_archive import NONE, SymbolArchive, read_symbol_archive
from tracekit.recording.call_stacks import FRAME, Function, Image
from tracekit.recording.function_names import short_name
from tracekit.sorting import distinct_numbers, equal_groups

_FOLDER: Final = "symbols/stores"
_SUFFIX: Final = ".symbolsarchive"
_LEAST_CODE: Final = 1 << 16
"""Bytes that an image of unknown size is taken to have where others may lie behind it: half of the 605 images of an
iPhone have more than 200 kB. With 133 of them known, all of 3,059 addresses that lay further behind were in another."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Distinct addresses to look up. Shape (addresses,) each."""

    process: IntArray
    """Reference of the process."""
    time_ns: IntArray
    """A time at which the address was in use."""
    address: IntArray
    """Of an instruction; for a caller, of the call and not of what follows it."""


@dataclass(frozen=True, slots=True)
class Symbolicated:
    """Frames of addresses: those of the address n are `frames[starts[n]:starts[n + 1]]`, innermost first."""

    frames: RecordArray
    starts: IntArray
    images: tuple[Image, ...]
    functions: tuple[Function, ...]
    files: tuple[str, ...]


@dataclass(slots=True)
class Symbols:
    """The symbol archives of a bundle, read when an image is asked for."""

    files: BundleFiles
    damaged: dict[str, str] = field(default_factory=dict)
    """Why an archive was left out, by UUID of its image."""
    _known: dict[str, SymbolArchive | None] = field(default_factory=dict)
    _bytes: int = 0

    def identities(self) -> frozenset[str]:
        """UUIDs of the images that the bundle has archives of."""
        return frozenset(name.removesuffix(_SUFFIX) for name in self.files.children(_FOLDER) if name.endswith(_SUFFIX))

    def of(self, identity: str) -> SymbolArchive | None:
        """The archive of an image; None where there is none, or a damaged one."""
        if identity in self._known:
            return self._known[identity]
        path, archive = f"{_FOLDER}/{identity}{_SUFFIX}", None
        try:
            if path in self.files.sizes:
                if len(self._known) > limits.MAX_ARCHIVES:
                    raise DamageError(f"there are more than {limits.MAX_ARCHIVES:,} of them")
                data = self.files.read(path, limits.MAX_ARCHIVE_BYTES)
                self._bytes += len(data)
                if self._bytes > limits.MAX_ALL_ARCHIVES_BYTES:
                    raise DamageError(f"all of them take more than {limits.MAX_ALL_ARCHIVES_BYTES:,} bytes")
                archive = read_symbol_archive(data, identity)
        except DamageError as damage:
            self.damaged[identity] = str(damage)
        self._known[identity] = archive
        return archive

    def leave_out(self, identity: str, why: str) -> None:
        """Take an archive that proved to be damaged for none."""
        self._known[identity] = None
        self.damaged[identity] = why


class _Parts:
    """Frames image by image, and their names numbered."""

    def __init__(self, images: Images) -> None:
        self._source = images
        self._owners = [np.empty(0, np.intp)]
        """Which of the addresses each frame is of."""
        self._records = [np.empty(0, FRAME)]
        self._images: dict[Image, int] = {}
        self._functions: dict[Function, int] = {}
        self._files: dict[str, int] = {}

    def add(
        self, index: int, rows: IndexArray, offsets: IntArray, archive: SymbolArchive | None, symbols: Symbols
    ) -> None:
        """Addresses of one image, at these offsets."""
        image = Image(self._source.name(index), self._source.is_system(index))
        code = self._images.setdefault(image, len(self._images))
        certain = archive is not None or self._source.records["size"][index] > 0
        if archive is not None:
            try:
                named = self._add_named(rows, code, offsets, archive, image.name)
                rows, offsets = rows[~named], offsets[~named]
            except DamageError as damage:
                symbols.leave_out(self._source.uuids[index], str(damage))
        self.add_frames(rows, image=code, offset=offsets, certain=certain)

    def add_frames(self, rows: IndexArray, **known: object) -> None:
        """Frames of these addresses, of which so much is known."""
        records: RecordArray = np.full(len(rows), _UNKNOWN)
        for field_name, values in known.items():
            records[field_name] = values
        self._owners.append(rows)
        self._records.append(records)

    def concatenate(self, count: int) -> Symbolicated:
        """Everything, in order of the addresses."""
        owner = np.concatenate(self._owners)
        # The frames of one address stand together, and in order, already.
        order = np.argsort(owner, kind="stable")
        frames, starts = np.concatenate(self._records)[order], np.searchsorted(owner[order], np.arange(count + 1))
        return Symbolicated(frames, starts, tuple(self._images), tuple(self._functions), tuple(self._files))

    def _add_named(
        self, rows: IndexArray, image: int, offsets: IntArray, archive: SymbolArchive, name: str
    ) -> BoolArray:
        """Which of the addresses lie in a function."""
        calls = archive.find(offsets)
        distinct, inverse = np.unique(calls.call, return_inverse=True)
        codes = []
        for call in distinct.tolist():
            symbol, display, start = archive.names(call)
            shown = display or symbol
            # A function without name has its address for one, which says nothing elsewhere.
            nameless = not shown or shown.startswith("0x")
            function = Function(
                f"{name} + {start:#x}" if nameless else short_name(shown),
                "" if nameless else symbol or display,
                image,
                start if archive.is_symbol(call) else None,
            )
            codes.append(self._functions.setdefault(function, len(self._functions)))
        functions = np.array(codes, np.int64)[inverse]
        strings, place = np.unique(calls.file, return_inverse=True)
        paths = (None if string == NONE else archive.text(string) for string in strings.tolist())
        names = [None if path is None else path.rstrip("/").rpartition("/")[2] for path in paths]
        file_codes = [
            -1 if file_name is None else self._files.setdefault(file_name, len(self._files)) for file_name in names
        ]
        self.add_frames(
            rows[calls.owner],
            image=image,
            function=functions,
            offset=offsets[calls.owner],
            file=np.array(file_codes, np.int64)[place],
            line=calls.line,
            inlined=calls.depth > 0,
            certain=True,
        )
        named = np.zeros(len(rows), np.bool_)
        named[calls.owner] = True
        return named


def symbolicate(addresses: Addresses, images: Images, symbols: Symbols) -> Symbolicated:
    """Image, function and source line of each address. O(n log n)."""
    image = _images_at(addresses, images)
    parts = _Parts(images)
    inside_images = np.flatnonzero(image >= 0)
    for members in equal_groups(image[inside_images]):
        rows = inside_images[members]
        index = int(image[rows[0]])
        offsets = addresses.address[rows] - images.records["address"][index]
        archive = symbols.of(images.uuids[index])
        size = archive.text_size if archive is not None else int(images.records["size"][index])
        reach: int | IntArray = size or images.records["limit"][index] - images.records["address"][index]
        if not size:
            # Another library may lie between this one and the address, unless all of the process are known.
            all_known = images.records["whole"][index] & (addresses.process[rows] == images.records["process"][index])
            reach = np.where(all_known, reach, _LEAST_CODE)
        inside = offsets < reach
        image[rows[~inside]] = -1
        if inside.any():
            parts.add(index, rows[inside], offsets[inside], archive, symbols)
    parts.add_frames(np.flatnonzero(image < 0))
    return parts.concatenate(len(addresses.address))


def _images_at(addresses: Addresses, images: Images) -> IndexArray:
    """The image below each address at its time; -1 where there is none.

    Between two times at which an image went, no two images were at one place: each of these parts of the run has one
    list of images, those that came in it included.
    """
    result = np.full(len(addresses.address), -1)
    unmaps = images.unmaps_ns
    epoch = np.searchsorted(unmaps, addresses.time_ns, "right")
    edges = np.concatenate([[np.iinfo(np.int64).min], unmaps, [np.iinfo(np.int64).max]])
    for number in distinct_numbers(epoch).tolist():
        there = (images.records["start_ns"] < edges[number + 1]) & (images.records["end_ns"] > edges[number])
        now = np.flatnonzero(epoch == number)
        for process in distinct_numbers(addresses.process[now]).tolist():
            rows = now[addresses.process[now] == process]
            of_process = images.records["process"] == process
            # The shared cache is at one place in all processes.
            visible = of_process if of_process.any() else images.records["cached"]
            candidates = np.flatnonzero(there & visible)
            order = candidates[np.argsort(images.records["address"][candidates], kind="stable")]
            if len(order):
                index = np.searchsorted(images.records["address"][order], addresses.address[rows], "right") - 1
                result[rows] = np.where(index >= 0, order[index], -1)
    return result


_UNKNOWN: Final = np.array((-1, -1, -1, -1, 0, False, False), FRAME)


def unplaced_note(symbols: Symbols, images: Images) -> tuple[str, ...]:
    """A note on symbols of images whose place is not known, for stacks with frames in no image; none without any."""
    unplaced = sorted(symbols.identities() - set(images.uuids))
    archives = [archive for identity in unplaced if (archive := symbols.of(identity)) is not None]
    if not archives:
        return ()
    named = sorted({archive.program for archive in archives if archive.program})
    whose = f" ({', '.join(named[:5])}{' and others' if len(archives) > len(named[:5]) else ''})" if named else ""
    many = len(archives) > 1
    return (
        f"frames of {f'{len(archives):,} images' if many else 'an image'}{whose} are shown as unknown: the bundle has "
        f"{'their' if many else 'its'} symbols, but does not show where {'they were' if many else 'it was'} loaded",
    )


def notes_on(symbols: Symbols, names: Mapping[str, str]) -> tuple[str, ...]:
    """What archives could not be read, as sentences. names: of the images, by UUID."""
    damaged = sorted(symbols.damaged.items(), key=lambda item: names.get(item[0], item[0]))
    listed = [f"{names.get(identity, identity)} ({why})" for identity, why in damaged[:5]]
    if len(damaged) > len(listed):
        listed.append(f"{len(damaged) - len(listed)} more")
    if not listed:
        return ()
    return (f"functions of {', '.join(listed)} are not known, since their symbols cannot be read",)
