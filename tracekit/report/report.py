"""The report: one object that every renderer, the terminal UI and the gate read.

It mirrors the published JSON key for key (`report/schema/report-3.json`). Names are kept once published; a change
raises `SCHEMA_VERSION`. All times are ns; None means "not recorded" or "too few values", never zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from tracekit.characters import visible
from tracekit.detectors.outcomes import Cost, Evidence, Metric, Savings, Unknown
from tracekit.intervals import Intervals

if TYPE_CHECKING:
    from tracekit.analysis.aggregation import AggregationRow
    from tracekit.analysis.code.sites import CallSite
    from tracekit.analysis.device_states import Sustained
    from tracekit.analysis.frames.summary import FrameSummary, HeldUp
    from tracekit.analysis.memory import LoadMemory, MemoryLevel
    from tracekit.analysis.models import ModelSummary
    from tracekit.analysis.operations import Operation
    from tracekit.analysis.requests import RequestSummary
    from tracekit.analysis.runtimes import RuntimeSummary
    from tracekit.analysis.specialization import Specializations
    from tracekit.detectors.pages import Reference
    from tracekit.detectors.ranking import Related
    from tracekit.report.call_sites import CodeInfo
    from tracekit.trace.trace import Coverage

SCHEMA_VERSION = 3

SEVERITIES: Final = ("critical", "high", "medium", "low")
"""Worst first."""

IF_ANY: Final = {"if_any": True}
"""Metadata of a field that is written only where it holds something."""

DRAWN: Final = {"drawn": True}
"""Metadata of a field that is for those who draw a report alone, and not written."""


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """What wrote the report."""

    name: str
    """`tracekit`."""
    version: str
    """Its version."""
    config: str | None
    """Name of the file of settings that was used; None where there was none."""


@dataclass(frozen=True, slots=True)
class RecordingInfo:
    """Facts about the recording. None: not in the input."""

    source: str
    """Name of the file or folder."""
    input_type: str
    """`trace bundle` or `xctrace export XML`."""
    run: int
    """Number of the run that the report is about."""
    runs: tuple[int, ...]
    """Numbers of all runs in the input."""
    platform: str | None
    """System that the device runs, such as `iOS`."""
    device_model: str | None
    """Model of the device."""
    device_name: str | None
    """Name of the device; redacted."""
    os_version: str | None
    """Version of its system."""
    target: str | None
    """Name of the target process, or `all processes`."""
    target_pid: int | None
    """Process id of the target."""
    target_kind: str | None
    """`launched`, `attached` or `all-processes`."""
    arguments: str | None
    """Command line of a launched target; redacted."""
    template: str | None
    """Template of Instruments."""
    instruments_version: str | None
    """Version of Instruments."""
    start_date: str | None
    """When the recording began."""
    duration_ns: int | None
    """How long it ran."""
    end_reason: str | None
    """Why it ended, as Instruments says it."""
    recording_mode: str | None
    """Mode of Instruments, such as `Deferred`."""
    imported_from: str | None
    """What `xctrace import` made the run from."""
    notes: tuple[str, ...]
    """What Instruments reported, and what could not be read of tables that checks read, one sentence each."""
    redacted: bool
    """Whether private fields were left out or replaced."""
    commit: str | None = field(default=None, metadata=IF_ANY)
    """The commit that was recorded, where one was given."""


@dataclass(frozen=True, slots=True)
class TableInfo:
    """One table of the recording."""

    schema: str
    """Name of its schema."""
    state: str
    """`rows`; `empty`: recorded, no rows; `missing`: not recorded; `unreadable`: recorded, and damaged or not
    exported."""
    rows: int | None
    """Number of rows."""
    columns: int | None
    """Number of columns."""
    attributes: dict[str, str]
    """What distinguishes tables of one schema."""
    source: str
    """File or store that it comes from."""
    reason: str
    """Why it cannot be read, or which columns it lacks; else empty."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What is written about one check, whatever it answers."""

    id: str
    """The check."""
    title: str = field(metadata=IF_ANY)
    """States the good state. In `rules` only where a result passed."""
    finding_title: str = field(metadata=IF_ANY)
    """States the problem. In `rules` only where there is a finding."""
    pattern: str
    """Where it belongs in the diagnostic tree of Core ML."""
    why: str
    """One sentence: what the problem costs the user."""
    fix: str
    """Markdown with code: the API to call. Empty in `rules` unless a finding is fixed so."""
    references: tuple[Reference, ...]
    """Where the facts come from."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a check says of one model, or of everything, and the rule that it follows."""

    id: str
    """Of the rule in `rules`."""
    outcome: str
    """`finding`, `passed`, `not_applicable`, `not_evaluated`, `error`."""
    model: str | None
    """None for the whole recording."""
    summary: str
    """One sentence: the numbers of the answer, or why there is none."""
    own_fix: str
    """Markdown: how exactly this one is fixed, where that is another fix than the rule's; else empty."""
    record: str
    """What to record or to inspect so that it can be evaluated. Empty unless the outcome is `not_evaluated`."""
    rule: Rule = field(repr=False, metadata=DRAWN)

    @property
    def title(self) -> str:
        """States the problem for a finding, the good state otherwise."""
        return self.rule.finding_title if self.outcome == "finding" else self.rule.title

    @property
    def fix(self) -> str:
        """How a finding is fixed; empty for another outcome."""
        return (self.own_fix or self.rule.fix) if self.outcome == "finding" else ""

    @property
    def pattern(self) -> str:
        """That of the rule."""
        return self.rule.pattern

    @property
    def why(self) -> str:
        """That of the rule."""
        return self.rule.why

    @property
    def references(self) -> tuple[Reference, ...]:
        """Those of the rule."""
        return self.rule.references


