"""What call stacks are in: which call of Core ML, made by which code of the app, and how far it has come.

Functions of the system show it, measured on seven public recordings of macOS 15.6. What a function does is concluded
from its name. Patterns are matched against short names, from their start, each distinct function once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

import numpy as np

from tracekit.arrays import BoolArray, IndexArray, IntArray
from tracekit.columns import Codes, Texts, column
from tracekit.rows import Rows, group_ids
from tracekit.trace.cache import cached
from tracekit.trace.samples import APP, Samples, StackRows

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
    COMPILING = "compiling"
    NEURAL_ENGINE = "trying the Neural Engine"
    READYING = "making operations ready"
    SPECIALIZING = "specializing the GPU graph"
    """At first use, too."""


class DataPhase(StrEnum):
    """What is done to data in a call."""

    BINDING = "binding inputs and outputs"
    CONVERTING = "converting"
    COPYING = "copying"


HANDLING_DATA: Final = "handling data"
"""Any of `DataPhase`, which may lie inside one another."""


MAKING_PIPELINES: Final = "making Metal pipelines"
"""Outside of `LoadPhase.SPECIALIZING`."""


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
STATEFUL: Final = r"-\[\w+ predictionFromFeatures:usingState:"
"""A prediction that goes on from the state that the one before left: Apple's public name."""
ARRAY_COPIES: Final = (
    r"-\[MLMultiArray (?:copy|transferToMultiArray:|initByConcatenatingMultiArrays:)"
    r"|\+\[MLMultiArray multiArrayByConcatenatingMultiArrays:"
    r"|MLTensor\.(?:toMLMultiArray|shapedArray)|ML(?:ShapedArray|MultiArray)\.init"
)
"""Functions of Core ML that copy arrays for the app: Apple's public names. None was seen in a recording."""
MEMORY_COPIES: Final = r"_platform_mem(?:move|cpy)"
"""What copies memory, for whoever calls it."""

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
OPENS: Final = rf"{BINDING}|-\[MLE5Engine _cleanUpAndReconfigureStream:"
"""The same, and what comes before it where a model predicts again: what is left of the last prediction is freed."""
DATA_PHASES: Final[Mapping[DataPhase, str]] = {
    DataPhase.BINDING: rf"{BINDING}|-\[MLE5ExecutionStreamOperation outputFeatures\]",
    DataPhase.CONVERTING: CONVERSIONS,
    DataPhase.COPYING: rf"{MEMORY_COPIES}|GPURegionRuntime::copyNDArray",
}
EXECUTING: Final = r"-\[MLE5ExecutionStream _executeStream:"
"""The second: it runs. One that binds after it is another prediction, or the next stage of a pipeline."""
_PIPELINES: Final = (
    r"MPSKernelDAG::getDAGAndHash|MPSLibrary::|-\[AGX\w+ newComputePipelineState"
    r"|-\[MTLCompiler |MTLCompilerFSCache::|MTLLibraryBuilder::|-\[_?MTL(?:Library|Function)\w* new"
)
PREPARING: Final = rf"{LOAD_PHASES[LoadPhase.SPECIALIZING]}|{LOAD_PHASES[LoadPhase.COMPILING]}|{_PIPELINES}"
"""Metal makes functions and pipelines, waiting for compiler and files (first predictions of two public recordings); so
may what compiles for another unit."""
PIPELINE: Final = r"-\[ML\w*Pipeline\w* "
"""A pipeline that calls its stages (guess: no stack of one was seen)."""


_OF_CALLS: Final = frozenset(
    {
        *API.values(),
        *LOAD_PHASES.values(),
        *UNIT_PATTERNS.values(),
        *DATA_PHASES.values(),
        *(EXECUTING, PREPARING, PIPELINE, OPENS, OPENING, _PIPELINES),
    }
)
"""Patterns that every recording with call stacks is matched against."""


@lru_cache(maxsize=4)
def _of_calls(functions: tuple[str, ...]) -> tuple[int, ...]:
    """Places of the functions that begin with any of these patterns: one in ten."""
    test = re.compile("|".join(sorted(_OF_CALLS))).match
    return tuple(code for code, function in enumerate(functions) if test(function))


def matches_function(stacks: StackRows, pattern: str) -> BoolArray:
    """Shape (frames,): the function of a frame begins with the pattern."""
    functions, test = stacks.function.values, re.compile(pattern).match
    passes = np.zeros(len(functions) + 1, np.bool_)
    for code in _of_calls(functions) if pattern in _OF_CALLS else range(len(functions)):
        passes[code] = test(functions[code]) is not None
    return passes[stacks.function.codes]


def stacks_in(sampled: Samples, pattern: str) -> BoolArray:
    """Shape (stacks,): a stack has a function that begins with the pattern."""
    return stacks_with(sampled, matches_function(sampled.stacks, pattern))


