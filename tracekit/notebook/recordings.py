"""Recordings in a notebook, as frames.

Every frame is a copy, so that changing one changes nothing else. Times are int64 ns since the start of the run; the
columns are those of `tracekit.trace.events` unless a property says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from inspect import getdoc
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.code.call_sites import call_sites
from tracekit.analysis.ledger.choice import Choice
from tracekit.analysis.models import summarize_models
from tracekit.analysis.specialization import Specialization, specializations
from tracekit.analysis.where.verdict import UnitUse, unit_rows, whereabouts
from tracekit.api import Analysis, explain, judge, replay_without
from tracekit.errors import UsageError, naming_keywords
from tracekit.frame import frame_of
from tracekit.measured import told_apart
from tracekit.notebook import reports
from tracekit.recording import Progress, XctraceOptions
from tracekit.recording.open import Paths
from tracekit.render.blocks import Role
from tracekit.request import request_of, shown_of_request
from tracekit.trace.build import open_trace
from tracekit.trace.events import LOAD_KINDS, Kind, Lane
from tracekit.trace.instruments.tables import ShaderCompilations
from tracekit.trace.trace import Trace
from tracekit.units import format_count, format_names

if TYPE_CHECKING:
    from tracekit.notebook.trace_plots import TracePlots
    from tracekit.report.report import Report as ReportData


@dataclass(frozen=True, slots=True, repr=False)
class LoadedTrace:
    """One run of a recording, as frames."""

    trace: Trace
    """What the frames are copied from."""

    @property
    def activity(self) -> pd.DataFrame:
        """Rows of the Activity lane: loads, compilations and predictions."""
        return self.trace.activity.frame()

    @property
    def data(self) -> pd.DataFrame:
        """Rows of the Data lane: copies and conversions of inputs and outputs."""
        return self.trace.data.frame()

    @property
    def compute(self) -> pd.DataFrame:
        """Rows of the Compute lane: work on the CPU, and requests to the GPU and the Neural Engine."""
        return self.trace.compute.frame()

    @property
    def phases(self) -> pd.DataFrame:
        """Phases of runtimes and operations of the app, from signposts; columns: `tracekit.trace.runtimes.phases`."""
        return self.trace.phases.frame()

    @property
    def requests(self) -> pd.DataFrame:
        """Requests to language models; columns: `tracekit.trace.requests.frame`."""
        return self.trace.requests.frame()

    @property
    def memory(self) -> pd.DataFrame:
        """Samples of what processes hold; columns: `tracekit.trace.instruments.memory`. Without rows where nothing was
        recorded, which `coverage` tells."""
        return self.trace.memory.frame()

    @property
    def shader_compilations(self) -> pd.DataFrame | None:
        """Shaders that were compiled for the GPU, of every process; None where that was not recorded. Columns:
        `tracekit.trace.instruments.tables`."""
        rows = self.trace.table(ShaderCompilations)
        return None if rows is None else rows.frame()

    @property
    def neural_engine(self) -> pd.DataFrame:
        """Executions on the Neural Engine."""
        return self._on(Lane.NEURAL_ENGINE)

    @property
    def gpu(self) -> pd.DataFrame:
        """Executions on the GPU, those of other processes too."""
        return self._on(Lane.GPU)

    @property
    def predictions(self) -> pd.DataFrame:
        """Predictions that the app made, and those of the stages of its pipelines (`level` is `sub`), without columns
        that hold nothing."""
        found = self._of_kind(Kind.PREDICTION)
        return found.dropna(axis="columns", how="all") if len(found) else found

    @property
    def loads(self) -> pd.DataFrame:
        """Loads of models."""
        return self._of_kind(*LOAD_KINDS)

    @property
    def models(self) -> pd.DataFrame:
        """One row per model, with the columns of `tracekit.trace.models`, `loads`, `median_ns` and `p95_ns` of its warm
        predictions (null: not recorded, or too few), and one for each kind of row."""
        models = self.trace.models
        texts = {"name": models.name, "level": models.level, "parents": models.parents}
        known = {(one.name, one.level): one for one in summarize_models(self.trace)}
        rows = [
            (one.loads, one.quantities.get("p50_ns"), one.quantities.get("p95_ns")) if one else (None, None, None)
            for one in map(known.get, zip(models.name, models.level, strict=True))
        ]
        figures = pd.DataFrame(rows, columns=["loads", "median_ns", "p95_ns"])
        figures = figures.astype({"loads": "Int64", "median_ns": float, "p95_ns": float})
        numbers = {
            "instances": models.instances,
            "first_ns": models.first_ns,
            "last_ns": models.last_ns,
            "rows": models.rows,
            "inferred": models.inferred,
        }
        objects = {name: pd.Series(cells, dtype=object) for name, cells in texts.items()}
        return pd.DataFrame(objects).join(figures).join(frame_of({**numbers, **models.counts}))

    @property
    def compute_units(self) -> pd.DataFrame:
        """Whether each compute unit worked for each model and function: rows with the columns of `UnitUse`."""
        models = zip(self.trace.models.name, self.trace.models.level, strict=True)
        rows = [row for each in models for row in unit_rows(each[0], whereabouts(self.trace, *each))]
        return pd.DataFrame(rows, columns=["model", "of_predictions", *(each.name for each in fields(UnitUse))])

    @property
    def specializations(self) -> pd.DataFrame:
        """Whether each model was compiled for the device or came from the cache: the columns of `Specialization`."""
        rows = [asdict(each) for each in specializations(self.trace).models]
        return pd.DataFrame(rows, columns=[each.name for each in fields(Specialization)])

    @property
    def coverage(self) -> pd.DataFrame:
        """What was recorded: `instrument`, `state`, `rows` (null where not recorded) and `conclusion`."""
        rows = [(entry.instrument, str(entry.state), entry.rows, entry.conclusion) for entry in self.trace.coverage]
        return pd.DataFrame(rows, columns=["instrument", "state", "rows", "conclusion"]).astype({"rows": "Int64"})

    def context(self, name: str) -> pd.DataFrame:
        """A frame beside the lanes, for example `thermal`, `hangs` or `signposts`.

        Raises KeyError where its table was not recorded or could not be read.
        """
        return self.trace.context[name].frame()

    @property
    def samples(self) -> pd.DataFrame | None:
        """Samples of running threads; None where none were recorded. Columns: `tracekit.trace.samples`."""
        return None if self.trace.samples is None else self.trace.samples.frame()

    @property
    def stacks(self) -> pd.DataFrame | None:
        """Frames of the distinct call stacks that `samples` refers to, innermost first."""
        return None if self.trace.stacks is None else self.trace.stacks.frame()

    @property
    def core_ml_calls(self) -> pd.DataFrame | None:
        """Calls of Core ML that samples lie in, and the code that made them; None where no samples were recorded."""
        sites = call_sites(self.trace)
        if sites is None:
            return None
        columns = sites.columns()
        if not self.trace.inferred:
            del columns["path"]
        frame = frame_of(self.trace.activity.take(sites.id).columns() | columns)
        return frame.rename(columns={"frame_row": "frame"})

    def breakdown(self) -> pd.DataFrame:
        """Where the time of each of the app's predictions went, in ns, indexed like `predictions`.

        The columns are those of `tracekit.analysis.breakdown.Breakdown`; null: not known, never zero.
        """
        return breakdown(self.trace).every.frame()

    def analyze(self, **options: Any) -> reports.Report:
        """The report on this run, with the options of `tracekit.analyze` that do not concern reading."""
        request = request_of(**options)
        shown = shown_of_request(self.trace, request)
        return reports.as_notebook_report(
            Analysis(self.trace, shown, judge(self.trace, request, shown), functions=request.functions)
        )

    def why(
        self,
        model: str | None = None,
        *,
        slowest: int | None = None,
        at_ns: int | None = None,
        percentile: float | None = None,
        over_ns: int | None = None,
        **options: Any,
    ) -> reports.Why:
        """Why predictions were slow: by default the slowest one of the model with most time in predictions.

        `model` is a name or pattern, `slowest` how many; or those in flight `at_ns`, the one at a `percentile`, those
        `over_ns`. Further options are those of `tracekit.analyze` that do not concern reading. Raises `UsageError` for
        a model that the recording does not hold.
        """
        request = request_of(**options if model is None else {**options, "models": model})
        return reports.with_methods(
            reports.Why, explain(self.trace, request, Choice(slowest, at_ns, percentile, over_ns))
        )

    def without(self, *checks: str, **options: Any) -> reports.Replay:
        """What fixing the findings of these checks would bring, one check after another and all together; without
        `checks`, those of all.

        Further options are those of `tracekit.analyze` that do not concern reading. Raises `UsageError` for a check
        that found nothing.
        """
        return reports.with_methods(reports.Replay, replay_without(self.trace, request_of(**options), checks))

    def sql(self, query: str) -> pd.DataFrame:
        """The rows that a query over the views of `docs/sql-views.md` gives. Raises `UsageError` for one that cannot be
        answered, and where duckdb is not installed."""
        from tracekit.query.database import Database, RecordingViews
        from tracekit.query.views import Source

        def report() -> ReportData:
            return judge(self.trace, request_of(), None)

        def no_tables(name: str) -> Any:
            raise UsageError(f'raw."{name}" is read by `tracekit sql`, not from a trace in memory')

        views = RecordingViews(Source(self.trace, cache(report)), no_tables, redact=True, functions=True)
        answer = Database(views).answer(query)
        return pd.DataFrame(answer.rows, columns=list(answer.columns))

    @property
    def plot(self) -> TracePlots:
        """Plots of the recording, as axes of matplotlib: `plot.timeline()`, `latency()`, `distribution()` and
        `breakdown()`. Raises `UsageError` where matplotlib is not installed."""
        from tracekit.notebook.trace_plots import TracePlots

        return TracePlots(self.trace)

    def _on(self, lane: Lane) -> pd.DataFrame:
        return self.trace.hardware.where(self.trace.hardware.lane.is_any(lane)).frame()

    def _of_kind(self, *kinds: Kind) -> pd.DataFrame:
        return self.trace.activity.where(self.trace.activity.kind.is_any(*kinds)).frame()

    def __repr__(self) -> str:
        return repr(self.trace)

    def _repr_html_(self) -> str:
        """What Jupyter shows."""
        from tracekit.documents.report import report_document
        from tracekit.notebook.trace_plots import seen

        # The lanes and the models alone: what is wrong is for `analyze` to say.
        document = report_document(*seen(self.trace), show=("models", "coverage"))
        return reports.framed(replace(document, verdict="", tone=Role.PLAIN))


def _of_all(name: str) -> property:
    """The frame of all recordings."""

    def frame(traces: LoadedTraces) -> pd.DataFrame:
        return traces.frame(attrgetter(name))

    return property(frame, doc=getdoc(getattr(LoadedTrace, name)))


@dataclass(frozen=True, slots=True, repr=False)
class LoadedTraces:
    """Several recordings: the same frames, with the rows of all. Their first column, `recording`, says of which one a
    row is; index and `prediction` count within it."""

    traces: Mapping[str, LoadedTrace]
    """By the names that `recording` holds."""

    def frame(self, of: Callable[[LoadedTrace], pd.DataFrame | None]) -> pd.DataFrame:
        """Any frame, such as `lambda trace: trace.context("thermal")`; a recording without it (None) has no rows."""
        frames = {name: frame for name, trace in self.traces.items() if (frame := of(trace)) is not None}
        whole = pd.concat([frame.assign(recording=name)[["recording", *frame]] for name, frame in frames.items()])
        # Categories differ between recordings, which would make objects of them.
        named = {column for frame in frames.values() for column in frame.select_dtypes("category")}
        return whole.astype(dict.fromkeys(["recording", *named], "category"))

    def breakdown(self) -> pd.DataFrame:
        """Where the time of each of the apps' predictions went, in ns: `LoadedTrace.breakdown`."""
        return self.frame(LoadedTrace.breakdown)

    activity, data, compute = map(_of_all, ("activity", "data", "compute"))
    neural_engine, gpu = map(_of_all, ("neural_engine", "gpu"))
    predictions, loads, models, coverage = map(_of_all, ("predictions", "loads", "models", "coverage"))
    compute_units, specializations = map(_of_all, ("compute_units", "specializations"))

    def __repr__(self) -> str:
        return f"<{format_count(len(self.traces), 'recording')}: {format_names([*self.traces])}>"


