"""Which image lay where, and when: what the dynamic linker reported to the kernel while the target ran.

kdebug           rows of class 0x1f, subclass 5, in pairs on one thread. The first has the image's UUID in two halves,
                 its load address, and 0 where it lies in the shared cache; the second has the number of its path
kdebug-strings   the paths by number, each announced before its pair and withdrawn after it

What was loaded before the recording began is in no table, and known where Instruments saved it in `form.template` for
its symbols, with the size of each: one list for each process of a run, and the images of the shared cache once, by
cache and place in it.

list    six u32 (mark, 1, pid, kernel, 0x2000, number of images), the images, and where the shared cache lay
image   UUID, u32, u32 flags, u64 first and u64 last time, four u32 (CPU type and subtype, segments, bytes of the path),
        path, segments (name of 16 bytes, u64 address, u64 size)
cache   two u32 (mark, 4), UUID and u64 load address; no UUID and 0 where the list has the images of the cache itself
"""

from __future__ import annotations

import re
import struct
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from tracekit.arrays import IntArray, RecordArray, UInt64Array
from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.bundle.archive import KeyedArchive, read_archive
from tracekit.recording.bundle.files import BundleFiles
from tracekit.recording.bundle.rows import ordered_columns
from tracekit.recording.bundle.run_metadata import PATH
from tracekit.recording.bundle.stores import Store
from tracekit.recording.bundle.values import RunValues
from tracekit.recording.call_stacks import is_system_path
from tracekit.sorting import distinct_numbers

_LIST: Final = struct.Struct("<6I")
_SAVED_IMAGE: Final = struct.Struct("<16sIIQQ4I")
_SEGMENT: Final = struct.Struct("<16sQQ")
_SAVED_CACHE: Final = struct.Struct("<II16sQ")
_MARK, _CACHE_MARK = 0xFF01FF02, 0x00C0FFEE
_KERNEL: Final = 1
_IN_CACHE: Final = 0x200
"""Flag of images in the shared cache (inferred: all of those, and no other, have it)."""
_STAYED: Final = (1 << 63) - 1
_MAX_SAVED_ADDRESS: Final = 1 << 47
_TEXT: Final = b"__TEXT"
_STORES: Final = "com.apple.xray.symbolstoremanager.symbolstores"
_OF_CACHES: Final = "com.apple.xray.symbolstore.sharedcache.signatures"
_SIGNATURE: Final = "com.apple.xray.symbolstore.signature"
_PLACES: Final = "dsc_load_addresses"


@dataclass(frozen=True, slots=True)
class SavedImage:
    """An image of a process."""

    identity: str
    """UUID in upper case."""
    address: int
    """Load address."""
    size: int
    """Bytes of `__TEXT`."""
    path: str
    cached: bool
    """Whether it lies in the shared cache."""
    stayed: bool
    """Whether it was there to the end of the recording."""


def read_saved_images(files: BundleFiles, run: int) -> dict[int, tuple[SavedImage, ...]]:
    """Images of a run by pid; empty where the file is missing or lists none. Raises `DamageError`. O(images)."""
    if PATH not in files.sizes:
        return {}
    archive = read_archive(files.read(PATH, limits.MAX_TEMPLATE_BYTES), f"'{PATH}'")
    listed = archive.top.get(_STORES)
    stores = None if archive.value(listed) is None else archive.mapping(listed).get(run)
    if archive.value(stores) is None:
        return {}
    caches = _caches(archive)
    images_of = {}
    for reference in archive.mapping(stores).values():
        content = archive.value(reference)
        data = _data(archive, content.get(_SIGNATURE)) if isinstance(content, dict) else b""
        if not isinstance(content, dict) or not data:
            continue
        pid, is_kernel, images, at = _images(data)
        if is_kernel:
            continue
        places = archive.items(content[_PLACES]) if archive.value(content.get(_PLACES)) is not None else []
        images_of[pid] = images + _of_cache(archive, data[at:], caches, places)
        if len(images_of[pid]) > limits.MAX_IMAGES:
            raise DamageError(f"'{PATH}' lists more than {limits.MAX_IMAGES:,} images")
    return images_of


def _caches(archive: KeyedArchive) -> dict[bytes, dict[object, object]]:
    """References of images by their place in the cache, by UUID of the cache."""
    listed = archive.value(archive.top.get(_OF_CACHES))
    if not isinstance(listed, dict):
        return {}
    keys, values = (archive.items(listed.get(name, [])) for name in ("NS.keys", "NS.objects"))
    caches = {}
    for key, value in zip(keys, values, strict=False):
        identity = archive.value(key)
        if isinstance(identity, dict) and isinstance(identity.get("NS.uuidbytes"), bytes):
            caches[identity["NS.uuidbytes"]] = archive.mapping(value)
    return caches


