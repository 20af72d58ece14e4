"""What a detector can answer: exactly one of five outcomes for each model, or for the recording as a whole.

Each outcome carries the fields it needs alone, so that "found nothing" can never be mistaken for "could not look".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tracekit.analysis.code.sites import CallSite
    from tracekit.arrays import CodeArray, IntArray
    from tracekit.intervals import Intervals


def _no_time() -> Intervals:
    # Findings of model files are about no time, and need no numpy.
    from tracekit.intervals import Intervals

    return Intervals.none()


class Direction(StrEnum):
    """On which side of the threshold a metric is a problem; the threshold itself counts as reached."""

    ABOVE = "above"
    BELOW = "below"


@dataclass(frozen=True, slots=True)
class Metric:
    """A measured value; with `threshold` and `direction` it is one of the conditions that decide the outcome."""

    id: str
    """What code finds it by, unique in its answer: `loads-per-prediction`."""
    name: str
    """Words for the reader, for example `loads per prediction`."""
    value: float | int | None
    """None where it could not be measured."""
    unit: str
    """`ns`, `share` (0 to 1), `count`, `ratio`."""
    threshold: float | int | None = None
    """Value at which it counts."""
    direction: Direction | None = None
    """Whether it counts `above` or `below` the threshold."""

    @property
    def reached(self) -> bool:
        """Whether value and threshold both exist and the value is at the threshold or on its problem side."""
        if self.value is None or self.threshold is None:
            return False
        if self.direction is Direction.BELOW:
            return self.value <= self.threshold
        return self.value >= self.threshold


def above(metric_id: str, name: str, value: float | None, unit: str, threshold: float) -> Metric:
    """A condition that holds from the threshold on."""
    return Metric(metric_id, name, value, unit, threshold, Direction.ABOVE)


def below(metric_id: str, name: str, value: float | None, unit: str, threshold: float) -> Metric:
    """A condition that holds up to the threshold."""
    return Metric(metric_id, name, value, unit, threshold, Direction.BELOW)


@dataclass(frozen=True, slots=True)
class Each:
    """What a fix saves each time, as a mean."""

    what: str
    """`prediction`, `load`, `compilation`, `round` of predictions, or `step`: from the start of one prediction to that
    of the next."""
    count: int
    """How many there are."""
    saved_ns: int
    """What one saves."""
    of_ns: int
    """How long one takes now."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The time that the problem takes, as measured."""

    ns: int
    """That time: at most what `Finding.affected` covers."""
    share: float
    """`ns` as a share (0 to 1) of `of_ns`."""
    basis: str
    """One sentence: how the time was worked out and what the share is a share of."""
    of: str = ""
    """What the share is a share of, in a few words, where that is not the model's time: what its loads, compilations
    and predictions cover."""
    once: bool = False
    """The user waits for it once, however long the app runs, as for a cold load: the severity follows from its length,
    not from its share, which falls as the recording grows."""
    longest_wait_ns: int = 0
    """The longest that the user waits at once for what comes again; 0 where nobody is known to wait."""
    usual_ns: int = 0
    """How long what stands out `once` usually takes, as a prediction; 0 where nothing is usual, as for a load."""


@dataclass(frozen=True, slots=True)
class Savings:
    """What the fix saves at most, as the recording replayed without what it takes away shows."""

    total_ns: int
    """In this recording, together with the findings of the same check; 0 where predictions in flight together each
    take less (`each`) and all of them as long."""
    extra_ns: int
    """What of it is saved once the findings above are fixed."""
    share: float
    """What this fix alone saves as a share (0 to 1) of `of_ns`; where all predictions take as long, what the problem
    takes of it."""
    of_ns: int
    """The time that it is a share of."""
    basis: str
    """How it was worked out, and what is assumed of the fix."""
    of: str = ""
    """What the share is a share of, as in `Cost`."""
    once: bool = False
    """The user waits for it once, as in `Cost`."""
    each: Each | None = None
    """What is saved each time; None where nothing comes several times."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """What the fix saves is not known."""

    reason: str
    """Why, in a clause."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """An exact interval of the recording that shows the finding."""

    start_ns: int
    """Start of the interval."""
    end_ns: int
    """End of the interval."""
    model: str | None
    """Model that it is of."""
    label: str
    """Event as recorded."""
    table: str
    """Schema of the recorded table."""
    row: int
    """Row in that table, from 0."""
    bytes: int | None = None
    """Bytes added to the footprint, or the footprint at that time; None where the finding is not about memory."""

    @property
    def duration_ns(self) -> int:
        """Its length."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceColumns:
    """All evidence of a finding in columns, shape (n,) each: when, and which row of which table."""

    times: Intervals
    table: CodeArray
    """Position in `tables`."""
    row: IntArray
    tables: tuple[str, ...]

    def rows_by_table(self) -> dict[str, IntArray]:
        """Row numbers by table. O(n) for each table."""
        return {name: self.row[self.table == code] for code, name in enumerate(self.tables)}


