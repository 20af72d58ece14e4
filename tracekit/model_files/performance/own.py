"""tracekit's own JSON of a report: what `tracekit inspect --json` prints of any report is read here again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracekit.model_files.failures import UnreadableModel
from tracekit.model_files.performance.facts import PerformanceReport, PlannedOperation, ReportForm, Timing
from tracekit.model_files.performance.values import (
    amount,
    counted,
    entries,
    mapping,
    samples,
    share,
    unit_of,
    units_of,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA_VERSION = 1
"""Raised when a key of the JSON changes its name or its meaning."""

KEY = "performance"


def is_own(document: Mapping[str, Any]) -> bool:
    """Whether the JSON is tracekit's."""
    return isinstance(document.get(KEY), dict) and "schema_version" in document


def own_report(document: Mapping[str, Any], stem: str, source: str) -> PerformanceReport:
    """The report. Raises `UnreadableModel`. O(operations)."""
    version = document["schema_version"]
    if version != SCHEMA_VERSION:
        raise UnreadableModel(
            f"the report has schema version {str(version)[:20]}, and this tracekit reads {SCHEMA_VERSION}; update it"
        )
    report = mapping(document[KEY])
    form = words(report.get("form"))
    if form not in tuple(ReportForm):
        raise UnreadableModel("the report is damaged: 'form' names no kind of report")
    listed = report.get("operations")
    counted(len(entries(listed)))
    return PerformanceReport(
        name=words(report.get("name")) or stem,
        source=source,
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
    reasons = ((unit_of(pair[0]), words(pair[1])) for pair in entries(entry.get("reasons")) if _is_pair(pair))
    return PlannedOperation(
        number=number,
        name=words(entry.get("name")),
        type=words(entry.get("type")),
        unit=unit_of(entry.get("unit")),
        supported=units_of(entry.get("supported")),
        cost=share(entry.get("cost")),
        estimated_ns=amount(entry.get("estimated_ns"), "the time of an operation"),
        function=words(entry.get("function")) or "main",
        reasons=tuple((unit, text) for unit, text in reasons if unit is not None and text),
    )


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2