def _of_cache(
    archive: KeyedArchive, trailer: bytes, caches: dict[bytes, dict[object, object]], places: list[object]
) -> tuple[SavedImage, ...]:
    """The images of the shared cache that a process had loaded, at their addresses in it."""
    if not places or len(trailer) < _SAVED_CACHE.size:
        return ()
    mark, _, identity, base = _SAVED_CACHE.unpack_from(trailer)
    cache = caches.get(identity)
    if mark != _CACHE_MARK or cache is None or base >= _MAX_SAVED_ADDRESS:
        return ()
    data = [_data(archive, cache.get(archive.value(place))) for place in places]
    images = [image for archived in data if archived for image in _images(archived)[2]]
    return tuple(replace(image, address=image.address + base, cached=True) for image in images)


def _images(data: bytes) -> tuple[int, bool, tuple[SavedImage, ...], int]:
    """Pid, whether it is the kernel, images, and where they end in the data."""
    try:
        mark, _, pid, kernel, _, count = _LIST.unpack_from(data)
        if mark != _MARK or count > len(data) // _SAVED_IMAGE.size:
            raise DamageError(f"'{PATH}' lists images in an unknown form")
        at, images = _LIST.size, []
        for _ in range(count):
            identity, _, flags, _, last, _, _, segments, length = _SAVED_IMAGE.unpack_from(data, at)
            at += _SAVED_IMAGE.size
            path = data[at : at + length].partition(b"\0")[0].decode(errors="replace")
            at += length
            end = at + segments * _SEGMENT.size
            if end > len(data):
                raise DamageError(f"'{PATH}' lists an image that is cut off")
            for name, address, size in _SEGMENT.iter_unpack(data[at:end]):
                if name.rstrip(b"\0") == _TEXT and 0 < size < _MAX_SAVED_ADDRESS and address < _MAX_SAVED_ADDRESS:
                    name_of = str(uuid.UUID(bytes=identity)).upper()
                    cached, stayed = bool(flags & _IN_CACHE), last == _STAYED
                    images.append(SavedImage(name_of, address, size, path, cached, stayed))
            at = end
    except struct.error as error:
        raise DamageError(f"'{PATH}' lists an image that is cut off") from error
    return pid, kernel == _KERNEL, tuple(images), at


def _data(archive: KeyedArchive, reference: object) -> bytes:
    """Bytes, whatever class wrote them; none where there are none."""
    value = archive.value(reference)
    value = archive.value(value.get("NS.data")) if isinstance(value, dict) else value
    return value if isinstance(value, bytes) else b""


ALWAYS: Final = np.iinfo(np.int64).max
"""End of an image that stayed."""
_CLASS, _SUBCLASS = 0x1F, 5
_FIRST: Final = {"time": "time", "low": "arg1", "high": "arg2", "address": "arg3", "device": "arg4"}
"""Columns of the first row of a pair."""
_MAP, _UNMAP, _CACHE = 0, 5, 10
"""Codes of the first row of a pair; the second has one more."""
_CODE: Final = re.compile(r"(0x[0-9a-f]+|[0-9]+),(0x[0-9a-f]+|[0-9]+|\*)", re.IGNORECASE)
_CACHE_BYTES: Final = 6 * 1024**3
"""Size of the shared cache."""
_LARGEST: Final = 1 << 30
"""More bytes of code than any image has; 39 MB were seen."""
_MAX_ADDRESS: Final = (1 << 63) - 1
_LINKER: Final = "/usr/lib/dyld"
"""The first image that a process reports: who does not report it was not seen from its start."""


_IMAGE: Final = np.dtype(
    [
        ("process", np.int64),  # reference of the process that it belongs to
        ("address", np.int64),  # load address
        ("start_ns", np.int64),
        ("end_ns", np.int64),  # `ALWAYS` where it stayed
        ("cached", np.bool_),  # whether it lies in the shared cache, which is at one place in all processes
        ("limit", np.int64),  # first address that cannot be its own, as far as known without size and symbol archive
        ("size", np.int64),  # bytes of code; 0 where only a symbol archive can tell
        # Whether all images of its process are known, so that what lies behind it and before the next belongs to it.
        ("whole", np.bool_),
    ]
)


