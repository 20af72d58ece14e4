"""`tracekit analyze`: read recordings, run the checks, report."""

from __future__ import annotations

import json
import re
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path

from tracekit.api import analysis_of
from tracekit.characters import escape_json, visible
from tracekit.cli.forms import check_folder, deliver, files_of, form_of, may_name, print_document, write_file
from tracekit.cli.options import refuse
from tracekit.cli.output import narrate
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import Input, check_recordings, inputs_of, showing_log, tell_unreadable
from tracekit.cli.requests import PROCESS_DIED, analyze_with_progress, request_from, results_of
from tracekit.detectors.pages import Pattern
from tracekit.documents.brief import brief_report
from tracekit.documents.report import (
    INDEX,
    PARTS,
    Analyzed,
    launches_among,
    next_commands,
    report_document,
    report_file,
    several_document,
    summary_document,
)
from tracekit.errors import TracekitError, UsageError
from tracekit.recording.contents import SIMULATOR, is_simulator
from tracekit.render.forms import ENDINGS, FILE_WIDTH, render
from tracekit.report.formatting import command, word_list
from tracekit.report.report import SEVERITIES, Report
from tracekit.report.serialize import to_dict, to_json
from tracekit.report.verdict import has_stacks_alone
from tracekit.request import Request
from tracekit.units import format_count

ARCHIVE = "zip"
NAME = attrgetter("name")


def run(arguments: Namespace) -> ExitStatus:
    """Analyze and show."""
    inputs = inputs_of(arguments.path)
    if len(inputs) > 1 and len(arguments.output) == 1 and not Path(arguments.output[0]).suffix:
        # A name without an ending is a folder of pages.
        arguments.folder, arguments.output, arguments.format = arguments.output[0], [], arguments.format or "html"
    if len(inputs) > 1 or arguments.folder is not None:
        return _run_several(arguments, inputs)
    refuse(arguments, "jobs", "is for several recordings")
    return _run_one(arguments, inputs[0])


def _run_one(arguments: Namespace, entry: Input) -> ExitStatus:
    # What can be seen to be wrong at once is not first found out after a long read.
    files = files_of(arguments, entry.paths)
    if arguments.list:
        if set(files.values()) - {ARCHIVE}:
            raise UsageError("--list shows what an archive would contain; give it alone, or with -o findings.zip")
        files = files or {Path("findings.zip"): ARCHIVE}
    if ARCHIVE not in files.values():
        refuse(arguments, "rows", "is for an archive; add -o findings.zip")
    if ARCHIVE in files.values():
        refuse(arguments, "format", "is for what is printed; the archive has the report in every form")
    request = request_from(arguments)
    started = time.monotonic()
    with showing_log(arguments.verbose):
        analysis = analyze_with_progress(entry.paths, request, quiet=arguments.quiet)
    if arguments.verbose:
        tables = analysis.report.tables
        read = f"{len(tables)} tables ({sum(table.rows or 0 for table in tables):,} rows)"
        narrate(f"tracekit: read {read} and ran the checks in {time.monotonic() - started:.1f} s")
    forms = {arguments.format, *files.values()}
    report = analysis.measured_report() if "json" in forms else analysis.report
    timeline = analysis.timeline() if forms & {"html", ARCHIVE} else None
    data: dict[str, Callable[[], str | bytes]] = {
        "json": lambda: to_json(report),
        "brief": lambda: brief_report(report),
    }
    if ARCHIVE in forms and timeline is not None:
        # Most reports go into no archive.
        from tracekit.cli.archive import archive_of, listing, rows_of, zip_of

        rows = rows_of(entry.paths, request) if arguments.rows else None
        archived = archive_of(arguments, analysis, timeline, rows)
        if arguments.list:
            print_document(listing(next(iter(files)), analysis, timeline, archived))
            return tell_unreadable(report.recording.source, report.tables)
        data[ARCHIVE] = partial(zip_of, archived)
    full, parts = bool(arguments.verbose or arguments.show), tuple(arguments.show) or PARTS
    deliver(
        arguments,
        files,
        lambda form: report_document(report, timeline if form == "html" else None, parts),
        data,
        brief=summary_document(report, more=not arguments.quiet),
        whole=full,
        verbose=full,
        more=_next_commands(report, entry.paths),
    )
    status = status_of(report, arguments.fail_on or request.settings.fail_on, quiet=arguments.quiet)
    # The text says so in its last lines.
    if status is ExitStatus.INCONCLUSIVE and arguments.format not in (None, "text") and not arguments.quiet:
        narrate('tracekit: inconclusive: no check could be evaluated; see "Not evaluated" in the report')
    return status


def _next_commands(report: Report, paths: Sequence[str]) -> str:
    """What to run next, with paths as they were typed where no report that is passed on would name a user."""
    one = len(paths) == 1 and "-" not in paths
    name = "explain" if not one else "stacks" if has_stacks_alone(report) else "view"
    return next_commands(report, command(name, *paths) if may_name(paths) else "")


