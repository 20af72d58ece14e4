"""Functions of the system that show what a thread is doing for Core ML.

Measured on seven public recordings of macOS 15.6. What a function does is concluded from its name. Patterns are matched
against short names, from their start, each distinct function once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from tracekit.trace.binding import flags
from tracekit.trace.frames import categorical, is_any
from tracekit.trace.samples import APP, Samples

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.arrays import BoolArray, IndexArray

CORE_ML: Final = "CoreML"
"""Name of the image that an app calls."""


class Api(StrEnum):
    """What an app asks Core ML for."""

    LOAD = "load"
    RELOAD = "reload"
    """A load of what was loaded before."""
    COMPILE = "compile"
    PREDICTION = "prediction"
    ELEMENT = "element access"
    """Reading or writing an `MLMultiArray` element by element."""
    UNLOAD = "unload"
    BETWEEN = "between calls"
    """No call: what the app does from one to the next."""


class LoadPhase(StrEnum):
    """What a load does. Phases lie inside one another: the program is got by compiling it where no cache has it."""

    OPENING = "opening the model"
    PROGRAM = "getting the compiled program"
    CACHE_KEY = "computing the cache key"
    COMPILING = "compiling on this device"
    NEURAL_ENGINE = "trying the Neural Engine"
    READYING = "making operations ready"
    SPECIALIZING = "specializing the GPU graph"
    """At first use, too."""


class DataPhase(StrEnum):
    """What is done to data in a call."""

    BINDING = "binding inputs and outputs"
    CONVERTING = "converting"
    COPYING = "copying"


class Unit(StrEnum):
    """The compute unit of a segment that is being executed."""

    GPU = "GPU"
    CPU = "CPU"
    NEURAL_ENGINE = "Neural Engine"


API: Final[Mapping[Api, str]] = {
    Api.LOAD: (
        r"\+\[MLModel (?:modelWithContentsOfURL|loadContentsOfURL|loadModelAsset):"
        r"|-\[MLModelAsset modelWithConfiguration:|\+\[MLLoader load"
    ),
    Api.COMPILE: r"\+\[MLModel compileModelAtURL:|\+\[MLCompiler ",
    Api.PREDICTION: r"-\[\w+ predictions?From",
    Api.ELEMENT: (
        r"-\[MLMultiArray (?:objectAtIndexedSubscript:|objectForKeyedSubscript:|setObject:atIndexedSubscript:"
        r"|setObject:forKeyedSubscript:|numberAtOffset:)"
    ),
    Api.UNLOAD: r"-\[MLDelegateModel \.cxx_destruct|-\[MLE5ExecutionStream (?:dealloc|resetAfterLingering)",
}
"""Functions of `CORE_ML` that an app calls, or that Core ML calls at once for it."""

INTERFACE: Final = r"UIApplicationMain|NSApplicationMain|-\[NSApplication run\]|-\[UIApplication _run\]|WKExtensionMain"
"""The loop of an interface: Apple's public names. Programs without one have no user who waits for the main thread."""
CONVERSIONS: Final = (
    r"vImage(?:Convert|Scale|Rotate|Permute|HorizontalReflect|VerticalReflect)|VTPixelTransferSessionTransferImage"
    r"|CGContextDrawImage|-\[CIContext (?:render:|createCGImage:)|UIGraphicsBeginImageContext"
    r"|-\[UIGraphicsImageRenderer |-\[AVAudioConverter convertTo"
    r"|AudioConverter(?:FillComplexBuffer|ConvertComplexBuffer)|vDSP_(?:vflt|vfix|vspdp|vdpsp)"
)
"""Functions of the system that convert pixels or audio samples: Apple's public names. None was seen in a recording."""

OPENING: Final = r"-\[MLModelAsset initWithURL:"
"""What a load begins with."""
LOAD_PHASES: Final[Mapping[LoadPhase, str]] = {
    LoadPhase.OPENING: rf"{OPENING}|\+\[MLArchivingUtils parseModelArchive:",
    LoadPhase.PROGRAM: (
        r"-\[MLE5ProgramLibraryOnDeviceAOTCompilationImpl createProgramLibraryHandleWithRespecialization:"
    ),
    LoadPhase.CACHE_KEY: r"E5RT::E5BundleCacheKeyUtils::ToE5BundleCacheKey",
    LoadPhase.COMPILING: r"E5RT::OnDeviceAOTCompilerInterface::Compile|Espresso::AOT::",
    LoadPhase.NEURAL_ENGINE: r"Espresso::AOT::Validators::AneValidator::Validate",
    LoadPhase.READYING: (
        r"-\[MLE5Engine prepareWithConcurrencyHint:|E5RT::SharedResourceFactory::GetMPSGraphExecutable"
    ),
    LoadPhase.SPECIALIZING: r"-\[MPSGraphExecutable specializedModuleWithDevice:",
}
NEURAL_ENGINE_COMPILER: Final = "ANECompiler"
"""Image whose code runs while the Neural Engine is tried."""

