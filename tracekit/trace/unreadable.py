"""Tables of a recording that could not be read: what they held is unknown, and no result is complete without them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from tracekit.recording.table import NOT_EXPORTED, TableState
from tracekit.trace.instruments.catalogue import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from tracekit.recording.contents import TableEntry
    from tracekit.trace.trace import Trace


class Listed(Protocol):
    """A line of a list of tables, in a recording or in a report."""

    @property
    def schema(self) -> str:
        """Name of the table."""
        ...

    @property
    def state(self) -> str:
        """As `TableState`."""
        ...

    @property
    def reason(self) -> str:
        """Why it is unreadable."""
        ...


def tables_of(trace: Trace) -> tuple[TableEntry, ...]:
    """The list of tables of a trace. Reads the call stacks, since only that shows whether they can be read."""
    sampled = trace.sampled
    return trace.run.tables if sampled is None else marked(trace.run.tables, sampled.failures)


def marked(tables: Iterable[TableEntry], failures: Mapping[str, str]) -> tuple[TableEntry, ...]:
    """The list of tables in which those that could not be understood are unreadable. `failures` are reasons by
    schema."""
    return tuple(
        replace(entry, state=TableState.UNREADABLE, rows=None, reason=failures[entry.schema])
        if entry.schema in failures and entry.state in (TableState.ROWS, TableState.EMPTY)
        else entry
        for entry in tables
    )


def unreadable(tables: Iterable[Listed], schemas: Collection[str] = SCHEMAS) -> tuple[str, ...]:
    """Which tables of these schemas cannot be read, one clause for each reason: `table T cannot be read: …`. Those that
    an export was made without are none of them."""
    by_reason: dict[str, dict[str, None]] = {}
    for entry in tables:
        if entry.schema in schemas and entry.state == TableState.UNREADABLE and NOT_EXPORTED not in entry.reason:
            # What to do about it follows the first semicolon; it is long, and differs from table to table.
            reason = entry.reason.partition("; ")[0].rstrip(".") or "reason unknown"
            by_reason.setdefault(reason, {})[entry.schema] = None
    return tuple(
        f"{'table' if len(names) == 1 else 'tables'} {', '.join(names)} cannot be read: {reason}"
        for reason, names in by_reason.items()
    )
