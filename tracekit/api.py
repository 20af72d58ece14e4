"""The pipeline from a recording to its report: everything the command line does, without a terminal.

analysis = analysis_of("recording")
analysis.report, analysis.trace.activity
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracekit.config import Config, load_config
from tracekit.detectors.budgets import BUDGET_KEY, parse_budget, with_budgets
from tracekit.detectors.expectations import EXPECT_KEY, parse_expectation, with_expectations
from tracekit.detectors.options import check_settings, matches, merged
from tracekit.detectors.plugins import all_detectors
from tracekit.detectors.runner import run_detectors
from tracekit.detectors.selection import choose
from tracekit.errors import UsageError
from tracekit.report.build import build_report, check_sort
from tracekit.report.choice import shown_of, unknown_model
from tracekit.report.limits import check_limits, within_limits
from tracekit.report.results import results_from
from tracekit.report.shown import shown_judgments
from tracekit.trace.filter import model_names
from tracekit.trace.joined import check_given, joined
from tracekit.trace.open import open_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from tracekit.detectors.framework import Judgment
    from tracekit.detectors.options import ModelSettings, Settings
    from tracekit.recording import Progress, XctraceOptions
    from tracekit.recording.open import Paths
    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline
    from tracekit.trace.filter import Shown
    from tracekit.trace.trace import Trace

    Budgets = str | float | Sequence[str]
    """Time that a prediction may take: ms, a text such as `30fps`, or several texts such as `Segmenter=16.7ms`."""
    Names = str | Collection[str]
    """One name, or several."""
    Files = str | Path | Sequence[str | Path]
    """One file, or several; each a path, or a text such as `Segmenter=Models/v2.mlpackage`."""

_REQUESTS = {BUDGET_KEY: "budget", EXPECT_KEY: "expected compute unit"}
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
        from tracekit.compare.measurements import measure
        from tracekit.compare.reports import to_report

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


def analysis_of(
    path: Paths,
    *,
    run: int | None = None,
    models: Names = (),
    process: str | int | None = None,
    only: Names = (),
    skip: Names = (),
    settings: Settings | None = None,
    model_settings: ModelSettings | None = None,
    budget: Budgets = (),
    expect: str | Sequence[str] = (),
    model_files: Files = (),
    perf_reports: Files = (),
    config: str | Path | None = None,
    sort: str = "total",
    redact: bool = True,
    functions: bool = True,
    reader: str = "auto",
    xctrace: XctraceOptions | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Analysis:
    """Read a recording, run the checks and report: what the command line and `tracekit.analyze` do.

    `models` are names or patterns (globs) of models, `process` a name or pid: what is shown and counted; the checks run
    on the whole recording. `only` and `skip` are ids of checks. Where several texts may be given, one text is one name.
    `settings` maps `check.option` to a value, and `model_settings` patterns of model names to such settings for those
    models alone. `budget` is the time that a prediction may take, for `missed-deadline`, and `expect` the compute unit
    that models should run on (`ane`, or `Segmenter=gpu` for one), for `unexpected-device`. `model_files` are paths of
    model files, matched by name, or texts such as `Segmenter=Models/v2.mlpackage`, and `perf_reports` those of
    performance reports; one beside the recording with the name of a model is used as well. `config` is a config file
    (`tracekit.config`); what is given here overrides it.
    `sort` is a column of the aggregation. `redact=False` keeps private data; `functions=False` leaves out the names of
    the app's functions and source files. `reader` and `xctrace` are those of `open_trace`.

    Raises `UnreadableRecording` as `open_trace` does, and `UsageError` for a name or value that does not exist, and for
    a budget or unit whose check is left out; what does not depend on the recording is checked before it is read. A file
    that is given and cannot be read raises `UnreadableModel`.
    """
    checks: dict[str, Any] = {
        "only": only,
        "skip": skip,
        "settings": settings,
        "model_settings": model_settings,
        "budget": budget,
        "expect": expect,
        "config": config,
    }
    project = resolve_config(**checks)
    check_sort(sort)
    files, reports = _files(model_files), _files(perf_reports)
    check_given(files, reports)
    trace = open_trace(path, run=run, reader=reader, xctrace=xctrace, progress=progress)
    trace = joined(trace, path, (files, project.model_files), (reports, project.perf_reports))
    shown = shown_of(trace, models=_texts(models), process=process, redact=redact)
    report = judge(trace, shown=shown, sort=sort, redact=redact, functions=functions, **checks)
    return Analysis(trace, shown, report, functions)


def judge(
    trace: Trace,
    *,
    shown: Shown | None = None,
    only: Names = (),
    skip: Names = (),
    settings: Settings | None = None,
    model_settings: ModelSettings | None = None,
    budget: Budgets = (),
    expect: str | Sequence[str] = (),
    config: str | Path | None = None,
    sort: str = "total",
    redact: bool = True,
    functions: bool = True,
) -> Report:
    """The report of a trace that is open already, of what is `shown` of it (None: all). The other parameters and the
    errors are those of `analyze`."""
    return judge_with_answers(
        trace,
        shown=shown,
        only=only,
        skip=skip,
        settings=settings,
        model_settings=model_settings,
        budget=budget,
        expect=expect,
        config=config,
        sort=sort,
        redact=redact,
        functions=functions,
    )[0]


def judge_with_answers(
    trace: Trace,
    *,
    shown: Shown | None = None,
    sort: str = "total",
    redact: bool,
    functions: bool = True,
    **checking: Any,
) -> tuple[Report, tuple[Judgment, ...]]:
    """What `judge` does, with the answers of the detectors, which hold more than a report: all rows of the evidence.
    `checking` says which checks run, as it does to `judge`."""
    check_limits(trace)
    shown = within_limits(trace, shown)
    judging = resolve_config(**checking)
    budgets = map(parse_budget, _texts(checking.get("budget", ())))
    expectations = map(parse_expectation, _texts(checking.get("expect", ())))
    _check_patterns(trace, [pattern for pattern, _ in (*budgets, *expectations)], redact=redact)
    judgments = run_detectors(
        trace,
        only=judging.only,
        skip=judging.skip,
        settings=judging.settings,
        model_settings=judging.model_settings,
        model_skip=judging.model_skip,
        detectors=all_detectors(),
    )
    file = None if judging.path is None else judging.path.name
    notes = _unused_settings(judging)
    answers = shown_judgments(judgments, trace, shown)
    report = build_report(
        trace,
        results_from(answers),
        shown=shown,
        sort=sort,
        redact=redact,
        functions=functions,
        config=file,
        notes=notes,
        model_checks=judging.model_checks,
    )
    return report, answers


def resolve_config(
    only: Names = (),
    skip: Names = (),
    settings: Settings | None = None,
    model_settings: ModelSettings | None = None,
    budget: Budgets = (),
    expect: str | Sequence[str] = (),
    config: str | Path | None = None,
) -> Config:
    """What the file sets, with what is given on top. Raises `UsageError` for what does not exist in any recording."""
    only, skip = _texts(only), _texts(skip)
    detectors = all_detectors()
    project = load_config(None if config is None else Path(config), detectors)
    general, special = with_budgets(_texts(budget), settings or {}, model_settings or {})
    general, special = with_expectations(_texts(expect), general, special)
    judging = replace(
        project,
        only=only or project.only,
        skip=(*(name for name in project.skip if name not in only), *skip),
        settings={**project.settings, **general},
        model_settings=merged(_without(project.model_settings, general), special),
    )
    chosen = {detector.id for detector in choose(detectors, judging.only, judging.skip)}
    for key, given in ((BUDGET_KEY, budget), (EXPECT_KEY, expect)):
        name = key.partition(".")[0]
        if _texts(given) and name not in chosen:
            raise UsageError(
                f"{_REQUESTS[key]} '{_texts(given)[0]}' is only used by {name}, which --only, --skip or the config "
                f"file leaves out; run that check or drop the {_REQUESTS[key]}"
            )
    check_settings(detectors, judging.settings, judging.model_settings)
    return judging


def _unused_settings(judging: Config) -> tuple[str, ...]:
    """Says which budget and which expected unit of the settings nothing looked at, one sentence each."""
    chosen = {detector.id for detector in choose(all_detectors(), judging.only, judging.skip)}
    return tuple(
        f"The config file's {wish} was not used: {key.partition('.')[0]} did not run."
        for key, wish in _REQUESTS.items()
        if any(key in overrides for overrides in (judging.settings, *judging.model_settings.values()))
        and key.partition(".")[0] not in chosen
    )


def _without(model_settings: ModelSettings, keys: Collection[str]) -> ModelSettings:
    """The settings without these keys. What is given for all models goes before what the file sets for some."""
    return {
        pattern: {key: value for key, value in overrides.items() if key not in keys}
        for pattern, overrides in model_settings.items()
    }


def _texts(given: Budgets | Names) -> tuple[str, ...]:
    """Several texts; one alone counts as a list of one."""
    return (str(given),) if isinstance(given, str | int | float) else tuple(given)


def _files(given: Files) -> list[str]:
    return [str(given)] if isinstance(given, str | Path) else list(map(str, given))


def _check_patterns(trace: Trace, patterns: Sequence[str | None], *, redact: bool) -> None:
    """Raise `UsageError` where a pattern names a model that the recording does not hold. None stands for all."""
    names = model_names(trace)
    for pattern in patterns:
        if pattern is not None and not any(matches(name, pattern) for name in names):
            raise unknown_model(trace, pattern, redact=redact)
