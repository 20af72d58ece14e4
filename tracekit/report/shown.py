"""Which answers of the detectors, who judged a whole recording, are about what is shown of it.

An answer about something else is left out, or said to be about something else. None is ever made from less than the
whole recording, so that a choice can hide a finding and never turn it into another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.detectors.framework import Detector, Judgment
from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated
from tracekit.detectors.pages import Pattern
from tracekit.trace.filter import reach_ranges, shown_model_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tracekit.detectors.framework import ListedDetector
    from tracekit.detectors.outcomes import Outcome
    from tracekit.intervals import Intervals
    from tracekit.trace.filter import Shown
    from tracekit.trace.trace import Trace


def shown_judgments(judgments: Iterable[Judgment], trace: Trace, shown: Shown | None) -> tuple[Judgment, ...]:
    """The answers that are about what is shown, at least one of each detector, in order. O(judgments + evidence)."""
    if shown is None:
        return tuple(judgments)
    present = shown_model_names(trace, shown)
    by_detector: dict[str, list[Judgment]] = {}
    for judgment in judgments:
        by_detector.setdefault(judgment.detector.id, []).append(judgment)
    kept_judgments: list[Judgment] = []
    for group in by_detector.values():
        kept = [_judgment_of_shown(entry, shown, present) for entry in group if _is_shown(entry, shown, present)]
        kept_judgments += kept or [Judgment(group[0].detector, _nothing_shown(shown))]
    return tuple(kept_judgments)


def _is_shown(judgment: Judgment, shown: Shown, present: frozenset[str]) -> bool:
    """Whether an answer is about a model that is shown, or about the recording."""
    if shown.foreign and not _is_of_recording(judgment.detector):
        return False
    model = judgment.outcome.model
    return model is None or (model in present and (shown.models is None or model in shown.models))


def _is_of_recording(detector: ListedDetector) -> bool:
    """Whether it finds fault with the recording, which limits every answer."""
    return detector.page.pattern == Pattern.RECORDING and not isinstance(detector, Detector)


def _judgment_of_shown(judgment: Judgment, shown: Shown, present: frozenset[str]) -> Judgment:
    """The answer, or where it is a finding about something that is not shown, that it is so."""
    outcome = judgment.outcome
    if not isinstance(outcome, Finding) or _is_of_recording(judgment.detector):
        return judgment
    about = outcome.models
    if shown.models is not None and outcome.model is None and about is not None and about.isdisjoint(present):
        reason = "The finding is about models that are not shown."
    elif shown.ranges is not None and not _reaches(outcome, shown.ranges):
        reason = "The finding is outside the range."
    else:
        return judgment
    return Judgment(judgment.detector, NotApplicable(outcome.model, reason))


def _reaches(finding: Finding, ranges: Intervals) -> bool:
    """Whether any time that a finding calls lost, or its evidence, lies in the ranges; also where it names no time, or
    where its evidence is a selection. O(intervals)."""
    starts = np.array([*finding.affected.starts, *(entry.start_ns for entry in finding.evidence)], np.int64)
    ends = np.array([*finding.affected.ends, *(entry.end_ns for entry in finding.evidence)], np.int64)
    if not len(starts) or bool(reach_ranges(ranges, starts, np.maximum(ends, starts + 1)).any()):
        return True
    return not len(finding.affected.starts) and finding.evidence_total > len(finding.evidence)


def _nothing_shown(shown: Shown) -> Outcome:
    """The answer of a detector that looked at none of what is shown."""
    if shown.foreign:
        return NotEvaluated(
            None,
            "Core ML rows belong to the target, so nothing is known about the models of this process.",
            "Record this process as the target.",
        )
    if shown.ranges is not None:
        return NotApplicable(None, "No event of a shown and evaluated model starts in the range.")
    return NotApplicable(None, "The app does not load or call what is shown: a stage is evaluated with its pipeline.")
