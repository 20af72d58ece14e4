"""Compiles, loads and calls a model for each choice of compute units, and keeps cold values apart; and compares the
outputs of two models. Inputs are made up, since their values do not change how long most models take."""

from __future__ import annotations

import math
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tracekit.arrays import AnyArray
from tracekit.errors import TracekitError
from tracekit.model_files.facts import Feature, FeatureKind, Form, ModelFile
from tracekit.model_files.performance.facts import PerformanceReport, PlannedOperation, ReportForm, Timing, timing_of
from tracekit.model_files.performance.plans import operations_of
from tracekit.model_files.performance.values import CHOICES
from tracekit.model_files.profiling import core_ml
from tracekit.model_files.profiling.core_ml import CoreML
from tracekit.model_files.read import read_model
from tracekit.model_files.untrusted import UnreadableModel, quote

LOADS = 4
"""Loads for each choice: the first one specializes the model, the others find it cached."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What came of each choice."""

    reports: tuple[tuple[str, PerformanceReport], ...]
    """By the name of the choice."""
    failures: tuple[str, ...]
    """Why others could not be timed, in one sentence each."""


@dataclass(frozen=True, slots=True)
class _Run:
    """One model with one choice of compute units."""

    model: ModelFile
    path: Path
    runtime: CoreML
    choice: str
    folder: Path
    clock: Callable[[], int]

    def report(self, inputs: dict[str, Any], predictions: int) -> PerformanceReport:
        """Times and plan. Raises `TracekitError` where compiling, loading or predicting fails."""
        compiled, compile_timing = self._compile()
        loaded, load = self._load(compiled)
        state = self._time("making states", loaded.make_state)[0] if self.model.main.states else None
        # coremltools puts other values in place of some that it is given.
        times = [
            self._time("predicting", lambda: loaded.predict(dict(inputs), state))[1] for _ in range(predictions + 1)
        ]
        prediction = timing_of(times[1:], times[:1])
        operations, notes = self._plan(compiled, prediction)
        functions = len(self.model.functions)
        remarks = [f"Of {functions} functions only the default one was run."] if functions > 1 else []
        return PerformanceReport(
            name=self.model.name,
            source=self.path.name,
            form=ReportForm.TRACEKIT,
            asked=CHOICES[self.choice],
            device=self.runtime.device(),
            system=self.runtime.system(),
            prediction=prediction,
            load=load,
            compile=compile_timing,
            operations=operations,
            notes=("The inputs are made up.", *remarks, *notes),
        )

    def _compile(self) -> tuple[Path, Timing | None]:
        """A compiled model is taken as it is."""
        if self.model.form == Form.COMPILED:
            return self.path, None
        target = self.folder / f"{self.model.name}.mlmodelc"
        compiled, took = self._time("compiling", lambda: self.runtime.compile(self.path, target))
        return compiled, timing_of([took])

    def _load(self, compiled: Path) -> tuple[Any, Timing | None]:
        loaded, first = self._time("loading", lambda: self.runtime.load(compiled, self.choice))
        rest = [self._time("loading", lambda: self.runtime.load(compiled, self.choice))[1] for _ in range(LOADS - 1)]
        if self.model.form == Form.COMPILED:
            # Nobody knows whether the system had it in its cache.
            return loaded, timing_of([first, *rest])
        return loaded, timing_of(rest, [first])

    def _plan(
        self, compiled: Path, prediction: Timing | None
    ) -> tuple[tuple[PlannedOperation, ...] | None, tuple[str, ...]]:
        try:
            plan = self.runtime.plan(compiled, self.choice)
            return operations_of(plan, prediction.median_ns if prediction else None), ()
        except Exception as error:  # coremltools raises bare exceptions, and times are worth having without a plan
            return None, (f"No compute plan: {_words(error)}.",)

    def _time(self, doing: str, call: Callable[[], Any]) -> tuple[Any, int]:
        """What a call gives, and ns that it took. Raises `TracekitError` for whatever it raises."""
        start = self.clock()
        try:
            result = call()
        except TracekitError:
            raise
        except Exception as error:  # coremltools raises bare exceptions
            raise TracekitError(f"{doing} failed for {self.choice}: {_words(error)}") from None
        return result, self.clock() - start


def profile(
    path: Path,
    runtime: CoreML,
    *,
    choices: Sequence[str] = tuple(CHOICES),
    predictions: int = 50,
    clock: Callable[[], int] = time.perf_counter_ns,
    on_choice: Callable[[str], None] = lambda _: None,
) -> Profile:
    """Times of a model for each choice of compute units (names of `MLComputeUnits`); `clock` gives ns, `on_choice` gets
    each choice when it begins. A choice that fails stops no other one.

    Raises `UnreadableModel` for a file that is no model or whose inputs cannot be made up.
    """
    model = read_model(path)
    if model.form == Form.COMPILER_JSON:
        raise UnreadableModel(f"{quote(path)} only describes a model; give the model itself to run it")
    inputs = inputs_for(model.main.inputs, runtime.image)
    reports: list[tuple[str, PerformanceReport]] = []
    failures = []
    for choice in choices:
        on_choice(choice)
        try:
            # A folder of its own: what Core ML cached for another choice or an earlier run does not count.
            with tempfile.TemporaryDirectory(prefix="tracekit-") as folder:
                run = _Run(model, path, runtime, choice, Path(folder), clock)
                reports.append((choice, run.report(inputs, predictions)))
        except TracekitError as error:
            failures.append(str(error))
    return Profile(tuple(reports), tuple(failures))


