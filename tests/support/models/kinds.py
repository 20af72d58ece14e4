"""A model of every kind that Core ML's protobuf has, built by hand: what a specification needs, and nothing else."""

from __future__ import annotations

from typing import Any

from tracekit.model_files.facts import Form, ModelFile
from tracekit.model_files.from_specification import model_of
from tracekit.model_files.read import message_types

NETWORKS = ("neuralNetwork", "neuralNetworkClassifier", "neuralNetworkRegressor")
_APPLE = "Apple's own"
_NONE = "is not a neural network"
KINDS = {
    **dict.fromkeys(
        (
            "glmRegressor", "supportVectorRegressor", "treeEnsembleRegressor", "bayesianProbitRegressor",
            "glmClassifier", "supportVectorClassifier", "treeEnsembleClassifier", "kNearestNeighborsClassifier",
            "itemSimilarityRecommender", "classConfidenceThresholding", "oneHotEncoder", "imputer", "featureVectorizer",
            "dictVectorizer", "scaler", "categoricalMapping", "normalizer", "arrayFeatureExtractor",
            "nonMaximumSuppression", "identity",
        ),
        _NONE,
    ),
    **dict.fromkeys(
        (
            "textClassifier", "wordTagger", "visionFeaturePrint", "soundAnalysisPreprocessing", "gazetteer",
            "wordEmbedding", "audioFeaturePrint", "serializedModel",
        ),
        _APPLE,
    ),
    "customModel": "class of the app",
    "linkedModel": "in another file",
}  # fmt: skip
"""Kinds without operations in the file, and what is true of each."""


def of_kind(kind: str) -> ModelFile:
    """A model whose input takes any length, as those of Create ML do."""
    message = _message(kind, 8000, 240_000)
    if kind == "customModel":
        message.customModel.className = "Own"
    return model_of(message, kind, f"{kind}.mlmodel", Form.MODEL, None)


def _message(kind: str, *sizes: int) -> Any:
    types = message_types()
    message = types.Model(specificationVersion=4)
    getattr(message, kind).SetInParent()
    given = message.description.input.add(name="x").type.multiArrayType
    given.dataType, given.shape[:] = 65568, sizes[:1]
    if len(sizes) > 1:
        limit = given.shapeRange.sizeRanges.add()
        limit.lowerBound, limit.upperBound = sizes
    message.description.output.add(name="y").type.multiArrayType.dataType = 65568
    return message


def network_with(kind: str, layer: str) -> ModelFile:
    """A network of a kind with one layer that a limit is about."""
    return model_of(_network(kind, layer), layer, f"{layer}.mlmodel", Form.MODEL, None)


def piped(pipeline: str, kind: str, layer: str) -> ModelFile:
    """A pipeline of the network and trees."""
    message = _message(pipeline, 8)
    held = getattr(message, pipeline)
    held = getattr(held, "pipeline", held)
    message.description.CopyFrom(_network(kind, layer).description)
    held.models.extend([_network(kind, layer), _message("treeEnsembleClassifier", 8)])
    held.names.extend(["network", "trees"])
    return model_of(message, layer, f"{layer}.mlmodel", Form.MODEL, None)


def _network(kind: str, name: str) -> Any:
    what, _, number = name.partition("_")
    message = _message(kind, int(number) if what == "channels" else 8)
    network = getattr(message, kind)
    network.layers.add(name="first", input=["x"], output=["h"]).activation.ReLU.SetInParent()
    layer = network.layers.add(name=name, input=["h"], output=["y"])
    if what in ("convolution", "deconvolution"):
        size = int(number) if number.isdigit() and what == "convolution" else 3
        stride = int(number.removeprefix("stride_")) if number and size == 3 else 1
        settings = layer.convolution
        settings.kernelSize[:], settings.stride[:] = [3, size], [stride, stride]
        settings.isDeconvolution = what == "deconvolution"
        settings.weights.floatValue.extend([1.0] * 16)
    elif what in ("average", "maximum"):
        layer.pooling.kernelSize[:] = [int(number)] * 2
        layer.pooling.type = int(what == "average")
    elif what == "custom":
        layer.custom.className = "Own"
    elif what == "gather":
        layer.gather.axis = 0
        layer.input.append("i")
        maker = network.layers.add(name="i", input=["h"] if number == "computed" else [], output=["i"])
        (maker.ceil if number == "computed" else maker.loadConstantND).SetInParent()
    elif what == "channels":
        layer.softmax.SetInParent()
    else:
        getattr(layer, what).SetInParent()
    return message
