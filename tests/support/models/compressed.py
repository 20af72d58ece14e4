"""ML programs with compressed weights, by the optimizers of coremltools or, where these need other packages, by hand.

All hold one convolution with `WEIGHTS` weights, so that sizes can be worked out by hand.
"""

from __future__ import annotations

from typing import Any

from support.models.programs import CHANNELS, KERNEL, WEIGHTS, converted, convolution, coremltools


def palettized(bits: int, opset: str = "iOS16", **options: Any) -> Any:
    import coremltools.optimize.coreml as cto

    settings = cto.OpPalettizerConfig(mode="uniform", nbits=bits, weight_threshold=1, **options)
    return cto.palettize_weights(convolution(opset), cto.OptimizationConfig(global_config=settings))


def quantized(dtype: str, opset: str, **options: Any) -> Any:
    import coremltools.optimize.coreml as cto

    settings = cto.OpLinearQuantizerConfig(mode="linear_symmetric", dtype=dtype, weight_threshold=1, **options)
    return cto.linear_quantize_weights(convolution(opset), cto.OptimizationConfig(global_config=settings))


def pruned(opset: str = "iOS16") -> Any:
    import coremltools.optimize.coreml as cto

    settings = cto.OpMagnitudePrunerConfig(target_sparsity=0.5, weight_threshold=1)
    return cto.prune_weights(convolution(opset), cto.OptimizationConfig(global_config=settings))


def pruned_and_quantized() -> Any:
    import coremltools.optimize.coreml as cto

    settings = cto.OpLinearQuantizerConfig(mode="linear_symmetric", dtype="int8", weight_threshold=1)
    return cto.linear_quantize_weights(
        pruned("iOS18"), cto.OptimizationConfig(global_config=settings), joint_compression=True
    )


def pruned_and_palettized() -> Any:
    import coremltools.optimize.coreml as cto

    settings = cto.OpPalettizerConfig(mode="uniform", nbits=4, weight_threshold=1)
    return cto.palettize_weights(
        pruned("iOS18"), cto.OptimizationConfig(global_config=settings), joint_compression=True
    )


def palette(*, bits: int = 4, vector: int = 1, groups: int = 1, quantize: bool = False) -> Any:
    """Palettes of iOS 18, one for each of `groups` of output channels, of vectors along these; perhaps quantized to
    8 bits themselves."""
    ct = coremltools()
    import numpy as np
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import types

    packed = types.nptype_from_builtin(types.string_to_builtin(f"uint{bits}"))
    shape = (CHANNELS // vector, CHANNELS, KERNEL, KERNEL)
    indices = (np.arange(WEIGHTS // vector) % 2**bits).reshape(shape).astype(packed)
    sizes = (groups, 1, 1, 1, 2**bits, vector)

    @Builder.program(
        input_specs=[Builder.TensorSpec((1, CHANNELS, 8, 8), dtype=types.fp16)], opset_version=ct.target.iOS18
    )
    def program(x: Any) -> Any:
        entries = np.ones(sizes, np.float16)
        if quantize:
            entries = Builder.constexpr_blockwise_shift_scale(
                data=np.ones(sizes, np.int8), scale=np.ones((1,) * 6, np.float16)
            )
        along = {"vector_axis": 0} if vector > 1 else {}
        weight = Builder.constexpr_lut_to_dense(indices=indices, lut=entries, **along)
        return Builder.relu(x=Builder.conv(x=x, weight=weight, pad_type="same"), name="y")

    return converted(program, "iOS18")


def stored_as_float16() -> Any:
    """Weights of Float16 that the model computes with as Float32."""
    ct = coremltools()
    import numpy as np
    from coremltools.converters.mil import Builder

    @Builder.program(input_specs=[Builder.TensorSpec((1, CHANNELS, 8, 8))], opset_version=ct.target.iOS16)
    def program(x: Any) -> Any:
        held = np.ones((CHANNELS, CHANNELS, KERNEL, KERNEL), np.float16)
        weight = Builder.constexpr_cast(source_val=held, output_dtype="fp32")
        return Builder.relu(x=Builder.conv(x=x, weight=weight, pad_type="same"), name="y")

    return converted(program, "iOS16", "FLOAT32")


MODELS: dict[str, Any] = {
    **{f"palettized_{bits}bit.mlpackage": lambda bits=bits: palettized(bits) for bits in (1, 4, 6)},
    "palettized_3bit.mlpackage": lambda: palettized(3, "iOS18"),
    "palettized_groups.mlpackage": lambda: palettized(4, "iOS18", granularity="per_grouped_channel", group_size=8),
    "palettized_vectors.mlpackage": lambda: palette(vector=2),
    "palettized_vector_groups.mlpackage": lambda: palette(bits=2, vector=4, groups=2),
    "palettized_quantized.mlpackage": lambda: palette(groups=4, quantize=True),
    "quantized_8bit.mlpackage": lambda: quantized("int8", "iOS16"),
    "quantized_unsigned.mlpackage": lambda: quantized("uint8", "iOS16"),
    "quantized_tensor.mlpackage": lambda: quantized("int8", "iOS18", granularity="per_tensor"),
    "quantized_channels.mlpackage": lambda: quantized("int4", "iOS18", granularity="per_channel"),
    "quantized_blocks.mlpackage": lambda: quantized("int4", "iOS18", granularity="per_block", block_size=16),
    "pruned.mlpackage": pruned,
    "pruned_quantized.mlpackage": pruned_and_quantized,
    "pruned_palettized.mlpackage": pruned_and_palettized,
    "cast_weights.mlpackage": stored_as_float16,
}
"""By file name: what makes the model."""
