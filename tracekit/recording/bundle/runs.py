"""One run of a bundle: its tables, the values their cells refer to, and what is known about it.

References of processes and threads lead to shared arrays, which hold numbers, and these tables to names:

process-info, thread-info        recordings with the Core ML template
developer-thread-name-update     recordings with the Time Profiler template
form.template                    the target and its threads, where none of these tables is there
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from tracekit.arrays import UInt64Array
from tracekit.recording.bundle import DamageError, run_metadata
from tracekit.recording.bundle.files import BundleFiles
from tracekit.recording.bundle.issues import read_issues
from tracekit.recording.bundle.layout import Requirements, core_of, raw_streams, read_stores
from tracekit.recording.bundle.rows import decode, ordered_columns
from tracekit.recording.bundle.stores import Store
from tracekit.recording.bundle.values import Names, RunValues
from tracekit.recording.contents import Device, Run, TableEntry, Target
from tracekit.recording.quoting import export_command
from tracekit.recording.table import IntegerCells, Process, TableState

_ROUNDING_NS: Final = 1_000
"""How far the spans of `form.template` and of the instruments may be apart. The latter are doubles of seconds since
1970, exact to about 240 ns. They differ by 1 ns at most in real bundles."""
_CLOCK_NS: Final = 1_000_000
"""The same for time-info, which begins some microseconds after the instruments."""
NO_NAME = 0xFFFF_FFFF_FFFF_FFFF
"""Name of a thread that has none."""


class BundleRun:
    """One run, as far as it is known without reading its tables."""

    def __init__(
        self,
        files: BundleFiles,
        number: int,
        requirements: Requirements,
        information: run_metadata.RunInformation | None,
        notes: list[str],
    ) -> None:
        """information: what `form.template` states. notes: takes what the user should know."""
        self.files = files
        self.number = number
        self.stores = read_stores(files, number, requirements)
        self._information = information or run_metadata.RunInformation(Run(number))
        self.values = RunValues(
            files,
            f"{core_of(number)}/uniquing",
            lambda: read_names(files, self.stores, self.values, self._information.names),
        )
        self.described = self._describe(notes)

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
        command = export_command(self.number, store.spec.schema)
        return damage + (command and f"; export it on a Mac with {command}")

    def _describe(self, notes: list[str]) -> Run:
        recorded = self._information.run
        instruments = run_metadata.read_instruments(self.files, self.number)
        try:
            configuration = run_metadata.read_configuration(self.files, core_of(self.number))
        except DamageError as damage:
            notes.append(f"the configuration of run {self.number} is unknown: {damage}")
            configuration = run_metadata.Configuration()
        issues: tuple[str, ...] | None = None
        try:
            issues = read_issues(self.files, self.number)
        except DamageError as damage:
            notes.append(f"issues of run {self.number} are unknown: {damage}")
        if instruments.damaged:
            notes.append(f"instruments of run {self.number} whose files cannot be read: {instruments.damaged}")
        start, duration = self._span(instruments, notes)
        device = recorded.device
        if device == Device():
            device = Device(platform=configuration.platform, os_version=configuration.os_version)
        target = self._target(configuration, notes)
        return replace(
            recorded,
            device=device,
            target=target,
            start_date=run_metadata.iso_date(start),
            end_date=None if start is None or duration is None else run_metadata.iso_date(start + duration),
            duration_ns=duration,
            template=instruments.template if recorded.template is None else recorded.template,
            issues=issues,
            raw_stream=next(iter(raw_streams(self.files, self.number)), None),
            tables=tuple(self.entry(store) for store in self.stores),
        )

    def _span(self, instruments: run_metadata.Instruments, notes: list[str]) -> tuple[int | None, int | None]:
        """Start in ns since 1970, and duration in ns.

        `form.template` has no checksum; what the instruments' files state, which have one, overrides it.
        """
        start_ns, duration_ns = self._information.start_ns, self._information.run.duration_ns
        clock = self._wall_clock()
        if _differ(start_ns, instruments.start_ns, _ROUNDING_NS) or _differ(
            duration_ns, instruments.duration_ns, _ROUNDING_NS
        ):
            notes.append(
                f"'form.template' and the files of the instruments give different times for run {self.number}, so one "
                "of them is damaged; those of the instruments are shown"
            )
            start_ns, duration_ns = instruments.start_ns, instruments.duration_ns
        if _differ(clock, instruments.start_ns, _CLOCK_NS):
            notes.append(
                f"the table time-info and the files of the instruments give different starts for run {self.number}, so "
                "one of them is damaged; that of the instruments is shown"
            )
            clock = instruments.start_ns
        start = next((each for each in (clock, start_ns, instruments.start_ns) if each is not None), None)
        return start, instruments.duration_ns if duration_ns is None else duration_ns

    def _target(self, configuration: run_metadata.Configuration, notes: list[str]) -> Target:
        """What was recorded. As with the span, the configuration holds against `form.template`."""
        target, pid = self._information.run.target, configuration.target_pid
        if target == Target():
            return Target(process=self._process(pid))
        if target.process is not None and _differ(target.process.pid, pid, 0):
            notes.append(
                f"'form.template' gives the target of run {self.number} the number {target.process.pid}, and the "
                f"configuration {pid}, so one of them is damaged; that of the configuration is shown"
            )
            return replace(target, process=self._process(pid))
        return target

    def _wall_clock(self) -> int | None:
        """Start in ns since 1970, from the table that ties the clocks together."""
        for store in self.stores:
            if store.spec.schema != "time-info" or not store.rows or store.damage:
                continue
            try:
                cells = decode(self.files, store, self.values)
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


def _differ(first: int | None, second: int | None, tolerance: int) -> bool:
    """Whether both are known and further apart than the tolerance."""
    return first is not None and second is not None and abs(first - second) > tolerance


def read_names(files: BundleFiles, stores: Sequence[Store], values: RunValues, target: Names) -> Names:
    """All names that a run states. Where it states two, the later one holds: a process may start another program.

    Raises `DamageError` where a table and the shared arrays disagree: then they are not from the same run.
    """
    names = Names(dict(target.processes), {}, set(target.main_threads))
    for store in stores:
        if store.damage or not store.rows:
            continue
        if store.spec.schema == "process-info":
            _add_processes(names, files, store, values)
        elif store.spec.schema == "thread-info":
            _add_threads(names, files, store, values)
        elif store.spec.schema == "developer-thread-name-update":
            (packed,) = ordered_columns(files, store, "thread-name")
            _add_thread_names(names, packed, packed & np.uint64(0xFFFF_FFFF), values)
    return names


def _add_processes(names: Names, files: BundleFiles, store: Store, values: RunValues) -> None:
    references, pids, texts = ordered_columns(files, store, "process", "pid", "process-name")
    numbers = values.arrays.prefixes(references.astype(np.int64), 2)[:, 0]
    if not np.array_equal(numbers, pids):
        raise DamageError("process-info and the shared arrays give different numbers to a process")
    names.processes.update(zip(references.tolist(), values.text_of_strings(texts), strict=True))


def _add_threads(names: Names, files: BundleFiles, store: Store, values: RunValues) -> None:
    references, tids, packed, main = ordered_columns(files, store, "thread", "tid", "name", "main-thread")
    numbers = values.arrays.prefixes(references.astype(np.int64), 2)[:, 0]
    if not np.array_equal(numbers, tids):
        raise DamageError("thread-info and the shared arrays give different numbers to a thread")
    names.main_threads.update(references[main == 1].tolist())
    _add_thread_names(names, packed, references, values)


def _add_thread_names(names: Names, packed: UInt64Array, references: UInt64Array, values: RunValues) -> None:
    named = packed != NO_NAME
    texts = values.text_of_strings(packed[named] >> np.uint64(32))
    names.threads.update((key, text) for key, text in zip(references[named].tolist(), texts, strict=True) if text)
