"""Values of cells: what each engineering type means, and the ids by which later cells refer to earlier ones.

A value is kept as one 64-bit payload: the number itself, or the index of the value among the distinct values of the
file. Ids count up from 1 in real exports, so they are an index into two arrays, which takes ten bytes an id.

Facts about types, ids and references: `xctrace export` files of Xcode 12.5 to 27.2. The display text (`fmt`) is
written in the language of the Mac that recorded; numbers are never taken from it.
"""

from __future__ import annotations

import re
from array import array
from sys import getsizeof
from typing import Protocol

from lxml.etree import _Element

from tracekit.arrays import Int32Array, IntArray
from tracekit.columns import Codes
from tracekit.recording.engineering_types import NUMERIC, PLAIN, SENTINEL, STACK_SEPARATOR, Kind, kind_of
from tracekit.recording.export import limits
from tracekit.recording.limits import MAX_TIME_NS
from tracekit.recording.quoting import excerpt
from tracekit.recording.table import CellValue, Process, Thread

Part = tuple[int, int]
"""Code of a tag, and payload."""

_NUMBER = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_NO_TAG = 0
_SHORT = 16
"""Digits below which a number needs no check of its range."""
_MAX_KNOWN = 4_096
"""References whose payloads are kept at hand, few enough to take hardly any memory."""
_MAX_GAP = 65_536
"""How many places of the arrays may be empty beyond as many as are taken; ids further ahead are kept one by one."""


class CellError(Exception):
    """A cell that cannot be what its column says. The text completes the sentence "cell ...: <text>"."""


class Element(Protocol):
    """What a value is made of, besides its parts."""

    @property
    def text(self) -> str | None:
        """Text before the first part."""

    def get(self, key: str) -> str | None:
        """An attribute."""


class Undefined(Exception):  # noqa: N818 - not a failure: the value may follow
    """A reference to an id that was not defined so far."""

    def __init__(self, identity: str, tag: str) -> None:
        super().__init__(identity, tag)
        self.identity = identity
        self.tag = tag


def as_tag(tag: str, reference: str | None = None) -> str:
    """An element as a message shows it, with the id it refers to."""
    return f"<{excerpt(tag)[1:-1]}{'' if reference is None else f' ref={excerpt(reference)}'}>"


def whole_number(text: str | None, tag: str) -> int:
    """Text of a number as a payload; unsigned values above 2^63 - 1 in two's complement. Raises `CellError`."""
    stripped = (text or "").strip()
    if not _NUMBER.fullmatch(stripped):
        raise CellError(f"{as_tag(tag)} contains {excerpt(stripped)} where a whole number is expected")
    value = int(stripped)
    if not -(2**63) <= value <= 2**64 - 1:
        raise CellError(f"{as_tag(tag)} contains {stripped}, which does not fit into 64 bits")
    return value - 2**64 if value > 2**63 - 1 else value


def time_ns(text: str | None, tag: str) -> int:
    """Text of a time or duration in ns. Raises `CellError`."""
    stripped = (text or "").strip()
    if not _NUMBER.fullmatch(stripped):
        raise CellError(f"{as_tag(tag)} contains {excerpt(stripped)} where a whole number of nanoseconds is expected")
    value = int(stripped)
    if value < 0:
        raise CellError(f"{as_tag(tag)} contains the negative time {stripped}")
    if value > MAX_TIME_NS:
        raise CellError(f"{as_tag(tag)} contains {stripped} ns, longer than any recording")
    return value