def stacks_with(sampled: Samples, frames: BoolArray) -> BoolArray:
    """Shape (stacks,): a stack has any of the chosen frames."""
    result = np.zeros(len(sampled.starts) - 1, np.bool_)
    result[sampled.stacks.stack[frames]] = True
    return result


def outermost(sampled: Samples, frames: BoolArray) -> IndexArray:
    """Shape (stacks,): row of the outermost of the chosen frames of each stack; -1 where it has none."""
    # Rows ascend from the innermost outwards.
    return _last_of_each(sampled, np.flatnonzero(frames))


def innermost(sampled: Samples, frames: BoolArray) -> IndexArray:
    """Shape (stacks,): row of the innermost of the chosen frames of each stack; -1 where it has none."""
    return _last_of_each(sampled, np.flatnonzero(frames)[::-1])


def _last_of_each(sampled: Samples, rows: IndexArray) -> IndexArray:
    result = np.full(len(sampled.starts) - 1, -1)
    result[sampled.stacks.stack[rows]] = rows
    return result


def app_frames(stacks: StackRows) -> BoolArray:
    """Shape (frames,): code of the app itself. The Swift face of Core ML, which compilers copy into apps, is not."""
    result: BoolArray = stacks.owner.is_any(APP) & ~stacks.overlay
    return result


@cached
def copied_by(sampled: Samples) -> IndexArray:
    """Shape (stacks,): row of the frame of the app that copies arrays, itself or through Core ML; -1 for none."""
    stacks = sampled.stacks
    # Others copy memory for themselves.
    called_by_app = (
        np.append(app_frames(stacks)[1:], False) & np.append(np.diff(stacks.stack) == 0, False)[: len(stacks)]
    )
    by_core_ml = matches_function(stacks, ARRAY_COPIES) & stacks.image.is_any(CORE_ML)
    return callers(sampled, outermost(sampled, by_core_ml | (matches_function(stacks, MEMORY_COPIES) & called_by_app)))


def callers(sampled: Samples, rows: IndexArray) -> IndexArray:
    """Shape (stacks,): row of the next frame of the app outside of each stack's row; -1 for no frame or no row."""
    app_rows = np.flatnonzero(app_frames(sampled.stacks))
    next_app_row = np.searchsorted(app_rows, rows, "right")
    caller = np.append(app_rows, -1)[next_app_row]
    return np.where((rows >= 0) & (caller >= 0) & (caller < sampled.starts[1:]), caller, -1)


UNKNOWN, BEGUN, UNDER_WAY = 0, 1, 2
"""How far a call has come, by its stack."""
OUTSIDE, HIDDEN = -1, -2
"""Keys of stacks outside of calls, and of those in functions of Core ML without names, which may be in one."""
_ROOT_SHARE: Final = 0.02
"""Share of stacks that begin in a function, from which on threads begin there (heuristic)."""
CALLED: Final = (Api.LOAD, Api.COMPILE, Api.PREDICTION)
"""Calls that stand on the Activity lane."""


@dataclass(frozen=True, slots=True, eq=False)
class StackCalls(Rows):
    """What each distinct stack calls of Core ML, by its number."""

    api: Texts = column("one of `Api`; null where the stack is not in Core ML")
    entry: IntArray = column("row of `Samples.stacks` of the function of Core ML; -1 where there is none")
    caller: IntArray = column("row of the frame of the app that called it; -1 where there is none")


@dataclass(frozen=True, slots=True, eq=False)
class StackProgress(StackCalls):
    """The same, and how far the call has come."""

    key: IntArray = column(
        "equal for stacks of one of `CALLED` that was called from one place; else `OUTSIDE` or `HIDDEN`"
    )
    progress: IntArray = column("`UNKNOWN`, `BEGUN` or `UNDER_WAY`")
    nested: BoolArray = column("whether it is in a stage of a pipeline")


@cached
def core_ml_stacks(sampled: Samples) -> StackCalls:
    """What each stack calls. O(frames)."""
    in_core_ml = sampled.stacks.image.is_any(CORE_ML)
    entry = np.full(len(sampled.starts) - 1, -1)
    api = np.full(len(entry), -1)
    for code, pattern in enumerate(API.values()):
        entry_of_kind = outermost(sampled, matches_function(sampled.stacks, pattern) & in_core_ml)
        farther = entry_of_kind > entry
        entry[farther], api[farther] = entry_of_kind[farther], code
    return StackCalls(Codes(api.astype(np.int8), tuple(API)), entry, callers(sampled, entry))


