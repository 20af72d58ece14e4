"""Parts of scenarios that several tests describe alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise

from tracekit.testing import apps
from tracekit.testing.recorder import App
from tracekit.testing.rng import Draws
from tracekit.testing.rows import GpuStateRow
from tracekit.testing.scenario import Scenario
from tracekit.testing.stacks import SYSTEM, Frame, c_function, core_ml

READ_ELEMENT = core_ml("-[MLMultiArray objectAtIndexedSubscript:]")
WRITE_ELEMENT = core_ml("-[MLMultiArray setObject:atIndexedSubscript:]")
OPEN_MODEL = core_ml("-[MLModelAsset initWithURL:configuration:error:]")
MAKE_READY = core_ml("-[MLE5Engine prepareWithConcurrencyHint:error:]")
COPY_BYTES = c_function("/usr/lib/system/libsystem_platform.dylib", "_platform_memmove")
CONVERT_PIXELS = c_function(SYSTEM.format("vImage"), "vImageConvert_ARGB8888toPlanarF")
SCALE_PIXELS = c_function(SYSTEM.format("vImage"), "vImageScale_ARGB8888")

CLEAN_APPS: dict[str, Callable[..., App]] = {
    "neural engine": apps.neural_engine_app,
    "gpu": apps.gpu_app,
    "cpu": apps.cpu_app,
    "camera": apps.camera_app,
    "pipeline": apps.pipeline_app,
    "many models": apps.many_models_app,
    "decoder": apps.decoder_app,
    "async": apps.async_app,
}
"""By kind."""


def any_clean_app(draws: Draws, **recording: bool) -> App:
    """One of them; takes what `start_recording` takes."""
    return draws.choice(tuple(CLEAN_APPS.values()))(draws, **recording)


def derive_gpu_states(scenario: Scenario) -> None:
    """Fill `gpu_states` with the active and idle times that follow from the GPU rows so far."""
    steps: dict[int, Counter[str]] = {0: Counter(), scenario.duration_ns: Counter()}
    for row in scenario.gpu:
        steps.setdefault(row.start_ns, Counter())[row.channel] += 1
        steps.setdefault(row.end_ns, Counter())[row.channel] -= 1
    running: Counter[str] = Counter()
    states: list[GpuStateRow] = []
    for start, end in pairwise(sorted(steps)):
        running.update(steps[start])
        channels = sum(count > 0 for count in running.values())
        if states and states[-1].channels == channels:
            states[-1] = GpuStateRow(states[-1].start_ns, end - states[-1].start_ns, channels)
        else:
            states.append(GpuStateRow(start, end - start, channels))
    scenario.gpu_states = states


def app_method(module: str, type_name: str, name: str, line: int) -> Frame:
    """A method of a Swift class, in the file that is named after it."""
    path = f"{module}.{type_name}.{name}"
    symbol = f"_$s{len(module)}{module}{len(type_name)}{type_name}C{len(name)}{name}yyF"
    return Frame("", path, symbol, f"{path}() -> ()", f"{type_name}.swift", line)
