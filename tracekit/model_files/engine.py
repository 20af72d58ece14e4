"""Will it run on the Neural Engine: which operations of a model may not, and why, from the file alone.

`placements_of` is the one place that answers it, for model files and for recordings that come with one. A compute plan
from the device overrules it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tracekit.model_files.engine_limits import (
    CUSTOM_MODEL,
    EITHER_UNIT,
    FLOAT32_WHOLE,
    HEAVY,
    HEAVY_27,
    MANY,
    NORM,
    RANGE,
    RANK_5,
    STATE,
    STATE_RANGE,
    Bounds,
    Graph,
    Limit,
    largest_shape,
    limit_of,
    weight_limit,
)
from tracekit.model_files.facts import (
    FLOATS,
    CompiledFunction,
    Feature,
    Form,
    Function,
    Kind,
    ModelFile,
    Operation,
    is_constant,
)
from tracekit.model_files.versions import Target
from tracekit.units import format_count


@dataclass(frozen=True, slots=True)
class Obstacle:
    """An operation that the Neural Engine may not run."""

    number: int
    """Its place among the operations of the function without constants, from 1 on."""
    operation: Operation
    limit: Limit


@dataclass(frozen=True, slots=True)
class Placement:
    """What the file says of one function and the Neural Engine."""

    function: str
    """Its name, with that of the stage of a pipeline."""
    operations: int
    """Without constants; 0 where the file lists none."""
    obstacles: tuple[Obstacle, ...] = ()
    """Operations that may not run there, in their order."""
    whole: tuple[Limit, ...] = ()
    """What keeps the function as a whole off it, or may."""
    pieces: int = 1
    """Parts on alternating compute units, if each obstacle runs on another one and all else on the Neural Engine."""
    left: bool = True
    """Whether work is left for the Neural Engine beside the obstacles: casts and whole numbers are none."""
    leading: frozenset[int] = frozenset()
    """Numbers of obstacles that the Neural Engine has nothing to do before, as where tokens are looked up."""
    unknown: str = ""
    """Why the file does not decide it; empty where it does."""
    chip: int | None = None
    """Generation that was asked about."""
    compiled: str = ""
    """What a compiler decided, which stands for the verdict."""

    @property
    def decided(self) -> list[Limit]:
        """Limits that keep the function as a whole off it."""
        return [limit for limit in self.whole if not limit.doubtful]

    @property
    def certain(self) -> tuple[Obstacle, ...]:
        """Obstacles on the chip that was asked about; without one, those on every chip."""
        return tuple(each for each in self.obstacles if self.chip is not None or each.limit.until is None)


_SHAPE_OF = frozenset({"shape", "get_shape"})
"""Operations that ask for a shape, which is known without computing the value."""
_MOVES = frozenset(
    {"reshape", "transpose", "squeeze", "expand_dims", "split", "slice_by_index", "slice_by_size", "gather", "stack"}
) | {"cast", "identity", "concat", "tile"}
"""Operations that only move data: an attention that splits its heads has a fifth dimension for a moment."""
_MACOS_27 = 27
_SHOWN = 4
"""Types of operations in a sentence."""


def placements_of(
    model: ModelFile, chip: int | None = None, system: Target | None = None, bounds: Bounds | None = None
) -> tuple[Placement, ...]:
    """One answer for each function of the model or of the stages of its pipeline. `chip` is a generation; without it,
    limits of older chips are listed and named. `bounds`: those of the checks. O(operations)."""
    bounds, parts = bounds or Bounds(), model.parts
    placed = [_compiled(each, bounds.max_pieces) for each in model.compiled]
    for part in () if placed else parts:
        for function in part.functions:
            names = [f"stage {part.name.removeprefix('stage ')}"] * (len(parts) > 1) + [function.name] * (
                len(part.functions) > 1 or len(parts) == 1
            )
            unknown = _unknown(part, function)
            whole = () if unknown else tuple(_of_whole(part, function, system, bounds))
            graph = _graph(part, function, bounds)
            computing = [each for each in function.operations or () if not is_constant(each)]
            # The compiler's JSON has only counts.
            computing = computing or [
                Operation(name, name, (), ()) for name, count in function.counts for _ in range(count)
            ]
            obstacles = tuple(
                Obstacle(number, operation, limit)
                for number, operation in enumerate(computing, 1)
                for limit in [limit_of(graph, operation, function, chip)]
                if limit is not None
            )
            off = {id(each.operation) for each in obstacles if chip is not None or each.limit.until is None}
            pieces = _pieces(computing, off, graph.makers) if function.operations else {}
            leading = frozenset(each.number for each in obstacles if pieces.get(id(each.operation)) == -1)
            count = len(set(pieces.values()) - {None})
            left = not pieces or any(part is not None and part % 2 == 0 for part in pieces.values())
            placed.append(
                Placement(" ".join(names), len(computing), obstacles, whole, count, left, leading, unknown, chip)
            )
    return tuple(placed)


_APPLE_OWN = frozenset(
    {"vision feature print", "audio feature print", "text classifier", "word tagger", "gazetteer", "word embedding"}
) | {"sound analysis preprocessing", "serialized model"}
"""Kinds of models that Apple computes with code of its own."""


def of_apple(model: ModelFile) -> frozenset[str]:
    """Inputs of the model that go to a stage of Apple's own, which takes them in the form that it is made for. Where
    the file has only the kinds of the stages, all inputs of a model that begins with one."""
    stages = [part for part in model.parts if part.kind in _APPLE_OWN]
    names = {each.name for stage in stages for each in stage.main.inputs}
    if stages and not any(stage.main.inputs for stage in stages) and model.parts[0] in stages:
        names = {each.name for each in model.main.inputs}
    return frozenset(names)


def _compiled(part: CompiledFunction, most: int) -> Placement:
    """What the compiler decided: that it ran so, only a recording shows."""
    fine = f", split finely ({part.regions} regions, each submitted in every call)" if part.regions > most else ""
    if not part.regions:
        said = f"no: compiled for GPU or CPU only{', though the Neural Engine was asked for' if part.asked else ''}"
    elif part.wholly:
        said = f"compiled wholly for it{fine}"
    else:
        said = f"in part: {format_count(part.regions, 'region')} compiled for it{fine}"
    return Placement(f"{part.name} on {part.architecture}", 0, pieces=part.regions, compiled=said)


def _unknown(part: ModelFile, function: Function) -> str:
    """Why the file does not say where a function runs; empty where it does."""
    if part.kind in _APPLE_OWN:
        return f"the {part.kind} is Apple's own, and the file has none of its operations"
    if part.has_operations:
        return "" if function.counts or function.operations is not None else "the file does not list the operations"
    if part.kind == "custom model":
        return ""
    if part.form is Form.CORE_AI_PACKAGE:
        return "not compiled yet; placement is decided on the device"
    if part.kind == Kind.CORE_AI:
        return "the JSON does not say what was compiled for it"
    if part.kind == "linked model":
        return "the model that it names is in another file"
    if part.kind == "unknown" or part.is_pipeline:
        return "the file does not list the operations"
    return f"the {part.kind} is not a neural network"


def _of_whole(part: ModelFile, function: Function, system: Target | None, bounds: Bounds) -> Iterator[Limit]:
    """Limits of the function as a whole, those that decide it first."""
    if part.kind == "custom model":
        yield CUSTOM_MODEL
    if function.precision and function.precision[0] in ("Float32", "Double"):
        yield FLOAT32_WHOLE
    if any(ragged_states(function, bounds.state_multiple)):
        yield replace(STATE, words=STATE.words.format(bounds.state_multiple))
    # Inputs of a stage are those of the pipeline, or fixed by the stage before.
    shapes = [each.shape for each in function.inputs if each.shape and each.shape.flexible]
    if shapes and function.states:
        yield STATE_RANGE
    elif any(len(shape.choices) > 1 for shape in shapes) and "layer_norm" in dict(function.counts):
        yield NORM
    if any(len(shape.choices) > bounds.max_listed for shape in shapes):
        yield replace(MANY, words=MANY.words.format(bounds.max_listed))
    size = part.weights.bytes or 0
    mac = system is None or system.system == "macOS"
    newer = system is not None and int(system.release.split(".")[0]) >= _MACOS_27
    if size > bounds.max_mib << 20:
        yield HEAVY
    elif size > bounds.max_mib_macos27 << 20 and mac and (system is None or newer):
        yield replace(HEAVY_27, doubtful=system is None)
    values = (each.outputs for each in function.operations or () if each.type not in _MOVES and not is_constant(each))
    ranks = [len(value.dimensions or ()) for outputs in values for value in outputs]
    ranks += [len(each.shape.dimensions) for each in function.features if each.shape]
    if not part.is_network and max(ranks, default=0) > bounds.max_rank:
        yield RANK_5
    if any(shape.ranges for shape in shapes):
        yield RANGE


def ragged_states(function: Function, multiple: int) -> Iterator[Feature]:
    """States whose last dimension is no multiple."""
    for each in function.states:
        width = each.shape.dimensions[-1] if each.shape and each.shape.dimensions else None
        if width is not None and width % multiple:
            yield each


def _graph(part: ModelFile, function: Function, bounds: Bounds) -> Graph:
    operations = function.operations or ()
    shapes = {value.name: value.dimensions for entry in operations for value in entry.outputs if value.dimensions}
    shapes |= {each.name: largest_shape(each.shape) for each in function.features if each.shape}
    weights = {each.name: limit for each in part.weights.tensors or () if (limit := weight_limit(each, bounds))}
    makers = {value.name: entry for entry in operations for value in entry.outputs}
    return Graph(makers, shapes, weights, part.is_network, bounds)


def _pieces(
    computing: Sequence[Operation], off: Collection[int], makers: Mapping[str, Operation]
) -> dict[int, int | None]:
    """Parts on alternating units: each operation belongs to the earliest part that may follow all that it needs. Parts
    of the Neural Engine have even numbers from 0 on. By the id of the operation; None for what goes with either unit.
    O(operations)."""
    parts: dict[int, int | None] = {}
    for operation in computing:
        if operation.type in _SHAPE_OF:
            continue
        before = [makers[name] for name in operation.inputs if name in makers]
        known = [part for each in before if (part := parts.get(id(each))) is not None]
        # Whole numbers are worked out beside the floats.
        whole = {value.element for value in operation.outputs}.isdisjoint((None, *FLOATS))
        if (operation.type in EITHER_UNIT or whole) and id(operation) not in off:
            parts[id(operation)] = max(known, default=None)
            continue
        away = id(operation) in off
        parts[id(operation)] = max((part + (part % 2 != away) for part in known), default=-1 if away else 0)
    return parts


def verdict(placement: Placement) -> str:
    """Whether the function will run on the Neural Engine: `likely, all of it`, `no: it computes in Float32`."""
    if placement.compiled:
        return placement.compiled
    if placement.decided:
        return f"no: {' and '.join(limit.words for limit in placement.decided)}"
    if placement.unknown:
        return f"not known: {placement.unknown}"
    doubts = [limit.words for limit in placement.whole if limit.doubtful and limit is not RANGE]
    if doubts:
        return f"not known: {' and '.join(doubts)}"
    certain = placement.certain
    older = [each for each in placement.obstacles if each not in certain]
    at_default = ", at the default shape alone" if RANGE in placement.whole else ""
    if not placement.operations:
        return "not known: it has no operations"
    said = f"likely, all of it{at_default}"
    if len(certain) == placement.operations or (certain and not placement.left):
        said = f"no: {_types(certain)}"
    elif certain:
        hand_offs = placement.pieces - 1
        split = f": {placement.pieces} pieces, {format_count(hand_offs, 'hand-off')}" if hand_offs > 0 else ""
        few = f"{len(certain):,} of {placement.operations:,} operations ({_types(certain)}{split})"
        said = f"likely, all but {few}{at_default}"
    if older:
        newest = max(older, key=lambda each: each.limit.until or 0)
        said += f"; on {newest.limit.chips} not {_types(older)}"
    return said


def _types(obstacles: Sequence[Obstacle]) -> str:
    """`topk, 2 gather`: the most frequent types first, and how many more are inside of others."""
    counts = Counter(each.operation.type for each in obstacles if not each.operation.depth).most_common()
    inside = sum(each.operation.depth > 0 for each in obstacles)
    shown = [name if count == 1 else f"{count:,} {name}" for name, count in counts[:_SHOWN]]
    rest = sum(count for _, count in counts[_SHOWN:])
    shown += [f"{rest:,} more"] * (rest > 0) + [f"{inside:,} in loops or branches"] * (inside > 0)
    return ", ".join(shown)
