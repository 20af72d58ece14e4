"""What a comparison takes from a recording, or from the JSON report that stands for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tracekit.analysis.models import rates_of_called
from tracekit.api import Analysis, answers_of, judge
from tracekit.characters import lower_first
from tracekit.comparison.measurements import Measurements, only_models
from tracekit.comparison.measuring import Facts, check_models_known, check_results, measure, measure_with
from tracekit.comparison.reports import load_report
from tracekit.detectors.replayed import Replays
from tracekit.errors import Inconclusive, UsageError
from tracekit.report.build import recording_info, table_infos
from tracekit.report.choice import why_nothing
from tracekit.report.groups import results_from
from tracekit.report.redact import private_facts, redact_parts
from tracekit.request import Request, shown_of_request
from tracekit.trace.filter import Shown
from tracekit.trace.trace import Trace


def measured_trace(trace: Trace, request: Request) -> Measurements:
    """What is measured of an open recording, in two thirds of the time that a report takes. Raises `Inconclusive` for a
    part of the time in which nothing starts, `UnreadableRecording` where the tables of Core ML could not be read."""
    shown = _measurable(trace, request)
    answers = answers_of(trace, request, shown)
    checks = check_results(results_from(answers, Replays(trace, answers, quick=True)), trace.coverage)
    recording, tables = recording_info(trace, () if shown is None else shown.notes), table_infos(trace)
    if request.redact:
        recording, tables, checks = redact_parts(recording, tables, checks, private_facts(trace))
    check_models_known(recording.source, tables)
    recording = replace(recording, commit=request.commit)
    return measure_with(trace, Facts(recording, tables, checks, rates_of_called(trace, shown)), shown)


def measured_analysis(trace: Trace, request: Request) -> tuple[Measurements, Analysis]:
    """The same with the whole report. Raises as `measured_trace`."""
    shown = _measurable(trace, request)
    report = judge(trace, request, shown)
    check_models_known(report.recording.source, report.tables)
    return measure(trace, report, shown), Analysis(trace, shown, report, request.functions)


def _measurable(trace: Trace, request: Request) -> Shown | None:
    """What counts of the trace; None: all."""
    shown = shown_of_request(trace, request)
    nothing = shown is not None and shown.ranges is not None and shown.operation is None and why_nothing(trace, shown)
    if nothing:
        raise Inconclusive(f"{trace.contents.source}: {lower_first(nothing).rstrip('.')}")
    return shown


def measured_report(path: Path, request: Request) -> Measurements:
    """What a JSON report says of its recording. Raises `UsageError` for what only the recording could say."""
    needing = {
        "a report does not say when each prediction was, so --from, --to and --signpost need": request.part,
        "a report is on one run, so --run needs": request.run,
        "a report does not say which process did what, so --process needs": request.process,
    }
    for reason, value in needing.items():
        if value is not None:
            raise UsageError(f"{path.name}: {reason} the recording")
    measurements = load_report(path)
    return only_models(measurements, request.models) if request.models else measurements


def named_apart(measured: Sequence[Measurements], paths: Sequence[str]) -> list[Measurements]:
    """What is measured of recordings at these paths, each under a name of its own: that of `told_apart`."""
    names = told_apart([(one.source, path) for one, path in zip(measured, paths, strict=True)])
    return [replace(one, source=name) for one, name in zip(measured, names, strict=True)]


def told_apart(named: Sequence[tuple[str, str]]) -> list[str]:
    """Names by these names and paths: those of one name are the shortest ends of their paths that differ."""
    parts = [(name, Path(path).parts) for name, path in named]

    def renamed(name: str, own: tuple[str, ...]) -> str:
        others = [one for other, one in parts if other == name and one != own]
        if not others:
            return name
        lengths = (length for length in range(1, len(own)) if all(own[-length:] != one[-length:] for one in others))
        return "/".join(own[-next(lengths, len(own)) :])

    return [renamed(*part) for part in parts]
