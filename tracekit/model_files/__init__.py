"""Core ML model files: `read_model(path)` gives their facts, whatever the form of the file.

Packages and specifications are read with the message types of coremltools, compiled models and the JSON of
`xcrun coremlcompiler metadata` without it. Knows nothing of recordings.
"""

from tracekit.model_files.facts import (
    Conversion,
    Feature,
    FeatureKind,
    Form,
    Function,
    Kind,
    Metadata,
    ModelFile,
    Operation,
    Shape,
    SizeRange,
    Stored,
    Value,
    Weight,
    Weights,
    WeightState,
)
from tracekit.model_files.failures import UnreadableModel
from tracekit.model_files.read import read_model, read_piped, read_subject
from tracekit.model_files.versions import NEWEST, Release, Target, deployment_target, parse_target, release_of

__all__ = [
    "NEWEST",
    "Conversion",
    "Feature",
    "FeatureKind",
    "Form",
    "Function",
    "Kind",
    "Metadata",
    "ModelFile",
    "Operation",
    "Release",
    "Shape",
    "SizeRange",
    "Stored",
    "Target",
    "UnreadableModel",
    "Value",
    "Weight",
    "WeightState",
    "Weights",
    "deployment_target",
    "parse_target",
    "read_model",
    "read_piped",
    "read_subject",
    "release_of",
]
