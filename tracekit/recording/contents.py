"""What a recording says about itself: runs, target, device, template and the list of its tables.

A field is None where the input does not hold it; nothing here is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tracekit.errors import UsageError
from tracekit.recording.table import NO_ATTRIBUTES, Cells, Column, Process, Table, TableState

if TYPE_CHECKING:
    from tracekit.recording.call_stacks import CallStacks


_ITEMS = re.compile(r'"([^"]*)"|(\S+)')


@dataclass(frozen=True, slots=True)
class Device:
    """The machine that ran the target. `name` and `uuid` identify a person: redact them."""

    platform: str | None = None
    """`macOS`, `iOS`, `iOS Simulator`, ..."""
    model: str | None = None
    os_version: str | None = None
    """Version with build, for example `15.6 (24G84)`."""
    name: str | None = None
    uuid: str | None = None


SIMULATOR = "recorded in a simulator, which has no Neural Engine; its times say nothing of a device"


def is_simulator(system: str | None) -> bool:
    """Whether a system, named by its platform with or without a version, is that of a simulator."""
    return "Simulator" in (system or "").split()


@dataclass(frozen=True, slots=True)
class Target:
    """What was recorded. `process` is None for a recording of all processes or where it is unknown."""

    kind: str | None = None
    """`launched`, `attached` or `all-processes`."""
    process: Process | None = None
    arguments: str | None = None
    """Command line of a launched target. Private: redact."""
    termination_reason: str | None = None
    path: str | None = None
    """Of the executable. Private; only tables of contents hold it."""


@dataclass(frozen=True, slots=True)
class TableEntry:
    """One line of the list of tables."""

    schema: str
    state: TableState
    rows: int | None = None
    """Number of rows; None where the table is `missing` or `unreadable`."""
    columns: int | None = None
    """Number of columns; None where the input has no schema for it."""
    attributes: Mapping[str, str] = field(default_factory=lambda: NO_ATTRIBUTES)
    position: int | None = None
    source: str = ""
    reason: str = ""
    """Why the table is `missing` or `unreadable`, or which columns it lacks and why; empty otherwise."""

    def table(self, run: int, columns: tuple[Column, ...], cells: tuple[Cells, ...]) -> Table:
        """The table itself, of a run by number."""
        found = self.state, columns, cells, self.rows or 0
        return Table(self.schema, run, *found, self.attributes, self.position, self.source, self.reason)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a recording. Times inside a run are ns since its start."""

    number: int
    device: Device = Device()
    host: Device | None = None
    """The Mac that recorded, where it is not the device itself."""
    target: Target = Target()
    start_date: str | None = None
    """ISO 8601 with offset."""
    end_date: str | None = None
    duration_ns: int | None = None
    end_reason: str | None = None
    instruments_version: str | None = None
    """As recorded, for example `16.0 (16F6)`. The build decides, the first number misleads."""
    template: str | None = None
    recording_mode: str | None = None
    time_limit: str | None = None
    issues: tuple[str, ...] | None = None
    """Run issues that Instruments noted while recording. Only bundles hold them."""
    imported_from: str | None = None
    """What `xctrace import` made the run from, as written: a path or a name. Only tables of contents hold it."""
    raw_stream: str | None = None
    """Path of the raw stream left in the bundle by an unfinished run, whose tables may lack what it holds."""
    tables: tuple[TableEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Contents:
    """What the input holds."""

    source: str
    """Last part of the path that was opened, or `standard input`."""
    form: str
    """`xctrace export XML` or `trace bundle`."""
    has_table_of_contents: bool
    """Whether the input says which tables were recorded, so that an absent one is known not to have been."""
    runs: tuple[Run, ...]
    notes: tuple[str, ...] = ()
    """What the reader saw and the user should know, one sentence each (for example a duplicate export left out)."""
    failures: tuple[tuple[str, str], ...] = ()
    """Schema and reason of each table that `xctrace` was asked for in vain."""


def chosen_run(numbers: Sequence[int], wanted: int | None, source: str) -> tuple[int, list[str]]:
    """The wanted one of the runs of a recording, the last by default, and what to say where there are several.

    Raises `UsageError` for a run that does not exist.
    """
    number = numbers[-1] if wanted is None else wanted
    listed = ", ".join(map(str, numbers))
    if number not in numbers:
        raise UsageError(f"'{source}' has no run {number} (runs: {listed})")
    return number, [f"the recording has {len(numbers)} runs ({listed}); this is run {number}"] * (len(numbers) > 1)


class Recording(Protocol):
    """One run of a recording, whatever it was read from."""

    contents: Contents

    @property
    def run(self) -> Run:
        """The run that this recording shows."""

    def tables(self, schema: str, **attributes: str) -> list[Table]:
        """All tables of that schema in this run whose attributes contain the given ones, in order of position.

        An empty list means the input does not mention the schema at all: state `missing`.
        """

    def forget(self, schemas: Collection[str]) -> None:
        """Let go of the rows of these tables. They are read again when they are asked for again."""

    def call_stacks(self, schema: str, **attributes: str) -> list[CallStacks]:
        """Samples of the same tables with their call stacks, function by function.

        Tables without stacks, and unreadable ones, are left out. Stacks are read now and not kept. Raises
        `UnreadableRecording` where those of a table cannot be read.
        """


def matches(attributes: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether the attributes contain all the wanted ones.

    An attribute that is a list (`subsystem="&quot;com.apple.coreml&quot;"`) contains each of its items.
    """
    for name, value in wanted.items():
        written = attributes.get(name)
        # Items stand apart, quoted or bare.
        items = _ITEMS.findall(written or "") if value else ()
        if written != value and not any(value in item for item in items):
            return False
    return True
