"""`tracekit bugreport PATH...`: a report as an archive to attach to an issue."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.command import Command, ExitStatus
from tracekit.cli.inputs import (
    add_model_argument,
    add_paths_argument,
    add_process_argument,
    add_reader_arguments,
    add_redaction_arguments,
    add_run_argument,
    xctrace_options,
)
from tracekit.cli.project import add_config_arguments, config_of
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from tracekit.api import Analysis
    from tracekit.recording.digest import Digest
    from tracekit.report.bug_report import BugFile
    from tracekit.report.renderers.bug_report import Reproduction
    from tracekit.report.timeline import Timeline

SUFFIX = ".zip"


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    add_paths_argument(parser)
    add_run_argument(parser)
    add_model_argument(parser)
    add_process_argument(parser)
    add_reader_arguments(parser)
    add_config_arguments(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="the archive to write, for example findings.zip")
    parser.add_argument("--list", action="store_true", help="show what the archive would contain, and write nothing")
    add_redaction_arguments(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="suppress progress and notes")


def run(arguments: Namespace) -> ExitStatus:
    """Write the archive, or list it."""
    from tracekit.cli.output import emit, narrate
    from tracekit.cli.reports import check_output, status_of, tell_unreadable
    from tracekit.recording.writing.files import complete_file
    from tracekit.report.bug_report import zip_of

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
    from tracekit.api import analysis_of
    from tracekit.cli.progress import RUNNING, showing_progress
    from tracekit.recording.digest import digest_of
    from tracekit.report.bug_report import bug_files
    from tracekit.report.redact import private_facts

    with showing_progress(arguments.quiet, then=RUNNING) as progress:
        analysis = analysis_of(
            arguments.path,
            run=arguments.run,
            models=arguments.model,
            process=arguments.process,
            config=config_of(arguments),
            redact=not arguments.no_redact,
            functions=not arguments.no_functions,
            reader=arguments.reader,
            xctrace=xctrace_options(arguments, quiet=arguments.quiet),
            progress=progress,
        )
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
    import platform

    from tracekit.report.renderers.bug_report import Reproduction

    words = ["tracekit", "analyze", "-v", analysis.report.recording.source]
    words += ["--run", str(arguments.run)] if arguments.run is not None else []
    for flag, values in (("--model", arguments.model), ("--process", [arguments.process] if arguments.process else [])):
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
    from tracekit.report.redact import private_facts, redact_text
    from tracekit.trace.filter import model_names

    if not analysis.report.recording.redacted:
        return text
    return redact_text(text, private_facts(analysis.trace), model_names(analysis.trace))


def _identity(digest: Digest | None) -> str:
    from tracekit.units import format_count

    if digest is None:
        return "it was read from standard input, so it has no SHA-256."
    of = "" if digest.of == "file" else f", of the list of its {format_count(digest.files, 'file')}"
    return f"SHA-256 `{digest.sha256}` ({digest.bytes:,} bytes{of})."


def _listing(path: Path, analysis: Analysis, timeline: Timeline, files: Sequence[BugFile]) -> str:
    """What would leave the machine: the files, the names in them, and what is redacted."""
    import json

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


COMMAND = Command(
    name="bugreport",
    summary="write a report to attach to an issue",
    description=(
        "Write one zip archive with the report as Markdown (short enough for an issue), HTML and JSON, the rows behind "
        "the findings as CSV, and a manifest with hashes and what was redacted. The recording itself is not included, "
        "only its SHA-256. --list shows what would leave this machine before anything is written."
    ),
    add_arguments=add_arguments,
    run=run,
)