def stack_progress(sampled: Samples) -> StackProgress:
    """What each stack calls, and how far the call has come. O(frames)."""
    kinds, stacks = core_ml_stacks(sampled), sampled.stacks
    api, entry, caller = kinds.api, kinds.entry, kinds.caller
    called = api.is_any(*CALLED)
    image = np.append(stacks.image.codes, -1)[caller]
    offset = np.append(stacks.offset.filled(), -1)[caller]
    # One address of the app calls one function, though stacks may lack its frame and show what that calls.
    function = np.where((caller >= 0) & (offset >= 0), -1, np.append(stacks.function.codes, -1)[entry])
    of_caller = (np.where(caller < 0, -1, cells) for cells in (image, offset))
    place = group_ids((api.codes, function, *of_caller), len(caller))
    numbers = _with_paths(sampled, place, caller)
    outer = outermost(sampled, stacks.image.is_any(CORE_ML))
    unnamed = np.append(~stacks.function.known, False)[outer] & (outer >= 0)
    hidden = unnamed & ~api.known
    predicts, loads = api.is_any(Api.PREDICTION), api.is_any(Api.LOAD)
    under_way = predicts & stacks_in(sampled, EXECUTING)
    begun = (predicts & stacks_in(sampled, OPENS) & ~under_way) | (loads & stacks_in(sampled, OPENING))
    under_way |= loads & ~begun
    nested = predicts & stacks_in(sampled, PIPELINE)
    # One function of Core ML that predicts is on the stack twice, as where one model calls another.
    frames = np.flatnonzero(matches_function(stacks, API[Api.PREDICTION]) & stacks.image.is_any(CORE_ML))
    functions = len(stacks.function.values)
    pairs, times = np.unique(stacks.stack[frames] * functions + stacks.function.codes[frames], return_counts=True)
    twice = pairs[times > 1] // functions
    nested[twice] = predicts[twice]
    return StackProgress(
        **kinds.columns(),
        key=np.select([called, hidden], [numbers, HIDDEN], OUTSIDE),
        progress=np.select([under_way, begun], [UNDER_WAY, BEGUN], UNKNOWN),
        nested=nested,
    )


def _with_paths(sampled: Samples, place: IntArray, caller: IndexArray) -> IntArray:
    """Shape (stacks,): a number for each place that calls and the code of the app that leads there. A stack that was
    cut short, which does not begin where threads do, counts as the most common one of its place. O(frames)."""
    stacks, count = sampled.stacks, len(place)
    stack = stacks.stack
    leads = np.flatnonzero(app_frames(stacks) & (np.arange(len(stacks)) >= np.append(caller, -1)[stack]))
    code = group_ids((stacks.image.codes[leads], stacks.offset.filled()[leads]), len(leads))
    # Of random numbers, those of different paths add up to different sums.
    weight = np.random.default_rng(0).integers(0, 1 << 63, len(leads))[code]
    inwards = np.searchsorted(stack[leads], stack[leads], "right") - np.arange(len(leads))
    path = np.zeros(count, np.int64)
    np.add.at(path, stack[leads], weight * (2 * inwards - 1))
    outermost_function = stacks.function.codes[sampled.starts[1:] - 1]
    common = np.bincount(outermost_function + 1, minlength=1)[outermost_function + 1] >= _ROOT_SHARE * count
    numbers = group_ids((place, path), count)
    held, first, times = np.unique(numbers[common], return_index=True, return_counts=True)
    order = np.lexsort((-held, times))
    # Of several numbers of one place, the last one stays: the most common, of equally common ones the lowest.
    usual = np.full(int(place.max(initial=-1)) + 1, -1)
    usual[place[common][first[order]]] = held[order]
    return np.where(~common & (usual[place] >= 0), usual[place], numbers)


@cached
def busy_stacks(sampled: Samples) -> dict[str, BoolArray]:
    """For each phase of a call and unit of a prediction: stacks in it, shape (stacks,); {} without any. O(frames)."""
    if not len(sampled.stacks):
        return {}
    patterns = (*LOAD_PHASES.items(), *UNIT_PATTERNS.items(), *DATA_PHASES.items())
    flags = {str(name): stacks_in(sampled, pattern) for name, pattern in patterns}
    flags[HANDLING_DATA] = np.logical_or.reduce([flags[phase] for phase in DataPhase])
    flags[MAKING_PIPELINES] = stacks_in(sampled, _PIPELINES) & ~flags[LoadPhase.SPECIALIZING]
    flags[LoadPhase.NEURAL_ENGINE] |= stacks_with(sampled, sampled.stacks.image.is_any(NEURAL_ENGINE_COMPILER))
    return flags


def same_depth(sampled: Samples, one: int, other: int) -> int:
    """How many frames two stacks share, from the outermost on. O(frames of a stack)."""
    # Function and image of their frames, from the outermost on: shape (frames, 2) each.
    names = (sampled.stacks.function.codes, sampled.stacks.image.codes)
    spans = [slice(int(sampled.starts[stack]), int(sampled.starts[stack + 1])) for stack in (one, other)]
    sides = [np.stack([codes[rows] for codes in names], axis=1)[::-1] for rows in spans]
    count = min(map(len, sides))
    differs = np.flatnonzero((sides[0][:count] != sides[1][:count]).any(axis=1))
    return int(differs[0]) if len(differs) else count