def _words(error: Exception) -> str:
    """What an exception says, in one line without a full stop."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:300].rstrip(".")


MakeImage = Callable[[AnyArray, str], object]
Side = tuple[ModelFile, Path]

MAX_ELEMENTS = 2**28
"""Of one input: 1 GB as Float32."""

_TYPES = {"Float32": np.float32, "Float16": np.float16, "Double": np.float64, "Int32": np.int32, "Int8": np.int8}


def inputs_for(features: Sequence[Feature], image: MakeImage) -> dict[str, Any]:
    """A value for each input that is not optional, of its default shape. Floating-point numbers are random between 0
    and 1, always the same; integers are 0, which is valid as an index. `image` is `CoreML.image`. Raises
    `UnreadableModel`."""
    source = np.random.default_rng(0)
    return {feature.name: _value(feature, source, image) for feature in features if not feature.optional}


def _value(feature: Feature, source: np.random.Generator, image: MakeImage) -> object:
    number = 0 if feature.element == "Int64" else 0.5
    match feature.kind:
        case FeatureKind.ARRAY:
            kind = _TYPES.get(feature.element or "")
            if kind is None:
                raise UnreadableModel(
                    f"no value can be made for input '{feature.name}' of type {feature.element or 'unknown'}"
                )
            shape = _shape(feature)
            if issubclass(kind, np.floating):
                return source.random(shape, dtype=np.float32).astype(kind)
            return np.zeros(shape, dtype=kind)
        case FeatureKind.IMAGE:
            color = feature.color_space or "RGB"
            height, width = _shape(feature)[:2]
            if color == "Grayscale16Half":
                return image(source.random((height, width), dtype=np.float32), color)
            shape = (height, width) if color == "Grayscale" else (height, width, 3)
            return image(source.integers(0, 256, shape, dtype=np.uint8), color)
        case FeatureKind.NUMBER:
            return number
        case FeatureKind.STRING:
            return "text"
        case FeatureKind.DICTIONARY:
            return {0 if feature.element == "Int64" else "key": 0.5}
        case FeatureKind.SEQUENCE:
            return [0] if feature.element == "Int64" else ["text"]
        case _:
            raise UnreadableModel(f"no value can be made for input '{feature.name}': the file does not state its type")


def _shape(feature: Feature) -> tuple[int, ...]:
    """The default shape; 1 where a size is known only when the model runs."""
    if feature.shape is None:
        raise UnreadableModel(f"no value can be made for input '{feature.name}': the file does not state its shape")
    shape = tuple(1 if size is None else size for size in feature.shape.dimensions)
    count = math.prod(shape)
    if count > MAX_ELEMENTS:
        raise UnreadableModel(f"input '{feature.name}' has {count:,} elements; at most {MAX_ELEMENTS:,} are made up")
    return shape


def compare_outputs(before: Side, after: Side) -> tuple[dict[str, float], str]:
    """The largest absolute difference of each output that is an array, on the same seeded inputs, with all compute
    units; else why they were not compared."""
    if platform.system() != "Darwin":
        return {}, "needs a Mac"
    try:
        # A shape that is fixed now is one that both take.
        shapes = {feature.name: feature.shape for feature in after[0].main.inputs}
        old, new = (_predict(model, path, shapes) for model, path in (before, after))
        pairs = {name: (value, new[name]) for name, value in old.items() if isinstance(value, np.ndarray)}
        return {name: float(np.abs(np.subtract(*pair, dtype=np.float64)).max()) for name, pair in pairs.items()}, ""
    except Exception as error:  # coremltools raises bare exceptions, and the model is written whether it runs or not
        return {}, " ".join(str(error).split())[:200] or type(error).__name__


def _predict(model: ModelFile, path: Path, shapes: dict[str, Any]) -> dict[str, Any]:
    runtime = core_ml.runtime()
    inputs = inputs_for([replace(each, shape=shapes.get(each.name)) for each in model.main.inputs], runtime.image)
    with tempfile.TemporaryDirectory(prefix="tracekit-") as folder:
        loaded = runtime.load(runtime.compile(path, Path(folder, f"{model.name}.mlmodelc")), "all")
        outputs: Any = loaded.predict(inputs, loaded.make_state() if model.main.states else None)
        return dict(outputs)