@dataclass(frozen=True, slots=True)
class Result(Answer):
    """The answer of one check for one model, or for the whole recording."""

    severity: str | None
    """None unless the outcome is `finding`, and for findings in model files, which have no times."""
    caveats: tuple[str, ...]
    """What the reader must know before relying on the answer, one sentence each."""
    metrics: tuple[Metric, ...]
    """Measured values and their thresholds."""
    cost: Cost | None
    """None unless the outcome is `finding`, and for findings that cost no measured time."""
    savings: Savings | Unknown | None
    """What the fix saves at most, or why that is unknown; None for what is about no time."""
    related: tuple[Related, ...]
    """Findings of this report that can cause this one, or that it can cause."""
    evidence: tuple[Evidence, ...]
    """The longest intervals that show it."""
    evidence_total: int
    """How many intervals there are in all; `evidence` is a selection."""
    call_sites: tuple[CallSite, ...]
    """Code of the app that is behind it, the place with most calls first. Empty unless the outcome is `finding`, and
    where no call stacks were recorded."""
    resolution_ns: int = 0
    """How exactly the times of its evidence are known: the time between two samples, where only call stacks show
    them."""
    marked: Intervals = field(default_factory=Intervals.none, compare=False, repr=False, metadata=DRAWN)
    """The times of all evidence, for the timeline; empty where a plug-in gives only those in `evidence`."""

    @property
    def saved(self) -> Savings | None:
        """The savings where they are known."""
        return self.savings if isinstance(self.savings, Savings) else None

    @property
    def saved_ns(self) -> int | None:
        """What the fix saves in all; None where that is unknown."""
        return self.saved.total_ns if self.saved else None

    @property
    def unknown_savings(self) -> str:
        """Why the savings are unknown; empty where they are known, and for what is about no time."""
        return self.savings.reason if isinstance(self.savings, Unknown) else ""

    @property
    def basis(self) -> str:
        """How the savings were worked out; where they are unknown, how the cost was."""
        measured = self.saved or self.cost
        return measured.basis if measured else ""


def rules_of(answers: Iterable[Answer]) -> tuple[Rule, ...]:
    """The rules that answers follow, each once, by id, with the texts that their answers show."""
    answers = tuple(answers)
    found, passed = ({one.id for one in answers if one.outcome == outcome} for outcome in ("finding", "passed"))
    fixed = {answer.id for answer in answers if answer.outcome == "finding" and not answer.own_fix}
    rules = {answer.id: answer.rule for answer in answers}
    return tuple(
        replace(
            rule,
            title=rule.title if name in passed else "",
            finding_title=rule.finding_title if name in found else "",
            fix=rule.fix if name in fixed else "",
        )
        for name, rule in sorted(rules.items())
    )


