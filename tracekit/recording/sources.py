"""Which files a path means: one file, a folder, an archive, standard input.

The first bytes of a file show what it is; names only decide whether something unusable is worth a note.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from tracekit.errors import UnreadableRecording, nothing_at
from tracekit.recording import archives, limits
from tracekit.recording.quoting import quote_name
from tracekit.units import format_names

STANDARD_INPUT: Final = "-"
READABLE: Final = "pass a .trace bundle, or XML that `xcrun xctrace export` wrote"
"""What is readable."""

BUNDLE_SUFFIX: Final = ".trace"
BUNDLE_PARTS: Final = frozenset({"corespace", "form.template", "open.creq", "instrument_data", "shared_data"})
"""Names at the top of a trace bundle; no folder of exports has them."""
_PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"7z\xbc\xaf": "7-Zip",
    b"bplist00": "property list",
}


@dataclass(frozen=True, slots=True)
class Source:
    """One file to read, wherever it lies."""

    name: str
    """Last part of its path."""
    label: str
    """How messages call it, quoted."""
    size: int
    """Bytes, unpacked."""
    opener: Callable[[], AbstractContextManager[BinaryIO]]
    """Opens it from the beginning. Raises OSError or `UnreadableRecording`."""
    explicit: bool
    """Whether the user named this very file. What a folder or archive holds besides exports is no error."""

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """It from the beginning. Raises `UnreadableRecording`."""
        try:
            with self.opener() as stream:
                yield stream
        except OSError as error:
            raise os_error(self.label, error) from error


@dataclass(slots=True, weakref_slot=True)
class Inputs:
    """Everything that the given paths mean."""

    name: str
    """Last part of the first path, or `standard input`."""
    sources: list[Source] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    bundles: list[str] = field(default_factory=list)
    """Names of trace bundles that were met and not read."""
    met: int = 0
    """How many entries of folders were looked at."""
    held: ExitStack = field(default_factory=ExitStack)
    """Archives and spooled input, open as long as this object lives, since they are read from later."""


def resolve(paths: Sequence[str | Path]) -> Inputs:
    """The files behind the paths, in a stable order. Raises `UnreadableRecording`."""
    if not paths:
        raise UnreadableRecording("no path given; pass XML files, a folder or zip of them, or - for standard input")
    first = "standard input" if str(paths[0]) == STANDARD_INPUT else Path(paths[0]).name or str(paths[0])
    inputs = Inputs(format_names([first, *map(str, paths[1:])], 1))
    weakref.finalize(inputs, inputs.held.close)
    seen: set[Path] = set()
    for given in paths:
        path = Path(given)
        try:
            if str(given) == STANDARD_INPUT:
                _add_file(inputs, _spooled_standard_input(inputs.held))
                continue
            if not str(given).strip():
                raise UnreadableRecording("a path is empty; pass XML files, a folder or zip of them, or -")
            resolved = path.resolve()
            if resolved in seen:
                inputs.notes.append(f"{quote_name(path.name)} was passed twice and read once")
                continue
            seen.add(resolved)
            mode = path.stat().st_mode
            if stat.S_ISDIR(mode):
                # Several folders may hold files of the same names.
                _add_folder(inputs, path, resolved, 0, path.name if len(paths) > 1 else "")
            elif stat.S_ISREG(mode):
                _add_file(inputs, _file_source(path, path.name, explicit=True))
            else:
                raise UnreadableRecording(
                    f"{quote_name(path.name)} is not a regular file; pass - to read an export from standard input"
                )
        except OSError as error:
            raise os_error(quote_name(str(given)), error) from error
        except (ValueError, RuntimeError) as error:
            raise UnreadableRecording(f"{str(given)[:80]!r} is not a usable path ({error})") from error
    return inputs


def os_error(label: str, error: OSError) -> UnreadableRecording:
    """What the operating system refused, as a sentence."""
    if isinstance(error, FileNotFoundError):
        return nothing_at(label.removeprefix("'").removesuffix("'"))
    reason = error.strerror or type(error).__name__
    return UnreadableRecording(f"{label} cannot be read: {reason[0].lower() + reason[1:]}")


def is_bundle(path: Path) -> bool:
    """Whether a folder is a trace bundle, by its name or by what lies in it."""
    return path.suffix == BUNDLE_SUFFIX or any((path / part).exists() for part in BUNDLE_PARTS)


def _add_folder(inputs: Inputs, folder: Path, top: Path, depth: int, within: str) -> None:
    """Add what a folder holds. `within` is its path as messages show it: from the folder that was given on."""
    for path in sorted(folder.iterdir()):
        inputs.met += 1
        if inputs.met > limits.MAX_FILES:
            raise UnreadableRecording(
                f"{quote_name(top.name)} contains more than {limits.MAX_FILES:,} files; pass only the exports"
            )
        if path.name.startswith("."):
            continue
        label = f"{within}/{path.name}" if within else path.name
        if path.is_symlink() and (not path.exists() or path.is_dir() or not path.resolve().is_relative_to(top)):
            inputs.notes.append(
                f"{quote_name(path.name)} is a link out of the folder or to another folder and was ignored"
            )
        elif path.is_dir():
            if is_bundle(path):
                inputs.bundles.append(path.name)
            elif depth < limits.MAX_FOLDER_DEPTH:
                _add_folder(inputs, path, top, depth + 1, label)
            else:
                inputs.notes.append(f"folder {quote_name(path.name)} is nested too deep and was ignored")
        elif path.is_file():
            _add_file(inputs, _file_source(path, label, explicit=False))


def _file_source(path: Path, shown: str, *, explicit: bool) -> Source:
    return Source(path.name, quote_name(shown), path.stat().st_size, lambda: path.open("rb"), explicit)


def _spooled_standard_input(held: ExitStack) -> Source:
    """Standard input, copied to a temporary file, since a file is read more than once."""
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None or sys.stdin.isatty():
        raise UnreadableRecording("standard input is not a file or pipe; pipe an export into it, or pass a path")
    try:
        beginning = stream.read(limits.CHUNK_BYTES)
        if not beginning.startswith(archives.MAGIC) and not is_xml(beginning):
            # Refused before it is stored: a stream of something else may have no end.
            raise _not_xml("standard input", beginning)
        spool = held.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack is its context
        spool.write(beginning)
        while chunk := stream.read(limits.CHUNK_BYTES):
            spool.write(chunk)
            if spool.tell() > limits.MAX_UNPACKED_BYTES:
                raise UnreadableRecording(f"standard input has more than {limits.MAX_UNPACKED_BYTES:,} bytes")
        size = spool.tell()
    except OSError as error:
        raise os_error("standard input", error) from error

    def rewound() -> AbstractContextManager[BinaryIO]:
        spool.seek(0)
        return nullcontext(spool)

    return Source("standard input", "standard input", size, rewound, explicit=True)


def _add_file(inputs: Inputs, source: Source) -> None:
    """Add a file, or what an archive holds. What is not XML is an error where the user named it, else left out."""
    with source.open() as stream:
        beginning = stream.read(512)
    if beginning.startswith(archives.MAGIC):
        if source.explicit:
            _add_archive(inputs, source)
        else:
            inputs.notes.append(f"{source.label} is an archive among other files and was ignored")
    elif is_xml(beginning):
        inputs.sources.append(source)
    elif source.explicit:
        raise _not_xml(source.label, beginning)
    elif source.name.lower().endswith(".xml"):
        inputs.notes.append(f"{source.label} {_what_is(beginning)} and was ignored")


def is_xml(beginning: bytes) -> bool:
    """XML of another encoding is XML too; the parser refuses it with a sentence of its own."""
    return beginning.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<") or beginning.startswith(
        (b"\xff\xfe", b"\xfe\xff", b"\x00<", b"<\x00")
    )


def _not_xml(label: str, beginning: bytes) -> UnreadableRecording:
    return UnreadableRecording(f"{label} {_what_is(beginning)}; {READABLE}")


def _what_is(beginning: bytes) -> str:
    if not beginning.strip():
        return "is empty"
    packed = next((name for magic, name in _PACKED.items() if beginning.startswith(magic)), None)
    return f"is a {packed} file, not XML" if packed else "is not XML"


def _add_archive(inputs: Inputs, source: Source) -> None:
    stream = inputs.held.enter_context(source.open())
    members = archives.members(stream, source.label)
    for member in members:
        folders = member.path.split("/")[:-1]
        bundle = next((name for name in folders if name.endswith(BUNDLE_SUFFIX)), None)
        if bundle or any(part in member.path.split("/") for part in BUNDLE_PARTS):
            name = bundle or source.name
            if name not in inputs.bundles:
                inputs.bundles.append(name)
            continue
        name = archives.base_name(member.path)
        if name.lower().endswith(archives.ARCHIVE_SUFFIXES):
            raise UnreadableRecording(
                f"{source.label} contains another archive, {quote_name(name)}; {archives.PACK_AGAIN}"
            )
        label = f"{quote_name(name)} in {source.label}"
        _add_file(inputs, Source(name, label, member.size, member.open, explicit=False))


@dataclass(frozen=True, slots=True)
class Digest:
    """What identifies the bytes of a recording."""

    sha256: str
    of: str
    """`file`, `folder` or `files`."""
    files: int
    bytes: int
    """Of all files together."""


def digest_of(paths: Sequence[str | Path]) -> Digest | None:
    """SHA-256 of what the paths mean, so that two people can tell that they have the same recording; None for standard
    input, which can be read only once. Raises `UnreadableRecording` where a file cannot be read. O(bytes).

    Of a file it is that of its bytes; of a folder or several files that of a list in UTF-8, a line a file, by path:

        SHA-256 of the contents, two blanks, size in bytes, two blanks, path in the folder with `/` between its parts

    A link is listed with the path that it leads to as its contents; what the Finder adds (`.DS_Store`) is left out.
    """
    if any(str(path) == STANDARD_INPUT for path in paths):
        return None
    roots = [Path(path) for path in paths]
    try:
        if len(roots) == 1 and not roots[0].is_dir():
            sha256, size = _contents(roots[0].resolve())
            return Digest(sha256, "file", 1, size)
        listed = sorted((name.encode("utf-8", "surrogateescape"), path) for name, path in _files(roots))
        lines, total = hashlib.sha256(), 0
        for name, path in listed:
            sha256, size = _contents(path)
            lines.update(f"{sha256}  {size}  ".encode() + name + b"\n")
            total += size
    except OSError as error:
        raise UnreadableRecording(f"cannot read {error.filename or roots[0]}: {error.strerror or error}") from error
    return Digest(lines.hexdigest(), "folder" if len(roots) == 1 else "files", len(listed), total)


def _files(given: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """All files with the paths that they are listed under. Those of one folder are relative to it."""
    for path in given:
        above = path if len(given) == 1 else path.parent
        if not path.is_dir():
            yield path.name, path.resolve()
            continue
        for folder, folders, names in os.walk(path, onerror=_raise):
            linked = [name for name in folders if Path(folder, name).is_symlink()]
            for name in [*names, *linked]:
                if name != ".DS_Store":
                    file = Path(folder, name)
                    yield file.relative_to(above).as_posix(), file


def _raise(error: OSError) -> None:
    raise error


def _contents(path: Path) -> tuple[str, int]:
    """SHA-256 and size of a file, or of the text of a link."""
    if path.is_symlink():
        target = os.fsencode(path.readlink())
        return hashlib.sha256(target).hexdigest(), len(target)
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest(), stream.tell()
