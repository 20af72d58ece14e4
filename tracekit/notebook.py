"""tracekit in a notebook: frames of a recording, and a report that shows itself.

    import tracekit

    trace = tracekit.read("run.trace")
    trace.predictions.groupby("model")["duration_ns"].median()
    trace.analyze().to_frame()

Every frame is a copy, so that changing one changes nothing else. Times are int64 ns since the start of the run; the
columns are those of `tracekit.trace.events` unless a property says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from html import escape
from inspect import Parameter, getdoc, signature
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, cast

import pandas as pd

from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.code.call_sites import call_sites
from tracekit.analysis.why.choice import Choice
from tracekit.api import analysis_of, explain, judge, request_of, what_if_fixed
from tracekit.report.report import Report
from tracekit.report.whatif import Figures, WhatIf
from tracekit.report.why import WhyReport
from tracekit.request import Request, shown_of_request
from tracekit.trace.build import open_trace
from tracekit.trace.events import LOAD_KINDS, Kind, Lane
from tracekit.trace.frames import is_any

if TYPE_CHECKING:
    from tracekit.recording import Progress, XctraceOptions
    from tracekit.recording.open import Paths
    from tracekit.trace.trace import Trace


@dataclass(frozen=True, slots=True, repr=False)
class NotebookReport(Report):
    """A report with its forms at hand."""

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, as `docs/report.md` describes it."""
        from tracekit.report.serialize import to_dict

        return to_dict(self)

    def to_json(self) -> str:
        """The report as JSON."""
        from tracekit.report.serialize import to_json

        return to_json(self)

    def to_markdown(self) -> str:
        """The report as GitHub flavored Markdown."""
        from tracekit.documents.report import report_file

        return report_file(self, "markdown")

    def to_frame(self) -> pd.DataFrame:
        """One row per check and model: `check`, `outcome`, `severity`, `model`, `savings_ns` and `savings_share` (null
        where they are unknown), `intervals` (rows of evidence), `summary`."""
        rows = [
            (
                check.id,
                check.outcome,
                check.severity,
                check.model,
                pd.NA if check.own_savings_ns is None else check.own_savings_ns,
                check.cost.share if check.cost and check.own_savings_ns is not None else float("nan"),
                check.evidence_total,
                check.summary,
            )
            for check in self.results
        ]
        names = ["check", "outcome", "severity", "model", "savings_ns", "savings_share", "intervals", "summary"]
        return pd.DataFrame(rows, columns=names).astype({"savings_ns": "Int64", "savings_share": "float64"})

    def _repr_html_(self) -> str:
        """What Jupyter shows."""
        from tracekit.documents.report import report_document
        from tracekit.render.forms import FILE_WIDTH, render

        text = render(report_document(self), "text", width=FILE_WIDTH, verbose=False)
        return f"<pre>{escape(text)}</pre>"


@dataclass(frozen=True, slots=True, repr=False)
class NotebookWhy(WhyReport):
    """Why predictions were slow, with its forms at hand."""

    def to_frame(self) -> pd.DataFrame:
        """One row per part: `model`, `prediction` (its label in `activity`), `duration_ns`, `usual_ns`, `cause`, `ns`,
        `low_ns`, `high_ns`, `known`, `check` (null where no finding is about it). Parts of a prediction add up to
        `duration_ns` less `usual_ns`."""
        names = ["model", "prediction", "duration_ns", "usual_ns", "cause", "ns", "low_ns", "high_ns", "known", "check"]
        rows = [
            (
                *(model.model, why.prediction, why.duration_ns, why.usual_ns, str(part.cause), part.ns, part.low_ns),
                *(part.high_ns, str(part.known), findings.get(part.cause)),
            )
            for model in self.models
            for why, findings in zip(model.predictions, model.findings, strict=True)
            for part in why.parts
        ]
        return pd.DataFrame(rows, columns=names)

    def _repr_html_(self) -> str:
        """What Jupyter shows."""
        from tracekit.documents.why import why_document
        from tracekit.render.forms import FILE_WIDTH, render

        return f"<pre>{escape(render(why_document(self), 'text', width=FILE_WIDTH, verbose=False))}</pre>"


