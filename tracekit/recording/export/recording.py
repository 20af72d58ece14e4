"""A recording put together from exported files."""

from __future__ import annotations

from collections.abc import Callable, Collection

from tracekit.recording.call_stacks import CallStacks
from tracekit.recording.contents import Contents, Run, chosen_run, matches
from tracekit.recording.export import limits
from tracekit.recording.export.assembly import Assembled, assemble
from tracekit.recording.export.loading import load
from tracekit.recording.progress import Progress
from tracekit.recording.sources import Inputs
from tracekit.recording.table import Table

FORM = "xctrace export XML"
"""What `Contents.form` says of such a recording."""


def open_export(
    inputs: Inputs,
    run: int | None,
    schemas: Collection[str] | None,
    progress: Callable[[Progress], None] | None,
) -> ExportRecording:
    """Read exported files. Raises `UnreadableRecording`, or `UsageError` for a run that does not exist."""
    loaded = load(inputs, schemas, progress)
    notes = list(loaded.notes)
    assembled = assemble(loaded, notes)
    numbers = [each.number for each in assembled.runs]
    chosen, which_run = chosen_run(numbers, run, inputs.name)
    if chosen in assembled.failed:
        raise assembled.failed[chosen]
    notes += which_run
    if len(notes) > limits.MAX_NOTES:
        notes[limits.MAX_NOTES :] = [f"{len(notes) - limits.MAX_NOTES:,} more notes of the same kinds"]
    contents = Contents(inputs.name, FORM, assembled.has_table_of_contents, tuple(assembled.runs), tuple(notes))
    return ExportRecording(contents, assembled.runs[numbers.index(chosen)], assembled, inputs)


class ExportRecording:
    """One run of an exported recording."""

    def __init__(self, contents: Contents, run: Run, assembled: Assembled, inputs: Inputs) -> None:
        self.contents = contents
        self.run = run
        self._tables = [table for table in assembled.tables if table.run == run.number]
        # Tables that were only counted are read on demand, from archives and spooled input too.
        self._inputs = inputs

    def tables(self, schema: str, **attributes: str) -> list[Table]:
        """All tables of that schema in this run whose attributes contain the given ones, in order of position.

        An attribute that is a list (`subsystem="&quot;com.apple.coreml&quot;"`) contains each of its items. Reads a
        file now where it was only counted so far, hence may raise `UnreadableRecording`.
        """
        return [
            table.table() for table in self._tables if table.schema == schema and matches(table.attributes, attributes)
        ]

    def forget(self, schemas: Collection[str]) -> None:
        """As `Recording.forget`."""
        for table in self._tables:
            if table.schema in schemas and table.node is not None:
                table.node.cells = None

    def call_stacks(self, schema: str, **attributes: str) -> list[CallStacks]:
        """As `Recording.call_stacks`. Reads the files of these tables again."""
        # Imported here: most recordings have no call stacks, and naming functions takes many modules.
        from tracekit.recording.export.call_stacks import read_call_stacks

        stacks = [
            read_call_stacks(table.file.source, table.index)
            for table in self._tables
            if table.schema == schema and table.file is not None and matches(table.attributes, attributes)
        ]
        return [each for each in stacks if each is not None]
