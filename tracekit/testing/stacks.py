"""Call stacks of a scenario: functions, the samples that caught them, and where their images lie.

Names of functions are those that recordings of macOS 15.6 hold: of Core ML, of the engine below it, and of what
threads begin in. `Frame.name` is what a reader must show; `symbol` what symbol files of bundles hold, `printed` what
exports do.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from tracekit.testing.machines import Thread

SYSTEM = "/System/Library/Frameworks/{0}.framework/Versions/A/{0}"
ESPRESSO = "/System/Library/PrivateFrameworks/Espresso.framework/Versions/A/Espresso"


@dataclass(frozen=True, slots=True)
class Frame:
    """A function at one place."""

    image: str
    """Path of the program or library; empty for the app's own, whose path depends on the scenario."""
    name: str
    symbol: str
    printed: str = ""
    """The same as `name` where it is empty."""
    file: str = ""
    line: int = 0

    @property
    def is_app(self) -> bool:
        """Whether it is code of the app."""
        return not self.image


@dataclass(frozen=True, slots=True)
class Stack:
    """Frames, the innermost first."""

    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class SampleRow:
    """What a thread was in at one moment."""

    time_ns: int
    thread: Thread
    stack: Stack | None
    """None where no stack was caught."""
    state: str = "Running"
    """`Blocked` where it waited: only recordings of waiting threads hold that."""


def app_function(name: str, line: int = 0, file: str = "main.swift") -> Frame:
    """A free function of a Swift app, at a line where there is one."""
    module = "App"
    symbol = f"_$s{len(module)}{module}{len(name)}{name}yyF"
    return Frame("", f"{module}.{name}", symbol, f"{module}.{name}() -> ()", file if line else "", line)


def objective_c(image: str, name: str) -> Frame:
    """A method of a framework."""
    return Frame(SYSTEM.format(image), name, name)


def core_ml(name: str) -> Frame:
    """A method of Core ML."""
    return objective_c("CoreML", name)


def c_function(image: str, name: str) -> Frame:
    """A function of a library at this path."""
    return Frame(image, name, f"_{name}")


def espresso(*parts: str) -> Frame:
    """A method without parameters of a C++ class in the framework below Core ML."""
    name = "::".join(parts)
    symbol = f"__ZN{''.join(f'{len(part)}{part}' for part in parts)}Ev"
    return Frame(ESPRESSO, name, symbol, f"{name}()")


START = c_function("/usr/lib/dyld", "start")
MAIN = c_function("", "main")
WORKER = c_function("/usr/lib/system/libsystem_pthread.dylib", "start_wqthread")
INTERFACE = (
    objective_c("UIKitCore", "-[UIApplication _run]"),
    c_function(SYSTEM.format("UIKitCore"), "UIApplicationMain"),
)
"""What the main thread of an app with an interface is in."""
DRAW = objective_c("QuartzCore", "-[CALayer display]")

LOAD = core_ml("+[MLModel modelWithContentsOfURL:configuration:error:]")
COMPILE = core_ml("+[MLModel compileModelAtURL:error:]")
PREDICT = (
    core_ml("-[MLDelegateModel predictionFromFeatures:options:error:]"),
    core_ml("-[MLModel predictionFromFeatures:error:]"),
)
BIND = core_ml("-[MLE5ExecutionStream _prepareForInputFeatures:options:error:]")
EXECUTE = core_ml("-[MLE5ExecutionStream _executeStream:error:]")
LOAD_PROGRAM = core_ml(
    "-[MLE5ProgramLibraryOnDeviceAOTCompilationImpl createProgramLibraryHandleWithRespecialization:error:]"
)
COMPILE_ON_DEVICE = espresso("E5RT", "OnDeviceAOTCompilerInterface", "Compile")
OPERATIONS = {
    "gpu": espresso("E5RT", "Ops", "MpsGraphInferenceOperation", "ExecuteSync"),
    "cpu": espresso("E5RT", "Ops", "BnnsCpuInferenceOperation", "ExecuteSync"),
}
"""What runs a segment, by unit. Of the Neural Engine no stack was seen."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An image in memory, with its functions."""

    path: str
    identity: str
    """UUID in upper case."""
    address: int
    in_cache: bool
    """Whether it is part of the system's shared cache."""
    starts: dict[tuple[str, str], int]
    """Offset of each function by name and symbol."""
    lines: dict[tuple[int, str, int], int]
    """Offset of each line that is on a stack, by function start, file and line."""

    @property
    def name(self) -> str:
        """Last part of the path."""
        return self.path.rpartition("/")[2]

    def offset(self, frame: Frame) -> int:
        """Where in the image a frame is."""
        return self.lines[self.starts[frame.name, frame.symbol], frame.file, frame.line]


FUNCTION_BYTES, LINE_BYTES, FIRST_FUNCTION = 0x400, 0x10, 0x1000
CACHE, APP_ADDRESS, IMAGE_BYTES = 0x1_8000_0000, 0x1_0000_0000, 0x100_0000


def placed_images(samples: Iterable[SampleRow], app_path: str) -> dict[str, Placed]:
    """The images of all stacks, by the `image` of their frames, in order of appearance. The app lies outside of the
    shared cache, the others in it, one behind the other."""
    frames = dict.fromkeys(chain.from_iterable(row.stack.frames for row in samples if row.stack is not None))
    images: dict[str, Placed] = {}
    for frame in frames:
        if frame.image not in images:
            number = len(images)
            address = CACHE + IMAGE_BYTES * (number + 1) if frame.image else APP_ADDRESS
            identity = str(uuid.uuid5(uuid.NAMESPACE_URL, frame.image or app_path)).upper()
            images[frame.image] = Placed(frame.image or app_path, identity, address, bool(frame.image), {}, {})
        image = images[frame.image]
        start = image.starts.setdefault((frame.name, frame.symbol), FIRST_FUNCTION + FUNCTION_BYTES * len(image.starts))
        inside = sum(begin == start for begin, _, _ in image.lines)
        image.lines.setdefault((start, frame.file, frame.line), start + LINE_BYTES * (inside + 1))
    return images


def addresses(stack: Stack, images: dict[str, Placed]) -> Sequence[int]:
    """As tables hold them, the innermost first: one byte behind the instruction, or behind the call."""
    return [images[frame.image].address + images[frame.image].offset(frame) + 1 for frame in stack.frames]
