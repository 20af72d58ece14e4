"""What is asked of a recording: one object from the arguments of a user to whatever does the work."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.analysis.aggregation import sort_rows
from tracekit.config import Config, load_config
from tracekit.detectors import expectations
from tracekit.detectors.options import ModelSettings, Settings, check_settings, choose, merge_settings
from tracekit.errors import UsageError, naming_keywords
from tracekit.recording import Progress, XctraceOptions
from tracekit.recording.open import Paths
from tracekit.report.choice import Part, choose_shown
from tracekit.trace.build import open_trace
from tracekit.trace.file_matching import check_given, join_files
from tracekit.trace.filter import Shown
from tracekit.trace.trace import Trace

if TYPE_CHECKING:
    Budgets = str | float | Sequence[str]
    """Time that a prediction may take: ms, a text such as `30fps`, or several texts such as `Segmenter=16.7ms`."""
    Names = str | Collection[str]
    Files = str | Path | Sequence[str | Path]
    """One file, or several; each a path, or a text such as `Segmenter=Models/v2.mlpackage`."""

WISHES = {
    expectations.BUDGET_KEY: "budget",
    expectations.EXPECT_KEY: "expected compute unit",
    expectations.LIMIT_KEY: "memory limit",
}
"""Options without which their detector has nothing to judge, in words."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to read, what to judge and what to show. `request_of` makes one from what a user gives, and checks it. Can
    be sent to another process unless functions of this one are to be called (`xctrace`, `progress`)."""

    run: int | None = None
    reader: str = "auto"
    xctrace: XctraceOptions | None = None
    progress: Callable[[Progress], None] | None = None
    """Called while it is read."""
    model_files: tuple[str, ...] = ()
    """Model files that were given, as `PATH`, matched by name, or `MODEL=PATH`. One beside the recording with the name
    of a model is used as well."""
    perf_reports: tuple[str, ...] = ()
    """Performance reports that were given, in the same form."""

    settings: Config = field(default_factory=Config)
    """Those of the project, with what was given on top."""
    named: tuple[str, ...] = ()
    """Patterns of models that a budget or an expected unit was given for."""

    models: tuple[str, ...] = ()
    """Names or patterns of the models that are shown; empty: all."""
    process: str | int | None = None
    """Name or pid of the process that is shown; None: all."""
    part: Part | None = None
    """Part of the time that is shown; None: all."""
    sort: str = "total"
    """Column that the aggregation is sorted by."""
    redact: bool = True
    """Whether private data is left out."""
    functions: bool = True
    """Whether names of the app's functions and source files may be shown."""
    commit: str | None = None
    """The commit that was recorded, where one was given."""


ALL = Request()
"""Of a whole recording, by the defaults."""


def open_requested(path: Paths, request: Request) -> Trace:
    """The trace of a recording, read as asked, without files of its models. Raises as `open_trace`."""
    return open_trace(
        path,
        run=request.run,
        reader=request.reader,
        xctrace=request.xctrace,
        progress=request.progress,
        units=request.settings.units,
    )


def read_trace(path: Paths, request: Request) -> Trace:
    """The trace of a recording, with the model files and performance reports of its models. Raises as `open_trace`, and
    `TracekitError` for a file that was given and cannot be read."""
    project = request.settings
    files = (request.model_files, project.model_files)
    return join_files(open_requested(path, request), path, files, (request.perf_reports, project.perf_reports))


def shown_of_request(trace: Trace, request: Request) -> Shown | None:
    """What of a trace a request shows; None: all. Raises `UsageError` for a name that the recording does not hold."""
    return choose_shown(trace, models=request.models, process=request.process, part=request.part, redact=request.redact)


@naming_keywords
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
    """What is asked of a recording, checked as far as that can be done before it is read. The fields of `Request` say
    what the arguments of the same names are; where several texts may be given, one text is one name.

    `only` and `skip` are ids of checks, which run on the whole recording. `settings` maps `check.option` to a value,
    and `model_settings` patterns of model names to such settings for those models alone. `budget` is the time that a
    prediction may take, for `missed-deadline`; `expect` the compute unit that models should run on (`neural-engine`, or
    `Segmenter=gpu` for one), for `not-on-expected-unit`; and `memory_limit` the most memory that the app may hold
    (`3GB`), for `memory-peak`. `config` is a config file (`tracekit.config`); what is given here overrides it.

    Raises `UsageError` for a name or value that does not exist, and for a budget or unit whose check is left out.
    """
    budgets, units, limits = _texts(budget), _texts(expect), () if memory_limit is None else (memory_limit,)
    wishes = {expectations.BUDGET_KEY: budgets, expectations.EXPECT_KEY: units, expectations.LIMIT_KEY: limits}
    parsed = (*map(expectations.parse_budget, budgets), *map(expectations.parse_expectation, units))
    # No rows can be sorted by a column that is unknown.
    sort_rows((), sort)
    files, reports = _texts(model_files), _texts(perf_reports)
    check_given(files, reports)
    return Request(
        run=run,
        reader=reader,
        xctrace=xctrace,
        progress=progress,
        model_files=files,
        perf_reports=reports,
        settings=_judging(config, _texts(only), _texts(skip), settings or {}, model_settings or {}, wishes),
        named=tuple(pattern for pattern, _ in parsed if pattern is not None),
        models=_texts(models),
        process=process,
        part=part,
        sort=sort,
        redact=redact,
        functions=functions,
        commit=commit,
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
    budgets, units, limits = wishes.values()
    limit = [(expectations.LIMIT_KEY, expectations.parse_memory_limit(text)) for text in limits]
    project = load_config(None if config is None else Path(config))
    general, special = expectations.with_expectations(budgets, units, {**settings, **dict(limit)}, model_settings)
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
    # Nothing of the checks is asked for: the first screen of `view` is there before they are loaded.
    if not (any(wishes.values()) or judging.only or judging.skip or judging.settings or judging.model_settings):
        return judging
    from tracekit.detectors.plugins import all_detectors

    detectors = all_detectors()
    chosen = {detector.id for detector in choose(detectors, judging.only, judging.skip)}
    for key, given in wishes.items():
        name = key.partition(".")[0]
        if given and name not in chosen:
            raise UsageError(
                f"{WISHES[key]} '{given[0]}' is only used by {name}, which --only, --skip or the config "
                f"file leaves out; run that check or drop the {WISHES[key]}"
            )
    check_settings(detectors, judging.settings, judging.model_settings)
    return judging


def _texts(given: Budgets | Names | Files) -> tuple[str, ...]:
    """Several texts; one alone counts as a list of one."""
    return (str(given),) if isinstance(given, str | float | int | Path) else tuple(map(str, given))
