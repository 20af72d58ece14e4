"""A bug report as files: what someone else needs to see a finding, believe it and get it again.

The files are made in memory, so that they can be listed before anything is written. The same report gives the same
bytes in the same environment: nothing in them depends on the time of day.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from tracekit.characters import map_strings, visible
from tracekit.documents.report import recording_section, report_document, report_file
from tracekit.recording.writing.forms import harmless
from tracekit.render.blocks import Block, Card, Document, Entry, Items, Role, Section, Span
from tracekit.render.markdown import markdown_of
from tracekit.report import formatting
from tracekit.report.redact import NEVER_INCLUDED, PrivateFacts, replacement_counts
from tracekit.report.report import SEVERITIES, Report

if TYPE_CHECKING:
    from tracekit.recording.digest import Digest
    from tracekit.report.timeline import Timeline

MANIFEST = "manifest.json"
_DATE = (1980, 1, 1, 0, 0, 0)
"""Of every file in the archive: the first that the format knows."""
_COLUMNS = ("check", "severity", "model", "start_ns", "end_ns", "duration_ns", "event", "table", "row")


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


@dataclass(frozen=True, slots=True)
class BugFile:
    """One file of a bug report."""

    name: str
    about: str
    data: bytes


def bug_files(
    report: Report,
    timeline: Timeline,
    facts: PrivateFacts,
    *,
    digest: Digest | None,
    reproduction: Reproduction,
) -> tuple[BugFile, ...]:
    """The files, the one to read first and the manifest last. `timeline` and `report` are redacted alike; `digest` is
    that of the recording, None where there is none."""
    files = [
        _file("report.md", "text for the issue", issue_text(report, reproduction)),
        _file("report.html", "findings and timeline, for a browser", report_file(report, "html", timeline)),
        _file("report.json", "the whole report, for scripts", report_file(report, "json")),
        _file("evidence.csv", "rows behind the findings", evidence_csv(report)),
    ]
    manifest = {
        "tool": {"name": report.tool.name, "version": report.tool.version},
        "recording": {"name": report.recording.source, "digest": None if digest is None else asdict(digest)},
        "redaction": _redaction(report, files, facts),
        "files": [
            {"name": each.name, "bytes": len(each.data), "sha256": hashlib.sha256(each.data).hexdigest()}
            for each in files
        ],
    }
    text = json.dumps(manifest, indent=2) + "\n"
    return (*files, _file(MANIFEST, "hashes of all files, and what was redacted", text))


def issue_text(report: Report, reproduction: Reproduction, limit: int = LIMIT) -> str:
    """Markdown of at most `limit` bytes, with a line break at the end. It says what it left out."""
    return markdown_of(issue_document(report, reproduction), max_bytes=limit)


def issue_document(report: Report, reproduction: Reproduction) -> Document:
    """The report with the worst finding first, how to reproduce it, and where it comes from."""
    recording = map_strings(report.recording, lambda _, text: formatting.shorten(text[: 2 * LONGEST], LONGEST))
    document = report_document(replace(report, recording=recording))
    steps = Items(
        (
            Entry(f"Take the recording: {reproduction.identity}"),
            Entry(
                (
                    f"Analyze it with {report.tool.name} {report.tool.version}: ",
                    Span(reproduction.command, Role.CODE),
                    f" ({reproduction.machine})",
                )
            ),
        )
    )
    blocks: list[Block] = []
    for block in document.blocks:
        if isinstance(block, Section) and block.name == "checks":
            blocks.append(Section("How to reproduce", (steps,), stays=True))
        if isinstance(block, Section) and block.name != "recording":
            blocks.append(_worst_first(block))
    environment = recording_section(replace(report, recording=recording), title="Environment", stays=True)
    return replace(document, blocks=(*blocks, *((environment,) if environment else ())))


def _worst_first(block: Section) -> Section:
    """Cards by severity; a section without cards stays as it is."""
    ranks = {name: rank for rank, name in enumerate(SEVERITIES)}

    def rank(inner: Block) -> int:
        return ranks.get(inner.label, -1) if isinstance(inner, Card) else len(ranks)

    return replace(block, blocks=tuple(sorted(block.blocks, key=rank)))


def _file(name: str, about: str, text: str) -> BugFile:
    return BugFile(name, about, text.encode("utf-8", "backslashreplace"))


def _redaction(report: Report, files: Sequence[BugFile], facts: PrivateFacts) -> dict[str, Any]:
    """What is not in the files, and how often something stands for a private text."""
    if not report.recording.redacted:
        return {"applied": False}
    text = "\n".join(each.data.decode("utf-8") for each in files if each.name == "report.json")
    return {
        "applied": True,
        "never_included": list(NEVER_INCLUDED),
        "replaced_in_report": replacement_counts(text, facts),
    }


def evidence_csv(report: Report) -> str:
    """The intervals that the report keeps of each finding, in its order: one line each, times in ns since the start of
    the run. Cells that a spreadsheet would run begin with an apostrophe."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    for check in report.results:
        for entry in check.evidence if check.outcome == "finding" else ():
            times = (entry.start_ns, entry.end_ns, entry.end_ns - entry.start_ns)
            texts = [harmless(visible(text or "")) for text in (check.id, check.severity, check.model)]
            writer.writerow([*texts, *times, *map(_cell, (entry.label, entry.table)), entry.row])
    return stream.getvalue()


def _cell(text: str) -> str:
    return harmless(visible(text))


def zip_of(files: Sequence[BugFile]) -> bytes:
    """The files as a zip archive without dates, users or permissions of this machine."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for each in files:
            entry = zipfile.ZipInfo(each.name, _DATE)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, each.data, zipfile.ZIP_DEFLATED, 9)
    return stream.getvalue()
