"""Which images lay where, as Instruments saved it in `form.template` for its symbols. It knows the ones that were there
before the recording began, which no table lists, and the size of each.

One list for each process of a run, and the images of the shared cache once, by cache and place in it:

list    six u32 (mark, 1, pid, kernel, 0x2000, number of images), the images, and where the shared cache lay
image   UUID, u32, u32 flags, u64 first and u64 last time, four u32 (CPU type and subtype, segments, bytes of the path),
        path, segments (name of 16 bytes, u64 address, u64 size)
cache   two u32 (mark, 4), UUID and u64 load address; no UUID and 0 where the list has the images of the cache itself
"""

from __future__ import annotations

import struct
import uuid
from dataclasses import dataclass, replace
from typing import Final

from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.bundle.archive import KeyedArchive, read_archive
from tracekit.recording.bundle.files import BundleFiles
from tracekit.recording.bundle.run_metadata import PATH

_LIST: Final = struct.Struct("<6I")
_IMAGE: Final = struct.Struct("<16sIIQQ4I")
_SEGMENT: Final = struct.Struct("<16sQQ")
_CACHE: Final = struct.Struct("<II16sQ")
_MARK, _CACHE_MARK = 0xFF01FF02, 0x00C0FFEE
_KERNEL: Final = 1
_IN_CACHE: Final = 0x200
"""Flag of images in the shared cache (inferred: all of those, and no other, have it)."""
_STAYED: Final = (1 << 63) - 1
_MAX_ADDRESS: Final = 1 << 47
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
    if not places or len(trailer) < _CACHE.size:
        return ()
    mark, _, identity, base = _CACHE.unpack_from(trailer)
    cache = caches.get(identity)
    if mark != _CACHE_MARK or cache is None or base >= _MAX_ADDRESS:
        return ()
    data = [_data(archive, cache.get(archive.value(place))) for place in places]
    images = [image for archived in data if archived for image in _images(archived)[2]]
    return tuple(replace(image, address=image.address + base, cached=True) for image in images)


def _images(data: bytes) -> tuple[int, bool, tuple[SavedImage, ...], int]:
    """Pid, whether it is the kernel, images, and where they end in the data."""
    try:
        mark, _, pid, kernel, _, count = _LIST.unpack_from(data)
        if mark != _MARK or count > len(data) // _IMAGE.size:
            raise DamageError(f"'{PATH}' lists images in an unknown form")
        at, images = _LIST.size, []
        for _ in range(count):
            identity, _, flags, _, last, _, _, segments, length = _IMAGE.unpack_from(data, at)
            at += _IMAGE.size
            path = data[at : at + length].partition(b"\0")[0].decode(errors="replace")
            at += length
            end = at + segments * _SEGMENT.size
            if end > len(data):
                raise DamageError(f"'{PATH}' lists an image that is cut off")
            for name, address, size in _SEGMENT.iter_unpack(data[at:end]):
                if name.rstrip(b"\0") == _TEXT and 0 < size < _MAX_ADDRESS and address < _MAX_ADDRESS:
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
