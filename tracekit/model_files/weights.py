"""Weights of an ML program: what is stored, in which type, compressed how, and what compressing more would save.

Compression is a chain of operations whose names begin with `constexpr_`; the values that they take are their own
constants (iOS 16) or those of `const` operations (iOS 18). Source: `mil/ops/defs/iOS16/constexpr_ops.py` and
`iOS18/compression.py` of coremltools.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from tracekit.model_files.facts import (
    BITS,
    COMPRESSED,
    CONSTANTS,
    FLOATS,
    Function,
    Operation,
    Stored,
    Value,
    Weight,
    Weights,
    WeightState,
    is_constant,
)
from tracekit.model_files.untrusted import POINTER, check_inside, quote

_TECHNIQUES_BY_OPERATION = {
    "constexpr_lut_to_dense": ("palettized",),
    "constexpr_affine_dequantize": ("quantized",),
    "constexpr_blockwise_shift_scale": ("quantized",),
    "constexpr_sparse_to_dense": ("pruned",),
    "constexpr_lut_to_sparse": ("pruned", "palettized"),
    "constexpr_sparse_blockwise_shift_scale": ("pruned", "quantized"),
    "constexpr_cast": ("cast",),
}

SMALLEST = 16
"""Elements from which on a constant in the specification itself counts as weights; smaller ones set something up."""

_MAIN = ("quantized_data", "indices", "indices_nonzero_data", "data", "nonzero_data", "source_val")
"""Parameters that hold the values of a weight."""

_ORDER = ("pruned", "palettized", "quantized", "cast")
"""In which techniques are named."""

_SENTINEL = 0xDEADBEEF
_BLOB = struct.Struct("<IIQQ")
"""Sentinel, type, bytes and offset of the data: `MILBlob/Blob/StorageFormat.hpp` of coremltools."""


def weights_of_all(functions: Sequence[Function], folder: Path | None) -> Weights:
    """Weights of all functions of a program, whose files lie below `folder`; a tensor that functions share counts once.
    The files may be missing, stand-ins or damaged. O(operations)."""
    tensors: dict[object, Weight] = {}
    files: dict[str, dict[int, Stored]] = {}
    for number, function in enumerate(functions):
        # Tensors of weights of one function, in the order of the program. O(operations).
        operations = function.operations or ()
        makers = {value.name: entry for entry in operations if is_constant(entry) for value in entry.outputs}
        inner = {name for entry in operations if entry.type.startswith(COMPRESSED) for name in entry.inputs}
        weights = (
            _weight(entry, entry.outputs[0], makers)
            for entry in operations
            if is_constant(entry) and entry.outputs and not any(value.name in inner for value in entry.outputs)
        )
        for weight in tuple(weight for weight in weights if weight is not None):
            tensors.setdefault((number, weight.name) if weight.offset is None else weight.offset, weight)
        for operation in function.operations or ():
            for entry in operation.stored:
                if entry.offset is not None:
                    files.setdefault(entry.file or "", {}).setdefault(entry.offset, entry)
    listed = tuple(tensors.values())
    if not files:
        return inner_weights(listed)
    size = sum(entry.bytes for needed in files.values() for entry in needed.values())
    for name, needed in files.items():
        state, reason = _file_state(name, folder, needed.values())
        if state is not WeightState.FILE:
            return Weights(state, size, listed, reason)
    return Weights(WeightState.FILE, size, listed)


def inner_weights(tensors: tuple[Weight, ...]) -> Weights:
    """Weights that lie in the specification itself."""
    if not tensors:
        return Weights(WeightState.NONE, 0, ())
    return Weights(WeightState.INSIDE, sum(weight.bytes for weight in tensors), tensors)


def _weight(operation: Operation, value: Value, makers: Mapping[str, Operation]) -> Weight | None:
    if operation.type == CONSTANTS:
        data = operation.stored[0] if operation.stored else None
        if data is None or data.element in (None, "String") or not _is_data(data):
            return None
        bits = BITS.get(data.element or "")
        return Weight(value.name, data.element, data.element, data.count, data.bytes, bits=bits, offset=data.offset)
    chain = _chain(operation, makers)
    named: dict[str, Stored] = {}
    for entry in chain:
        for parameter, stored in _constants_by_parameter(entry, makers).items():
            named.setdefault(parameter, stored)
    parts = [stored for entry in chain for stored in entry.stored if _is_data(stored)]
    # Two constants may refer to the same place.
    sizes = {number if part.offset is None else (part.offset,): part.bytes for number, part in enumerate(parts)}
    main = next((named[name] for name in _MAIN if name in named), None)
    palette = named.get("lut")
    techniques = [name for entry in chain for name in _TECHNIQUES_BY_OPERATION.get(entry.type, ())]
    bits = BITS.get(main.element or "") if main else None
    # Indices of iOS 16 are packed into bytes: the size of the palette gives their bits.
    if palette is not None and main is not None and main.element == "UInt8" and len(palette.dimensions) == 1:
        bits = max((palette.count - 1).bit_length(), 1)
    return Weight(
        name=value.name,
        element=value.element,
        stored=main.element if main else None,
        count=math.prod(size or 0 for size in value.dimensions or ()),
        bytes=sum(sizes.values()),
        technique=tuple(sorted(set(techniques), key=_ORDER.index)),
        bits=bits,
        granularity=_granularity(chain, named, value),
        # Of iOS 18, the last size of a palette.
        vector=max(palette.dimensions[-1], 1) if palette is not None and len(palette.dimensions) > 2 else 1,
        offset=main.offset if main else None,
    )


def _is_data(stored: Stored) -> bool:
    """Whether it is stored with the weights, and does not only set something up."""
    return stored.offset is not None or stored.count >= SMALLEST


def _chain(operation: Operation, makers: Mapping[str, Operation]) -> list[Operation]:
    """The operation, and all that make what it takes, each once, its own first."""
    chain: dict[int, Operation] = {}
    pending = [operation]
    while pending:
        entry = pending.pop(0)
        if id(entry) not in chain:
            chain[id(entry)] = entry
            pending += [makers[name] for name in entry.inputs if name in makers]
    return list(chain.values())


def _constants_by_parameter(operation: Operation, makers: Mapping[str, Operation]) -> dict[str, Stored]:
    """The constant of each parameter of a compression, its own or that of a `const`."""
    if operation.type == CONSTANTS:
        return {}
    named = {stored.parameter: stored for stored in operation.stored}
    for parameter, names in operation.arguments:
        maker = makers.get(names[0]) if names else None
        if maker is not None and maker.type == CONSTANTS and maker.stored:
            named.setdefault(parameter, maker.stored[0])
        elif maker is not None and parameter == "lut" and maker.outputs:
            # A palette may itself be compressed; its shape still says what shares it.
            palette = maker.outputs[0]
            named.setdefault(
                parameter, Stored(parameter, palette.element, tuple(size or 0 for size in palette.dimensions or ()))
            )
    return named


def _granularity(chain: Sequence[Operation], named: Mapping[str, Stored], value: Value) -> str | None:
    palette = named.get("lut")
    if palette is not None:
        # iOS 18: one dimension for each of the weight, then entries of the palette and length of a vector.
        return _sharing_scope(palette.dimensions[:-2], value, "per group")
    scale = named.get("scale")
    if scale is None:
        return None
    if any(entry.type == "constexpr_affine_dequantize" for entry in chain):
        return "per channel" if scale.count > 1 else "per tensor"
    return _sharing_scope(scale.dimensions, value, "per block")


def _sharing_scope(sizes: Sequence[int], value: Value, several: str) -> str:
    """What shares a scale or a palette, of which there are `sizes` along the dimensions of the weight."""
    divided = [size == length for size, length in zip(sizes, value.dimensions or (), strict=False) if size > 1]
    if not divided:
        return "per tensor"
    return "per channel" if divided == [True] else several


def _file_state(name: str, folder: Path | None, needed: Iterable[Stored]) -> tuple[WeightState, str]:
    """What became of a weight file, and what is wrong with it."""
    path = None if folder is None else _place(name, folder)
    if path is None or not path.is_file():
        return WeightState.MISSING, f"{quote(PurePosixPath(name))} is missing; the specification refers to it"
    try:
        with path.open("rb") as stream:
            head = stream.read(64)
            if head.startswith(POINTER):
                return WeightState.POINTER, f"{quote(path)} is a Git LFS pointer; run `git lfs pull` in its repository"
            problem = _problem(stream, head, path.stat().st_size, needed)
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
    return (WeightState.DAMAGED, f"{quote(path)} {problem}") if problem else (WeightState.FILE, "")


def _place(name: str, folder: Path) -> Path | None:
    """Where a weight file lies: `@model_path/weights/weight.bin` is relative to the folder of the specification. None
    for a path that leads out of it; raises `UnreadableModel` for a link that does."""
    parts = [part for part in PurePosixPath(name.removeprefix("@model_path")).parts if part != "/"]
    if not parts or ".." in parts or "\0" in name:
        return None
    check_inside(folder.joinpath(*parts), folder)
    return folder.joinpath(*parts)


def _problem(stream: BinaryIO, head: bytes, size: int, needed: Iterable[Stored]) -> str:
    """What is wrong with a weight file of `size` bytes that begins with `head`, in words; empty where all that the
    program refers to lies in it. Raises OSError."""
    if len(head) < 8 or int.from_bytes(head[4:8], "little") not in (1, 2):
        return "is not a weight file of Core ML"
    for entry in needed:
        offset = entry.offset or 0
        stream.seek(min(offset, size))
        block = stream.read(_BLOB.size)
        if len(block) < _BLOB.size:
            return f"is truncated: it has {size:,} bytes, and a tensor begins at {offset:,}"
        sentinel, _, length, start = _BLOB.unpack(block)
        if sentinel != _SENTINEL:
            return f"does not belong to this model, or is damaged: no tensor begins at {offset:,}"
        if start + length > size:
            return f"is truncated: it has {size:,} bytes, and a tensor ends at {start + length:,}"
        if length < entry.bytes:
            return f"does not belong to this model: a tensor of {entry.bytes:,} bytes has {length:,} there"
    return ""


THRESHOLD = 2048
"""Elements from which on coremltools compresses a tensor (`weight_threshold`, its default)."""


@dataclass(frozen=True, slots=True)
class Technique:
    """A way to compress weights."""

    name: str
    version: int
    """Specification version that it needs in an ML program."""
    network_version: int | None
    """The same in an old network; None where these cannot do it."""
    size: Callable[[int, int], int]
    """Bytes of a tensor with it, from its number of elements and bits of each."""


@dataclass(frozen=True, slots=True)
class Saving:
    """What one technique would save."""

    technique: str
    saved_bytes: int
    """Estimate; scales of quantization, one in some hundred bytes, are left out."""
    bytes: int
    """Of all weights with it."""
    needs: int
    """Specification version."""


def _palettized(count: int, width: int) -> int:
    """Indices of `width` bits, and a palette of Float16."""
    return (count * width + 7) // 8 + 2 * (1 << width)


HALF = Technique("Float16 storage", 6, 2, lambda count, bits: count * min(bits, 16) // 8)
QUANTIZED = Technique("8-bit quantization", 7, 3, lambda count, _: count)
PALETTES_6 = Technique("6-bit palettes", 7, 3, lambda count, _: _palettized(count, 6))
PALETTES_4 = Technique("4-bit palettes", 7, 3, lambda count, _: _palettized(count, 4))
# With the mask of what is kept.
PRUNED = Technique("pruning of half", 7, None, lambda count, bits: count // 2 * bits // 8 + count // 8)
TECHNIQUES = (HALF, QUANTIZED, PALETTES_6, PALETTES_4, PRUNED)


def compressible(weights: Sequence[Weight]) -> tuple[Weight, ...]:
    """Tensors of floats without compression that coremltools would compress."""
    return tuple(
        weight for weight in weights if not weight.technique and weight.stored in FLOATS and weight.count >= THRESHOLD
    )


def savings_of(weights: Sequence[Weight], *, network: bool = False) -> tuple[Saving, ...]:
    """What each technique would still save, those that save nothing left out. `network`: in an old network."""
    open_ = compressible(weights)
    total = sum(weight.bytes for weight in weights)
    savings = []
    for technique in TECHNIQUES:
        needs = technique.network_version if network else technique.version
        saved = sum(each.bytes - technique.size(each.count, BITS[each.stored or "Float32"]) for each in open_)
        if saved > 0 and needs is not None:
            savings.append(Saving(technique.name, saved, total - saved, needs))
    return tuple(savings)
