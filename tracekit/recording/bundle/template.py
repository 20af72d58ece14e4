"""Run information from `form.template`, the keyed archive that holds everything a table of contents says of a run.

It is missing from bundles that were stored without it. Device names, arguments and the environment are private; the
environment is not read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tracekit.recording.bundle import limits
from tracekit.recording.bundle.archive import read_archive
from tracekit.recording.bundle.values import TargetNames
from tracekit.recording.contents import Device, Run, Target
from tracekit.recording.table import Process

if TYPE_CHECKING:
    from tracekit.recording.bundle.archive import KeyedArchive
    from tracekit.recording.bundle.files import BundleFiles

PATH: Final = "form.template"
NO_REFERENCE: Final = 0xFFFF_FFFF
"""Reference of a process that no table refers to."""


@dataclass(frozen=True, slots=True)
class RunInformation:
    """What the archive states of one run."""

    run: Run
    """Without dates, issues and tables."""
    names: TargetNames = field(default_factory=lambda: TargetNames({}, frozenset()))
    start_ns: int | None = None
    """ns since 1970."""


def read_information(files: BundleFiles) -> dict[int, RunInformation]:
    """Information by number of the run; empty where the file is missing. Raises `DamageError` for a broken file."""
    if PATH not in files.sizes:
        return {}
    archive = read_archive(files.read(PATH, limits.MAX_TEMPLATE_BYTES), f"'{PATH}'")
    listed = archive.mapping(archive.top.get("com.apple.xray.run.data"))
    runs = archive.mapping(listed.get("$1"))
    information = {}
    for number, reference in runs.items():
        run = archive.mapping(reference)
        if isinstance(number, int) and archive.value(run.get("runInfo")) is not None:
            information[number] = _information(archive, number, run)
    return information


def _information(archive: KeyedArchive, number: int, run: dict[object, object]) -> RunInformation:
    info = archive.mapping(run.get("runInfo"))

    def text(key: str) -> str | None:
        return archive.text(info.get(key))

    status = text("_targetExitStatus")
    recorded = Run(
        number,
        device=_device(archive, info, "_target") or Device(),
        host=_device(archive, info, "_host"),
        target=Target(
            process=_process(archive, info),
            arguments=text("_arguments"),
            termination_reason=None if status is None else f"exit({status})",
        ),
        duration_ns=archive.number(run.get("runningTime")),
        end_reason=text("_endReason"),
        instruments_version=text("_instrumentVersion"),
        template=text("_templateName"),
        recording_mode=text("_recordingMode"),
        time_limit=text("_timeLimit"),
    )
    return RunInformation(recorded, _names(archive, run), archive.number(run.get("startTime")))


def _device(archive: KeyedArchive, info: dict[object, object], side: str) -> Device | None:
    texts = [archive.text(info.get(side + key)) for key in ("Platform", "Model", "OperatingSystem", "Name", "UUID")]
    return Device(*texts) if any(texts) else None


def _process(archive: KeyedArchive, info: dict[object, object]) -> Process | None:
    name, pid = archive.text(info.get("_targetProcessName")), archive.number(info.get("_targetProcessPid"))
    return None if name is None and pid is None else Process(name or f"pid {pid}", pid)


def _names(archive: KeyedArchive, run: dict[object, object]) -> TargetNames:
    """Names of processes and main threads by reference: `coreValueSignature` is the reference of a shared array."""
    processes = {}
    main_threads = set()
    if archive.value(run.get("processDatas")) is not None:
        for item in archive.items(run["processDatas"]):
            entry = archive.mapping(item)
            reference, name = archive.number(entry.get("coreValueSignature")), archive.text(entry.get("displayName"))
            if reference is not None and name is not None:
                processes[reference] = name
    if archive.value(run.get("threadsByTID")) is not None:
        for item in archive.mapping(run["threadsByTID"]).values():
            entry = archive.mapping(item)
            reference, name = archive.number(entry.get("coreValueSignature")), archive.text(entry.get("preferredName"))
            if reference is not None and name is not None and name.startswith("Main Thread"):
                main_threads.add(reference)
    processes.pop(NO_REFERENCE, None)
    return TargetNames(processes, frozenset(main_threads))
