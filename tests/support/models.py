"""Core ML models of every kind that coremltools builds on Linux, each for one fact that an inspector must get right.

Weights and shapes are chosen so that every number can be worked out by hand. `build(folder)` writes all of them.
"""

from __future__ import annotations

import gc
import logging
import os
import warnings
from pathlib import Path
from typing import Any

CHANNELS, KERNEL = 32, 3
WEIGHTS = CHANNELS * CHANNELS * KERNEL * KERNEL
"""Elements of the one convolution that most of the models hold."""
TARGETS = {"iOS15": 6, "iOS16": 7, "iOS17": 8, "iOS18": 9, "iOS26": 10}
"""Deployment targets of ML programs and their specification versions."""


def coremltools() -> Any:
    """The library without its notices. It costs a second, so only what builds models asks for it."""
    os.environ["TQDM_DISABLE"] = "1"
    logging.getLogger("coremltools").setLevel(logging.CRITICAL)
    import coremltools as ct

    return ct


def build(folder: Path) -> None:
    """Write every model into the folder, by the name of what it shows."""
    folder.mkdir(parents=True)
    with warnings.catch_warnings():
        # coremltools leaves its temporary folders to the garbage collector.
        warnings.simplefilter("ignore")
        for name, make in MODELS.items():
            make().save(str(folder / name))
        _save_multifunction(folder)
        gc.collect()


def convolution(
    opset: str = "iOS16",
    *,
    interface: str = "fp16",
    precision: str = "FLOAT16",
    shape: tuple[Any, ...] = (1, CHANNELS, 8, 8),
    **options: Any,
) -> Any:
    """`y = relu(conv(x))` with constant random weights."""
    ct = coremltools()
    import numpy as np
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import types

    held = {"fp16": types.fp16, "fp32": types.fp32}[interface]
    weights = (
        np.random.default_rng(1)
        .standard_normal((CHANNELS, CHANNELS, KERNEL, KERNEL))
        .astype(np.float16 if interface == "fp16" else np.float32)
    )

    @Builder.program(input_specs=[Builder.TensorSpec(shape, dtype=held)], opset_version=getattr(ct.target, opset))
    def program(x: Any) -> Any:
        return Builder.relu(x=Builder.conv(x=x, weight=weights, pad_type="same"), name="y")

    return _converted(program, opset, precision, **options)


def _converted(program: Any, opset: str, precision: str = "FLOAT16", **options: Any) -> Any:
    ct = coremltools()
    return ct.convert(
        program,
        convert_to="mlprogram",
        minimum_deployment_target=getattr(ct.target, opset),
        compute_precision=getattr(ct.precision, precision),
        skip_model_load=True,
        **options,
    )


def image(layout: str, opset: str = "iOS15", **options: Any) -> Any:
    """A model that takes an image and scales it."""
    ct = coremltools()
    from coremltools.converters.mil import Builder

    depth = 1 if layout.startswith("GRAYSCALE") else 3

    @Builder.program(input_specs=[Builder.TensorSpec((1, depth, 8, 8))], opset_version=getattr(ct.target, opset))
    def program(picture: Any) -> Any:
        return Builder.sqrt(x=picture, name="y")

    kind = ct.ImageType(name="picture", shape=(1, depth, 8, 8), color_layout=getattr(ct.colorlayout, layout), **options)
    return _converted(program, opset, inputs=[kind])


def flexible(shape: Any) -> Any:
    """A model whose input has no fixed shape."""
    ct = coremltools()
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import get_new_symbol

    @Builder.program(input_specs=[Builder.TensorSpec((get_new_symbol(), 4))], opset_version=ct.target.iOS16)
    def program(x: Any) -> Any:
        return Builder.sqrt(x=x, name="y")

    return _converted(program, "iOS16", inputs=[ct.TensorType(name="x", shape=shape)])


def enumerated() -> Any:
    return flexible(coremltools().EnumeratedShapes([(1, 4), (2, 4), (8, 4)], default=(2, 4)))


def ranged() -> Any:
    ct = coremltools()
    return flexible(ct.Shape((ct.RangeDim(1, 16, default=3), 4)))


def stateful() -> Any:
    """A model that adds its input to a state."""
    ct = coremltools()
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import types

    @Builder.program(
        input_specs=[Builder.TensorSpec((1, 4), dtype=types.fp16), Builder.StateTensorSpec((1, 4), dtype=types.fp16)],
        opset_version=ct.target.iOS18,
    )
    def program(x: Any, memory: Any) -> Any:
        return Builder.coreml_update_state(
            state=memory, value=Builder.add(x=Builder.read_state(input=memory), y=x), name="y"
        )

    return _converted(program, "iOS18")


def passed_state() -> Any:
    """A model that takes its state as an input and gives the next one as an output."""
    ct = coremltools()
    from coremltools.converters.mil import Builder

    @Builder.program(
        input_specs=[Builder.TensorSpec((1, 4)), Builder.TensorSpec((2, 64, 32))],
        opset_version=ct.target.iOS16,
    )
    def program(x: Any, cache_in: Any) -> Any:
        return Builder.sqrt(x=x, name="y"), Builder.add(x=cache_in, y=1.0, name="cache_out")

    return _converted(program, "iOS16")


def loop() -> Any:
    ct = coremltools()
    import numpy as np
    from coremltools.converters.mil import Builder

    @Builder.program(input_specs=[Builder.TensorSpec((1, 4))], opset_version=ct.target.iOS16)
    def program(x: Any) -> Any:
        count = Builder.reduce_max(x=Builder.cast(x=x, dtype="int32"))
        done = Builder.while_loop(
            _cond=lambda index, _: Builder.less(x=index, y=count),
            _body=lambda index, total: (Builder.add(x=index, y=1), Builder.mul(x=total, y=x)),
            loop_vars=(np.int32(0), np.ones((1, 4), np.float32)),
        )
        return Builder.identity(x=done[1], name="y")

    return _converted(program, "iOS16")


