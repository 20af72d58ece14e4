"""What a report says of the code of the app: which lines call Core ML, and what running threads were doing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.code.tree import in_functions, without_deeper
from tracekit.documents import columns
from tracekit.render import blocks
from tracekit.render.blocks import Block, Column, Figure, Line, Paragraph, Role, Section, Span, join, section, table
from tracekit.render.markup import page_data, tag
from tracekit.report import call_sites
from tracekit.report.flame import DEEPER, MAX_LEVELS
from tracekit.report.formatting import ABSENT, moment
from tracekit.trace.calls.stacks import Api
from tracekit.units import format_count, format_percent

if TYPE_CHECKING:
    from tracekit.analysis.code.sites import CallSite, Place
    from tracekit.report.call_sites import CodeInfo
    from tracekit.report.flame import Flame

HEAVIEST = 12
"""Functions of the app that are listed, those with most samples."""
LEAST = 5
"""Of fewer, a share says more about chance than about the app (heuristic)."""


def code_section(info: CodeInfo | None, flame: Flame | None) -> Section | None:
    """Calls of Core ML by place and, with a flame graph, functions of the app; None without call stacks."""
    calls = _call_sites(info) if info is not None else ()
    functions: tuple[Block | None, ...] = ()
    if flame is not None:
        sampled = f"{format_count(len(flame.times), 'sample')} of running threads of the target."
        functions = app_functions(flame, sampled)
    return section("Code", *calls, *functions, folded=True, name="code")


def _call_sites(info: CodeInfo) -> tuple[Block | None, ...]:
    """The places that call Core ML, and what they rest on."""
    notes = [f"{call_sites.symbols_sentence(info)}; {call_sites.sampling_sentence(info)}", *info.notes]
    if info.inferred and info.call_sites:
        notes.insert(0, "Core ML recorded no call: all of this is inferred from samples and names of functions")
    shown: tuple[Column[CallSite], ...] = (
        columns.words("call", lambda site: call_sites.LABELS[Api(site.api)]),
        columns.words("from", lambda site: _function(site, call_sites.place(site))),
        columns.words("called by", lambda site: join(map(_function, site.called_by), ", ") or ABSENT),
        columns.words("thread", lambda site: call_sites.THREADS.get(site.thread, ABSENT)),
        columns.words("how often", _how_often),
        columns.words("busy with", _busy),
        Column("share", _share, lambda site: site.share),
        Column("first at", lambda site: _moment(site.first_ns, site), lambda site: site.first_ns),
        columns.numbers("last at", lambda site: site.last_ns, moment),
    )
    grid = table("Calls of Core ML by place", shown, info.call_sites, cards=True)
    empty = None if grid else Paragraph(call_sites.no_calls_sentence(info))
    return grid, empty, *(Paragraph(note, Role.DIM) for note in notes)


def _moment(start_ns: int, site: CallSite) -> Span:
    """When a place called first, which a page leads to."""
    return Span(moment(start_ns), span_ns=(start_ns, start_ns + max(site.median_ns, 1)))


def _function(where: CallSite | Place, unknown: str = "") -> Line:
    """A function of the app and its line; `unknown` where it is not known."""
    name = Span(where.function or unknown, Role.CODE)
    return (name, f" ({line})" if (line := call_sites.line_of(where)) else "") if name.text else ""


def _how_often(site: CallSite) -> str:
    doubt = f"; {site.ambiguous:,} ambiguous: other threads made such calls meanwhile" if site.ambiguous else ""
    return f"{call_sites.calls_words(site)}{doubt}"


def _busy(site: CallSite) -> str:
    """What the calls were busy with; a few samples say little about it."""
    words = call_sites.busy_words(site)
    if words and site.samples < LEAST:
        return f"too few samples ({site.samples:,})"
    return words or ("" if site.calls is None else f"unknown ({format_count(site.samples, 'sample')})") or ABSENT


def _share(site: CallSite) -> str:
    counted = f"{site.samples if site.calls is None else site.calls:,}"
    return f"{format_percent(site.share) if site.of >= LEAST else counted} of {site.of:,}"


def app_functions(flame: Flame, words: str) -> tuple[Block | None, ...]:
    """The functions of the app with most samples, and room for the flame graph; `words` say what was sampled."""
    tree, total = flame.tree, len(flame.times)
    samples, self_samples = in_functions(tree)
    heaviest = [at for at in np.argsort(-samples, kind="stable").tolist() if tree.is_app[at] and samples[at]]
    shown: tuple[Column[int], ...] = (
        columns.names("function of the app", lambda at: tree.names[at]),
        columns.numbers("share", lambda at: samples[at] / total, format_percent),
        columns.numbers("samples", lambda at: int(samples[at])),
        columns.numbers("self", lambda at: int(self_samples[at])),
    )
    if len(without_deeper(tree, MAX_LEVELS)[0].parent) < len(tree.parent):
        words += f" {DEEPER}"
    grid = table("Functions of the app", shown, heaviest[:HEAVIEST])
    empty = None if grid else Paragraph("No function of the app is in them.")
    return Paragraph(words, Role.DIM), Figure(tag("div", id="flame")), grid, empty


def call_stacks_document(flame: Flame, source: str, words: str) -> blocks.Document:
    """The call stacks of a recording as a page. `source` is its file name; `words` say what was sampled."""
    # Reports in text, which draw nothing, do not need it.
    from tracekit.report.viewers.lane_columns import flame_payload

    data = page_data("flame", *flame_payload(flame, source))
    shown = blocks.present(*app_functions(flame, f"{words}."), Figure("", data=data))
    context = (Paragraph("Samples measure CPU time: waiting threads are not sampled", Role.DIM),)
    return blocks.Document(f"Call stacks of {source}", "", Role.PLAIN, context, shown)
