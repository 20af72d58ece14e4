"""All checks of model files, in the order in which they are listed: what keeps a model from loading comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracekit.detectors.model_rules import (
    custom_layers,
    deployment_target,
    flexible_shapes,
    float32_compute,
    interface_conversion,
    load_failure,
    per_block_weights,
    sequential_operations,
    state_in_interface,
    uncompressed_weights,
    unsupported_dimensions,
)

if TYPE_CHECKING:
    from tracekit.detectors.framework import ModelFileDetector

MODEL_DETECTORS: tuple[ModelFileDetector[Any], ...] = (
    load_failure.DETECTOR,
    deployment_target.DETECTOR,
    custom_layers.DETECTOR,
    interface_conversion.DETECTOR,
    state_in_interface.DETECTOR,
    float32_compute.DETECTOR,
    unsupported_dimensions.DETECTOR,
    sequential_operations.DETECTOR,
    flexible_shapes.DETECTOR,
    uncompressed_weights.DETECTOR,
    per_block_weights.DETECTOR,
)
