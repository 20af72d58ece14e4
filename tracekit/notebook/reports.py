"""Reports in a notebook: with their forms at hand, as frames of pandas, and as pages from which nothing gets out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from html import escape
from importlib import import_module
from inspect import Parameter, getdoc, signature
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, TypeVar, cast

import pandas as pd

from tracekit.api import Analysis, analysis_of
from tracekit.errors import refusals
from tracekit.grouping import grouped
from tracekit.recording.open import Paths
from tracekit.render.blocks import Document, plain
from tracekit.render.forms import FILE_WIDTH, form_for, render
from tracekit.report.call_sites import line_of, merge_sites
from tracekit.report.groups import Group
from tracekit.report.report import DRAWN, FindingInfo, Report as ReportData, Result
from tracekit.report.serialize import to_dict, to_json
from tracekit.report.why import WhyReport
from tracekit.report.without import Figures, Without
from tracekit.request import Request, request_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Shown = TypeVar("Shown")


class Page:
    """A dataclass with a document: its forms are at hand, and in a notebook it is its page."""

    __slots__ = ()
    _said_by: ClassVar[str]
    """Module and function of `tracekit.documents` that say it."""

    def _document(self) -> Document:
        module, name = self._said_by.split(":")
        return getattr(import_module(f"tracekit.documents.{module}"), name)(self)  # type: ignore[no-any-return]

    def _page(self) -> Document:
        """The document with the pictures of a page."""
        return self._document()

    def __repr__(self) -> str:
        document = self._document()
        return f"<{type(self).__name__.removeprefix('Notebook')}: {plain(document.verdict) or document.title}>"

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, with the keys of the JSON."""
        return to_dict(cast("DataclassInstance", self))

    def to_json(self) -> str:
        """All of it as JSON, as the command line writes it."""
        return to_json(cast("DataclassInstance", self))

    def to_markdown(self) -> str:
        """What it says as GitHub flavored Markdown."""
        return render(self._document(), "markdown", width=FILE_WIDTH)

    def to_html(self) -> str:
        """What it says as a page of its own."""
        return render(self._page(), "html", width=FILE_WIDTH)

    def save(self, path: str | Path) -> None:
        """Write it; the ending of the name chooses the form: `.html`, `.md`, `.txt` or `.json`. Raises `UsageError` for
        another one, `TracekitError` where it cannot be written."""
        form = form_for(Path(path))
        if form == "json":
            text = self.to_json()
        else:
            text = render(self._page() if form == "html" else self._document(), form, width=FILE_WIDTH)
        with refusals(f"write {path}"):
            Path(path).write_text(text, encoding="utf-8", errors="backslashreplace")

    def _repr_html_(self) -> str:
        """What Jupyter shows."""
        return framed(self._page())


def framed(document: Document) -> str:
    """The page of a document in a frame. It keeps its own policy there, and the sandbox keeps its script from the
    notebook around it; its lower edge can be dragged."""
    page = escape(render(document, "html", width=FILE_WIDTH))
    look = "width:100%;height:640px;border:1px solid #8886;border-radius:4px;resize:vertical"
    allowed = "allow-scripts allow-popups allow-popups-to-escape-sandbox"
    return f'<iframe srcdoc="{page}" sandbox="{allowed}" style="{look}" title="{escape(document.title)}"></iframe>'


def with_methods(kind: type[Shown], value: Any, **more: Any) -> Shown:
    """The same values as an object of a subclass that adds methods, and fields given as `more`."""
    return kind(**{field.name: getattr(value, field.name) for field in fields(value) if field.init}, **more)


@dataclass(frozen=True, slots=True)
class Finding(FindingInfo):
    """What one check found, with what each model answered."""

    results: tuple[Result, ...] = field(default=(), repr=False, compare=False, metadata=DRAWN)

    @property
    def summary(self) -> str:
        """What was measured, a sentence for each model."""
        return " ".join(f"{one.model}: {one.summary}" if one.model else one.summary for one in self.results)

    @property
    def fix(self) -> str:
        """Markdown: what to change."""
        return Group(self.results).fix

    @property
    def code(self) -> list[str]:
        """Places in the app that are behind it: `Style.apply (Style.swift:42)`; empty without call stacks."""
        sites = merge_sites(site for one in self.results for site in one.call_sites)
        lines = ((site.function, line_of(site)) for site in sites)
        return [" ".join(filter(None, (name, line and f"({line})"))) for name, line in lines]

    @property
    def evidence(self) -> pd.DataFrame:
        """The longest intervals behind it: `model`, `label`, `start_ns`, `end_ns`, `table`, `row`."""
        names = ["model", "label", "start_ns", "end_ns", "table", "row"]
        rows = [[getattr(each, name) for name in names] for one in self.results for each in one.evidence]
        return pd.DataFrame(rows, columns=names)

    @property
    def savings(self) -> str:
        """What the fix saves at most, in the words of a report, or why that is unknown; empty if about no time."""
        from tracekit.documents.report_findings import finding_savings

        return finding_savings(*self.results)