def _run_several(arguments: Namespace, inputs: Sequence[Input]) -> ExitStatus:
    """A line for each recording; the whole reports with `-v`, as JSON, or in a folder."""
    refuse(arguments, "list", "is for one recording")
    refuse(arguments, "rows", "is for one recording")
    paths = [path for entry in inputs for path in entry.paths]
    files = files_of(arguments, paths)
    if ARCHIVE in files.values():
        raise UsageError(f"an archive holds one recording (got {len(inputs)}); write one for each")
    form, folder = form_of(arguments), None
    if arguments.folder is not None:
        folder, arguments.format = Path(arguments.folder), None
        check_folder(folder, paths)
    request = request_from(arguments)
    work = partial(
        _analyze_one, measured="json" in (form, *files.values()), drawn=folder is not None and form == "html"
    )
    # The number keeps recordings of one name apart.
    digits, ending = len(str(len(inputs))), ENDINGS[form][0] if folder is not None else ""
    stems = [re.sub(r"[^\w.-]+", "_", Path(source.name).stem) or "recording" for source in inputs]
    pages = [f"{number:0{digits}d}-{stem}{ending}" for number, stem in enumerate(stems, 1)]
    entries: list[Analyzed] = []
    for source, result in zip(inputs, results_of(work, inputs, NAME, arguments, request), strict=True):
        entry = result or Analyzed(source.name, None, PROCESS_DIED)
        if folder is not None and entry.report is not None:
            page = pages[len(entries)]
            beside = f"all {len(inputs)} recordings" if form == "html" else ""
            write_file(folder / page, report_file(entry.report, form, entry.timeline, beside=beside))
        # The lanes of many recordings take much memory, and are written by now.
        entries.append(replace(entry, timeline=None))
        if entry.report is not None and (arguments.verbose or arguments.show) and form == "text":
            document = report_document(entry.report, None, tuple(arguments.show) or PARTS)
            print_document(replace(document, more=_next_commands(entry.report, source.paths)), verbose=True)
    if folder is not None and form == "html":
        named = zip(entries, pages, strict=True)
        linked = [replace(entry, page=page if entry.report is not None else "") for entry, page in named]
        write_file(folder / INDEX, render(several_document(linked), form, width=FILE_WIDTH))
    deliver(arguments, files, lambda _: several_document(entries), {"json": lambda: _json_of(entries)}, verbose=False)
    fail_on = arguments.fail_on or request.settings.fail_on
    statuses = [
        ExitStatus.UNUSABLE if entry.report is None else status_of(entry.report, fail_on, quiet=True)
        for entry in entries
    ]
    if fail_on is not None and any(
        one.severity in SEVERITIES[: SEVERITIES.index(fail_on) + 1] for one in launches_among(entries)
    ):
        statuses.append(ExitStatus.GATE_FAILED)
    # What hides most comes first: a recording that could not be read may hold anything.
    order = (ExitStatus.UNUSABLE, ExitStatus.GATE_FAILED, ExitStatus.INCONCLUSIVE, ExitStatus.DONE)
    return min(statuses, key=order.index)


def _analyze_one(entry: Input, *, request: Request, measured: bool, drawn: bool) -> Analyzed:
    try:
        check_recordings(entry.paths)
        analysis = analysis_of(entry.paths, request)
        report = analysis.measured_report() if measured else analysis.report
        return Analyzed(entry.name, report, timeline=analysis.timeline() if drawn else None)
    except TracekitError as error:
        return Analyzed(entry.name, None, str(error))


def _json_of(entries: Sequence[Analyzed]) -> str:
    """The reports, for one that could not be read its name and the reason, and the launches that they show."""
    reports = [
        {"source": visible(one.name), "error": visible(one.error)} if one.report is None else to_dict(one.report)
        for one in entries
    ]
    launches = [to_dict(series) for series in launches_among(entries)]
    document = {"reports": reports, "launches": launches}
    return escape_json(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)) + "\n"


def status_of(report: Report, fail_on: str | None, *, quiet: bool = False) -> ExitStatus:
    """Exit status for a report. An incomplete result outweighs the gate: it may hide something worse."""
    if report.summary.errors:
        narrate(
            "tracekit: incomplete: a check ended with an error "
            f"({report.summary.errors} of {len(report.results)} answers); see NOT EVALUATED in the report"
        )
        return ExitStatus.UNUSABLE
    if tell_unreadable(report.recording.source, report.tables):
        return ExitStatus.UNUSABLE
    if not report.summary.says:
        return ExitStatus.INCONCLUSIVE
    if fail_on is not None and is_simulator(report.recording.platform):
        if not quiet:
            narrate(f"tracekit: inconclusive: {SIMULATOR}")
        return ExitStatus.INCONCLUSIVE
    severities = () if fail_on is None else SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    reached = [check for check in report.results if check.severity in severities]
    if reached and not quiet:
        ids = dict.fromkeys(check.id for check in reached)
        words = f"failed: {format_count(len(ids), 'finding')} at or above {severities[-1]}: {word_list(ids)}"
        health = list(dict.fromkeys(check.id for check in reached if check.pattern == Pattern.RECORDING))
        if health:
            words += f"; {word_list(health)}: about the recording, not the app; record again, or use --skip"
        narrate(f"tracekit: {words}")
    return ExitStatus.GATE_FAILED if reached else ExitStatus.DONE
