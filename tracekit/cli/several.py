"""Which recordings the paths of a command line mean, and reading several of them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.api import analysis_of
from tracekit.characters import visible
from tracekit.cli.ending import ExitStatus
from tracekit.cli.forms import deliver, form_of, holds, write_report
from tracekit.cli.output import emit, has_color, narrate, width
from tracekit.cli.reading import RUNNING, showing_progress, tell_done
from tracekit.cli.reports import status_of
from tracekit.cli.startup import let_go_of_recording
from tracekit.cli.workers import PROCESS_DIED, in_processes
from tracekit.documents.report import PARTS, report_document, report_file, summary_document
from tracekit.documents.several import Analyzed, several_document
from tracekit.errors import TracekitError, UsageError
from tracekit.recording import XctraceOptions
from tracekit.recording.places import check_usable, is_part_of_recording
from tracekit.render.forms import ENDINGS, FILE_WIDTH, rendered
from tracekit.report.serialize import to_json

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline
    from tracekit.request import Request

BUNDLE = ".trace"
ARCHIVES = (".zip",)
REPORT = ".json"


@dataclass(frozen=True, slots=True)
class Input:
    """The paths of one recording."""

    name: str
    paths: tuple[str, ...]


def inputs_of(paths: Sequence[str]) -> list[Input]:
    """The recordings that paths mean, in their order: each bundle, folder and archive is one, loose files are one
    together, and a folder of bundles is each of these."""
    loose = tuple(path for path in paths if not _is_recording(path))
    inputs: list[Input] = []
    for path in paths:
        if _is_recording(path):
            inputs += [Input(Path(each).name, (each,)) for each in (bundles_in(path) or [path])]
        elif all(entry.paths != loose for entry in inputs):
            inputs.append(Input(_name(loose), loose))
    return inputs


def _is_recording(path: str) -> bool:
    """Whether a path is a recording of its own, or several: not one file of an export."""
    try:
        return path != "-" and (Path(path).is_dir() or Path(path).suffix in (BUNDLE, *ARCHIVES))
    except (OSError, ValueError):
        return False


def bundles_in(path: str) -> list[str]:
    """Bundles directly in a folder that is none itself; empty for anything else."""
    return [entry for entry in _entries(path) if entry.endswith((BUNDLE, f"{BUNDLE}.zip"))]


def reports_in(path: str) -> list[str]:
    """JSON reports directly in a folder that holds no export; empty for anything else."""
    entries = _entries(path)
    return [] if any(entry.endswith(".xml") for entry in entries) else [e for e in entries if e.endswith(REPORT)]


def _entries(path: str) -> list[str]:
    """What lies in a folder that is no bundle, sorted; empty for anything else."""
    try:
        folder = Path(path)
        return sorted(map(str, folder.iterdir())) if folder.suffix != BUNDLE and folder.is_dir() else []
    except (OSError, ValueError):
        return []


def _name(loose: Sequence[str]) -> str:
    return "standard input" if list(loose) == ["-"] else Path(loose[0]).name


def analyze_all(
    inputs: Sequence[Input], request: Request, jobs: int, *, quiet: bool = False, form: str = "text"
) -> Iterator[Analyzed]:
    """The reports on several recordings, in their order, as soon as each is there; `jobs` are read at a time. One that
    cannot be read does not stop the others. `form` is the format that they are for. Shows how far it has come where a
    person is looking, unless `quiet`."""
    if jobs < 2 or len(inputs) < 2:
        for number, entry in enumerate(inputs, 1):
            with showing_progress(quiet, label=f"{number} of {len(inputs)}: {entry.name}:", then=RUNNING) as progress:
                analyzed = _analyze_one(entry, replace(request, progress=progress), form)
            let_go_of_recording()
            yield analyzed
        return
    work = partial(_analyze_one, request=request, form=form)
    for number, analyzed in enumerate(in_processes(work, inputs, jobs, _lost), 1):
        tell_done(analyzed.name, number, len(inputs), quiet)
        yield analyzed


def _lost(entry: Input) -> Analyzed:
    return Analyzed(entry.name, None, PROCESS_DIED)


def _analyze_one(entry: Input, request: Request, form: str) -> Analyzed:
    try:
        analysis = analysis_of(entry.paths, request)
        report = analysis.measured_report() if form == "json" else analysis.report
        return Analyzed(entry.name, report, timeline=analysis.timeline() if form == "html" else None)
    except TracekitError as error:
        return Analyzed(entry.name, None, str(error))


def run_several(arguments: Namespace, inputs: Sequence[Input], request: Request) -> ExitStatus:
    """A line for each recording; the whole reports with `-v`, in another format, or in a folder with `-o`."""
    if arguments.jobs > 1:
        # Messages cannot come from another process.
        request = replace(request, xctrace=XctraceOptions(arguments.timeout))
    if arguments.format == "html" and not arguments.output:
        raise UsageError("--format html: several recordings make several files; add -o FOLDER")
    folders = [_folder(Path(path), inputs) for path in arguments.output]
    entries: list[Analyzed] = []
    form = arguments.format or "text"
    for entry in analyze_all(inputs, request, arguments.jobs, quiet=arguments.quiet, form=form):
        for folder in folders:
            _write_into(folder, entry, form, len(entries) + 1, len(inputs))
        # The lanes of many recordings take much memory, and are written by now.
        entries.append(replace(entry, timeline=None))
        if entry.report is not None and (arguments.verbose or arguments.show):
            print_report(entry.report, arguments)
    if arguments.format == "json" and not folders:
        _print_json(entries)
    elif arguments.format == "markdown" and not folders:
        _print_markdown(entries)
    else:
        document, color = several_document(entries), has_color()
        emit(rendered(document, "text", width=width(FILE_WIDTH), color=color, verbose=False), styled=color)
    fail_on = arguments.fail_on or request.settings.fail_on
    statuses = [_status(entry, fail_on) for entry in entries]
    # What hides most comes first: a recording that could not be read may hold anything.
    order = (ExitStatus.UNUSABLE, ExitStatus.GATE_FAILED, ExitStatus.INCONCLUSIVE, ExitStatus.DONE)
    return min(statuses, key=order.index)


def _status(entry: Analyzed, fail_on: str | None) -> ExitStatus:
    if entry.report is None:
        return ExitStatus.UNUSABLE
    return status_of(entry.report, fail_on, quiet=True)


def _folder(path: Path, inputs: Sequence[Input]) -> Path:
    """A folder for the reports of several recordings, made where it is missing. Raises `UsageError`."""
    check_usable(path)
    if path.exists() and not path.is_dir():
        raise UsageError(f"cannot write {path}: several recordings need a folder, not a file")
    if any(holds(is_part_of_recording, path, [each]) for entry in inputs for each in entry.paths if each != "-"):
        raise UsageError(f"cannot write into {path}: it is a recording; choose another folder")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TracekitError(f"cannot create folder {path}: {error.strerror or error}") from error
    return path


def _write_into(folder: Path, entry: Analyzed, form: str, number: int, count: int) -> None:
    """Write one report; the number in its name keeps recordings of one name apart."""
    if entry.report is None:
        return
    stem = re.sub(r"[^\w.-]+", "_", Path(entry.name).stem) or "recording"
    digits = len(str(count))
    name = f"{number:0{digits}d}-{stem}{ENDINGS[form][0]}"
    write_report(folder / name, report_file(entry.report, form, entry.timeline))


def _print_json(entries: Sequence[Analyzed]) -> None:
    """A list of the reports; for one that could not be read, its name and the reason."""
    parts = [to_json(entry.report) if entry.report is not None else _unreadable(entry) for entry in entries]
    emit("[\n" + ",\n".join(part.rstrip("\n") for part in parts) + "\n]\n", utf8=True)


def _unreadable(entry: Analyzed) -> str:
    return json.dumps({"source": visible(entry.name), "error": visible(entry.error)}, ensure_ascii=False, indent=2)


def _print_markdown(entries: Sequence[Analyzed]) -> None:
    for entry in entries:
        if entry.report is None:
            narrate(f"tracekit: {entry.name}: {entry.error}")
        else:
            emit(report_file(entry.report, "markdown") + "\n")


def print_report(
    report: Report, arguments: Namespace, timeline: Timeline | None = None, *, summary_only: bool = False
) -> None:
    """The report on standard output, in the form and as much of it as the arguments of `analyze` ask for; `timeline` is
    for a form that draws it."""
    form, show = form_of(arguments), arguments.show
    full = arguments.verbose or show
    if form == "text" and not full and (arguments.quiet or summary_only):
        document = summary_document(report, more=not arguments.quiet)
    else:
        document = report_document(report, timeline, show or PARTS)
    deliver(form, {}, lambda _: document, {"json": lambda: to_json(report)}, verbose=bool(full))