@dataclass(frozen=True, slots=True, repr=False)
class Report(Page, ReportData):
    """A report with its forms at hand."""

    analysis: Analysis | None = field(default=None, compare=False, metadata=DRAWN)
    """What the lanes of its page are drawn from."""

    def to_frame(self) -> pd.DataFrame:
        """One row per check and model: `check`, `outcome`, `severity`, `model`, `savings_ns` and `savings_share` (null
        where they are unknown), `intervals` (rows of evidence), `summary`."""
        taken = attrgetter("id", "outcome", "severity", "model", "saved_ns", "evidence_total", "summary")
        rows = [taken(check) for check in self.results]
        names = ["check", "outcome", "severity", "model", "savings_ns", "intervals", "summary"]
        shares = [one.saved.share if one.saved else None for one in self.results]
        frame = pd.DataFrame(rows, columns=names).astype({"savings_ns": "Int64"})
        frame.insert(5, "savings_share", pd.Series(shares, dtype="float64"))
        return frame

    _said_by = "report:report_document"
    __repr__ = ReportData.__repr__

    def _page(self) -> Document:
        from tracekit.documents.report import report_document

        return report_document(self, None if self.analysis is None else self.analysis.timeline())


@dataclass(frozen=True, slots=True, repr=False)
class Why(Page, WhyReport):
    """Why predictions were slow, with its forms at hand."""

    _said_by = "why:why_document"

    def __repr__(self) -> str:
        from tracekit.documents.why import caller

        sites = dict.fromkeys(site for model in self.models for why in model.predictions for site in caller(why))
        return f"{'; '.join((Page.__repr__(self)[:-1], *sites))}>"

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


@dataclass(frozen=True, slots=True, repr=False)
class Replay(Page, Without):
    """What fixing findings would bring, with its forms at hand."""

    _said_by = "advice:without_document"

    def to_frame(self) -> pd.DataFrame:
        """One row per replay and model that changes: `findings` (ids of the fixed checks), `model`, `saved_ns`,
        and the fields of `Figures` before and after, as `median_ns_before` and `median_ns_after`."""
        figures = [(field.name, side) for field in fields(Figures) for side in ("before", "after")]
        taken = attrgetter("model", "saved_ns", *(f"{side}.{name}" for name, side in figures))
        rows = [(replay.findings, *taken(model)) for replay in self.replays for model in replay.models]
        columns = ["findings", "model", "saved_ns", *(f"{name}_{side}" for name, side in figures)]
        return pd.DataFrame(rows, columns=columns)


def as_notebook_report(analysis: Analysis) -> Report:
    """The report of an analysis with its methods."""
    report = analysis.report
    found = grouped((one.id, one) for one in report.results if one.outcome == "finding")
    findings = tuple(with_methods(Finding, one, results=tuple(found[one.id])) for one in report.findings)
    return with_methods(Report, replace(report, findings=findings), analysis=analysis)


P = ParamSpec("P")


def _reporting(request_of: Callable[P, Request]) -> Callable[Concatenate[Paths, P], Report]:
    """A function that reads a recording and reports what is asked of it, with the parameters of a request."""

    def analyze(path: Paths, *arguments: P.args, **options: P.kwargs) -> Report:
        return as_notebook_report(analysis_of(path, request_of(*arguments, **options)))

    asked = signature(request_of)
    path = Parameter("path", Parameter.POSITIONAL_OR_KEYWORD, annotation="Paths")
    named = asked.replace(parameters=[path, *asked.parameters.values()], return_annotation="Report")
    vars(analyze)["__signature__"] = named
    analyze.__doc__ = f"Read a recording, run the checks and report.\n\n{getdoc(request_of)}\n\n{getdoc(analysis_of)}"
    # By its name the path can be given too.
    return cast("Callable[Concatenate[Paths, P], Report]", analyze)


analyze = _reporting(request_of)
"""Reads a recording, runs the checks and reports."""
