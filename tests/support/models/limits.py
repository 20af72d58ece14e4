"""ML programs on both sides of each limit of the Neural Engine, with what is right to say of them.

`LABELED` gives, by name, what builds the program, the verdict, and the findings about the Neural Engine. The labels
come from the reference, not from the code: each limit has a model beyond it and one that is nearly beyond it.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from support.models.compressed import palette, palettized, quantized
from support.models.older import facts_of
from support.models.programs import condition, convolution, coremltools, loop, mixed, program, sample
from tracekit.model_files.facts import ModelFile

ALL = "likely, all of it"
OPERATIONS, SIZES, SHAPES = "unsupported-operations", "unsupported-dimensions", "flexible-shapes"


@dataclass(frozen=True, slots=True)
class Labeled:
    """A model, and what is right to say of it."""

    build: Callable[[], Any]
    verdict: str = ALL
    findings: tuple[str, ...] = ()
    """Of the checks about the Neural Engine."""


def one(compute: Callable[[Any, Any], Any], *shape: int, kind: str = "fp16", opset: str = "iOS17") -> Any:
    """A program that computes something between two operations that always run."""
    named = lambda mb: lambda x: mb.sqrt(x=compute(mb, mb.relu(x=x)), name="y")  # noqa: E731
    return lambda: program(named, (kind, shape), opset=opset)


def last(compute: Callable[[Any, Any], Any], *shape: int, opset: str = "iOS17") -> Any:
    """A program that ends with something."""
    return lambda: program(lambda mb: lambda x: compute(mb, mb.relu(x=x)), ("fp16", shape), opset=opset)


def numbers(*shape: int) -> Any:
    import numpy as np

    return np.random.default_rng(1).standard_normal(shape).astype(np.float16)


def conv(mb: Any, x: Any, *kernel: int, **options: Any) -> Any:
    return mb.conv(x=x, weight=numbers(8, x.shape[1], *kernel), pad_type="same", **options)


def listed(count: int, *, normed: bool, ranged: bool = False, state: bool = False) -> Any:
    """A program whose input lists that many lengths, or a range of them."""
    ct = coremltools()
    from coremltools.converters.mil.mil import get_new_symbol

    def computed(mb: Any, x: Any) -> Any:
        return mb.sqrt(x=mb.layer_norm(x=x, axes=[-1], epsilon=1e-5) if normed else mb.relu(x=x), name="y")

    def compute(mb: Any) -> Any:
        if state:
            return lambda x, memory: mb.add(x=computed(mb, x), y=mb.reduce_sum(x=mb.read_state(input=memory)))
        return lambda x: computed(mb, x)

    shape = ct.Shape((ct.RangeDim(1, count, default=2), 32))
    if not ranged:
        shape = ct.EnumeratedShapes([(size, 32) for size in range(1, count + 1)], default=(2, 32))
    inputs = [("fp16", (get_new_symbol(), 32)), *([("state", (1, 32))] if state else [])]
    types = {"inputs": [ct.TensorType(name="x", shape=shape)]}
    return program(compute, *inputs, opset="iOS18" if state else "iOS17", **types)


def chosen(mb: Any, x: Any, wide: bool = False) -> Any:
    """The best of the last axis, as values of the shape before."""
    best = mb.topk(x=x, k=x.shape[-1], axis=-1)[0]
    return mb.concat(values=[best, x], axis=1) if wide else best


def in_turns(count: int) -> Any:
    """That many operations that may not run, each between two that do."""

    def compute(mb: Any, x: Any) -> Any:
        for _ in range(count):
            x = mb.sqrt(x=chosen(mb, x))
        return x

    return one(compute, 1, 4, 8)


def attention(mb: Any, x: Any) -> Any:
    """Heads that are split by way of a fifth dimension, in which nothing is computed."""
    parts = mb.transpose(x=mb.reshape(x=x, shape=[1, 16, 3, 4, 8]), perm=[2, 0, 3, 1, 4])
    query, key, value = (mb.squeeze(x=each, axes=[0]) for each in mb.split(x=parts, num_splits=3, axis=0))
    return mb.matmul(x=mb.softmax(x=mb.matmul(x=query, y=key, transpose_y=True)), y=value)


def computed_weights(batch: int) -> Any:
    def compute(mb: Any, x: Any) -> Any:
        weight = mb.reshape(x=mb.slice_by_size(x=x, begin=[0, 0, 0, 0], size=[1, 4, 8, 8]), shape=[4, 4, 4, 4])
        return mb.conv(x=x, weight=weight, pad_type="same")

    return one(compute, batch, 4, 8, 8)


def read(width: int) -> Any:
    def compute(mb: Any) -> Any:
        return lambda x, memory: mb.coreml_update_state(
            state=memory, value=mb.add(x=mb.read_state(input=memory), y=x), name="y"
        )

    return lambda: program(compute, ("fp16", (1, width)), ("state", (1, width)), opset="iOS18")


def embedded() -> Any:
    """Tokens that a table is looked up for, before all else."""

    def compute(mb: Any) -> Any:
        return lambda x: mb.sqrt(x=mb.relu(x=mb.gather(x=numbers(64, 8), indices=x, axis=0)), name="y")

    return program(compute, ("int32", (1, 4)), opset="iOS17")


def gathered(mb: Any, x: Any) -> Any:
    index = mb.cast(x=mb.reduce_argmax(x=x, axis=1, keep_dims=False), dtype="int32")
    return mb.gather(x=x, indices=index, axis=0)


def branches(mb: Any, x: Any) -> Any:
    """Two operations that may not run, side by side."""
    return mb.add(x=chosen(mb, mb.sqrt(x=x)), y=chosen(mb, mb.exp(x=x)))


def half_wide(mb: Any, x: Any) -> Any:
    return mb.tile(x=x, reps=[1, 1, 1, 2])


def either(mb: Any, x: Any) -> Any:
    """One of two things, by what comes before."""
    pred = mb.greater(x=mb.reduce_max(x=x, keep_dims=False), y=numbers(1)[0])
    return mb.cond(pred=pred, _true_fn=lambda: mb.exp(x=x), _false_fn=lambda: mb.tanh(x=x))


def recurring(mb: Any, x: Any) -> Any:
    return mb.lstm(x=x, initial_h=numbers(1, 8), initial_c=numbers(1, 8), weight_ih=numbers(32, 4),
                   weight_hh=numbers(32, 8))[0]  # fmt: skip


def off(what: str, count: int = 1, *, total: int = 3, split: str = ": 3 pieces, 2 hand-offs") -> str:
    return f"likely, all but {count} of {total} operations ({what}{split})"


def older(chips: str, what: str) -> str:
    return f"{ALL}; on {chips} and older not {what}"


_FOUND = (OPERATIONS,)
LABELED: dict[str, Labeled] = {
    # Operations.
    "topk": Labeled(one(chosen, 1, 4, 8), off("topk"), _FOUND),
    "topk_last": Labeled(
        last(lambda mb, x: mb.topk(x=x, k=2, axis=-1)[0], 1, 4, 8),
        off("topk", total=2, split=": 2 pieces, 1 hand-off"), _FOUND,
    ),
    "topk_branches": Labeled(
        one(branches, 1, 4, 8), off("2 topk", 2, total=7), _FOUND
    ),
    "reduce_max": Labeled(one(lambda mb, x: mb.reduce_max(x=x, axes=[-1]), 1, 4, 8)),
    "gather_computed": Labeled(
        one(gathered, 4, 8), off("gather", total=10), _FOUND
    ),
    "embedding": Labeled(embedded, off("gather", total=9, split=": 2 pieces, 1 hand-off")),
    "gather_fixed": Labeled(one(lambda mb, x: mb.gather(x=x, indices=[0, 2], axis=0), 4, 8)),
    "slices": Labeled(one(lambda mb, x: mb.slice_by_size(x=x, begin=[0, 0], size=[2, 8]), 4, 8)),
    "argsort": Labeled(
        one(lambda mb, x: mb.cast(x=mb.argsort(x=x, axis=-1), dtype="fp16"), 4, 8),
        older("A14, M1", "argsort"), _FOUND,
    ),
    "sin": Labeled(one(lambda mb, x: mb.sin(x=x), 4, 8), older("A15, M2", "sin"), _FOUND),
    "tanh": Labeled(one(lambda mb, x: mb.tanh(x=x), 4, 8)),
    "tan": Labeled(one(lambda mb, x: mb.tan(x=x), 4, 8), off("tan"), _FOUND),
    "sinh": Labeled(one(lambda mb, x: mb.sinh(x=x), 4, 8), off("sinh"), _FOUND),
    "modulo": Labeled(one(lambda mb, x: mb.mod(x=x, y=numbers(1)), 4, 8), off("mod"), _FOUND),
    "floor_div": Labeled(one(lambda mb, x: mb.floor_div(x=x, y=numbers(1)), 4, 8)),
    "reduce_prod": Labeled(one(lambda mb, x: mb.reduce_prod(x=x, axes=[1]), 4, 8), off("reduce_prod"), _FOUND),
    "band_part": Labeled(one(lambda mb, x: mb.band_part(x=x, lower=1, upper=1), 4, 8), off("band_part"), _FOUND),
    "reverse": Labeled(one(lambda mb, x: mb.reverse(x=x, axes=[1]), 4, 8)),
    "sliding_windows": Labeled(
        one(lambda mb, x: mb.sliding_windows(x=x, axis=1, size=4), 4, 8), off("sliding_windows"), _FOUND
    ),
    "scatter": Labeled(
        one(lambda mb, x: mb.scatter(data=x, indices=[1], updates=numbers(1, 8), axis=0), 4, 8),
        off("scatter"), _FOUND,
    ),
    "resample": Labeled(
        one(
            lambda mb, x: mb.resample(
                x=x, coordinates=numbers(1, 4, 4, 2), sampling_mode="bilinear", padding_mode="constant",
                padding_value=numbers(1)[0], coordinates_mode="normalized_minus_one_to_one", align_corners=True,
            ),
            1, 4, 8, 8,
        ),
        off("resample"), _FOUND,
    ),
    "upsample": Labeled(
        one(lambda mb, x: mb.upsample_bilinear(x=x, scale_factor_height=2.0, scale_factor_width=2.0), 1, 4, 8, 8)
    ),
    # Control flow: casts and whole numbers are no work that is left for it.
    "loop": Labeled(loop, "no: while_loop, 6 in loops or branches", ("sequential-operations",)),
    "condition": Labeled(condition, "no: cond, 6 in loops or branches", ("sequential-operations",)),
    "condition_inside": Labeled(
        one(either, 1, 4), "likely, all but 3 of 7 operations (cond, 2 in loops or branches: "
        "3 pieces, 2 hand-offs)", ("sequential-operations",),
    ),
    "lstm": Labeled(one(recurring, 5, 1, 4), off("lstm"), ("sequential-operations",)),
    "in_float32": Labeled(mixed, off("log", total=5, split=": 2 pieces, 1 hand-off")),
    # Attributes.
    "conv_3d": Labeled(one(lambda mb, x: conv(mb, x, 3, 3, 3), 1, 4, 4, 8, 8), "not known: rank 5 may not compile, "
                       "rank 4 does", (OPERATIONS, SIZES)),
    "kernel_17": Labeled(one(lambda mb, x: conv(mb, x, 3, 17), 1, 4, 8, 32), off("conv"), _FOUND),
    "kernel_15": Labeled(one(lambda mb, x: conv(mb, x, 3, 15), 1, 4, 8, 32), older("A14, M1", "conv"), _FOUND),
    "kernel_13": Labeled(one(lambda mb, x: conv(mb, x, 3, 13), 1, 4, 8, 32)),
    "kernel_high": Labeled(one(lambda mb, x: conv(mb, x, 31, 3), 1, 4, 64, 8)),
    "stride_5": Labeled(one(lambda mb, x: conv(mb, x, 3, 3, strides=[5, 5]), 1, 4, 20, 20), off("conv"), _FOUND),
    "stride_6": Labeled(one(lambda mb, x: conv(mb, x, 3, 3, strides=[6, 6]), 1, 4, 24, 24)),
    "stride_16": Labeled(one(lambda mb, x: conv(mb, x, 13, 13, strides=[16, 16]), 1, 3, 32, 32)),
    "transposed_3": Labeled(
        one(lambda mb, x: mb.conv_transpose(x=x, weight=numbers(4, 8, 3, 3), strides=[3, 3]), 1, 4, 8, 8),
        off("conv_transpose"), _FOUND,
    ),
    "transposed_2": Labeled(
        one(lambda mb, x: mb.conv_transpose(x=x, weight=numbers(4, 8, 2, 2), strides=[2, 2]), 1, 4, 8, 8)
    ),
    "computed_batch": Labeled(
        computed_weights(2), off("conv", total=5), _FOUND
    ),
    "computed_weights": Labeled(computed_weights(1)),
    "pool_33": Labeled(
        one(lambda mb, x: mb.avg_pool(x=x, kernel_sizes=[33, 33], pad_type="same"), 1, 4, 64, 64),
        off("avg_pool"), _FOUND,
    ),
    "pool_30": Labeled(
        one(lambda mb, x: mb.avg_pool(x=x, kernel_sizes=[30, 30], pad_type="same"), 1, 4, 64, 64),
        older("A14, M1", "avg_pool"), _FOUND,
    ),
    "pool_29": Labeled(one(lambda mb, x: mb.avg_pool(x=x, kernel_sizes=[29, 29], pad_type="same"), 1, 4, 64, 64)),
    "max_pool_33": Labeled(one(lambda mb, x: mb.max_pool(x=x, kernel_sizes=[33, 33], pad_type="same"), 1, 4, 64, 64)),
    # Sizes.
    "width_16384": Labeled(one(lambda mb, x: mb.exp(x=x), 1, 4, 1, 16_384)),
    "width_16385": Labeled(
        one(lambda mb, x: mb.exp(x=x), 1, 4, 1, 16_385), older("A16, M3", "relu, exp, sqrt"), (SIZES,)
    ),
    "width_65537": Labeled(one(lambda mb, x: mb.exp(x=x), 1, 4, 1, 65_537), "no: relu, exp, sqrt", (SIZES,)),
    "width_inside": Labeled(
        one(lambda mb, x: mb.reduce_sum(x=half_wide(mb, x), axes=[3]), 1, 4, 1, 40_000),
        off("tile, reduce_sum", 2, total=4) + "; on A16, M3 and older not relu", (SIZES,)
    ),
    "channels_65536": Labeled(one(lambda mb, x: mb.exp(x=x), 1, 65_536, 1, 4)),
    "channels_65537": Labeled(one(lambda mb, x: mb.exp(x=x), 1, 65_537, 1, 4), "no: relu, exp, sqrt", (SIZES,)),
    "tensor_5568": Labeled(one(lambda mb, x: mb.exp(x=x), 1, 3, 5568, 5568), "no: relu, exp, sqrt", (SIZES,)),
    "tensor_4096": Labeled(one(lambda mb, x: mb.exp(x=x), 1, 3, 4096, 4096)),
    "rank_5": Labeled(
        one(lambda mb, x: mb.exp(x=x), 2, 1, 4, 8, 8), "not known: rank 5 may not compile, rank 4 does", (SIZES,)
    ),
    "rank_5_heads": Labeled(one(attention, 1, 16, 96)),
    # States.
    "state_256": Labeled(read(256)),
    "state_270": Labeled(read(270), "no: the last dimension of a state is not a multiple of 32", ("state-shapes",)),
    "state_288": Labeled(read(288)),
    # Shapes.
    "listed_128": Labeled(lambda: listed(128, normed=False)),
    "listed_129": Labeled(lambda: listed(129, normed=False), "no: more than 128 listed shapes", (SHAPES,)),
    "listed_norm": Labeled(lambda: listed(3, normed=True), "no: listed shapes with layer_norm", (SHAPES,)),
    "ranged_norm": Labeled(
        lambda: listed(3, normed=True, ranged=True), f"{ALL}, at the default shape alone", (SHAPES,)
    ),
    "ranged_plain": Labeled(
        lambda: listed(3, normed=False, ranged=True), f"{ALL}, at the default shape alone", (SHAPES,)
    ),
    "ranged_state": Labeled(
        lambda: listed(3, normed=False, ranged=True, state=True),
        "no: a state beside inputs of several shapes is not supported", (SHAPES,),
    ),
    "norm": Labeled(one(lambda mb, x: mb.layer_norm(x=x, axes=[-1], epsilon=1e-5), 4, 32)),
    # Precision and weights.
    "float32": Labeled(
        lambda: convolution(interface="fp32", precision="FLOAT32"), "no: it computes in Float32", ("float32-compute",)
    ),
    "float16": Labeled(convolution),
    "SharpenFilter": Labeled(sample),
    "int4_blocks": Labeled(
        lambda: quantized("int4", "iOS18", granularity="per_block", block_size=16),
        off("conv", total=2, split=": 2 pieces, 1 hand-off"), ("per-block-weights",),
    ),
    "int4_channels": Labeled(lambda: quantized("int4", "iOS18", granularity="per_channel")),
    "vectors_32": Labeled(
        lambda: palette(vector=32), off("conv", total=2, split=": 2 pieces, 1 hand-off"), ("per-block-weights",)
    ),
    "vectors_16": Labeled(lambda: palette(vector=16)),
    "palettes_4": Labeled(lambda: palette(bits=4)),
    "palettes_scaled": Labeled(
        lambda: palettized(4, "iOS18", granularity="per_tensor", enable_per_channel_scale=True)
    ),
    # Pieces: 5 make 11, 4 make 9.
    "pieces_11": Labeled(
        in_turns(5), off("5 topk", 5, total=12, split=": 11 pieces, 10 hand-offs"), (OPERATIONS, "engine-pieces")
    ),
    "pieces_9": Labeled(in_turns(4), off("4 topk", 4, total=10, split=": 9 pieces, 8 hand-offs"), _FOUND),
}  # fmt: skip


def labeled_facts() -> dict[str, ModelFile]:
    """Facts of all labeled models by name, without files."""
    with warnings.catch_warnings():
        # coremltools leaves its temporary folders to the garbage collector.
        warnings.simplefilter("ignore")
        gc.collect()
        gc.freeze()
        facts = {name: facts_of(labeled.build(), name) for name, labeled in LABELED.items()}
        gc.collect()
    return facts
