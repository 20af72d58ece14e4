"""A bug report to attach to an issue: a report, and what someone else needs to get it again."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tracekit.characters import map_strings
from tracekit.documents.report import recording_section, report_document
from tracekit.render.blocks import Block, Card, Role, Section, Span, items, present, section
from tracekit.render.markdown import markdown_of
from tracekit.report.formatting import shorten
from tracekit.report.report import SEVERITIES, Report

LIMIT = 65_535
"""Bytes of an issue on GitHub, which takes 65,536 characters; a text has at least as many bytes."""
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


def issue_text(report: Report, reproduction: Reproduction, limit: int = LIMIT) -> str:
    """The report with the worst finding first, how to reproduce it, and where it comes from, as Markdown of at most
    `limit` bytes with a line break at the end. It says what it left out."""
    recording = map_strings(report.recording, lambda _, text: shorten(text[: 2 * LONGEST], LONGEST))
    document = report_document(replace(report, recording=recording))
    analyze = f"Analyze it with {report.tool.name} {report.tool.version}: "
    command = (analyze, Span(reproduction.command, Role.CODE), f" ({reproduction.machine})")
    steps = section("How to reproduce", items((f"Take the recording: {reproduction.identity}", command)), stays=True)
    kept = [block for block in document.blocks if isinstance(block, Section) and block.name != "recording"]
    blocks = (each for block in kept for each in (steps if block.name == "checks" else None, _worst_first(block)))
    environment = recording_section(replace(report, recording=recording), title="Environment", stays=True)
    return markdown_of(replace(document, blocks=present(*blocks, environment)), max_bytes=limit)


def _worst_first(block: Section) -> Section:
    """Cards by severity; a section without cards stays as it is."""
    ranks = {name: rank for rank, name in enumerate(SEVERITIES)}

    def rank(inner: Block) -> int:
        return ranks.get(inner.label, -1) if isinstance(inner, Card) else len(ranks)

    return replace(block, blocks=tuple(sorted(block.blocks, key=rank)))
