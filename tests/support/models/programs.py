"""ML programs without compression."""

from __future__ import annotations

import logging
import os
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

    return converted(program, opset, precision, **options)


def converted(program: Any, opset: str, precision: str = "FLOAT16", **options: Any) -> Any:
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
    return converted(program, opset, inputs=[kind])


def flexible(shape: Any) -> Any:
    """A model whose input has no fixed shape."""
    ct = coremltools()
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import get_new_symbol

    @Builder.program(input_specs=[Builder.TensorSpec((get_new_symbol(), 4))], opset_version=ct.target.iOS16)
    def program(x: Any) -> Any:
        return Builder.sqrt(x=x, name="y")

    return converted(program, "iOS16", inputs=[ct.TensorType(name="x", shape=shape)])


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

    return converted(program, "iOS18")


def passed_state() -> Any:
    """A model that takes its state as an input and gives the next one as an output."""
    ct = coremltools()
    from coremltools.converters.mil import Builder

    @Builder.program(
        input_specs=[Builder.TensorSpec((1, 4)), Builder.TensorSpec((2, 64, 32))], opset_version=ct.target.iOS16
    )
    def program(x: Any, cache_in: Any) -> Any:
        return Builder.sqrt(x=x, name="y"), Builder.add(x=cache_in, y=1.0, name="cache_out")

    return converted(program, "iOS16")


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

    return converted(program, "iOS16")


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

    return converted(program, "iOS16")


def long_input(size: int = 20_000, rank: int = 4) -> Any:
    """A model with one large dimension."""
    ct = coremltools()
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import types

    shape = (*(1,) * (rank - 1), size)

    @Builder.program(input_specs=[Builder.TensorSpec(shape, dtype=types.fp16)], opset_version=ct.target.iOS16)
    def program(x: Any) -> Any:
        return Builder.sqrt(x=x, name="y")

    return converted(program, "iOS16")


def int8_interface(*, both_ways: bool = False) -> Any:
    """A model that takes whole numbers of 8 bits, and perhaps gives them."""
    ct = coremltools()
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import types

    @Builder.program(input_specs=[Builder.TensorSpec((1, 4), dtype=types.int8)], opset_version=ct.target.iOS26)
    def program(x: Any) -> Any:
        inside = Builder.cast(x=x, dtype="fp16")
        if both_ways:
            return Builder.cast(x=Builder.sqrt(x=inside), dtype="int8", name="y")
        return Builder.sqrt(x=inside, name="y")

    return converted(program, "iOS26")


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
    ct = coremltools()
    import numpy as np
    from coremltools.converters.mil import Builder

    @Builder.program(input_specs=[Builder.TensorSpec((1, 8, 8, 3))], opset_version=ct.target.iOS16)
    def program(x: Any) -> Any:
        scaled = Builder.mul(x=Builder.transpose(x=x, perm=[0, 3, 1, 2]), y=np.float32(0.5))
        return Builder.transpose(x=Builder.sqrt(x=scaled), perm=[0, 2, 3, 1], name="y")

    return _in_float32(program, "transpose", "mul")


def mixed() -> Any:
    """A model that computes twice in Float16 and then once in Float32."""
    ct = coremltools()
    from coremltools.converters.mil import Builder

    @Builder.program(input_specs=[Builder.TensorSpec((1, 4))], opset_version=ct.target.iOS16)
    def program(x: Any) -> Any:
        return Builder.log(x=Builder.sqrt(x=Builder.exp(x=x)), name="y")

    return _in_float32(program, "log")


def _in_float32(program: Any, *types: str) -> Any:
    """The program with operations of these types in Float32, and the others in Float16."""
    ct = coremltools()
    return ct.convert(
        program,
        convert_to="mlprogram",
        minimum_deployment_target=ct.target.iOS16,
        compute_precision=ct.transform.FP16ComputePrecision(
            op_selector=lambda operation: operation.op_type not in types
        ),
        skip_model_load=True,
    )


def condition() -> Any:
    """A model that computes one of two things."""
    ct = coremltools()
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import types

    @Builder.program(
        input_specs=[Builder.TensorSpec((1, 4)), Builder.TensorSpec((1,), dtype=types.int32)],
        opset_version=ct.target.iOS16,
    )
    def program(x: Any, flag: Any) -> Any:
        asked = Builder.squeeze(x=Builder.cast(x=flag, dtype="bool"))
        return Builder.cond(
            pred=asked, _true_fn=lambda: Builder.relu(x=x), _false_fn=lambda: Builder.sqrt(x=x), name="y"
        )

    return converted(program, "iOS16")


def classifier(**options: Any) -> Any:
    """A model whose output is a label with the probability of each."""
    ct = coremltools()
    from coremltools.converters.mil import Builder

    @Builder.program(input_specs=[Builder.TensorSpec((1, 4))], opset_version=ct.target.iOS16)
    def program(x: Any) -> Any:
        return Builder.softmax(x=x, axis=-1, name="probabilities")

    return converted(program, "iOS16", classifier_config=ct.ClassifierConfig(["a", "b", "c", "d"]), **options)


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
