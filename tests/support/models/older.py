"""Models that are no ML programs: neural networks, pipelines, trees and other kinds, all in a file of a few bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.models.programs import coremltools

GATES = 4
"""Of an LSTM."""
UNITS, FEATURES = 8, 4
"""Of the recurrent networks: hidden state and input."""
SIDE = 64
"""Inputs and outputs of the one layer of the compressed networks."""


def network(*, custom: bool = False) -> Any:
    """An old neural network: inner product with 12 weights and 3 biases, and perhaps a layer of the app's own."""
    ct = coremltools()
    import numpy as np

    builder = _builder({"x": 4}, {"y": 3})
    builder.add_inner_product(
        "dense", np.ones((3, 4)), np.zeros(3), input_channels=4, output_channels=3, has_bias=True,
        input_name="x", output_name="hidden" if custom else "y",
    )  # fmt: skip
    if custom:
        parameters = ct.proto.NeuralNetwork_pb2.CustomLayerParams()
        parameters.className = "AppOwnLayer"
        builder.add_custom("own", ["hidden"], ["y"], parameters)
    return _model(builder.spec)


def lstm(*, both_ways: bool = False) -> Any:
    """A recurrent network: four gates with weights for input and state, and biases, once or for both directions."""
    import numpy as np

    weights = ([np.ones((UNITS, UNITS))] * GATES, [np.ones((UNITS, FEATURES))] * GATES, [np.ones(UNITS)] * GATES)
    states = ["h", "c", "h_back", "c_back"] if both_ways else ["h", "c"]
    given = dict.fromkeys(states, UNITS)
    out = {f"{name}_out": UNITS for name in states}
    builder = _builder({"x": FEATURES, **given}, {"y": UNITS * (2 if both_ways else 1), **out})
    names = (["x", *given], ["y", *out])
    if both_ways:
        builder.add_bidirlstm("lstm", *weights, *weights, UNITS, FEATURES, *names)
    else:
        builder.add_unilstm("lstm", *weights, UNITS, FEATURES, *names)
    return _model(builder.spec)


def loop() -> Any:
    """A network with a loop around two layers, and a layer before it."""
    builder = _builder({"x": 4}, {"y": 4}, exact=True)
    builder.add_copy("copy", "x", "y")
    from coremltools.models.neural_network import NeuralNetworkBuilder

    body = NeuralNetworkBuilder(nn_spec=builder.add_loop("loop", max_iterations=3).loop.bodyNetwork)
    body.add_elementwise("plus", ["y", "x"], "sum", "ADD")
    body.add_copy("back", "sum", "y")
    return _model(builder.spec)


def activation() -> Any:
    """A network whose 16 weights belong to an activation."""
    import numpy as np

    builder = _builder({"x": 16}, {"y": 16})
    builder.add_activation("prelu", "PRELU", "x", "y", params=np.ones(16))
    return _model(builder.spec)


def unbounded() -> Any:
    """A network that takes batches of any size, and images from 8 to 64."""
    from coremltools.models.neural_network import flexible_shape_utils

    builder = _builder({"x": (1, 3, 8, 8)}, {"y": (1, 3, 8, 8)}, exact=True)
    builder.add_activation("relu", "RELU", "x", "y")
    flexible_shape_utils.set_multiarray_ndshape_range(builder.spec, "x", [1, 3, 8, 8], [-1, 3, 64, 64])
    return _model(builder.spec)


def compressed(bits: int, mode: str) -> Any:
    """A network whose one layer has weights and biases of these bits; 16: Float16."""
    import contextlib
    import io

    import numpy as np
    from coremltools.models.neural_network import quantization_utils

    def palette(bits: int, weights: Any) -> tuple[Any, Any]:
        return np.linspace(-1, 1, 2**bits), (np.arange(weights.size) % 2**bits).astype(np.uint8).reshape(weights.shape)

    builder = _builder({"x": SIDE}, {"y": SIDE})
    builder.add_inner_product("dense", np.ones((SIDE, SIDE)), np.ones(SIDE), SIDE, SIDE, True, "x", "y")
    options = {"lut_function": palette} if mode == "custom_lut" else {}
    with contextlib.redirect_stdout(io.StringIO()):
        made = quantization_utils.quantize_weights(_model(builder.spec), bits, mode, **options)
    # A specification where Core ML is absent, else a model.
    return _model(made.get_spec() if hasattr(made, "get_spec") else made)


def updatable() -> Any:
    """A network that can be trained further on the device."""
    import contextlib
    import io

    import numpy as np
    from coremltools.models.neural_network import SgdParams

    builder = _builder({"x": 4}, {"y": 3})
    builder.add_inner_product("dense", np.ones((3, 4)), np.zeros(3), 4, 3, True, "x", "hidden")
    builder.add_softmax("softmax", "hidden", "y")
    builder.make_updatable(["dense"])
    with contextlib.redirect_stdout(io.StringIO()):
        builder.set_categorical_cross_entropy_loss("loss", "y")
    builder.set_sgd_optimizer(SgdParams(lr=1e-2, batch=10))
    builder.set_epochs(10)
    return _model(builder.spec)


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
    return _model(joined.spec)


def classifying_pipeline() -> Any:
    """A linear classifier behind what puts its inputs together."""
    from coremltools.models import datatypes
    from coremltools.models.pipeline import PipelineClassifier

    joined = PipelineClassifier(
        [("a", datatypes.Double()), ("b", datatypes.Double())], ["no", "yes"], [("label", datatypes.String())]
    )
    vectorizer = coremltools().proto.Model_pb2.Model(specificationVersion=1)
    for name in "ab":
        vectorizer.featureVectorizer.inputList.add(inputColumn=name, inputDimensions=1)
        vectorizer.description.input.add(name=name).type.doubleType.SetInParent()
    _array(vectorizer.description.output.add(name="x"), 2)
    joined.add_model(vectorizer)
    joined.add_model(linear().get_spec())
    return _model(joined.spec)


