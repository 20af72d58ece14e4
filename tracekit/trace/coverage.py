"""What can and what cannot be concluded from each instrument of a recording, and signs that its tables do not belong
together, or that their numbers are not what they seem.

A table that is not there, or that holds no row, never means that nothing happened. No sign proves a fault, so rows
stay, and a note says what was seen.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final, Protocol

import numpy as np

from tracekit.arrays import IndexArray
from tracekit.characters import lower_first
from tracekit.columns import Texts
from tracekit.intervals import Intervals
from tracekit.recording.contents import Contents, Recording, Run, TableEntry
from tracekit.recording.table import NOT_EXPORTED, TableState
from tracekit.trace.context import of_target
from tracekit.trace.events import LOAD_KINDS, SETUP_KINDS, Attribution, Calls, Events, Kind, Lane, Origin
from tracekit.trace.instruments import coreml
from tracekit.trace.instruments.catalogue import CALL_STACKS, CORE_ML, HARDWARE, INSTRUMENTS, NEURAL_ENGINE, SCHEMAS
from tracekit.trace.instruments.instrument import Instrument
from tracekit.trace.instruments.tables import engine_events
from tracekit.trace.requests.frame import UNVALIDATED
from tracekit.trace.runtimes.phases import Phases
from tracekit.trace.runtimes.registry import runtimes
from tracekit.trace.samples import COUNTED, TIMED
from tracekit.trace.sharing import Sharing, SharingState
from tracekit.trace.trace import Coverage, Trace
from tracekit.units import format_count, format_error, format_names, format_time

_UNKNOWN_REASON = "reason unknown"
_CAUSE = (
    "the likely cause is a target without the get-task-allow entitlement, but the table is also empty if recording "
    "started after the work, if another process was recorded, or if the log archive is damaged"
)
_REMEDY = (
    "sign the target with get-task-allow, as Xcode signs development builds (`tracekit doctor --target APP` checks "
    "it), check that the right process is recorded, and start recording before the model loads"
)
_IF_CORE_ML_TOO = (
    "if the app uses Core ML too, sign the target with get-task-allow (`tracekit doctor --target APP` checks it) and "
    "start recording before the model loads"
)
COPY_AGAIN: Final = "copy the bundle again from where it was recorded"
"""What helps where a table of a bundle is cut off."""
_LOGS: Final = ("Signposts", "Foundation Models", "Core AI")
"""Instruments that show work of the target which needs no Core ML."""
_SWITCHES: Final = {
    "record-waiting-threads": "of waiting ones too",
    "high-frequency-sampling": "at high frequency",
    "context-switch-sampling": "at context switches too",
}
"""What attributes of the table of call stacks say of how it was recorded, where they are on."""
_OFF: Final = frozenset({"0", "NO", "false"})
_WAITING: Final = "Samples of waiting threads, which `tracekit record` also records, show more."
BY_TIME: Final = "Record with --instrument 'Time Profiler'"
"""What checks need where samples were taken by what a CPU counted alone."""


def coverage(
    contents: Contents, run: Run, hardware: Events, shared: Sharing, phases: Phases | None
) -> tuple[Coverage, ...]:
    """Coverage of every instrument, in the order of `INSTRUMENTS`. `run` says of each table whether it was understood,
    `hardware` are the finished rows, `shared` says whose rows of the Neural Engine are, `phases` what was logged."""
    entries = {entry.name: _coverage_of(contents, run, entry) for entry in INSTRUMENTS}
    core_ml = entries[CORE_ML]
    if core_ml.state is TableState.EMPTY:
        # Which tables are damaged that would show work without Core ML, and what helps.
        logs = [each for name, each in entries.items() if name in _LOGS and unreadable_tables(run.tables, each.tables)]
        clauses = unreadable_tables(run.tables, [schema for log in logs for schema in log.tables])
        damaged = " and ".join(clauses), logs[0].advice if logs else ""
        entries[CORE_ML] = _empty_core_ml(core_ml, run, hardware, phases, damaged)
    for name, of in HARDWARE.items():
        here = hardware.lane.is_any(of.lane)
        rows_of = {str(kind): int((hardware.attribution.is_any(kind) & here).sum()) for kind in Attribution}
        shares = {kind: rows / int(here.sum()) for kind, rows in rows_of.items() if rows}
        entries[name] = replace(entries[name], shares=shares)
    engine = entries[NEURAL_ENGINE]
    if engine.state is TableState.EMPTY and (events := engine_events(run)):
        logged = f"the kernel logged {format_count(events, 'event')} of its driver, so it may have worked (unverified)"
        entries[NEURAL_ENGINE] = replace(engine, conclusion=f"{engine.conclusion.rstrip('.')}; {logged}.")
    if engine.state is TableState.ROWS and shared.state in (SharingState.SHARED, SharingState.UNKNOWN):
        said = f"{engine.conclusion.rstrip('.')}; {lower_first(shared.sentence)}"
        entries[NEURAL_ENGINE] = replace(engine, conclusion=said)
    return tuple(entries.values())


def _coverage_of(contents: Contents, run: Run, instrument: Instrument) -> Coverage:
    mentioned = [entry for schema in instrument.schemas for entry in run.tables if entry.schema == schema]
    tables = [entry for entry in mentioned if entry.state is not TableState.MISSING]
    if not tables:
        schemas, state = instrument.schemas, TableState.MISSING
        conclusion, advice = f"{instrument.were} not recorded", instrument.record_with
        if not contents.has_table_of_contents:
            conclusion = (
                f"it is unknown whether {instrument.were} recorded: this input has no such table and no table of "
                "contents"
            )
            advice = (
                f"if it was recorded, export it: {_export_command(contents, run, schemas)}; also export the table of "
                "contents, which lists what was recorded: "
                "`xcrun xctrace export --input run.trace --toc --output toc.xml`"
            )
        return Coverage(instrument.name, state, schemas, None, _sentence(conclusion), _sentence(advice))
    readable = [table for table in tables if table.state is not TableState.UNREADABLE]
    unreadable = [table for table in tables if table.state is TableState.UNREADABLE]
    rows = sum(table.rows or 0 for table in readable)
    # Nothing is known to be empty as long as a part of it cannot be had.
    state = TableState.ROWS if rows else TableState.UNREADABLE if unreadable else TableState.EMPTY
    conclusion, advice = (instrument.rows_mean if rows else instrument.empty_means), ""
    if unreadable:
        why = "; ".join(filter(None, dict.fromkeys(map(_reason, unreadable)))) or _UNKNOWN_REASON
        part = f"{len(unreadable)} of {len(tables)} tables"
        if rows:
            conclusion += f"; {part} cannot be read: {why}"
        elif readable:
            conclusion = f"{part} of {instrument.name} cannot be read, the others have no rows: {why}"
        elif all(NOT_EXPORTED in table.reason for table in unreadable):
            conclusion = f"{instrument.were} recorded but not exported"
        elif all(map(_is_cut_off, unreadable)):
            conclusion = f"{instrument.were} recorded but {'are' if instrument.plural else 'is'} cut off"
        else:
            conclusion = f"{instrument.were} recorded, but cannot be read: {why}"
        sound = dict.fromkeys(table.schema for table in unreadable if not _is_cut_off(table))
        advice = f"export them: {_export_command(contents, run, sound)}" if sound else COPY_AGAIN
        if not rows and sound and COUNTED.keys() >= sound.keys():
            advice = f"{BY_TIME}, which checks need; to see these samples in `tracekit stacks`, {advice}"
    if rows and instrument.name == CALL_STACKS:
        switches = _switches(run)
        conclusion = ", ".join([conclusion, *(_SWITCHES[name] for name in switches if switches[name])])
    schemas = tuple(dict.fromkeys(table.schema for table in tables))
    known = None if state is TableState.UNREADABLE else rows
    return Coverage(instrument.name, state, schemas, known, _sentence(conclusion), _sentence(advice))


def _switches(run: Run) -> dict[str, bool]:
    """Whether options of how call stacks were recorded were on, as far as attributes of the tables say it."""
    stated = {name: text for table in run.tables if table.schema in TIMED for name, text in table.attributes.items()}
    return {name: stated[name] not in _OFF for name in _SWITCHES if name in stated}


class Listed(Protocol):
    """A line of a list of tables, in a recording or in a report."""

    @property
    def schema(self) -> str:
        """Name of the table."""

    @property
    def state(self) -> str:
        """As `TableState`."""

    @property
    def reason(self) -> str:
        """Why it is unreadable."""


def _is_cut_off(table: Listed) -> bool:
    """Whether rows of a bundle were lost, as in a copy, so that no tool can read them there."""
    return any(words in table.reason for words in ("is cut off", "file is missing from the bundle", "ends before them"))


def _reason(table: Listed) -> str:
    """What is wrong; what to do about it, which follows the first semicolon, is long and differs between tables."""
    return table.reason.partition("; ")[0].rstrip(".")


def _export_command(contents: Contents, run: Run, schemas: Iterable[str]) -> str:
    wanted = " or ".join(f'@schema="{schema}"' for schema in schemas)
    path = f'/trace-toc/run[@number="{run.number}"]/data/table[{wanted}]'
    source = shlex.quote(contents.source) if contents.source.endswith(".trace") else "run.trace"
    return f"`xcrun xctrace export --input {source} --xpath '{path}' --output tables.xml`"


def _empty_core_ml(
    entry: Coverage, run: Run, hardware: Events, phases: Phases | None, damage: tuple[str, str]
) -> Coverage:
    """Coverage of Core ML without rows: what else shows work of the target, or why nothing does."""
    # The GPU works for the screen, so its rows count with a model.
    work = (
        ("the Neural Engine was active", int(hardware.kind.is_any(Kind.ANE_EXEC).sum())),
        ("the GPU ran a Core ML model", int((hardware.lane.is_any(Lane.GPU) & hardware.model.known).sum())),
    )
    # Neither adds anything where execution shows a model.
    weaker = (
        ("the Neural Engine prepared models", int(hardware.kind.is_any(*_PREPARING).sum())),
        ("MPS graphs were sent to the GPU", int(hardware.lane.is_any(Lane.MPS).sum())),
    )
    signs = work if any(count for _, count in work) else weaker
    evidence = [f"{what} ({format_count(count, 'row')})" for what, count in signs if count]
    # Runtimes that do not need Core ML for their work; none where one does.
    ran = set() if phases is None else {*phases.runtime.take(of_target(phases.pid, run.target.process)).held()}
    logged = [runtime for runtime in runtimes() if runtime.name in ran]
    instead = [*(runtime.name for runtime in logged), *sorted(ran & UNVALIDATED)]
    instead = [] if any(runtime.core_ml for runtime in logged) else instead
    said, why, advice = entry.conclusion.rstrip("."), f"; {_CAUSE}", _REMEDY
    if evidence:
        said = f"The Core ML instrument recorded no events, although {' and '.join(evidence)}"
    elif instead:
        said, advice = "The Core ML instrument recorded no events", _IF_CORE_ML_TOO
        why = f"; {format_names(instead)} ran, which does not need Core ML"
    lost, repair = damage
    if run.imported_from is not None:
        why = f": the recording was imported from {run.imported_from}, and `xctrace import` loses the rows of Core ML"
        advice = "record again, stop once, and wait until the recording is saved"
    elif lost:
        said, why = f"{lost}; {lower_first(said)}", "" if why.endswith(_CAUSE) else why
        advice = f"{repair} Only if Core ML's table is empty even then: {advice}"
    return replace(entry, conclusion=_sentence(f"{said}{why}"), advice=_sentence(advice))


def _sentence(text: str) -> str:
    return text and f"{text[0].upper()}{text[1:].rstrip('.')}."


def tables_of(trace: Trace) -> tuple[TableEntry, ...]:
    """The list of tables of a trace. Reads the call stacks, since only that shows whether they can be read."""
    sampled = trace.sampled
    return trace.run.tables if sampled is None else mark_unreadable(trace.run.tables, sampled.failures)


def stacks_coverage(trace: Trace) -> Coverage:
    """Coverage of the call stacks, once they were read."""
    run = replace(trace.run, tables=tables_of(trace))
    return _coverage_of(
        trace.contents, run, next(instrument for instrument in INSTRUMENTS if instrument.name == CALL_STACKS)
    )


def mark_unreadable(tables: Iterable[TableEntry], failures: Mapping[str, str]) -> tuple[TableEntry, ...]:
    """The list of tables, those unreadable that could not be understood; `failures` are reasons by schema."""
    return tuple(
        replace(entry, state=TableState.UNREADABLE, rows=None, reason=failures[entry.schema])
        if entry.schema in failures and entry.state in (TableState.ROWS, TableState.EMPTY)
        else entry
        for entry in tables
    )


def unreadable_tables(tables: Iterable[Listed], schemas: Collection[str] = SCHEMAS) -> tuple[str, ...]:
    """Tables of these schemas that are damaged, not left out: a clause for each reason, `table T cannot be read: …`."""
    by_reason: dict[str, dict[str, None]] = {}
    for entry in tables:
        if entry.schema in schemas and entry.state == TableState.UNREADABLE and NOT_EXPORTED not in entry.reason:
            by_reason.setdefault(_reason(entry) or _UNKNOWN_REASON, {})[entry.schema] = None
    return tuple(
        f"{'table' if len(names) == 1 else 'tables'} {', '.join(names)} cannot be read: {reason}"
        for reason, names in by_reason.items()
    )


_AFTER_END_NS = 1_000_000_000
"""How far rows may reach beyond the run. In real recordings of Xcode 16.4 none reaches beyond it at all."""
_ABOUT_DISPLAY = ("not visualized on the timeline until immediate mode recording is stopped",)
"""Parts of messages about the live display alone: afterwards nothing is missing (seen in sound ones of Xcode 16.4)."""


def issues_about_data(issues: Iterable[str]) -> list[str]:
    """The run issues after which something may be missing, without those about the live display alone."""
    return [issue for issue in issues if not any(part in issue.casefold() for part in _ABOUT_DISPLAY)]


def doubts(recording: Recording, run: Run, events: Events, hardware: Events, inferred: Calls | None) -> list[str]:
    """One sentence for each sign, in rows of Core ML (`events`) or the hardware, or inferred calls. `run` is the
    one whose tables were read. O(rows)."""
    lost = any(each.state is TableState.UNREADABLE and each.schema in coreml.INSTRUMENT.schemas for each in run.tables)
    why = "Core ML's table cannot be read" if lost else "Core ML recorded none"
    notes: list[str] = []
    tables = (table for table in recording.run.tables if table.schema in coreml.INSTRUMENT.schemas)
    files = {table.source for table in tables if table.state is TableState.ROWS}
    if not recording.contents.has_table_of_contents and len(files) > 1:
        notes.append(
            f"Core ML rows come from {len(files)} files; without a table of contents, it is unknown whether they are "
            "from the same recording."
        )
    calls = events.kind.is_any(*LOAD_KINDS, Kind.PREDICTION)
    if count := int((calls & (events.duration_ns == 0)).sum()):
        total = format_count(int(calls.sum()), "load or prediction", "loads and predictions")
        verbs = ("has", "counts") if count == 1 else ("have", "count")
        notes.append(f"{count:,} of {total} {verbs[0]} no duration and {verbs[1]} as 0 ns.")
    for rows, what in ((events, "Core ML"), (hardware, "hardware")):
        end = None if run.duration_ns is None else run.duration_ns + _AFTER_END_NS
        late = 0 if end is None else int((Intervals.from_rows(rows).ends > end).sum())
        if run.duration_ns is not None and late:
            notes.append(
                f"{format_count(late, f'{what} row')} {'ends' if late == 1 else 'end'} after the end of the run "
                f"({format_time(run.duration_ns)}): the table is damaged or from another recording."
            )
    if inferred is not None:
        waiting = _switches(run).get("record-waiting-threads", True)
        notes.append(_inferred(inferred, why, "" if waiting else f" {_WAITING}"))
        ready, times = ~hardware.attribution.is_any(Attribution.FOREIGN), Intervals.from_rows(hardware)
        # What else shows loads and compilations does not show for which unit they compiled.
        told = inferred.kind.is_any(*SETUP_KINDS).any()
        clauses = [
            f"{format_count(len(some), noun)}{name and f' of {name}'} ({format_time(times.where(some).covered_ns)})"
            for kind, noun in list(_PREPARING.items())[: 1 if told else None]
            for name, some in _by_model(hardware.model, np.flatnonzero(ready & hardware.kind.is_any(kind)))
        ]
        if clauses:
            named = format_names(clauses, 5)
            notes.append(f"Inferred from Neural Engine rows, which name no process: {named}.")
    return [note for note in notes if note]


def _by_model(model: Texts, rows: IndexArray) -> list[tuple[str, IndexArray]]:
    """The rows of each model by its name; empty for none. O(n log n)."""
    order = rows[np.argsort(model.codes[rows], kind="stable")]
    parts = np.split(order, np.flatnonzero(np.diff(model.codes[order])) + 1)
    named = ((model.item(int(part[0])) or "", part) for part in parts if len(part))
    return sorted(named, key=lambda pair: pair[0])


def _inferred(calls: Calls, why: str, more: str) -> str:
    logged = calls.origin.is_any(Origin.SIGNPOSTS)
    if logged.any():
        count = format_count(int(logged.sum()), "load or compilation", "loads and compilations")
        said = f"{count} from Core ML's signposts (its table holds none), with exact times."
        return f"{said} {_inferred(calls.where(~logged), why, more)}".rstrip()
    if not len(calls):
        return ""
    stacked = calls.origin.is_any(Origin.CALL_STACKS)
    if stacked.any():
        error = format_error(int(calls.resolution_ns.max()))
        return f"Calls are inferred from call stacks ({why}): {error} where the thread ran.{more}"
    units = {"gpu": "GPU activity", "neural-engine": "Neural Engine activity"}
    devices = set(calls.device.held())
    source = units.get(devices.pop(), "hardware activity") if len(devices) == 1 else "hardware activity"
    return (
        f"{format_count(len(calls), 'prediction')} inferred from {source} ({why}); actual durations "
        "are longer than shown."
    )


_PREPARING = {Kind.ANE_COMPILE: "compilation", Kind.ANE_LOAD: "load"}
"""Rows of the Neural Engine that get a model ready."""
