"""`compile-at-runtime`: the app compiles a model on the device again and again (catalogue entry A21)."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from tracekit.analysis.instances import traits
from tracekit.detectors import (
    Attribution,
    Detector,
    Finding,
    InsufficientData,
    Kind,
    Metric,
    ModelView,
    Outcome,
    Passed,
    Pattern,
    Reference,
    above,
    cost_of,
    covered_ns,
    finding,
    format_count,
    format_duration,
    is_any,
    option,
)


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    min_compiles: int = option(
        2, "compilations", "A downloaded model needs one; its result can be kept, so each further one is avoidable."
    )
    min_engine_compiles: int = option(
        3,
        "compilations of one part",
        "Two configurations of a model may need one each on the Neural Engine; the third repeats one (our judgement).",
    )
    min_lost_ms: float = option(
        100.0, "ms", "The shortest delay that Instruments' Hangs instrument can be set to note as one."
    )


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks for compilations beyond those that a model needs."""
    compiles, programs = view.compiles, engine_compiles(view)
    again = compiles.iloc[1:] if len(compiles) >= max(options.min_compiles, 2) else compiles.iloc[:0]
    programs_again = repeated(programs, options.min_engine_compiles)
    repeated_ns = covered_ns(again, programs_again)
    metrics = (
        above("compilations by the app", len(compiles), "count", options.min_compiles),
        above(
            "most compilations of one part for the Neural Engine",
            int(programs["label"].value_counts().max()) if len(programs) else 0,
            "count",
            options.min_engine_compiles,
        ),
        above("time of repeated compilations", repeated_ns, "ns", round(options.min_lost_ms * 1e6)),
        Metric("total compilation time", covered_ns(compiles, programs), "ns"),
    )
    if repeated_ns and repeated_ns >= options.min_lost_ms * 1e6:
        if len(again) and _several_models(view):
            return InsufficientData(
                view.name,
                f"Compiled {len(compiles)} times, but several models share this name: their predictions copy different "
                "numbers of inputs, or run in different processes. Which one each compilation belongs to is not "
                "recorded.",
                "Give each model file a name of its own.",
            )
        return _finding(view, again, programs_again, repeated_ns, metrics)
    if len(compiles) == 1 and covered_ns(compiles) >= options.min_lost_ms * 1e6:
        return InsufficientData(
            view.name,
            f"Compiled once, in {format_duration(covered_ns(compiles))}: a downloaded model needs that once, and one "
            "that comes with the app needs it never. Which it is, and whether it happens at each launch, one launch "
            "does not show.",
            "Record a second launch: if the app compiles again, it does not keep the result.",
        )
    return Passed(view.name, _passed(view, programs), metrics)


def _several_models(view: ModelView) -> bool:
    """Whether the predictions show that one name stands for several models or processes."""
    known = traits(view.predictions, view.data, view.hardware)
    return known.interfaces > 1 or known.processes > 1


def engine_compiles(view: ModelView) -> pd.DataFrame:
    """Compilations on the Neural Engine whose label names the model."""
    hardware = view.hardware
    named = is_any(hardware["attribution"], Attribution.LABEL, Attribution.EXACT)
    return hardware[named & is_any(hardware["kind"], Kind.ANE_COMPILE)]


def repeated(programs: pd.DataFrame, minimum: int) -> pd.DataFrame:
    """Rows after the first of their label, where that label occurs at least `minimum` times. O(n log n)."""
    if programs.empty:
        return programs
    labels = programs["label"].astype("object")
    often = labels.map(labels.value_counts()).to_numpy() >= max(minimum, 2)
    return programs[labels.duplicated().to_numpy() & often]


def _passed(view: ModelView, programs: pd.DataFrame) -> str:
    if view.compiles.empty and programs.empty:
        return "No compilation of it was recorded."
    count = len(view.compiles) + len(programs)
    time = format_duration(covered_ns(view.compiles, programs))
    return f"{format_count(count, 'compilation')} in {time}; none that had to be repeated took long."


