"""What is publicly known of what the Neural Engine's compiler refuses: one table, with who says it and where.

Apple publishes no list, and its compiler decides by chip, system and sizes, mostly without a message
(apple/coremltools#1780). Chips are counted by the generation of their Neural Engine: 13 is A14 and M1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from tracekit.errors import UsageError
from tracekit.model_files.facts import Function, Operation, Shape, Stored, Weight, is_constant


class Certainty(StrEnum):
    """Who says it."""

    APPLE = "Apple says"
    MEASURED = "measured"
    ONCE = "seen once"


@dataclass(frozen=True, slots=True)
class Limit:
    """Something that the Neural Engine may not run."""

    check: str
    """Id of the check that reports it."""
    words: str
    """What it is about, for a sentence."""
    certainty: Certainty
    source: str
    until: int | None = None
    """Last generation of chips that has it; None: all known ones."""
    doubtful: bool = False
    """Whether others saw it run all the same, or only a part of it left."""

    @property
    def says(self) -> str:
        """`measured`, `seen once, disputed`."""
        return f"{self.certainty}{', disputed' if self.doubtful else ''}"

    @property
    def chips(self) -> str:
        """`A16, M3 and older`; empty for all chips."""
        names = sorted(name for name, number in GENERATIONS.items() if number == self.until)
        return f"{', '.join(names)} and older" if names else ""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Sizes from which on something may not run. Checks set them by options of the same names."""

    max_size: int = 16_384
    max_size_newer: int = 65_536
    max_batch_or_channels: int = 65_536
    max_rank: int = 4
    max_elements: int = 67_108_864
    state_multiple: int = 32
    max_listed: int = 128
    max_mib: int = 2_048
    max_mib_macos27: int = 1_024
    max_vector: int = 16
    max_pieces: int = 10


NEWEST_OLD_SIZES = 15
"""Last generation with 16,384 as the limit of sizes: A16 and M3."""
GENERATIONS = {
    **{f"A{number}": number - 1 for number in range(13, 18)},
    **{f"A{number}": number - 2 for number in range(18, 21)},
    **{f"M{number}": number + 12 for number in range(1, 7)},
}
"""By chip. Pro, Max and Ultra have the Neural Engine of the plain one. Source: names of compilers (H13 to H18)."""
_CHIP = re.compile(r"(?:apple[ -]?)?([AM]\d{1,2})(?:[ -]?(?:pro|max|ultra|bionic|x|z))?", re.IGNORECASE)


def parse_chip(text: str) -> int:
    """The generation of a chip, such as `M2 Pro` or `A17`. Raises `UsageError`."""
    match = _CHIP.fullmatch(text.strip())
    if match is None or match[1].upper() not in GENERATIONS:
        known = ", ".join(sorted(GENERATIONS, key=lambda name: (name[0], int(name[1:]))))
        raise UsageError(f"--chip {text[:40]}: unknown chip (known: {known})")
    return GENERATIONS[match[1].upper()]


_PHONES = {
    **dict.fromkeys(("12", "12 Pro"), 13),
    **dict.fromkeys(("13", "13 Pro", "14"), 14),
    **dict.fromkeys(("14 Pro", "15"), 15),
    **dict.fromkeys(("15 Pro", "16", "16 Pro"), 16),
    **dict.fromkeys(("17", "17 Pro", "Air"), 17),
}
"""Generations of iPhones, whose names tell the chip; those of Macs do not."""


def chip_of(device: str | None) -> int | None:
    """The generation of a recorded device; None where its name does not tell."""
    match = re.fullmatch(r"iPhone (\d\d(?: Pro)?|Air)(?: Max| Plus| mini)?", device or "")
    return _PHONES.get(match[1]) if match else None


UNSUPPORTED, SIZES, SEQUENTIAL = "unsupported-operations", "unsupported-dimensions", "sequential-operations"
SHAPES, BLOCKS, FLOAT32, CUSTOM = "flexible-shapes", "per-block-weights", "float32-compute", "custom-layers"
STATES, WEIGHTS = "state-shapes", "weight-file-size"

