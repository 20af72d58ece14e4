"""What lies at a path, and its facts.

Specifications (`.mlmodel`, protobuf) are read as messages of coremltools, within bounded memory. Only its message types
are loaded: importing the package itself takes a second, for the converter.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO

from tracekit.errors import suggest_path
from tracekit.model_files.compiled import METADATA, NETWORK, PROGRAM, read_compiled
from tracekit.model_files.compiler_json import read_json
from tracekit.model_files.core_ai import SUFFIXES, read_package
from tracekit.model_files.facts import Form, ModelFile
from tracekit.model_files.from_specification import model_of
from tracekit.model_files.untrusted import (
    MAX_FILES,
    MAX_SPECIFICATION_BYTES,
    MAX_TEXT_BYTES,
    UnreadableModel,
    check_inside,
    quote,
    read_bytes,
)

if TYPE_CHECKING:
    from tracekit.model_files.performance.facts import PerformanceReport

ARCHIVE = b"PK\x03\x04"
MODELS = (".mlpackage", ".mlmodel", ".mlmodelc", ".aimodel", ".aimodelc")
"""Names of models end so."""
MAX_UNPACKED_RATIO = 200
"""Bytes that one of an archive may become: specifications shrink to a tenth, weights hardly."""
EXPECTED = (
    "a .mlpackage, .mlmodel, .mlmodelc or .aimodelc, JSON from `xcrun coremlcompiler metadata`, or a performance report"
)


def read_model(path: Path | str) -> ModelFile:
    """Facts of the model at a path. Raises `UnreadableModel`. O(size of the specification)."""
    subject = read_subject(path)
    if not isinstance(subject, ModelFile):
        raise UnreadableModel(f"{quote(Path(path))} is a performance report; expected a model")
    return subject


def read_subject(path: Path | str) -> ModelFile | PerformanceReport:
    """The model or the performance report at a path. Raises `UnreadableModel`. O(size)."""
    file = Path(path)
    try:
        if file.name in ("", ".."):
            # A folder may be given as `.`, and its name is what the model is called.
            file = file.resolve()
        if file.is_dir():
            return _read_folder(file)
        if not file.exists():
            raise UnreadableModel(f"{quote(str(path))}: no such file or directory{suggest_path(str(path))}")
        if not file.is_file():
            raise UnreadableModel(f"{quote(file)} is neither a file nor a folder; expected {EXPECTED}")
        with file.open("rb") as stream:
            if stream.read(4) == ARCHIVE:
                return _read_archive(file)
        return _read_data(read_bytes(file, MAX_SPECIFICATION_BYTES), file, file.parent)
    except OSError as error:
        raise UnreadableModel(f"cannot read {quote(file)}: {error.strerror or error}") from None
    except ValueError:
        # For example a path with a zero byte.
        raise UnreadableModel(f"cannot read {quote(file)}: it is not a path") from None


def read_piped(stream: BinaryIO) -> ModelFile | PerformanceReport:
    """What a stream holds: the compiler's JSON, a specification or a report. Raises `UnreadableModel`."""
    data = stream.read(MAX_TEXT_BYTES + 1)
    if len(data) > MAX_TEXT_BYTES:
        raise UnreadableModel(f"standard input is too large: more than {MAX_TEXT_BYTES:,} bytes; give the file itself")
    return _read_data(data, Path("standard input"))


def models_in(folder: Path) -> list[Path]:
    """Models below a folder, sorted; what lies inside a model is none of its own. O(files)."""
    found = []
    for base, folders, names in os.walk(folder):
        models = [name for name in (*folders, *names) if Path(name).suffix in MODELS]
        folders[:] = [name for name in folders if name not in models and not name.startswith((".", "__MACOSX"))]
        found += [Path(base, name) for name in models if not name.startswith(".")]
    return sorted(found)


