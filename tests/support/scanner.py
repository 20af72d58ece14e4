"""Both readers of exports on the same bytes, and builds of the scanner for tests."""

from __future__ import annotations

import io
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from lxml import etree

from tracekit.columns import Numbers
from tracekit.errors import UnreadableRecording
from tracekit.recording.export.nodes import FileNodes, NodeReader
from tracekit.recording.progress import Meter
from tracekit.recording.sources import Source

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tracekit" / "recording" / "export" / "scan"
CORPUS = ROOT.parent / "shared" / "corpus" / "xml"

COLUMNS = (
    "start:start-time duration:duration latency:duration event:coreml-model-event label:formatted-label "
    "process:process thread:thread stack:tagged-backtrace addresses:backtrace value:any bytes:size-in-bytes "
    "arg:kdebug-arg"
)
FIRST_ROW = (
    '<start-time id="1" fmt="00:00.001">1000</start-time><duration id="2" fmt="5 µs">5</duration><sentinel/>'
    '<coreml-model-event id="3" fmt="Prediction">Prediction</coreml-model-event>'
    '<formatted-label id="4" fmt="x &lt;y&gt;"><string id="5">x</string><process id="6" fmt="app (42)">'
    '<pid id="7" fmt="42">42</pid><device-session id="8">TODO</device-session></process></formatted-label>'
    '<process ref="6"/><thread id="9" fmt="Main (0x1)"><tid id="10">1</tid><process ref="6"/></thread>'
    '<tagged-backtrace id="11"><frame id="12" name="f" addr="0x1"><binary id="13" name="b" UUID="A" arch="arm64" '
    'load-addr="0x0" path="/b"/><source line="3"><path id="14">/f.c</path></source></frame><frame id="15" addr="0x2"/>'
    '</tagged-backtrace><backtrace id="16" fmt="f"><process ref="6"/><text-addresses id="17" fmt="frag">6497 12 0'
    '</text-addresses></backtrace><uint64 id="18">18446744073709551615</uint64><size-in-bytes id="19">1</size-in-bytes>'
    '<kdebug-arg id="20">7</kdebug-arg>'
)
LATER_ROWS = (
    '<start-time id="21">2000</start-time><duration ref="2"/><duration ref="2"/><coreml-model-event id="22" fmt="é"/>'
    '<formatted-label id="23" fmt=""><string ref="5"/><sentinel/><string id="24">y</string></formatted-label>'
    "<sentinel/>"
    '<thread ref="9"/><tagged-backtrace id="25"><backtrace id="26"><frame ref="12"/><frame ref="15"/></backtrace>'
    '<uint64 ref="18"/></tagged-backtrace><backtrace ref="16"/><string>s</string><size-in-bytes ref="19"/>'
    '<kdebug-arg ref="20"/>',
    '<start-time ref="21"/><duration id="27">0</duration><sentinel/><coreml-model-event ref="3"/>'
    '<formatted-label id="28" fmt="xy"/><process id="29" fmt="other"></process><sentinel/>'
    '<tagged-backtrace ref="25"/><sentinel/><sentinel/>'
    '<sentinel/><kdebug-arg id="30">8</kdebug-arg>',
)


def small_document() -> bytes:
    """An export with every kind of cell, which the scanner accepts."""
    schema = "".join(
        f"<col><mnemonic>{name}</mnemonic><name>N</name><engineering-type>{kind}</engineering-type></col>"
        for name, kind in (column.split(":") for column in COLUMNS.split())
    )
    rows = "\n".join(f"<row>{row}</row>" for row in (FIRST_ROW, *LATER_ROWS))
    return (
        "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>"
        f'<schema name="sample">{schema}</schema>{rows}\n</node>'
        "<node xpath='//trace-toc[1]/run[2]/data[1]/table[1]'></node></trace-query-result>\n"
    ).encode()


def document(types: str, rows: Iterable[str]) -> bytes:
    """An export of one table, whose columns are called as their types."""
    schema = "".join(
        f"<col><mnemonic>{kind}</mnemonic><name>N</name><engineering-type>{kind}</engineering-type></col>"
        for kind in types.split()
    )
    return (
        "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>"
        f'<schema name="sample">{schema}</schema>{"".join(f"<row>{row}</row>" for row in rows)}\n'
        "</node></trace-query-result>\n"
    ).encode()


def repeating_document() -> bytes:
    """An export whose rows are mostly the same as those before: whole, up to a cell, and with other blanks."""
    defined = (
        '<start-time id="1">5</start-time><duration id="2">7</duration><sentinel/><coreml-model-event id="3">P'
        '</coreml-model-event><formatted-label id="4" fmt="L"/><process id="5" fmt="a (1)"><pid id="6">1</pid>'
        '</process><size-in-bytes id="7">0</size-in-bytes><uint64 id="8">9</uint64>'
    )
    same = (
        '<start-time ref="1"/><duration ref="2"/><sentinel/><coreml-model-event ref="3"/><formatted-label ref="4"/>'
        '<process ref="5"/><size-in-bytes ref="7"/><uint64 ref="8"/>'
    )
    changes = (
        ('<duration ref="2"/>', '<duration id="9">8</duration>'),
        ('<duration ref="2"/>', "<sentinel/>"),
        ('<duration ref="2"/>', '<duration ref="9"/>'),
        ('<formatted-label ref="4"/>', '<formatted-label id="10" fmt="M"/>'),
        ("<sentinel/>", '<duration ref="9"/>'),
        ('<uint64 ref="8"/>', "<string>s</string>"),
        ('<uint64 ref="8"/>', "<string>s</string>"),
        ("/><", "/>\n\t <"),
        ('<start-time ref="1"/>', '<start-time id="11">6</start-time>'),
    )
    rows = [defined, same, same, *(row for change in changes for row in (same.replace(*change), same))]
    types = "start-time duration duration coreml-model-event formatted-label process size-in-bytes any"
    once, again = document(types, rows).split(b"<node"), document(types, [same, defined, same, same]).split(b"<node")
    # Ids start again in the second row of the second table, behind references to values of the first table.
    return once[0] + b"<node" + once[1].replace(b"</trace-query-result>\n", b"") + b"<node" + again[1]


