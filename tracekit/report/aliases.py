"""Names that stand for private ones: `process A`, `foreign model B`, `function AA`."""

from __future__ import annotations

from string import ascii_uppercase
from typing import TYPE_CHECKING

from tracekit.report.strings import map_strings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tracekit.analysis.code import CallSite, Place
    from tracekit.report.report import Report


def alias_names(names: Iterable[str], noun: str) -> dict[str, str]:
    """`process A` to `process Z`, then `process AA`, in alphabetical order of the names."""
    return {name: f"{noun} {_ordinal_letters(index)}" for index, name in enumerate(sorted(set(names)))}


def alias_foreign_models(models: Iterable[str]) -> dict[str, str]:
    """Aliases of foreign models, also in the spelling of labels, which may write `_` for a hyphen."""
    aliases = alias_names(models, "foreign model")
    return {name.replace("-", "_"): alias for name, alias in aliases.items()} | aliases


def without_functions(report: Report) -> Report:
    """The report without names of the app's functions and source files: each becomes `function A`, `file A`, ... the
    same throughout the report."""
    code = report.code
    sites = [site for check in report.results for site in check.call_sites]
    sites += code.call_sites if code is not None else ()
    named: list[CallSite | Place] = [*sites, *(entry for site in sites for entry in site.called_by)]
    aliases = alias_names({entry.function for entry in named if entry.function}, "function")
    files = alias_names({entry.file for entry in named if entry.file}, "file")

    def change(field: str, text: str) -> str:
        return (aliases if field == "function" else files if field == "file" else {}).get(text, text)

    return map_strings(report, change)


def _ordinal_letters(index: int) -> str:
    """0 is A, 25 is Z, 26 is AA."""
    letters = ""
    index += 1
    while index:
        index, digit = divmod(index - 1, len(ascii_uppercase))
        letters = ascii_uppercase[digit] + letters
    return letters