def why(path: Paths, model: str | None = None, **options: Any) -> reports.Why:
    """Why predictions of a recording were slow: `LoadedTrace.why` of `read(path)`."""
    return LoadedTrace(open_trace(path)).why(model, **options)


@naming_keywords
def read(
    path: Paths,
    *,
    run: int | None = None,
    reader: str = "auto",
    xctrace: XctraceOptions | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> LoadedTrace | LoadedTraces:
    """Read a recording into frames; of a folder of bundles, all of them. Parameters and errors are those of
    `tracekit.open_trace`."""
    folder = Path(path) if isinstance(path, str | Path) else Path()
    if isinstance(path, str | Path) and folder.suffix != ".trace" and (bundles := sorted(folder.glob("*.trace"))):
        return read_many(bundles, run=run, reader=reader, xctrace=xctrace, progress=progress)
    return LoadedTrace(open_trace(path, run=run, reader=reader, xctrace=xctrace, progress=progress))


def read_many(paths: Iterable[str | Path], **options: Any) -> LoadedTraces:
    """Read several recordings into frames with a column `recording`: the name of the file, and as much of its path as
    tells it from another one of that name. `options` are those of `read`.

    Raises `UsageError` for a path that is given twice, since its rows would count twice.
    """
    given = [str(path) for path in paths]
    names = told_apart([(Path(path).name, path) for path in given])
    if repeated := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"{repeated[0]} is given twice; a recording counts once")
    opened = (LoadedTrace(open_trace(path, **options)) for path in given)
    return LoadedTraces(dict(zip(names, opened, strict=True)))


Values = TypeVar("Values", pd.DataFrame, pd.Series)
_NS = re.compile("_ns(?=_|$)")


def in_ms(values: Values) -> Values:
    """A frame with its columns in ns as ms (`duration_ns` becomes `duration_ms`), or such a column. Null stays null."""
    if isinstance(values, pd.Series):
        return (values / 1e6).rename(_NS.sub("_ms", str(values.name)))
    columns = {name: _NS.sub("_ms", name) for name in map(str, values) if _NS.search(name)}
    return values.assign(**{name: values[name] / 1e6 for name in columns}).rename(columns=columns)
