"""About an event: exact times, what it is, and how sure it is whose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from tracekit.report.formatting import duration, moment
from tracekit.trace.events import Attribution
from tracekit.trace.filter import EVENT_FRAMES
from tracekit.tui.inspection.blocks import exact, facts, heading
from tracekit.tui.selection import findings_of
from tracekit.tui.timeline.ruler import exact_moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from tracekit.tui.state import EventRef, Session

ATTRIBUTION_WORDS = {
    Attribution.EXACT: "exact (row names the model)",
    Attribution.LABEL: "by label (which names the model)",
    Attribution.CONTAINED: "by time (inside exactly one prediction)",
    Attribution.AMBIGUOUS: "ambiguous (inside several predictions)",
    Attribution.FOREIGN: "another process, not the target",
    Attribution.UNATTRIBUTED: "unattributed",
    Attribution.INFERRED: "inferred from hardware rows (Core ML recorded no predictions)",
}
"""How sure it is that a row belongs to the model and prediction it is shown with."""

_NAMED = ("lane", "kind", "model", "instance", "parent_model", "device", "process", "pid", "depth", "operation")


def event_blocks(session: Session, ref: EventRef) -> Iterator[RenderableType]:
    """All that is known of a row."""
    row = session.row(ref)
    label = row.get("label", row.get("state", row.get("hang_type")))
    yield heading(label if isinstance(label, str) else "unnamed event")
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
            known.append(("prediction", _prediction(session, int(row["prediction"]))))
        known.append(("attribution", ATTRIBUTION_WORDS[Attribution(row["attribution"])]))
        if row["guessed"]:
            known.append(("note", "kind inferred from the beginning of an unrecognized event name"))
        known.append(("source", f"{row['table']}, row {row['row']}"))
        checks = session.report.results if session.report is not None else ()
        known += [("evidence of", f"{checks[at].title} (F to jump)") for at in findings_of(session, ref)]
    yield facts(known)
    yield ""


def _prediction(session: Session, index: int) -> str:
    """The prediction that contains a row."""
    activity = session.trace.activity
    length = duration(int(activity["duration_ns"].iloc[index]))
    return f"{length} at {moment(int(activity['start_ns'].iloc[index]))} (P to jump)"
