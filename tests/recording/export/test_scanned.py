"""The compiled scanner gives what the strict reader gives, or leaves the file to it."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings, strategies as st
from lxml import etree
from recording.export.test_round_trip import Writer, tables, written

from support.scanner import (
    SOURCES,
    difference,
    disagreement,
    document,
    many_rows,
    read_strictly,
    real_documents,
    repeating_document,
    scan,
    small_document,
    source_of,
)
from tracekit.columns import Codes
from tracekit.errors import UnreadableRecording
from tracekit.recording import limits as shared_limits, open_recording
from tracekit.recording.export import limits, loading
from tracekit.recording.progress import Meter
from tracekit.recording.table import LateCells

pytest.importorskip("tracekit.recording.export._scan", reason="the scanner is not built: there was no C compiler")
scanned = pytest.importorskip("tracekit.recording.export.scanned")

SMALL = small_document()
RECENT = 4096
"""Texts that the scanner finds again at once; others that are the same are found in the end."""


def assert_same(content: bytes) -> None:
    """The scanner accepts the file, and both readers agree."""
    scanned, strict = scan(content), read_strictly(content)
    assert scanned is not None
    assert strict is not None
    assert difference(scanned, strict) == ""


def test_every_kind_of_cell_reads_as_the_strict_reader_reads_it():
    assert_same(SMALL)


def test_rows_that_repeat_the_row_before_read_as_the_strict_reader_reads_them(request):
    content = repeating_document()
    assert_same(content)
    expected = read_strictly(content)
    assert expected is not None
    # With a chunk for each row, every row lies where the row before lay.
    row_ends = tuple(match.end() for match in re.finditer(b"</row>", content))
    step = 5 if request.config.getoption("--every-case") else 53
    for borders in (row_ends, *((border,) for border in range(content.index(b"<row>"), len(content), step))):
        part = scan(content, borders)
        assert part is not None, borders
        assert difference(part, expected) == "", borders


def test_a_row_that_defines_the_same_id_again_is_declined():
    rows = [f'<string id="{number}">a</string><duration>1</duration>' for number in (1, 2, 2)]
    assert scan(document("string duration", rows[:2])) is not None
    assert scan(document("string duration", rows)) is None


@pytest.mark.parametrize(
    "later",
    [
        ['<string ref="2"/><string id="1">c</string>', '<string ref="2"/><string ref="1"/>'],
        ['<string ref="1"/><string ref="2"/>', '<string id="1">c</string><string ref="2"/>'],
    ],
)
def test_a_reference_is_not_taken_over_where_ids_start_again(later):
    first = document("string string", ['<string id="1">a</string><string id="2">b</string>']).split(b"</trace-")[0]
    second = b"<node" + document("string string", later).split(b"<node")[1]
    # The strict reader still knows the value of the first table; the scanner leaves that to it.
    assert scan(first + second) is None
    assert_same(first + second.replace(later[1].encode(), b'<string ref="1"/><string ref="1"/>'))


def test_texts_that_come_again_much_later_are_the_same():
    count = 3 * RECENT
    texts = [f"<string>{row % (count // 2)}</string><string>{row % 3}</string>" for row in range(count)]
    assert_same(document("string string", texts))


def test_many_texts_are_made_when_they_are_asked_for():
    scanned = scan(document("string string", (f"<string>é{row}</string><string/>" for row in range(3000))))
    assert scanned is not None
    assert scanned.nodes[0].cells is not None
    many, few = scanned.nodes[0].cells
    assert isinstance(many, LateCells)
    assert len(many) == 3000
    assert many.item(2999) == "é2999"
    assert many.values is many.values
    assert isinstance(few, Codes)
    assert few.values == ("",)


def test_exports_of_the_samples_read_as_the_strict_reader_reads_them(samples):
    paths = [path for path in samples.glob("*_xml/*.xml") if path.name != "toc.xml"]
    assert len(paths) > 10
    for path in paths:
        assert_same(path.read_bytes())


@pytest.mark.corpus
@pytest.mark.usefixtures("corpus")
def test_real_exports_are_accepted_and_read_the_same():
    documents = real_documents()
    accepted = [content for content in documents if scan(content) is not None]
    for content in accepted:
        assert_same(content)
    # The others are fixtures that people wrote, with comments, and one file that is not well-formed.
    assert all(b"<!--" in content or b"resident-%" in content for content in documents if content not in accepted)
    assert len(accepted) > 20


@settings(deadline=None, max_examples=100)
@given(contents=st.lists(tables(), min_size=1, max_size=3), refer=st.lists(st.booleans(), max_size=20))
def test_random_tables_read_the_same(contents, refer):
    writer = Writer([])
    nodes = "".join(written(types, rows, writer, index, refer) for index, (types, rows) in enumerate(contents, 1))
    assert_same(f"<trace-query-result>{nodes}</trace-query-result>".encode())


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_a_changed_file_reads_the_same_or_is_declined(data):
    content = bytearray(SMALL)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(len(content), start + 40)))
        offset = data.draw(st.integers(0, len(SMALL) - 1))
        piece = SMALL[offset : offset + data.draw(st.integers(0, 60))]
        content[start:end] = data.draw(st.sampled_from([piece, b"", bytes(content[start:end]) * 2, b"&amp;", b"0"]))
    assert disagreement(bytes(content)) == ""


def test_chunks_may_end_at_every_byte_and_be_short(request):
    expected = read_strictly(SMALL)
    assert expected is not None
    ends = range(1, len(SMALL), 1 if request.config.getoption("--every-case") else 29)
    for borders in (*((end,) for end in ends), *(tuple(range(size, len(SMALL), size)) for size in (1, 7, 64))):
        part = scan(SMALL, borders)
        assert part is not None, borders
        assert difference(part, expected) == "", borders


def test_rows_of_several_chunks_read_as_the_strict_reader_reads_them():
    content = many_rows()
    assert len(content) > 2 * scanned._CHUNK_BYTES
    assert_same(content)


def test_a_row_may_be_longer_than_a_chunk():
    cell = f"<string>{'a' * (1 << 19)}</string>"
    assert len(cell) > scanned._CHUNK_BYTES
    assert_same(document("string string string duration", [3 * cell + "<duration>1</duration>"] * 3))
    assert scan(document("string string string string string", [5 * cell])) is None


def test_a_file_that_was_cut_off_is_declined():
    for end in range(0, len(SMALL.rstrip()), 5):
        assert scan(SMALL[:end]) is None, end


AGAIN = {
    "ElementTree": ET.tostring(ET.fromstring(SMALL), "utf-8", xml_declaration=True),  # noqa: S314 - our own
    "lxml, indented": etree.tostring(etree.fromstring(SMALL), encoding="UTF-8", pretty_print=True),
    "no fmt beside numbers": re.sub(rb'( id="\d+") fmt="[^"]*"(?=>\d)', rb"\1", SMALL),
    "id behind": re.sub(rb'( id="\d+")( fmt="[^"]*")', rb"\2\1", SMALL),
    "a line for each attribute": re.sub(rb" (id|fmt|ref)=", rb"\n\t\1=", SMALL.replace(b'"/>', b'"\n/>')),
    "end tags": re.sub(rb"<([a-z-]+)( ref=\"\d+\"|(?<=sentinel))/>", rb"<\1\2></\1>", SMALL),
}
"""The export as programs of XML write it again."""


@pytest.mark.parametrize("form", AGAIN)
def test_what_programs_of_xml_write_again_is_scanned(form):
    assert AGAIN[form] != SMALL
    assert_same(AGAIN[form])


OTHER_FORMS = {
    "comment between rows": (b"</row>", b"</row><!-- c -->"),
    "comment that holds a row": (b"<row>", b"<!-- <row> --><row>"),
    "comment inside a row": (b"<sentinel/>", b"<!-- c --><sentinel/>"),
    "CDATA": (b">Prediction<", b"><![CDATA[Prediction]]><"),
    "instruction": (b"<row>", b"<?x <row>?><row>"),
    "document type": (b"<trace-query-result>", b"<!DOCTYPE a><trace-query-result>"),
    "entity": (b">Prediction<", b">&other;<"),
    "number of a character": (b">Prediction<", b">&#65;<"),
    "single quotes": (b'id="3" fmt="Prediction"', b"id='3' fmt='Prediction'"),
    "unknown attribute": (b'id="3" fmt', b'id="3" other="1" fmt'),
    "attribute twice": (b'id="3" fmt="Prediction"', b'id="3" fmt="a" fmt="b"'),
    "attribute beside a reference": (b'<process ref="6"/>', b'<process ref="6" fmt="a"/>'),
    "content of a reference": (b'<process ref="6"/>', b'<process ref="6">a</process>'),
    "sentinel with an attribute": (b"<sentinel/>", b'<sentinel id="1"/>'),
    "forward reference": (b'<process ref="6"/>', b'<process ref="29"/>'),
    "reference to another type": (b'<process ref="6"/>', b'<process ref="5"/>'),
    "reference to an id that has not ended": (b'<process ref="6"/></thread>', b'<thread ref="9"/></thread>'),
    "id out of order": (b'<start-time id="21"', b'<start-time id="22"'),
    "id twice": (b'<start-time id="21"', b'<start-time id="20"'),
    "id with a leading zero": (b'id="21"', b'id="021"'),
    "text between cells": (b"<sentinel/>", b"<sentinel/>a"),
    "text between parts": (b"</pid>", b"</pid>a"),
    "cell of another type": (b"<sentinel/>", b"<string>a</string>"),
    "cell too many": (b"</row>", b"<sentinel/></row>"),
    "cell too few": (b"<sentinel/>", b""),
    "namespace": (b"<row>", b'<row xmlns="a">'),
    "prefix": (b"<row>", b"<a:row>"),
    "blanks around a number": (b">1000<", b"> 1000 <"),
    "number of 65 bits": (b"18446744073709551615", b"18446744073709551616"),
    "negative time": (b">1000<", b">-1<"),
    "time without digits": (b">1000<", b"><"),
    "control character": (b">Prediction<", b">Predi\x01ction<"),
    "carriage return": (b">Prediction<", b">Predi\rction<"),
    "broken UTF-8": (b">Prediction<", b">Predi\xc3(tion<"),
    "surrogate": (b">Prediction<", b">\xed\xa0\x80<"),
    "line break in an attribute": (b'fmt="Prediction"', b'fmt="Predi\nction"'),
    "end of a section in a text": (b">Prediction<", b">a]]>b<"),
    "schema without columns": (SMALL[SMALL.index(b"<col>") : SMALL.index(b"</schema>")], b""),
    "another encoding": (b'version="1.0"', b'version="1.0" encoding="latin-1"'),
}


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_what_xctrace_does_not_write_is_left_to_the_strict_reader(form):
    before, after = OTHER_FORMS[form]
    assert before in SMALL
    assert scan(SMALL.replace(before, after, 1)) is None


def test_ids_may_start_again_at_each_node():
    start, end = SMALL.index(b"<node"), SMALL.index(b"</node>") + len(b"</node>")
    assert_same(SMALL[:end] + SMALL[start:end] + SMALL[end:])


def test_tables_that_nobody_wants_are_counted():
    nodes = loading.read_nodes(source_of(SMALL), (), Meter(None, None)).nodes
    assert [(node.rows, node.cells) for node in nodes] == [(3, None), (0, None)]


def test_the_log_says_which_reader_read_a_file(tmp_path, monkeypatch, caplog):
    caplog.set_level("INFO", logger="tracekit")
    path = tmp_path / "table.xml"
    path.write_bytes(SMALL)
    open_recording(path)
    assert "read 'table.xml' with the compiled scanner" in caplog.text
    path.write_bytes(SMALL.replace(b"<row>", b"<!-- c --><row>", 1))
    open_recording(path)
    assert "read 'table.xml' with the strict reader" in caplog.text
    # Without the scanner everything is read strictly.
    monkeypatch.setattr(loading, "scanned", None)
    path.write_bytes(SMALL)
    assert open_recording(path, run=1).tables("sample")[0].rows == 3
    assert "with the strict reader (the compiled scanner is not installed)" in caplog.text


def test_progress_does_not_count_a_declined_file_twice():
    meter = Meter(None, None)
    loading.read_nodes(source_of(SMALL.replace(b"</node>", b"<!-- c --></node>", 1)), None, meter)
    assert meter.done == len(SMALL) + len(b"<!-- c -->")


def test_no_limit_of_the_scanner_exceeds_the_strict_readers():
    header = (SOURCES / "scan.h").read_text(encoding="utf-8")
    defined = {name: eval(value) for name, value in re.findall(r"#define (MAX_\w+) ([(\d<) ]+\d\)?)", header)}  # noqa: S307
    assert defined["MAX_TAGS"] <= limits.MAX_TAGS
    assert defined["MAX_COLUMNS"] <= limits.MAX_COLUMNS
    assert defined["MAX_DEPTH"] <= limits.MAX_DEPTH
    assert defined["MAX_PARTS"] <= limits.MAX_ROW_ELEMENTS
    assert defined["MAX_TEXT"] <= limits.MAX_TEXT_CHARS
    assert defined["MAX_PENDING"] + scanned._CHUNK_BYTES <= limits.MAX_ROW_BYTES
    assert f"#define PADDING {scanned._PADDING} " in header
    assert defined["MAX_ROWS"] <= limits.MAX_ROWS
    assert defined["MAX_SIGNATURES"] <= limits.MAX_SIGNATURES
    assert "#define MAX_TIME ((UINT64_C(1) << 53) - 1)" in header
    assert shared_limits.MAX_TIME_NS == 2**53 - 1


def test_an_error_of_the_strict_reader_is_what_one_sees(tmp_path):
    path = tmp_path / "table.xml"
    path.write_bytes(SMALL.replace(b">1000<", b">x<"))
    with pytest.raises(
        UnreadableRecording, match="row 1: column 'start': <start-time> contains 'x' where a whole number"
    ):
        open_recording(path)