def _finding(
    view: ModelView, again: pd.DataFrame, programs: pd.DataFrame, repeated_ns: int, metrics: tuple[Metric, ...]
) -> Finding:
    """The finding with its cost: every compilation but the first."""
    parts = []
    if len(again):
        parts.append(f"The app compiled it {len(again) + 1:,} times")
    if len(programs):
        count = int(programs["label"].value_counts().max()) + 1
        parts.append(f"{'the' if parts else 'The'} same part of it was compiled for the Neural Engine {count:,} times")
    rows = pd.concat([again, programs])
    return finding(
        model=view.name,
        summary=f"{', and '.join(parts)}; all but the first took {format_duration(repeated_ns)} together.",
        metrics=metrics,
        cost=cost_of(
            repeated_ns,
            covered_ns(view.compiles, programs, view.loads, view.predictions),
            "Time covered by the compilations after the first one; share of the time covered by the model's "
            "compilations, loads and predictions.",
        ),
        rows=rows,
    )


DESCRIPTION = """
A model in source form (`.mlmodel`, `.mlpackage`) must be compiled before it can be loaded. Xcode does so in the build;
`MLModel.compileModel(at:)`, and libraries that call it, do it on the user's device, in about a second for a model
of medium size. The result goes to a temporary place: an app that does not move it compiles again the next time.

## On the lanes

    Activity  |Compile     |Load|Pred|Compile     |Load|Pred|       problem
    Activity  |Load|Pred|Pred|Pred|                                 as it should be: compiled in the build

## How it is measured

Per model. `Compile` rows of the Activity lane: from `min_compiles` on, all but the first count as avoidable.
Compilations for the Neural Engine whose label names the model and a part of it: where one label occurs
`min_engine_compiles` times or more, all but the first count, since the system keeps the result where path and
configuration stay the same. It is a finding if both together cover `min_lost_ms` or more. Several models whose files
have the same name look like one that is compiled again: where their predictions copy different numbers of inputs, or
their GPU rows are of different processes, the check is not evaluated.

A single compilation is not judged: nothing in one recording tells whether the model had just been downloaded, or
whether the app compiles it at each launch.

## What can look like it and is not

- A model that was just downloaded: it needs one compilation.
- Compilations of other processes: their labels name other models, and those are left out.
- Several models whose files have the same name, if the recording shows that they differ.
- The Neural Engine compiles during the first load on a device: that is `cold-load`.
"""

FIX = """
Add the model to the Xcode target, so that the app holds the compiled `.mlmodelc`. For a downloaded model, compile once
and keep the result:

```swift
func compiledModel(for source: URL) async throws -> URL {
    let files = FileManager.default
    let folder = try files.url(for: .applicationSupportDirectory, in: .userDomainMask,
                               appropriateFor: nil, create: true)
    let name = source.deletingPathExtension().lastPathComponent
    let kept = folder.appending(path: name + ".mlmodelc")
    if files.fileExists(atPath: kept.path) { return kept }
    // The result lies in a temporary folder: move it.
    let compiled = try await MLModel.compileModel(at: source)
    try files.moveItem(at: compiled, to: kept)
    return kept
}
```

Where the Neural Engine compiles the same part again, load the model from the same path and with the same
`MLModelConfiguration` each time: the system keeps the result under both. In coremltools,
`MLModel("Model.mlpackage")` compiles each time; `model.get_compiled_model_path()` gives the compiled
one to copy, and `coremltools.models.CompiledMLModel(path)` loads it. With ONNX Runtime, set `ModelCacheDirectory`.
"""

DETECTOR = Detector(
    id="compile-at-runtime",
    title="Models are compiled before they reach the device, or once",
    finding_title="The same model is compiled on the device again and again",
    pattern=Pattern.SLOW_FIRST_LOAD,
    description=DESCRIPTION,
    why="Compiling takes about a second or more, and its result could have been shipped or kept.",
    fix=FIX,
    references=(
        Reference(
            "MLModel.compileModel(at:)",
            "https://developer.apple.com/documentation/coreml/mlmodel/compilemodel(at:)-45ao6",
        ),
        Reference(
            "Downloading and compiling a model on the user's device",
            "https://developer.apple.com/documentation/coreml/downloading-and-compiling-a-model-on-the-user-s-device",
        ),
        Reference(
            "onnxruntime: writes the Core ML model at every session",
            "https://github.com/microsoft/onnxruntime/issues/21761",
        ),
    ),
    needs=("Core ML",),
    uses=("Neural Engine",),
    caused_by=("reload-before-predict",),
    options=Options,
    detect=detect,
)
