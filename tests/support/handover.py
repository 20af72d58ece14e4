"""Hands a scenario to the product in memory, as if it had been written as an export and read back.

The list of runs and tables goes through the reader as the text that an export has. The rows, which take the time, are
turned from the builder's cells into the columns that the reader makes of their XML; `recording/export/test_handover.py`
holds both ways against each other.
"""

from __future__ import annotations

import re
from contextlib import nullcontext
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from support.call_stacks import Call, Held, call_stacks
from tracekit.columns import Codes, Numbers
from tracekit.recording import table as read
from tracekit.recording.engineering_types import NUMERIC, STACK_SEPARATOR, Kind, kind_of
from tracekit.recording.export.loading import ExportedFile, LoadedFiles, read_toc
from tracekit.recording.export.nodes import Node
from tracekit.recording.export.recording import ExportRecording, assemble
from tracekit.recording.progress import Meter
from tracekit.recording.sources import Inputs, Source
from tracekit.testing import export_xml
from tracekit.testing.contents import toc_document
from tracekit.testing.machines import Process, Thread
from tracekit.testing.schemas import Label
from tracekit.testing.stacks import Stack
from tracekit.testing.tables import TIME_PROFILE
from tracekit.trace.build import NEEDED_SCHEMAS, build_trace

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from support.call_stacks import Sample
    from tracekit.recording.call_stacks import CallStacks
    from tracekit.testing.scenario import Scenario
    from tracekit.testing.schemas import Cell, Column, TableContent
    from tracekit.testing.stacks import Frame, SampleRow
    from tracekit.trace.trace import Trace

_CHANGED_BY_XML = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that a file holds otherwise or not at all: whoever tests with them tests the files."""


def trace_of(
    scenario: Scenario | Sequence[Scenario],
    only: Collection[str] | None = NEEDED_SCHEMAS,
    *,
    with_toc: bool = True,
    held: Held | None = None,
) -> Trace:
    """What the latest run means; `held`: its call stacks, where they are made."""
    latest = export_xml._runs(scenario)[-1]
    if not latest.samples:
        return build_trace(recording_of(scenario, only, with_toc=with_toc))
    recording = recording_of(scenario, None if only is None else {*only, TIME_PROFILE})
    return build_trace(_Sampled(recording, held or held_stacks(latest)))  # type: ignore[arg-type]


def held_stacks(run: Scenario) -> Held:
    """The call stacks of a run. Recordings that differ in other rows can share them."""
    ordered = sorted(run.samples, key=lambda row: row.time_ns)
    samples, events = _samples(run, ordered), _samples(run, sorted(run.driver, key=lambda row: row.time_ns))
    states = [row.state for row in ordered]
    table = call_stacks(samples, unit_ns=1, weight_ns=run.sample_ns, events=events, states=states)
    return Held({TIME_PROFILE: [table]})


@dataclass(frozen=True)
class _Sampled:
    """A recording whose samples were not written."""

    recording: ExportRecording
    held: Held

    def call_stacks(self, schema: str, **attributes: str) -> list[CallStacks]:
        return self.held.call_stacks(schema, **attributes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.recording, name)


def _samples(run: Scenario, rows: Sequence[SampleRow]) -> list[Sample]:
    """Samples as a reader gives them, with the short names that it must find."""
    newer = run.xcode.family >= 26
    threads = {row.thread: _value(row.thread, "thread", newer) for row in rows}
    # Samples share stacks, and to hash one takes most of the time.
    distinct = {id(row.stack): row.stack for row in rows}
    frames = {frame: _call(frame, run) for stack in distinct.values() if stack for frame in stack.frames}
    called = {at: tuple(frames[frame] for frame in stack.frames) if stack else () for at, stack in distinct.items()}
    return [(row.time_ns, threads[row.thread], called[id(row.stack)]) for row in rows]  # type: ignore[misc]


def _call(frame: Frame, run: Scenario) -> Call:
    image = run.target.name if frame.is_app else frame.image.rpartition("/")[2]
    source_line = (frame.file, frame.line) if frame.file and frame.line else None
    return Call(image, frame.name, frame.line or 0x10, source_line, not frame.is_app, frame.symbol)


def recording_of(
    scenario: Scenario | Sequence[Scenario], only: Collection[str] | None = None, *, with_toc: bool = True
) -> ExportRecording:
    """The latest run as `open_recording` gives it for what `write_export` writes; what else is given is passed to
    that."""
    runs = export_xml._runs(scenario)
    files: dict[str, list[Node]] = {}
    newer = runs[0].xcode.family >= 26
    for number, position, table in export_xml._tables_by_position(runs):
        if only is None or table.schema in only:
            node = _node(table, number, position, newer)
            files.setdefault(export_xml._file_name(table, (position - 1) % runs[number - 1].parts), []).append(node)
    toc = _source("toc.xml", toc_document(runs).encode())
    exported = [ExportedFile(_source(name, b""), nodes) for name, nodes in sorted(files.items())]
    tocs = [(toc, read_toc(toc, Meter(None, None)))] if with_toc else []
    return assemble(LoadedFiles(tocs, exported, []), Inputs("export"), None)


def _source(name: str, content: bytes) -> Source:
    return Source(name, repr(name), len(content), lambda: nullcontext(BytesIO(content)), explicit=False)


def _node(table: TableContent, run: int, position: int, newer: bool) -> Node:
    """A table as the reader of nodes gives it. O(cells)."""
    columns = tuple(read.Column(column.mnemonic, column.type, column.name) for column in table.columns)
    by_column = zip(*table.rows, strict=True) if table.rows else ((),) * len(columns)
    cells = tuple(_cells(column, values, newer) for column, values in zip(table.columns, by_column, strict=True))
    return Node(table.schema, run, position, columns, len(table.rows), cells)


def _cells(column: Column, values: Sequence[Cell], newer: bool) -> read.Cells:
    """One column. A duration of zero is exported as no value."""
    kind = kind_of(column.type)
    if kind in NUMERIC or (kind is Kind.NUMBER and all(isinstance(value, int | None) for value in values)):
        valid = np.array([value is not None and (value != 0 or column.type != "duration") for value in values], bool)
        numbers = np.array([(value or 0) & _UNSIGNED for value in values], np.uint64).astype(np.int64)
        return Numbers(numbers, valid)
    numbered: dict[Cell, int] = {}
    # To hash a cell takes most of the time.
    each = [numbered.setdefault(value, len(numbered)) for value in values]
    index_of: dict[read.CellValue, int] = {}
    codes = [
        -1 if value is None else index_of.setdefault(_value(value, column.type, newer), len(index_of))
        for value in numbered
    ]
    return Codes(np.array(codes, np.int32)[each], tuple(index_of))


_UNSIGNED = 2**64 - 1


def _value(cell: Cell, tag: str, newer: bool) -> read.CellValue:
    """What the reader makes of an element with this cell."""
    if isinstance(cell, Stack):
        # Cells of tables hold the text of a stack only.
        return STACK_SEPARATOR.join(_sound(frame.printed or frame.name) for frame in cell.frames)
    if isinstance(cell, Process):
        return read.Process(cell.name, cell.pid)
    if not isinstance(cell, Label | Thread):
        return _sound(str(cell))
    shown = _sound(export_xml.NodeWriter(newer)._cell_text(tag, cell))
    if isinstance(cell, Thread):
        return read.Thread(shown, cell.tid, read.Process(cell.process.name, cell.process.pid))
    return shown


def _sound(text: str) -> str:
    if _CHANGED_BY_XML.search(text):
        raise ValueError(f"{text!r} is changed by a file: write the scenario as one")
    return text