_FORGE = "sbryngelson/ANEForge"
_TOOLS = "apple/coremltools"
_DETR = "roboflow/rf-detr#1495"
_M, _A, _O = Certainty.MEASURED, Certainty.APPLE, Certainty.ONCE
_Condition = Callable[["Graph", Operation], bool]


@dataclass(frozen=True, slots=True)
class Graph:
    """What limits of operations ask about."""

    makers: Mapping[str, Operation]
    """The operation that makes each value."""
    shapes: Mapping[str, Sequence[int | None]]
    """Of results, inputs and states; of these the largest that they may have."""
    weights: Mapping[str, Limit]
    """Those that the Neural Engine may not decompress."""
    network: bool
    """Whether it is one of the old form, whose shapes are channels, height and width."""
    bounds: Bounds

    def stored(self, operation: Operation, parameter: str) -> Stored | None:
        """The constant of a parameter: its own, or that of the `const` or the compressed weights that it is given."""
        for entry in operation.stored:
            if entry.parameter == parameter:
                return entry
        maker = self.makers.get(next(iter(dict(operation.arguments).get(parameter, ())), ""))
        if maker is None or not is_constant(maker):
            return None
        (held, *_) = maker.stored if maker.type == "const" and maker.stored else (None,)
        sizes = maker.outputs[0].dimensions if maker.outputs else None
        return held or Stored(parameter, None, tuple(size or 0 for size in sizes or ()))

    def numbers(self, operation: Operation, parameter: str) -> tuple[int, ...]:
        """Values of a constant; empty where they are not known."""
        stored = self.stored(operation, parameter)
        return () if stored is None else stored.values

    def kernel(self, operation: Operation) -> tuple[int, ...]:
        """Spatial sizes of a kernel, the width last."""
        sizes = self.numbers(operation, "kernel_sizes")
        weight = None if sizes else self.stored(operation, "weight")
        return sizes if weight is None else weight.dimensions[2:]

    def is_computed(self, operation: Operation, parameter: str) -> bool:
        """Whether what a parameter is given is known only when the model runs."""
        names = dict(operation.arguments).get(parameter, ())
        return any(not self._is_known(name) for name in names)

    def _is_known(self, name: str) -> bool:
        maker = self.makers.get(name)
        return maker is not None and (is_constant(maker) or maker.type.startswith("load_constant"))


def _strides(graph: Graph, operation: Operation) -> list[int]:
    return [size for size in graph.numbers(operation, "strides") if size > 1]


def _first_size(graph: Graph, operation: Operation) -> int:
    sizes = graph.shapes.get(next(iter(dict(operation.arguments).get("x", ())), ""), ())
    return (sizes[0] or 1) if sizes else 1


def _wider(most: int) -> _Condition:
    return lambda graph, operation: max(graph.kernel(operation)[-1:], default=0) > most


def _average_above(most: int) -> _Condition:
    # Of networks, an average is 1, and the largest 0, which the file leaves out.
    return lambda graph, operation: (
        (operation.type == "avg_pool" or graph.numbers(operation, "type") == (1,))
        and max(graph.kernel(operation), default=0) > most
    )