@dataclass(frozen=True, slots=True)
class FindingInfo:
    """What one check found, in all models together."""

    id: str
    """The check."""
    title: str
    """The problem in one sentence."""
    severity: str
    """The worst of its models."""
    models: tuple[str, ...]
    """In the order of the checks; empty for a finding about the recording."""
    savings_ns: int | None
    """Time that the fix saves at most in all models together; None where that is unknown."""
    extra_savings_ns: int | None
    """What it saves once the findings above are fixed."""


@dataclass(frozen=True, slots=True)
class Totals:
    """How many checks had which outcome, each counted once, however many models it was evaluated for; a finding in any
    model outweighs the other outcomes."""

    findings: int
    """Checks that found a problem."""
    critical: int
    """Findings by the worst severity of their models."""
    high: int
    """As `critical`."""
    medium: int
    """As `critical`."""
    low: int
    """As `critical`."""
    models: int
    """Models with at least one finding."""
    passed: int
    """Checks that passed."""
    not_applicable: int
    """Checks that do not apply to this recording."""
    not_evaluated: int
    """Checks that were evaluated for no model."""
    errors: int
    """Checks that ended with an error for at least one model."""

    @property
    def worst(self) -> str:
        """The worst severity of all findings; empty where there is none."""
        return next((severity for severity in SEVERITIES if getattr(self, severity)), "")


@dataclass(frozen=True, slots=True)
class Summary(Totals):
    """The verdict in numbers."""

    evaluated: bool
    """Whether at least one check of the app has a verdict (finding or passed). Checks of the recording itself count
    only where no others were run."""
    savings_ns: int | None
    """Time that all fixes together save at most, where that is known; None where it is for no finding."""
    verdict: str
    """One sentence."""
    ran: str = field(default="", metadata=IF_ANY)
    """What ran, in one sentence, where no check could be evaluated and signposts show phases of runtimes or operations
    of the app."""

    @property
    def says(self) -> bool:
        """Whether the report says something of the app: a check has a verdict, or signposts show what ran."""
        return self.evaluated or bool(self.ran)


@dataclass(frozen=True, slots=True)
class ModelFileResult(Answer):
    """The answer of a check of model files. A file has no times, so there is no severity, cost or evidence."""


@dataclass(frozen=True, slots=True)
class ModelFact:
    """A fact of a model file in words."""

    name: str
    """Such as `input`, `weights`."""
    value: str
    """The fact in words."""


@dataclass(frozen=True, slots=True)
class ModelFileInfo:
    """A model file that was given or found, and what it says of a model of the recording."""

    model: str | None
    """The model that it describes; None where it is used for none."""
    source: str
    """Name of the file, without the way to it."""
    match: str | None
    """`as given`, `same name`, `similar name`; None where it is not used."""
    problem: str
    """Why it is not used, or why that is in doubt, in one sentence; else empty."""
    summary: str
    """Its facts in one line; this and what follows is empty where it is not used."""
    systems: str
    """Its specification version and the systems that load it."""
    loads: bool | None
    """Whether its specification version loads on the system of the recording; None where either is not known."""
    interface: str
    """What its inputs and outputs are converted from and to, in one sentence."""
    compression: tuple[str, ...] | None
    """How its weights are compressed: `palettized`, `quantized`, `pruned`; None where the file does not list them."""
    facts: tuple[ModelFact, ...]
    """Its interface, precision, operations and weights, for a card."""
    results: tuple[ModelFileResult, ...]
    """What `tracekit inspect` says of it."""
    commands: dict[str, str] = field(default_factory=dict)
    """By finding of the file: the `tracekit fix` that writes the file without it; findings that need the source are
    missing."""


