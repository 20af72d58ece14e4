"""The files of a bundle, in a folder or in a zip archive, without unpacking anything to disk."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from io import BytesIO, FileIO
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final, cast

from zlib_ng import zlib_ng

from tracekit.errors import UnreadableRecording
from tracekit.recording import archives
from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.quoting import quote_name, words_of_error
from tracekit.recording.sources import BUNDLE_PARTS, BUNDLE_SUFFIX, STANDARD_INPUT, is_bundle, os_error

# The types of the package declare an exception where the class of one is meant.
_INFLATION_ERROR: Final = cast("type[Exception]", zlib_ng.error)
_ZLIB: Final = (b"\x78\x01", b"\x78\x9c", b"\x78\xda")
_STORED_PIECE: Final = 1 << 16
_PIECE: Final = 1 << 18
"""Stays in the caches of a processor until it is used."""


@dataclass(slots=True, weakref_slot=True)
class BundleFiles:
    """The files of one bundle."""

    name: str
    """Last part of the path that was given."""
    sizes: Mapping[str, int]
    """Size of each file by its path inside the bundle, with forward slashes."""
    opener: Callable[[str], AbstractContextManager[BinaryIO]]
    """Opens a file. Raises OSError or `UnreadableRecording`."""
    notes: list[str] = field(default_factory=list)
    links: int = 0
    """Symbolic links and special files that were left out."""
    _folders: dict[str, dict[str, None]] = field(default_factory=dict)
    """Names directly inside each folder, once asked for."""

    def children(self, folder: str) -> list[str]:
        """Names directly inside a folder, sorted; `""` is the bundle itself."""
        if not self._folders:
            for path in self.sizes:
                parts = path.split("/")
                for depth, part in enumerate(parts):
                    self._folders.setdefault("/".join(parts[:depth]), {})[part] = None
        return sorted(self._folders.get(folder, ()))

    def below(self, path: str) -> list[str]:
        """Paths of the file at a path, or of all files below it."""
        if path in self.sizes:
            return [path]
        return [file for name in self.children(path) for file in self.below(f"{path}/{name}" if path else name)]

    @contextmanager
    def open(self, path: str) -> Iterator[BinaryIO]:
        """A file as it lies in the bundle. Raises `DamageError`."""
        try:
            with self.opener(path) as stream:
                yield stream
        except UnreadableRecording as error:
            raise DamageError(str(error).partition("; ")[0]) from error
        except OSError as error:
            raise DamageError(f"{_short(path)} cannot be read: {words_of_error(error)}") from error

    def read(self, path: str, limit: int, free: int | None = None) -> bytes:
        """Content of a file, inflated where it is compressed. Raises `DamageError`, also above `limit` bytes.

        free: above so many bytes it may not be more than `limits.MAX_SHARED_INFLATION` times as large as it is stored.
        """
        allowed = limit if free is None else max(free, limits.MAX_SHARED_INFLATION * self.stored_size(path))
        content = BytesIO()
        for piece in self.pieces(path, min(limit, allowed)):
            content.write(piece)
        # Shares what was written; pieces that were joined would be held twice.
        return content.getvalue()

    def pieces(self, path: str, limit: int) -> Iterator[bytes]:
        """The same from front to back, at most `_PIECE` bytes at a time: what is large need not be held whole.

        Files are stored either raw or as one zlib stream; the first two bytes show which.
        """
        size = self.stored_size(path)
        # Compressing what cannot be compressed adds some bytes.
        if size > limit + limit // 1000 + 64:
            raise DamageError(f"{_short(path)} is larger than {limit:,} bytes")
        with self.open(path) as stream:
            stored = _raw_chunks(stream, size, path)
            first = next(stored, b"")
            stored = chain((first,), stored)
            yield from _inflate(stored, path, limit) if first[:2] in _ZLIB else stored

    def stored_size(self, path: str) -> int:
        """Size of a file as it lies in the bundle. Raises `DamageError` where it is absent."""
        if path not in self.sizes:
            raise DamageError(f"{_short(path)} is missing")
        return self.sizes[path]

    def beginning(self, path: str, count: int) -> bytes:
        """The first bytes of a file, inflated. Raises `DamageError`."""
        self.stored_size(path)
        with self.open(path) as stream:
            raw = stream.read(max(count, 4096))
        if raw[:2] not in _ZLIB:
            return raw[:count]
        try:
            return zlib_ng.decompressobj().decompress(raw, count)
        except _INFLATION_ERROR as error:
            raise DamageError(f"{_short(path)} is damaged: {words_of_error(error)}") from error


def find_bundle(paths: Sequence[str | Path]) -> BundleFiles | None:
    """The bundle behind the paths; None where they mean something else.

    Raises `UnreadableRecording` for a bundle among other paths, and for an archive with several bundles.
    """
    for given in paths:
        if str(given) == STANDARD_INPUT:
            continue
        path = Path(given)
        try:
            bundle = _bundle_at(path)
        except (OSError, ValueError):
            # The reader of exports says what is wrong with the path, in one way for all kinds of input.
            return None
        if bundle is not None and len(paths) > 1:
            raise UnreadableRecording(
                f"only one recording can be read at a time (got {len(paths)} paths, and {quote_name(path.name)} is a "
                "whole recording); to compare two: tracekit view A B"
            )
        if bundle is not None:
            return bundle
    return None


def _bundle_at(path: Path) -> BundleFiles | None:
    if path.is_dir():
        if not is_bundle(path) and path.resolve().suffix != BUNDLE_SUFFIX:
            return None
        sizes: dict[str, int] = {}
        # Links are left out, so that nothing outside is read.
        links = _scan(path, "", sizes, 0)
        # Read in large pieces: a buffer and a path for each of a hundred small files take as long as opening them.
        files = BundleFiles(path.name or path.resolve().name, sizes, lambda name: FileIO(f"{path}/{name}"), links=links)
        if links:
            files.notes.append(f"{links} symbolic links inside the bundle were ignored")
        return files
    if not path.is_file():
        return None
    with path.open("rb") as stream:
        if not stream.read(4).startswith(archives.MAGIC):
            return None
    # The bundle inside a zip archive, unless the archive holds none, or exports beside it.
    with ExitStack() as resources:
        stream = resources.enter_context(path.open("rb"))
        members = {member.path: member for member in archives.members(stream, quote_name(path.name))}
        roots = {root for name in members if (root := _root(name)) is not None}
        outside = [name for name in members if not any(name.startswith(root) for root in roots)]
        if not roots or any(name.lower().endswith(".xml") for name in outside):
            return None
        if len(roots) > 1:
            names = ", ".join(quote_name(root.rstrip("/").rsplit("/", 1)[-1]) for root in sorted(roots)[:5])
            raise UnreadableRecording(
                f"{quote_name(path.name)} contains {len(roots)} trace bundles ({names}); unpack it and pass one of them"
            )
        root = roots.pop()
        if any(name.count("/") - root.count("/") > limits.MAX_FOLDER_DEPTH for name in members):
            raise _too_deep(path)
        sizes = {name[len(root) :]: member.size for name, member in members.items() if name.startswith(root)}
        held = resources.pop_all()
    files = BundleFiles(path.name, sizes, lambda name: members[root + name].open())
    weakref.finalize(files, held.close)
    return files


def _scan(top: Path, folder: str, sizes: dict[str, int], depth: int) -> int:
    """Add the files below a folder to `sizes`; returns the number of links and special files met."""
    if depth > limits.MAX_FOLDER_DEPTH:
        raise _too_deep(top)
    links = 0
    try:
        with os.scandir(f"{top}/{folder}") as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    links += _scan(top, path, sizes, depth + 1)
                elif entry.is_file(follow_symlinks=False):
                    sizes[path] = entry.stat(follow_symlinks=False).st_size
                else:
                    links += 1
                if len(sizes) > limits.MAX_FILES:
                    raise UnreadableRecording(
                        f"{quote_name(top.name)} contains more than {limits.MAX_FILES:,} files, more than any trace "
                        "bundle; check the path"
                    )
    except OSError as error:
        raise os_error(quote_name(top.name), error) from error
    return links


def _root(member: str) -> str | None:
    """Folder of the bundle that a member of an archive belongs to, with its last slash; None where it is of none."""
    folders = member.split("/")
    for depth, name in enumerate(folders):
        if name.endswith(BUNDLE_SUFFIX) and depth < len(folders) - 1:
            return "/".join(folders[: depth + 1]) + "/"
        if name in BUNDLE_PARTS:
            return "".join(f"{folder}/" for folder in folders[:depth])
    return None


def _raw_chunks(stream: BinaryIO, size: int, path: str) -> Iterator[bytes]:
    """The bytes of a file as they lie in the bundle."""
    while size:
        piece = stream.read(min(size, _STORED_PIECE))
        if not piece:
            raise DamageError(f"{_short(path)} is cut off")
        size -= len(piece)
        yield piece


def _inflate(stored: Iterable[bytes], path: str, limit: int) -> Iterator[bytes]:
    stream, count = zlib_ng.decompressobj(), 0
    # What is left to be written when all is read comes out of nothing.
    for piece in chain(stored, (b"",)):
        if stream.eof and piece:
            raise DamageError(f"{_short(path)} has bytes after its end")
        rest = piece
        while not stream.eof:
            try:
                data = stream.decompress(rest, _PIECE)
            except _INFLATION_ERROR as error:
                raise DamageError(f"{_short(path)} is damaged: {words_of_error(error)}") from error
            count += len(data)
            if count > limit:
                raise DamageError(f"{_short(path)} inflates to more than {limit:,} bytes")
            if data:
                yield data
            rest = stream.unconsumed_tail
            if not rest and len(data) < _PIECE:
                break
        if stream.unused_data:
            raise DamageError(f"{_short(path)} has bytes after its end")
    if not stream.eof:
        raise DamageError(f"{_short(path)} is cut off")


def _short(path: str) -> str:
    """The last parts of a path inside the bundle, as messages call a file."""
    return quote_name("/".join(path.split("/")[-2:]))


def _too_deep(path: Path) -> UnreadableRecording:
    return UnreadableRecording(
        f"{quote_name(path.name)} contains folders nested too deep for a trace bundle; check the path"
    )
