"""Tables and recordings made by hand, so that tests of meaning need no reader."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from tracekit.columns import Codes, Numbers
from tracekit.recording.contents import Contents, Run, TableEntry, Target
from tracekit.recording.table import Column, Process, Table, TableState, Thread

TYPES = {"full-layout-id": "layout-id", "color": "render-buffer-depth"}


def cells_of(values):
    """Cells of one column: numbers where all values are, else codes; None is no value."""
    if all(value is None or isinstance(value, int) for value in values) and any(value is not None for value in values):
        numbers = np.array([0 if value is None else value for value in values], np.int64)
        return Numbers(numbers, np.array([value is not None for value in values], bool))
    index_of = {}
    codes = [-1 if value is None else index_of.setdefault(value, len(index_of)) for value in values]
    return Codes(np.array(codes, np.int32), tuple(index_of))


class Make:
    """Builders of tables and recordings."""

    process = staticmethod(Process)
    thread = staticmethod(Thread)

    @staticmethod
    def table(schema, columns, *rows, position=None, **attributes):
        """A table of rows given as tuples; without rows it is empty."""
        names = columns.split() if isinstance(columns, str) else list(columns)
        cells = tuple(cells_of([row[index] for row in rows]) for index in range(len(names)))
        state = TableState.ROWS if rows else TableState.EMPTY
        described = tuple(Column(name, TYPES.get(name, name)) for name in names)
        return Table(schema, 1, state, described, cells, len(rows), attributes, position)

    @staticmethod
    def coreml(*rows):
        """A Core ML table of rows (start, duration, event, model), and optionally parent, level and event type."""
        names = ("start", "duration", "event-label", "model-name", "parent-model-name", "model-level", "event-type")
        full = [(*row, *(None, "top", None)[len(row) - 4 :]) for row in rows]
        return Make.table("coreml-os-signpost", names, *full)

    @staticmethod
    def engine(*rows, schema="ane-hw-intervals"):
        """A Neural Engine table of rows (start, duration, label)."""
        names = "start duration channel-name event-depth event-label state color"
        return Make.table(
            schema, names, *((a, b, "Apple Neural Engine", 0, label, "Active", 0) for a, b, label in rows)
        )

    @staticmethod
    def unreadable(schema, reason):
        """A table that the recording mentions and whose rows cannot be had."""
        return Table(schema, 1, TableState.UNREADABLE, reason=reason)

    @staticmethod
    def recording(*tables, toc=True, target=None):
        """A recording of one run that holds these tables."""
        entries = tuple(
            TableEntry(
                table.schema,
                table.state,
                None if table.state in (TableState.MISSING, TableState.UNREADABLE) else table.rows,
                attributes=table.attributes,
                source=table.source,
                reason=table.reason,
            )
            for table in tables
        )
        run = Run(number=1, target=Target(kind="attached", process=target), tables=entries)
        return HandMade(Contents("made by hand", "xctrace export XML", toc, (run,)), run, tables)


@dataclass
class HandMade:
    contents: Contents
    run: Run
    held: tuple[Table, ...] = field(default=())

    def tables(self, schema, **attributes):
        return [
            table
            for table in self.held
            if table.schema == schema and attributes.items() <= dict(table.attributes).items()
        ]

    def forget(self, _schemas):
        pass

    def call_stacks(self, _schema, **_):
        return []


@pytest.fixture(scope="session")
def make():
    """Builders of tables and recordings."""
    return Make
