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
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tracekit.characters import visible
from tracekit.recording.writing.forms import harmless
from tracekit.report.redact import NEVER_INCLUDED, replacement_counts
from tracekit.report.renderers.bug_report import render_bug_report
from tracekit.report.renderers.formats import RENDERERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.recording.digest import Digest
    from tracekit.report.redact import PrivateFacts
    from tracekit.report.renderers.bug_report import Reproduction
    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline

MANIFEST = "manifest.json"
_DATE = (1980, 1, 1, 0, 0, 0)
"""Of every file in the archive: the first that the format knows."""
_COLUMNS = ("check", "severity", "model", "start_ns", "end_ns", "duration_ns", "event", "table", "row")


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
        _file("report.md", "text for the issue", render_bug_report(report, reproduction)),
        _file("report.html", "findings and timeline, for a browser", RENDERERS["html"].document(report, timeline)),
        _file("report.json", "the whole report, for scripts", RENDERERS["json"].document(report, None)),
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
