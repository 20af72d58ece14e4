"""The code of a recorded app: what its threads are in while it loads, predicts, and works in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tracekit.testing import stacks
from tracekit.testing.machines import Thread, main_thread
from tracekit.testing.rows import LOAD_COLD
from tracekit.testing.scenario import Scenario
from tracekit.testing.stacks import Frame, SampleRow, Stack, app_function
from tracekit.testing.work import Stage, Step

SAMPLE_NS = 1_000_000
"""From one sample of a running thread to the next."""
FIRST_NS = 250_000
"""From the begin of what a thread does to its first sample."""


@dataclass(slots=True)
class Code:
    """From where an app calls Core ML, and on which thread. All may be changed between calls."""

    scenario: Scenario
    caller: tuple[Frame, ...] = (app_function("apply", 42, "Style.swift"), app_function("run", 17))
    """Functions of the app that make the next calls, the innermost first."""
    on_main: bool = False
    """Whether the main thread makes them; else a worker."""
    interface: bool = True
    """Whether the main thread runs the loop of an interface."""
    thread: int = 1
    """Which worker makes them."""

    def load(self, start_ns: int, duration_ns: int, label: str) -> None:
        """Samples of a load: one that prepares the model compiles it on the device."""
        inner = [stacks.LOAD_PROGRAM, stacks.LOAD]
        if label == LOAD_COLD:
            inner = [stacks.COMPILE_ON_DEVICE, *inner]
        self.runs(start_ns, duration_ns, *inner)

    def predict(self, start_ns: int, duration_ns: int, steps: Sequence[Step | Stage]) -> None:
        """Samples of a prediction. While the Neural Engine works, the thread waits, and is not sampled."""
        units = {getattr(step, "unit", "neural engine") for step in steps}
        binding = min(duration_ns, SAMPLE_NS)
        self.runs(start_ns, binding, stacks.BIND, *stacks.PREDICT)
        rest = duration_ns - binding
        for unit in sorted(units & stacks.OPERATIONS.keys()):
            share = rest // len(units)
            self.runs(start_ns + duration_ns - rest, share, stacks.OPERATIONS[unit], stacks.EXECUTE, *stacks.PREDICT)
            rest -= share
        if "neural engine" in units and duration_ns > 2 * SAMPLE_NS:
            self.runs(start_ns + duration_ns - SAMPLE_NS, SAMPLE_NS, stacks.EXECUTE, *stacks.PREDICT)

    def runs(self, start_ns: int, duration_ns: int, *frames: Frame) -> None:
        """The thread runs in these functions, called by `caller`, for so long."""
        thread = main_thread(self.scenario.target)
        if self.on_main:
            root = (*(stacks.INTERFACE if self.interface else ()), stacks.MAIN, stacks.START)
        else:
            thread, root = Thread(thread.tid + self.thread, thread.process), (stacks.WORKER,)
        self._sample(start_ns, duration_ns, thread, (*frames, *self.caller, *root))

    def draws_interface(self, start_ns: int, duration_ns: int) -> None:
        """The main thread draws."""
        frames = (stacks.DRAW, *stacks.INTERFACE, stacks.MAIN, stacks.START)
        self._sample(start_ns, duration_ns, main_thread(self.scenario.target), frames)

    def _sample(self, start_ns: int, duration_ns: int, thread: Thread, frames: tuple[Frame, ...]) -> None:
        times, stack = range(start_ns + FIRST_NS, start_ns + duration_ns, SAMPLE_NS), Stack(frames)
        self.scenario.samples += [SampleRow(time, thread, stack) for time in times]
