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
    places: list[CallSite | Place] = [*sites, *(place for site in sites for place in site.called_by)]
    aliases = alias_names({place.function for place in places if place.function}, "function")
    files = alias_names({place.file for place in places if place.file}, "file")

    def change(field: str, text: str) -> str:
        return (aliases if field == "function" else files if field == "file" else {}).get(text, text)

    return map_strings(report, change)
