"""What a model file says of its model, whatever the form of the file: frozen facts, from which all else is worked out.

Types have the names of Core ML: `Float16`, `Float32`, `Double`, `Int32`, `Int8`, `UInt8`, `UInt4`, `Bool`, `String`.
None means that the file does not say it, never zero or empty.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

BITS = {"Double": 64, "Float32": 32, "Float16": 16, "BFloat16": 16, "Bool": 8, "Float8E4M3FN": 8, "Float8E5M2": 8} | {
    f"{sign}Int{bits}": bits for sign in ("", "U") for bits in (1, 2, 3, 4, 6, 8, 16, 32, 64)
}
"""Bits of one element of each type."""

FLOATS = frozenset({"Float16", "Float32", "Double", "BFloat16"})


class Form(StrEnum):
    """What was read."""

    PACKAGE = "mlpackage"
    MODEL = "mlmodel"
    COMPILED = "mlmodelc"
    COMPILER_JSON = "coremlcompiler metadata"
    CORE_AI = "coreai-build inspect"
    CORE_AI_PACKAGE = "Core AI package"


class Kind(StrEnum):
    """What the model is; other kinds are named in words, such as `tree ensemble classifier`."""

    ML_PROGRAM = "ML program"
    NEURAL_NETWORK = "neural network"
    PIPELINE = "pipeline"
    CORE_AI = "Core AI model"


@dataclass(frozen=True, slots=True)
class SizeRange:
    """Sizes that one dimension may have."""

    lower: int
    upper: int | None
    """None: no upper bound."""

    @staticmethod
    def of(lower: int, upper: int) -> SizeRange:
        """A range as files have it: a negative upper bound means that there is none."""
        return SizeRange(lower, None if upper < 0 else upper)


IMAGE_AXES = ("height", "width")
"""What the dimensions of an image are, in the order in which they are kept."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Shape of an array, or height and width of an image."""

    dimensions: tuple[int | None, ...]
    """The default shape; None for a size that is known only when the model runs. Empty for a scalar."""
    choices: tuple[tuple[int, ...], ...] = ()
    """All shapes that are allowed, where they are listed."""
    ranges: tuple[SizeRange, ...] = ()
    """Allowed sizes of each dimension, where they are ranges."""
    axes: tuple[str, ...] = ()
    """What each dimension is, where that is known: `IMAGE_AXES`."""

    @staticmethod
    def of_array(
        sizes: tuple[int, ...], choices: tuple[tuple[int, ...], ...], ranges: tuple[SizeRange, ...]
    ) -> Shape | None:
        """The shape of an array, whose default may be among what is allowed only; None where nothing is said of it, as
        of outputs of flexible models."""
        if not (sizes or choices or ranges):
            return None
        return Shape(sizes or (choices[0] if choices else tuple(size.lower for size in ranges)), choices, ranges)

    @property
    def flexible(self) -> bool:
        """Whether more than one shape is allowed."""
        return len(self.choices) > 1 or any(size.lower != size.upper for size in self.ranges)

    def takes(self, sizes: tuple[int, ...]) -> bool:
        """Whether a flexible shape may be this one."""
        if self.choices:
            return sizes in self.choices
        return len(sizes) == len(self.ranges) and all(
            each.lower <= size and (each.upper is None or size <= each.upper)
            for size, each in zip(sizes, self.ranges, strict=True)
        )


