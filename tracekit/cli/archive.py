"""`tracekit analyze -o findings.zip`: a report as an archive to attach to an issue, and what it would contain. The
files are made in memory, so that they can be listed before anything is written. The same report gives the same bytes in
the same environment: nothing in them depends on the time of day."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import platform
import shlex
import zipfile
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracekit.characters import map_strings, visible
from tracekit.documents.report import recording_section, report_document, report_file
from tracekit.errors import docs_page
from tracekit.recording import open_recording
from tracekit.recording.sources import digest_of
from tracekit.recording.writing.forms import harmless
from tracekit.render.blocks import Block, Card, Column, Document, Role, Section, Span, items, present, section, table
from tracekit.render.markdown import markdown_of
from tracekit.report.formatting import shorten
from tracekit.report.redact import NEVER_INCLUDED, private_facts, redact_text, replacement_counts
from tracekit.report.report import SEVERITIES, Report
from tracekit.report.unnamed_rows import core_ml_schemas, unnamed_rows
from tracekit.trace.filter import model_names
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.api import Analysis
    from tracekit.recording.open import Paths
    from tracekit.report.timeline import Timeline
    from tracekit.request import Request


_DATE = (1980, 1, 1, 0, 0, 0)
"""Of every file in the archive: the first that the format knows."""
ROWS = "core-ml-rows.json"
_COLUMNS = ("check", "severity", "model", "start_ns", "end_ns", "duration_ns", "event", "table", "row")
LIMIT = 65_535
"""Bytes of an issue on GitHub, which takes 65,536 characters; a text has at least as many bytes."""
LONGEST = 200
"""Characters of a fact in the parts that are never left out."""


@dataclass(frozen=True, slots=True)
class BugFile:
    """One file of the archive."""

    name: str
    about: str
    data: bytes


def rows_of(paths: Paths, request: Request) -> str:
    """Rows of Core ML's own tables as JSON, without a name in them. Raises as `open_recording` does."""
    options: dict[str, Any] = {"run": request.run, "reader": request.reader, "xctrace": request.xctrace}
    schemas = core_ml_schemas(open_recording(paths, schemas=(), **options))
    return unnamed_rows(open_recording(paths, schemas=schemas, progress=request.progress, **options))


def archive_of(
    arguments: Namespace, analysis: Analysis, timeline: Timeline, rows: str | None = None
) -> tuple[BugFile, ...]:
    """The files of the archive, the one to read first and the manifest last. `timeline` is redacted as the report
    is; `rows` are those of `rows_of`, where they were asked for."""
    digest = digest_of(arguments.path)
    command, identity = _command(arguments, analysis), "it was read from standard input, so it has no SHA-256."
    if digest is not None:
        of = "" if digest.of == "file" else f", of the list of its {format_count(digest.files, 'file')}"
        identity = f"SHA-256 `{digest.sha256}` ({digest.bytes:,} bytes{of})."
    machine = f"Python {platform.python_version()}, {platform.system()}"
    report = analysis.report
    as_json = report_file(report, "json")
    # The intervals that the report keeps of each finding. Cells that a spreadsheet would run begin with an apostrophe.
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    for check in report.results:
        for entry in check.evidence if check.outcome == "finding" else ():
            times = (entry.start_ns, entry.end_ns, entry.duration_ns)
            texts = (check.id, check.severity, check.model, entry.label, entry.table)
            cells = [harmless(visible(text or "")) for text in texts]
            writer.writerow([*cells[:3], *times, *cells[3:], entry.row])
    files = [
        _file("report.md", "text for the issue", issue_text(report, command, identity, machine)),
        _file("report.html", "findings and timeline, for a browser", report_file(report, "html", timeline)),
        _file("report.json", "the whole report, for scripts", as_json),
        _file("evidence.csv", "rows behind the findings", stream.getvalue()),
    ]
    files += [] if rows is None else [_file(ROWS, "rows of Core ML's own tables, without names", rows)]
    redaction: dict[str, Any] = {"applied": report.recording.redacted}
    if report.recording.redacted:
        replaced = replacement_counts(as_json, private_facts(analysis.trace))
        redaction |= {"never_included": list(NEVER_INCLUDED), "replaced_in_report": replaced}
    manifest = {
        "tool": {"name": report.tool.name, "version": report.tool.version},
        "recording": {"name": report.recording.source, "digest": None if digest is None else asdict(digest)},
        "redaction": redaction,
        "files": [
            {"name": file.name, "bytes": len(file.data), "sha256": hashlib.sha256(file.data).hexdigest()}
            for file in files
        ],
    }
    text = json.dumps(manifest, indent=2) + "\n"
    return (*files, _file("manifest.json", "hashes of all files, and what was redacted", text))


def _file(name: str, about: str, text: str) -> BugFile:
    return BugFile(name, about, text.encode("utf-8", "backslashreplace"))


