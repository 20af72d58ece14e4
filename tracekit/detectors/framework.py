"""What a detector is, and what it is given.

A detector is metadata, typed options with defaults, and one pure function: from a `ModelView` to an outcome
(`Detector`), or from the whole trace to one (`RecordingDetector`). The runner decides by itself whether a detector
could look at all, so a detector never has to abstain for lack of a table that it names in `needs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from tracekit.analysis.breakdown import Breakdown
    from tracekit.analysis.loads import Uses
    from tracekit.analysis.neural_engine_queue import EngineWaits
    from tracekit.arrays import BoolArray, IntArray
    from tracekit.detectors.outcomes import Outcome
    from tracekit.detectors.pages import Page
    from tracekit.detectors.patterns import Pattern
    from tracekit.model_files import ModelFile, Target
    from tracekit.model_files.performance import PerformanceReport
    from tracekit.trace.trace import Trace

Options = TypeVar("Options")


@dataclass(frozen=True)
class ModelView:
    """What a detector sees of one model that the app called. Every frame is sorted by start and keeps its index.

    What several detectors ask for is worked out for the first and kept.

    In `data`, `compute` and `hardware` the column `prediction` names a row of `predictions`: what happened in the
    stages of a pipeline is linked to the pipeline's own prediction. Rows of the model that lie in no single one of its
    predictions are there too, with `prediction` null.
    """

    name: str
    trace: Trace
    loads: pd.DataFrame
    """Its load rows of the Activity lane."""
    compiles: pd.DataFrame
    """Its compilation rows of the Activity lane."""
    predictions: pd.DataFrame
    """Its prediction rows of the Activity lane, level `top`."""
    data: pd.DataFrame
    """Data rows of the model and, for a pipeline, of its stages."""
    compute: pd.DataFrame
    """Compute rows, chosen and linked in the same way."""
    hardware: pd.DataFrame
    """Neural Engine, GPU and MPS rows that belong to the model, by their label or by time; `attribution` says how
    sure that is. Work of others is not among them."""
    breakdowns: Breakdown
    """Breakdown of the predictions of all models."""

    @property
    def model_file(self) -> ModelFile | None:
        """Facts of the model's file; None without one. The outcome must not depend on it, only what is said."""
        return self.trace.model_file(self.name)

    @property
    def performance_report(self) -> PerformanceReport | None:
        """The model's performance report; None without one. The outcome must not depend on it, only what is said."""
        return self.trace.performance_report(self.name)

    @cached_property
    def breakdown(self) -> Breakdown:
        """Breakdown of this model's predictions, in their order. O(predictions)."""
        return self.breakdowns.of(self.predictions.index)

    @cached_property
    def warm(self) -> BoolArray:
        """Shape (predictions,): the prediction is not the first on a load of its model. O(n log n)."""
        warm = np.ones(len(self.predictions), np.bool_)
        warm[self.uses.first[self.uses.load >= 0]] = False
        return warm

    @cached_property
    def processes(self) -> IntArray:
        """Shape (predictions,): the process that hardware rows name for the prediction; -1 where none does."""
        from tracekit.analysis.instances import processes_of

        return processes_of(self.predictions, self.hardware)

    @cached_property
    def uses(self) -> Uses:
        """Predictions by process, instance and load. O(n log n)."""
        from tracekit.analysis.loads import uses_of_loads

        return uses_of_loads(self.loads, self.predictions, self.processes)

    @cached_property
    def engine_rows(self) -> pd.DataFrame:
        """Execution rows of the Neural Engine in `hardware`, with the columns that `engine_executions` leaves."""
        from tracekit.analysis.neural_engine_queue import engine_executions

        return engine_executions(self.hardware)

    @cached_property
    def engine_waits(self) -> EngineWaits:
        """Times in which its predictions waited for the Neural Engine."""
        from tracekit.analysis.neural_engine_queue import engine_waits

        return engine_waits(self.trace, self.predictions, self.data, self.compute, self.hardware)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata(Generic[Options]):
    """What every detector says of itself."""

    id: str
    """Noun of what is found, kebab case. File name = id with underscores."""
    page: Page
    """What is written about it (`page_beside`)."""
    needs: tuple[str, ...] = ()
    """Instruments (names in `Trace.coverage`) whose tables must hold rows. Predictions inferred from hardware stand in
    for Core ML where `on_inferred` allows it."""
    uses: tuple[str, ...] = ()
    """Instruments that the answer rests on too where they were recorded. Where other processes use the Neural Engine
    and it is named here or in `needs`, the answer says so."""
    on_inferred: bool = False
    """Whether it can judge predictions inferred from hardware: they hold no data or compute rows, end with their last
    hardware row, and no load is known."""
    caused_by: tuple[str, ...] = ()
    """Ids of detectors whose problem can bring this one about; both findings then lead to one fix."""
    options: type[Options]
    """Frozen dataclass; every field is made by `option`."""
    package: str = ""
    """Distribution that a plug-in came with, filled in when it is loaded; empty for tracekit's own detectors."""

    @property
    def title(self) -> str:
        """Describes the good state."""
        return self.page.title

    @property
    def finding_title(self) -> str:
        """States the problem."""
        return self.page.finding_title

    @property
    def pattern(self) -> Pattern:
        """Where it belongs in the diagnostic tree of Core ML."""
        return self.page.pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector(Metadata[Options]):
    """One antipattern that a model can have."""

    detect: Callable[[ModelView, Options], Outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingDetector(Metadata[Options]):
    """One antipattern of the recording as a whole, or of several models together.

    Its findings name no model; a finding about several models names them in its summary.
    """

    detect: Callable[[Trace, Options], Outcome]


@dataclass(frozen=True, slots=True)
class InspectedModel:
    """What a detector sees of a model file."""

    model: ModelFile
    target: Target | None
    """The system that it shall load on, where the user named one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFileDetector(Metadata[Options]):
    """One antipattern that a model file can have.

    A file has no times, so its findings have neither cost nor evidence, and no severity.
    """

    detect: Callable[[InspectedModel, Options], Outcome]


AnyDetector = Detector[Any] | RecordingDetector[Any]
"""What is run on recordings."""
ListedDetector = AnyDetector | ModelFileDetector[Any]
"""What `tracekit detectors` lists and `tracekit explain` explains."""


class Judgment(NamedTuple):
    """One answer of one detector."""

    detector: ListedDetector
    outcome: Outcome
    caveats: tuple[str, ...] = ()
    """What the reader must know before relying on the answer, one sentence each."""
