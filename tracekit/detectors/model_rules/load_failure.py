"""`load-failure`: what keeps a model file from being loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.detectors.framework import ModelFileDetector
from tracekit.detectors.model_rules.shared import NoOptions, code, listed
from tracekit.detectors.outcomes import Finding, InsufficientData, Metric, Passed
from tracekit.detectors.patterns import Pattern
from tracekit.detectors.shared.references import COMPILE_MODEL
from tracekit.model_files import NEWEST, Form, WeightState
from tracekit.units import format_bytes

if TYPE_CHECKING:
    from tracekit.detectors.framework import InspectedModel
    from tracekit.detectors.outcomes import Outcome

_WORDS = {
    WeightState.MISSING: "Weights missing",
    WeightState.POINTER: "Weights missing",
    WeightState.DAMAGED: "Weights damaged",
}


def detect(view: InspectedModel, _options: NoOptions) -> Outcome:
    """Goes through the list: there, readable, whole, weights there, version known, compiled or source."""
    model = view.model
    weights, version = model.weights, model.specification_version
    metrics = () if weights.bytes is None else (Metric("weights", weights.bytes, "bytes"),)
    if weights.state in _WORDS:
        size = "" if weights.bytes is None else f" ({format_bytes(weights.bytes)} expected)"
        return Finding(model.name, f"{_WORDS[weights.state]}: {weights.reason}{size}.", metrics, None, ())
    if model.absent:
        return Finding(model.name, f"Incomplete: {listed(map(code, model.absent))} is missing.", metrics, None, ())
    if version is not None and version > NEWEST:
        return Finding(
            model.name,
            f"Specification version {version} is newer than this tool knows ({NEWEST}: iOS 26, macOS 26), and may be "
            "newer than the system.",
            metrics,
            None,
            (),
        )
    if model.form is Form.COMPILER_JSON:
        return InsufficientData(
            model.name,
            "Only the compiler's description was given, not the files.",
            "Inspect the .mlpackage or .mlmodelc that does not load.",
        )
    size = f" with {format_bytes(weights.bytes)} of weights" if weights.bytes else ""
    if model.form is Form.COMPILED:
        return Passed(model.name, f"Readable and whole{size}; compiled, so `MLModel(contentsOf:)` takes it.", metrics)
    return Passed(
        model.name,
        f"Readable and whole{size}; source form, so Xcode or `MLModel.compileModel(at:)` compiles it before it loads.",
        metrics,
    )


DESCRIPTION = """
What can be wrong with the files of a model that does not load.

## How it is measured

1. The file or folder is there and readable. If not, `tracekit inspect` says so and stops.
2. The specification is whole. A truncated one cannot be read either.
3. The weights are there, are not a Git LFS pointer, and every tensor that the specification refers to lies in them.
4. A compiled model has its `coremldata.bin`, which the compiler always writes.
5. The specification version is one that this tool knows (`deployment-target` compares it with a system).
6. The form: `MLModel(contentsOf:)` takes a compiled model (`.mlmodelc`). A package or `.mlmodel` must be compiled
   first, by Xcode or `MLModel.compileModel(at:)`; otherwise the error says that the model "was not compiled".

## Not a problem when

- The weights are left out on purpose, for example to share the structure of a model alone.
"""

FIX = """
Get the files again, complete:

- Weights missing: copy the whole `.mlpackage` folder. In a Git repository, fetch large files with `git lfs pull`.
- Compiled model incomplete: copy the whole `.mlmodelc` folder.
- Weights truncated: download the package again.
- "was not compiled": load the compiled form.

```swift
let compiled = try await MLModel.compileModel(at: packageURL)  // keep it: compiling takes time
let model = try await MLModel.load(contentsOf: compiled)
```
"""

DETECTOR = ModelFileDetector(
    id="load-failure",
    title="The files of the model are readable and whole",
    finding_title="The model may fail to load",
    pattern=Pattern.OTHER_LOAD_FAILURE,
    description=DESCRIPTION,
    why="Core ML fails to load a model whose files are missing, damaged or too new.",
    fix=FIX,
    references=(COMPILE_MODEL,),
    options=NoOptions,
    detect=detect,
)