class FeatureKind(StrEnum):
    """What an input, an output or a state holds."""

    ARRAY = "array"
    IMAGE = "image"
    STATE = "state"
    DICTIONARY = "dictionary"
    SEQUENCE = "sequence"
    NUMBER = "number"
    STRING = "string"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Feature:
    """One input, output or state."""

    name: str
    kind: FeatureKind
    element: str | None
    """Type of its elements; `UInt8` for images of 8 bits per channel. Key or element type of dictionaries and
    sequences."""
    shape: Shape | None
    """None where the file gives no shape, as for outputs of many flexible models. That does not mean a scalar."""
    color_space: str | None = None
    """Of images: `RGB`, `BGR`, `Grayscale`, `Grayscale16Half`."""
    optional: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor that an operation gives."""

    name: str
    element: str | None
    dimensions: tuple[int | None, ...] | None
    """None where the rank is not known; a dimension is None where its size is not."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A constant of an operation."""

    parameter: str
    """Name of the argument; `val` for the value of a `const`."""
    element: str | None
    dimensions: tuple[int, ...]
    offset: int | None = None
    """Where the weight file describes it; None where its value stands in the specification itself."""
    file: str | None = None
    """Path of the weight file as the specification gives it."""
    values: tuple[int, ...] = ()
    """Of whole numbers that set something up, such as strides; empty for all else."""

    @property
    def count(self) -> int:
        """Number of elements."""
        return math.prod(self.dimensions)

    @property
    def bytes(self) -> int:
        """Size of its elements, packed."""
        return (self.count * BITS.get(self.element or "", 0) + 7) // 8


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a program, or one layer of a network."""

    type: str
    """Such as `conv`, without the opset."""
    name: str
    arguments: tuple[tuple[str, tuple[str, ...]], ...]
    """Names of the values that each parameter is given."""
    outputs: tuple[Value, ...]
    stored: tuple[Stored, ...] = ()
    depth: int = 0
    """Number of blocks (of loops and conditions) that it lies in."""
    backend: str | None = None
    """Compute unit that the file itself asks for (`IntendedBackend`)."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of all values that it is given."""
        return tuple(name for _, names in self.arguments for name in names)


CONSTANTS = "const"
COMPRESSED = "constexpr_"


def is_constant(operation: Operation) -> bool:
    """Whether its value is known before the model runs: a constant, or weights to be decompressed."""
    return operation.type == CONSTANTS or operation.type.startswith(COMPRESSED)


@dataclass(frozen=True, slots=True)
class Conversion:
    """A change of type between the interface of a function and what it computes with."""

    feature: str
    """Name of the input or output."""
    direction: str
    """`input` or `output`."""
    outside: str
    """Type in the interface."""
    inside: str
    """Type that the function computes with."""
    image: bool
    operation: str | None
    """The `cast` that does it; None where it follows only from the precision of the model."""


@dataclass(frozen=True, slots=True)
class Function:
    """One function of a model; models other than ML programs have one, `main`."""

    name: str
    inputs: tuple[Feature, ...]
    outputs: tuple[Feature, ...]
    states: tuple[Feature, ...]
    opset: str | None = None
    """Such as `CoreML6`."""
    parameters: tuple[Value, ...] = ()
    """The inputs as the program itself declares them; an image is a Float32 or Float16 tensor there."""
    operations: tuple[Operation, ...] | None = None
    """In their order, those of nested blocks after the operation that holds them. None where the file has only counts,
    or where models of this kind have no operations."""
    counts: tuple[tuple[str, int], ...] = ()
    """Operations or layers by type without constants, the most frequent first."""
    precision: tuple[str, ...] | None = None
    """Float types that it computes with, the most frequent first; casts count for nothing. None: the file does not
    say."""
    conversions: tuple[Conversion, ...] | None = None
    """None where the file does not show whether the interface is converted."""

    @property
    def features(self) -> tuple[Feature, ...]:
        """Inputs, outputs and states."""
        return (*self.inputs, *self.outputs, *self.states)


class WeightState(StrEnum):
    """Where the weights are."""

    FILE = "in a file of the package"
    INSIDE = "in the specification"
    NONE = "none"
    MISSING = "missing"
    POINTER = "a Git LFS pointer"
    DAMAGED = "damaged"
    UNKNOWN = "unknown"
    """The file does not list them, or their kind is none that can be counted."""


