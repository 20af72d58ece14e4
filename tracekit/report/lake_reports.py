"""Where a lake of recordings keeps their JSON reports. Imports nothing that a command without a lake needs."""

from __future__ import annotations

from os.path import realpath
from pathlib import Path
from typing import Final

from tracekit.errors import UnreadableRecording, UsageError

MARK: Final = "tracekit-lake.json"
"""The file that makes a folder a lake; it says the version of the views."""
REPORTS: Final = "reports"
RUNS: Final = "runs"


def is_lake(path: Path) -> bool:
    """Whether a folder is a lake."""
    try:
        return (path / MARK).is_file()
    except (OSError, ValueError):
        return False


def runs_in(lake: Path) -> set[str]:
    """Ids of the recordings of a lake."""
    return {run.stem for run in (lake / RUNS).glob("*.parquet")}


def report_of(lake: Path, run_id: str) -> str:
    """The JSON report of a recording of a lake. Raises `UnreadableRecording` where a link, or the id, leads out of its
    folder: a lake from elsewhere may not choose which files are read."""
    report = lake / REPORTS / f"{run_id}.json"
    if "\0" in str(report) or realpath(report) != str(lake.resolve() / REPORTS / report.name):
        raise UnreadableRecording(f"{lake}: a report leads out of the folder {REPORTS}; add its recording again")
    return str(report)


def reports_in_lake(path: str) -> list[str]:
    """The JSON reports of a lake, sorted; empty for anything else. Raises `UsageError` for a lake without any."""
    lake = Path(path)
    reports = sorted(report_of(lake, run) for run in runs_in(lake)) if is_lake(lake) else []
    if not reports and is_lake(lake):
        raise UsageError(f"{path} holds no recording; add one: tracekit lake add {path} run.trace")
    return reports
