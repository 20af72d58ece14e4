"""Signs that the tables of a recording do not belong together, or that their numbers are not what they seem.

None of them proves a fault, so rows stay, and a note says what was seen.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from tracekit.intervals import Intervals
from tracekit.recording.contents import Recording
from tracekit.recording.table import TableState
from tracekit.trace.events import LOAD_KINDS, Kind, Origin
from tracekit.trace.frames import is_any, resolution_of, texts_in
from tracekit.trace.instruments import coreml
from tracekit.units import format_count, format_duration, format_error

_AFTER_END_NS = 1_000_000_000
"""How far rows may reach beyond the run. In real recordings of Xcode 16.4 none reaches beyond it at all."""


_ABOUT_DISPLAY = ("not visualized on the timeline until immediate mode recording is stopped",)
"""Parts of messages about the live display alone: after the end of the recording nothing is missing (seen in a sound
recording of Xcode 16.4)."""


def issues_about_data(issues: Iterable[str]) -> list[str]:
    """The run issues after which something may be missing, without those about the live display alone."""
    return [issue for issue in issues if not any(part in issue.casefold() for part in _ABOUT_DISPLAY)]


def doubts(
    recording: Recording, events: pd.DataFrame, hardware: pd.DataFrame, inferred: pd.DataFrame | None
) -> list[str]:
    """One sentence for each sign. `events` are the Core ML rows, `hardware` those of the hardware, `inferred` the
    calls that Core ML did not record. O(rows)."""
    notes = (
        _several_files(recording),
        _without_duration(events),
        _after_the_end(recording.run.duration_ns, events, "Core ML"),
        _after_the_end(recording.run.duration_ns, hardware, "hardware"),
        "" if inferred is None else _inferred(inferred),
    )
    return [note for note in notes if note]


def _several_files(recording: Recording) -> str:
    """Without a table of contents, nothing shows whether two files are of one recording."""
    if recording.contents.has_table_of_contents:
        return ""
    tables = (table for table in recording.run.tables if table.schema in coreml.INSTRUMENT.schemas)
    files = {table.source for table in tables if table.state is TableState.ROWS}
    if len(files) < 2:
        return ""
    return (
        f"Core ML rows come from {len(files)} files; without a table of contents, it is unknown whether they are from "
        "the same recording."
    )


def _without_duration(events: pd.DataFrame) -> str:
    calls = is_any(events["kind"], *LOAD_KINDS, Kind.PREDICTION)
    count = int((calls & (events["duration_ns"].to_numpy() == 0)).sum())
    if not count:
        return ""
    total = format_count(int(calls.sum()), "load or prediction", "loads and predictions")
    verbs = ("has", "counts") if count == 1 else ("have", "count")
    return f"{count:,} of {total} {verbs[0]} no duration and {verbs[1]} as 0 ns."


def _after_the_end(duration_ns: int | None, rows: pd.DataFrame, what: str) -> str:
    if duration_ns is None:
        return ""
    late = int((Intervals.from_rows(rows).ends > duration_ns + _AFTER_END_NS).sum())
    if not late:
        return ""
    return (
        f"{format_count(late, f'{what} row')} {'ends' if late == 1 else 'end'} after the end of the run "
        f"({format_duration(duration_ns)}): the table is damaged or from another recording."
    )


def _inferred(calls: pd.DataFrame) -> str:
    logged = is_any(calls["origin"], Origin.SIGNPOSTS)
    if logged.any():
        count = format_count(int(logged.sum()), "load or compilation", "loads and compilations")
        said = f"{count} from Core ML's signposts (its table holds none), with exact times."
        return f"{said} {_inferred(calls[~logged])}".rstrip()
    if calls.empty:
        return ""
    stacked = is_any(calls["origin"], Origin.CALL_STACKS)
    if stacked.any():
        return (
            "Calls are inferred from call stacks (Core ML recorded none): "
            f"{format_error(resolution_of(calls))} where the thread ran."
        )
    units = {"gpu": "GPU activity", "ane": "Neural Engine activity"}
    devices = texts_in(calls["device"])
    source = units.get(devices.pop(), "hardware activity") if len(devices) == 1 else "hardware activity"
    return (
        f"{format_count(len(calls), 'prediction')} inferred from {source} (Core ML recorded none); actual durations "
        "are longer than shown."
    )
