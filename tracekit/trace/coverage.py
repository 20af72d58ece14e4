"""What can and what cannot be concluded from each instrument of a recording.

A table that is not there, or that holds no row, never means that nothing happened.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tracekit.recording.table import TableState
from tracekit.trace.events import Attribution, Lane
from tracekit.trace.instruments.catalogue import CORE_ML, GPU, INSTRUMENTS, MPS, NEURAL_ENGINE
from tracekit.trace.sharing import SharingState
from tracekit.trace.trace import Coverage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from tracekit.recording.contents import Recording, Run
    from tracekit.trace.instruments.catalogue import Instrument
    from tracekit.trace.sharing import Sharing

_LANES: dict[str, Lane] = {NEURAL_ENGINE: Lane.NEURAL_ENGINE, GPU: Lane.GPU, MPS: Lane.MPS}
"""Instruments whose rows are attributed."""

_CAUSE = (
    "the likely cause is a target without the get-task-allow entitlement (reported by others for such targets and "
    "inferred here); a recording that began after the work, another target process, or a damaged log archive would "
    "also leave this table empty"
)
_REMEDY = (
    "sign the target with the entitlement com.apple.security.get-task-allow set to true (for example `codesign -f -s - "
    "--entitlements entitlements.plist TARGET`), start recording before the model loads, check that the right process "
    "is recorded, and record again"
)


_RECORD_AGAIN = "record again, stop once, and wait until the recording is saved"


def coverage(
    recording: Recording, hardware: pd.DataFrame, failures: Mapping[str, str], shared: Sharing
) -> tuple[Coverage, ...]:
    """Coverage of every instrument, in the order of `INSTRUMENTS`.

    To be asked for once the tables have been read: what can be had of each is taken from the recording's list of
    tables, which tells of damage from then on. `hardware` is the finished frame. `failures` gives, by schema, why a
    table that holds rows could not be understood. `shared` tells whether the Neural Engine's rows are the target's
    alone.
    """
    run = recording.run
    entries = {entry.name: _covered(recording, run, entry, failures) for entry in INSTRUMENTS}
    core_ml = entries[CORE_ML]
    if core_ml.state is TableState.EMPTY:
        entries[CORE_ML] = _empty_core_ml(core_ml, _evidence(hardware), run.imported_from)
    for name, lane in _LANES.items():
        entries[name] = replace(entries[name], shares=_shares(hardware[hardware["lane"] == lane]))
    engine = entries[NEURAL_ENGINE]
    if engine.state is TableState.ROWS and shared.state in (SharingState.SHARED, SharingState.UNKNOWN):
        whose = f"{shared.sentence[0].lower()}{shared.sentence[1:]}"
        entries[NEURAL_ENGINE] = replace(engine, conclusion=f"{engine.conclusion.rstrip('.')}; {whose}")
    return tuple(entries.values())


def _covered(recording: Recording, run: Run, instrument: Instrument, failures: Mapping[str, str]) -> Coverage:
    mentioned = [entry for schema in instrument.schemas for entry in run.tables if entry.schema == schema]
    tables = [entry for entry in mentioned if entry.state is not TableState.MISSING]
    if not tables:
        conclusion, advice = _missing(recording, instrument)
        return _entry(instrument, TableState.MISSING, instrument.schemas, None, conclusion, advice)
    usable = [table.state is not TableState.UNREADABLE and table.schema not in failures for table in tables]
    held = [table for table, good in zip(tables, usable, strict=True) if good]
    lost = [table for table, good in zip(tables, usable, strict=True) if not good]
    rows = sum(table.rows or 0 for table in held)
    # Nothing is known to be empty as long as a part of it cannot be had.
    state = TableState.ROWS if rows else TableState.UNREADABLE if lost else TableState.EMPTY
    conclusion, advice = (instrument.rows_mean if rows else instrument.empty_means), ""
    if lost:
        reasons = dict.fromkeys(_what(failures.get(table.schema, table.reason)) for table in lost)
        why = "; ".join(reason for reason in reasons if reason) or "the reason is not known"
        if rows:
            conclusion += f", but {len(lost)} of the {len(tables)} tables cannot be had: {why}"
        elif held:
            part = f"{len(lost)} of the {len(tables)} tables of {instrument.name}"
            conclusion = f"{part} cannot be had, and the others hold no row: {why}"
        else:
            conclusion = f"{instrument.name} was recorded, but its rows cannot be had: {why}"
        advice = f"export them: {_export_command(recording, dict.fromkeys(table.schema for table in lost))}"
    schemas = tuple(dict.fromkeys(table.schema for table in tables))
    return _entry(instrument, state, schemas, None if state is TableState.UNREADABLE else rows, conclusion, advice)


def _entry(
    instrument: Instrument, state: TableState, schemas: tuple[str, ...], rows: int | None, conclusion: str, advice: str
) -> Coverage:
    return Coverage(instrument.name, state, schemas, rows, _sentence(conclusion), _sentence(advice))


def _what(reason: str) -> str:
    """What is wrong; what to do about it, the part of a message behind its semicolon, is said in the advice."""
    return reason.partition("; ")[0].rstrip(".")


def _missing(recording: Recording, instrument: Instrument) -> tuple[str, str]:
    if recording.contents.has_table_of_contents:
        return (
            f"the recording holds no {instrument.name} table",
            instrument.record_with,
        )
    conclusion = (
        f"whether {instrument.name} was recorded is unknown: this input has no table of it and no table of contents"
    )
    return conclusion, (
        f"export it, if it was recorded: {_export_command(recording, instrument.schemas)}; the table of contents "
        "(`xcrun xctrace export --input run.trace --toc --output toc.xml`) beside it tells what was recorded"
    )


def _export_command(recording: Recording, schemas: Iterable[str]) -> str:
    wanted = " or ".join(f'@schema="{schema}"' for schema in schemas)
    path = f'/trace-toc/run[@number="{recording.run.number}"]/data/table[{wanted}]'
    return f"`xcrun xctrace export --input run.trace --xpath '{path}' --output tables.xml`"


def _evidence(hardware: pd.DataFrame) -> list[str]:
    """Signs of model execution outside the Core ML table. GPU rows count only where they name a model, since the GPU
    always works for the screen."""
    lane = hardware["lane"]
    found = (
        ("the Neural Engine was active", int((lane == Lane.NEURAL_ENGINE).sum())),
        ("the GPU ran work that names a model", int(((lane == Lane.GPU) & hardware["model"].notna()).sum())),
        ("MPS graphs were sent to the GPU", int((lane == Lane.MPS).sum())),
    )
    return [f"{what} ({count:,} {'row' if count == 1 else 'rows'})" for what, count in found if count]


def _empty_core_ml(entry: Coverage, evidence: Sequence[str], imported_from: str | None) -> Coverage:
    start = entry.conclusion.rstrip(".")
    if evidence:
        start = (
            f"The Core ML instrument was recorded and captured no event although {' and '.join(evidence)}, so its "
            "emptiness does not show that Core ML was not used"
        )
    if imported_from is not None:
        why = f"the recording was imported from {imported_from}, and `xctrace import` loses the rows of Core ML"
        return replace(entry, conclusion=_sentence(f"{start}: {why}"), advice=_sentence(_RECORD_AGAIN))
    return replace(entry, conclusion=_sentence(f"{start}; {_CAUSE}"), advice=_sentence(_REMEDY))


def _shares(rows: pd.DataFrame) -> tuple[tuple[str, float], ...]:
    counts = rows["attribution"].value_counts()
    return tuple((str(kind), float(counts[kind]) / len(rows)) for kind in Attribution if counts.get(kind, 0))


def _sentence(text: str) -> str:
    return text and f"{text[0].upper()}{text[1:].rstrip('.')}."