def many_rows(count: int = 8_000) -> bytes:
    """An export of several chunks, whose ids, values and rows outgrow every array more than once."""
    return document(
        "start-time formatted-label string",
        (
            f'<start-time id="{3 * row + 1}">{row}</start-time><formatted-label id="{3 * row + 2}" fmt="{row:0200}"/>'
            f'<string id="{3 * row + 3}">{row // 2}</string>'
            for row in range(count)
        ),
    )


class _Stuttering(io.BytesIO):
    """A stream that ends its reads at given places."""

    def __init__(self, content: bytes, borders: tuple[int, ...]) -> None:
        super().__init__(content)
        self._borders = borders

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        offset = self.tell()
        end = next((border for border in self._borders if border > offset), None)
        return super().readinto(buffer if end is None else buffer[: end - offset])


def source_of(content: bytes, borders: tuple[int, ...] = ()) -> Source:
    """The bytes as a file, which is read in chunks that end at the borders."""
    return Source("table.xml", "'table.xml'", len(content), lambda: _Stuttering(content, borders), explicit=True)


def read_strictly(content: bytes) -> FileNodes | None:
    """What the strict reader makes of it; None where it refuses."""
    try:
        return NodeReader(source_of(content), None).read(Meter(None, None))
    except UnreadableRecording:
        return None


def scan(content: bytes, borders: tuple[int, ...] = ()) -> FileNodes | None:
    """What the scanner makes of it; None where it declines."""
    from tracekit.recording.export._scan import Declined
    from tracekit.recording.export.scanned import ScanReader

    try:
        return ScanReader(source_of(content, borders), None).read(Meter(None, None))
    except Declined:
        return None


def difference(one: FileNodes, other: FileNodes) -> str:
    """What is not the same to the last cell; empty where all is."""
    if (len(one.nodes), one.track_details) != (len(other.nodes), other.track_details):
        return "nodes"
    for node, twin in zip(one.nodes, other.nodes, strict=True):
        for name in ("schema", "run", "position", "columns", "rows"):
            if getattr(node, name) != getattr(twin, name):
                return f"{name}: {getattr(node, name)!r}, {getattr(twin, name)!r}"
        if (node.cells is None) != (twin.cells is None):
            return "cells"
        for column, left, right in zip(node.columns, node.cells or (), twin.cells or (), strict=True):
            if isinstance(left, Numbers) != isinstance(right, Numbers):
                return f"form of {column}"
            names = ("values", "known") if isinstance(left, Numbers) else ("values", "codes")
            for name in names:
                mine, theirs = getattr(left, name), getattr(right, name)
                same = np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else mine == theirs
                if not same or (isinstance(mine, np.ndarray) and mine.dtype != theirs.dtype):
                    return f"{name} of {column}: {mine!r}, {theirs!r}"
    return ""


def disagreement(content: bytes) -> str:
    """How the readers disagree about a file that the scanner accepts; empty where they agree."""
    scanned = scan(content)
    if scanned is None:
        return ""
    strict = read_strictly(content)
    return "the strict reader refuses it" if strict is None else difference(scanned, strict)


def real_documents(rows: int | None = None) -> list[bytes]:
    """Exports of the corpus, whole or with the first rows alone."""
    documents = []
    for path in sorted(CORPUS.glob("*.xml")) if CORPUS.is_dir() else ():
        content = path.read_bytes()
        if b"<trace-query-result>" not in content:
            continue
        parts = content.split(b"</row>")
        if rows is not None and len(parts) > rows + 1:
            content = b"</row>".join(parts[:rows]) + b"</row></node></trace-query-result>"
            etree.fromstring(content)
        documents.append(content)
    return documents


def compiler() -> str | None:
    """The C compiler, where there is one with the headers of Python."""
    header = Path(sysconfig.get_path("include")) / "Python.h"
    return (
        next((path for name in ("gcc", "clang", "cc") if (path := shutil.which(name))), None)
        if header.exists()
        else None
    )


def build(folder: Path, *flags: str) -> Path:
    """Compile the scanner into a folder. Raises `CalledProcessError` with what the compiler says."""
    target = folder / "_scan.abi3.so"
    sources = map(str, sorted(SOURCES.glob("*.c")))
    include = f"-I{sysconfig.get_path('include')}"
    command = [compiler() or "cc", "-std=c11", "-shared", "-fPIC", "-g", include, *flags, *sources, "-o", str(target)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return target