@dataclass(frozen=True, slots=True, repr=False)
class NotebookWhatIf(WhatIf):
    """What fixing findings would bring, with its forms at hand."""

    def to_frame(self) -> pd.DataFrame:
        """One row per replay and model that changes: `findings` (ids of the fixed checks), `model`, `saved_ns`,
        and the fields of `Figures` before and after, as `median_ns_before` and `median_ns_after`."""
        names, sides = [field.name for field in fields(Figures)], attrgetter("before", "after")
        rows = [
            (
                replay.findings,
                each.model,
                each.saved_ns,
                *(getattr(side, name) for name in names for side in sides(each)),
            )
            for replay in self.replays
            for each in replay.models
        ]
        figures = [f"{name}_{side}" for name in names for side in ("before", "after")]
        return pd.DataFrame(rows, columns=["findings", "model", "saved_ns", *figures])

    def _repr_html_(self) -> str:
        """What Jupyter shows."""
        from tracekit.documents.whatif import whatif_document
        from tracekit.render.forms import FILE_WIDTH, render

        return f"<pre>{escape(render(whatif_document(self), 'text', width=FILE_WIDTH, verbose=False))}</pre>"


@dataclass(frozen=True, slots=True, repr=False)
class LoadedTrace:
    """One run of a recording, as frames."""

    trace: Trace
    """What the frames are copied from."""

    @property
    def activity(self) -> pd.DataFrame:
        """Rows of the Activity lane: loads, compilations and predictions."""
        return self.trace.activity.copy()

    @property
    def data(self) -> pd.DataFrame:
        """Rows of the Data lane: copies and conversions of inputs and outputs."""
        return self.trace.data.copy()

    @property
    def compute(self) -> pd.DataFrame:
        """Rows of the Compute lane: work on the CPU, and requests to the GPU and the Neural Engine."""
        return self.trace.compute.copy()

    @property
    def phases(self) -> pd.DataFrame:
        """Phases of runtimes and operations of the app, from signposts; columns: `tracekit.trace.runtimes.phases`."""
        return self.trace.phases.copy()

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
        """Predictions that the app made, and those of the stages of its pipelines (`level` is `sub`)."""
        return self._of_kind(Kind.PREDICTION)

    @property
    def loads(self) -> pd.DataFrame:
        """Loads of models."""
        return self._of_kind(*LOAD_KINDS)

    @property
    def models(self) -> pd.DataFrame:
        """One row per model, with the columns of `tracekit.trace.models`."""
        return self.trace.models.copy()

    @property
    def coverage(self) -> pd.DataFrame:
        """What was recorded: `instrument`, `state`, `rows` (null where not recorded) and `conclusion`."""
        rows = [(entry.instrument, str(entry.state), entry.rows, entry.conclusion) for entry in self.trace.coverage]
        return pd.DataFrame(rows, columns=["instrument", "state", "rows", "conclusion"]).astype({"rows": "Int64"})

    def context(self, name: str) -> pd.DataFrame:
        """A frame beside the lanes, for example `thermal`, `hangs` or `signposts`.

        Raises KeyError where its table was not recorded or could not be read.
        """
        return self.trace.context[name].copy()

    @property
    def samples(self) -> pd.DataFrame | None:
        """Samples of running threads; None where none were recorded. Columns: `tracekit.trace.samples`."""
        return None if self.trace.samples is None else self.trace.samples.copy()

    @property
    def stacks(self) -> pd.DataFrame | None:
        """Frames of the distinct call stacks that `samples` refers to, innermost first."""
        return None if self.trace.stacks is None else self.trace.stacks.copy()

    @property
    def core_ml_calls(self) -> pd.DataFrame | None:
        """Calls of Core ML that samples lie in, and the code that made them; None where no samples were recorded."""
        sites = call_sites(self.trace)
        return None if sites is None else self.trace.activity.loc[sites.index].join(sites)

    def breakdown(self) -> pd.DataFrame:
        """Where the time of each of the app's predictions went, in ns, indexed like `predictions`.

        The columns are those of `tracekit.analysis.breakdown.Breakdown`; null: not known, never zero.
        """
        return breakdown(self.trace).frame.copy()

    def analyze(self, **options: Any) -> NotebookReport:
        """The report on this run, with the options of `tracekit.analyze` that do not concern reading."""
        request = request_of(**options)
        return as_notebook_report(judge(self.trace, request, shown_of_request(self.trace, request)))

    def why(
        self,
        model: str | None = None,
        *,
        slowest: int | None = None,
        at_ns: int | None = None,
        percentile: float | None = None,
        over_ns: int | None = None,
        **options: Any,
    ) -> NotebookWhy:
        """Why predictions were slow: by default the slowest one of the model with most time in predictions.

        `model` is a name or pattern, `slowest` how many; or those in flight `at_ns`, the one at a `percentile`, those
        `over_ns`. Further options are those of `tracekit.analyze` that do not concern reading. Raises `UsageError` for
        a model that the recording does not hold.
        """
        request = request_of(**options if model is None else {**options, "models": model})
        report = explain(self.trace, request, Choice(slowest, at_ns, percentile, over_ns))
        return NotebookWhy(**{field.name: getattr(report, field.name) for field in fields(report)})

    def whatif(self, *checks: str, **options: Any) -> NotebookWhatIf:
        """What fixing the findings of these checks would bring, one check after another and all together; without
        `checks`, those of all.

        Further options are those of `tracekit.analyze` that do not concern reading. Raises `UsageError` for a check
        that found nothing.
        """
        said = what_if_fixed(self.trace, request_of(**options), checks)
        return NotebookWhatIf(**{field.name: getattr(said, field.name) for field in fields(said)})

    def _on(self, lane: Lane) -> pd.DataFrame:
        hardware = self.trace.hardware
        return hardware[is_any(hardware["lane"], lane)].copy()

    def _of_kind(self, *kinds: Kind) -> pd.DataFrame:
        activity = self.trace.activity
        return activity[is_any(activity["kind"], *kinds)].copy()

    def __repr__(self) -> str:
        return repr(self.trace)

    def _repr_html_(self) -> str:
        """What Jupyter shows."""
        return f"<p>{escape(repr(self))}</p>{self.coverage.to_html(index=False)}"


