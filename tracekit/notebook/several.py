"""Recordings side by side in a notebook, builds over time, and models: what the commands of these names say."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import pandas as pd

from tracekit.comparison import comparison as comparing, history as following, matrix as listing
from tracekit.comparison.baseline import load_baseline
from tracekit.comparison.gate import Gate, check as check_gate
from tracekit.comparison.history_file import is_history, read_history
from tracekit.comparison.measurements import Measurements
from tracekit.comparison.settings import parse_check
from tracekit.detectors.options import Settings
from tracekit.errors import UsageError, naming_keywords, unknown
from tracekit.measured import measured_report, measured_trace, named_apart
from tracekit.model_files.facts import ModelFile
from tracekit.model_files.read import read_subject
from tracekit.notebook.recordings import LoadedTrace, LoadedTraces
from tracekit.notebook.reports import Page, with_methods
from tracekit.render.blocks import Document
from tracekit.report.choice import matching_any
from tracekit.report.model_report import ModelReport, model_report
from tracekit.report.performance import InspectedPerformance, inspected_performance
from tracekit.report.report import DRAWN
from tracekit.request import Request, open_requested, request_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tracekit.notebook.trace_plots import Drawn

Given = str | Path | LoadedTrace
"""A recording, or the JSON report that stands for it."""
Several = Given | LoadedTraces | Sequence[Given]


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Page, comparing.Comparison):
    """What changed between two sides, with its forms at hand."""

    sides: tuple[Sequence[Measurements], ...] = field(default=(), compare=False, metadata=DRAWN)
    """What its plot is drawn from."""

    _said_by = "comparison:comparison_document"

    def to_frame(self) -> pd.DataFrame:
        """One row per model: `model`, `presence`, `answer`, `reason`, medians `before_ns` and `after_ns`, their `ratio`
        with its 95% interval `low` to `high`, and `loads_before` and `loads_after` per recording. Null: not known."""
        names = ("answer", "reason", "before_ns", "after_ns", "ratio", "low", "high")
        rows = [
            (one.name, one.presence, *(getattr(one.latency, name) for name in names), one.loads.before, one.loads.after)
            for one in self.models
        ]
        return pd.DataFrame(rows, columns=["model", "presence", *names, "loads_before", "loads_after"])

    def plot(self) -> Axes:
        """How many predictions of each model took how long before and after, in ms, with the medians, the 95% interval
        of the change and the answer."""
        from tracekit.notebook.several_plots import plot_comparison

        return plot_comparison(self, self.sides)


@dataclass(frozen=True, slots=True, repr=False)
class Table(Page, listing.Matrix):
    """Figures of models side by side, with their forms at hand."""

    _said_by = "matrix:matrix_document"

    def to_frame(self) -> pd.DataFrame:
        """One row per model and figure (`p50_ns`, `loads`, ...), one column per label. Null: not measured."""
        index = pd.MultiIndex.from_tuples([(row.model, row.figure) for row in self.rows], names=["model", "figure"])
        labels = [column.label for column in self.columns]
        return pd.DataFrame([row.values for row in self.rows], index, labels, dtype=float)


@dataclass(frozen=True, slots=True, repr=False)
class History(Page, following.History):
    """Numbers of builds over time, with their forms at hand."""

    def to_frame(self) -> pd.DataFrame:
        """One row per series and build: `model`, `device`, `system`, `time`, `commit`, `recordings`, and the figures
        (`p50_ns`, `findings`, ...). Null: not recorded, or too few values."""
        missing = dict.fromkeys(following.FIGURES, float("nan"))
        rows = [
            {"model": series.model, "device": series.device, "system": series.system, "time": build.day}
            | {"commit": build.commit, "recordings": build.recordings}
            | missing
            | {trend.figure: trend.values[at] for trend in series.trends}
            for series in self.series
            for at, build in enumerate(series.builds)
        ]
        return pd.DataFrame(rows)

    def plot(self, figure: str = "p50_ns") -> Drawn:
        """A figure of each model over builds, with what changed. Raises `UsageError` for one that no build has."""
        from tracekit.notebook.several_plots import plot_history

        return plot_history(self, figure)

    _said_by = "history:history_document"

    def _page(self) -> Document:
        from tracekit.documents.history import history_document

        return history_document(self, "html", lambda _: "")


@dataclass(frozen=True, slots=True, repr=False)
class Inspection(Page, ModelReport):
    """A model file and the answers of its checks, with its forms at hand."""

    _said_by = "model_file:model_file_document"


@dataclass(frozen=True, slots=True, repr=False)
class PerformanceInspection(Page, InspectedPerformance):
    """A performance report or compute plan, with its forms at hand."""

    _said_by = "performance:performance_report_document"


@overload
def compare(before: Several, after: Several, **options: Any) -> Comparison: ...
@overload
def compare(before: Several, after: None = None, **options: Any) -> Table: ...
def compare(
    before: Several,
    after: Several | None = None,
    *,
    renames: Mapping[str, str] | None = None,
    labels: str | Sequence[str] = (),
    **options: Any,
) -> Comparison | Table:
    """What changed from the recordings before to those after: one or several each, as paths of recordings or JSON
    reports, or as what `read` gives. `renames` maps names of models before to those after; `options` are those of
    `analyze`. Without `after`, the figures of all side by side: `labels` are their columns, one for each or one for
    all, such as `{device}`; recordings with the same one share a column.

    Raises `UnreadableRecording` for one that cannot be read, `UsageError` for one that is given twice on a side.
    """
    request = request_of(**options)
    if after is None:
        measured = _measured(before, request)
        wanted = listing.expanded_labels([labels] if isinstance(labels, str) else labels, [1] * len(measured))
        sources = listing.sources_of(measured)
        table = listing.matrix(sources, listing.labels_of(sources, wanted), _notes(measured))
        return with_methods(Table, table)
    sides = [_measured(side, request) for side in (before, after)]
    floors, notes = request.settings.floors, [note for side in sides for note in _notes(side)]
    comparison = comparing.compare(*sides, renames=renames, floors=floors, notes=notes)
    return with_methods(Comparison, comparison, sides=tuple(sides))


@dataclass(frozen=True, slots=True, repr=False)
class Checked(Page, Gate):
    """What was checked, and the verdict, with its forms at hand."""

    _said_by = "gate:gate_document"


def check(
    recordings: Several, *, baseline: str | Path | None = None, limits: Mapping[str, Any] | None = None, **options: Any
) -> Checked:
    """Check recordings of one build against a baseline and `limits` of every model, as in `{"first-load": "1s"}`: those
    of `[check.limits]` of the settings, which count too. `options` are those of `analyze`."""
    request = request_of(**options)
    measured, settings = _measured(recordings, request), request.settings.check
    typed = parse_check({"limits": {"*": dict(limits or {})}}, frozenset()).limits
    kept = [limit for limit in settings.limits if limit.name not in {one.name for one in typed}]
    gate = check_gate(
        measured,
        replace(settings, limits=(*kept, *typed)),
        None if baseline is None else load_baseline(Path(baseline)),
        today=datetime.now(tz=UTC).date(),
        floors=request.settings.floors,
    )
    return with_methods(Checked, gate)


def history(paths: str | Path | Sequence[str | Path], *, commit: str | None = None, **options: Any) -> History:
    """The numbers of builds over time, of recordings, JSON reports and history files (`.jsonl`, or a ref of git notes).
    `commit` is that of recordings that do not name theirs; further options are those of `analyze`."""
    request, recorded, problems = request_of(**options), [], list[str]()
    for path in [paths] if isinstance(paths, str | Path) else paths:
        if is_history(str(path)):
            lines, broken = read_history(str(path))
        else:
            measured = _measured(path, request)
            broken, modified = _notes(measured), Path(path).stat().st_mtime
            lines = [following.recorded_of(one, modified, commit) for one in measured]
        recorded += lines
        problems += broken
    history = following.history_of(recorded, notes=problems)
    if request.models:
        names = sorted({series.model for series in history.series})
        wanted = matching_any(names, request.models, lambda pattern: unknown("model", pattern, names))
        history = replace(history, series=tuple(series for series in history.series if series.model in wanted))
    return with_methods(History, history)


@naming_keywords
def inspect(
    path: str | Path,
    *,
    system: str | None = None,
    chip: str | None = None,
    only: Collection[str] = (),
    skip: Collection[str] = (),
    settings: Settings | None = None,
    redact: bool = True,
) -> Inspection | PerformanceInspection:
    """What a model file says and what in it may cost time, or what a performance report says. `system` is the
    oldest that the app supports (`iOS17`), `chip` is one to run on (`M2`), `only` and `skip` are ids of checks,
    `settings` maps `check.option` to a value.

    Raises `UnreadableModel` for a file that cannot be read, `UsageError` for a name or value that does not exist.
    """
    subject = read_subject(str(path))
    if not isinstance(subject, ModelFile):
        return with_methods(PerformanceInspection, inspected_performance(subject, redact=redact))
    only, skip = ([names] if isinstance(names, str) else names for names in (only, skip))
    report = model_report(subject, system, chip, only=only, skip=skip, settings=settings, redact=redact)
    return with_methods(Inspection, report)


def _measured(given: Several, request: Request) -> list[Measurements]:
    """What is measured of recordings, told apart by their names. Raises `UsageError` for none."""
    several = given.traces.values() if isinstance(given, LoadedTraces) else given
    recordings = [several] if isinstance(several, str | Path | LoadedTrace) else list(several)
    if not recordings:
        raise UsageError("no recording is given")
    measured: list[Measurements] = []
    for recording in recordings:
        if isinstance(recording, LoadedTrace):
            measured.append(measured_trace(recording.trace, request))
        elif Path(recording).suffix == ".json":
            measured.append(measured_report(Path(recording), request))
        else:
            measured.append(measured_trace(open_requested(recording, request), request))
    sources = zip(measured, recordings, strict=True)
    return named_apart(measured, [it.source if isinstance(path, LoadedTrace) else str(path) for it, path in sources])


def _notes(measured: Sequence[Measurements]) -> list[str]:
    """What could not be read, or is not measured, of each recording."""
    clauses = [(one.source, clause) for one in measured for clause in (*one.unreadable, one.limited) if clause]
    return [f"{source}: {clause}" for source, clause in clauses]
