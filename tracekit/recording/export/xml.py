"""The XML parser, set so that it fetches nothing, expands nothing, refuses what no export contains, and meets no more
different names than one export has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Literal, cast

from lxml import etree
from lxml.etree import _Element

from tracekit.errors import UnreadableRecording
from tracekit.recording.export import limits
from tracekit.recording.limits import CHUNK_BYTES
from tracekit.recording.sources import Source

EXPORT_AGAIN = "export it again with `xcrun xctrace export`"
"""What helps against a file that was cut off or edited."""
_HEAD_STEP = 256
"""The parser reports nothing of a chunk in which it meets an error, so the head is read in small steps."""
_BOM = b"\xef\xbb\xbf"
_FOREIGN_BOMS = (b"\xff\xfe", b"\xfe\xff", b"\x00<", b"<\x00")
_ENCODING = re.compile(rb"""^<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_UTF8 = frozenset({b"utf-8", b"utf8", b"us-ascii", b"ascii"})
_ATTRIBUTES = {
    blank: re.compile(blank + rb"(?!id=|ref=|fmt=)([^\s=<>\"'/]++)\s*+=\s*+[\"']")
    for blank in (b" ", b"\n", b"\t", b"\r")
}
"""Attributes other than the usual three, by the blank before them: with a fixed first byte a search is five times as
fast. Nothing shorter than a whole run can match, so none is tried."""
_ELEMENTS = re.compile(rb"<([^\s/>!?]+)")


def unusable(what: str) -> UnreadableRecording:
    """The error for such a file."""
    return UnreadableRecording(f"{what}; {EXPORT_AGAIN}")


def pull_parser(wanted: Sequence[Literal["start", "end"]], tags: Sequence[str] | None = None) -> etree.XMLPullParser:
    """A parser to feed with chunks. Its built-in limits (text of 10 MB, 256 levels) stay on."""
    return etree.XMLPullParser(
        events=wanted,
        tag=tags,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        encoding="utf-8",
    )


def events(parser: etree.XMLPullParser) -> Iterator[tuple[str, _Element]]:
    """What the parser found since the last call: `start` or `end`, and the element."""
    return cast("Iterator[tuple[str, _Element]]", parser.read_events())


def chunks(stream: BinaryIO, size: int = CHUNK_BYTES) -> Iterator[bytes]:
    """The bytes of a file without byte order mark."""
    yield stream.read(size).removeprefix(_BOM)
    while chunk := stream.read(size):
        yield chunk


def root_of(source: Source) -> str:
    """Name of the root element of a file. Raises `UnreadableRecording` for what is no XML or has a document type."""
    parser = pull_parser(("start",))
    bytes_read = 0
    head = b""
    with source.open() as stream:
        try:
            for chunk in chunks(stream, _HEAD_STEP):
                declared = None if bytes_read else _ENCODING.match(chunk)
                is_foreign = not bytes_read and chunk.startswith(_FOREIGN_BOMS)
                if is_foreign or (declared and declared.group(1).lower() not in _UTF8):
                    raise UnreadableRecording(
                        f"{source.label} is not encoded in UTF-8 as `xctrace export` writes it; {EXPORT_AGAIN}, or "
                        "convert it to UTF-8"
                    )
                bytes_read += len(chunk)
                if len(head) < 4096:
                    head += chunk
                parser.feed(chunk)
                for _, root in events(parser):
                    if root.getroottree().docinfo.internalDTD is not None:
                        raise _doctype_error(source.label)
                    return str(root.tag)
                if bytes_read > limits.MAX_PROLOG_BYTES:
                    break
        except etree.XMLSyntaxError as error:
            if b"<!DOCTYPE" not in head:
                raise malformed_xml_error(source.label, error) from error
    if b"<!DOCTYPE" in head:
        raise _doctype_error(source.label)
    if not head.strip():
        raise unusable(f"{source.label} is empty")
    raise unusable(f"{source.label} contains no XML element in its first {bytes_read:,} bytes")


def _doctype_error(label: str) -> UnreadableRecording:
    return unusable(
        f"{label} declares a document type (<!DOCTYPE ...>), which no export contains and tracekit does not process"
    )


def malformed_xml_error(label: str, error: etree.XMLSyntaxError, hint: str = "") -> UnreadableRecording:
    """The error for text that is not well-formed XML, with the place where the parser gave up."""
    message = " ".join((error.msg or "unknown error").split())
    line, column = error.position
    message = re.sub(r",? line \d+, column \d+.*$", "", message)[:160]
    message = "".join(char if char.isprintable() else "?" for char in message)
    where = f" at line {line}, column {column}" if line else ""
    return UnreadableRecording(
        f"{label} is not well-formed XML{where} ({message}): {hint or f'it may be cut off or edited; {EXPORT_AGAIN}'}"
    )


class Names:
    """Names met in one file, whose number is kept within bounds.

    libxml2 keeps every element and attribute name it ever met, in one table for the whole process. A file made of ever
    new names would fill the memory although no row of it is kept.
    """

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def look(self, chunk: bytes, *, elements: bool) -> bool:
        """Note the names in a chunk of the file. False when there are too many.

        Text that looks like an attribute counts too; the limit is far above what texts hold. elements: whether to
        look at element names, needed where cells are not read one by one.
        """
        for blank, pattern in _ATTRIBUTES.items():
            if blank in chunk:
                self._seen.update(pattern.findall(chunk))
        if elements:
            self._seen.update(_ELEMENTS.findall(chunk))
        return len(self._seen) <= limits.MAX_NAMES