def read(
    path: Paths,
    *,
    run: int | None = None,
    reader: str = "auto",
    xctrace: XctraceOptions | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> LoadedTrace:
    """Read a recording into frames. Parameters and errors are those of `tracekit.open_trace`."""
    return LoadedTrace(open_trace(path, run=run, reader=reader, xctrace=xctrace, progress=progress))


def as_notebook_report(report: Report) -> NotebookReport:
    """The same report with its methods."""
    return NotebookReport(**{field.name: getattr(report, field.name) for field in fields(report) if field.init})


P = ParamSpec("P")


def _reporting(request_of: Callable[P, Request]) -> Callable[Concatenate[Paths, P], NotebookReport]:
    """A function that reads a recording and reports what is asked of it, with the parameters of a request."""

    def analyze(path: Paths, *arguments: P.args, **options: P.kwargs) -> NotebookReport:
        return as_notebook_report(analysis_of(path, request_of(*arguments, **options)).report)

    asked = signature(request_of)
    path = Parameter("path", Parameter.POSITIONAL_OR_KEYWORD, annotation="Paths")
    named = asked.replace(parameters=[path, *asked.parameters.values()], return_annotation="NotebookReport")
    vars(analyze)["__signature__"] = named
    analyze.__doc__ = f"Read a recording, run the checks and report.\n\n{getdoc(request_of)}\n\n{getdoc(analysis_of)}"
    # By its name the path can be given too.
    return cast("Callable[Concatenate[Paths, P], NotebookReport]", analyze)


analyze = _reporting(request_of)
"""Reads a recording, runs the checks and reports."""
