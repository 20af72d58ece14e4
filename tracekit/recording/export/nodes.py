"""Reads the nodes of one `<trace-query-result>` as a stream.

trace-query-result
  node xpath='//trace-toc[1]/run[1]/data[1]/table[43]'
    schema name="..."            columns in order; absent where a further run has the same, empty table
      col (mnemonic, name, engineering-type)
    row                          one element per column, in column order
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from tracekit.errors import UnreadableRecording
from tracekit.recording.export import limits
from tracekit.recording.export.cells import Values, as_tag
from tracekit.recording.export.rows import RowReader, WaitingCells
from tracekit.recording.export.xml import Names, chunks, events, malformed_xml_error, pull_parser, unusable
from tracekit.recording.progress import Meter
from tracekit.recording.quoting import excerpt
from tracekit.recording.sources import Source
from tracekit.recording.table import Cells, Column

ROOT: Final = "trace-query-result"
_RUN = re.compile(r"/run\[(?:@number=[\"'])?(\d{1,6})[\"']?\]")
_POSITION = re.compile(r"/data(?:\[1\])?/table\[(\d{1,6})\]$")
_TRACK_XPATH = re.compile(rb"<node xpath=['\"][^'\"]{0,200}/tracks")


@dataclass(slots=True)
class Node:
    """One node: a table of one run. `cells` is None where they were not asked for."""

    schema: str
    run: int | None
    """1-based position of the run in the recording, where the xpath states it."""
    position: int | None
    """1-based position of the table in its run, where the xpath states it."""
    columns: tuple[Column, ...]
    rows: int = 0
    cells: tuple[Cells, ...] | None = None


@dataclass(slots=True)
class FileNodes:
    """What one file holds."""

    nodes: list[Node] = field(default_factory=list)
    track_details: int = 0
    """Nodes of Allocations, Leaks or VM Tracker, which have no schema and are not read."""


class Restart(Exception):  # noqa: N818 - control flow
    """A wanted table follows rows whose ids were not kept."""


class NodeReader:
    """One pass over one file.

    Cells are decoded where the file holds one of the `wanted` schemas (None: always), else only counted. Ids cross
    nodes, so a file is decoded as a whole or not at all. `values` takes the distinct values, where they are not to be
    the usual ones.
    """

    def __init__(self, source: Source, wanted: Collection[str] | None, values: Values | None = None) -> None:
        self._source = source
        self._wanted = wanted
        self._decoding = wanted is None
        self._counted = False
        self._result = FileNodes()
        self._values = Values(source.size) if values is None else values
        self._waiting = WaitingCells(self._values)
        self._names = Names()
        self._column_parts: set[str] = set()
        self._rows: list[tuple[Node, RowReader]] = []
        self._node: etree._Element | None = None
        self._root: etree._Element | None = None
        self._schema: tuple[str, tuple[Column, ...]] | None = None
        self._current: tuple[Node, RowReader] | None = None
        self._is_track_detail = False
        self._nodes = 0
        self._columns = 0
        self._started = 0
        self._removed = 0

    def read(self, meter: Meter) -> FileNodes:
        """The whole file, chunk by chunk, dropping what was read. Raises `UnreadableRecording`, or `Restart`."""
        parser = pull_parser(("start", "end"), ("node", "schema", "row"))
        silent_bytes = 0
        try:
            with self._source.open() as stream:
                for chunk in chunks(stream):
                    if not self._names.look(chunk, elements=not self._decoding or self._current is None):
                        raise self._error(f"more than {limits.MAX_NAMES:,} different names of elements and attributes")
                    parser.feed(chunk)
                    progressed = self._take(parser)
                    silent_bytes = 0 if progressed else silent_bytes + len(chunk)
                    if silent_bytes > limits.MAX_ROW_BYTES:
                        raise self._error(f"no row ended within {limits.MAX_ROW_BYTES:,} bytes")
                    meter.advance(len(chunk), self._source.name)
                parser.close()
        except etree.XMLSyntaxError as error:
            raise malformed_xml_error(self._source.label, error, self._track_hint()) from error
        self._finish()
        return self._result

    def _take(self, parser: etree.XMLPullParser) -> bool:
        """Handle what the parser found in the last chunk. True when an element came to its end."""
        progressed = False
        for event, element in events(parser):
            tag = element.tag
            if event == "end":
                progressed = True
                if tag == "row":
                    self._end_row(element)
                elif tag == "schema":
                    self._end_schema(element)
                else:
                    self._end_node(element)
            elif tag == "node":
                progressed = True
                self._start_node(element)
            else:
                self._started += 1
        if self._node is not None and self._root is not None:
            # Free what was read. The last child stays, since the parser may still append to it.
            self._check_children(self._node)
            self._removed += max(len(self._node) - 1, 0)
            del self._node[:-1]
            if len(self._root) > 1:
                if any(child.tag != "node" for child in self._root):
                    raise self._error(f"<{ROOT}> contains something other than <node>")
                del self._root[:-1]
        return progressed

    def _start_node(self, element: etree._Element) -> None:
        if self._root is None:
            self._root = element.getparent()
        if self._root is None or element.getparent() is not self._root or self._root.getparent() is not None:
            raise self._error("a <node> is not allowed here")
        if self._node is not None:
            self._check_children(self._node)
        self._nodes += 1
        if self._nodes > limits.MAX_NODES:
            raise self._error(f"more than {limits.MAX_NODES:,} nodes in one file")
        self._node, self._current = element, None
        self._started = self._removed = 0
        self._is_track_detail = "/tracks" in (element.get("xpath") or "")

    def _end_schema(self, element: etree._Element) -> None:
        if self._node is None or element.getparent() is not self._node or self._current is not None:
            raise self._error("a <schema> is not allowed here")
        name = element.get("name")
        if not name:
            raise self._error("a <schema> has no name")
        if len(element) > limits.MAX_COLUMNS:
            raise self._error(f"schema {excerpt(name)} has more than {limits.MAX_COLUMNS} columns")
        self._schema = (name, tuple(self._column(name, column) for column in element))
        self._begin_table()

    def _column(self, schema: str, element: etree._Element) -> Column:
        self._column_parts.update(str(child.tag) for child in element)
        if len(self._column_parts) > limits.MAX_COLUMN_PARTS:
            raise self._error(f"the columns have more than {limits.MAX_COLUMN_PARTS} kinds of parts")
        if any(len(child) for child in element):
            raise self._error(f"a column of schema {excerpt(schema)} is described by more than text")
        texts = {child.tag: (child.text or "").strip() for child in element}
        mnemonic, engineering_type = texts.get("mnemonic"), texts.get("engineering-type")
        if element.tag != "col" or not mnemonic or not engineering_type:
            raise self._error(f"a column of schema {excerpt(schema)} has no mnemonic or no engineering type")
        return Column(mnemonic, engineering_type, texts.get("name", ""))

    def _begin_table(self) -> None:
        """Open the table of the current node, with its own schema or that of the latest node that had one."""
        if self._schema is None:
            raise self._error("its first <node> has no <schema>")
        if self._node is None:
            raise self._error("a <row> is outside any <node>")
        name, columns = self._schema
        xpath = self._node.get("xpath") or ""
        run, position = _RUN.search(xpath), _POSITION.search(xpath)
        node = Node(name, int(run[1]) if run else None, int(position[1]) if position else None, columns)
        if self._wanted is not None and name in self._wanted and not self._decoding:
            if self._counted:
                raise Restart
            self._decoding = True
        self._columns += len(columns)
        if self._columns > limits.MAX_FILE_COLUMNS:
            raise self._error(f"more than {limits.MAX_FILE_COLUMNS:,} columns in the tables of one file")
        location = f"{self._source.label}, node {self._nodes}, table {excerpt(name)}"
        reader = RowReader(location, name, columns, self._values, self._waiting)
        self._current = node, reader
        self._rows.append(self._current)
        self._result.nodes.append(node)

    def _end_row(self, element: etree._Element) -> None:
        if self._node is None or element.getparent() is not self._node:
            raise self._error("a <row> is not allowed here")
        if self._is_track_detail:
            return
        if self._current is None:
            self._begin_table()
        assert self._current is not None  # noqa: S101 - narrows for the type checker
        node, reader = self._current
        if not self._decoding:
            self._counted = True
        self._read_row(node, reader, element)

    def _read_row(self, node: Node, reader: RowReader, element: etree._Element, /) -> None:
        node.rows += 1
        if self._decoding:
            reader.read(element)

    def _end_node(self, element: etree._Element) -> None:
        if element is not self._node:
            raise self._error("a <node> is not allowed here")
        if self._is_track_detail:
            self._result.track_details += 1
        elif self._current is None:
            self._begin_table()

    def _check_children(self, node: etree._Element) -> None:
        """Every child of a node must be one that an event was seen for."""
        if self._removed + len(node) != self._started:
            strange = next((str(child.tag) for child in node if child.tag not in ("schema", "row")), "row")
            raise self._error(f"{as_tag(strange)} is not allowed here, only a <schema> or a <row>")

    def _finish(self) -> None:
        """Turn rows into columns; by now every reference must be resolved."""
        self._waiting.check_empty()
        self._values.end()
        for node, reader in self._rows:
            if self._decoding:
                node.columns, node.cells = reader.finish()

    def _track_hint(self) -> str:
        """Why the XML may be malformed: Instruments writes some track details with invalid attribute names."""
        with self._source.open() as stream:
            if not _TRACK_XPATH.search(stream.read(4096)):
                return ""
        return "it contains track details (Allocations, Leaks, VM Tracker), which tracekit does not read; leave it out"

    def _error(self, reason: str) -> UnreadableRecording:
        schema = f", table {excerpt(self._current[0].schema)}" if self._current else ""
        node = f", node {self._nodes}" if self._nodes else ""
        return unusable(f"{self._source.label}{node}{schema}: {reason}")
