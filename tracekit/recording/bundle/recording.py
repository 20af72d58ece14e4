"""A recording read from a trace bundle: its runs, what is known of them, and tables, read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from tracekit.columns import Numbers
from tracekit.errors import UnreadableRecording
from tracekit.recording.bundle import DamageError, layout, run_metadata
from tracekit.recording.bundle.files import BundleFiles
from tracekit.recording.bundle.rows import decode, read_names
from tracekit.recording.bundle.run_metadata import RunInformation, read_issues
from tracekit.recording.bundle.stores import Store
from tracekit.recording.bundle.values import RunValues
from tracekit.recording.contents import Contents, Device, Run, TableEntry, Target, chosen_run, matches
from tracekit.recording.progress import Meter, Progress
from tracekit.recording.quoting import export_command
from tracekit.recording.table import Cells, Process, Table, TableState

if TYPE_CHECKING:
    from tracekit.recording.bundle.call_stacks import StackReader
    from tracekit.recording.call_stacks import CallStacks

FORM: Final = "trace bundle"
"""What `Contents.form` says of such a recording."""
_ROUNDING_NS: Final = 1_000
"""How far the spans of `form.template` and of the instruments may be apart. The latter are doubles of seconds since
1970, exact to about 240 ns. They differ by 1 ns at most in real bundles."""
DRIVER_EVENTS: Final = {"codes": "0x85,0x8", "callstack": "user"}
"""Attributes of the kernel events of the driver of the GPU, with the stack that asked it. On three public recordings,
1,066 of the target's are in each of 17 warm predictions, all on the thread that predicts, the first of them 60 to
709 µs after the last sample of other code."""
_CLOCK_NS: Final = 1_000_000
"""The same for time-info, which begins some microseconds after the instruments."""


class BundleRecording:
    """One run of a trace bundle."""

    contents: Contents

    def __init__(
        self,
        files: BundleFiles,
        number: int,
        requirements: layout.Requirements,
        information: RunInformation | None,
        notes: list[str],
        progress: Callable[[Progress], None] | None,
    ) -> None:
        """information: what `form.template` states. notes: takes what the user should know."""
        self._files = files
        self._number = number
        self._stores = layout.read_stores(files, number, requirements)
        self._information = information or RunInformation(Run(number))
        self._values = RunValues(
            files,
            f"{layout.core_of(number)}/uniquing",
            lambda: read_names(files, self._stores, self._values, self._information.names),
        )
        self._clock: dict[str, tuple[Cells, ...]] = {}
        self._run = self._describe(notes)
        self._meter = Meter(progress, sum(map(self._stored_bytes, self._stores)))
        self._damaged: dict[str, TableEntry] = {}

    @property
    def run(self) -> Run:
        """The run that this recording shows. A table that could not be read so far is `unreadable` in its list."""
        return replace(self._run, tables=tuple(self._damaged.get(table.source, table) for table in self._run.tables))

    def tables(self, schema: str, **attributes: str) -> list[Table]:
        """All tables of that schema in this run whose attributes contain the given ones, in order of their stores.

        Rows are read now and not kept. A table that cannot be read is `unreadable` and says why.
        """
        return [self._table(store) for store in self._matching(schema, attributes)]

    def forget(self, schemas: Collection[str]) -> None:
        """As `Recording.forget`: no rows are kept."""

    def call_stacks(self, schema: str, **attributes: str) -> list[CallStacks]:
        """As `Recording.call_stacks`. Symbols and images are read once, when they are first needed."""
        result = []
        driver, target = next(self._matching("kdebug", DRIVER_EVENTS), None), self._run.target.process
        # What is sampled by time tells a part of what threads did.
        driver = driver if schema in ("time-profile", "time-sample") else None
        for store in self._matching(schema, attributes):
            if store.damage:
                continue
            # Imported here, as below: most recordings have no call stacks, and naming functions takes many modules.
            from tracekit.recording.bundle.call_stacks import stack_column

            if stack_column(store) is None:
                continue
            try:
                result.append(self._stacks.read(store, driver, None if target is None else target.pid))
            except DamageError as damage:
                raise UnreadableRecording(self._reason(store, str(damage))) from damage
        return result

    @cached_property
    def _stacks(self) -> StackReader:
        from tracekit.recording.bundle.call_stacks import StackReader

        return StackReader(self._files, self._stores, self._values, self._number)

    def _matching(self, schema: str, attributes: Mapping[str, str]) -> Iterator[Store]:
        for store in self._stores:
            if store.spec.schema == schema and matches(store.spec.attributes, attributes):
                yield store

    def _stored_bytes(self, store: Store) -> int:
        return self._files.sizes.get(f"{store.path}/bulkstore", 0)

    def _table(self, store: Store) -> Table:
        entry = self._entry(store)
        entry = self._damaged.get(entry.source, entry)
        cells: tuple[Cells, ...] = ()
        if entry.state is not TableState.UNREADABLE:
            try:
                cells = self._clock.pop(store.path, ()) or decode(self._files, store, self._values)
                self._meter.advance(self._stored_bytes(store), self._files.name)
            except DamageError as damage:
                reason = self._reason(store, str(damage))
                entry = replace(entry, state=TableState.UNREADABLE, rows=None, reason=reason)
                self._damaged[entry.source] = entry
        columns = () if entry.source in self._damaged else store.columns
        return entry.table(self._number, tuple(column.column for column in columns), cells)

    def _entry(self, store: Store) -> TableEntry:
        """Line of a table in the list of tables, as far as it is known without reading rows."""
        state = TableState.ROWS if store.rows else TableState.EMPTY
        return TableEntry(
            schema=store.spec.schema,
            state=TableState.UNREADABLE if store.damage else state,
            rows=None if store.damage else store.rows,
            columns=len(store.columns) or None,
            attributes=store.spec.attributes,
            source=store.path.rsplit("/", 1)[-1],
            reason=self._reason(store, what) if (what := store.damage or store.left_out) else "",
        )

    def _reason(self, store: Store, damage: str) -> str:
        """Why a table cannot be read or lacks a column, and what to do."""
        command = export_command(self._number, store.spec.schema)
        return damage + (command and f"; export it on a Mac with {command}")

    def _describe(self, notes: list[str]) -> Run:
        recorded = self._information.run
        instruments = run_metadata.read_instruments(self._files, self._number)
        try:
            configuration = run_metadata.read_configuration(self._files, layout.core_of(self._number))
        except DamageError as damage:
            notes.append(f"the configuration of run {self._number} is unknown: {damage}")
            configuration = run_metadata.Configuration()
        issues: tuple[str, ...] | None = None
        try:
            issues = read_issues(self._files, self._number)
        except DamageError as damage:
            notes.append(f"issues of run {self._number} are unknown: {damage}")
        if instruments.damaged:
            notes.append(f"instruments of run {self._number} whose files cannot be read: {instruments.damaged}")
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
            raw_stream=next(iter(layout.raw_streams(self._files, self._number)), None),
            tables=tuple(self._entry(store) for store in self._stores),
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
                f"'form.template' and the files of the instruments give different times for run {self._number}, so one "
                "of them is damaged; those of the instruments are shown"
            )
            start_ns, duration_ns = instruments.start_ns, instruments.duration_ns
        if _differ(clock, instruments.start_ns, _CLOCK_NS):
            notes.append(
                f"the table time-info and the files of the instruments give different starts for run {self._number}, "
                "so one of them is damaged; that of the instruments is shown"
            )
            clock = instruments.start_ns
        start = next((time_ns for time_ns in (clock, start_ns, instruments.start_ns) if time_ns is not None), None)
        return start, instruments.duration_ns if duration_ns is None else duration_ns

    def _target(self, configuration: run_metadata.Configuration, notes: list[str]) -> Target:
        """What was recorded. As with the span, the configuration holds against `form.template`."""
        target, pid = self._information.run.target, configuration.target_pid
        if target == Target():
            return Target(process=self._process(pid))
        if target.process is not None and _differ(target.process.pid, pid, 0):
            notes.append(
                f"'form.template' gives the target of run {self._number} the number {target.process.pid}, and the "
                f"configuration {pid}, so one of them is damaged; that of the configuration is shown"
            )
            return replace(target, process=self._process(pid))
        return target

    def _wall_clock(self) -> int | None:
        """Start in ns since 1970, from the table that ties the clocks together."""
        for store in self._stores:
            if store.spec.schema != "time-info" or not store.rows or store.damage:
                continue
            try:
                # Kept for whoever asks for the table: reading it takes a hundredth of a small recording.
                self._clock[store.path] = cells = decode(self._files, store, self._values)
            except DamageError:
                return None
            for stored, column in zip(store.columns, cells, strict=True):
                if stored.column.mnemonic == "trace-start-time" and isinstance(column, Numbers):
                    return column.item(0)
        return None

    def _process(self, pid: int | None) -> Process | None:
        """Process of a pid, with the latest name that it had."""
        if pid is None:
            return None
        try:
            return self._values.process_of(pid)
        except DamageError:
            return Process(f"pid {pid}", pid)


def open_bundle(files: BundleFiles, run: int | None, progress: Callable[[Progress], None] | None) -> BundleRecording:
    """Read what a bundle holds, and no rows yet.

    Raises `UnreadableRecording`, or `UsageError` for a run that does not exist.
    """
    requirements = layout.read_requirements(files)
    numbers = layout.find_runs(files, requirements)
    run_number, which_run = chosen_run(numbers, run, files.name)
    notes = [*files.notes, *layout.requirement_notes(requirements)]
    information: dict[int, RunInformation] = {}
    try:
        information = run_metadata.read_information(files)
        if not information:
            notes.append(
                f"no '{run_metadata.PATH}' in the bundle: device, Instruments version, arguments, end reason unknown"
            )
    except DamageError as damage:
        notes.append(f"run information is unknown: {damage}")
    runs = [
        BundleRecording(files, number, requirements, information.get(number), notes, progress) for number in numbers
    ]
    if streams := layout.raw_streams(files):
        notes.append(
            f"the recording was not finished: the raw stream '{streams[0].rsplit('/', 1)[-1]}' was left behind, and "
            "the tables may lack its contents"
        )
    if unreadable_runs := layout.runs_without_tables(files, numbers):
        notes.append(
            f"the bundle has no readable list of tables for run {', '.join(map(str, unreadable_runs))}, which was "
            "ignored"
        )
    recording = runs[numbers.index(run_number)]
    described = tuple(run.run for run in runs)
    recording.contents = Contents(
        files.name, FORM, has_table_of_contents=True, runs=described, notes=(*notes, *which_run)
    )
    return recording


def _differ(first: int | None, second: int | None, tolerance: int) -> bool:
    """Whether both are known and further apart than the tolerance."""
    return first is not None and second is not None and abs(first - second) > tolerance
