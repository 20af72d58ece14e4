"""`tracekit history PATH...`: recordings and reports as series of builds; `--add-to` keeps them in a file."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from os.path import relpath
from pathlib import Path
from textwrap import indent
from urllib.parse import quote

from tracekit.cli.forms import check_output, deliver, files_of
from tracekit.cli.measuring import measure_all
from tracekit.cli.options import refuse
from tracekit.cli.output import narrate, tell
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import REPORT, recordings_in
from tracekit.cli.requests import request_from
from tracekit.comparison.comparison import compare
from tracekit.comparison.history import History, Recorded, history_of, launched_of, recorded_of
from tracekit.comparison.history_file import ENDING, REF, add_to_history, is_history, read_history
from tracekit.comparison.launches import launches_of
from tracekit.comparison.measurements import Measurements
from tracekit.comparison.renderers.tables import render_history_csv
from tracekit.documents.comparison import comparison_document
from tracekit.documents.history import history_document
from tracekit.errors import Inconclusive, TracekitError, unknown
from tracekit.grouping import grouped
from tracekit.render.blocks import plain as words
from tracekit.report.choice import matching_any, plain
from tracekit.report.serialize import to_json
from tracekit.units import format_count


def run(arguments: Namespace) -> ExitStatus:
    """Show the series, or add the recordings to a file."""
    files = files_of(arguments, arguments.path)
    if arguments.add_to is not None:
        return _add(arguments, arguments.add_to)
    recordings, problems, measured = _recorded_in(arguments.path, arguments)
    if not recordings and problems:
        raise _worst(problems)
    for problem in problems if files or arguments.format == "csv" else ():
        # What is printed has no notes then.
        narrate(f"tracekit: {problem}")
    history = history_of(recordings, notes=[*map(str, problems), *_of_two_builds(recordings, measured)])
    kept = {one.identity: one for one in measured}
    launches = launches_of([*measured, *(launched_of(one) for one in recordings if one.identity not in kept)])
    history = replace(history, launches=launches)
    page = next((path.parent for path, form in files.items() if form == "html"), Path())
    data = {"json": lambda: _json_of(history), "csv": lambda: render_history_csv(history)}
    deliver(arguments, files, lambda form: history_document(history, form, partial(_link, page)), data)
    if problems:
        return ExitStatus.INCONCLUSIVE if isinstance(_worst(problems), Inconclusive) else ExitStatus.UNUSABLE
    return ExitStatus.DONE


def _of_two_builds(recordings: Sequence[Recorded], measured: Sequence[Measurements]) -> list[str]:
    """What `compare` says of two builds, which are too few for a change point; nothing of more or less."""
    if len(measured) < len(recordings):
        # A history file keeps figures, and no latencies to compare.
        two = len({one.commit or id(one) for one in recordings}) == 2
        return ["Two builds: give their recordings, or `tracekit compare` them."] if two else []
    # As in the history, a recording counts once.
    distinct = {one.identity or id(one): (one, what) for one, what in zip(recordings, measured, strict=True)}
    ordered = sorted(distinct.values(), key=lambda build: build[0].time)
    builds = list(grouped((one.commit or id(one), what) for one, what in ordered).values())
    if len(builds) != 2:
        return []
    return [f"Before and after, as tracekit compare says: {words(comparison_document(compare(*builds)).verdict)}"]


def _worst(problems: Sequence[TracekitError]) -> TracekitError:
    """The last one, of those that are not merely inconclusive where there are any."""
    return next((one for one in reversed(problems) if not isinstance(one, Inconclusive)), problems[-1])


def _json_of(history: History) -> str:
    """The history as JSON, one series after another: all of them at a time would take twice the memory."""
    before, after = to_json(replace(history, series=())).split('"series": []')
    parts = (indent(to_json(series).rstrip("\n"), "    ") for series in history.series)
    listed = ",\n".join(parts)
    return f'{before}"series": [\n{listed}\n  ]{after}' if listed else f'{before}"series": []{after}'


def _add(arguments: Namespace, name: str) -> ExitStatus:
    """Add to the file, or to notes, what is not there; nothing, unless all could be read."""
    refuse(arguments, "output open format json", "is for what is shown; --add-to only adds")
    in_notes, folder = name.startswith(REF), Path(name).parent
    if not in_notes:
        check_output(Path(name), arguments.path)
    if not is_history(name):
        # It could not be told from a recording later.
        raise TracekitError(f"{name}: the name of a history file ends in {ENDING}, that of git notes begins with {REF}")
    recordings, problems, _ = _recorded_in(arguments.path, arguments)
    if problems:
        raise _worst(problems)
    # A path that leads out of the folder may name a user.
    kept = [replace(one, report="" if in_notes else _address(one.report, folder, folder)) for one in recordings]
    added = add_to_history(name, kept)
    already = f" ({len(recordings) - added:,} in it already)" if added < len(recordings) else ""
    tell(arguments, f"added {format_count(added, 'recording')} to {name}{already}")
    return ExitStatus.DONE


def _address(report: str, folder: Path, within: Path) -> str:
    """The path of a report from a folder; empty where it is not within another one."""
    inside = report and Path(report).resolve().is_relative_to(within.resolve())
    return Path(relpath(report, folder)).as_posix() if inside else ""


def _link(page: Path, report: str) -> str:
    """The address of a report from the folder of a page: its HTML beside the JSON where there is one. Empty outside of
    the current folder, where it would name a user."""
    if not page.resolve().is_relative_to(Path.cwd()):
        return ""
    beside = Path(report).with_suffix(".html") if report else Path()
    return quote(_address(str(beside) if beside.is_file() else report, page, Path()))


def _recorded_in(
    paths: Sequence[str], arguments: Namespace
) -> tuple[list[Recorded], list[TracekitError], list[Measurements]]:
    """What a history keeps of recordings, reports and the lines of history files, what is wrong with each that does not
    count, and what was measured of the first two. Raises `TracekitError` for a history file that is not there."""
    recordings, problems, measured = [], list[TracekitError](), []
    for path in paths:
        if is_history(path):
            lines, broken = read_history(path)
            recordings += lines
            problems += map(TracekitError, broken)
    others = recordings_in(*(path for path in paths if not is_history(path)))
    for entry in measure_all(others, arguments, request_from(arguments), real=True) if others else ():
        problems += map(Inconclusive if entry.inconclusive else TracekitError, map(plain, entry.problems))
        if entry.measurements is not None:
            if entry.measurements.limited:
                narrate(f"tracekit: {entry.measurements.source}: {entry.measurements.limited}")
            measured.append(entry.measurements)
            report = entry.path if entry.path.endswith(REPORT) else ""
            modified = Path(entry.path).stat().st_mtime
            recordings.append(recorded_of(entry.measurements, modified, arguments.commit, report))
    if arguments.models:
        names = sorted({model for one in recordings for model in one.models})
        wanted = matching_any(names, arguments.models, lambda pattern: unknown("model", pattern, names))
        kept = ({name: each for name, each in one.models.items() if name in wanted} for one in recordings)
        recordings = [replace(one, models=models) for one, models in zip(recordings, kept, strict=True)]
    return recordings, problems, measured