_CONDITIONS: dict[str, _Condition] = {
    "computed index": lambda graph, each: graph.is_computed(each, "indices"),
    "3 spatial dimensions": lambda graph, each: each.type == "convolution3d" or len(graph.kernel(each)) > 2,
    "kernel wider than 15": _wider(15),
    "kernel wider than 13": _wider(13),
    "kernel above 31": _average_above(31),
    "kernel above 29": _average_above(29),
    "stride not made of 2s and 3s": lambda graph, each: any(6**64 % size for size in _strides(graph, each)),
    "computed weights and a batch": lambda graph, each: (
        graph.is_computed(each, "weight") and _first_size(graph, each) > 1
    ),
    "odd stride": lambda graph, each: (
        (each.type != "convolution" or graph.numbers(each, "transposed") == (1,))
        and any(size % 2 for size in _strides(graph, each))
    ),
}
"""What an operation must have, by the words of the limit. Without an entry, its type decides."""
_CONV = "conv convolution"
RECURRENT = "lstm", "gru", "rnn", "uni_directional_lstm", "bi_directional_lstm", "simple_recurrent"
"""Operations of programs and layers of networks that go through a sequence step by step."""
_CONTROL = "while_loop cond loop branch make_list list_read list_write list_gather list_scatter"
_PROBED = (
    "scatter scatter_along_axis scatter_nd non_zero where_non_zero one_hot reverse_sequence reverse_seq "
    "sliding_windows band_part matrix_band_part mod mod_broadcastable logical_and logical_or logical_xor reduce_prod "
    "random_bernoulli random_categorical random_normal random_uniform tan asin acos sinh cosh range_1d range_dynamic"
)
_TABLE: tuple[tuple[str, Limit], ...] = (
    (f"{' '.join(RECURRENT)} {_CONTROL}", Limit(SEQUENTIAL, "", _A, f"{_TOOLS}#1780")),
    ("custom custom_layer", Limit(CUSTOM, "", _O, "hollance/neural-engine")),
    (_PROBED, Limit(UNSUPPORTED, "", _M, _FORGE)),
    ("sin cos reduce_argmin arg_min", Limit(UNSUPPORTED, "", _O, _FORGE, 14)),
    ("topk top_k", Limit(UNSUPPORTED, "", _M, _DETR, doubtful=True)),
    ("sort argsort arg_sort crop_resize affine", Limit(UNSUPPORTED, "", _M, _FORGE, 13)),
    ("resample", Limit(UNSUPPORTED, "", _M, f"{_TOOLS}#1875")),
    ("gather gather_along_axis gather_nd", Limit(UNSUPPORTED, "computed index", _M, _DETR, doubtful=True)),
    ("conv conv_transpose convolution3d", Limit(UNSUPPORTED, "3 spatial dimensions", _A, f"{_TOOLS}#1368")),
    (_CONV, Limit(UNSUPPORTED, "kernel wider than 15", _M, _FORGE)),
    (_CONV, Limit(UNSUPPORTED, "kernel wider than 13", _M, _FORGE, 13)),
    ("avg_pool pooling", Limit(UNSUPPORTED, "kernel above 31", _M, _FORGE)),
    ("avg_pool pooling", Limit(UNSUPPORTED, "kernel above 29", _M, _FORGE, 13)),
    (_CONV, Limit(UNSUPPORTED, "stride not made of 2s and 3s", _O, f"{_TOOLS}#2173")),
    ("conv", Limit(UNSUPPORTED, "computed weights and a batch", _M, _FORGE)),
    ("conv_transpose convolution", Limit(UNSUPPORTED, "odd stride", _O, f"{_TOOLS}#2450")),
)
"""Types of operations of programs and of layers of networks, and the limit."""
OPERATIONS = [(frozenset(types.split()), limit, _CONDITIONS.get(limit.words)) for types, limit in _TABLE]
SEQUENTIAL_TYPES = OPERATIONS[0][0]

_SIZE = Limit(SIZES, "size above 65,536", _M, f"{_FORGE}, maderix/ANE#26")
_OLD_SIZE = Limit(SIZES, "size above 16,384", _M, f"{_FORGE}, FluidInference/FluidAudio#121", NEWEST_OLD_SIZES)
_RANK = Limit(SIZES, "rank above 5", _A, f"{_TOOLS}#1723")
_ELEMENTS = Limit(SIZES, "size of the whole tensor", _O, "no limit is published")
RANK_5 = Limit(SIZES, "rank 5 may not compile, rank 4 does", _O, "FluidInference/FluidAudio#679", doubtful=True)
_PER_BLOCK = Limit(BLOCKS, "integer weights per block", _M, f"{_TOOLS}#2510")
_VECTORS = Limit(BLOCKS, "palettes of long vectors", _O, "no repository is named")
_FLOAT32_OPERATION = Limit(FLOAT32, "computes in Float32", _A, f"{_TOOLS}#2227")
FLOAT32_WHOLE = Limit(FLOAT32, "it computes in Float32", _A, f"{_TOOLS}#2227")
CUSTOM_MODEL = Limit(CUSTOM, "a class of the app computes it", _A, "MLCustomModel")
STATE = Limit(STATES, "the last dimension of a state is not a multiple of {}", _M, f"{_TOOLS}#2631")
STATE_RANGE = Limit(SHAPES, "a state beside inputs of several shapes is not supported", _A, f"{_TOOLS}#2537")
NORM = Limit(SHAPES, "listed shapes with layer_norm", _M, f"{_TOOLS}#1909")
MANY = Limit(SHAPES, "more than {} listed shapes", _A, "Core ML Tools, flexible shapes")
RANGE = Limit(SHAPES, "only at the default shape", _A, "developer forums 724930", doubtful=True)
HEAVY = Limit(WEIGHTS, "its weight file is larger than 2 GiB", _M, f"{_TOOLS}#1807, #2593")
HEAVY_27 = Limit(WEIGHTS, "on macOS 27 and later its weight file is too large (1 GiB)", _O, "xhighhongo41/eeANE")

