"""Labeled recordings of where a model ran: each combination of units, state of the tables, labels, other processes,
other models, call stacks, and calls recorded in part. The truth is the share of the compute that the app asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

from tracekit.testing import Draws
from tracekit.testing.code import Code
from tracekit.testing.machines import IPHONE, Process
from tracekit.testing.recorder import BACKBOARD
from tracekit.testing.rows import ENGINE_PREDICTION, CoreMLRow, GpuRow, Model, NeuralEngineRow
from tracekit.testing.scenario import CORE_ML, Scenario
from tracekit.testing.stacks import EXECUTE, OPERATIONS, PREDICT

Row = TypeVar("Row", CoreMLRow, NeuralEngineRow, GpuRow)
MS = 1_000_000
ENGINE, GPU_TABLE = "ane-hw-intervals-internal", "metal-gpu-intervals"
LEAD, TAIL, GAP = 900_000, 150_000, 3 * MS
"""Times around the work of a prediction, and from one to the next."""
COUNT = 40
HASH = "da6d4c0f9e8b7a6d5c4b3a2f1e0d9c8b7a6f5e4d3c2b1a0f9e8d7c6b5a4f8c99"
UUID = "5D0B6A1E-93C7-4F0E-8C56-1B7E0B8C2F11"

WORK = {
    "engine": (("neural-engine", 9),),
    "gpu": (("gpu", 9),),
    "cpu": (("cpu", 9),),
    "engine then gpu": (("neural-engine", 8), ("gpu", 6)),
    "mostly engine": (("neural-engine", 9), ("cpu", 1)),
    "hardly engine": (("neural-engine", 1), ("gpu", 16)),
    "engine and hidden cpu": (("neural-engine", 3), ("hidden", 11)),
}
"""Work of each prediction, by unit, in ms. What is hidden leaves no row, and shows in call stacks alone."""
STATES = (
    "whole",
    "engine empty",
    "engine missing",
    "engine lost rows",
    "gpu empty",
    "gpu missing",
    "gpu lost rows",
    "core ml empty",
    "only engine",
    "core ml began late",
    "engine began late",
)
LABELS = ("named", "generic", "hash", "uuid")
OTHERS = ("none", "engine, generic", "engine, named", "engine, in step")
BESIDE = ("alone", "longer name", "shorter name")
STACKS = (False, True)


@dataclass(frozen=True)
class Labeled:
    """One recording, and what is true of its main model."""

    work: str
    state: str
    labels: str
    others: str
    beside: str
    stacks: bool

    @property
    def name(self) -> str:
        """For messages."""
        return ", ".join((self.work, self.state, self.labels, self.others, self.beside, f"stacks {self.stacks}"))

    @property
    def truth(self) -> dict[str, float]:
        """Share of each unit in the compute of the model."""
        times = {"neural-engine": 0, "gpu": 0, "cpu": 0}
        for unit, ms in WORK[self.work]:
            times["cpu" if unit == "hidden" else unit] += ms
        return {unit: ms / sum(times.values()) for unit, ms in times.items()}

    @property
    def decidable(self) -> bool:
        """Whether all evidence is there: whole tables, rows that nobody else can have asked for, no work hidden."""
        sure = self.others in ("none", "engine, named") or (
            self.labels != "generic" and self.truth["neural-engine"] > 0
        )
        seen = self.truth["neural-engine"] > 0 or self.others != "none" or self.beside != "alone"
        return self.state == "whole" and sure and seen and ("hidden" not in self.work or self.stacks)


def labeled() -> Iterator[Labeled]:
    """All combinations of work, state, labels and others; what stands beside and stacks take turns."""
    for number, (work, state, labels, others) in enumerate(product(WORK, STATES, LABELS, OTHERS)):
        stacks = STACKS[number % 2] if "hidden" not in work else number % 3 > 0
        yield Labeled(work, state, labels, others, BESIDE[(number // 4 + number) % 3], stacks)


def scenario_of(case: Labeled) -> Scenario:
    """The recording."""
    draws = Draws(STATES.index(case.state))
    scenario = Scenario(Process("Camera", 412), duration_ns=4_000 * MS, device=IPHONE, processes=[BACKBOARD])
    model = Model("Segmenter")
    other = {"longer name": Model("Segmenter_large"), "shorter name": Model("Seg")}.get(case.beside)
    scenario.load(model, 10 * MS, 40 * MS)
    if other is not None:
        scenario.load(other, 55 * MS, 40 * MS)
    now = 120 * MS
    code = Code(scenario)
    for number in range(COUNT):
        now = _predict(scenario, code if case.stacks else None, model, case, now, number)
        if other is not None:
            away = (("gpu", 4),) if case.work.startswith(("engine", "mostly")) else (("neural-engine", 4),)
            now = _predict(scenario, code if case.stacks else None, other, case, now, number, away)
    _others(scenario, case, draws, now)
    end = now + 40 * MS
    for at in range(20 * MS, end, 33 * MS):
        scenario.gpu_work(at, 500_000, BACKBOARD)
    scenario.duration_ns = end + 50 * MS
    _damage(scenario, case, end)
    return scenario


def _predict(
    scenario: Scenario,
    code: Code | None,
    model: Model,
    case: Labeled,
    now: int,
    number: int,
    work: tuple[tuple[str, int], ...] = (),
) -> int:
    """One prediction; returns when the next one begins."""
    steps = work or WORK[case.work]
    lengths = [ms * MS + (number % 5) * 40_000 for _, ms in steps]
    duration = LEAD + sum(lengths) + TAIL
    prediction = scenario.predict(model, now, duration)
    prediction.event("Input Validation", 10_000, 8_000)
    prediction.event("Input Copy", 30_000, 20_000)
    at = LEAD
    for operation, ((unit, _), length) in enumerate(zip(steps, lengths, strict=True)):
        if unit == "neural-engine":
            prediction.neural_engine(at, length, _engine_label(model, case, operation), operation)
        elif unit == "gpu":
            prediction.event("Prepare GPU Request", at - 200_000, 150_000)
            prediction.event("GPU Request", at - 50_000, length + 100_000)
            prediction.gpu(at, length, operation, buffers=2)
        elif unit == "cpu":
            prediction.event("CPU", at, length)
        if code is not None and unit != "neural-engine":
            frames = (OPERATIONS["gpu" if unit == "gpu" else "cpu"], EXECUTE, *PREDICT)
            # While the GPU works, the thread waits.
            code.runs(now + at, MS if unit == "gpu" else length, *frames)
        at += length
    prediction.event("Output Transformation", duration - 60_000, 3_000)
    return now + duration + GAP


def _engine_label(model: Model, case: Labeled, operation: int) -> str | None:
    head = {
        "hash": f"{HASH[: -len(model.base)]}{model.base.encode().hex()[: len(model.base)]}",
        "uuid": f"{model.base}_{UUID}",
    }
    if case.labels == "generic":
        return ENGINE_PREDICTION
    return f"{head[case.labels]}_main__Op{operation}_AneInference  Prediction" if case.labels in head else None


def _others(scenario: Scenario, case: Labeled, draws: Draws, end: int) -> None:
    """What other processes do on the Neural Engine: at any time, or in step with the app, inside of its calls too."""
    if case.others == "none":
        return
    label = "Assistant_main__Op1_AneInference  Prediction" if case.others == "engine, named" else ENGINE_PREDICTION
    if case.others == "engine, in step":
        for row in [row for row in scenario.coreml if row.label == "Prediction"]:
            scenario.other_neural_engine(row.start_ns + 100_000, row.duration_ns // 2, label)
            scenario.other_neural_engine(row.end_ns + MS, MS // 2, label)
        return
    now = 30 * MS
    while now < end:
        scenario.other_neural_engine(now, 2 * MS, label)
        now += draws.integer(4, 9) * MS


def _damage(scenario: Scenario, case: Labeled, end: int) -> None:
    state = case.state
    if state in ("engine empty", "gpu empty", "core ml empty"):
        scenario.emptied.add({"e": ENGINE, "g": GPU_TABLE, "c": CORE_ML}[state[0]])
    if state in ("engine missing", "gpu missing", "only engine"):
        scenario.missing |= {ENGINE} if state == "engine missing" else {GPU_TABLE}
    if state == "only engine":
        scenario.missing.add(CORE_ML)
    if state == "engine lost rows":
        scenario.neural_engine = [row for row in scenario.neural_engine if not end // 5 < row.start_ns < end * 4 // 5]
    if state == "gpu lost rows":
        scenario.gpu = [row for row in scenario.gpu if not end // 5 < row.start_ns < end * 4 // 5]
    if state == "engine began late":
        scenario.neural_engine = [row for row in scenario.neural_engine if row.start_ns > end // 2]
    if state == "core ml began late":
        late = (k for k, row in enumerate(scenario.coreml) if row.start_ns > end // 2 and row.label == "Prediction")
        first = next(late)
        scenario.coreml = [_moved(row, first) for row in scenario.coreml[first:]]
        scenario.neural_engine = [_moved(row, first) for row in scenario.neural_engine]
        scenario.gpu = [_moved(row, first) for row in scenario.gpu]


def _moved(row: Row, first: int) -> Row:
    """The row, which knows its prediction by a number that counts from another one; by none where that is gone."""
    if row.prediction is None:
        return row
    return replace(row, prediction=row.prediction - first if row.prediction >= first else None)
