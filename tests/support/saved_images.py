"""`form.template` by hand, with the images that Instruments saves for its symbols."""

from __future__ import annotations

import plistlib
import struct
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from plistlib import UID

STAYED = (1 << 63) - 1
CACHE_UUID = uuid.UUID(int=9)
OUTSIDE, CACHED = 0x400, 0x200


@dataclass(frozen=True)
class Listed:
    """An image; its address is its place in the cache where it is listed with that."""

    identity: str
    address: int
    size: int
    path: str
    last: int = STAYED
    flags: int = OUTSIDE


def image_list(pid: int, *images: Listed, is_kernel: bool = False, cache: int = 0) -> bytes:
    """A list of images; `cache` is where the shared cache lies."""
    data = struct.pack("<6I", 0xFF01FF02, 1, pid, is_kernel, 0x2000, len(images))
    for image in images:
        path = image.path.encode() + bytes(8 - len(image.path) % 8)
        segments = [(b"__PAGEZERO", 0, 1 << 32), (b"__TEXT", image.address, image.size), (b"__DATA", 1, 1)]
        data += uuid.UUID(image.identity).bytes
        data += struct.pack("<IIQQ4I", 0, image.flags, 0, image.last, 0x0100000C, 2, len(segments), len(path)) + path
        data += b"".join(struct.pack("<16sQQ", *segment) for segment in segments)
    return data + struct.pack("<II16sQ", 0x00C0FFEE, 4, CACHE_UUID.bytes if cache else bytes(16), cache) + bytes(64)


def template(*lists: bytes, process: tuple[int, int], cached: Iterable[Listed] = ()) -> bytes:
    """`form.template` with these lists in run 1, and the images of a shared cache, which all processes have loaded.

    process: reference and pid of the one whose name is known.
    """
    objects: list[object] = ["$null"]

    def put(value: object) -> UID:
        objects.append(value)
        return UID(len(objects) - 1)

    def mapping(pairs: Iterable[tuple[UID, UID]]) -> UID:
        listed = list(pairs)
        return put({"NS.keys": [key for key, _ in listed], "NS.objects": [value for _, value in listed]})

    def texts(**fields: object) -> UID:
        return mapping((put(key), put(value)) for key, value in fields.items())

    places = {image.address: put({"NS.data": image_list(0, image)}) for image in cached}
    offsets = put({"NS.objects": [put(place) for place in places]})
    stores = [
        put({"$0": 10, "com.apple.xray.symbolstore.signature": put({"NS.data": data}), "dsc_load_addresses": offsets})
        for data in lists
    ]
    named = put({"NS.objects": [texts(coreValueSignature=process[0], displayName="App", _pid=process[1])]})
    run = mapping([(put("runInfo"), put({"_targetProcessName": put("App")})), (put("processDatas"), named)])
    caches = (
        mapping((put(place), data) for place, data in places.items())
        if places
        else put({"NS.keys": [], "NS.objects": []})
    )
    identity = put({"NS.uuidbytes": CACHE_UUID.bytes})
    top = {
        "com.apple.xray.run.data": put({"$0": put({"NS.objects": []}), "$1": mapping([(put(1), run)])}),
        "com.apple.xray.symbolstoremanager.symbolstores": mapping(
            [(put(1), mapping((put(f"device.{number}"), store) for number, store in enumerate(stores)))]
        ),
        "com.apple.xray.symbolstore.sharedcache.signatures": put({"NS.keys": [identity], "NS.objects": [caches]}),
    }
    document = {"$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": top, "$objects": objects}
    return plistlib.dumps(document, fmt=plistlib.FMT_BINARY, sort_keys=False)
