"""Specifications (`.mlmodel`, protobuf) as messages of coremltools, within bounded memory.

Only the message types of coremltools are loaded: importing the package itself takes a second, for the converter.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import Any

from tracekit.model_files.untrusted import UnreadableModel, quote

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

    _check_size(data, types.Model.DESCRIPTOR, path)
    model = types.Model()
    try:
        model.ParseFromString(data)
    except (DecodeError, ValueError, RuntimeError, MemoryError):
        raise _damage_error(path) from None
    if model.specificationVersion < 1 or model.WhichOneof("Type") is None:
        raise UnreadableModel(f"{quote(path)} is not a Core ML specification: it names no version or no kind of model")
    return model


def _damage_error(path: Path) -> UnreadableModel:
    return UnreadableModel(
        f"{quote(path)} is truncated or damaged, or not a Core ML specification; copy or download it again"
    )


def _check_size(data: bytes, descriptor: Any, path: Path) -> None:
    """Raise `UnreadableModel` for a specification that a few bytes of each message would blow up. O(fields)."""
    if len(data) <= SMALL_BYTES:
        return
    bytes_in_memory, limit = 0, MAX_BYTES + 2 * len(data)
    view = memoryview(data)
    pending = [(0, len(data), descriptor)]
    while pending:
        position, end, kind = pending.pop()
        fields = kind.fields_by_number
        while position < end:
            key, position = _varint(view, position, end, path)
            wire = key & 7
            if wire == 0:
                _, position = _varint(view, position, end, path)
            elif wire in (1, 5):
                position += 8 if wire == 1 else 4
            elif wire == 2:
                length, position = _varint(view, position, end, path)
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
                raise _damage_error(path)
            if position > end:
                raise _damage_error(path)
            if bytes_in_memory > limit:
                raise UnreadableModel(f"{quote(path)} describes more than a model can hold; it is damaged or hostile")


def _varint(view: memoryview, position: int, end: int, path: Path) -> tuple[int, int]:
    """A number and the position after it."""
    value = shift = 0
    while position < end and shift < 70:
        byte = view[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise _damage_error(path)
