"""The pipeline from a recording to its report: everything the command line does, without a terminal.

analysis = analysis_of("recording")
analysis.report, analysis.trace.activity.frame()
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.frames.late import late_frames
from tracekit.analysis.frames.summary import described, frame_summary, late_frame_at, unknown_frames
from tracekit.analysis.ledger.account import ledger
from tracekit.analysis.ledger.choice import Choice, chosen, slower_elsewhere
from tracekit.analysis.ledger.explain import tail, why
from tracekit.characters import lower_first
from tracekit.config import Config
from tracekit.detectors.options import choose, matches
from tracekit.detectors.plugins import all_detectors
from tracekit.detectors.replayed import Replays
from tracekit.detectors.runner import run_detectors
from tracekit.report.build import build_report
from tracekit.report.choice import (
    asks_alone,
    check_limits,
    plain,
    shown_judgments,
    unknown_model,
    within_limits,
    without_the_other_kind,
)
from tracekit.report.groups import results_from
from tracekit.report.redact import private_facts
from tracekit.report.why import WhyReport, model_why, nothing_to_explain, why_report
from tracekit.request import ALL, WISHES, Request, read_trace, shown_of_request
from tracekit.trace.filter import Shown, model_names
from tracekit.trace.instruments.catalogue import CORE_ML

if TYPE_CHECKING:
    from tracekit.detectors.framework import Judgment
    from tracekit.recording.open import Paths
    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline
    from tracekit.report.without import Without
    from tracekit.trace.trace import Trace

SLOWEST = Choice()


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """A report with the recording that it is about."""

    trace: Trace
    shown: Shown | None
    """What of the trace counts; None: all."""
    report: Report
    functions: bool = True
    """Whether names of the app's functions may be shown."""

    def measured_report(self) -> Report:
        """The report with all that a comparison needs, so that it can stand for the recording. O(n log n)."""
        from tracekit.comparison.measuring import measure
        from tracekit.comparison.reports import to_report

        return replace(self.report, measurements=to_report(measure(self.trace, self.report, self.shown)))

    def timeline(self, explained: Sequence[int] | None = None) -> Timeline:
        """The lanes of what counts, for a report that draws them: redacted if the report is. `explained` as in
        `timeline_of`. O(n log n)."""
        from tracekit.report.timeline import timeline_of

        return timeline_of(
            self.trace,
            self.report.results,
            shown=self.shown,
            redact=self.report.recording.redacted,
            functions=self.functions,
            explained=explained,
        )


def analysis_of(path: Paths, request: Request = ALL) -> Analysis:
    """Read a recording, run the checks and report: what the command line and `tracekit.analyze` do. Raises
    `UnreadableRecording` as `open_trace` does, `UsageError` for a name that the recording does not hold, and
    `UnreadableModel` for a file that was given and cannot be read."""
    trace = read_trace(path, request)
    shown = shown_of_request(trace, request)
    return Analysis(trace, shown, judge(trace, request, shown), request.functions)


def judge(trace: Trace, request: Request = ALL, shown: Shown | None = None) -> Report:
    """The report of a trace that is open already, of what is `shown` of it (None: all). Raises `UsageError`."""
    return judge_with_answers(trace, request, shown)[0]


def judge_with_answers(trace: Trace, request: Request, shown: Shown | None) -> tuple[Report, tuple[Judgment, ...]]:
    """What `judge` does, with the answers of the detectors, which hold more than a report: all rows of the evidence."""
    shown = within_limits(trace, shown)
    answers = answers_of(trace, request, shown)
    judging = request.settings
    models = model_names(trace)
    chosen = {detector.id for detector in choose(all_detectors(), judging.only, judging.skip)}
    patterns = sorted({*judging.model_settings, *(pattern for pattern, _ in judging.floors.settings)})
    unmatched = [each for each in patterns if not any(matches(name, each) for name in models)] if models else []
    notes = tuple(f"No model here matches the pattern '{plain(each)}' of the settings." for each in unmatched) + tuple(
        f"The config file's {wish} was not used: {key.partition('.')[0]} did not run."
        for key, wish in WISHES.items()
        if any(key in overrides for overrides in (judging.settings, *judging.model_settings.values()))
        and key.partition(".")[0] not in chosen
    )
    if not judging.only and asks_alone(trace):
        why = lower_first(trace.coverage_of(CORE_ML).conclusion.partition("; ")[0].rstrip("."))
        notes = (f"Checks of Core ML are left out: {why}; see Coverage.", *notes)
    report = build_report(
        trace,
        results_from(answers, Replays(trace, answers, quick=True)),
        shown=shown,
        sort=request.sort,
        redact=request.redact,
        functions=request.functions,
        config=None if judging.path is None else judging.path.name,
        notes=notes,
        model_checks=judging.model_checks,
    )
    return replace(report, recording=replace(report.recording, commit=request.commit)), answers


