"""`tracekit bugreport PATH...`: a report as an archive to attach to an issue."""

from __future__ import annotations

import json
import platform
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.ending import ExitStatus
from tracekit.cli.forms import check_output
from tracekit.cli.output import emit, narrate
from tracekit.cli.reports import status_of, tell_unreadable
from tracekit.cli.requests import analyze_with_progress, request_from
from tracekit.documents.bug_report import Reproduction, bug_files, zip_of
from tracekit.errors import UsageError
from tracekit.recording.digest import digest_of
from tracekit.recording.writing.files import complete_file
from tracekit.report.redact import private_facts, redact_text
from tracekit.trace.filter import model_names
from tracekit.units import format_count

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from tracekit.api import Analysis
    from tracekit.documents.bug_report import BugFile
    from tracekit.recording.digest import Digest
    from tracekit.report.timeline import Timeline

SUFFIX = ".zip"


def run(arguments: Namespace) -> ExitStatus:
    """Write the archive, or list it."""
    if arguments.output is None and not arguments.list:
        raise UsageError("missing -o FILE.zip; to see first what it would contain, use --list")
    path = Path(arguments.output or f"findings{SUFFIX}")
    if path.suffix.lower() != SUFFIX:
        raise UsageError(f"{path}: unknown extension (supported: {SUFFIX})")
    if not arguments.list:
        check_output(path, arguments.path)
    analysis, timeline, files = _analysis_and_files(arguments)
    if arguments.list:
        emit(_listing(path, analysis, timeline, files))
        unread = tell_unreadable(analysis.report.recording.source, analysis.report.tables)
        return ExitStatus.UNUSABLE if unread else ExitStatus.DONE
    data = zip_of(files)
    # A link stays one: what it leads to is written.
    with complete_file(path.resolve()) as stream:
        stream.write(data)
    if not arguments.quiet:
        narrate(f"tracekit: wrote {path} ({len(data):,} bytes, {len(files)} files); see what is in it with --list")
    return status_of(analysis.report, None, quiet=arguments.quiet)


def _analysis_and_files(arguments: Namespace) -> tuple[Analysis, Timeline, tuple[BugFile, ...]]:
    analysis = analyze_with_progress(arguments.path, request_from(arguments), quiet=arguments.quiet)
    timeline = analysis.timeline()
    digest = digest_of(arguments.path)
    files = bug_files(
        analysis.report,
        timeline,
        private_facts(analysis.trace),
        digest=digest,
        reproduction=_reproduction(arguments, analysis, digest),
    )
    return analysis, timeline, files


def _reproduction(arguments: Namespace, analysis: Analysis, digest: Digest | None) -> Reproduction:
    words = ["tracekit", "analyze", "-v", analysis.report.recording.source]
    words += ["--run", str(arguments.run)] if arguments.run is not None else []
    for flag, values in (
        ("--model", arguments.models),
        ("--process", [arguments.process] if arguments.process else []),
    ):
        for value in values:
            words += [flag, _public(value, analysis)]
    config = analysis.report.tool.config
    words += ["--no-config"] if config is None else ["--config", config]
    return Reproduction(
        command=shlex.join(words),
        identity=_identity(digest),
        machine=f"Python {platform.python_version()}, {platform.system()}",
    )


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


def _listing(path: Path, analysis: Analysis, timeline: Timeline, files: Sequence[BugFile]) -> str:
    """What would leave the machine: the files, the names in them, and what is redacted."""
    report = analysis.report
    width = max(len(each.name) for each in files)
    lines = [f"{path} would contain (nothing was written):"]
    lines += [f"  {each.name:{width}}  {len(each.data):>12,} bytes  {each.about}" for each in files]
    recording = report.recording
    device = " ".join(filter(None, (recording.device_model, recording.platform, recording.os_version)))
    functions = set() if timeline.flame is None else {*timeline.flame.tree.names, *timeline.flame.tree.images} - {""}
    named = {
        "recording": recording.source,
        "target": recording.target,
        "device": device,
        "template": recording.template,
        "models": ", ".join(model.name for model in report.models),
        "texts": f"{len(timeline.texts):,} names of events and models on the timeline",
        "functions": f"{len(functions):,} names of functions and libraries in call stacks",
    }
    lines += ["It names:", *(f"  {key:{width}}  {value}" for key, value in named.items() if value)]
    redaction = json.loads(files[-1].data)["redaction"]
    if not redaction["applied"]:
        return "\n".join([*lines, "Nothing is redacted (--no-redact).", ""])
    lines += ["Redacted:", f"  never included: {', '.join(redaction['never_included'])}"]
    lines += [f"  replaced: {words} ({count:,})" for words, count in redaction["replaced_in_report"].items()]
    return "\n".join([*lines, "Texts that stay: docs/privacy.md", ""])