EITHER_UNIT = frozenset({"cast", "identity", "classify", "read_state", "write_state", "coreml_update_state"})
"""Operations that only pass values on or convert them: they go with their neighbors."""
_LARGEST_RANK = 5
"""Core ML itself takes no more."""


def holds(limit: Limit, chip: int | None) -> bool:
    """Whether a chip has a limit, or some chip has it where none is asked about."""
    return chip is None or limit.until is None or chip <= limit.until


def largest_shape(shape: Shape) -> tuple[int | None, ...]:
    """The largest size that each dimension may have; None where there is no upper bound."""
    if shape.ranges:
        return tuple(size.upper for size in shape.ranges)
    return tuple(max(sizes) for sizes in zip(*shape.choices, strict=True)) if shape.choices else shape.dimensions


def limit_of(graph: Graph, operation: Operation, function: Function, chip: int | None) -> Limit | None:
    """The first limit that an operation is beyond."""
    if operation.depth:
        return replace(OPERATIONS[0][1], words="in a loop or branch")
    for types, limit, condition in OPERATIONS:
        if operation.type in types and holds(limit, chip) and (condition is None or condition(graph, operation)):
            return limit
    if operation.type in EITHER_UNIT:
        return None
    if (function.precision or ())[:1] == ("Float16",) and "Float32" in (function.precision or ()):
        elements = {value.element for value in operation.outputs}
        if "Float32" in elements:
            return _FLOAT32_OPERATION
    if of_weights := next((graph.weights[name] for name in operation.inputs if name in graph.weights), None):
        return of_weights
    values = (*(value.name for value in operation.outputs), *operation.inputs)
    constants = {name for name in operation.inputs if (maker := graph.makers.get(name)) and is_constant(maker)}
    limits = (
        size_limit(graph.shapes.get(name, ()), graph.bounds, graph.network) for name in values if name not in constants
    )
    return next((limit for limit in limits if limit is not None and holds(limit, chip)), None)


def weight_limit(weight: Weight, bounds: Bounds) -> Limit | None:
    """The limit that a compressed tensor is beyond."""
    if "quantized" in weight.technique and weight.granularity == "per block":
        return _PER_BLOCK
    return _VECTORS if weight.vector > bounds.max_vector else None


def size_limit(sizes: Sequence[int | None], bounds: Bounds, network: bool = False) -> Limit | None:
    """The limit that a tensor of this shape is beyond. Of four and five dimensions the first two are batch and
    channels, of the shapes of old networks all but the last two."""
    known = [size or 1 for size in sizes]
    outer = max(len(known) - 2, 1) if network else 2 if len(known) >= 4 else 0
    batch_or_channels, rest = known[:outer], known[outer:]
    if not network and len(known) > _LARGEST_RANK:
        return _RANK
    if max(batch_or_channels, default=0) > bounds.max_batch_or_channels or max(rest, default=0) > bounds.max_size_newer:
        return _SIZE
    if max(rest, default=0) > bounds.max_size:
        return _OLD_SIZE
    return _ELEMENTS if math.prod(known) > bounds.max_elements else None
