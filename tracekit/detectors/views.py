"""What a rule sees of one model or of the whole recording, and how a trace is cut into one view per model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.breakdown.partition import Breakdown, breakdown
from tracekit.analysis.code.threads import core_ml_time
from tracekit.analysis.instances import processes_of
from tracekit.analysis.loads import Uses, uses_of_loads
from tracekit.analysis.statistics import covered_ns, top_calls
from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import Codes, or_null
from tracekit.detectors.answers import RECORD_LONGER, Seen
from tracekit.detectors.outcomes import NotEvaluated
from tracekit.rows import AnyRows
from tracekit.sorting import few_bits, group_edges
from tracekit.trace.cache import Cache, cached
from tracekit.trace.events import LOAD_KINDS, Attribution, Calls, Events, Kind, Level
from tracekit.trace.instruments.catalogue import GPU, NEURAL_ENGINE
from tracekit.trace.linking import top_predictions
from tracekit.trace.trace import Trace, cached_by_trace
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.model_files.facts import ModelFile
    from tracekit.model_files.performance.facts import PerformanceReport


@dataclass(frozen=True, slots=True)
class RecordingView(Seen):
    """What a detector sees of a recording as a whole. Its answers name no model."""

    trace: Trace
    name: None = None

    @property
    def reference_time(self) -> tuple[int, str]:
        """Time of the app in Core ML."""
        return core_ml_time(self.trace), "all"

    @property
    def resolution_ns(self) -> int:
        """That of all calls."""
        return int(self.trace.activity.resolution_ns.max(initial=0))


@dataclass(frozen=True)
class ModelView(Seen):
    """What a detector sees of one model that the app called. Rows are sorted by start; their `id` is that in
    the lane.

    What several detectors ask for is worked out for the first and kept.

    In `data`, `compute` and `hardware` the column `prediction` names a row of `predictions`: what happened in the
    stages of a pipeline is linked to the pipeline's own prediction. Rows of the model that lie in no single one of its
    predictions are there too, with `prediction` null.
    """

    name: str
    trace: Trace
    loads: Calls
    """Its load rows of the Activity lane."""
    compiles: Calls
    """Its compilation rows of the Activity lane."""
    predictions: Calls
    """Its prediction rows of the Activity lane, level `top`."""
    data: Events
    """Data rows of the model and, for a pipeline, of its stages."""
    compute: Events
    """Compute rows, chosen and linked in the same way."""
    hardware: Events
    """Neural Engine, GPU and MPS rows that belong to the model, by their label or by time; `attribution` says how
    sure that is. Work of others is not among them."""
    cache: Cache = field(default_factory=Cache, init=False, repr=False)

    @property
    def model_file(self) -> ModelFile | None:
        """Facts of the model's file; None without one. The outcome must not depend on it, only what is said."""
        return self.trace.model_file(self.name)

    @property
    def performance_report(self) -> PerformanceReport | None:
        """The model's performance report; None without one. The outcome must not depend on it, only what is said."""
        return self.trace.performance_report(self.name)

    @cached_property
    def durations(self) -> IntArray:
        """Shape (predictions,): of each, in ns."""
        return self.predictions.duration_ns

    @cached_property
    def resolution_ns(self) -> int:
        """That of its calls."""
        return max(int(rows.resolution_ns.max(initial=0)) for rows in (self.loads, self.compiles, self.predictions))

    @cached_property
    def breakdown(self) -> Breakdown:
        """Breakdown of this model's predictions, in their order. O(predictions)."""
        return breakdown(self.trace).of(self.predictions.id)

    @cached_property
    def warm(self) -> BoolArray:
        """Shape (predictions,): the prediction is not the first on a load of its model. O(n log n)."""
        warm = np.ones(len(self.predictions), np.bool_)
        warm[self.uses.first[self.uses.load >= 0]] = False
        return warm

    @property
    def may_have_loads(self) -> bool:
        """Whether loads are inferred of which is not known whose they are: some may be its own."""
        calls = self.trace.activity
        loaded, called = (
            {*calls.model.take(calls.kind.is_any(*kinds) & calls.attribution.is_any(Attribution.INFERRED)).held()}
            for kinds in (LOAD_KINDS, (Kind.PREDICTION,))
        )
        return bool(loaded - called)

    @cached_property
    def processes(self) -> IntArray:
        """Shape (predictions,): the process that hardware rows name for the prediction; -1 where none does."""
        return processes_of(self.predictions.id, self.hardware)

    @cached_property
    def uses(self) -> Uses:
        """Predictions by process, instance and load. O(n log n)."""
        return uses_of_loads(self.loads, self.predictions, self.processes)

    @cached_property
    def reference_time(self) -> tuple[int, str]:
        """Time of the model in Core ML."""
        return covered_ns(self.loads, self.compiles, self.predictions), "the model's"

    def too_few_predictions(
        self,
        count: int,
        needed: int,
        which: str = "",
        *,
        adjective: str = "",
        left_out: str = "",
        record: str = RECORD_LONGER,
    ) -> NotEvaluated:
        """`3 comparable predictions with GPU work, 10 needed.` `adjective` and `which` surround the noun; the clause
        `left_out` says which others do not count."""
        noun = f"{adjective and f'{adjective} '}prediction"
        counted = format_count(count, noun) if count else f"No {noun}s"
        return self.unknown(f"{counted}{which and f' {which}'}, {needed} needed{left_out and f'; {left_out}'}.", record)

    def missing_units_answer(self, *, before: str = "", after: str = "") -> NotEvaluated | None:
        """The answer where the work of the Neural Engine or the GPU was not recorded or cannot be read, as coverage
        words it between `before` and `after`; None where both were recorded."""
        entries = [entry for entry in map(self.trace.coverage_of, (NEURAL_ENGINE, GPU)) if not entry.recorded]
        if not entries:
            return None
        reason = f"{before}{' '.join(entry.conclusion for entry in entries)}{after}"
        return self.unknown(reason, " ".join(dict.fromkeys(entry.advice for entry in entries)))


