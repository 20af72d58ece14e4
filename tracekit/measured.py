"""What a comparison takes from a recording, or from the JSON report that stands for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tracekit.api import Analysis, judge
from tracekit.comparison.measurements import Measurements, only_models
from tracekit.comparison.measuring import check_models_known, measure
from tracekit.comparison.reports import load_report
from tracekit.errors import UsageError
from tracekit.request import Request, shown_of_request
from tracekit.trace.trace import Trace


def measured_trace(trace: Trace, request: Request) -> tuple[Measurements, Analysis]:
    """What is measured of an open recording, and what that rests on. Raises `UsageError` for a part of the time in
    which nothing starts, `UnreadableRecording` where the tables of Core ML could not be read."""
    shown = shown_of_request(trace, request)
    nothing = shown is not None and shown.operation is None and not shown.rows["activity"].any()
    if request.part is not None and nothing:
        raise UsageError(f"{trace.contents.source}: no load or prediction starts {request.part.words[0]}")
    report = judge(trace, request, shown)
    check_models_known(report.tables)
    return measure(trace, report, shown), Analysis(trace, shown, report, request.functions)


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

    return [renamed(*each) for each in parts]
