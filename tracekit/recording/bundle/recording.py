"""A recording read from a trace bundle. Tables are read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from tracekit.errors import UnreadableRecording
from tracekit.recording.bundle import DamageError
from tracekit.recording.bundle.layout import (
    find_runs,
    raw_streams,
    read_requirements,
    requirement_notes,
    runs_without_tables,
)
from tracekit.recording.bundle.rows import decode
from tracekit.recording.bundle.run_metadata import PATH as TEMPLATE
from tracekit.recording.bundle.run_metadata import RunInformation, read_information
from tracekit.recording.bundle.runs import BundleRun
from tracekit.recording.contents import Contents, Run, TableEntry, chosen_run, matches
from tracekit.recording.progress import Meter, Progress
from tracekit.recording.table import Table, TableState

if TYPE_CHECKING:
    from tracekit.recording.bundle.call_stacks import StackReader
    from tracekit.recording.bundle.files import BundleFiles
    from tracekit.recording.bundle.stores import Store
    from tracekit.recording.call_stacks import CallStacks

FORM: Final = "trace bundle"
"""What `Contents.form` says of such a recording."""


def open_bundle(files: BundleFiles, run: int | None, progress: Callable[[Progress], None] | None) -> BundleRecording:
    """Read what a bundle holds, and no rows yet.

    Raises `UnreadableRecording`, or `UsageError` for a run that does not exist.
    """
    requirements = read_requirements(files)
    numbers = find_runs(files, requirements)
    run_number, which_run = chosen_run(numbers, run, files.name)
    notes = [*files.notes, *requirement_notes(requirements)]
    information = _information(files, notes)
    runs = [BundleRun(files, number, requirements, information.get(number), notes) for number in numbers]
    if streams := raw_streams(files):
        notes.append(
            f"the recording was not finished: the raw stream '{streams[0].rsplit('/', 1)[-1]}' was left behind, and "
            "the tables may lack its contents"
        )
    if unreadable_runs := runs_without_tables(files, numbers):
        notes.append(
            f"the bundle has no readable list of tables for run {', '.join(map(str, unreadable_runs))}, which was "
            "ignored"
        )
    described = [each.described for each in runs]
    contents = Contents(files.name, FORM, has_table_of_contents=True, runs=tuple(described), notes=(*notes, *which_run))
    index = numbers.index(run_number)
    meter = Meter(progress, sum(files.sizes.get(f"{store.path}/bulkstore", 0) for store in runs[index].stores))
    return BundleRecording(contents, described[index], runs[index], meter)


def _information(files: BundleFiles, notes: list[str]) -> dict[int, RunInformation]:
    try:
        information = read_information(files)
    except DamageError as damage:
        notes.append(f"run information is unknown: {damage}")
        return {}
    if not information:
        notes.append(f"no '{TEMPLATE}' in the bundle: device, Instruments version, arguments, end reason unknown")
    return information


class BundleRecording:
    """One run of a trace bundle."""

    def __init__(self, contents: Contents, run: Run, source: BundleRun, meter: Meter) -> None:
        self.contents = contents
        self._run = run
        self._source = source
        self._meter = meter
        self._damaged: dict[str, TableEntry] = {}

    @property
    def run(self) -> Run:
        """The run that this recording shows. A table that could not be read so far is `unreadable` in its list."""
        return replace(self._run, tables=tuple(self._damaged.get(each.source, each) for each in self._run.tables))

    def tables(self, schema: str, **attributes: str) -> list[Table]:
        """All tables of that schema in this run whose attributes contain the given ones, in order of their stores.

        Rows are read now and not kept. A table that cannot be read is `unreadable` and says why.
        """
        return [
            self._table(store)
            for store in self._source.stores
            if store.spec.schema == schema and matches(store.spec.attributes, attributes)
        ]

    def forget(self, schemas: Collection[str]) -> None:
        """As `Recording.forget`: no rows are kept."""

    def call_stacks(self, schema: str, **attributes: str) -> list[CallStacks]:
        """As `Recording.call_stacks`. Symbols and images are read once, when they are first needed."""
        result = []
        for store in self._source.stores:
            if store.spec.schema != schema or not matches(store.spec.attributes, attributes) or store.damage:
                continue
            # Imported here, as below: most recordings have no call stacks, and naming functions takes many modules.
            from tracekit.recording.bundle.call_stacks import stack_column

            if stack_column(store) is None:
                continue
            try:
                result.append(self._stacks.read(store))
            except DamageError as damage:
                raise UnreadableRecording(self._source.reason(store, str(damage))) from damage
        return result

    @cached_property
    def _stacks(self) -> StackReader:
        from tracekit.recording.bundle.call_stacks import StackReader

        source = self._source
        return StackReader(source.files, source.stores, source.values, source.number)

    def _table(self, store: Store) -> Table:
        entry = self._source.entry(store)
        table = Table(
            store.spec.schema,
            self._run.number,
            entry.state,
            columns=tuple(each.column for each in store.columns),
            attributes=store.spec.attributes,
            source=entry.source,
            reason=entry.reason,
        )
        if store.damage:
            return table
        if (known := self._damaged.get(entry.source)) is not None:
            return replace(table, state=TableState.UNREADABLE, columns=(), reason=known.reason)
        try:
            cells = decode(self._source.files, store, self._source.values)
        except DamageError as damage:
            reason = self._source.reason(store, str(damage))
            self._damaged[entry.source] = replace(entry, state=TableState.UNREADABLE, rows=None, reason=reason)
            return replace(table, state=TableState.UNREADABLE, columns=(), reason=reason)
        files = self._source.files
        self._meter.advance(files.sizes.get(f"{store.path}/bulkstore", 0), files.name)
        return replace(table, cells=cells, rows=store.rows)
