"""A recording of which some tables were read through `xctrace`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tracekit.recording.call_stacks import CallStacks
    from tracekit.recording.contents import Recording, Run, TableEntry
    from tracekit.recording.table import Table


class MergedRecording:
    """A recording with all tables of some schemas taken from another reading of the same run.

    The two number their tables differently, so none of them has a position.
    """

    def __init__(self, base: Recording, other: Recording, schemas: Collection[str]) -> None:
        self._base, self._other, self._schemas = base, other, schemas
        joined = self.run
        runs = tuple(joined if run.number == joined.number else run for run in base.contents.runs)
        self.contents = replace(base.contents, runs=runs)

    @property
    def run(self) -> Run:
        """The run that this recording shows. A table that could not be read so far is `unreadable` in its list."""
        return replace(self._base.run, tables=tuple(self._entries()))

    def tables(self, schema: str, **attributes: str) -> list[Table]:
        """As `Recording.tables`."""
        source = self._other if schema in self._schemas else self._base
        return [replace(table, position=None) for table in source.tables(schema, **attributes)]

    def call_stacks(self, schema: str, **attributes: str) -> list[CallStacks]:
        """As `Recording.call_stacks`."""
        source = self._other if schema in self._schemas else self._base
        return source.call_stacks(schema, **attributes)

    def _entries(self) -> Iterator[TableEntry]:
        """Tables of the base; where the first one of a replaced schema stands, those of the other reading."""
        seen: set[str] = set()
        for entry in self._base.run.tables:
            if entry.schema not in self._schemas:
                yield replace(entry, position=None)
            elif entry.schema not in seen:
                seen.add(entry.schema)
                for other in self._other.run.tables:
                    if other.schema == entry.schema:
                        yield replace(other, position=None)
