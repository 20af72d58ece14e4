"""ML programs with compressed weights, by the optimizers of coremltools or, where these need other packages, by hand.

All hold one convolution with `WEIGHTS` weights, so that sizes can be worked out by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.models.programs import CHANNELS, KERNEL, WEIGHTS, convolution, coremltools, program


def palettized(bits: int, opset: str = "iOS16", *, sparse: bool = False, **options: Any) -> Any:
    import coremltools.optimize.coreml as cto

    settings = _settings("OpPalettizerConfig", mode="uniform", nbits=bits, **options)
    return cto.palettize_weights(pruned(opset) if sparse else convolution(opset), settings, joint_compression=sparse)


def quantized(dtype: str, opset: str, *, sparse: bool = False, **options: Any) -> Any:
    import coremltools.optimize.coreml as cto

    settings = _settings("OpLinearQuantizerConfig", mode="linear_symmetric", dtype=dtype, **options)
    model = pruned(opset) if sparse else convolution(opset)
    return cto.linear_quantize_weights(model, settings, joint_compression=sparse)


def pruned(opset: str = "iOS16") -> Any:
    import coremltools.optimize.coreml as cto

    return cto.prune_weights(convolution(opset), _settings("OpMagnitudePrunerConfig", target_sparsity=0.5))


def _settings(kind: str, **options: Any) -> Any:
    import coremltools.optimize.coreml as cto

    return cto.OptimizationConfig(global_config=getattr(cto, kind)(weight_threshold=1, **options))


def palette(*, bits: int = 4, vector: int = 1, groups: int = 1, quantize: bool = False) -> Any:
    """Palettes of iOS 18, one for each of `groups` of output channels, of vectors along these; perhaps quantized to
    8 bits themselves."""
    coremltools()
    import numpy as np
    from coremltools.converters.mil.mil import types

    packed = types.nptype_from_builtin(types.string_to_builtin(f"uint{bits}"))
    shape = (CHANNELS // vector, CHANNELS, KERNEL, KERNEL)
    indices = (np.arange(WEIGHTS // vector) % 2**bits).reshape(shape).astype(packed)
    sizes = (groups, 1, 1, 1, 2**bits, vector)
    along = {"vector_axis": 0} if vector > 1 else {}

    def weight(mb: Any) -> Any:
        entries = np.ones(sizes, np.float16)
        if quantize:
            scale = np.ones((1,) * 6, np.float16)
            entries = mb.constexpr_blockwise_shift_scale(data=np.ones(sizes, np.int8), scale=scale)
        return mb.constexpr_lut_to_dense(indices=indices, lut=entries, **along)

    return _convolved(weight, "fp16", opset="iOS18")


def stored_as_float16() -> Any:
    """Weights of Float16 that the model computes with as Float32."""
    import numpy as np

    held = np.ones((CHANNELS, CHANNELS, KERNEL, KERNEL), np.float16)
    return _convolved(lambda mb: mb.constexpr_cast(source_val=held, output_dtype="fp32"), "fp32", precision="FLOAT32")


def _convolved(weight: Callable[[Any], Any], interface: str, **options: str) -> Any:
    """`y = relu(conv(x))` with weights that the program makes."""

    def compute(mb: Any) -> Any:
        return lambda x: mb.relu(x=mb.conv(x=x, weight=weight(mb), pad_type="same"), name="y")

    return program(compute, (interface, (1, CHANNELS, 8, 8)), **options)


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
    "pruned_quantized.mlpackage": lambda: quantized("int8", "iOS18", sparse=True),
    "pruned_palettized.mlpackage": lambda: palettized(4, "iOS18", sparse=True),
    "cast_weights.mlpackage": stored_as_float16,
}
"""By file name: what makes the model."""
