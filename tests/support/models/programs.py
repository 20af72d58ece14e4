"""ML programs without compression."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import cache
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


@cache
def convolution(
    opset: str = "iOS16",
    *,
    interface: str = "fp16",
    precision: str = "FLOAT16",
    shape: tuple[Any, ...] = (1, CHANNELS, 8, 8),
    **options: Any,
) -> Any:
    """`y = relu(conv(x))` with constant random weights."""
    import numpy as np

    weights = (
        np.random.default_rng(1)
        .standard_normal((CHANNELS, CHANNELS, KERNEL, KERNEL))
        .astype(np.float16 if interface == "fp16" else np.float32)
    )

    def compute(mb: Any) -> Any:
        return lambda x: mb.relu(x=mb.conv(x=x, weight=weights, pad_type="same"), name="y")

    return program(compute, (interface, shape), opset=opset, precision=precision, **options)


def program(
    compute: Callable[[Any], Callable[..., Any]],
    *inputs: tuple[str, tuple[Any, ...]],
    opset: str = "iOS16",
    precision: Any = "FLOAT16",
    **options: Any,
) -> Any:
    """A model of what `compute` gives for a builder: a function whose arguments are named as the inputs. Each of these
    is a type, or `state` for one of Float16, and a shape."""
    ct = coremltools()
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import types

    specs = [
        Builder.StateTensorSpec(shape, dtype=types.fp16)
        if kind == "state"
        else Builder.TensorSpec(shape, dtype=types.string_to_builtin(kind))
        for kind, shape in inputs
    ]
    built = Builder.program(input_specs=specs, opset_version=getattr(ct.target, opset))(compute(Builder))
    return converted(built, opset, precision, **options)


def converted(program: Any, opset: str, precision: Any = "FLOAT16", **options: Any) -> Any:
    """A program as a model; `precision` by name, or as coremltools takes it."""
    ct = coremltools()
    return ct.convert(
        program,
        convert_to="mlprogram",
        minimum_deployment_target=getattr(ct.target, opset),
        compute_precision=getattr(ct.precision, precision) if isinstance(precision, str) else precision,
        skip_model_load=True,
        **options,
    )


def sample() -> Any:
    """The model in `sample_models/`: two convolutions in Float16 behind a Float32 interface, which is its finding."""
    import numpy as np

    source = np.random.default_rng(1)
    wide, narrow = (source.standard_normal(shape).astype(np.float32) for shape in ((16, 3, 3, 3), (3, 16, 3, 3)))

    def compute(mb: Any) -> Any:
        def sharpened(image: Any) -> Any:
            inner = mb.relu(x=mb.conv(x=image, weight=wide, pad_type="same"))
            return mb.add(x=image, y=mb.conv(x=inner, weight=narrow, pad_type="same"), name="sharpened")

        return sharpened

    return program(compute, ("fp32", (1, 3, 64, 64)))


def image(layout: str, opset: str = "iOS15", **options: Any) -> Any:
    """A model that takes an image and scales it."""
    ct = coremltools()
    shape = (1, 1 if layout.startswith("GRAYSCALE") else 3, 8, 8)
    kind = ct.ImageType(name="picture", shape=shape, color_layout=getattr(ct.colorlayout, layout), **options)
    return program(lambda mb: lambda picture: mb.sqrt(x=picture, name="y"), ("fp32", shape), opset=opset, inputs=[kind])


def root(mb: Any) -> Any:
    """`y = sqrt(x)`."""
    return lambda x: mb.sqrt(x=x, name="y")


def flexible(shape: Any) -> Any:
    """A model whose input has no fixed shape."""
    ct = coremltools()
    from coremltools.converters.mil.mil import get_new_symbol

    return program(root, ("fp32", (get_new_symbol(), 4)), inputs=[ct.TensorType(name="x", shape=shape)])


def enumerated() -> Any:
    return flexible(coremltools().EnumeratedShapes([(1, 4), (2, 4), (8, 4)], default=(2, 4)))


def ranged() -> Any:
    ct = coremltools()
    return flexible(ct.Shape((ct.RangeDim(1, 16, default=3), 4)))


def stateful() -> Any:
    """A model that adds its input to a state."""

    def compute(mb: Any) -> Any:
        return lambda x, memory: mb.coreml_update_state(
            state=memory, value=mb.add(x=mb.read_state(input=memory), y=x), name="y"
        )

    return program(compute, ("fp16", (1, 4)), ("state", (1, 4)), opset="iOS18")


def passed_state() -> Any:
    """A model that takes its state as an input and gives the next one as an output."""

    def compute(mb: Any) -> Any:
        return lambda x, cache_in: (mb.sqrt(x=x, name="y"), mb.add(x=cache_in, y=1.0, name="cache_out"))

    return program(compute, ("fp32", (1, 4)), ("fp32", (2, 64, 32)))


def loop() -> Any:
    import numpy as np

    def compute(mb: Any) -> Any:
        def counted(x: Any) -> Any:
            count = mb.reduce_max(x=mb.cast(x=x, dtype="int32"))
            done = mb.while_loop(
                _cond=lambda index, _: mb.less(x=index, y=count),
                _body=lambda index, total: (mb.add(x=index, y=1), mb.mul(x=total, y=x)),
                loop_vars=(np.int32(0), np.ones((1, 4), np.float32)),
            )
            return mb.identity(x=done[1], name="y")

        return counted

    return program(compute, ("fp32", (1, 4)))


def recurrent() -> Any:
    import numpy as np

    zero, weights = np.zeros((1, 8), np.float32), {"weight_ih": (32, 4), "weight_hh": (32, 8)}
    given = {name: np.ones(shape, np.float32) for name, shape in weights.items()}

    def compute(mb: Any) -> Any:
        return lambda x: mb.lstm(x=x, initial_h=zero, initial_c=zero, **given, name="y")[0]

    return program(compute, ("fp32", (5, 1, 4)))


def long_input(size: int = 20_000, rank: int = 4) -> Any:
    """A model with one large dimension."""
    return program(root, ("fp16", (*(1,) * (rank - 1), size)))


def int8_interface(*, both_ways: bool = False) -> Any:
    """A model that takes whole numbers of 8 bits, and perhaps gives them."""

    def compute(mb: Any) -> Any:
        if both_ways:
            return lambda x: mb.cast(x=mb.sqrt(x=mb.cast(x=x, dtype="fp16")), dtype="int8", name="y")
        return lambda x: mb.sqrt(x=mb.cast(x=x, dtype="fp16"), name="y")

    return program(compute, ("int8", (1, 4)), opset="iOS26")


def picture_to_picture() -> Any:
    """A model that gives back an image: what coremltools leaves an array for such a program is declared as one."""
    ct = coremltools()
    built = image("RGB", "iOS16", scale=1 / 255)
    spec = built.get_spec()
    given = spec.description.output[0].type.imageType
    given.width, given.height, given.colorSpace = 8, 8, 20
    return ct.models.MLModel(spec, weights_dir=built.weights_dir, skip_model_load=True)


def flexible_image(*, listed: bool) -> Any:
    """A model that takes images of two sizes, or of a range of them."""
    ct = coremltools()
    from coremltools.models.neural_network import flexible_shape_utils

    built = image("RGB", "iOS16", scale=1 / 255)
    spec = built.get_spec()
    if listed:
        sizes = [flexible_shape_utils.NeuralNetworkImageSize(height, width) for height, width in ((8, 8), (16, 24))]
        flexible_shape_utils.add_enumerated_image_sizes(spec, "picture", sizes)
    else:
        sizes = flexible_shape_utils.NeuralNetworkImageSizeRange()
        sizes.add_height_range((4, 64))
        sizes.add_width_range((8, -1))
        flexible_shape_utils.update_image_size_range(spec, "picture", sizes)
    return ct.models.MLModel(spec, weights_dir=built.weights_dir, skip_model_load=True)


def channels_last() -> Any:
    """A model that transposes and scales its input in Float32 and computes in Float16."""
    import numpy as np

    def compute(mb: Any) -> Any:
        def scaled(x: Any) -> Any:
            planes = mb.mul(x=mb.transpose(x=x, perm=[0, 3, 1, 2]), y=np.float32(0.5))
            return mb.transpose(x=mb.sqrt(x=planes), perm=[0, 2, 3, 1], name="y")

        return scaled

    return program(compute, ("fp32", (1, 8, 8, 3)), precision=_in_float32("transpose", "mul"))


def mixed() -> Any:
    """A model that computes twice in Float16 and then once in Float32."""

    def compute(mb: Any) -> Any:
        return lambda x: mb.log(x=mb.sqrt(x=mb.exp(x=x)), name="y")

    return program(compute, ("fp32", (1, 4)), precision=_in_float32("log"))


def _in_float32(*types: str) -> Any:
    """The precision of a program with operations of these types in Float32, and the others in Float16."""
    precision = coremltools().transform.FP16ComputePrecision
    return precision(op_selector=lambda operation: operation.op_type not in types)


def condition() -> Any:
    """A model that computes one of two things."""

    def compute(mb: Any) -> Any:
        return lambda x, flag: mb.cond(
            pred=mb.squeeze(x=mb.cast(x=flag, dtype="bool")),
            _true_fn=lambda: mb.relu(x=x),
            _false_fn=lambda: mb.sqrt(x=x),
            name="y",
        )

    return program(compute, ("fp32", (1, 4)), ("int32", (1,)))


def classifier(**options: Any) -> Any:
    """A model whose output is a label with the probability of each."""

    def compute(mb: Any) -> Any:
        return lambda x: mb.softmax(x=x, axis=-1, name="probabilities")

    labels = coremltools().ClassifierConfig(["a", "b", "c", "d"])
    return program(compute, ("fp32", (1, 4)), classifier_config=labels, **options)


def programs_in_a_row() -> Any:
    """A pipeline of two ML programs."""
    ct = coremltools()
    models = []
    for old in ("y", "x"):
        built = convolution()
        spec = built.get_spec()
        ct.utils.rename_feature(spec, old, "between")
        models.append(ct.models.MLModel(spec, weights_dir=built.weights_dir, skip_model_load=True))
    return ct.utils.make_pipeline(*models)


MODELS: dict[str, Any] = {
    **{f"target_{name}.mlpackage": lambda name=name: convolution(name, interface="fp32") for name in TARGETS},
    "float16_interface.mlpackage": convolution,
    "float32_compute.mlpackage": lambda: convolution(interface="fp32", precision="FLOAT32"),
    "int8_interface.mlpackage": int8_interface,
    "int8_both_ways.mlpackage": lambda: int8_interface(both_ways=True),
    "image_rgb.mlpackage": lambda: image("RGB", scale=1 / 255, bias=[0.1, 0.2, 0.3]),
    "image_bgr.mlpackage": lambda: image("BGR", "iOS26"),
    "image_gray.mlpackage": lambda: image("GRAYSCALE"),
    "image_half.mlpackage": lambda: image("GRAYSCALE_FLOAT16", "iOS16"),
    "image_to_image.mlpackage": picture_to_picture,
    "image_sizes.mlpackage": lambda: flexible_image(listed=True),
    "image_range.mlpackage": lambda: flexible_image(listed=False),
    "channels_last.mlpackage": channels_last,
    "mixed.mlpackage": mixed,
    "enumerated.mlpackage": enumerated,
    "ranged.mlpackage": ranged,
    "stateful.mlpackage": stateful,
    "passed_state.mlpackage": passed_state,
    "loop.mlpackage": loop,
    "condition.mlpackage": condition,
    "classifier.mlpackage": classifier,
    "recurrent.mlpackage": recurrent,
    "long_input.mlpackage": long_input,
    "programs_in_a_row.mlpackage": programs_in_a_row,
}
"""By file name: what makes the model."""
