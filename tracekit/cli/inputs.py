"""Which recordings the paths of a command line mean, and which command takes what is none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tracekit.errors import UsageError
from tracekit.recording.sources import is_bundle
from tracekit.report.lake_reports import reports_in_lake

BUNDLE = ".trace"
ARCHIVES = (".zip",)
REPORT = ".json"
MODELS = (".mlpackage", ".mlmodel", ".mlmodelc")
_SNIFFED = 4_000
"""Bytes of a file that say what it is."""
_MEMBER_NAME, FIRST_MEMBER = 30, b"report.md"
"""Where the name of the first member stands in an archive, and which it is in one of findings."""


@dataclass(frozen=True, slots=True)
class Input:
    """The paths of one recording."""

    name: str
    paths: tuple[str, ...]


def inputs_of(paths: Sequence[str]) -> list[Input]:
    """The recordings that paths mean, in their order: each bundle, folder and archive is one, loose files are one
    together, and a folder of recordings is each of these."""
    loose = tuple(path for path in paths if not _is_recording(path))
    inputs: list[Input] = []
    for path in paths:
        if _is_recording(path):
            inputs += [Input(Path(each).name, (each,)) for each in (_recordings_in(path) or [path])]
        elif all(entry.paths != loose for entry in inputs):
            name = "standard input" if list(loose) == ["-"] else Path(loose[0]).name
            inputs.append(Input(name, loose))
    return inputs


def recordings_in(*paths: str) -> list[str]:
    """The recordings that paths mean: those in a folder, else the JSON reports in it, or in the
    lake that it is, else the path itself."""
    return [
        recording
        for path in paths
        for recording in (reports_in_lake(path) or _recordings_in(path) or _reports_in(path) or [path])
    ]


def _is_recording(path: str) -> bool:
    """Whether a path is a recording of its own, or several: not one file of an export."""
    try:
        return path != "-" and (Path(path).is_dir() or Path(path).suffix in (BUNDLE, *ARCHIVES))
    except (OSError, ValueError):
        return False


def is_recording(path: Path) -> bool:
    """Whether something in a folder is a recording by its look: a bundle, a folder with exported XML, or an archive."""
    try:
        # Hidden names are those of copies that are not complete.
        if path.name.startswith("."):
            return False
        if path.is_dir():
            return is_bundle(path) or any(entry.suffix == ".xml" for entry in path.iterdir())
        return path.suffix in (BUNDLE, *ARCHIVES) and path.is_file() and not _is_own_archive(path)
    except OSError:
        return False


def _is_own_archive(path: Path) -> bool:
    """Whether a file is what `tracekit analyze -o findings.zip` wrote: its first member is the report."""
    with path.open("rb") as stream:
        return path.suffix in ARCHIVES and stream.read(_MEMBER_NAME + len(FIRST_MEMBER))[_MEMBER_NAME:] == FIRST_MEMBER


def _recordings_in(path: str) -> list[str]:
    """Recordings directly in a folder that is none itself; empty for anything else."""
    entries = _entries(path)
    is_export = any(entry.endswith(".xml") for entry in entries)
    return [entry for entry in entries if is_recording(Path(entry)) and (not is_export or entry.endswith(BUNDLE))]


def _reports_in(path: str) -> list[str]:
    """JSON reports directly in a folder that holds no export; empty for anything else."""
    entries = _entries(path)
    return [] if any(entry.endswith(".xml") for entry in entries) else [e for e in entries if e.endswith(REPORT)]


def _entries(path: str) -> list[str]:
    """What lies in a folder that is no bundle or model, sorted; empty for anything else."""
    try:
        folder = Path(path)
        takes = folder.suffix not in (BUNDLE, *MODELS) and folder.is_dir()
        return sorted(map(str, folder.iterdir())) if takes else []
    except (OSError, ValueError):
        return []


def check_recordings(paths: Iterable[str], *, reports: bool = False) -> None:
    """Raise `UsageError` for a path that another command takes, such as a model file. `reports`: JSON reports and
    performance reports are taken here, or refused in words of their own."""
    taken = (_RECORDING, _REPORT, _PERFORMANCE) if reports else (_RECORDING,)
    for path in paths:
        _check(path, taken)


def check_model(path: str) -> None:
    """Raise `UsageError` for a path that is neither model nor performance report, where another command takes it."""
    _check(path, (_MODEL, _PERFORMANCE))


_RECORDING, _MODEL = "a recording; use `tracekit analyze {}`", "a model file; use `tracekit inspect {}`"
_BASELINE = "a baseline; use `tracekit check RECORDING --baseline {}`"
_REPORT = "a JSON report, which `tracekit compare`, `check` and `matrix` take in place of its recording"
_MODEL_REPORT = "a JSON report on a model file, which no command reads"
_FINDINGS = "an archive of findings, which no command reads; pass the recording that it is about"
_PERFORMANCE = "a performance report; use `tracekit inspect {}`"


def _check(path: str, taken: Collection[str]) -> None:
    try:
        kind = _kind(Path(path))
    except (OSError, ValueError):
        # What is wrong with a path is reported where it is read.
        return
    if kind is not None and kind not in taken:
        raise UsageError(f"{Path(path).name} is {kind.format(path)}")


def _kind(file: Path) -> str | None:
    """What is at a path; None where that cannot be told, or nothing is there. Raises OSError, ValueError."""
    if not file.exists():
        return None
    if file.suffix in MODELS:
        return _MODEL
    if file.suffix in (BUNDLE, ".xml") or (file.is_dir() and any(file.glob("*.xml"))):
        return _RECORDING
    if not file.is_file():
        return None
    if _is_own_archive(file):
        return _FINDINGS
    if file.suffix != REPORT:
        return None
    with file.open("rb") as stream:
        beginning = stream.read(_SNIFFED).decode("utf-8", "replace")
    if beginning.lstrip("{\n ").startswith('"anchored"'):
        return _BASELINE
    for mark, kind in (("report", _REPORT), ("model", _MODEL_REPORT), ("performance", _PERFORMANCE)):
        if f'"urn:tracekit:{mark}:' in beginning:
            return kind
    # Few files are asked, and most commands need none of this.
    from tracekit.model_files.performance.read import report_in
    from tracekit.model_files.untrusted import MAX_TEXT_BYTES, UnreadableModel, read_bytes

    try:
        return None if report_in(read_bytes(file, MAX_TEXT_BYTES), file) is None else _PERFORMANCE
    except UnreadableModel:
        return None
