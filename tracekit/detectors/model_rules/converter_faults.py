"""`converter-faults`: the version of coremltools that made the model has a known fault with what is in it."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.model_files.facts import FLOATS, Function

VERSION = "com.github.apple.coremltools.version"
"""Key of the metadata that coremltools writes."""


def _scales_palettes(function: Function) -> bool:
    """Whether palettes of floats are scaled, which is how a scale per channel is stored."""
    scaled = (each for each in function.operations or () if each.type == "constexpr_blockwise_shift_scale")
    return any(data.parameter == "data" and data.element in FLOATS for each in scaled for data in each.stored)


def detect(view: tk.InspectedModel, _options: tk.NoOptions) -> tk.Outcome:
    """Compares the version in the metadata with faults that were reported."""
    model = view.model
    version = model.metadata.user_defined.get(VERSION)
    if version is None:
        return view.not_applicable("The metadata name no version of coremltools.")
    if model.weights.tensors is None:
        return view.unknown("The file does not list the weights.", "Inspect the model itself.")
    found = []
    if version.split(".")[0] == "9":
        if any(function.states for function in model.functions) and any(
            each.bits == 4 and "palettized" in each.technique for each in model.weights.tensors
        ):
            found.append(
                "4-bit palettes beside states: crashes after 100 to 200 predictions and wrong numbers were reported"
            )
        if any(map(_scales_palettes, model.functions)):
            found.append("palettes with a scale per channel: a crash at load was reported on macOS 26")
    metrics = (tk.Metric("faults", "known faults", len(found), "count"),)
    if not found:
        return view.passed(f"No fault of coremltools {version} is known with what the model has.", metrics)
    return view.finding(f"Made by coremltools {version}, with {'; and '.join(found)}.", metrics)


DETECTOR = tk.ModelFileDetector(options=tk.NoOptions, detect=detect)
