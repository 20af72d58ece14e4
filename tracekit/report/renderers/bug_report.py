"""The Markdown of a bug report: the Markdown report, worst finding first, with environment and how to reproduce it,
and no longer than an issue may be."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tracekit.characters import map_strings, visible
from tracekit.report import formatting
from tracekit.report.groups import SEVERITIES, findings
from tracekit.report.renderers import markdown
from tracekit.report.renderers.markdown_findings import EVIDENCE, FIXES, MEASUREMENTS, Section, finding_sections
from tracekit.report.renderers.markdown_text import code, escape, paragraphs
from tracekit.units import format_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tracekit.report.report import Report

LIMIT = 65_536
"""Characters of an issue on GitHub. Bytes are held to it, of which a text has at least as many."""
LONGEST = 200
"""Characters of a fact in the parts that are never left out."""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What someone else needs to get the same report."""

    command: str
    """A command line with the name of the recording instead of its path."""
    identity: str
    """SHA-256 of the recording and what of; or why there is none."""
    machine: str
    """What the recording was analyzed with."""


@dataclass(frozen=True, slots=True)
class _Part:
    section: Section
    rank: int
    """What has the highest is left out first; parts with 0 never are."""


def render_bug_report(report: Report, reproduction: Reproduction, limit: int = LIMIT) -> str:
    """The report as Markdown of less than `limit` bytes, with a line break at the end. It says what it left out."""
    safe, reproduction = markdown.legible(report), map_strings(reproduction, lambda _, text: visible(text))
    groups = sorted(findings(safe.results), key=lambda group: SEVERITIES.index(group.severity))
    parts: list[_Part] = []
    for index, group in enumerate(groups):
        opened, *further = finding_sections(group, markdown.label(group, safe))
        parts.append(_Part(opened, 1_000 + index))
        parts += [_Part(section, 10_000 * step + index) for step, section in enumerate(further, 1)]
    parts += [_Part(section, 5_000 + index) for index, section in enumerate(markdown.overview(safe))]
    parts += [_Part(section, 0) for section in _always(safe, reproduction)]
    tables = [section for section in markdown.folded(safe) if section.title != markdown.RECORDING]
    parts += [_Part(section, 100_000 + index) for index, section in enumerate(tables)]
    first = "\n\n".join(markdown.head(_cut(safe)))
    return _fitted(first, [part for part in parts if part.section.text], limit)


def _fitted(first: str, parts: Sequence[_Part], limit: int) -> str:
    """The document with as many parts as there is room for."""
    kept, left_out = list(parts), list[_Part]()
    for last in sorted(parts, key=lambda part: -part.rank):
        text = paragraphs(first, _left_out(left_out), *(part.section.text for part in kept)) + "\n"
        if len(text.encode("utf-8", "backslashreplace")) < limit or not last.rank:
            return text
        kept.remove(last)
        left_out.append(last)
    return paragraphs(first, _left_out(left_out)) + "\n"


def _left_out(parts: Iterable[_Part]) -> str:
    """Says what is missing here, in the order of the document; empty where nothing is."""
    titles = Counter(part.section.title for part in sorted(parts, key=lambda part: part.rank))
    if not titles:
        return ""
    folded = (FIXES, EVIDENCE, MEASUREMENTS)
    words = [f"{title} of {format_count(titles[title], 'finding')}" if title in folded else title for title in titles]
    return f"Left out, because an issue has no room for it: {'; '.join(map(escape, words))}. The files have all of it."


def _always(report: Report, reproduction: Reproduction) -> tuple[Section, Section]:
    """What makes a report of use to others."""
    steps = [
        f"1. Take the recording: {reproduction.identity}",
        f"2. Analyze it with {escape(report.tool.name)} {escape(report.tool.version)}: {code(reproduction.command)}",
    ]
    facts = [markdown.recording_facts(_cut(report).recording), f"- Analyzed with: {escape(reproduction.machine)}"]
    return (
        Section("How to reproduce", paragraphs("### How to reproduce", "\n".join(steps))),
        Section("Environment", paragraphs("### Environment", "\n".join(facts))),
    )


def _cut(report: Report) -> Report:
    """The report with no long text in what says where it comes from."""
    recording = map_strings(report.recording, lambda _, text: formatting.shorten(text[: 2 * LONGEST], LONGEST))
    return replace(report, recording=recording)
