"""`tracekit lake add LAKE PATH...`: recordings into a folder of Parquet files."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.api import Analysis, judge
from tracekit.cli.ending import ExitStatus
from tracekit.cli.inputs import check_recordings, recordings_in
from tracekit.cli.measuring import sentence_on
from tracekit.cli.output import narrate
from tracekit.cli.requests import request_from, results_of
from tracekit.cli.workers import PROCESS_DIED
from tracekit.errors import UnreadableRecording, unknown
from tracekit.query.database import RecordingViews
from tracekit.query.lake import add_to_lake, holds, make_lake
from tracekit.query.views import Source
from tracekit.report.choice import plain
from tracekit.report.lake_reports import runs_in
from tracekit.request import read_trace
from tracekit.trace.identity import identity_of
from tracekit.units import format_count

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.request import Request


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a recording."""

    run_id: str | None
    error: str = ""
    """Why it was skipped, in one sentence."""


def run(arguments: Namespace) -> ExitStatus:
    """Add recordings, and name each that is skipped."""
    lake = Path(arguments.lake).resolve()
    make_lake(lake)
    paths = recordings_in(*arguments.path)
    work = partial(_add_one, folder=Path.cwd(), lake=lake, app_version=arguments.app_version)
    # A worker that died may have added what another one then finds there.
    before, new, known, skipped = runs_in(lake), set[str | None](), 0, 0
    for added in results_of(work, paths, lambda path: Path(path).name, arguments, request_from(arguments), _lost):
        if added.error:
            skipped += 1
            narrate(f"tracekit: skipped: {plain(added.error)}")
        elif added.run_id in before | new:
            known += 1
        else:
            new.add(added.run_id)
    if not arguments.quiet:
        others = [f"{known:,} in it already"] * bool(known) + [f"{skipped:,} skipped"] * bool(skipped)
        more = f" ({', '.join(others)})" if others else ""
        narrate(f"tracekit: added {format_count(len(new), 'recording')} to {arguments.lake}{more}")
    return ExitStatus.UNUSABLE if skipped else ExitStatus.DONE


def _lost(path: str) -> Added:
    return Added(None, f"{path}: {PROCESS_DIED}")


def _add_one(path: str, *, request: Request, folder: Path, lake: Path, app_version: str | None) -> Added:
    """Add one recording, unless it is there. Whatever goes wrong is part of the result, so that the others go on."""
    where = str(folder / path)
    try:
        check_recordings([where])
        trace = read_trace(where, request)
        run_id = identity_of(trace)
        if run_id is None:
            raise UnreadableRecording(f"{path} has neither a date nor a row, so it cannot be told from others")
        if not holds(lake, run_id):
            report = judge(trace, request, None)
            views = RecordingViews(Source(trace, lambda: report), _no_table, request.redact, request.functions)
            add_to_lake(lake, run_id, views, Analysis(trace, None, report).measured_report(), app_version)
        return Added(run_id)
    except Exception as error:  # one recording that breaks tracekit must not stop the rest
        return Added(None, sentence_on(error, path, where))


def _no_table(schema: str) -> pd.DataFrame:
    raise unknown("table", schema, {})
