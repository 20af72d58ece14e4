"""The report: one object that every renderer, the terminal UI and the gate read.

It mirrors the published JSON key for key (`report/schema/report-1.json`). Names are kept once published; a change
raises `SCHEMA_VERSION`. All times are ns; None means "not recorded" or "not enough data", never zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.characters import visible

if TYPE_CHECKING:
    from tracekit.analysis.aggregation import AggregationRow
    from tracekit.analysis.models import ModelSummary
    from tracekit.detectors.framework import Reference
    from tracekit.detectors.outcomes import Cost, Evidence, Metric
    from tracekit.detectors.ranking import Related

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """What wrote the report."""

    name: str
    version: str
    settings: str | None
    """Name of the file of settings that was used; None where there was none."""


@dataclass(frozen=True, slots=True)
class RecordingInfo:
    """Facts about the recording. None: not in the input."""

    source: str
    form: str
    run: int
    runs: tuple[int, ...]
    """Numbers of all runs in the input."""
    platform: str | None
    device_model: str | None
    device_name: str | None
    os_version: str | None
    target: str | None
    """Name of the target process, or `all processes`."""
    target_pid: int | None
    target_kind: str | None
    arguments: str | None
    template: str | None
    instruments_version: str | None
    start_date: str | None
    duration_ns: int | None
    end_reason: str | None
    recording_mode: str | None
    notes: tuple[str, ...]
    redacted: bool
    """Whether private fields were left out or replaced."""


@dataclass(frozen=True, slots=True)
class TableInfo:
    """One table of the recording."""

    schema: str
    state: str
    rows: int | None
    columns: int | None
    attributes: dict[str, str]
    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class CoverageInfo:
    """What can be concluded from one instrument."""

    instrument: str
    state: str
    tables: tuple[str, ...]
    rows: int | None
    conclusion: str
    advice: str
    shares: dict[str, float]


@dataclass(frozen=True, slots=True)
class Check:
    """The answer of one detector for one model, or for the whole recording."""

    id: str
    title: str
    """States the problem for a finding, the good state otherwise."""
    outcome: str
    """`finding`, `passed`, `not_applicable`, `insufficient_data`, `error`."""
    severity: str | None
    """None unless the outcome is `finding`."""
    pattern: str
    """Where it belongs in the diagnostic tree of Core ML."""
    model: str | None
    summary: str
    why: str
    fix: str
    """Markdown with code: the API to call. Empty unless the outcome is `finding`."""
    record: str
    """What to record so that it can be judged. Empty unless the outcome is `insufficient_data`."""
    caveats: tuple[str, ...]
    """What the reader must know before relying on the answer, one sentence each."""
    metrics: tuple[Metric, ...]
    cost: Cost | None
    """None unless the outcome is `finding`, and for findings that cost no measured time."""
    net_ns: int | None
    """The part of the cost that no finding before this one claims; None where there is no cost."""
    related: tuple[Related, ...]
    """Findings of this report that can cause this one, or that it can cause."""
    evidence: tuple[Evidence, ...]
    evidence_total: int
    references: tuple[Reference, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """The verdict in numbers."""

    findings: int
    critical: int
    high: int
    medium: int
    low: int
    passed: int
    not_applicable: int
    insufficient_data: int
    errors: int
    judged: bool
    """Whether at least one check of the app could look (finding or passed). Checks of the recording itself count only
    where no others were run."""
    win_back_ns: int | None
    """Time that all fixes together could win back at most, no ns counted twice; None where no finding has a cost."""
    verdict: str
    """One sentence."""


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """Everything that leaves the analysis."""

    schema_version: int
    tool: ToolInfo
    recording: RecordingInfo
    tables: tuple[TableInfo, ...]
    coverage: tuple[CoverageInfo, ...]
    models: tuple[ModelSummary, ...]
    aggregation: tuple[AggregationRow, ...]
    checks: tuple[Check, ...]
    """Findings first, by what fixing them could win back; then what could not be judged; then the rest."""
    summary: Summary

    def __repr__(self) -> str:
        return f"<Report of {visible(self.recording.source)}: {visible(self.summary.verdict)}>"