def _read_archive(file: Path) -> ModelFile | PerformanceReport:
    """The one model in an archive, as packages are attached to issues. Raises OSError, `UnreadableModel`."""
    try:
        with zipfile.ZipFile(file) as archive, tempfile.TemporaryDirectory(prefix="tracekit-") as folder:
            entries = archive.infolist()
            size = sum(entry.file_size for entry in entries)
            if len(entries) > MAX_FILES or size > MAX_UNPACKED_RATIO * file.stat().st_size + SMALL_BYTES:
                raise UnreadableModel(f"{quote(file)} unpacks to {size:,} bytes, more than a model would; unpack it")
            # Names that lead out of the folder lose what leads there, and links become files.
            archive.extractall(folder)
            models = models_in(Path(folder))
            if len(models) != 1:
                found = ", ".join(quote(model) for model in models[:4])
                raise UnreadableModel(f"{quote(file)} has {found or 'no model'}; unpack it, and give the model in it")
            # An archive in the archive is refused.
            (model,) = models
            return _read_folder(model) if model.is_dir() else _read_data(read_bytes(model, size), model, model.parent)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError):
        raise UnreadableModel(f"{quote(file)} is a damaged or encrypted archive; unpack it, or copy it again") from None


def _read_folder(folder: Path) -> ModelFile:
    if (folder / MANIFEST).exists() or folder.suffix == ".mlpackage":
        size = _checked_size(folder)
        path = specification_in(folder)
        message = parse_specification(read_bytes(path, MAX_SPECIFICATION_BYTES), path)
        return replace(model_of(message, folder.stem, folder.name, Form.PACKAGE, path.parent), bytes=size)
    if folder.suffix in SUFFIXES:
        size = _checked_size(folder)
        return replace(read_package(folder), bytes=size)
    if folder.suffix == ".mlmodelc" or any((folder / name).is_file() for name in (METADATA, PROGRAM, NETWORK)):
        size = _checked_size(folder)
        return replace(read_compiled(folder), bytes=size)
    raise UnreadableModel(f"{quote(folder)} is not a Core ML model; expected {EXPECTED}")


def _read_data(data: bytes, path: Path, folder: Path | None = None) -> ModelFile | PerformanceReport:
    """Facts from the content of a file of this name. `folder`: where its weights may lie, as in a package."""
    size = len(data)
    if not data:
        raise UnreadableModel(f"{quote(path)} is empty; expected {EXPECTED}")
    if data.startswith((ARCHIVE, b"\x1f\x8b")):
        # No model begins like that.
        raise UnreadableModel(f"{quote(path)} is an archive; unpack it, and give the model in it")
    # Whether an object or a list begins here, in any encoding of JSON: a shell of Windows redirects in UTF-16.
    beginning = data[:64]
    text = beginning.decode(json.detect_encoding(beginning), "ignore")
    if (text.lstrip()[:1] in ("{", "[")) and path.suffix != ".mlmodel":
        if size > MAX_TEXT_BYTES:
            raise UnreadableModel(f"{quote(path)} is too large for JSON about a model: {size:,} bytes")
        from tracekit.model_files.performance.read import report_in

        return report_in(data, path) or read_json(data, path)
    model = model_of(parse_specification(data, path), path.stem, path.name, Form.MODEL, folder)
    return replace(model, bytes=size)


def _checked_size(folder: Path) -> int:
    """Bytes of all files in a folder. Raises `UnreadableModel` where there are too many, and for a link out of it."""
    total = count = 0
    for base, folders, names in os.walk(folder):
        for path in (Path(base, name) for name in (*folders, *names)):
            count += 1
            if count > MAX_FILES:
                raise UnreadableModel(f"{quote(folder)} has more than {MAX_FILES:,} files; it is not a model")
            if path.is_symlink():
                check_inside(path, folder)
            total += 0 if path.is_dir() else path.lstat().st_size
    return total


MANIFEST = "Manifest.json"
_LARGEST = 1024 * 1024
"""Bytes of a manifest."""


