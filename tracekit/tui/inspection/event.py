"""About an event: exact times, what it is, and how sure it is whose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from tracekit.report.formatting import duration, moment
from tracekit.trace.events import Attribution
from tracekit.trace.filter import EVENT_FRAMES
from tracekit.tui.inspection.blocks import exact, facts, heading
from tracekit.tui.timeline.ruler import exact_moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from tracekit.tui.state import EventRef, Session

ATTRIBUTION_WORDS = {
    Attribution.EXACT: "exact: the row names its model itself",
    Attribution.LABEL: "by its label, which names the model",
    Attribution.CONTAINED: "by time: inside exactly one prediction",
    Attribution.AMBIGUOUS: "ambiguous: inside several predictions",
    Attribution.FOREIGN: "not the target's: another process",
    Attribution.UNATTRIBUTED: "unknown: nothing says whose it is",
    Attribution.INFERRED: "inferred: put together from hardware rows, since Core ML recorded no prediction",
}
"""How sure it is that a row belongs to the model and prediction it is shown with."""

_NAMED = ("lane", "kind", "model", "instance", "parent_model", "device", "process", "pid", "depth", "operation")


def event_blocks(session: Session, ref: EventRef) -> Iterator[RenderableType]:
    """All that is known of a row."""
    row = session.row(ref)
    label = row.get("label", row.get("state", row.get("hang_type")))
    yield heading(label if isinstance(label, str) else "no event named")
    span = session.span(ref)
    length = int(row["duration_ns"]) if "duration_ns" in row else 0
    known = [
        ("duration", exact(length)),
        ("start", exact_moment(span.start_ns)),
        ("end", exact_moment(span.start_ns + length)),
    ]
    if ref.frame in EVENT_FRAMES:
        known += [(name.replace("_", " "), str(row[name])) for name in _NAMED if not pd.isna(row[name])]
        if not pd.isna(row["prediction"]):
            known.append(("part of", _prediction(session, int(row["prediction"]))))
        known.append(("link", ATTRIBUTION_WORDS[Attribution(row["attribution"])]))
        if row["guessed"]:
            known.append(("kind is", "guessed from the beginning of an unknown event text"))
        known.append(("source", f"{row['table']}, row {row['row']}"))
        known += [("evidence of", f"{title} (F goes there)") for title in _findings(session, row)]
    yield facts(known)
    yield ""


def _prediction(session: Session, index: int) -> str:
    """The prediction that contains a row."""
    activity = session.trace.activity
    length = duration(int(activity["duration_ns"].iloc[index]))
    return f"the prediction at {moment(int(activity['start_ns'].iloc[index]))} of {length} (P goes there)"


def _findings(session: Session, row: pd.Series) -> Iterator[str]:
    """Titles of the findings that a row is evidence of."""
    source = (str(row["table"]), int(row["row"]))
    for check in session.report.checks if session.report is not None else ():
        if any((entry.table, entry.row) == source for entry in check.evidence):
            yield check.title