def model_views(trace: Trace) -> Iterator[ModelView]:
    """One view per base name with at least one top-level load, compilation or prediction, by name.

    A pipeline's view holds the rows of its stages too, linked to the pipeline's own prediction, since their time is
    spent inside it. A view is cut when its turn comes, so that the rows of one model at a time stand in memory twice.
    O(n log n) in the rows of the trace.
    """
    activity = trace.activity
    top = activity.where(activity.level.is_any(Level.TOP))
    group = np.select([top.kind.is_any(*kinds) for kinds in _GROUPS], range(len(_GROUPS)), -1)
    names = sorted(top.model.take(group >= 0).held())
    owner = top_predictions(activity)
    of_prediction = activity.model.codes_in(names)
    model = top.model.codes_in(names)
    calls = _split(top, [np.where(group < 0, -1, len(_GROUPS) * model + group)], len(_GROUPS) * len(names))
    lanes = (
        _split(linked, _models_of_rows(linked, of_prediction, names), len(names))
        for linked in (_relink(rows, owner, activity) for rows in (trace.data, trace.compute, trace.hardware))
    )
    parts = zip(names, *[calls] * len(_GROUPS), *lanes, strict=True)
    del top, group, owner, of_prediction, model, calls, lanes
    for name, loads, compiles, predictions, *others in parts:
        yield ModelView(name, trace, loads, compiles, predictions, *others)
        del loads, compiles, predictions
        others.clear()


_GROUPS = (LOAD_KINDS, (Kind.COMPILE,), (Kind.PREDICTION,))
"""Kinds of the calls of a view, one after the other."""


@cached_by_trace
def unnamed_predictions(trace: Trace) -> int:
    """Number of top-level predictions whose row names no model, so that no view holds them."""
    return int((~top_calls(trace, Kind.PREDICTION).model.known).sum())


def _relink(rows: Events, owner: IntArray, activity: Calls) -> Events:
    """`rows` with `prediction` replaced by the outermost prediction.

    A row in a stage that lies in no single prediction of its pipeline has none either, and the stage's attribution.
    """
    of_stage = activity.level.is_any(Level.SUB)
    if not of_stage.any():
        return rows
    outer = np.append(owner, -1)[rows.prediction.filled()]
    in_no_call = np.append(of_stage, False)[outer]
    order = tuple(Attribution)
    attribution = rows.attribution.codes_in(order)
    attribution[in_no_call] = activity.attribution.codes_in(order)[outer[in_no_call]]
    return replace(
        rows,
        prediction=or_null(np.where(in_no_call, -1, outer)),
        attribution=Codes(attribution, order),
    )


def _models_of_rows(rows: Events, of_prediction: IntArray, names: Sequence[str]) -> list[IntArray]:
    """Indices in `names` of the models that each row belongs to, -1 for none: of the model whose prediction it lies in;
    where it lies in no single one, of its own model, and of the pipeline that this is a stage of. Rows of other
    processes belong to none.

    `of_prediction` gives the index of the model of each row of the activity. Shape (rows,) each.
    """
    linked, others = rows.prediction.filled(), rows.attribution.is_any(Attribution.FOREIGN)
    by_prediction = np.append(of_prediction, -1)[linked]
    by_prediction[others] = -1
    alone = (linked < 0) & ~others
    if not alone.any():
        return [by_prediction]
    model, parent = (np.where(alone, column.codes_in(names), -1) for column in (rows.model, rows.parent_model))
    return [by_prediction, model, np.where(parent == model, -1, parent)]


def _split(rows: AnyRows, models: Sequence[IntArray], count: int) -> Iterator[AnyRows]:
    """The rows in `count` parts: a row stands in each part that one of `models` names for it. O(n log n)."""
    rows_of = [np.flatnonzero(model >= 0) for model in models]
    model = np.concatenate([each[at] for each, at in zip(models, rows_of, strict=True)])
    row = np.concatenate(rows_of)
    order = np.lexsort((row, few_bits(model))) if len(models) > 1 else np.argsort(few_bits(model), kind="stable")
    row, edges = row[order], group_edges(model, count)
    # Parts of few rows come in half the time and less; larger ones may stand side by side, and are not copied then.
    if len(row) < 10_000 * count and (row[1:] != row[:-1] + 1).any():
        rows, row = rows.take(row), np.arange(len(row))
    return (rows.at(row[start:end]) for start, end in pairwise(edges.tolist()))


cached_by_model = cached
"""The function, called once for each view of a model; its answer is kept as long as the view is."""
