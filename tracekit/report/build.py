"""Assembles the report from a trace and the results of the checks on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tracekit._version import __version__
from tracekit.analysis.aggregation import aggregate
from tracekit.analysis.device_states import sustained
from tracekit.analysis.frames.late import late_hangs
from tracekit.analysis.frames.summary import frame_summary, held_up
from tracekit.analysis.memory import levels, load_memory
from tracekit.analysis.models import ModelSummary, summarize_models
from tracekit.analysis.operations import operations
from tracekit.analysis.requests import summarize_requests
from tracekit.analysis.runtimes import summarize_runtimes
from tracekit.analysis.specialization import compiler_notes, specializations
from tracekit.detectors.options import ChosenChecks
from tracekit.recording.table import TableState
from tracekit.report.call_sites import code_info, symbols_sentence
from tracekit.report.formatting import file_problems, incomplete_tables
from tracekit.report.groups import Group, explains, findings
from tracekit.report.operations import what_ran, without_names, without_tools
from tracekit.report.private_text import without_functions
from tracekit.report.redact import private_facts, redact as redact_report
from tracekit.report.report import (
    SCHEMA_VERSION,
    FindingInfo,
    MemoryInfo,
    ModelFileInfo,
    PerformanceReportInfo,
    RecordingInfo,
    Report,
    Result,
    TableInfo,
    ToolInfo,
)
from tracekit.report.verdict import in_short, summarize
from tracekit.trace.coverage import issues_about_data, stacks_coverage, tables_of
from tracekit.trace.filter import Shown
from tracekit.trace.instruments.catalogue import CALL_STACKS, NEEDED_SCHEMAS, SCHEMAS
from tracekit.trace.trace import Trace

ALL_PROCESSES = "all processes"
"""Target of a recording that was not limited to one process."""


def build_report(
    trace: Trace,
    results: Sequence[Result],
    *,
    shown: Shown | None = None,
    sort: str = "total",
    redact: bool = True,
    functions: bool = True,
    config: str | None = None,
    notes: Sequence[str] = (),
    model_checks: ChosenChecks | None = None,
) -> Report:
    """The report of one run, with results in the order of `results_from`, behind what explains why no check could be
    evaluated. `shown` is what of the trace counts (None: all), and the results are those about it; `sort` is a column
    of the aggregation; `redact` leaves out what identifies people; without `functions`, names of the app's functions
    and source files are left out; `config` is the name of the settings file; `notes` are sentences beside those of the
    recording; `model_checks`: settings of the checks of model files. Raises `UsageError` for an unknown sort column."""
    code, models, requests = code_info(trace, shown), summarize_models(trace, shown), summarize_requests(trace, shown)
    model_files, performance_reports = _attached_files(trace, models, model_checks)
    ran_runtimes = summarize_runtimes(trace, shown) if functions else without_tools(summarize_runtimes(trace, shown))
    ran_operations = operations(trace, shown) if functions else without_names(operations(trace, shown))
    coverage = {entry.instrument: entry for entry in trace.coverage}
    stacks = coverage.get(CALL_STACKS)
    if trace.sampled is not None and trace.sampled.failures:
        coverage[CALL_STACKS] = stacks_coverage(trace)
    elif code is not None and stacks is not None and stacks.state is TableState.ROWS:
        conclusion = f"{stacks.conclusion.rstrip('.')}; {symbols_sentence(code)}."
        coverage[CALL_STACKS] = replace(stacks, conclusion=conclusion)
    sizes, names = levels(trace), {model.name for model in models}
    memory = MemoryInfo(sizes, tuple(load for load in load_memory(trace) if load.model in names)) if sizes else None
    # Signposts do not say which model they are about.
    of_all = shown is None or shown.models is None
    summary = summarize(results, what_ran(ran_runtimes, ran_operations, requests) if of_all else "")
    results = sorted(results, key=lambda result: not explains(result, summary))
    specialized = specializations(trace, None if of_all else names)
    report = Report(
        schema_version=SCHEMA_VERSION,
        tool=ToolInfo("tracekit", __version__, config),
        recording=recording_info(trace, (*(() if shown is None else shown.notes), *notes, *compiler_notes(trace))),
        tables=table_infos(trace),
        coverage=tuple(coverage.values()),
        models=models,
        aggregation=aggregate(trace, None if shown is None else shown.rows, sort),
        findings=tuple(map(finding_info, findings(results))),
        results=tuple(results),
        code=code,
        summary=summary,
        model_files=model_files,
        performance_reports=performance_reports,
        runtimes=ran_runtimes,
        operations=ran_operations,
        requests=requests,
        memory=memory,
        sustained=sustained(trace) if shown is None else (),
        frames=frame_summary(trace) if shown is None else None,
        hangs=held_up(late_hangs(trace)) if shown is None else (),
        specializations=specialized if specialized.models else None,
    )
    report = report if functions else without_functions(report)
    report = redact_report(report, private_facts(trace)) if redact else report
    return replace(report, summary=replace(report.summary, verdict=in_short(report)))


def _attached_files(
    trace: Trace, models: Sequence[ModelSummary], checks: ChosenChecks | None
) -> tuple[tuple[ModelFileInfo, ...], tuple[PerformanceReportInfo, ...]]:
    if not trace.model_files and not trace.performance_reports:
        return (), ()
    # What knows model files takes longer to load than a short report takes to make.
    from tracekit.report.attached_files import model_file_info, performance_report_info

    by_name, device = {model.name: model for model in models}, trace.run.device
    return (
        tuple(
            model_file_info(entry, device, checks)
            for entry in trace.model_files
            if entry.model is None or entry.model in by_name
        ),
        tuple(
            performance_report_info(entry, by_name.get(entry.model or ""), device)
            for entry in trace.performance_reports
            if entry.model is None or entry.model in by_name
        ),
    )


def recording_info(trace: Trace, notes: Sequence[str]) -> RecordingInfo:
    """What the report says of the recording, not redacted."""
    contents, run = trace.contents, trace.run
    process, sampled = run.target.process, trace.sampled
    # Another table of samples may have had all stacks.
    has_stacks = sampled is not None and not sampled.failures and len(sampled.stacks)
    needed = NEEDED_SCHEMAS if has_stacks else SCHEMAS
    return RecordingInfo(
        source=contents.source,
        input_type=contents.form,
        run=run.number,
        runs=tuple(entry.number for entry in contents.runs),
        platform=run.device.platform,
        device_model=run.device.model,
        device_name=run.device.name,
        os_version=run.device.os_version,
        target=process.name if process else ALL_PROCESSES if run.target.kind == "all-processes" else None,
        target_pid=process.pid if process else None,
        target_kind=run.target.kind,
        arguments=run.target.arguments,
        template=run.template,
        instruments_version=run.instruments_version,
        start_date=run.start_date,
        duration_ns=run.duration_ns,
        end_reason=run.end_reason,
        recording_mode=run.recording_mode,
        imported_from=run.imported_from,
        notes=(
            *contents.notes,
            *incomplete_tables(entry for entry in run.tables if entry.schema in needed),
            *(f"Instruments reported: {issue}" for issue in issues_about_data(run.issues or ())),
            *trace.notes,
            *file_problems(trace.model_files, trace.performance_reports),
            *notes,
        ),
        redacted=False,
    )


def finding_info(group: Group) -> FindingInfo:
    """A finding as the report lists it."""
    return FindingInfo(
        id=group.first.id,
        title=group.first.title,
        severity=group.severity,
        models=tuple(check.model for check in group.results if check.model is not None),
        savings_ns=group.savings_ns,
        extra_savings_ns=group.extra_savings_ns,
    )


def table_infos(trace: Trace) -> tuple[TableInfo, ...]:
    """What the report says of the tables, not redacted."""
    return tuple(
        TableInfo(
            schema=entry.schema,
            state=str(entry.state),
            rows=entry.rows,
            columns=entry.columns,
            attributes=dict(entry.attributes),
            source=entry.source,
            reason=entry.reason,
        )
        for entry in tables_of(trace)
    )
