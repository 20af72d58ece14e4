"""The pipeline from a recording to its report: everything the command line does, without a terminal.

analysis = analysis_of("recording")
analysis.report, analysis.trace.activity
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.analysis.aggregation import sort_rows
from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.why.choice import Choice, chosen, slower_elsewhere
from tracekit.analysis.why.explain import FINDINGS, tail, why
from tracekit.analysis.why.parts import Cause, differences
from tracekit.config import Config, load_config
from tracekit.detectors import expectations
from tracekit.detectors.options import ModelSettings, Settings, check_settings, choose, matches, merge_settings
from tracekit.detectors.plugins import all_detectors
from tracekit.detectors.replayed import Replays
from tracekit.detectors.runner import run_detectors
from tracekit.errors import UsageError
from tracekit.report.build import build_report
from tracekit.report.choice import Part, check_limits, plain, shown_judgments, unknown_model, within_limits
from tracekit.report.redact import private_facts
from tracekit.report.results import results_from
from tracekit.report.why import WhyReport, model_why, nothing_to_explain, why_report
from tracekit.request import ALL, Request, read_trace, shown_of_request
from tracekit.trace.file_matching import check_given
from tracekit.trace.filter import Shown, model_names

if TYPE_CHECKING:
    from tracekit.detectors.framework import Judgment
    from tracekit.recording import Progress, XctraceOptions
    from tracekit.recording.open import Paths
    from tracekit.report.report import Report, Result
    from tracekit.report.timeline import Timeline
    from tracekit.report.whatif import WhatIf
    from tracekit.trace.trace import Trace

    Budgets = str | float | Sequence[str]
    """Time that a prediction may take: ms, a text such as `30fps`, or several texts such as `Segmenter=16.7ms`."""
    Names = str | Collection[str]
    Files = str | Path | Sequence[str | Path]
    """One file, or several; each a path, or a text such as `Segmenter=Models/v2.mlpackage`."""
SLOWEST = Choice()
_REQUESTS = {
    expectations.BUDGET_KEY: "budget",
    expectations.EXPECT_KEY: "expected compute unit",
    expectations.LIMIT_KEY: "memory limit",
}
"""Options without which their detector has nothing to judge, in words."""


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

    def timeline(self) -> Timeline:
        """The lanes of what counts, for a report that draws them: redacted if the report is. O(n log n)."""
        from tracekit.report.timeline import timeline_of

        return timeline_of(
            self.trace,
            self.report.results,
            shown=self.shown,
            redact=self.report.recording.redacted,
            functions=self.functions,
        )


def request_of(
    *,
    run: int | None = None,
    models: Names = (),
    process: str | int | None = None,
    part: Part | None = None,
    only: Names = (),
    skip: Names = (),
    settings: Settings | None = None,
    model_settings: ModelSettings | None = None,
    budget: Budgets = (),
    expect: str | Sequence[str] = (),
    memory_limit: str | None = None,
    model_files: Files = (),
    perf_reports: Files = (),
    config: str | Path | None = None,
    sort: str = "total",
    redact: bool = True,
    functions: bool = True,
    commit: str | None = None,
    reader: str = "auto",
    xctrace: XctraceOptions | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Request:
    """What is asked of a recording, checked as far as that can be done before it is read.

    `models` are names or patterns (globs) of models, `process` a name or pid, `part` a part of the time: what is shown
    and counted; the checks run on the whole recording. `only` and `skip` are ids of checks. Where several texts may be
    given, one text is one name. `settings` maps `check.option` to a value, and `model_settings` patterns of model names
    to such settings for those models alone. `budget` is the time that a prediction may take, for `missed-deadline`;
    `expect` the compute unit that models should run on (`neural-engine`, or `Segmenter=gpu` for one), for
    `unexpected-device`; and `memory_limit` the most memory that the app may hold (`3GB`), for `memory-peak`.
    `model_files` are paths of model files, matched by name, or texts such as `Segmenter=Models/v2.mlpackage`, and
    `perf_reports` those of performance reports; one beside the recording with the name of a model is used as well.
    `config` is a config file (`tracekit.config`); what is given here overrides it.
    `sort` is a column of the aggregation. `redact=False` keeps private data; `functions=False` leaves out the names of
    the app's functions and source files. `commit` is that of the build that was recorded, for its report. `reader`,
    `xctrace` and `progress` are those of `open_trace`.

    Raises `UsageError` for a name or value that does not exist, and for a budget or unit whose check is left out.
    """
    budgets, units = _texts(budget), _texts(expect)
    general, limits = dict(settings or {}), () if memory_limit is None else (memory_limit,)
    if memory_limit is not None:
        general[expectations.LIMIT_KEY] = expectations.parse_memory_limit(memory_limit)
    wishes = {expectations.BUDGET_KEY: budgets, expectations.EXPECT_KEY: units, expectations.LIMIT_KEY: limits}
    judging = _judging(config, _texts(only), _texts(skip), general, model_settings or {}, wishes)
    # No rows can be sorted by a column that is unknown.
    sort_rows((), sort)
    patterns = [
        pattern
        for pattern, _ in (*map(expectations.parse_budget, budgets), *map(expectations.parse_expectation, units))
    ]
    given = Request(
        run=run,
        reader=reader,
        xctrace=xctrace,
        progress=progress,
        model_files=_texts(model_files),
        perf_reports=_texts(perf_reports),
        settings=judging,
        named=tuple(pattern for pattern in patterns if pattern is not None),
        models=_texts(models),
        process=process,
        part=part,
        sort=sort,
        redact=redact,
        functions=functions,
        commit=commit,
    )
    check_given(given.model_files, given.perf_reports)
    return given


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
    report = build_report(
        trace,
        results_from(answers, Replays(trace, answers, quick=True)),
        shown=shown,
        sort=request.sort,
        redact=request.redact,
        functions=request.functions,
        config=None if judging.path is None else judging.path.name,
        notes=_unused_settings(judging, model_names(trace)),
        model_checks=judging.model_checks,
    )
    return replace(report, recording=replace(report.recording, commit=request.commit)), answers


def answers_of(trace: Trace, request: Request, shown: Shown | None) -> tuple[Judgment, ...]:
    """The answers of the detectors about what is shown. Raises `UsageError`, and `UnreadableRecording` where a report
    would be too large."""
    check_limits(trace)
    _check_patterns(trace, request.named, redact=request.redact)
    judging = request.settings
    return shown_judgments(_judgments(trace, judging, only=judging.only, skip=judging.skip), trace, shown)


def what_if_fixed(trace: Trace, request: Request = ALL, checks: Sequence[str] = ()) -> WhatIf:
    """What fixing the findings of these checks, or of all, brings. Raises `UsageError` for one that found nothing."""
    from tracekit.report.whatif import what_if

    report, answers = judge_with_answers(trace, request, shown_of_request(trace, request))
    said = what_if(trace, report.recording.source, answers, checks)
    return said if report.summary.evaluated else replace(said, nothing=report.summary.verdict)


def explain(trace: Trace, request: Request = ALL, choice: Choice = SLOWEST) -> WhyReport:
    """Why the chosen predictions of a trace were slow, with the findings that are about that. Raises `UsageError` for a
    model that the recording does not hold."""
    models = differences(trace)
    _check_patterns(trace, request.models, redact=request.redact)
    patterns = request.models or ("*",)
    models = {name: each for name, each in models.items() if any(matches(name, like) for like in patterns)}
    labels = chosen(models, choice, named=bool(request.models))
    said = {name: [each for label in some if (each := why(trace, label)) is not None] for name, some in labels.items()}
    causes = {part.cause for some in said.values() for each in some for part in each.parts if part.ns > 0}
    results = _results_about(trace, request.settings, causes, said)
    found = [
        model_why(name, some, tail(trace, name, choice.level), results, choice.fitting(models[name]))
        for name, some in said.items()
    ]
    nothing = ""
    if not found:
        calls = breakdown(trace).frame["model"].astype(str).value_counts()
        counts = {name: int(calls[name]) for name in calls.index if any(matches(name, like) for like in patterns)}
        nothing = nothing_to_explain(models, counts, choice, trace.run.duration_ns)
    facts = private_facts(trace) if request.redact else None
    first = next((each for some in said.values() for each in some), None)
    slower = slower_elsewhere(models, first.model, first.duration_ns) if first and not request.models else None
    return why_report(trace, found, facts, functions=request.functions, nothing=nothing, slower=slower)


def _results_about(
    trace: Trace, judging: Config, causes: Collection[Cause], models: Collection[str]
) -> Sequence[Result]:
    """What the checks that are about these causes say of the models; those that the project leaves out stay so."""
    wanted = {check for cause in causes for check in FINDINGS[cause]}
    chosen_ids = [each.id for each in choose(all_detectors(), judging.only, judging.skip) if each.id in wanted]
    return results_from(_judgments(trace, judging, only=chosen_ids, models=models)) if chosen_ids else ()


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


def _judging(
    config: str | Path | None,
    only: tuple[str, ...],
    skip: tuple[str, ...],
    settings: Settings,
    model_settings: ModelSettings,
    wishes: Mapping[str, tuple[str, ...]],
) -> Config:
    """What the file sets, with what is given on top; `wishes` are budgets, units and limits by the key of their option.
    Raises `UsageError` for what does not exist in any recording."""
    detectors = all_detectors()
    project = load_config(None if config is None else Path(config))
    general, special = expectations.with_expectations(
        wishes[expectations.BUDGET_KEY], wishes[expectations.EXPECT_KEY], settings, model_settings
    )
    # What is given for all models goes before what the file sets for some.
    of_models = {
        pattern: {key: value for key, value in overrides.items() if key not in general}
        for pattern, overrides in project.model_settings.items()
    }
    judging = replace(
        project,
        only=only or project.only,
        skip=(*(name for name in project.skip if name not in only), *skip),
        settings={**project.settings, **general},
        model_settings=merge_settings(of_models, special),
    )
    chosen = {detector.id for detector in choose(detectors, judging.only, judging.skip)}
    for key, given in wishes.items():
        name = key.partition(".")[0]
        if given and name not in chosen:
            raise UsageError(
                f"{_REQUESTS[key]} '{given[0]}' is only used by {name}, which --only, --skip or the config "
                f"file leaves out; run that check or drop the {_REQUESTS[key]}"
            )
    check_settings(detectors, judging.settings, judging.model_settings)
    return judging


def _unused_settings(judging: Config, models: Collection[str]) -> tuple[str, ...]:
    """Says which budget, which expected unit and which patterns of models of the settings nothing looked at, one
    sentence each."""
    chosen = {detector.id for detector in choose(all_detectors(), judging.only, judging.skip)}
    patterns = sorted({*judging.model_settings, *(pattern for pattern, _ in judging.floors.settings)})
    unmatched = [each for each in patterns if not any(matches(name, each) for name in models)] if models else []
    return tuple(f"No model here matches the pattern '{plain(each)}' of the settings." for each in unmatched) + tuple(
        f"The config file's {wish} was not used: {key.partition('.')[0]} did not run."
        for key, wish in _REQUESTS.items()
        if any(key in overrides for overrides in (judging.settings, *judging.model_settings.values()))
        and key.partition(".")[0] not in chosen
    )


def _texts(given: Budgets | Names | Files) -> tuple[str, ...]:
    """Several texts; one alone counts as a list of one."""
    return (str(given),) if isinstance(given, str | float | int | Path) else tuple(map(str, given))


def _check_patterns(trace: Trace, patterns: Sequence[str], *, redact: bool) -> None:
    """Raise `UsageError` where a pattern names a model that the recording does not hold."""
    names = model_names(trace)
    for pattern in patterns:
        if not any(matches(name, pattern) for name in names):
            raise unknown_model(trace, pattern, redact=redact)
