"""Write scenarios as the files that `xctrace export` writes.

Every value is written once with an `id` and its display text, and later by `ref`; numbers rise from 1 in document order
and nested elements take part. Containers have children and no text of their own.

Display texts (`fmt`) are those of an English locale. Rules measured on real exports: times are cut to µs, durations
have two decimals rounded half to even, ids are hex.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from tracekit.testing.contents import escape, toc_document
from tracekit.testing.machines import Process, Thread
from tracekit.testing.rng import Draws
from tracekit.testing.scenario import Scenario
from tracekit.testing.schemas import Cell, Label, TableContent
from tracekit.testing.stacks import Frame, Placed, Stack, placed_images
from tracekit.testing.tables import tables_of

NO_MATCH = '<?xml version="1.0"?>\n<trace-query-result>\n</trace-query-result>\n'
"""What the exporter writes when no table matches."""

_UNITS = ((60_000_000_000, "min"), (1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"))

_NAMED_SIGNPOSTS = {0xEEEEB0B5B2B2EEEE: "OS_SIGNPOST_ID_EXCLUSIVE"}


def integer_text(kind: str, value: int) -> str:
    """Display text of an integer of an engineering type; types that are not known here show plain decimals."""
    return _SHOW.get(kind, str)(value)


def time_text(time_ns: int) -> str:
    """`MM:SS.mmm.uuu`, cut to µs."""
    seconds, rest = divmod(time_ns // 1_000, 1_000_000)
    return f"{seconds // 60:02}:{seconds % 60:02}.{rest // 1_000:03}.{rest % 1_000:03}"


def duration_text(duration_ns: int) -> str:
    """Two decimals in the largest unit that fits, rounded half to even."""
    for size, unit in _UNITS:
        if duration_ns >= size:
            return f"{Decimal(duration_ns) / size:.2f} {unit}"
    return f"{duration_ns} ns"


_SHOW: dict[str, Callable[[int], str]] = {
    "start-time": time_text,
    "event-time": time_text,
    "sample-time": time_text,
    "duration": duration_text,
    "weight": duration_text,
    "core": "CPU {}".format,
    "boolean": lambda value: "Yes" if value else "No",
    "gpu-frame-number": "Frame {}".format,
    "size-in-bytes": "{} B".format,
    "uint64": "{:,}".format,
    "uint64-hex-lowercase": "{:x}".format,
    "metal-command-buffer-id": "0x{:x}".format,
    "metal-encoder-id": "0x{:x}".format,
    "os-signpost-identifier": lambda value: _NAMED_SIGNPOSTS.get(value, f"0x{value:x}"),
    "tid": "0x{:x}".format,
}


class NodeWriter:
    """Writes nodes of one document and keeps track of its ids."""

    def __init__(self, thread_texts_since_26: bool, images: dict[str, Placed] | None = None) -> None:
        self._new_threads = thread_texts_since_26
        self._ids: dict[tuple[str, object], int] = {}
        self._images = images or {}

    def node(self, run: int, position: int, table: TableContent, with_schema: bool = True) -> str:
        """One `<node>` with all rows of a table."""
        head = f"<node xpath='//trace-toc[1]/run[{run}]/data[1]/table[{position}]'>"
        schema = ""
        if with_schema:
            documentation = f' documentation="{escape(table.documentation)}"' if table.documentation else ""
            columns = "".join(
                f"<col><mnemonic>{column.mnemonic}</mnemonic><name>{escape(column.name)}</name>"
                f"<engineering-type>{column.type}</engineering-type></col>"
                for column in table.columns
            )
            schema = f'<schema name="{table.schema}"{documentation}>{columns}</schema>'
        row_lines: list[str] = []
        for row in table.rows:
            pairs = zip(table.columns, row, strict=True)
            # A duration of zero means "no value" inside recordings, and is exported as such.
            kept = ((column.type, None if column.type == "duration" and cell == 0 else cell) for column, cell in pairs)
            row_lines.append(f"<row>{''.join(self._element(tag, cell) for tag, cell in kept)}</row>")
        rows = "\n".join(row_lines)
        return f"{head}{schema}{rows}\n</node>" if rows else f"{head}{schema}</node>"

    def _element(self, tag: str, cell: Cell) -> str:
        """A cell or a part of one: the value itself at first, then a reference to it."""
        if cell is None:
            return "<sentinel/>"
        if reference := self._reference(tag, cell):
            return reference
        number = self._number(tag, cell)
        if isinstance(cell, Stack):
            return f'<{tag} id="{number}">{"".join(self._frame(frame) for frame in cell.frames)}</{tag}>'
        display = escape(self._cell_text(tag, cell))
        if isinstance(cell, Process):
            content = self._element("pid", cell.pid) + self._element("device-session", "TODO")
        elif isinstance(cell, Thread):
            content = self._element("tid", cell.tid) + self._element("process", cell.process)
        elif isinstance(cell, Label):
            content = "".join(self._element(part.type, part.value) for part in cell.parts)
        else:
            content = escape(str(cell))
        return f'<{tag} id="{number}" fmt="{display}">{content}</{tag}>'

    def _frame(self, frame: Frame) -> str:
        """A frame and its image, each whole at first, then a reference."""
        if reference := self._reference("frame", frame):
            return reference
        number = self._number("frame", frame)
        image = self._images[frame.image]
        at = image.address + image.offset(frame) + 1
        binary = self._reference("binary", frame.image)
        if not binary:
            facts = f'UUID="{image.identity}" arch="arm64e" load-addr="{image.address:#x}" path="{escape(image.path)}"'
            binary = f'<binary id="{self._number("binary", frame.image)}" name="{escape(image.name)}" {facts}/>'
        source = ""
        if frame.line:
            ids = self._number("source", frame), self._number("path", frame)
            path = f'<path id="{ids[1]}">/Users/somebody/src/{escape(frame.file)}</path>'
            source = f'<source id="{ids[0]}" line="{frame.line}">{path}</source>'
        name = escape(frame.printed or frame.name)
        return f'<frame id="{number}" name="{name}" addr="{at:#x}">{binary}{source}</frame>'

    def _reference(self, tag: str, value: object) -> str:
        """A reference to a value that was written before; empty for a new one."""
        number = self._ids.get((tag, value))
        return f'<{tag} ref="{number}"/>' if number else ""

    def _number(self, tag: str, value: object) -> int:
        """A new id."""
        number = self._ids[tag, value] = len(self._ids) + 1
        return number

    def _cell_text(self, tag: str, cell: Cell) -> str:
        if isinstance(cell, Process):
            return f"{cell.name} ({cell.pid})"
        if isinstance(cell, Thread):
            process = cell.process
            if self._new_threads:
                return f"{cell.name} (0x{cell.tid:x}) ({process.name}, pid: {process.pid})"
            return f"{cell.name}  0x{cell.tid:x} ({process.name}, pid: {process.pid})"
        if isinstance(cell, Label):
            return "".join(self._cell_text(part.type, part.value) for part in cell.parts)
        return integer_text(tag, cell) if isinstance(cell, int) else str(cell)


def write_export(
    scenario: Scenario | Sequence[Scenario],
    folder: Path | str,
    with_toc: bool = True,
    only: Collection[str] | None = None,
    order: Draws | None = None,
) -> list[Path]:
    """Write `toc.xml` and one file for each table into a folder, which is made where needed.

    Several scenarios become the runs of one recording. `only` names the schemas to export; the others are listed in
    the table of contents without being exported. The rows of each table stand in the order of their times, or in any
    that `order` draws. Returns the paths written.
    """
    runs = _runs(scenario)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    documents = {"toc.xml": toc_document(runs)} if with_toc else {}
    by_name: dict[str, list[tuple[int, int, TableContent]]] = {}
    for number, position, table in _tables_by_position(runs):
        if only is None or table.schema in only:
            part = (position - 1) % runs[number - 1].parts
            ordered = table if order is None else replace(table, rows=order.permutation(table.rows))
            by_name.setdefault(_file_name(table, part), []).append((number, position, ordered))
    documents |= {name: _document(runs, chosen) for name, chosen in by_name.items()}
    for name, text in documents.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return [folder / name for name in documents]


def write_single_export(scenario: Scenario | Sequence[Scenario], path: Path | str, restart_ids: bool = False) -> None:
    """Write all tables as nodes of one file, without a table of contents.

    It is not known whether `xctrace` restarts its ids at each node; `restart_ids` chooses.
    """
    runs = _runs(scenario)
    Path(path).write_text(_document(runs, _tables_by_position(runs), restart_ids), encoding="utf-8", newline="\n")


def _runs(scenario: Scenario | Sequence[Scenario]) -> list[Scenario]:
    return [scenario] if isinstance(scenario, Scenario) else list(scenario)


def _tables_by_position(runs: Sequence[Scenario]) -> list[tuple[int, int, TableContent]]:
    """All tables with the number of their run and their position in it."""
    return [(number, position, table) for number, run in enumerate(runs, start=1) for position, table in tables_of(run)]


def _document(
    runs: Sequence[Scenario], chosen: Sequence[tuple[int, int, TableContent]], restart_ids: bool = False
) -> str:
    """A query result. A further empty table of a schema is written without `<schema>`, as `xctrace` does."""
    if not chosen:
        return NO_MATCH
    samples = [row for run in runs for row in run.samples]
    images = placed_images(samples, f"/Users/somebody/Build/{runs[0].target.name}")
    nodes: list[str] = []
    previous = ""
    for run, position, table in chosen:
        if restart_ids or not nodes:
            writer = NodeWriter(runs[0].xcode.family >= 26, images)
        repeated_and_empty = table.schema == previous and run > 1 and not table.rows
        nodes.append(writer.node(run, position, table, with_schema=not repeated_and_empty))
        previous = table.schema
    return f'<?xml version="1.0"?>\n<trace-query-result>\n{"".join(nodes)}</trace-query-result>\n'


def _file_name(table: TableContent, part: int) -> str:
    """Name of the file for a table; tables of one schema differ by their category, and by the part that they hold."""
    category = dict(table.attributes).get("category")
    stem = f"{table.schema}.{category.strip(chr(34))}" if category else table.schema
    return f"{stem}.{part + 1}.xml" if part else f"{stem}.xml"
