"""`tracekit analyze -o findings.zip`: a report as an archive to attach to an issue, and what it would contain."""

from __future__ import annotations

import json
import platform
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.documents.bug_report import BugFile, Reproduction, bug_files
from tracekit.recording.digest import Digest, digest_of
from tracekit.render.blocks import Column, Document, Role, Section, items, present, section, table
from tracekit.report.redact import private_facts, redact_text
from tracekit.trace.filter import model_names
from tracekit.units import format_count

if TYPE_CHECKING:
    from argparse import Namespace

    from tracekit.api import Analysis
    from tracekit.report.timeline import Timeline


def archive_of(arguments: Namespace, analysis: Analysis, timeline: Timeline) -> tuple[BugFile, ...]:
    """The files of the archive."""
    digest = digest_of(arguments.path)
    reproduction = Reproduction(
        command=_command(arguments, analysis),
        identity=_identity(digest),
        machine=f"Python {platform.python_version()}, {platform.system()}",
    )
    facts = private_facts(analysis.trace)
    return bug_files(analysis.report, timeline, facts, digest=digest, reproduction=reproduction)


def _command(arguments: Namespace, analysis: Analysis) -> str:
    """A command line that gives the same report."""
    words = ["tracekit", "analyze", "-v", analysis.report.recording.source]
    words += ["--run", str(arguments.run)] if arguments.run is not None else []
    options = [("--model", name) for name in arguments.models]
    options += [("--process", arguments.process)] if arguments.process else []
    options += [("--signpost", arguments.signpost)] if arguments.signpost else []
    words += [word for flag, value in options for word in (flag, _public(value, analysis))]
    for flag, moment in (("--from", arguments.start), ("--to", arguments.end)):
        words += [flag, f"{moment / 1e9:g}"] if moment is not None else []
    config = analysis.report.tool.config
    return shlex.join([*words, *(["--no-config"] if config is None else ["--config", config])])


def _public(text: str, analysis: Analysis) -> str:
    """What the user typed, as redacted as the report."""
    if not analysis.report.recording.redacted:
        return text
    return redact_text(text, private_facts(analysis.trace), model_names(analysis.trace))


def _identity(digest: Digest | None) -> str:
    if digest is None:
        return "it was read from standard input, so it has no SHA-256."
    of = "" if digest.of == "file" else f", of the list of its {format_count(digest.files, 'file')}"
    return f"SHA-256 `{digest.sha256}` ({digest.bytes:,} bytes{of})."


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
        Column("file", lambda each: each.name, words=True),
        Column("size", lambda each: f"{len(each.data):,} bytes"),
        Column("what", lambda each: each.about, words=True),
    )
    redaction = json.loads(files[-1].data)["redaction"]
    hidden = {}
    if redaction["applied"]:
        hidden = {"never included": ", ".join(redaction["never_included"])}
        hidden |= {f"replaced: {words}": f"{count:,}" for words, count in redaction["replaced_in_report"].items()}
    blocks = (
        table("Files", columns, files),
        _facts("It names", named),
        _facts("Redacted", hidden),
    )
    closing = "Texts that stay: docs/privacy.md" if hidden else "Nothing is redacted (--no-redact)."
    return Document(
        str(path), f"{path} would contain (nothing was written):", Role.PLAIN, blocks=present(blocks), closing=closing
    )


def _facts(title: str, facts: Mapping[str, str | None]) -> Section | None:
    return section(title, items(f"{key}: {value}" for key, value in facts.items() if value))
