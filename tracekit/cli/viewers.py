"""What `tracekit export` does for other viewers: one file with the timeline and the findings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.command import ExitStatus
from tracekit.cli.inputs import xctrace_options
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from argparse import Namespace

    from tracekit.api import Analysis


def export_timeline(arguments: Namespace) -> ExitStatus:
    """Write the file, and open it where that is wanted."""
    from tracekit.cli.output import narrate
    from tracekit.cli.reports import check_output, size_words, tell_unreadable
    from tracekit.recording.writing.files import complete_file
    from tracekit.report.viewers.registry import VIEWERS
    from tracekit.report.viewers.tracks import tracks_of
    from tracekit.units import format_count

    if arguments.schema:
        raise UsageError(f"--schema chooses tables, and --format {arguments.format} writes the timeline; drop one")
    write = VIEWERS[arguments.format]()
    path = Path(arguments.output)
    check_output(path, arguments.path)
    analysis = _analysis(arguments)
    tracks = tracks_of(analysis.report, analysis.timeline())
    # A link stays one: what it leads to is written.
    with complete_file(path.resolve()) as stream:
        write(tracks, stream)
    if not arguments.quiet:
        count = format_count(sum(len(track.starts) for track in tracks.slices), "interval")
        narrate(f"tracekit: wrote {path} with {count}{size_words(path.stat().st_size)}")
    if arguments.open:
        from tracekit.cli.opening import open_in_perfetto

        open_in_perfetto(path)
    unread = tell_unreadable(analysis.report.recording.source, analysis.report.tables)
    return ExitStatus.UNUSABLE if unread else ExitStatus.DONE


def _analysis(arguments: Namespace) -> Analysis:
    """What the file shows: findings by the config file that applies here, as `tracekit analyze` has them."""
    from tracekit.api import analysis_of
    from tracekit.cli.progress import RUNNING, showing_progress
    from tracekit.config_file import find_config

    with showing_progress(arguments.quiet, then=RUNNING) as progress:
        return analysis_of(
            arguments.path,
            run=arguments.run,
            config=find_config(Path.cwd()),
            redact=not arguments.no_redact,
            # No viewer gets call stacks.
            functions=False,
            reader=arguments.reader,
            xctrace=xctrace_options(arguments, quiet=arguments.quiet),
            progress=progress,
        )