UNIT_PATTERNS: Final[Mapping[Unit, str]] = {
    Unit.GPU: r"E5RT::Ops::MpsGraph\w*Operation::",
    Unit.CPU: r"E5RT::Ops::(?:Bnns|Cpu)\w*Operation::",
    # No stack of a prediction on the Neural Engine was seen.
    Unit.NEURAL_ENGINE: r"E5RT::Ops::(?:Ane|ANE)\w*Operation::",
}
BINDING: Final = r"-\[MLE5ExecutionStream _prepareForInputFeatures:"
"""The first part of a prediction: inputs are bound."""
DATA_PHASES: Final[Mapping[DataPhase, str]] = {
    DataPhase.BINDING: rf"{BINDING}|-\[MLE5ExecutionStreamOperation outputFeatures\]",
    DataPhase.CONVERTING: CONVERSIONS,
    DataPhase.COPYING: r"_platform_mem(?:move|cpy)|GPURegionRuntime::copyNDArray",
}
EXECUTING: Final = r"-\[MLE5ExecutionStream _executeStream:"
"""The second: it runs. One that binds after it is another prediction, or the next stage of a pipeline."""
PREPARING: Final = (
    rf"{LOAD_PHASES[LoadPhase.SPECIALIZING]}|MPSKernelDAG::getDAGAndHash|MPSLibrary::|-\[AGX\w+ newComputePipelineState"
    r"|-\[MTLCompiler |MTLCompilerFSCache::|MTLLibraryBuilder::|-\[_?MTL(?:Library|Function)\w* new"
)
"""Metal makes functions and pipelines ready, and waits for its compiler and for files (measured in the first prediction
of two public recordings)."""
PIPELINE: Final = r"-\[ML\w*Pipeline\w* "
"""A pipeline that calls its stages (guess: no stack of one was seen)."""


def matches_function(stacks: pd.DataFrame, pattern: str) -> BoolArray:
    """Shape (frames,): the function of a frame begins with the pattern."""
    cells = categorical(stacks["function"])
    return flags(cells.codes, map(bool, map(re.compile(pattern).match, cells.categories)))


def stacks_with(sampled: Samples, frames: BoolArray) -> BoolArray:
    """Shape (stacks,): a stack has any of the chosen frames."""
    result = np.zeros(len(sampled.starts) - 1, np.bool_)
    result[sampled.stacks["stack"].to_numpy()[frames]] = True
    return result


def outermost(sampled: Samples, frames: BoolArray) -> IndexArray:
    """Shape (stacks,): row of the outermost of the chosen frames of each stack; -1 where it has none."""
    rows = np.flatnonzero(frames)
    result = np.full(len(sampled.starts) - 1, -1)
    # Rows ascend from the innermost outwards: the last one stays.
    result[sampled.stacks["stack"].to_numpy()[rows]] = rows
    return result


def innermost(sampled: Samples, frames: BoolArray) -> IndexArray:
    """Shape (stacks,): row of the innermost of the chosen frames of each stack; -1 where it has none."""
    rows = np.flatnonzero(frames)[::-1]
    result = np.full(len(sampled.starts) - 1, -1)
    result[sampled.stacks["stack"].to_numpy()[rows]] = rows
    return result


def app_frames(stacks: pd.DataFrame) -> BoolArray:
    """Shape (frames,): code of the app itself. The Swift face of Core ML, which compilers copy into apps, is not."""
    result: BoolArray = is_any(stacks["owner"], APP) & ~stacks["overlay"].to_numpy()
    return result


def callers(sampled: Samples, rows: IndexArray) -> IndexArray:
    """Shape (stacks,): row of the next frame of the app outside of each stack's row; -1 where there is none, or where
    the stack has no row."""
    app_rows = np.flatnonzero(app_frames(sampled.stacks))
    next_app_row = np.searchsorted(app_rows, rows, "right")
    caller = np.append(app_rows, -1)[next_app_row]
    return np.where((rows >= 0) & (caller >= 0) & (caller < sampled.starts[1:]), caller, -1)
