"""Reads the files of an input, their tables of contents too, and remembers which of them were decoded.

A file of nodes is read with the compiled scanner where that is possible, else strictly. Both give the same cells.
What the scanner declines is read by the strict reader from its beginning, which makes every error message.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from lxml import etree

from tracekit.errors import UnreadableRecording
from tracekit.recording.contents import Device, Run, Target
from tracekit.recording.export import limits
from tracekit.recording.export.cells import as_tag
from tracekit.recording.export.nodes import ROOT as NODES_ROOT, FileNodes, Node, NodeReader, Restart
from tracekit.recording.export.xml import chunks, malformed_xml_error, pull_parser, root_of, unusable
from tracekit.recording.progress import Meter, Progress
from tracekit.recording.quoting import excerpt, quote_name
from tracekit.recording.sources import READABLE, Inputs, Source
from tracekit.recording.table import Cells, Process

try:
    from tracekit.recording.export import scanned
    from tracekit.recording.export._scan import Declined
except ImportError:
    # Where the package was installed without a C compiler.
    scanned = None  # type: ignore[assignment]

TOC_ROOT: Final = "trace-toc"
IMPORTED: Final = "imported-from"
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?", re.ASCII)
_WHOLE_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class TocRun:
    """One run with its tables in order of position; `tables` is None where the file does not list them."""

    run: Run
    tables: tuple[tuple[str, Mapping[str, str]], ...] | None
    """Schema and attributes of each, but `schema` as written: values that are lists keep their quotes."""
    failed: bool
    """Whether the recording failed: no dates, no version, no duration."""


def read_toc(source: Source, meter: Meter) -> tuple[TocRun, ...]:
    """Read what `xctrace export --toc` writes. Raises `UnreadableRecording`.

        trace-toc
          run number="1"
            info/target      device, host-device, and the process or all-processes
            info/summary     dates, duration in seconds, versions, template
          processes        where the executable of each process lies
          data             one table element per table; table[N] in the xpath of a node counts these from 1

    The environment of the target may hold secrets and is not read.
    """
    parser = pull_parser(("start",), TOC_ROOT)
    size = 0
    try:
        with source.open() as stream:
            for chunk in chunks(stream):
                size += len(chunk)
                if size > limits.MAX_TOC_BYTES:
                    raise unusable(f"{source.label} is a table of contents of more than {limits.MAX_TOC_BYTES:,} bytes")
                parser.feed(chunk)
                meter.advance(len(chunk), source.name)
            root = parser.close()
    except etree.XMLSyntaxError as error:
        raise malformed_xml_error(source.label, error) from error
    if len(root.findall("run")) > limits.MAX_RUNS:
        raise unusable(f"{source.label} lists more than {limits.MAX_RUNS:,} runs")
    if len(root.findall("run/data/table")) > limits.MAX_LISTED_TABLES:
        raise unusable(f"{source.label} lists more than {limits.MAX_LISTED_TABLES:,} tables")
    runs = tuple(_run(source.label, index, element) for index, element in enumerate(root.findall("run"), 1))
    if not runs:
        raise unusable(f"{source.label} is a table of contents without any run")
    numbers = [run.run.number for run in runs]
    if len(set(numbers)) < len(numbers):
        raise unusable(f"{source.label} lists the same run twice")
    return runs


def _run(label: str, index: int, element: etree._Element) -> TocRun:
    number = _number(label, "run number", element.get("number")) or index
    summary = element.find("info/summary")
    texts = {} if summary is None else {str(c.tag): _plain_text(label, c) for c in summary if c.tag != IMPORTED}
    target, data = element.find("info/target"), element.find("data")
    process, recorded = None if target is None else target.find("process"), Target()
    if process is not None:
        name = _text(process.get("name"))
        pid = _number(label, "process id of the target", process.get("pid"))
        # Where the executable of the target lies, by the list of processes.
        listed = (one for one in element.iterfind("processes/process") if one.get("pid") == process.get("pid"))
        recorded = Target(
            kind=_text(process.get("type")),
            process=None if name is None and pid is None else Process(name or "", pid),
            arguments=_text(process.get("arguments")),
            termination_reason=_text(process.get("termination-reason")),
            path=next(filter(None, (_text(one.get("path")) for one in listed)), None),
        )
    elif target is not None and target.find("all-processes") is not None:
        recorded = Target(kind="all-processes")
    seconds = texts.get("duration")
    if seconds is not None and not _SECONDS.fullmatch(seconds):
        raise unusable(f"{label}: the duration is {excerpt(seconds)}, not seconds")
    duration = None if seconds is None else int(Decimal(seconds) * 1_000_000_000)
    dates = texts.get("start-date"), texts.get("end-date")
    failed = summary is not None and not any((*dates, texts.get("instruments-version"), duration)) and duration == 0
    run = Run(
        number=number,
        device=_device(target, "device") or Device(),
        host=_device(target, "host-device"),
        target=recorded,
        start_date=dates[0],
        end_date=dates[1],
        duration_ns=duration,
        end_reason=texts.get("end-reason"),
        instruments_version=texts.get("instruments-version"),
        template=texts.get("template-name"),
        recording_mode=texts.get("recording-mode"),
        time_limit=texts.get("time-limit"),
        imported_from=_import_source(element),
    )
    tables: list[tuple[str, Mapping[str, str]]] = []
    for table in () if data is None else data.findall("table"):
        schema = table.get("schema")
        if not schema:
            raise unusable(f"{label} lists a table without schema")
        attributes = {str(key): str(value) for key, value in table.items() if key != "schema"}
        tables.append((schema, MappingProxyType(attributes)))
    return TocRun(run, None if data is None else tuple(tables), failed)


def _import_source(run: etree._Element) -> str | None:
    """What `xctrace import` made the run from; `an unnamed file` where only that it was imported is known.

    No such table of contents was seen, so it is found as an attribute or an element, wherever it stands.
    """
    for element in (run, *run.iterfind("info//")):
        if element.tag == IMPORTED:
            texts = (text for child in element.iter() for text in (child.text, *map(str, child.attrib.values())))
            return next(filter(None, map(_text, texts)), "an unnamed file")
        if source := _text(element.get(IMPORTED)):
            return source
    return None


def _device(target: etree._Element | None, tag: str) -> Device | None:
    element = None if target is None else target.find(tag)
    if element is None:
        return None
    return Device(*(_text(element.get(key)) for key in ("platform", "model", "os-version", "name", "uuid")))


def _text(text: str | None) -> str | None:
    """Text without surrounding blanks; None where there is none."""
    return (text or "").strip() or None


def _plain_text(label: str, element: etree._Element) -> str | None:
    """Text of an element. Raises `UnreadableRecording` where elements stand inside, since it would be read in part."""
    text = _text(element.text)
    if text is not None and len(element):
        raise unusable(f"{label}: {as_tag(str(element.tag))} contains elements inside its text")
    return text


def _number(label: str, what: str, text: str | None) -> int | None:
    if text is None or not text.strip():
        return None
    if not _WHOLE_NUMBER.fullmatch(text.strip()):
        raise unusable(f"{label}: the {what} is {excerpt(text)}, not a whole number")
    return int(text)


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
