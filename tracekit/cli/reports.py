"""What commands do with a report: print it, write it, and turn it into an exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.cli.command import ExitStatus
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Collection, Iterable, Sequence
    from pathlib import Path

    from tracekit.report.report import Report, Result
    from tracekit.report.timeline import Timeline
    from tracekit.trace.unreadable import Listed


LARGE_BYTES = 20_000_000
"""From this size on a file is said to be large: mail and chat refuse such files (heuristic)."""


def print_report(
    report: Report, arguments: Namespace, timeline: Timeline | None = None, *, summary_only: bool = False
) -> None:
    """The report on standard output, in the format and as much of it as the arguments of `analyze` ask for; `timeline`
    is for a format that draws it."""
    from tracekit.cli.output import emit, has_color
    from tracekit.report.renderers.formats import RENDERERS

    if arguments.format in (None, "text"):
        emit(_text(report, arguments, summary_only), styled=has_color())
    else:
        emit(RENDERERS[arguments.format].document(report, timeline), utf8=arguments.format in ("json", "html"))


def _text(report: Report, arguments: Namespace, summary_only: bool) -> str:
    """Text for standard output, as wide and as colorful as it allows."""
    from tracekit.cli.output import has_color, width
    from tracekit.report.renderers.concise import render_concise, render_summary
    from tracekit.report.renderers.text import PARTS, render_text
    from tracekit.report.renderers.text_layout import FILE_WIDTH

    columns, color = width(FILE_WIDTH), has_color()
    if arguments.verbose or arguments.show:
        show = arguments.show or PARTS
        return render_text(report, width=columns, color=color, verbose=arguments.verbose, show=show)
    if arguments.quiet or summary_only:
        return render_summary(report, width=columns, color=color, more=not arguments.quiet)
    return render_concise(report, width=columns, color=color)


def check_output(path: Path, inputs: Sequence[str]) -> None:
    """Raise `UsageError` for a file that cannot be written, or that is part of the recording."""
    from tracekit.recording.places import check_usable, is_part_of_recording

    check_usable(path)
    if path.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder")
    if not path.parent.is_dir():
        raise UsageError(f"cannot write {path}: no such folder: {path.parent}")
    if holds(is_part_of_recording, path, inputs):
        raise UsageError(f"cannot write {path}: it is part of the recording; choose another file")


def holds(rule: Callable[[Path, Sequence[str]], bool], path: Path, inputs: Sequence[str]) -> bool:
    """Whether a rule of `tracekit.recording.places` holds for a path to write and the inputs."""
    try:
        return rule(path, inputs)
    except (OSError, ValueError, RuntimeError):
        # What is wrong with an input is reported where it is read.
        return False


def write_report(path: Path, text: str) -> int:
    """Write a report file; one that is there is replaced when the new one is complete. Returns its size in bytes."""
    from tracekit.recording.writing.files import complete_file

    # A link stays one: what it leads to is written.
    data = text.encode("utf-8", "backslashreplace")
    with complete_file(path.resolve()) as stream:
        stream.write(data)
    return len(data)


def size_words(size: int) -> str:
    """What to say of the size of a file, in bytes; empty where it is usual."""
    return f" ({size / 1e6:,.0f} MB; to make it smaller, record for a shorter time)" if size > LARGE_BYTES else ""


def status_of(report: Report, fail_on: str | None, *, quiet: bool = False) -> ExitStatus:
    """Exit status for a report. An incomplete result outweighs the gate: it may hide something worse."""
    from tracekit.cli.output import narrate

    if report.summary.errors:
        narrate(
            "tracekit: incomplete: a check ended with an error "
            f"({report.summary.errors} of {len(report.results)} answers); see NOT EVALUATED in the report"
        )
        return ExitStatus.UNUSABLE
    if tell_unreadable(report.recording.source, report.tables):
        return ExitStatus.UNUSABLE
    if not report.summary.evaluated:
        return ExitStatus.INCONCLUSIVE
    reached = reached_checks(report, fail_on)
    if reached and fail_on is not None:
        if not quiet:
            narrate(f"tracekit: {_gate_words(reached, fail_on)}")
        return ExitStatus.GATE_FAILED
    return ExitStatus.DONE


def tell_unreadable(source: str, tables: Iterable[Listed], schemas: Collection[str] | None = None) -> bool:
    """Name the tables of a recording that could not be read on standard error; whether there are any. Those of an
    instrument count, or of the given schemas."""
    from tracekit.cli.output import narrate
    from tracekit.trace.unreadable import unreadable

    clauses = unreadable(tables) if schemas is None else unreadable(tables, schemas)
    for clause in clauses:
        narrate(f"tracekit: {source}: {clause}")
    return bool(clauses)


def reached_checks(report: Report, fail_on: str | None) -> list[Result]:
    """Findings of this severity or worse; none without a gate."""
    from tracekit.report.totals import SEVERITIES

    if fail_on is None:
        return []
    severities = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return [check for check in report.results if check.severity in severities]


def _gate_words(reached: Sequence[Result], fail_on: str) -> str:
    """Which findings made the gate fail, and which of them say nothing of the app."""
    from tracekit.detectors.patterns import Pattern
    from tracekit.report.formatting import listed
    from tracekit.units import format_count

    ids = dict.fromkeys(check.id for check in reached)
    words = f"failed: {format_count(len(ids), 'finding')} at or above {fail_on}: {listed(ids)}"
    health = list(dict.fromkeys(check.id for check in reached if check.pattern == Pattern.RECORDING))
    if health:
        words += f"; {listed(health)}: about the recording, not the app; record again, or use --skip"
    return words