@dataclass(frozen=True, slots=True)
class PerformanceReportInfo:
    """A performance report that was given or found, beside what was recorded of its model. A plan is an intention."""

    model: str | None
    """The model that it is of; None where it is used for none."""
    source: str
    """Name of the file, without the way to it."""
    match: str | None
    """`as given`, `same name`, `similar name`; None where it is not used."""
    problem: str
    """Why it is not used, or why that is in doubt, in one sentence; else empty."""
    form: str = ""
    """What wrote it; this and what follows is empty or None where it is not used."""
    made_on: str = ""
    """Device, system and the compute units that it was made for, and whether that is the recorded device."""
    same_device: bool | None = None
    """Whether it was made on the recorded model of device; None where either is not known."""
    median_ns: float | None = None
    """Median prediction of the model alone."""
    load_ns: float | None = None
    """Median load, of a model that was cached where the report distinguishes them."""
    operations: int | None = None
    """Operations that it lists; None where it lists none."""
    units: dict[str, int] = field(default_factory=dict)
    """Operations planned on each compute unit; units without any are absent."""
    timed: str = ""
    """Time of a prediction alone and as recorded, in one sentence."""
    planned: str = ""
    """Where operations are planned, and where work was recorded, in one sentence."""


@dataclass(frozen=True, slots=True)
class MemoryInfo:
    """Memory of the target. The footprint is that of the app. It includes memory of the Neural Engine from OS 27 on, on
    devices that support Apple Intelligence; before, that lies in other processes."""

    levels: tuple[MemoryLevel, ...]
    """The footprint, and what was allocated of Metal, where they were sampled."""
    loads: tuple[LoadMemory, ...]
    """What each load did to the footprint, in order."""


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """Everything that leaves the analysis."""

    schema_version: int
    tool: ToolInfo
    """What wrote the report."""
    recording: RecordingInfo
    """What was recorded, of what, where and when."""
    tables: tuple[TableInfo, ...]
    """Every table of the run."""
    coverage: tuple[Coverage, ...]
    """What each instrument recorded."""
    models: tuple[ModelSummary, ...]
    """One entry per model, the one that took most time first."""
    aggregation: tuple[AggregationRow, ...]
    """Statistics by lane, event, model and process."""
    findings: tuple[FindingInfo, ...]
    """One per check that found a problem, the one that costs most first. `results` holds the answer for each model."""
    rules: tuple[Rule, ...] = field(init=False)
    """What is written about each check in `results` and in those of `model_files`, once."""
    results: tuple[Result, ...]
    """Findings first, in the order of `findings`; then errors, what was not evaluated, and the rest."""
    code: CodeInfo | None
    """What call stacks show; None where none were recorded."""
    summary: Summary
    """Counts by check, as in the last line on screen."""
    measurements: dict[str, Any] | None = None
    """What a comparison needs so that the report can stand for the recording (`tracekit.comparison.reports`); None
    where nobody asked for it."""
    model_files: tuple[ModelFileInfo, ...] = field(default=(), metadata=IF_ANY)
    """Files that were given or found beside the recording."""
    performance_reports: tuple[PerformanceReportInfo, ...] = field(default=(), metadata=IF_ANY)
    """Performance reports that were given or found, in the same way."""
    runtimes: tuple[RuntimeSummary, ...] = field(default=(), metadata=IF_ANY)
    """Runtimes beside Core ML that ran in the target, with the phases that their signposts show."""
    operations: tuple[Operation, ...] = field(default=(), metadata=IF_ANY)
    """What the app's own signposts name, those that last longest first."""
    requests: tuple[RequestSummary, ...] = field(default=(), metadata=IF_ANY)
    """Requests to language models, by runtime, model and process."""
    memory: MemoryInfo | None = field(default=None, metadata=IF_ANY)
    """Memory of the target; None where it was not sampled, which is not zero."""
    sustained: tuple[Sustained, ...] = field(default=(), metadata=IF_ANY)
    """Models that predict for a minute or more: whether they keep their speed, and how long units work for them."""
    frames: FrameSummary | None = field(default=None, metadata=IF_ANY)
    """Late frames of the target; None where frames were not recorded, which is not zero."""
    hangs: tuple[HeldUp, ...] = field(default=(), metadata=IF_ANY)
    """Hangs of the main thread in which it loads or predicts, by model."""
    specializations: Specializations | None = field(default=None, metadata=IF_ANY)
    """Which models were compiled for the device, and on what the cache may depend; None where no model is known."""

    def __post_init__(self) -> None:
        of_files = (answer for file in self.model_files for answer in file.results)
        object.__setattr__(self, "rules", rules_of((*self.results, *of_files)))

    def __repr__(self) -> str:
        return f"<Report of {visible(self.recording.source)}: {visible(self.summary.verdict)}>"
