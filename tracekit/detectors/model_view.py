"""What a rule sees of one model, and how it answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.instances import processes_of
from tracekit.analysis.loads import uses_of_loads
from tracekit.analysis.neural_engine_queue import engine_executions, engine_waits
from tracekit.detectors.answers import RECORD_LONGER, finding
from tracekit.detectors.outcomes import Answering
from tracekit.trace.instruments.catalogue import GPU, NEURAL_ENGINE
from tracekit.units import format_count

if TYPE_CHECKING:
    from typing import Unpack

    import pandas as pd

    from tracekit.analysis.breakdown import Breakdown
    from tracekit.analysis.loads import Uses
    from tracekit.analysis.neural_engine_queue import EngineWaits
    from tracekit.arrays import BoolArray, IntArray
    from tracekit.detectors.answers import Shown
    from tracekit.detectors.outcomes import Finding, InsufficientData, Metric
    from tracekit.model_files import ModelFile
    from tracekit.model_files.performance import PerformanceReport
    from tracekit.trace.trace import Trace


@dataclass(frozen=True)
class ModelView(Answering):
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
        return processes_of(self.predictions, self.hardware)

    @cached_property
    def uses(self) -> Uses:
        """Predictions by process, instance and load. O(n log n)."""
        return uses_of_loads(self.loads, self.predictions, self.processes)

    @cached_property
    def engine_rows(self) -> pd.DataFrame:
        """Execution rows of the Neural Engine in `hardware`, with the columns that `engine_executions` leaves."""
        return engine_executions(self.hardware)

    @cached_property
    def engine_waits(self) -> EngineWaits:
        """Times in which its predictions waited for the Neural Engine."""
        return engine_waits(self.trace, self.predictions, self.data, self.compute, self.hardware)

    def finding(self, summary: str, metrics: tuple[Metric, ...], **shown: Unpack[Shown]) -> Finding:
        """The antipattern is there; the rest as in `finding`."""
        return finding(self.name, summary, metrics, **shown)

    def too_few_predictions(
        self,
        count: int,
        needed: int,
        which: str = "",
        *,
        adjective: str = "",
        left_out: str = "",
        record: str = RECORD_LONGER,
    ) -> InsufficientData:
        """`3 comparable predictions with GPU work, 10 needed.`

        `adjective` and `which`, before and after the noun, set these predictions apart; the clause `left_out` says
        which others do not count.
        """
        noun = f"{adjective and f'{adjective} '}prediction"
        counted = format_count(count, noun) if count else f"No {noun}s"
        return self.unknown(f"{counted}{which and f' {which}'}, {needed} needed{left_out and f'; {left_out}'}.", record)

    def units_not_recorded(self, *, before: str = "", after: str = "") -> InsufficientData | None:
        """The answer where the work of the Neural Engine or the GPU was not recorded or cannot be read, as coverage
        words it between `before` and `after`; None where both were recorded."""
        entries = [entry for entry in map(self.trace.coverage_of, (NEURAL_ENGINE, GPU)) if not entry.recorded]
        if not entries:
            return None
        reason = f"{before}{' '.join(entry.conclusion for entry in entries)}{after}"
        return self.unknown(reason, " ".join(dict.fromkeys(entry.advice for entry in entries)))