def image_classifier() -> Any:
    """As Create ML writes it: a feature print of Vision, which takes images of any size from its own on, and a linear
    classifier."""
    proto = coremltools().proto
    spec = proto.Model_pb2.Model(specificationVersion=3)
    print_ = proto.Model_pb2.Model(specificationVersion=3)
    print_.visionFeaturePrint.scene.version = 1
    for model in (spec, print_):
        image = model.description.input.add(name="image").type.imageType
        image.width, image.height, image.colorSpace = 320, 299, 30
        image.imageSizeRange.widthRange.lowerBound, image.imageSizeRange.widthRange.upperBound = 320, -1
        image.imageSizeRange.heightRange.lowerBound, image.imageSizeRange.heightRange.upperBound = 299, -1
    _array(print_.description.output.add(name="x"), 2)
    spec.pipelineClassifier.pipeline.models.extend([print_, linear().get_spec()])
    spec.description.output.add(name="label").type.stringType.SetInParent()
    spec.description.predictedFeatureName = "label"
    return _model(spec)


def linear() -> Any:
    """A linear classifier of two features."""
    spec = coremltools().proto.Model_pb2.Model(specificationVersion=1)
    classifier = spec.glmClassifier
    classifier.weights.add().value.extend([1.0, 2.0])
    classifier.offset.append(0.5)
    classifier.stringClassLabels.vector.extend(["no", "yes"])
    _array(spec.description.input.add(name="x"), 2)
    spec.description.output.add(name="label").type.stringType.SetInParent()
    spec.description.predictedFeatureName = "label"
    return _model(spec)


def trees() -> Any:
    """One tree with one decision and two leaves."""
    from coremltools.models import datatypes
    from coremltools.models.tree_ensemble import TreeEnsembleClassifier

    ensemble = TreeEnsembleClassifier(
        [("a", datatypes.Double()), ("b", datatypes.Int64())], ["no", "yes"], output_features="label"
    )
    ensemble.set_default_prediction_value([0.0, 0.0])
    ensemble.add_branch_node(0, 0, 0, 0.5, "BranchOnValueLessThanEqual", 1, 2)
    ensemble.add_leaf_node(0, 1, {0: 1.0, 1: 0.0})
    ensemble.add_leaf_node(0, 2, {0: 0.0, 1: 1.0})
    return _model(ensemble.spec)


def neighbors() -> Any:
    """The nearest of two samples, to which the app may add others."""
    from coremltools.models.nearest_neighbors import KNearestNeighborsClassifierBuilder

    builder = KNearestNeighborsClassifierBuilder(
        input_name="x", output_name="label", number_of_dimensions=3, default_class_label="none", k=1
    )
    builder.add_samples([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], ["a", "b"])
    return _model(builder.spec)


def custom_model() -> Any:
    """A model that a class of the app computes."""
    spec = coremltools().proto.Model_pb2.Model(specificationVersion=3)
    spec.customModel.className = "AppOwnModel"
    return _model(spec)


def _builder(given: dict[str, Any], out: dict[str, Any], *, exact: bool = False) -> Any:
    """A builder of networks with these inputs and outputs. `exact`: shapes are those of the arrays, as from iOS 13."""
    from coremltools.models import datatypes
    from coremltools.models.neural_network import NeuralNetworkBuilder

    features = [
        [(name, datatypes.Array(*(size if isinstance(size, tuple) else (size,)))) for name, size in each.items()]
        for each in (given, out)
    ]
    return NeuralNetworkBuilder(*features, disable_rank5_shape_mapping=exact)


def _array(feature: Any, size: int) -> None:
    """Make a feature an array of doubles."""
    feature.type.multiArrayType.shape.append(size)
    feature.type.multiArrayType.dataType = 65600


def _model(spec: Any) -> Any:
    return coremltools().models.MLModel(spec, skip_model_load=True)


MODELS: dict[str, Any] = {
    "network.mlmodel": network,
    "custom_layer.mlmodel": lambda: network(custom=True),
    "lstm.mlmodel": lstm,
    "lstm_both_ways.mlmodel": lambda: lstm(both_ways=True),
    "network_loop.mlmodel": loop,
    "activation.mlmodel": activation,
    "unbounded.mlmodel": unbounded,
    "network_float16.mlmodel": lambda: compressed(16, "linear"),
    "network_quantized.mlmodel": lambda: compressed(8, "linear"),
    "network_palettized.mlmodel": lambda: compressed(4, "custom_lut"),
    "updatable.mlmodel": updatable,
    "pipeline.mlmodel": pipeline,
    "classifying_pipeline.mlmodel": classifying_pipeline,
    "image_classifier.mlmodel": image_classifier,
    "linear.mlmodel": linear,
    "trees.mlmodel": trees,
    "neighbors.mlmodel": neighbors,
    "custom_model.mlmodel": custom_model,
}
"""By file name: what makes the model."""


def facts_of(model: Any, name: str) -> Any:
    """Facts of a model of coremltools that was not saved."""
    from tracekit.model_files.facts import Form
    from tracekit.model_files.from_specification import model_of

    folder = Path(model.weights_dir).parent if getattr(model, "weights_dir", None) else None
    return model_of(model.get_spec(), name, f"{name}.mlpackage", Form.PACKAGE, folder)