def specification_in(package: Path) -> Path:
    """The file with the specification. Raises `UnreadableModel` where the manifest leads to none."""
    manifest = package / MANIFEST
    if not manifest.is_file():
        raise UnreadableModel(f"{quote(package)} has no 'Manifest.json'; it is incomplete, copy the whole folder")
    try:
        document = json.loads(read_bytes(manifest, _LARGEST))
        entries = document["itemInfoEntries"]
        entry = entries[document["rootModelIdentifier"]]
        name = entry["path"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UnreadableModel(f"'Manifest.json' in {quote(package)} is damaged: it names no specification") from None
    parts = PurePosixPath(name).parts if isinstance(name, str) and isinstance(entries, Mapping) else ()
    if not parts or ".." in parts or PurePosixPath(name).is_absolute():
        raise UnreadableModel(f"'Manifest.json' in {quote(package)} leads out of the package")
    path = package.joinpath("Data", *parts)
    if not path.is_file():
        raise UnreadableModel(
            f"{quote(package)} has no specification: {quote(path)}, which its manifest names, is missing"
        )
    return path


SMALL_BYTES = 1024 * 1024
"""Specifications up to this size are not asked what they would become: they cannot harm."""

MESSAGE_BYTES = 400
"""Bytes that a message takes at most, in protobuf and as one of our facts."""

NUMBER_BYTES = 40
"""The same for a whole number in a list."""

MAX_BYTES = 1024 * 1024 * 1024
"""Memory that a specification may take besides its weights. Real ones take a tenth of it."""

_TYPES = "tracekit_coremltools_proto"


@cache
def message_types() -> Any:
    """`Model_pb2` of coremltools. Raises `UnreadableModel` where coremltools is not installed."""
    if "coremltools.proto" in sys.modules:
        return importlib.import_module("coremltools.proto.Model_pb2")
    # Finds the package without importing it.
    installed = importlib.util.find_spec("coremltools")
    if installed is None or not installed.submodule_search_locations:
        raise UnreadableModel(
            "reading specifications needs coremltools, which is not available for this platform and Python; inspect "
            "the compiled model (.mlmodelc) or the output of `xcrun coremlcompiler metadata` instead"
        )
    folder = f"{installed.submodule_search_locations[0]}/proto"
    spec = importlib.util.spec_from_file_location(_TYPES, f"{folder}/__init__.py", submodule_search_locations=[folder])
    if spec is None or spec.loader is None:
        raise UnreadableModel("this version of coremltools has no message types; install coremltools 9 or newer")
    # The types register themselves by name: if coremltools is imported later, it gets the same ones.
    package = importlib.util.module_from_spec(spec)
    sys.modules[_TYPES] = package
    spec.loader.exec_module(package)
    return importlib.import_module(f"{_TYPES}.Model_pb2")


def parse_specification(data: bytes, path: Path) -> Any:
    """The `Model` message of a specification. Raises `UnreadableModel` for anything else."""
    types = message_types()
    from google.protobuf.message import DecodeError

    model = types.Model()
    try:
        _check_size(data, types.Model.DESCRIPTOR, path)
        model.ParseFromString(data)
    except (DecodeError, ValueError, RuntimeError, MemoryError):
        raise UnreadableModel(
            f"{quote(path)} is truncated or damaged, or not a Core ML specification; copy or download it again"
        ) from None
    if model.specificationVersion < 1 or model.WhichOneof("Type") is None:
        raise UnreadableModel(f"{quote(path)} is not a Core ML specification: it names no version or no kind of model")
    return model


def _check_size(data: bytes, descriptor: Any, path: Path) -> None:
    """Raise `UnreadableModel` for a specification that a few bytes of each message would blow up, ValueError for one
    that is damaged. O(fields)."""
    if len(data) <= SMALL_BYTES:
        return
    bytes_in_memory, limit = 0, MAX_BYTES + 2 * len(data)
    view = memoryview(data)
    pending = [(0, len(data), descriptor)]
    while pending:
        position, end, kind = pending.pop()
        fields = kind.fields_by_number
        while position < end:
            key, position = _varint(view, position, end)
            wire = key & 7
            if wire == 0:
                _, position = _varint(view, position, end)
            elif wire in (1, 5):
                position += 8 if wire == 1 else 4
            elif wire == 2:
                length, position = _varint(view, position, end)
                field = fields.get(key >> 3)
                inner = None if field is None else field.message_type
                if inner is not None:
                    pending.append((position, position + length, inner))
                    bytes_in_memory += MESSAGE_BYTES
                else:
                    # Packed whole numbers of one byte each become numbers of Python.
                    is_text = field is None or field.type in (field.TYPE_BYTES, field.TYPE_STRING, field.TYPE_FLOAT)
                    bytes_in_memory += length + 16 if is_text else NUMBER_BYTES * length
                position += length
            else:
                raise ValueError(f"no field has the wire type {wire}")
            if position > end:
                raise ValueError("a field is longer than its message")
            if bytes_in_memory > limit:
                raise UnreadableModel(f"{quote(path)} describes more than a model can hold; it is damaged or hostile")


def _varint(view: memoryview, position: int, end: int) -> tuple[int, int]:
    """A number and the position after it. Raises ValueError."""
    value = shift = 0
    while position < end and shift < 70:
        byte = view[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise ValueError("a number does not end")
