"""The code of the app: which lines call Core ML, and what running threads were doing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.code.patterns import Api
from tracekit.analysis.code.tree import in_functions, without_deeper
from tracekit.detectors.pages import Pattern
from tracekit.report.call_sites import (
    LABELS,
    THREADS,
    busy_words,
    called_from,
    calls_words,
    line_of,
    merge_sites,
    no_calls_sentence,
    place,
    sampling_sentence,
    symbols_sentence,
)
from tracekit.report.call_tree import DEEPER, MAX_LEVELS
from tracekit.report.formatting import ABSENT, moment
from tracekit.report.renderers.html.markup import Html, code, joined, listed, tag
from tracekit.report.renderers.html.prose import unbroken
from tracekit.report.renderers.html.tables import Cell, table
from tracekit.units import format_count, format_percent

if TYPE_CHECKING:
    from tracekit.analysis.code.sites import CallSite
    from tracekit.report.call_sites import CodeInfo
    from tracekit.report.flame import Flame
    from tracekit.report.groups import Group
    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline

HEAVIEST = 12
"""Functions of the app that are listed, those with most samples."""
IN_FINDING, LISTED = 3, 40
"""Most places below a finding, and in the table of all; the JSON report has every one."""
LEAST = 5
"""Of fewer, a share says more about chance than about the app (heuristic)."""


def callers(group: Group) -> Html | None:
    """Which code of the app a finding is about; None where no call stack says it."""
    if group.first.pattern == Pattern.RECORDING:
        return None
    sites = merge_sites(site for check in group.results for site in check.call_sites)
    sentences = [f"{words[:1].upper()}{words[1:]}." for words in map(called_from, sites[:IN_FINDING])]
    return tag("p", sentences[0]) if len(sentences) == 1 else listed(sentences)


def code_section(report: Report, timeline: Timeline | None) -> Html | None:
    """Calls of Core ML by place, functions of the app, and room for the flame graph; None without call stacks."""
    flame = timeline.flame if timeline is not None else None
    if report.code is None and flame is None:
        return None
    return tag(
        "section",
        tag("h2", "Code"),
        _calls(report.code) if report.code is not None else None,
        _functions(flame) if flame is not None else None,
        id="code",
    )


def _calls(info: CodeInfo) -> Html:
    """The places that call Core ML, and what they rest on."""
    left_out = len(info.call_sites) - LISTED
    notes = [symbols_sentence(info), sampling_sentence(info), *info.notes]
    if info.inferred and info.call_sites:
        notes.insert(0, "Core ML recorded no calls: these are inferred from names of functions of the system")
    if left_out > 0:
        notes.insert(0, f"{format_count(left_out, 'more place')} in the JSON report")
    titles = ["call", "from", "called by", "thread", "how often", "busy with", "share", "first at"]
    rows = [_site(site) for site in info.call_sites[:LISTED]]
    return joined(
        [
            table(titles, rows, words=6, name="Calls of Core ML by place", stacked=True)
            if rows
            else tag("p", no_calls_sentence(info)),
            tag("p", " ".join(f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in notes), class_="dim"),
        ]
    )


def _site(site: CallSite) -> list[Cell]:
    above = [_function(each.function, line_of(each)) for each in site.called_by if each.function]
    counted = f"{site.samples if site.calls is None else site.calls:,}"
    return [
        Cell(LABELS[Api(site.api)]),
        Cell(_function(site.function or place(site), line_of(site))),
        Cell(joined(above, ", ") if above else ABSENT),
        Cell(THREADS.get(site.thread, ABSENT)),
        Cell(unbroken(calls_words(site))),
        Cell(_busy(site)),
        Cell(f"{format_percent(site.share) if site.of >= LEAST else counted} of {site.of:,}", site.share),
        Cell(moment(site.first_ns), site.first_ns),
    ]


def _function(name: str, line: str) -> Html:
    """A function and its line; where there is no room, a name is broken at its dots."""
    return joined([tag("code", joined(name.split("."), Html(".<wbr>"))), f" {line}"])


def _busy(site: CallSite) -> str:
    """What the calls were busy with; a few samples say little about it."""
    words = busy_words(site)
    return f"too few samples ({site.samples:,})" if words and site.samples < LEAST else words or ABSENT


def _functions(flame: Flame) -> Html:
    """Functions of the app in the samples of running threads, and the place of the flame graph."""
    tree, total = flame.tree, len(flame.times)
    samples, self_samples = in_functions(tree)
    app_functions = [
        index for index in np.argsort(-samples, kind="stable").tolist() if tree.is_app[index] and samples[index]
    ]
    rows = [
        [
            Cell(code(tree.names[index])),
            Cell(format_percent(samples[index] / total), samples[index] / total),
            Cell(f"{samples[index]:,}", float(samples[index])),
            Cell(f"{self_samples[index]:,}", float(self_samples[index])),
        ]
        for index in app_functions[:HEAVIEST]
    ]
    titles = ["function of the app", "share", "samples", "self"]
    words = f"{format_count(total, 'sample')} of running threads of the target."
    if len(without_deeper(tree, MAX_LEVELS)[0].parent) < len(tree.parent):
        words += f" {DEEPER}"
    return joined(
        [
            tag("p", words, class_="dim"),
            table(titles, rows, name="Functions of the app")
            if rows
            else tag("p", "No function of the app is in them."),
            tag("div", id="flame"),
        ]
    )