@dataclass(frozen=True, slots=True)
class Weight:
    """One tensor of weights."""

    name: str
    element: str | None
    """Type that the model computes with."""
    stored: str | None
    """Type that the values are stored in; of palettized weights the type of the indices."""
    count: int
    """Number of elements when decompressed."""
    bytes: int
    """Size as stored, scales and palettes included."""
    technique: tuple[str, ...] = ()
    """`palettized`, `quantized`, `pruned`, `cast`; empty for one that is not compressed."""
    bits: int | None = None
    """Bits of one stored element."""
    granularity: str | None = None
    """What shares a scale or a palette: `per tensor`, `per channel`, `per block`, `per group`."""
    vector: int = 1
    """Elements that one index of a palette stands for."""
    offset: int | None = None
    """Where the weight file describes its values; None where they stand in the specification."""


@dataclass(frozen=True, slots=True)
class Weights:
    """All weights of a model."""

    state: WeightState
    bytes: int | None
    """As stored; None where it is not known."""
    tensors: tuple[Weight, ...] | None = None
    """None where the file does not list them."""
    reason: str = ""
    """What is wrong, where the state says that something is."""
    precision: str | None = None
    """Storage precision in the words of the compiler, where only these are known."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What its author says of the model."""

    author: str = ""
    description: str = ""
    license: str = ""
    version: str = ""
    user_defined: dict[str, str] = field(default_factory=dict)

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        """Everything that is there, each with its name."""
        pairs = (
            ("author", self.author),
            ("version", self.version),
            ("license", self.license),
            ("about", self.description),
        )
        return tuple((key, value) for key, value in (*pairs, *self.user_defined.items()) if value)


@dataclass(frozen=True, slots=True)
class CompiledFunction:
    """A function of a compiled Core AI package, for one architecture."""

    architecture: str
    """As file names have it, such as `h16g`."""
    name: str
    regions: int
    """Parts that were compiled for the Neural Engine; each is submitted on its own in every call."""
    wholly: bool
    """Whether the compiler put all of it there."""
    asked: bool = False
    """Whether the exporter preferred the Neural Engine."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One model, or one stage of a pipeline."""

    name: str
    """Stem of the file's or folder's name, which is what recordings call the model."""
    source: str
    """Name of the file or folder."""
    form: Form
    kind: str
    """A `Kind`, or other words."""
    specification_version: int | None
    functions: tuple[Function, ...]
    """The default function first."""
    weights: Weights
    metadata: Metadata
    stages: tuple[ModelFile, ...] = ()
    """Models of a pipeline, in their order."""
    custom_layers: tuple[str, ...] = ()
    """Names of the classes that the app must have."""
    updatable: bool = False
    bytes: int | None = None
    """Size of all files together."""
    availability: tuple[tuple[str, str], ...] = ()
    """Systems and first versions that the compiler wrote into the file."""
    compiled: tuple[CompiledFunction, ...] = ()
    """Of Core AI packages alone."""
    absent: tuple[str, ...] = ()
    """Files that belong to every model of this form, and that are not there."""

    @property
    def main(self) -> Function:
        """The default function."""
        return self.functions[0]

    @property
    def is_network(self) -> bool:
        """Whether it is a neural network of the old form, which may also be a classifier or a regressor."""
        return self.kind.startswith(Kind.NEURAL_NETWORK)

    @property
    def has_operations(self) -> bool:
        """Whether models of its kind compute by operations or layers."""
        return self.kind == Kind.ML_PROGRAM or self.is_network

    @property
    def is_pipeline(self) -> bool:
        """Whether it is a pipeline, which may also be a classifier or a regressor."""
        return self.kind.startswith(Kind.PIPELINE)

    @property
    def parts(self) -> tuple[ModelFile, ...]:
        """The model itself, or the stages of a pipeline and of pipelines in it."""
        return tuple(part for stage in self.stages for part in stage.parts) or (self,)

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """Operations of all functions and stages by type, the most frequent first."""
        total: Counter[str] = Counter()
        for part in self.parts:
            for function in part.functions:
                total.update(dict(function.counts))
        return by_count(total)


def by_count(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    """Names and counts, the most frequent first, then by name."""
    return tuple(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))
