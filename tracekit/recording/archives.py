"""Zip archives of exports, read as streams and never unpacked to disk.

Everything an archive claims about itself is checked before a member is opened.
"""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Final

from tracekit.errors import UnreadableRecording
from tracekit.recording import limits
from tracekit.recording.quoting import words_of_error

MAGIC: Final = (b"PK\x03\x04", b"PK\x05\x06")
"""First bytes of an archive, with members and without."""

PACK_AGAIN: Final = "pack the exported XML files again, or pass their folder"
"""What helps against an unusable archive."""
_CUT_OFF: Final = "its list of members is missing, the file may be cut off"

_END = struct.Struct("<4s4H2LH")
_END64_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_MAX_COMMENT = 65_535
ARCHIVE_SUFFIXES: Final = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")
"""Names of archives inside an archive, which are refused."""


@dataclass(frozen=True, slots=True)
class Member:
    """One file inside an archive."""

    path: str
    size: int
    """Size unpacked, as the archive declares it; no more than this is ever read."""
    open: Callable[[], AbstractContextManager[BinaryIO]]


def members(stream: BinaryIO, label: str) -> list[Member]:
    """The files of an archive, in order of their names. `stream` must stay open. Raises `UnreadableRecording`."""
    try:
        _check_directory(stream, label)
        archive = zipfile.ZipFile(stream)
        packed_size = stream.seek(0, 2)
    except (zipfile.BadZipFile, struct.error, ValueError, NotImplementedError, UnicodeDecodeError) as error:
        raise UnreadableRecording(f"{label} is a damaged archive ({words_of_error(error)}); copy it again") from error
    for info in archive.infolist():
        # Refuse what no archive of exports contains.
        name = info.filename
        if not name:
            raise UnreadableRecording(f"{label} contains a file without a name; {PACK_AGAIN}")
        parts = name.replace("\\", "/").split("/")
        quoted = repr(name[:80])
        if ".." in parts or name.startswith(("/", "\\")) or name[1:2] == ":" or "\\" in name:
            raise UnreadableRecording(
                f"{label} contains the path {quoted}, which leads out of the archive; {PACK_AGAIN}"
            )
        if stat.S_ISLNK(info.external_attr >> 16):
            raise UnreadableRecording(f"{label} contains the symbolic link {quoted}; {PACK_AGAIN}")
        if info.flag_bits & 0x1:
            raise UnreadableRecording(f"{label} is encrypted; unpack it and pass the folder")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UnreadableRecording(f"{label} compresses {quoted} with a method other than deflate; {PACK_AGAIN}")
        allowed = limits.MAX_COMPRESSION_RATIO * max(info.compress_size, 1)
        if info.file_size > limits.RATIO_FREE_BYTES and info.file_size > allowed:
            raise UnreadableRecording(
                f"{label} has a compression ratio above {limits.MAX_COMPRESSION_RATIO} for {quoted}, like a zip bomb; "
                f"{PACK_AGAIN}"
            )
    paths = ((info, info.filename) for info in archive.infolist() if not info.is_dir())
    # Without hidden files, and what the Finder adds.
    files = [info for info, path in paths if not path.startswith("__MACOSX/") and not base_name(path).startswith(".")]
    unpacked_size = sum(info.file_size for info in files)
    if unpacked_size > limits.MAX_UNPACKED_BYTES:
        raise UnreadableRecording(
            f"{label} would unpack to more than {limits.MAX_UNPACKED_BYTES:,} bytes; {PACK_AGAIN}"
        )
    if unpacked_size > max(limits.UNPACKED_FREE_BYTES, limits.MAX_COMPRESSION_RATIO * packed_size):
        raise UnreadableRecording(
            f"{label} has a compression ratio above {limits.MAX_COMPRESSION_RATIO}, like a zip bomb; {PACK_AGAIN}"
        )
    if sum(info.compress_size for info in files) > packed_size:
        raise UnreadableRecording(f"{label} has members that overlap, like a zip bomb; {PACK_AGAIN}")
    files.sort(key=lambda info: (info.filename, info.header_offset))
    return [Member(info.filename, info.file_size, _opener(archive, info, label)) for info in files]


def _opener(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, label: str
) -> Callable[[], AbstractContextManager[BinaryIO]]:
    @contextmanager
    def open_member() -> Iterator[BinaryIO]:
        try:
            with archive.open(info) as stream:
                yield stream  # type: ignore[misc]  # ZipExtFile has all that is read from a BinaryIO
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
            raise UnreadableRecording(
                f"{base_name(info.filename)[:80]!r} in {label} is damaged ({words_of_error(error)}); {PACK_AGAIN}"
            ) from error

    return open_member


def base_name(path: str) -> str:
    """Last part of the path of a member."""
    return path.rsplit("/", 1)[-1]


def _check_directory(stream: BinaryIO, label: str) -> None:
    """Refuse a list of members that would not fit into memory, before `zipfile` reads it whole.

    Layout of the end records: PKWARE APPNOTE 6.3.10, sections 4.3.14 to 4.3.16.
    """
    size = stream.seek(0, 2)
    start = max(0, size - _END.size - _MAX_COMMENT)
    stream.seek(start)
    tail = stream.read()
    record = tail.rfind(b"PK\x05\x06")
    if record < 0:
        raise zipfile.BadZipFile(_CUT_OFF)
    end = _END.unpack_from(tail, record)
    entries, directory = end[4], end[5]
    locator = record - _END64_LOCATOR.size
    if locator >= 0 and tail.startswith(b"PK\x06\x07", locator):
        stream.seek(min(_END64_LOCATOR.unpack_from(tail, locator)[2], size))
        end64 = _END64.unpack(stream.read(_END64.size))
        entries, directory = end64[7], end64[8]
    elif end[6] + directory < start + record:
        # The list is that of an archive inside, at which the file was cut off.
        raise zipfile.BadZipFile(_CUT_OFF)
    if entries > limits.MAX_FILES or directory > limits.MAX_DIRECTORY_BYTES:
        raise UnreadableRecording(f"{label} contains more than {limits.MAX_FILES:,} files; {PACK_AGAIN}")
