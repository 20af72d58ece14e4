"""The report of a recording, with what it was made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tracekit.analysis.statistics import covered_ns
from tracekit.detectors.framework import Judgment
from tracekit.detectors.outcomes import Finding
from tracekit.detectors.replayed import Replays
from tracekit.detectors.runner import run_detectors
from tracekit.intervals import Intervals
from tracekit.report.build import build_report
from tracekit.report.groups import results_from
from tracekit.report.report import Report, Result
from tracekit.trace.events import SETUP_KINDS, Calls, Kind, Level
from tracekit.trace.trace import Trace


@dataclass(frozen=True)
class Reported:
    """A recording, what was answered, and the report of it."""

    trace: Trace
    answers: tuple[Judgment, ...]
    report: Report

    @property
    def findings(self) -> list[tuple[str, Finding]]:
        """Findings with the ids of their detectors."""
        return [(entry.detector.id, entry.outcome) for entry in self.answers if isinstance(entry.outcome, Finding)]

    def calls(self, model: str) -> Intervals:
        """When predictions of a model were in flight, with a duration."""
        return Intervals.from_rows(self._rows(model, Kind.PREDICTION))

    def used_ns(self, model: str | None) -> int:
        """Time that loads, compilations and predictions of a model cover, or of all models."""
        return covered_ns(self._rows(model, Kind.PREDICTION, *SETUP_KINDS))

    def _rows(self, model: str | None, *kinds: Kind) -> Calls:
        activity = self.trace.activity
        chosen = activity.kind.is_any(*kinds) & activity.level.is_any(Level.TOP) & (activity.duration_ns > 0)
        return activity.where(chosen if model is None else chosen & activity.model.is_any(model))


def reported(trace: Trace, **settings: Any) -> Reported:
    """The report of a recording, with all names; `settings` are those of `run_detectors`."""
    answers = tuple(run_detectors(trace, **settings))
    return Reported(trace, answers, build_report(trace, results_from(answers, Replays(trace, answers)), redact=False))


def about(check: Result) -> str:
    return check.id if check.model is None else f"{check.id} of {check.model}"
