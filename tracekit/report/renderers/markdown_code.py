"""Call sites in Markdown: what ran where Core ML recorded nothing, and the folded list of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.analysis.code.patterns import Api
from tracekit.report.call_sites import (
    LABELS,
    THREADS,
    busy_words,
    calls_words,
    line_of,
    no_calls_sentence,
    place,
    sampling_sentence,
    symbols_sentence,
)
from tracekit.report.formatting import ABSENT, moment
from tracekit.report.renderers.markdown_text import code, escape, left_out, paragraphs, table
from tracekit.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tracekit.analysis.code.sites import CallSite
    from tracekit.report.call_sites import CodeInfo

SITES_SHOWN, ALL_SHOWN = 8, 40
"""Most call sites of the open and of the folded table. The JSON report holds all."""


def nevertheless(info: CodeInfo | None) -> str:
    """What ran where Core ML recorded no call; empty where it did, or where no call is known."""
    if info is None or not info.inferred or not info.call_sites:
        return ""
    return paragraphs(
        "### What ran nevertheless",
        "Inferred from call stacks, 1 ms apart, and from names of functions of the system.",
        _table(info.call_sites[:SITES_SHOWN]),
        left_out(len(info.call_sites) - SITES_SHOWN),
    )


def call_sites(info: CodeInfo | None) -> str:
    """All call sites; empty where no call stacks were recorded."""
    if info is None:
        return ""
    return paragraphs(
        _table(info.call_sites[:ALL_SHOWN]) if info.call_sites else no_calls_sentence(info),
        left_out(len(info.call_sites) - ALL_SHOWN),
        "\n".join(f"- {escape(note)}" for note in (symbols_sentence(info), sampling_sentence(info), *info.notes)),
    )


def _table(sites: Iterable[CallSite]) -> str:
    header = ["call", "from", "called by", "thread", "how often", "since", "busy with", "share"]
    return table(header, [_row(site) for site in sites], words=len(header) - 1)


def _row(site: CallSite) -> list[str]:
    where = " ".join(filter(None, (code(site.function or place(site)), escape(line_of(site)))))
    callers = ", ".join(f"{code(each.function)} {escape(line_of(each))}".strip() for each in site.called_by)
    return [
        LABELS[Api(site.api)],
        where,
        callers or ABSENT,
        THREADS.get(site.thread, ABSENT),
        escape(calls_words(site)),
        moment(site.first_ns),
        escape(busy_words(site)) or ABSENT,
        f"{format_percent(site.share)} of {site.of:,}",
    ]
