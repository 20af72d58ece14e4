"""What compressing weights that are not compressed yet would save, worked out from their number and type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tracekit.model_files.facts import BITS, FLOATS, Weight

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
