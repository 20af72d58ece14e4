"""`state-in-interface`: the app passes the model's state in and out of every prediction."""

from __future__ import annotations

import math
import re

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import code, functions_of, literal, name_list
from tracekit.model_files.facts import BITS, Feature, FeatureKind, Function, ModelFile

_NAMES = re.compile(r"state|cache|memory|hidden|past|(?:^|_)(?:kv|mem|[hc]_?(?:in|0|prev))(?:_|$)", re.IGNORECASE)
"""Names that converters and authors give to state. Shapes decide nothing: filtered images keep theirs."""

SOURCE = "com.github.apple.coremltools.source"
"""Key of the metadata that coremltools writes: `torch==2.5.1`."""
STATES = 9
"""Specification version that has states: iOS 18, macOS 15."""


def detect(view: tk.InspectedModel, _options: tk.NoOptions) -> tk.Outcome:
    """Looks for inputs that are named like state and have an output of the same shape."""
    model = view.model
    pairs = [(entry, output) for _, function in functions_of(model) for entry, output in _pairs(function)]
    size = sum(_bytes(entry) for entry, _ in pairs)
    metrics = (tk.Metric("state", "state passed in and out", size, "bytes"),)
    if not pairs:
        states = [entry.name for function in model.functions for entry in function.states]
        words = (
            f"Keeps its state itself ({name_list(map(code, states))})." if states else "No state is passed in and out."
        )
        return view.passed(words, metrics)
    words = name_list(f"{code(entry.name)} in, {code(output)} out" for entry, output in pairs)
    return view.finding(
        f"{words}: state of {size:,} bytes that may be copied twice in every prediction.",
        metrics,
        fix=_fix([entry for entry, _ in pairs], _no_states(model)),
    )


def _pairs(function: Function) -> list[tuple[Feature, str]]:
    """Inputs that look like state, and the output that fits each; every output is taken once."""
    shapes = {
        value.name: value.dimensions for operation in function.operations or () for value in operation.outputs
    } | {each.name: each.shape.dimensions for each in function.outputs if each.shape is not None}
    free = {each.name: each for each in function.outputs if each.kind is FeatureKind.ARRAY}
    pairs = []
    for entry in function.inputs:
        if entry.kind is not FeatureKind.ARRAY or not _NAMES.search(entry.name) or entry.shape is None:
            continue
        for name, output in free.items():
            if output.element == entry.element and _fits(entry, shapes.get(name)):
                pairs.append((entry, name))
                del free[name]
                break
    return pairs


def _fits(entry: Feature, sizes: tuple[int | None, ...] | None) -> bool:
    """Whether a shape is that of the input, as far as both are known."""
    dimensions = entry.shape.dimensions if entry.shape else ()
    if sizes is None or len(sizes) != len(dimensions) or not dimensions:
        return False
    known = [
        (size, other) for size, other in zip(dimensions, sizes, strict=True) if size is not None and other is not None
    ]
    return all(size == other for size, other in known) and any(size > 1 for size, _ in known)


def _bytes(entry: Feature) -> int:
    """Bytes of an array; unknown sizes count as one."""
    count = math.prod(size or 1 for size in entry.shape.dimensions) if entry.shape else 1
    return count * BITS.get(entry.element or "", 0) // 8


def _no_states(model: ModelFile) -> str:
    """Why the model cannot keep its state; empty where it can."""
    if model.metadata.user_defined.get(SOURCE, "").startswith("tensorflow"):
        return "Core ML Tools makes states of PyTorch models only, and this one comes from TensorFlow"
    flexible = any(entry.shape and entry.shape.flexible for each in model.functions for entry in each.inputs)
    return "Inputs of several shapes are not supported beside states" if flexible else ""


def _fix(entries: list[Feature], reason: str) -> str:
    if reason:
        return f"{_BACKING}. {reason}."
    lines = []
    for entry in entries[:8]:
        sizes = tuple(entry.shape.dimensions) if entry.shape else ()
        # The Neural Engine may refuse other widths: `state-shapes`.
        sizes = (*sizes[:-1], *(-(-(size or 1) // 32) * 32 for size in sizes[-1:]))
        wrapped = f"ct.TensorType(shape={sizes}, dtype=np.float16)"
        lines.append(f"        ct.StateType(wrapped_type={wrapped}, name={literal(entry.name)}),\n")
    return (
        "Register the state as buffers of the PyTorch module and declare them (iOS 18, macOS 15 or later), with the "
        "last dimension rounded up to a multiple of 32:\n\n"
        "```python\nmodel = ct.convert(\n    source,\n    inputs=[...],\n"
        f"    states=[\n{''.join(lines)}    ],\n    minimum_deployment_target=ct.target.iOS18,\n)\n```\n\n"
        "```swift\nlet state = model.makeState()\n"
        "let output = try model.prediction(from: input, using: state)\n```\n\n"
        f"On older systems: {_BACKING[:1].lower()}{_BACKING[1:]}."
    )


_BACKING = (
    "Let Core ML write the output into a buffer that becomes the next input (`MLPredictionOptions.outputBackings`)"
)


DETECTOR = tk.ModelFileDetector(options=tk.NoOptions, detect=detect)