class Values:
    """The distinct values and the ids of one file."""

    def __init__(self, size: int = 0) -> None:
        """size: bytes of the file."""
        self.distinct: list[CellValue] = []
        """Every text, process and thread of the file, once."""
        self.tags: list[str] = [""]
        """Tag of each code; code 0 stands for none."""
        self.kinds: list[Kind] = [Kind.TEXT]
        self.is_number: list[bool] = [False]
        """Whether the payload of each code is the number itself."""
        self.id_codes = array("H", [_NO_TAG])
        """Code of the tag that defined each id; 0 where it is not defined."""
        self.id_payloads = array("q", [0])
        self.known: list[dict[str | None, int]] = [{None: 0}]
        """Payloads of references met lately, by code of the tag: one look-up for two. A cell of code 0 has no value."""
        self._known_count = 0
        self.awaited: set[str] = set()
        """Ids that cells wait for."""
        self.arrived: list[str] = []
        """Waited-for ids that were defined since the list was last emptied."""
        self._codes: dict[str, int] = {}
        self._index: dict[CellValue, int] = {}
        self._odd_ids: dict[str, tuple[int, int]] = {}
        self.elements = 0
        """Elements inside the cells of this row so far."""
        self._gaps = 0
        self.composed = 0
        """Bytes of texts put together from parts."""
        self._allowed = limits.COMPOSED_FREE_BYTES + limits.MAX_COMPOSED_GROWTH * size

    def code(self, tag: str) -> int:
        """Number of a tag, from 1."""
        code = self._codes.get(tag)
        if code is None:
            if len(self.tags) > limits.MAX_TAGS:
                raise CellError(f"{as_tag(tag)}: more than {limits.MAX_TAGS} kinds of cells in one file")
            code = self._codes[tag] = len(self.tags)
            self.tags.append(tag)
            self.known.append({})
            self.kinds.append(kind_of(tag))
            self.is_number.append(kind_of(tag) in NUMERIC)
        return code

    def end(self) -> None:
        """Let go of what only further elements would need: it takes a quarter of the memory of a large file."""
        del self.id_codes[1:], self.id_payloads[1:]
        self._index.clear()
        self._odd_ids.clear()
        for known in self.known[1:]:
            known.clear()

    def define(self, element: _Element, code: int, depth: int = 0) -> int:
        """Payload of an element that holds a value; registers its id and those inside it.

        Raises `CellError`, or `Undefined` when it refers to something not defined so far.
        """
        identity = element.get("id")
        kind = self.kinds[code]
        if self.is_number[code]:
            if len(element):
                raise _strange(element, self.tags[code])
            text = element.text
            if text is not None and len(text) < _SHORT and text.isascii() and text.isdecimal():
                payload = int(text)
            else:
                payload = (time_ns if kind is Kind.TIME else whole_number)(text, self.tags[code])
        elif kind in PLAIN and len(element) == 0:
            text = element.text
            payload = self.intern(_checked_text(text if text is not None else element.get("fmt") or ""))
        else:
            if identity is not None:
                # Its children come later in document order: an id keeps its place, and a value cannot hold itself.
                self._register(identity, _NO_TAG, 0)
            parts = self._parts(element, depth)
            if kind in PLAIN and element.text is not None and not element.text.isspace():
                raise _strange(element, self.tags[code])
            payload = self.intern(self.compound(kind, element, parts))
        if identity is not None:
            self._register(identity, code, payload)
            if self.awaited and identity in self.awaited:
                self.arrived.append(identity)
        return payload

    def recall(self, reference: str, code: int) -> int:
        """As `refer`, for a cell of a row; keeps the payload at hand for the rows that follow."""
        if not code:
            return 0
        try:
            number = int(reference) if reference.isdecimal() else 0
            if self.id_codes[number] != code:
                return self.refer(reference, code)
        except (IndexError, ValueError):
            return self.refer(reference, code)
        payload = self.id_payloads[number]
        if len(reference) < _SHORT and reference.isascii():
            if self._known_count == _MAX_KNOWN:
                self._known_count = 0
                for known in self.known[1:]:
                    known.clear()
            self._known_count += 1
            self.known[code][reference] = payload
        return payload

    def refer(self, identity: str, code: int) -> int:
        """Payload behind a reference from a cell of that tag. Raises `Undefined` or `CellError`."""
        number = _id_number(identity)
        if 0 < number < len(self.id_codes) and self.id_codes[number] != _NO_TAG:
            tag, payload = self.id_codes[number], self.id_payloads[number]
        else:
            tag, payload = self._odd_ids.get(identity, (_NO_TAG, 0))
        if tag == code:
            return payload
        if tag == _NO_TAG:
            raise Undefined(identity, self.tags[code])
        raise CellError(f"{as_tag(self.tags[code], identity)} refers to a {as_tag(self.tags[tag])}")

    def value(self, element: _Element, code: int, depth: int = 0) -> int:
        """Payload of an element, be it a definition or a reference."""
        identity = element.get("ref")
        return self.define(element, code, depth) if identity is None else self.refer(identity, code)

    def text(self, code: int, payload: int) -> str:
        """A value of any kind as text."""
        if self.kinds[code] in NUMERIC:
            unsigned = payload < 0 and not self.tags[code].startswith("int")
            return str(payload + 2**64 if unsigned else payload)
        return str(self.at(payload))

    def at(self, payload: int) -> CellValue:
        """The distinct value of that index."""
        return self.distinct[payload]

    def coded_cells(self, codes: Int32Array, indexes: IntArray) -> Codes[CellValue]:
        """Cells with codes into the distinct values of these indexes."""
        return Codes(codes, tuple(map(self.distinct.__getitem__, indexes.tolist())))

    def intern(self, value: CellValue) -> int:
        """Index of a value among the distinct ones."""
        index = self._index.get(value)
        if index is None:
            index = self._index[value] = len(self.distinct)
            if index > limits.MAX_DISTINCT_VALUES:
                raise CellError("the file contains too many different values")
            self.distinct.append(value)
        return index

    def _register(self, identity: str, code: int, payload: int) -> None:
        next_id = len(self.id_codes)
        number = next_id if identity == str(next_id) else _id_number(identity)
        if number == next_id:
            self.id_codes.append(code)
            self.id_payloads.append(payload)
        elif 0 < number < next_id:
            if before := self.id_codes[number]:
                # An id defined again has another value from here on.
                self.known[before].clear()
            self.id_codes[number] = code
            self.id_payloads[number] = payload
        elif next_id <= number and 2 * (self._gaps + number - next_id) <= number + _MAX_GAP:
            self._gaps += number - next_id
            self.id_codes.frombytes(bytes(2 * (number - next_id)))
            self.id_payloads.frombytes(bytes(8 * (number - next_id)))
            self.id_codes.append(code)
            self.id_payloads.append(payload)
        else:
            self._odd_ids[identity] = (code, payload)

    def compound(self, kind: Kind, element: Element, parts: list[Part]) -> CellValue:
        """Value of an element that is more than one text or number; `parts` are its children that hold a value."""
        shown, text = element.get("fmt"), element.text
        if text is not None and text.isspace():
            text = None
        if kind is Kind.LABEL and shown and len(shown) <= limits.MAX_TEXT_CHARS:
            return shown
        if kind is Kind.PROCESS:
            pid = next((payload for code, payload in parts if self.tags[code] == "pid"), None)
            name_and_pid = (text if shown is None else shown) or ""
            return Process(name_and_pid if pid is None else name_and_pid.removesuffix(f" ({pid})"), pid)
        if kind is Kind.THREAD:
            tid = next((payload for code, payload in parts if self.tags[code] == "tid"), None)
            owner = next((self.at(payload) for code, payload in parts if self.kinds[code] is Kind.PROCESS), None)
            return Thread((text if shown is None else shown) or "", tid, owner if isinstance(owner, Process) else None)
        result: str
        of_stacks = (Kind.FRAME, Kind.ADDRESSES, Kind.STACK)
        if kind is Kind.STACK and (frames := [part for part in parts if self.kinds[part[0]] in of_stacks]):
            result = self._join_texts(STACK_SEPARATOR, frames)
        elif kind is Kind.ADDRESSES:
            # Decimal addresses as hexadecimal ones, separated like frames; other words stay as they are.
            words = (text or "").split()
            result = STACK_SEPARATOR.join(hex(int(word)) if _NUMBER.fullmatch(word) else word for word in words)
        elif kind is Kind.FRAME:
            result = element.get("name") or element.get("addr") or shown or text or ""
        else:
            preferred = (text, shown) if kind in PLAIN else (shown, text)
            result = next((value for value in preferred if value is not None), None) or self._join_texts("", parts)
        return _checked_text(result)

    def _parts(self, element: _Element, depth: int) -> list[Part]:
        """Code and payload of each child that holds a value."""
        self.elements += len(element)
        if self.elements > limits.MAX_ROW_ELEMENTS:
            raise CellError(f"more than {limits.MAX_ROW_ELEMENTS:,} elements in one row")
        if depth >= limits.MAX_DEPTH:
            raise CellError(f"elements nested more than {limits.MAX_DEPTH} levels deep")
        codes, id_codes, known = self._codes, self.id_codes, self.known
        parts: list[Part] = []
        for child in element:
            tail, tag = child.tail, child.tag
            if tail is not None and not tail.isspace():
                raise _strange(element, str(element.tag))
            if tag == SENTINEL:
                continue
            code = codes.get(tag) or self.code(tag)
            reference = child.get("ref")
            payload = known[code].get(reference)
            if payload is None:
                if reference is None:
                    payload = self.define(child, code, depth + 1)
                elif 0 < (number := _id_number(reference)) < len(id_codes) and id_codes[number] == code:
                    payload = self.id_payloads[number]
                else:
                    payload = self.refer(reference, code)
            parts.append((code, payload))
        return parts

    def _join_texts(self, separator: str, parts: list[Part]) -> str:
        """Texts of parts as one. Parts are shared: what they add up to is known before they are joined."""
        texts: list[str] = []
        chars = -len(separator)
        for code, payload in parts:
            texts.append(self.text(code, payload))
            chars += len(separator) + len(texts[-1])
            if chars > limits.MAX_TEXT_CHARS:
                raise CellError(f"text of more than {limits.MAX_TEXT_CHARS:,} characters")
        result = separator.join(texts)
        if len(texts) > 1:
            self.charge(getsizeof(result))
        return result

    def charge(self, count: int) -> None:
        """Count bytes of texts put together from parts. Raises `CellError` where they are too many."""
        self.composed += count
        if self.composed > self._allowed:
            raise CellError(f"the texts assembled from parts take more than {self._allowed:,} bytes in total")


def _checked_text(text: str) -> str:
    if len(text) > limits.MAX_TEXT_CHARS:
        raise CellError(f"text of {len(text):,} characters; at most {limits.MAX_TEXT_CHARS:,} are allowed")
    return text


def _strange(element: _Element, tag: str) -> CellError:
    """The error for text with elements in between, which would be read in part."""
    child = next((str(child.tag) for child in element), "")
    return CellError(f"{as_tag(tag)} contains {as_tag(child)} inside its text")


def _id_number(identity: str) -> int:
    """The id as a number; -1 where it is none."""
    return int(identity) if len(identity) < _SHORT and identity.isascii() and identity.isdecimal() else -1
