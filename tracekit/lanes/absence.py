"""Why a lane shows nothing."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from tracekit.recording.table import TableState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.trace.trace import Trace


class Reason(StrEnum):
    """Why a lane has no rows, in the words of the screen. None of them means that nothing happened."""

    ABSENT = "not recorded"
    EMPTY = "recorded, no events"
    UNREAD = "unreadable"
    NOT_EXPORTED = "not exported"
    """Listed in the table of contents of an export, and left out of it."""
    OUTSIDE = "not in this input"
    """An export that holds some tables, and says nothing of others."""
    NOTHING_SHOWN = "recorded, nothing to draw"
    """Rows, none of which is a state."""
    NONE_SHOWN = "recorded, none for this lane"
    """Rows of the instrument, none of which belongs on this lane."""
    OTHER_LANES = "no events in this lane"
    """Rows of the instrument on its other lanes."""
    NO_MODEL = "no rows attributed to a model"
    """Rows on the GPU, none of which is known to be Core ML's own."""


def reason(trace: Trace, schemas: Sequence[str]) -> Reason:
    """Why tables of these schemas show nothing."""
    tables = [entry for entry in trace.run.tables if entry.schema in schemas]
    states = {entry.state for entry in tables}
    unreadable = [entry for entry in tables if entry.state is TableState.UNREADABLE]
    exported = any("not exported" not in entry.reason for entry in unreadable)
    for state, why in (
        (TableState.ROWS, Reason.NOTHING_SHOWN),
        (TableState.UNREADABLE, Reason.UNREAD if exported else Reason.NOT_EXPORTED),
        (TableState.EMPTY, Reason.EMPTY),
    ):
        if state in states:
            return why
    return Reason.ABSENT if trace.contents.has_table_of_contents else Reason.OUTSIDE
