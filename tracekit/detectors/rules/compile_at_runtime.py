"""`compile-at-runtime`: the app compiles a model on the device again and again."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from tracekit.analysis.code import sites_of
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
    format_time,
    is_any,
    option,
)
from tracekit.detectors.shared.references import COMPILE_MODEL
from tracekit.trace.frames import rows_where


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    min_compiles: int = option(
        2,
        "compilations",
        "A downloaded model needs one compilation. Its result can be kept, so every further one is avoidable.",
    )
    min_engine_compiles: int = option(
        3,
        "compilations of one part",
        "Heuristic: two configurations of a model may need one compilation each on the Neural Engine; a "
        "third is a repetition.",
    )
    min_lost_ms: float = option(
        100.0, "ms", "Heuristic: less in total is hardly felt; the Hangs instrument reports no delay below 100 ms."
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
            "most Neural Engine compilations of one part",
            int(programs["label"].value_counts().max()) if len(programs) else 0,
            "count",
            options.min_engine_compiles,
        ),
        above("repeated compilation time", repeated_ns, "ns", round(options.min_lost_ms * 1e6)),
        Metric("total compilation time", covered_ns(compiles, programs), "ns"),
    )
    if repeated_ns and repeated_ns >= options.min_lost_ms * 1e6:
        if len(again) and _several_models(view):
            return InsufficientData(
                view.name,
                f"Compiled {len(compiles)} times, but several models share this name: their predictions copy "
                "different numbers of inputs or run in different processes. Which model each compilation belongs to "
                "is not recorded.",
                "Give each model file its own name.",
            )
        return _finding(view, again, programs_again, repeated_ns, metrics)
    if len(compiles) == 1 and covered_ns(compiles) >= options.min_lost_ms * 1e6:
        return InsufficientData(
            view.name,
            f"Compiled once, in {format_time(covered_ns(compiles))}; one launch does not show whether this happens at "
            "every launch. A downloaded model needs one compilation, a model shipped with the app none.",
            "Record a second launch: if the app compiles again, it does not keep the result.",
        )
    return Passed(view.name, _passed(view, programs), metrics)


def _several_models(view: ModelView) -> bool:
    """Whether the predictions show that one name stands for several models or processes."""
    known = traits(view.trace, view.predictions, view.data, view.compute, view.hardware)
    return known.interfaces > 1 or known.processes > 1


def engine_compiles(view: ModelView) -> pd.DataFrame:
    """Compilations on the Neural Engine whose label names the model."""
    hardware = view.hardware
    named = is_any(hardware["attribution"], Attribution.LABEL, Attribution.EXACT)
    return rows_where(hardware, named & is_any(hardware["kind"], Kind.ANE_COMPILE))


def repeated(programs: pd.DataFrame, minimum: int) -> pd.DataFrame:
    """Rows after the first of their label, where that label occurs at least `minimum` times. O(n log n)."""
    if programs.empty:
        return programs
    labels = programs["label"].astype("object")
    often = labels.map(labels.value_counts()).to_numpy() >= max(minimum, 2)
    return programs[labels.duplicated().to_numpy() & often]


def _passed(view: ModelView, programs: pd.DataFrame) -> str:
    if view.compiles.empty and programs.empty:
        return "No compilation of this model was recorded."
    count = len(view.compiles) + len(programs)
    time = format_time(covered_ns(view.compiles, programs))
    return f"{format_count(count, 'compilation')} in {time}; no long one was repeated."


def _finding(
    view: ModelView, again: pd.DataFrame, programs: pd.DataFrame, repeated_ns: int, metrics: tuple[Metric, ...]
) -> Finding:
    """The finding with its cost: every compilation but the first."""
    parts = []
    if len(again):
        parts.append(f"The app compiled the model {len(again) + 1:,} times")
    if len(programs):
        count = int(programs["label"].value_counts().max()) + 1
        parts.append(f"{'the' if parts else 'The'} same part was compiled for the Neural Engine {count:,} times")
    rows = pd.concat([again, programs])
    return finding(
        model=view.name,
        summary=f"{', and '.join(parts)}; all but the first took {format_time(repeated_ns)} in total.",
        metrics=metrics,
        cost=cost_of(view, repeated_ns, "Time covered by the compilations after the first one", once=True),
        rows=rows,
        call_sites=sites_of(view.trace, again.index),
    )


DESCRIPTION = """
A model in source form (`.mlmodel`, `.mlpackage`) must be compiled before it can be loaded. Xcode does this at build
time. `MLModel.compileModel(at:)`, and libraries that call it, do it on the user's device, which takes about a second
for a medium-sized model. The result is in a temporary folder: an app that does not move it compiles again the next
time.

## On the timeline

    Activity  |Compile     |Load|Pred|Compile     |Load|Pred|       problem
    Activity  |Load|Pred|Pred|Pred|                                 expected: compiled at build time

## How it is measured

Per model. Two kinds of compilations count as avoidable:

- `Compile` rows in the Activity lane: all but the first, if there are `min_compiles` or more.
- Compilations for the Neural Engine whose label names the model and a part of it: all but the first of each label that
  occurs `min_engine_compiles` times or more. The system keeps the result as long as path and configuration stay the
  same.

Reported when the avoidable compilations of both kinds together take `min_lost_ms` or more. Different models in files of
the same name look like one model that is compiled repeatedly. If their predictions copy different numbers of inputs, or
their GPU rows belong to different processes, the check is not evaluated.

A single compilation is not evaluated. One recording does not show whether the model was just downloaded, or whether the
app compiles it at every launch.

## Not a problem when

- The model was just downloaded: it needs one compilation.
- Other processes compile: the labels name other models, and these rows are ignored.
- Several models have the same file name and the recording shows that they differ.
- The Neural Engine compiles during the first load on a device: see `cold-load`.
"""

FIX = """
Add the model to the Xcode target, so the app ships the compiled `.mlmodelc`.

Compile a downloaded model once per version and keep the result:

```swift
/// `version` must change when the model does: a version number or a hash of the download.
func compiledModel(for source: URL, version: String) async throws -> URL {
    let files = FileManager.default
    let folder = try files.url(for: .applicationSupportDirectory, in: .userDomainMask,
                               appropriateFor: nil, create: true)
    let name = source.deletingPathExtension().lastPathComponent
    let cached = folder.appending(path: name + "-" + version + ".mlmodelc")
    if files.fileExists(atPath: cached.path) { return cached }
    // The result is in a temporary folder: move it.
    let compiled = try await MLModel.compileModel(at: source)
    try files.moveItem(at: compiled, to: cached)
    return cached
}
```

Delete the files of older versions after an update.

If the Neural Engine compiles the same part repeatedly, always load the model from the same path with the same
`MLModelConfiguration`: both identify the cached result. In coremltools, `MLModel("Model.mlpackage")` compiles every
time. Copy the compiled model from `model.get_compiled_model_path()` and load it with
`coremltools.models.CompiledMLModel(path)`. With ONNX Runtime, set `ModelCacheDirectory`.
"""

DETECTOR = Detector(
    id="compile-at-runtime",
    title="Models are compiled at build time, or once on the device",
    finding_title="The same model is compiled on the device repeatedly",
    pattern=Pattern.SLOW_FIRST_LOAD,
    description=DESCRIPTION,
    why="Compiling takes about a second or more, and its result can be shipped with the app or cached.",
    fix=FIX,
    references=(
        COMPILE_MODEL,
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
    uses=("Neural Engine", "Call Stacks"),
    caused_by=("reload-before-predict",),
    options=Options,
    detect=detect,
)