@dataclass(frozen=True, slots=True)
class Finding:
    """The antipattern is there."""

    model: str | None
    """Base name; None for the whole recording."""
    summary: str
    """One sentence with the numbers."""
    metrics: tuple[Metric, ...]
    cost: Cost | None
    """None where what is wrong costs no time that could be measured, as with the recording's own health."""
    evidence: tuple[Evidence, ...]
    """The intervals that weigh most first; at most the framework's limit is kept."""
    evidence_total: int = 0
    """How many intervals there are in all, where `evidence` is a selection."""
    affected: Intervals = field(default_factory=_no_time)
    """Where the time of `cost` lies, so that no ns is counted for two findings: sorted, none overlapping another. It
    may be longer than the cost: then the cost is spread evenly over it. Needed wherever there is a cost."""
    call_sites: tuple[CallSite, ...] = ()
    """Code of the app that is behind it (`tracekit.analysis.code.sites.sites_of`)."""
    fix: str = ""
    """Markdown: how exactly this one is fixed, where that can be said; else what the detector says in general."""
    missed: float | None = None
    """Share (0 to 1) of the predictions that are not as the user asked, as by a time budget. Such a finding is a fact
    without cost: how often it is so gives its severity."""
    held: float | None = None
    """Share (0 to 1) of the highest footprint that the fix gives back: the severity of a finding about memory, which
    costs no time."""
    resolution_ns: int = 0
    """How exactly the times of its evidence are known: the time between two samples, where only call stacks show
    them."""
    all_evidence: EvidenceColumns | None = field(default=None, compare=False)
    """For those who draw all of it; None where no more is known than `evidence`."""
    savings: Savings | Unknown | None = None
    """What the fix saves, filled in by the replay; None for what is about no time, or was not asked."""

    @property
    def models(self) -> frozenset[str] | None:
        """The models that it is about: of one about several those of its evidence; None where it does not name all of
        them."""
        if self.model is not None:
            return frozenset((self.model,))
        shown = {entry.model for entry in self.evidence}
        if not shown or None in shown or self.evidence_total > len(self.evidence):
            return None
        return frozenset(name for name in shown if name is not None)


@dataclass(frozen=True, slots=True)
class Passed:
    """Looked, with enough data, and it is not there."""

    model: str | None
    summary: str
    metrics: tuple[Metric, ...] = ()


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """It cannot occur here; `reason` says why, in one sentence."""

    model: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class NotEvaluated:
    """Could not look; `reason` says what is missing, `record` what to record."""

    model: str | None
    reason: str
    record: str


@dataclass(frozen=True, slots=True)
class DetectorFailed:
    """The detector itself failed; the analysis went on without it."""

    model: str | None
    error: str


Outcome = Finding | Passed | NotApplicable | NotEvaluated | DetectorFailed


class _Named(Protocol):
    @property
    def name(self) -> str | None:
        """Base name of the model; None for the whole recording."""


class Answering:
    """What a rule is asked about: one model, by whose `name` it answers, or the whole recording."""

    __slots__ = ()

    def passed(self: _Named, summary: str, metrics: tuple[Metric, ...] = ()) -> Passed:
        """Looked, with enough data, and it is not there."""
        return Passed(self.name, summary, metrics)

    def not_applicable(self: _Named, reason: str) -> NotApplicable:
        """It cannot occur here."""
        return NotApplicable(self.name, reason)

    def unknown(self: _Named, reason: str, record: str) -> NotEvaluated:
        """Not evaluated: what is missing, and what to record."""
        return NotEvaluated(self.name, reason, record)


OUTCOME_NAMES: dict[type[Outcome], str] = {
    Finding: "finding",
    Passed: "passed",
    NotApplicable: "not_applicable",
    NotEvaluated: "not_evaluated",
    DetectorFailed: "error",
}
"""Names of the outcomes in the report."""


class Severity(StrEnum):
    """Rank of a finding, worked out by the framework from its cost."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


SEVERITY_FLOORS: tuple[tuple[Severity, float, float], ...] = (
    (Severity.CRITICAL, 0.50, 3e9),
    (Severity.HIGH, 0.25, 2e9),
    (Severity.MEDIUM, 0.10, 1e9),
    (Severity.LOW, 0.0, 0.0),
)
"""Smallest share, and shortest wait in ns, of each severity. Heuristic: half of a model's time lost outweighs all
else; a quarter is what public sources call strong; below a tenth, other work usually comes first. A wait of a second
interrupts the user, and after some seconds many leave."""
INSTANT_NS = 100_000_000
"""A shorter answer seems instant (Nielsen, Usability Engineering, 1993; Apple counts delays from it on as noticeable).
Where answers usually do and one takes so much longer, the user sees the app stall: medium at least."""


def lost_ns(finding: Finding) -> int:
    """Time that the problem takes and somebody waits for: 0 where no time is known."""
    cost, savings = finding.cost, finding.savings
    if cost is None:
        return 0
    # What a replay without the problem leaves of the time of calls is hidden behind other work.
    return min(cost.ns, savings.total_ns) if isinstance(savings, Savings) and not savings.of else cost.ns


def severity_of(finding: Finding) -> Severity:
    """Severity from the time that is lost, whichever part of it the fix saves; from how often a prediction is not as
    the user asked, or from the share of the memory that the fix gives back; the lowest where none is known."""
    cost, lost = finding.cost or Cost(0, 0.0, ""), lost_ns(finding)
    share, wait_ns = cost.share * lost / max(cost.ns, 1), min(cost.longest_wait_ns, lost)
    share, wait_ns = (0.0, lost) if cost.once else (share, wait_ns)
    share = max(share, finding.missed or 0.0, finding.held or 0.0)
    rated = next(severity for severity, least, shortest in SEVERITY_FLOORS if share >= least or wait_ns >= shortest)
    if cost.once and 0 < cost.usual_ns < INSTANT_NS <= wait_ns:
        # `Severity` lists the worst first.
        return min(rated, Severity.MEDIUM, key=list(Severity).index)
    return rated