def zip_of(files: Sequence[BugFile]) -> bytes:
    """The files as a zip archive without dates, users or permissions of this machine."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for file in files:
            entry = zipfile.ZipInfo(file.name, _DATE)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, file.data, zipfile.ZIP_DEFLATED, 9)
    return stream.getvalue()


def _command(arguments: Namespace, analysis: Analysis) -> str:
    """A command line that gives the same report."""
    words = ["tracekit", "analyze", "-v", analysis.report.recording.source]
    words += ["--run", str(arguments.run)] if arguments.run is not None else []
    options = [("--model", name) for name in arguments.models]
    options += [("--process", arguments.process)] if arguments.process else []
    options += [("--signpost", arguments.signpost)] if arguments.signpost else []
    if analysis.report.recording.redacted:
        facts, names = private_facts(analysis.trace), model_names(analysis.trace)
        options = [(flag, redact_text(value, facts, names)) for flag, value in options]
    words += [word for option in options for word in option]
    for flag, moment in (("--from", arguments.start), ("--to", arguments.end)):
        words += [flag, f"{moment / 1e9:g}"] if moment is not None else []
    config = analysis.report.tool.config
    return shlex.join([*words, *(["--no-config"] if config is None else ["--config", config])])


def listing(path: Path, analysis: Analysis, timeline: Timeline, files: Sequence[BugFile]) -> Document:
    """What would leave the machine: the files, the names in them, and what is redacted."""
    report = analysis.report
    recording = report.recording
    functions = set() if timeline.flame is None else {*timeline.flame.tree.names, *timeline.flame.tree.images} - {""}
    named = {
        "recording": recording.source,
        "target": recording.target,
        "device": " ".join(filter(None, (recording.device_model, recording.platform, recording.os_version))),
        "template": recording.template,
        "models": ", ".join(model.name for model in report.models),
        "texts": f"{len(timeline.texts):,} names of events and models on the timeline",
        "functions": f"{len(functions):,} names of functions and libraries in call stacks",
    }
    columns: tuple[Column[BugFile], ...] = (
        Column("file", lambda file: file.name, words=True),
        Column("size", lambda file: f"{len(file.data):,} bytes"),
        Column("what", lambda file: file.about, words=True),
    )
    redaction = json.loads(files[-1].data)["redaction"]
    hidden = {}
    if redaction["applied"]:
        hidden = {"never included": ", ".join(redaction["never_included"])}
        hidden |= {f"replaced: {words}": f"{count:,}" for words, count in redaction["replaced_in_report"].items()}
    blocks = (table("Files", columns, files), _facts("It names", named), _facts("Redacted", hidden))
    closing = f"Texts that stay: {docs_page('privacy.md')}" if hidden else "Nothing is redacted (--no-redact)."
    return Document(
        str(path), f"{path} would contain (nothing was written):", Role.PLAIN, blocks=present(*blocks), closing=closing
    )


def _facts(title: str, facts: Mapping[str, str | None]) -> Section | None:
    return section(title, items(f"{key}: {value}" for key, value in facts.items() if value))


def issue_text(report: Report, command: str, identity: str, machine: str, *, limit: int = LIMIT) -> str:
    """The report with the worst finding first, how to reproduce it, and where it comes from, as Markdown of at most
    `limit` bytes with a line break at the end. It says what it left out. `command` has the name of the recording
    instead of its path, `identity` its SHA-256 or why there is none, and `machine` is what analyzed it."""
    recording = map_strings(report.recording, lambda _, text: shorten(text[: 2 * LONGEST], LONGEST))
    document = report_document(replace(report, recording=recording))
    analyze = f"Analyze it with {report.tool.name} {report.tool.version}: "
    line = (analyze, Span(command, Role.CODE), f" ({machine})")
    config = report.tool.config
    settings = [f"Take its settings: {config}, which is not in this archive."] if config else []
    lines = items((f"Take the recording: {identity}", *settings, line))
    steps = section("How to reproduce", lines, stays=True)
    kept = [block for block in document.blocks if isinstance(block, Section) and block.name != "recording"]
    blocks = (piece for block in kept for piece in (steps if block.name == "checks" else None, _worst_first(block)))
    environment = recording_section(replace(report, recording=recording), title="Environment", stays=True)
    return markdown_of(replace(document, blocks=present(*blocks, environment)), max_bytes=limit)


def _worst_first(block: Section) -> Section:
    """Cards by severity; a section without cards stays as it is."""
    ranks = {name: rank for rank, name in enumerate(SEVERITIES)}

    def rank(inner: Block) -> int:
        return ranks.get(inner.label, -1) if isinstance(inner, Card) else len(ranks)

    return replace(block, blocks=tuple(sorted(block.blocks, key=rank)))