@dataclass(frozen=True, slots=True)
class Images:
    """Images of a run, in order of process and load address. Shape (images,) each."""

    records: RecordArray
    """With the fields of `_IMAGE`."""
    uuids: tuple[str, ...]
    """In upper case."""
    paths: tuple[str | None, ...]
    """None where the recording does not hold it. Private: show the last part only."""

    def __len__(self) -> int:
        return len(self.uuids)

    @property
    def unmaps_ns(self) -> IntArray:
        """When images went, in order. Between two of these times no two images were at one place."""
        ends = self.records["end_ns"]
        return distinct_numbers(ends[ends != ALWAYS])

    def is_system(self, index: int) -> bool:
        """Whether an image belongs to the system, not to the app."""
        path = self.paths[index]
        return bool(self.records["cached"][index]) or (path is not None and is_system_path(path))

    def name(self, index: int) -> str:
        """Last part of the path; the UUID where that is not known."""
        path = self.paths[index]
        return (path and path.rstrip("/").rpartition("/")[2]) or self.uuids[index]


def read_images(files: BundleFiles, stores: Sequence[Store], values: RunValues) -> Images:
    """The images of a run; none where no table lists them. Raises `DamageError`. O(n log n) in the rows."""
    pairs = [np.empty(0, _PAIR), *(_pairs(files, store, values) for store in stores if _has_rows(store, "kdebug"))]
    joined = np.concatenate(pairs)
    strings = [store for store in stores if _has_rows(store, "kdebug-strings")]
    return _spans(joined[np.argsort(joined["time"], kind="stable")], partial(_paths_at, files, strings, values))


def _has_rows(store: Store, schema: str) -> bool:
    """Whether a table holds what the dynamic linker reported."""
    if store.spec.schema != schema or store.damage or not store.rows:
        return False
    codes = _CODE.findall(store.spec.attributes.get("codes", ""))
    return any(_number(major) == _CLASS and (minor == "*" or _number(minor) == _SUBCLASS) for major, minor in codes)


def _number(text: str) -> int:
    return int(text, 16 if text[:2].lower() == "0x" else 10)


_PAIR: Final = np.dtype(
    [
        ("time", "<i8"),
        ("process", "<i8"),
        ("code", "<i8"),
        ("low", "<u8"),  # UUID in two halves
        ("high", "<u8"),
        ("address", "<u8"),
        ("device", "<u8"),  # 0 inside the shared cache
        ("path", "<u8"),  # number of the path
    ]
)


def _pairs(files: BundleFiles, store: Store, values: RunValues) -> RecordArray:
    """Pairs of rows, as records of `_PAIR`."""
    names = ("thread", "class", "subclass", "code", "function", *_FIRST.values())
    rows = dict(zip(names, ordered_columns(files, store, *names), strict=True))
    is_pair = (rows["class"] == _CLASS) & (rows["subclass"] == _SUBCLASS) & (rows["function"] == 0)
    pair_rows = np.flatnonzero(is_pair)
    code, thread = rows["code"][pair_rows].astype(np.int64), rows["thread"][pair_rows]
    # The second row of a pair is the next one of its thread, not of the table.
    by_thread = np.argsort(thread, kind="stable")
    first, second = by_thread[:-1], by_thread[1:]
    fits = (thread[first] == thread[second]) & (code[second] == code[first] + 1)
    fits &= np.isin(code[first], (_MAP, _UNMAP, _CACHE))
    head, tail = pair_rows[first[fits]], pair_rows[second[fits]]
    if len(head) > limits.MAX_IMAGES:
        raise DamageError(f"{len(head):,} images were mapped, more than the {limits.MAX_IMAGES:,} that are allowed")
    pairs = np.empty(len(head), _PAIR)
    pairs["process"] = values.arrays.prefixes(rows["thread"][head].astype(np.int64), 2)[:, 1]
    pairs["code"] = rows["code"][head]
    pairs["path"] = rows["arg2"][tail]
    for name, column in _FIRST.items():
        pairs[name] = rows[column][head]
    return pairs


