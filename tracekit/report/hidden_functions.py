"""Takes the names of the app's functions and source files out of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.report.aliases import alias_names
from tracekit.report.strings import map_strings

if TYPE_CHECKING:
    from tracekit.analysis.code import CallSite, Place
    from tracekit.report.report import Report


def without_functions(report: Report) -> Report:
    """The report without names of the app's functions and source files: each becomes `function A`, `file A`, ... the
    same throughout the report."""
    code = report.code
    sites = [site for check in report.checks for site in check.call_sites]
    sites += code.call_sites if code is not None else ()
    named: list[CallSite | Place] = [*sites, *(entry for site in sites for entry in site.called_by)]
    aliases = alias_names({entry.function for entry in named if entry.function}, "function")
    files = alias_names({entry.file for entry in named if entry.file}, "file")

    def change(field: str, text: str) -> str:
        return (aliases if field == "function" else files if field == "file" else {}).get(text, text)

    return map_strings(report, change)
