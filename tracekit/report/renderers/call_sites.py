"""Call sites on screen: what ran where Core ML recorded nothing, who called behind a finding, and the whole list."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from rich.text import Text

from tracekit.analysis.code.patterns import Api
from tracekit.detectors.pages import Pattern
from tracekit.report.call_sites import (
    ELEMENTS,
    LABELS,
    THREADS,
    busy_words,
    called_from,
    calls_words,
    line_of,
    main_work,
    merge_sites,
    no_calls_sentence,
    place,
    sampling_sentence,
    symbols_sentence,
)
from tracekit.report.formatting import clause, moment
from tracekit.report.renderers.text_layout import glued, heading, labeled, paragraph
from tracekit.units import format_count, format_percent, format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from tracekit.analysis.code.sites import CallSite, Place
    from tracekit.report.call_sites import CodeInfo
    from tracekit.report.groups import Group
    from tracekit.report.renderers.concise_layout import Layout
    from tracekit.report.report import Report

PER_KIND = 4
"""Most places of one kind of call in the short report."""
IN_FINDING = 2
"""Most places below a finding."""
_INDENT = 14
TITLE: Final = "Code"


def nevertheless_lines(report: Report, layout: Layout) -> list[Text]:
    """What ran where Core ML recorded no call; nothing where it did, or where no call is known."""
    code = report.code
    if code is None or not code.inferred or not code.call_sites:
        return []
    threads = {THREADS.get(site.thread, "") for site in code.call_sites}
    shared = "".join(threads) if len(threads) == 1 else ""
    source = "inferred from call stacks, 1 ms apart"
    lines = layout.heading("WHAT RAN NEVERTHELESS", f"{shared}; {source}" if shared else source)
    for api, of_kind in groupby(code.call_sites, key=lambda site: site.api):
        sites = list(of_kind)
        if api == Api.ELEMENT and any(finding.id == "element-wise-access" for finding in report.findings):
            # The finding says it.
            continue
        shown = sites[:PER_KIND]
        for owner, group in groupby(sorted(shown, key=lambda site: _function(shown, site)), key=_owner):
            lines += _function_lines(layout, api, owner, list(group), with_thread=not shared)
        if len(sites) > len(shown):
            more = format_count(len(sites) - len(shown), "more call site")
            lines.append(Text(f"{' ' * _INDENT}{more} (-v)", style="dim"))
    return [*lines, Text()]


def _owner(site: CallSite) -> tuple[str | None, tuple[Place, ...], str]:
    """What sites have in common that stand below one another."""
    return site.function, site.called_by[:1], site.thread


def _function(sites: Sequence[CallSite], site: CallSite) -> int:
    """Place of the first site of the same function."""
    return next(index for index, other in enumerate(sites) if _owner(other) == _owner(site))


def _function_lines(
    layout: Layout,
    api: str,
    owner: tuple[str | None, tuple[Place, ...], str],
    sites: Sequence[CallSite],
    *,
    with_thread: bool,
) -> list[Text]:
    """A function of the app, who calls it, and the calls that it makes line by line."""
    function, called_by, thread = owner
    callers = () if api == Api.ELEMENT else called_by
    parts = [function or "no function of the app", *(f"called by {place(each)}" for each in callers)]
    parts += [THREADS[thread]] if with_thread and thread in THREADS else []
    text = Text(f"  {LABELS[Api(api)]:<{_INDENT - 2}}").append(", ".join(parts), style="bold")
    lines = layout.hanging(text, _INDENT, max_lines=2)
    details = [_elements(sites)] if api == Api.ELEMENT else [_calls(site) for site in sites]
    for detail in details:
        lines += layout.hanging(Text(" " * _INDENT + glued(detail)), _INDENT + 2, max_lines=2)
    return lines


def _calls(site: CallSite) -> str:
    """`main.swift:1261  ≥ 8 calls, median 15.0 ms; 131 samples: GPU 91%, CPU 7%`."""
    single = site.calls == 1
    length = f"{format_time(site.longest_ns)} at {moment(site.first_ns)}"
    times = length if single else f"median {format_time(site.median_ns)}"
    where = f"{line_of(site)}  " if site.line is not None else ""
    busy = main_work(site)
    words = f"{where}≥ {format_count(site.calls or 0, 'call')}, {times}; {format_count(site.samples, 'sample')}"
    return f"{words}: {busy}" if busy else words


def _elements(sites: Sequence[CallSite]) -> str:
    """Element access in one line: its places are parts of one loop."""
    lines = [str(site.line) for site in sites[1:] if site.line is not None]
    where = f"{', '.join([line_of(sites[0]), *lines])}  " if sites[0].line is not None else ""
    samples = sum(site.samples for site in sites)
    return f"{where}{format_count(samples, 'sample')} in {ELEMENTS}"


def called_from_lines(group: Group, layout: Layout) -> list[Text]:
    """Who called, below a finding; one about the recording has a part of its own for that."""
    if group.first.pattern == Pattern.RECORDING:
        return []
    sites = merge_sites(site for check in group.results for site in check.call_sites)
    lines = []
    for site in sites[:IN_FINDING]:
        text = Text(" " * layout.indent + glued(called_from(site)))
        lines += layout.hanging(text, layout.indent + 12, max_lines=2)
    if len(sites) > IN_FINDING:
        more = format_count(len(sites) - IN_FINDING, "more call site")
        lines.append(Text(f"{' ' * layout.indent}{more} (-v)", style="dim"))
    return lines


def code_blocks(code: CodeInfo | None, width: int) -> list[RenderableType]:
    """All call sites, for the full report."""
    if code is None:
        return []
    pairs = [(Text(LABELS[Api(site.api)]), _described(site)) for site in code.call_sites]
    notes = [f"{symbols_sentence(code)}; {sampling_sentence(code)}", *code.notes]
    if not code.call_sites:
        notes.append(clause(no_calls_sentence(code).rstrip(".")))
    elif code.inferred:
        notes.append("Core ML recorded no call: all of this is inferred from samples and names of functions")
    dim = [paragraph(Text(note, style="dim"), 2) for note in notes]
    return [heading(TITLE), *labeled(pairs, width), *([Text()] if pairs else []), *dim]


def _described(site: CallSite) -> Text:
    """Everything about a call site."""
    text = Text(place(site), style="bold", overflow="fold")
    rest = [f"called by {', '.join(map(place, site.called_by))}"] if site.called_by else []
    rest += [THREADS[site.thread]] if site.thread in THREADS else []
    rest.append(f"{calls_words(site)} ({format_percent(site.share)} of {site.of:,})")
    rest.append(f"from {moment(site.first_ns)} to {moment(site.last_ns)}")
    busy = busy_words(site) or ("" if site.calls is None else format_count(site.samples, "sample"))
    rest += [busy] if busy else []
    rest += [f"{site.ambiguous:,} ambiguous: other threads made such calls meanwhile"] if site.ambiguous else []
    return text.append(glued(f"\n{'; '.join(rest)}"), style="not bold")
