"""Which report lies at a path, and what it says: also any that `tracekit inspect --json` printed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tracekit.model_files.performance.facts import PerformanceReport, PlannedOperation, ReportForm, Timing
from tracekit.model_files.performance.plans import coremltools_plan, dumped_plan, profiler_plan
from tracekit.model_files.performance.values import amount, check_count, planned_operation, samples, unit_of, units_of
from tracekit.model_files.performance.xcode import xcode_report
from tracekit.model_files.untrusted import (
    MAX_TEXT_BYTES,
    UnreadableModel,
    entries,
    mapping,
    parse_json,
    quote,
    read_bytes,
    words,
)

EXPECTED = (
    "JSON that Xcode exports of a performance report, a compute plan of CoreMLProfiler, coremltools or an app, or JSON "
    "of `tracekit inspect`"
)


def load_performance_report(path: Path | str) -> PerformanceReport:
    """The performance report or compute plan in a file. Raises `UnreadableModel`. O(size of the file)."""
    file = Path(path)
    if not file.is_file():
        what = "is not a file" if file.exists() else "does not exist"
        raise UnreadableModel(f"{quote(file)} {what}; expected {EXPECTED}")
    data = read_bytes(file, MAX_TEXT_BYTES)
    if not data:
        raise UnreadableModel(f"{quote(file)} is empty; expected {EXPECTED}")
    document = parse_json(data)
    if document is None:
        raise UnreadableModel(f"{quote(file)} is not complete JSON; expected {EXPECTED}")
    report = report_of(document, file)
    if report is None:
        keys = ", ".join(sorted(map(str, mapping(document)))[:5])
        raise UnreadableModel(f"{quote(file)} is no performance report (keys: {keys or 'none'}); expected {EXPECTED}")
    return report


def report_in(data: bytes, path: Path) -> PerformanceReport | None:
    """The report in the content of a file; None for something else. Raises `UnreadableModel` if damaged. O(size)."""
    document = parse_json(data)
    return None if document is None else report_of(document, path)


def report_of(document: object, path: Path) -> PerformanceReport | None:
    """The report in the JSON of a file; None for other JSON. Raises `UnreadableModel` where it is damaged. O(size)."""
    try:
        reports = (read(document, path) for read in _FORMS)
        return next((report for report in reports if report is not None), None)
    except UnreadableModel as error:
        raise UnreadableModel(f"{quote(path)}: {error}") from None


SCHEMA_VERSION = 1
"""Raised when a key of the JSON changes its name or its meaning."""

KEY = "performance"


def own_report(document: object, path: Path) -> PerformanceReport | None:
    """The report that tracekit wrote; None for other JSON. Raises `UnreadableModel`. O(operations)."""
    keys = mapping(document)
    if not isinstance(keys.get(KEY), dict) or "schema_version" not in keys:
        return None
    version = keys["schema_version"]
    if version != SCHEMA_VERSION:
        raise UnreadableModel(
            f"the report has schema version {str(version)[:20]}, and this tracekit reads {SCHEMA_VERSION}; update it"
        )
    report = mapping(keys[KEY])
    form = words(report.get("form"))
    if form not in tuple(ReportForm):
        raise UnreadableModel("the report is damaged: 'form' names no kind of report")
    listed = report.get("operations")
    check_count(len(entries(listed)))
    return PerformanceReport(
        name=words(report.get("name")) or path.stem,
        source=path.name,
        form=ReportForm(form),
        asked=units_of(report.get("asked")),
        device=words(report.get("device")) or None,
        system=words(report.get("system")) or None,
        prediction=_timing(report.get("prediction")),
        load=_timing(report.get("load")),
        compile=_timing(report.get("compile")),
        operations=tuple(_operation(mapping(entry), number) for number, entry in enumerate(listed))
        if isinstance(listed, list)
        else None,
        notes=tuple(filter(None, map(words, entries(report.get("notes"))))),
    )


def _timing(value: object) -> Timing | None:
    timing = mapping(value)
    if not timing:
        return None
    median, mean, shortest, longest, stdev = (
        amount(timing.get(f"{key}_ns"), "a time") for key in ("median", "mean", "min", "max", "stdev")
    )
    count = amount(timing.get("count"), "a count")
    first = tuple(samples(timing.get("first_ns"), "'first_ns'", 1))
    return Timing(None if count is None else int(count), median, mean, shortest, longest, stdev, first)


def _operation(entry: Mapping[str, Any], number: int) -> PlannedOperation:
    pairs = (pair for pair in entries(entry.get("reasons")) if isinstance(pair, list) and len(pair) == 2)
    reasons = ((unit_of(unit), words(reason)) for unit, reason in pairs)
    return planned_operation(
        number,
        words(entry.get("name")),
        words(entry.get("type")),
        entry.get("unit"),
        entry.get("supported"),
        entry.get("cost"),
        estimated_ns=amount(entry.get("estimated_ns"), "the time of an operation"),
        function=words(entry.get("function")) or "main",
        reasons=tuple((unit, text) for unit, text in reasons if unit is not None and text),
    )


_FORMS = (xcode_report, own_report, coremltools_plan, profiler_plan, dumped_plan)
"""Readers of JSON, which give None for what is not of their form; the first that gives a report counts."""
