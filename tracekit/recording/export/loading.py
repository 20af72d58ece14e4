"""Reads the files of an input and remembers which of them were decoded.

A file of nodes is read with the compiled scanner where that is possible, else strictly. Both give the same cells.
What the scanner declines is read by the strict reader from its beginning, which makes every error message.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass

from tracekit.errors import UnreadableRecording
from tracekit.recording.export.nodes import ROOT as NODES_ROOT, FileNodes, Node, NodeReader, Restart
from tracekit.recording.export.toc import ROOT as TOC_ROOT, TocRun, read_toc
from tracekit.recording.export.xml import root_of
from tracekit.recording.progress import Meter, Progress
from tracekit.recording.quoting import excerpt, quote_name
from tracekit.recording.sources import READABLE, Inputs, Source

try:
    from tracekit.recording.export import scanned
    from tracekit.recording.export._scan import Declined
except ImportError:
    # Where the package was installed without a C compiler.
    scanned = None  # type: ignore[assignment]

from tracekit.recording.table import Cells

_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class ExportedFile:
    """One file of nodes."""

    source: Source
    nodes: list[Node]

    def cells(self, index: int) -> tuple[Cells, ...]:
        """Cells of one of its nodes; reads the file again where they were only counted so far."""
        node = self.nodes[index]
        if node.cells is None:
            nodes = read_nodes(self.source, None, Meter(None, None)).nodes
            if [(node.schema, node.rows) for node in nodes] != [(node.schema, node.rows) for node in self.nodes]:
                raise UnreadableRecording(f"{self.source.label} changed while it was read; open the recording again")
            self.nodes = nodes
            node = nodes[index]
        assert node.cells is not None  # noqa: S101 - everything is decoded where nothing particular is wanted
        return node.cells


@dataclass(frozen=True, slots=True)
class LoadedFiles:
    """Everything that the input holds, file by file."""

    tocs: list[tuple[Source, tuple[TocRun, ...]]]
    files: list[ExportedFile]
    notes: list[str]


def load(inputs: Inputs, wanted: Collection[str] | None, report: Callable[[Progress], None] | None) -> LoadedFiles:
    """Read all files. Raises `UnreadableRecording`, also where none of them is an export."""
    sources = _exports(inputs)
    meter = Meter(report, sum(source.size for source, _ in sources))
    loaded = LoadedFiles([], [], list(inputs.notes))
    details: list[Source] = []
    for source, root in sources:
        if root == TOC_ROOT:
            loaded.tocs.append((source, read_toc(source, meter)))
            continue
        content = read_nodes(source, wanted, meter)
        if content.track_details:
            details.append(source)
        if not content.nodes and not content.track_details:
            loaded.notes.append(f"{source.label} contains no table: the query that wrote it matched nothing")
        if content.nodes or not content.track_details:
            loaded.files.append(ExportedFile(source, content.nodes))
    # Track details have another form and are left out; alone they are no recording.
    if details and not loaded.tocs and not loaded.files:
        raise UnreadableRecording(
            f"{details[0].label} contains track details (Allocations, Leaks, VM Tracker), which tracekit does not "
            "read; export tables instead: `xcrun xctrace export --input run.trace --xpath "
            '\'/trace-toc/run[@number="1"]/data/table[@schema="coreml-os-signpost"]\'`'
        )
    loaded.notes.extend(
        f"{source.label} contains track details (Allocations, Leaks, VM Tracker), which were ignored"
        for source in details
    )
    loaded.notes.extend(
        f"the trace bundle {quote_name(name)} beside the exports was not read" for name in inputs.bundles
    )
    return loaded


def _exports(inputs: Inputs) -> list[tuple[Source, str]]:
    """The files that are exports, with the name of their root element."""
    files = []
    for source in inputs.sources:
        claims_xml = source.explicit or source.name.lower().endswith(".xml")
        try:
            root = root_of(source)
        except UnreadableRecording:
            if claims_xml:
                raise
            continue
        if root in (TOC_ROOT, NODES_ROOT):
            files.append((source, root))
        elif source.explicit:
            raise UnreadableRecording(
                f"{source.label} begins with the element {excerpt(root)}, where an export begins with "
                f"<{NODES_ROOT}> or <{TOC_ROOT}>; {READABLE}"
            )
        elif claims_xml:
            inputs.notes.append(
                f"{source.label} begins with the element {excerpt(root)}, is not an export, and was left out"
            )
    if not files:
        if inputs.bundles:
            raise UnreadableRecording(
                f"{quote_name(inputs.name)} contains .trace bundles, which have to be passed themselves, such as "
                f"{quote_name(f'{inputs.name}/{inputs.bundles[0]}')}"
            )
        notes = f" ({'; '.join(inputs.notes[:3])})" if inputs.notes else ""
        raise UnreadableRecording(f"{quote_name(inputs.name)} contains no recording{notes}; {READABLE}")
    return files


def read_nodes(source: Source, wanted: Collection[str] | None, meter: Meter) -> FileNodes:
    """Read a file. Cells are decoded where it holds one of the `wanted` schemas (None: always), else only counted.

    Raises `UnreadableRecording`.
    """
    reason = "the compiled scanner is not installed"
    if scanned is not None:
        begin = meter.done
        try:
            nodes = _read(scanned.ScanReader, source, wanted, meter)
        except Declined as declined:
            reason = str(declined)
            meter.done = begin
        else:
            _LOG.info("read %s with the compiled scanner", source.label)
            return nodes
    nodes = _read(NodeReader, source, wanted, meter)
    _LOG.info("read %s with the strict reader (%s)", source.label, reason)
    return nodes


def _read(reader: type[NodeReader], source: Source, wanted: Collection[str] | None, meter: Meter) -> FileNodes:
    try:
        return reader(source, wanted).read(meter)
    except Restart:
        return reader(source, None).read(meter)
