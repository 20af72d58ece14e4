"""Which report lies at a path, and what it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.model_files.failures import MAX_TEXT_BYTES, UnreadableModel, read_bytes, shown
from tracekit.model_files.performance.dumps import dumped_plan, is_dump
from tracekit.model_files.performance.own import is_own, own_report
from tracekit.model_files.performance.plans import coremltools_plan, is_coremltools, is_profiler, profiler_plan
from tracekit.model_files.performance.values import mapping
from tracekit.model_files.performance.xcode import is_xcode, xcode_report

if TYPE_CHECKING:
    from tracekit.model_files.performance.facts import PerformanceReport

EXPECTED = (
    "JSON that Xcode exports of a performance report, a compute plan of CoreMLProfiler, coremltools or an app, or JSON "
    "of `tracekit inspect`"
)


def load_performance_report(path: Path | str) -> PerformanceReport:
    """The performance report or compute plan in a file. Raises `UnreadableModel`. O(size of the file)."""
    file = Path(path)
    if not file.is_file():
        what = "is not a file" if file.exists() else "does not exist"
        raise UnreadableModel(f"{shown(file)} {what}; expected {EXPECTED}")
    data = read_bytes(file, MAX_TEXT_BYTES)
    if not data:
        raise UnreadableModel(f"{shown(file)} is empty; expected {EXPECTED}")
    document = _parsed(data)
    if document is None:
        raise UnreadableModel(f"{shown(file)} is not complete JSON; expected {EXPECTED}")
    report = report_of(document, file)
    if report is None:
        keys = ", ".join(sorted(map(str, mapping(document)))[:5])
        raise UnreadableModel(f"{shown(file)} is no performance report (keys: {keys or 'none'}); expected {EXPECTED}")
    return report


def report_in(data: bytes, path: Path) -> PerformanceReport | None:
    """The report that the content of a file is; None where it is something else. Raises `UnreadableModel` where it is
    damaged. O(size)."""
    document = _parsed(data)
    return None if document is None else report_of(document, path)


def _parsed(data: bytes) -> object:
    """The JSON; None where it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def report_of(document: object, path: Path) -> PerformanceReport | None:
    """The report in the JSON of a file; None where it is something else. Raises `UnreadableModel` where it is damaged.
    O(size of the document)."""
    keys = mapping(document)
    try:
        if is_xcode(keys):
            return xcode_report(keys, path.stem, path.name)
        if is_own(keys):
            return own_report(keys, path.stem, path.name)
        if is_coremltools(document):
            return coremltools_plan(document, path.stem, path.name)
        if is_profiler(document):
            return profiler_plan(document, path.stem, path.name)
        if is_dump(document):
            return dumped_plan(document, path.stem, path.name)
    except UnreadableModel as error:
        raise UnreadableModel(f"{shown(path)}: {error}") from None
    return None