def recurrent() -> Any:
    ct = coremltools()
    import numpy as np
    from coremltools.converters.mil import Builder

    @Builder.program(input_specs=[Builder.TensorSpec((5, 1, 4))], opset_version=ct.target.iOS16)
    def program(x: Any) -> Any:
        zero = np.zeros((1, 8), np.float32)
        return Builder.lstm(
            x=x,
            initial_h=zero,
            initial_c=zero,
            weight_ih=np.ones((32, 4), np.float32),
            weight_hh=np.ones((32, 8), np.float32),
            name="y",
        )[0]

    return _converted(program, "iOS16")


def long_input(size: int = 20_000, rank: int = 4) -> Any:
    """A model with one large dimension."""
    ct = coremltools()
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import types

    shape = (*(1,) * (rank - 1), size)

    @Builder.program(input_specs=[Builder.TensorSpec(shape, dtype=types.fp16)], opset_version=ct.target.iOS16)
    def program(x: Any) -> Any:
        return Builder.sqrt(x=x, name="y")

    return _converted(program, "iOS16")


def int8_interface() -> Any:
    ct = coremltools()
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import types

    @Builder.program(input_specs=[Builder.TensorSpec((1, 4), dtype=types.int8)], opset_version=ct.target.iOS26)
    def program(x: Any) -> Any:
        return Builder.sqrt(x=Builder.cast(x=x, dtype="fp16"), name="y")

    return _converted(program, "iOS26")


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


def network(*, custom: bool = False) -> Any:
    """An old neural network: inner product with 12 weights and 3 biases, and perhaps a layer of the app's own."""
    ct = coremltools()
    import numpy as np
    from coremltools.models import datatypes
    from coremltools.models.neural_network import NeuralNetworkBuilder

    builder = NeuralNetworkBuilder([("x", datatypes.Array(4))], [("y", datatypes.Array(3))])
    builder.add_inner_product(
        "dense", np.ones((3, 4)), np.zeros(3), input_channels=4, output_channels=3, has_bias=True,
        input_name="x", output_name="hidden" if custom else "y",
    )  # fmt: skip
    if custom:
        parameters = ct.proto.NeuralNetwork_pb2.CustomLayerParams()
        parameters.className = "AppOwnLayer"
        builder.add_custom("own", ["hidden"], ["y"], parameters)
    return ct.models.MLModel(builder.spec, skip_model_load=True)


def pipeline() -> Any:
    """Two networks in a row."""
    ct = coremltools()
    from coremltools.models import datatypes
    from coremltools.models.pipeline import Pipeline

    first, second = network().get_spec(), network().get_spec()
    ct.utils.rename_feature(first, "y", "between")
    second.description.input[0].type.multiArrayType.shape[:] = [3]
    ct.utils.rename_feature(second, "x", "between")
    joined = Pipeline([("x", datatypes.Array(4))], [("y", datatypes.Array(3))])
    joined.add_model(first)
    joined.add_model(second)
    return ct.models.MLModel(joined.spec, skip_model_load=True)


def _save_multifunction(folder: Path) -> None:
    """Two functions that share their weights."""
    ct = coremltools()
    described = ct.utils.MultiFunctionDescriptor()
    described.add_function(str(folder / "target_iOS18.mlpackage"), "main", "encode")
    described.add_function(str(folder / "target_iOS18.mlpackage"), "main", "decode")
    described.default_function_name = "decode"
    ct.utils.save_multifunction(described, str(folder / "multifunction.mlpackage"))


MODELS: dict[str, Any] = {
    **{f"target_{name}.mlpackage": lambda name=name: convolution(name, interface="fp32") for name in TARGETS},
    "float16_interface.mlpackage": convolution,
    "float32_compute.mlpackage": lambda: convolution(interface="fp32", precision="FLOAT32"),
    "int8_interface.mlpackage": int8_interface,
    "image_rgb.mlpackage": lambda: image("RGB", scale=1 / 255, bias=[0.1, 0.2, 0.3]),
    "image_gray.mlpackage": lambda: image("GRAYSCALE"),
    "image_half.mlpackage": lambda: image("GRAYSCALE_FLOAT16", "iOS16"),
    "enumerated.mlpackage": enumerated,
    "ranged.mlpackage": ranged,
    "stateful.mlpackage": stateful,
    "passed_state.mlpackage": passed_state,
    "loop.mlpackage": loop,
    "recurrent.mlpackage": recurrent,
    "long_input.mlpackage": long_input,
    "palettized_4bit.mlpackage": lambda: palettized(4),
    "palettized_groups.mlpackage": lambda: palettized(4, "iOS18", granularity="per_grouped_channel", group_size=8),
    "quantized_8bit.mlpackage": lambda: quantized("int8", "iOS16"),
    "quantized_tensor.mlpackage": lambda: quantized("int8", "iOS18", granularity="per_tensor"),
    "quantized_blocks.mlpackage": lambda: quantized("int4", "iOS18", granularity="per_block", block_size=16),
    "pruned.mlpackage": pruned,
    "pruned_quantized.mlpackage": pruned_and_quantized,
    "network.mlmodel": network,
    "custom_layer.mlmodel": lambda: network(custom=True),
    "pipeline.mlmodel": pipeline,
}
"""By file name: what makes the model."""