def answers_of(trace: Trace, request: Request, shown: Shown | None) -> tuple[Judgment, ...]:
    """The answers of the detectors about what is shown. Raises `UsageError`, and `UnreadableRecording` where a report
    would be too large."""
    check_limits(trace)
    _check_patterns(trace, request.named, redact=request.redact)
    judging = request.settings
    judgments = _judgments(trace, judging, only=judging.only, skip=judging.skip)
    # What was asked for by name is answered.
    return shown_judgments(judgments if judging.only else without_the_other_kind(judgments, trace), trace, shown)


def replay_without(trace: Trace, request: Request = ALL, checks: Sequence[str] = ()) -> Without:
    """What fixing the findings of these checks, or of all, brings. Raises `UsageError` for one that found nothing."""
    from tracekit.report.without import without_findings

    report, answers = judge_with_answers(trace, request, shown_of_request(trace, request))
    said = without_findings(trace, report.recording.source, answers, checks)
    return said if report.summary.evaluated else replace(said, nothing=report.summary.verdict)


def explain(trace: Trace, request: Request = ALL, choice: Choice = SLOWEST) -> WhyReport:
    """Why the chosen predictions of a trace were slow, with the findings that are about that. Raises `UsageError` for a
    model that the recording does not hold."""
    models = ledger(trace)
    _check_patterns(trace, request.models, redact=request.redact)
    patterns = request.models or ("*",)
    models = {name: each for name, each in models.items() if any(matches(name, like) for like in patterns)}
    frame, labels = None, dict[str, tuple[int, ...]]()
    if choice.frame_ns is None:
        labels = chosen(models, choice, named=bool(request.models))
    elif (number := late_frame_at(trace, choice.frame_ns)) is not None:
        frame = described(trace, number)
        call = int(late_frames(trace).call[number])
        labels = {frame.model: (call,)} if frame.model in models and call >= 0 else {}
    said = {name: [each for label in some if (each := why(trace, label)) is not None] for name, some in labels.items()}
    causes = {part.cause for some in said.values() for each in some for part in each.parts if part.ns > 0}
    detectors = choose(all_detectors(), request.settings.only, request.settings.skip)
    checks = [detector.id for detector in detectors if causes.intersection(detector.causes)]
    results = results_from(_judgments(trace, request.settings, only=checks, models=said)) if checks else ()
    found = [
        model_why(name, some, tail(trace, name, choice.level), results, choice.fitting(models[name]))
        for name, some in said.items()
    ]
    nothing = ""
    if choice.frame_ns is not None:
        late = frame_summary(trace)
        none = "no frame came late at or after this time" if late else unknown_frames(trace)[0]
        nothing = "" if frame is not None else f"Nothing to explain: {lower_first(none).rstrip('.')}."
    elif not found:
        called = breakdown(trace).every.model
        calls = zip(called.values, called.counts().tolist(), strict=True)
        counts = {name: count for name, count in calls if count and any(matches(name, like) for like in patterns)}
        nothing = nothing_to_explain(models, counts, choice, trace.run.duration_ns)
    facts = private_facts(trace) if request.redact else None
    first = next((each for some in said.values() for each in some), None)
    slower = (
        slower_elsewhere(models, first.model, first.duration_ns) if first and not (request.models or frame) else None
    )
    return why_report(trace, found, facts, functions=request.functions, nothing=nothing, slower=slower, frame=frame)


def _judgments(
    trace: Trace, judging: Config, *, only: Collection[str], skip: Collection[str] = (), models: Collection[str] = ()
) -> tuple[Judgment, ...]:
    """The answers of all detectors, or of some, with the settings of a project."""
    return run_detectors(
        trace,
        only=only,
        skip=skip,
        settings=judging.settings,
        model_settings=judging.model_settings,
        model_skip=judging.model_skip,
        detectors=all_detectors(),
        models=models,
    )


def _check_patterns(trace: Trace, patterns: Sequence[str], *, redact: bool) -> None:
    """Raise `UsageError` where a pattern names a model that the recording does not hold."""
    names = model_names(trace)
    for pattern in patterns:
        if not any(matches(name, pattern) for name in names):
            raise unknown_model(trace, pattern, redact=redact)
