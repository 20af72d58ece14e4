"""One run of a bundle: its tables, the values their cells refer to, and what is known about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tracekit.recording.bundle.damage import DamageError
from tracekit.recording.bundle.decoding import decode
from tracekit.recording.bundle.facts import Configuration, iso_date, read_configuration, read_instruments
from tracekit.recording.bundle.issues import read_issues
from tracekit.recording.bundle.layout import read_stores
from tracekit.recording.bundle.names import read_names
from tracekit.recording.bundle.stores import read_records
from tracekit.recording.bundle.template import RunInformation
from tracekit.recording.bundle.values import RunValues
from tracekit.recording.contents import Device, Run, TableEntry, Target
from tracekit.recording.table import IntegerCells, Process, TableState

if TYPE_CHECKING:
    from tracekit.recording.bundle.files import BundleFiles
    from tracekit.recording.bundle.layout import Requirements, RunFolder
    from tracekit.recording.bundle.stores import Store

_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,100}", re.ASCII)


class BundleRun:
    """One run, as far as it is known without reading its tables."""

    def __init__(
        self,
        files: BundleFiles,
        folder: RunFolder,
        requirements: Requirements,
        information: RunInformation | None,
        notes: list[str],
    ) -> None:
        """information: what `form.template` tells. notes: takes what the user should know."""
        self.files = files
        self.number = folder.number
        self.stores = read_stores(files, folder, requirements)
        self._information = information or RunInformation()
        self.values = RunValues(
            files,
            f"{folder.core}/uniquing",
            lambda: read_names(files, self.stores, self.values, self._information.names),
        )
        self.described = self._described(folder, notes)

    def entry(self, store: Store) -> TableEntry:
        """Line of a table in the list of tables."""
        state = TableState.ROWS if store.rows else TableState.EMPTY
        return TableEntry(
            schema=store.spec.schema,
            state=TableState.UNREADABLE if store.damage else state,
            rows=None if store.damage else store.rows,
            columns=len(store.columns) or None,
            attributes=store.spec.attributes,
            source=store.path.rsplit("/", 1)[-1],
            reason=self.reason(store, what) if (what := store.damage or store.left_out) else "",
        )

    def reason(self, store: Store, damage: str) -> str:
        """Why a table cannot be read or lacks a column, and what to do."""
        if not _PLAIN_NAME.fullmatch(store.spec.schema):
            # Not quoted into a command that somebody may paste into a shell.
            return damage
        return (
            f"{damage}; export it on a Mac with `xcrun xctrace export --input run.trace --xpath "
            f'\'/trace-toc/run[@number="{self.number}"]/data/table[@schema="{store.spec.schema}"]\'`'
        )

    def _described(self, folder: RunFolder, notes: list[str]) -> Run:
        information = self._information
        instruments = read_instruments(self.files, self.number)
        try:
            configuration = read_configuration(self.files, folder.core)
        except DamageError as damage:
            notes.append(f"the configuration of run {self.number} is not known: {damage}")
            configuration = Configuration()
        issues: tuple[str, ...] = ()
        try:
            issues = read_issues(self.files, self.number)
        except DamageError as damage:
            notes.append(f"issues of run {self.number} are not known: {damage}")
        duration = instruments.duration_ns if information.duration_ns is None else information.duration_ns
        start = next(
            (each for each in (self._wall_clock(), information.start_ns, instruments.start_ns) if each is not None),
            None,
        )
        device = information.device
        if device == Device():
            device = Device(platform=configuration.platform, os_version=configuration.os_version)
        target = information.target
        if target == Target():
            target = Target(process=self._process(configuration.target_pid))
        return Run(
            number=self.number,
            device=device,
            host=information.host,
            target=target,
            start_date=iso_date(start),
            end_date=None if start is None or duration is None else iso_date(start + duration),
            duration_ns=duration,
            end_reason=information.end_reason,
            instruments_version=information.instruments_version,
            template=instruments.template if information.template is None else information.template,
            recording_mode=information.recording_mode,
            time_limit=information.time_limit,
            issues=issues,
            tables=tuple(self.entry(store) for store in self.stores),
        )

    def _wall_clock(self) -> int | None:
        """Start in ns since 1970, from the table that ties the clocks together."""
        for store in self.stores:
            if store.spec.schema != "time-info" or not store.rows or store.damage:
                continue
            try:
                cells = decode(read_records(self.files, store), store, self.values)
            except DamageError:
                return None
            for stored, column in zip(store.columns, cells, strict=True):
                if stored.column.mnemonic == "trace-start-time" and isinstance(column, IntegerCells):
                    return column.item(0)
        return None

    def _process(self, pid: int | None) -> Process | None:
        """Process of a pid, with the latest name that it had."""
        if pid is None:
            return None
        try:
            return self.values.process_of(pid)
        except DamageError:
            return Process(f"pid {pid}", pid)