def _spans(pairs: RecordArray, paths_at: Callable[[UInt64Array, IntArray], tuple[str | None, ...]]) -> Images:
    """When each image was where. One that went and never came was there from the start of the run."""
    caches = pairs["address"][pairs["code"] == _CACHE]
    mapped = pairs[(pairs["code"] != _CACHE) & (pairs["address"] <= _MAX_ADDRESS)]
    # By process and place, and there in order of time.
    mapped = mapped[np.lexsort((mapped["address"], mapped["process"]))]
    code, time = mapped["code"], mapped["time"]
    same = (mapped["process"][1:] == mapped["process"][:-1]) & (mapped["address"][1:] == mapped["address"][:-1])
    until = np.append(np.where(same, time[1:], ALWAYS), ALWAYS)[: len(mapped)]
    came_before = np.append(False, same & (code[:-1] == _MAP))[: len(mapped)]
    went = (code == _UNMAP) & ~came_before
    present = (code == _MAP) | went
    images, went, until, time = mapped[present], went[present], until[present], time[present]
    cache_end = min(int(caches[-1]) + _CACHE_BYTES, _MAX_ADDRESS) if len(caches) else _MAX_ADDRESS
    halves = np.stack([images["low"], images["high"]], 1).tobytes()
    uuids = [str(uuid.UUID(bytes=halves[at : at + 16])).upper() for at in range(0, len(halves), 16)]
    paths = paths_at(images["path"], time)
    records = np.zeros(len(images), _IMAGE)
    for name in ("process", "address"):
        records[name] = images[name]
    records["start_ns"], records["end_ns"] = np.where(went, 0, time), np.where(went, time, until)
    records["cached"] = images["device"] == 0
    largest = np.minimum(records["address"], _MAX_ADDRESS - _LARGEST) + _LARGEST
    records["limit"] = np.minimum(np.where(records["cached"], cache_end, _MAX_ADDRESS), largest)
    linkers = records["process"][[path == _LINKER for path in paths]] if len(images) else records["process"]
    records["whole"] = np.isin(records["process"], linkers)
    result = Images(records, tuple(uuids), paths)
    if len(result.unmaps_ns) > limits.MAX_UNMAPS:
        raise DamageError(f"images were unmapped more than {limits.MAX_UNMAPS:,} times")
    return result


def with_saved_images(images: Images, saved: Mapping[int, Sequence[SavedImage]]) -> Images:
    """The images with those that were saved, by process, and the sizes of all of them. O(images log images)."""
    sizes = {(process, image.address, image.identity): image.size for process, some in saved.items() for image in some}
    loaded = set(zip(*(images.records[name].tolist() for name in ("process", "address")), images.uuids, strict=True))
    more = [
        (process, image)
        for process, some in saved.items()
        for image in some
        # What was unloaded was so at a time of another clock.
        if image.stayed and (process, image.address, image.identity) not in loaded
    ]
    added = [(of, image.address, 0, ALWAYS, image.cached, image.address + image.size, 0, True) for of, image in more]
    records = np.append(images.records, np.array(added, _IMAGE))
    order = np.lexsort((records["address"], records["process"]))
    records = records[order]
    uuids = np.array([*images.uuids, *(image.identity for _, image in more)], object)[order].tolist()
    paths = np.array([*images.paths, *(image.path for _, image in more)], object)[order].tolist()
    places = zip(records["process"].tolist(), records["address"].tolist(), uuids, strict=True)
    records["size"] = [sizes.get(place, 0) for place in places]
    records["whole"] |= np.isin(records["process"], list(saved))
    return Images(records, tuple(uuids), tuple(paths))


def _paths_at(
    files: BundleFiles, stores: Sequence[Store], values: RunValues, numbers: UInt64Array, times: IntArray
) -> tuple[str | None, ...]:
    """The latest path of each number up to a time; where it was recorded later only, the first one. A number may be
    used again once it was withdrawn."""
    parts = [ordered_columns(files, store, "time", "raw-string-id", "raw-string") for store in stores]
    time, number, text = (
        np.concatenate([np.zeros(0, np.uint64), *(part[column] for part in parts)]) for column in range(3)
    )
    distinct, code = np.unique(text, return_inverse=True)
    texts = values.text_of_strings(distinct) if len(distinct) else []
    order = np.flatnonzero(np.array([*map(bool, texts)], np.bool_)[code])
    order = order[np.lexsort((time[order], number[order]))]
    number, time, code = number[order], time[order].astype(np.int64), code[order]
    first, after = (np.searchsorted(number, numbers, side) for side in ("left", "right"))
    result: list[str | None] = []
    for begin, end, until in zip(first.tolist(), after.tolist(), times.tolist(), strict=True):
        latest = begin + int(np.searchsorted(time[begin:end], until, "right")) - 1
        result.append(texts[code[max(latest, begin)]] if begin < end else None)
    return tuple(result)
