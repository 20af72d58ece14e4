"""What lies where in a bundle: requirements, runs, and the tables of a run.

X.trace/
  open.creq                     what a reader must know of, with the mnemonics of the engineering types
  form.template                 run information; often missing
  TraceN.run/                   run issues; the raw stream of a recording that was not finished
  instrument_data/              one file per instrument and run
  corespace/runN/core/          tables and values of run N; corespace/currentRun is a mold and holds nothing
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tracekit.errors import UnreadableRecording
from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.bundle.archive import PrintedAttributes, read_archive, read_plist
from tracekit.recording.bundle.files import BundleFiles
from tracekit.recording.bundle.rows import with_row_damage
from tracekit.recording.bundle.run_metadata import PATH as TEMPLATE, read_information
from tracekit.recording.bundle.stores import READABLE_TOPOLOGIES, Store, TableSpec, cache_small, describe, read_spec
from tracekit.recording.quoting import excerpt, quote_name

KNOWN_VERSION: Final = 5
"""Version of the document format that the facts were taken from."""
_OLD_TOPOLOGIES: Final = frozenset({"XRT50_C22_TypeID", "XRTD50_CC22_R_TypeID"})
_RUN: Final = re.compile(r"run([1-9][0-9]{0,5})", re.ASCII)
_RUN_FOLDER: Final = re.compile(r"Trace([1-9][0-9]{0,5})\.run", re.ASCII)
_STORE: Final = re.compile(r"run[0-9]{1,6}/core/stores/indexed-store-([0-9]{1,6})", re.ASCII)
_MNEMONIC: Final = re.compile(r"'([^']{1,80})'\.?$")
_TOPOLOGY_KEY: Final = "com.apple.dt.ac.topology."
_TYPE_KEY: Final = "com.apple.dt.etype."


@dataclass(frozen=True, slots=True)
class Requirements:
    """What the document says a reader must know of."""

    version: int | None
    topologies: frozenset[str]
    mnemonics: Mapping[str, str]
    """Mnemonic of each type id."""


def core_of(run: int) -> str:
    """Folder of the tables and values of a run."""
    return f"corespace/run{run}/core"


def read_requirements(files: BundleFiles) -> Requirements:
    """The requirements; empty ones where the file is missing or broken, since every table is checked by itself."""
    try:
        return _requirements(files.read("open.creq", limits.MAX_DESCRIPTION_BYTES))
    except DamageError:
        return Requirements(None, frozenset(), {})


@cache_small
def _requirements(data: bytes) -> Requirements:
    requirements = read_plist(data, "'open.creq'")
    listed = requirements.items() if isinstance(requirements, dict) else ()
    entries = {key: value for key, value in listed if isinstance(key, str)}
    version = _requirement(entries.get("com.apple.dt.trace"))[0]
    topologies = frozenset(key.removeprefix(_TOPOLOGY_KEY) for key in entries if key.startswith(_TOPOLOGY_KEY))
    mnemonics = {
        key.removeprefix(_TYPE_KEY): match[1]
        for key, value in entries.items()
        if key.startswith(_TYPE_KEY) and (match := _MNEMONIC.search(_requirement(value)[1]))
    }
    return Requirements(version, topologies, mnemonics)


def _requirement(value: object) -> tuple[int | None, str]:
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], int) and isinstance(value[1], str):
        return value[0], value[1]
    return None, ""


def find_runs(files: BundleFiles, requirements: Requirements) -> list[int]:
    """Numbers of the runs that can be read, in order. Raises `UnreadableRecording` where there is none."""
    if old := sorted(requirements.topologies & _OLD_TOPOLOGIES):
        raise UnreadableRecording(
            f"{quote_name(files.name)} was saved by Instruments 10 or older (row topology {' and '.join(old)}), which "
            "tracekit does not read; export its tables with `xcrun xctrace export` of a current Xcode and give the "
            "XML, or record again"
        )
    numbers = sorted(int(match[1]) for name in files.children("corespace") if (match := _RUN.fullmatch(name)))
    if len(numbers) > limits.MAX_RUNS:
        raise UnreadableRecording(
            f"{quote_name(files.name)} contains {len(numbers):,} runs, more than {limits.MAX_RUNS}; save "
            "some of them as a separate document in Instruments"
        )
    runs = [
        run
        for run in numbers
        if f"{core_of(run)}/table-manager/tables.plist" in files.sizes and files.children(f"{core_of(run)}/stores")
    ]
    if not runs:
        raise _nothing_readable(files)
    return runs


def runs_without_tables(files: BundleFiles, runs: Sequence[int]) -> list[int]:
    """Numbers of runs that the bundle has files of, and whose tables it lacks. A deleted run leaves an empty folder."""
    numbers = {int(match[1]) for name in files.children("") if (match := _RUN_FOLDER.fullmatch(name))}
    return sorted(numbers - set(runs))


def raw_streams(files: BundleFiles, run: int | None = None) -> list[str]:
    """Raw streams that a deferred recording, or one run of it, leaves behind when it is not finished."""
    folders = files.children("") if run is None else [f"Trace{run}.run"]
    paths = [path for folder in folders for path in files.below(folder)]
    return sorted(path for path in paths if path.lower().endswith(".atrc"))


def read_stores(files: BundleFiles, run: int, requirements: Requirements) -> list[Store]:
    """Descriptions of the tables of a run, in order of their stores. Raises `UnreadableRecording`.

    Several table ids share a store; it counts once, as in a table of contents.
    """
    try:
        specs = _specs(files.read(f"{core_of(run)}/table-manager/tables.plist", limits.MAX_DESCRIPTION_BYTES), run)
    except DamageError as damage:
        raise UnreadableRecording(
            f"the list of tables of run {run} in {quote_name(files.name)} cannot be read: {damage}; copy the bundle "
            "again from the Mac that recorded it"
        ) from damage
    ordered = sorted(specs, key=lambda path: int(path.rsplit("-", 1)[1]))
    described = (describe(files, f"corespace/{path}", specs[path], requirements.mnemonics) for path in ordered)
    return [with_row_damage(files, store) for store in described]


@cache_small
def _specs(data: bytes, run: int) -> Mapping[str, TableSpec]:
    """Specifications of the tables of a run, by the path of their store."""
    archive = read_archive(data, "'tables.plist'")
    details = archive.mapping(archive.mapping(archive.top.get("root")).get("tableDetails"))
    printed = PrintedAttributes(archive)
    specs: dict[str, TableSpec] = {}
    for reference in details.values():
        entry = archive.mapping(reference)
        path = archive.text(entry.get("storeSubpath"))
        if path is None or not _STORE.fullmatch(path) or not path.startswith(f"run{run}/"):
            raise DamageError("'tables.plist' lists a table without a store")
        spec = read_spec(archive, entry.get("spec"), printed)
        if specs.setdefault(path, spec) != spec:
            raise DamageError("'tables.plist' lists two tables in one store")
        if len(specs) > limits.MAX_STORES:
            raise DamageError(f"'tables.plist' lists more than {limits.MAX_STORES:,} tables")
    if not specs:
        raise DamageError("'tables.plist' lists no tables")
    return specs


def requirement_notes(requirements: Requirements) -> list[str]:
    """What a user should know of a document that asks for more than this reader knows."""
    notes = []
    if requirements.version is not None and requirements.version > KNOWN_VERSION:
        notes.append(
            f"the document has format version {requirements.version}, newer than version {KNOWN_VERSION} that tracekit "
            "was checked with"
        )
    if unknown := sorted(requirements.topologies - READABLE_TOPOLOGIES):
        notes.append(f"some tables have a row topology that tracekit does not know ({', '.join(unknown)[:200]})")
    return notes


def _nothing_readable(files: BundleFiles) -> UnreadableRecording:
    name = quote_name(files.name)
    if files.links:
        return UnreadableRecording(
            f"{name} has no readable tables: {files.links:,} symbolic links inside the bundle were ignored, such as "
            "git-annex and DVC create in place of files; copy the bundle with `cp -RL`, which follows links, and pass "
            "the copy"
        )
    if streams := raw_streams(files):
        return UnreadableRecording(
            f"{name} is an unfinished recording: it contains a raw stream and no tables; make tables of it on "
            f"a Mac with `xcrun xctrace import --input X.trace/{streams[0]} --template 'Core ML' --output "
            "recovered.trace`"
        )
    begun = any(path.startswith("corespace/") or path.endswith("RunIssues.storedata") for path in files.sizes)
    # It is written when a recording is saved.
    if begun and TEMPLATE in files.sizes:
        try:
            templates = sorted({read.run.template for read in read_information(files).values() if read.run.template})
        except DamageError:
            templates = []
        recorded_with = f" (template {', '.join(map(excerpt, templates))})" if templates else ""
        return UnreadableRecording(
            f"{name} is a saved recording{recorded_with} that holds no tables: Allocations, Leaks and old versions "
            "of Instruments store their data elsewhere in the bundle, where tracekit does not read it; record with the "
            "Core ML template, or copy the bundle again if its tables were lost in a copy"
        )
    if begun:
        return UnreadableRecording(
            f"{name} is an unfinished recording: it contains no tables; record again and wait until xctrace "
            "or Instruments says that it was saved"
        )
    if TEMPLATE in files.sizes or files.children("instrument_data"):
        return UnreadableRecording(
            f"{name} has no folder 'corespace' with the tables: it was saved by Instruments 7 or older, or "
            "the copy is incomplete; copy it again, or record it with a current Xcode"
        )
    return UnreadableRecording(
        f"{name} is named like a trace bundle but contains nothing of one; check the path, or copy the bundle again "
        "from the Mac that recorded it"
    )
