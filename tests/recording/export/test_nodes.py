"""Structure of query results: what is read, and what is refused with its place."""

import pytest

from tracekit.errors import UnreadableRecording
from tracekit.recording import open_recording
from tracekit.recording.export import limits, loading
from tracekit.recording.table import Process, TableState, Thread

GPU = "start:start-time duration latency:duration label:formatted-label process"


def test_cells_of_one_type_keep_their_places(xml, write, items):
    rows = (
        '<start-time id="1">5</start-time><duration id="2">6</duration><sentinel/>'
        '<formatted-label id="3" fmt="k (p (7))"><process id="4" fmt="p (7)"><pid id="5">7</pid></process>'
        '</formatted-label><process ref="4"/>',
        '<start-time ref="1"/><sentinel/><duration ref="2"/><formatted-label ref="3"/><sentinel/>',
    )
    (table,) = open_recording(write(xml.one_table(GPU, *rows))).tables("sample")
    assert [items(cells) for cells in table.cells] == [
        [5, 5],
        [6, None],
        [None, 6],
        ["k (p (7))", "k (p (7))"],
        [Process("p", 7), None],
    ]
    assert [table.column("duration").values[1], table.column("latency").values[0]] == [0, 0]


def test_references_cross_nodes_and_a_later_definition_replaces_the_earlier(xml, write, items):
    nodes = (
        xml.node(
            xml.schema("one", "text:string") + xml.rows('<string id="1">a</string>', '<string ref="1"/>'), table=1
        ),
        xml.node(
            xml.schema("two", "text:string")
            + xml.rows('<string ref="1"/>', '<string id="1">b</string>', '<string ref="1"/>'),
            table=2,
        ),
    )
    recording = open_recording(write(xml.result(*nodes)))
    assert items(recording.tables("one")[0].cells[0]) == ["a", "a"]
    assert items(recording.tables("two")[0].cells[0]) == ["a", "b", "b"]


def test_ids_may_be_sparse_or_no_numbers(xml, write, items):
    identities = ["9", "4000000000000", "a-b", "70000", "3"]
    rows = [f'<string id="{identity}">{identity}</string>' for identity in identities]
    rows += [f'<string ref="{identity}"/>' for identity in identities]
    (table,) = open_recording(write(xml.one_table("text:string", *rows))).tables("sample")
    assert items(table.cells[0]) == identities * 2


def test_a_forward_reference_is_patched_at_any_depth(xml, write, items):
    rows = (
        '<thread ref="8"/><process ref="2"/>',
        '<thread id="8" fmt="T"><tid id="9">5</tid><process ref="2"/></thread><process ref="2"/>',
        '<thread ref="8"/><process id="2" fmt="late (3)"><pid id="4">3</pid></process>',
    )
    (table,) = open_recording(write(xml.one_table("thread process", *rows))).tables("sample")
    assert items(table.cells[0]) == [Thread("T", 5, Process("late", 3))] * 3
    assert items(table.cells[1]) == [Process("late", 3)] * 3


def test_a_number_that_is_patched_may_be_larger_than_all_others(xml, write, items):
    rows = (
        '<start-time ref="7"/><start-time id="2">1</start-time>',
        f'<start-time ref="2"/><start-time id="7">{10**15}</start-time>',
    )
    (table,) = open_recording(write(xml.one_table("start:start-time end:start-time", *rows))).tables("sample")
    assert items(table.cells[0]) == [10**15, 1]
    assert items(table.cells[1]) == [1, 10**15]


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ('<string ref="77"/>', r"node 1, table 'sample', row 2, column 'text': <string ref='77'> refers to an id"),
        ('<string id="5" fmt="x"><process ref="6"/></string>', r"row 2, column 'text': <process ref='6'>"),
        ('<string ref="-1"/>', r"<string ref='-1'> refers to an id"),
        ('<string ref="0"/>', r"<string ref='0'> refers to an id"),
        ('<string id="9"><string ref="9"/></string>', r"<string ref='9'> refers to an id"),
        ('<string ref="2"/>', r"row 2: column 'text': <string ref='2'> refers to a <start-time>"),
    ],
)
def test_an_unresolved_reference_is_an_error_with_its_place(xml, write, row, sentence):
    first = '<start-time id="2">1</start-time><string id="1">a</string>'
    path = write(xml.one_table("start:start-time text:string", first, f'<start-time ref="2"/>{row}'))
    with pytest.raises(UnreadableRecording, match=sentence):
        open_recording(path)


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ("<string>a</string>", "it has 1 cells, but the schema has 2 columns"),
        ("<string>a</string><string>b</string><string>c</string>", "it has 3 cells, but the schema has 2"),
        ("", "it has 0 cells"),
        ("<string>a</string><duration>1</duration>", "'duration' contains <string> where <duration> is expected"),
        ("<duration>1</duration><string>a</string>stray", ""),
        ("<duration>1</duration><a:string xmlns:a='b'>a</a:string>", "where <string> is expected"),
        ("<duration>1.5</duration><string/>", "'duration': <duration> contains '1.5' where a whole number of nano"),
        ("<duration/><string/>", "<duration> contains '' where"),
        ("<duration>-5</duration><string/>", "contains the negative time -5"),
        ("<duration>9007199254740992</duration><string/>", "longer than any recording"),
        ("<duration>1_000</duration><string/>", "contains '1_000'"),
        ("<duration>١٢</duration><string/>", "where a whole number"),
        (f"<duration>{'9' * 5000}</duration><string/>", "contains '9999"),
    ],
)
def test_a_row_that_does_not_fit_its_schema_is_an_error_with_its_place(xml, write, cells, sentence):
    path = write(xml.one_table("duration text:string", "<duration>1</duration><sentinel/>", cells))
    if not sentence:
        assert open_recording(path).tables("sample")[0].rows == 2
        return
    with pytest.raises(UnreadableRecording, match=sentence) as caught:
        open_recording(path)
    assert str(caught.value).startswith("'export.xml', node 1, table 'sample', row 2: ")
    assert len(str(caught.value)) < 300


def test_whole_numbers_span_64_bits_signed_and_unsigned(xml, write, items):
    numbers = [0, -1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 12]
    rows = [f"<uint64> {number}\n</uint64>" for number in numbers]
    (table,) = open_recording(write(xml.one_table("value:uint64", *rows))).tables("sample")
    assert items(table.cells[0]) == [0, -1, 2**63 - 1, -(2**63), -(2**63), -1, 12]
    for number in (2**64, -(2**63) - 1):
        with pytest.raises(UnreadableRecording, match="does not fit into 64 bits"):
            open_recording(write(xml.one_table("value:uint64", f"<uint64>{number}</uint64>")))


def test_display_text_is_never_read_as_a_number(xml, write, items):
    rows = ('<duration id="1" fmt="259.17 µs">259167</duration>', '<duration fmt="1.206.362.555">7</duration>')
    (table,) = open_recording(write(xml.one_table("duration", *rows))).tables("sample")
    assert items(table.cells[0]) == [259_167, 7]


def test_nodes_may_be_empty_or_without_schema(xml, write):
    schema = xml.schema("sample", "text:string")
    path = write(
        xml.result(xml.node(schema, run=1), xml.node("", run=2), xml.node(xml.rows("<string>a</string>"), run=3))
    )
    runs = open_recording(path).contents.runs
    assert [(run.number, *((entry.state, entry.rows, entry.columns) for entry in run.tables)) for run in runs] == [
        (1, (TableState.EMPTY, 0, 1)),
        (2, (TableState.EMPTY, 0, 1)),
        (3, (TableState.ROWS, 1, 1)),
    ]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("<node/>", "its first <node> has no <schema>"),
        ("<node><row><string/></row></node>", "its first <node> has no <schema>"),
        ("<row><string/></row>", "a <row> is not allowed here"),
        ("<schema name='a'/>", "a <schema> is not allowed here"),
        ("<node><schema/></node>", "a <schema> has no name"),
        ("<node><schema name='a'/><schema name='b'/></node>", "a <schema> is not allowed here"),
        ("<node><schema name='a'/><other/></node>", "<other> is not allowed here"),
        ("<node><schema name='a'/></node><other/>", "something other than <node>"),
        ("<node><schema name='a'><col><mnemonic>b</mnemonic></col></schema></node>", "has no mnemonic or no engineer"),
        ("<node><schema name='a'><row/></schema></node>", "is not allowed here"),
        ("<node><schema name='a'/><node/></node>", "a <node> is not allowed here"),
        ("<node><schema name='a'/><row><string><row/></string></row></node>", "a <row> is not allowed here"),
    ],
)
def test_elements_out_of_place_are_refused(xml, write, content, sentence):
    with pytest.raises(UnreadableRecording, match=sentence):
        open_recording(write(xml.result(content)))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("<?xml version='1.0'?><!DOCTYPE a><trace-toc/>", "declares a document type"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><trace-query-result>&b;</trace-query-result>", "declares a document type"),
        ("<!DOCTYPE a SYSTEM 'file:///etc/passwd'><trace-toc/>", "declares a document type"),
        ("<trace-query-result>&unknown;</trace-query-result>", "not well-formed XML"),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><trace-toc/>", "not encoded in UTF-8"),
        ("<trace-query-result>", "not well-formed XML.*cut off"),
        ("<trace-query-result></trace-query-result><more/>", "not well-formed XML"),
        ("<trace-query-result/>" + "<!--" + "a" * 100 + "-->", ""),
        ("<trace-toc xmlns='urn:a'/>", "begins with the element '{urn:a}trace-toc'"),
        ("<!-- only a comment -->", "not well-formed|no XML element"),
        ("   \n  ", "is empty"),
    ],
)
def test_documents_that_are_no_export_are_refused(write, text, sentence):
    if not sentence:
        assert open_recording(write(text)).run.tables == ()
        return
    with pytest.raises(UnreadableRecording, match=sentence):
        open_recording(write(text))


def test_other_encodings_are_named_as_such(xml, write):
    text = xml.one_table("text:string", "<string>µ</string>")
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        with pytest.raises(UnreadableRecording, match="not encoded in UTF-8"):
            open_recording(write(text.encode(encoding)))
    with pytest.raises(UnreadableRecording, match="not well-formed"):
        open_recording(write(text.encode("latin-1")))
    (table,) = open_recording(write(b"\xef\xbb\xbf" + text.encode())).tables("sample")
    assert table.cells[0].item(0) == "µ"


def test_track_details_are_refused_alone_and_left_out_beside_tables(xml, write):
    details = xml.result(
        "<node xpath='//trace-toc[1]/run[1]/tracks[1]/track[1]/details[1]/detail[1]'><row size=\"448\"/></node>"
    )
    path = write(details, "leaks.xml")
    with pytest.raises(UnreadableRecording, match="contains track details"):
        open_recording(path)
    recording = open_recording([path, write(xml.one_table("text:string", "<string>a</string>"), "table.xml")])
    assert [entry.schema for entry in recording.run.tables] == ["sample"]
    assert any("'leaks.xml' contains track details" in note for note in recording.contents.notes)


@pytest.mark.parametrize(
    ("name", "limit", "content"),
    [
        ("MAX_NODES", 3, "<node/>" * 4),
        (
            "MAX_ROWS",
            3,
            "<node><row><string>a</string></row></node>" * 4 + "<node>" + "<row><string/></row>" * 4 + "</node>",
        ),
        ("MAX_TEXT_CHARS", 3, "<node><row><string>abcd</string></row></node>"),
        ("MAX_ROW_ELEMENTS", 3, "<node><row><string><a/><a/><a/><a/></string></row></node>"),
        ("MAX_DEPTH", 3, "<node><row><string><a><a><a><a><a/></a></a></a></a></string></row></node>"),
        ("MAX_TAGS", 3, "<node><row><string><a/><b/><c/><d/></string></row></node>"),
        ("MAX_FORWARD_REFERENCES", 3, "<node>" + "<row><string ref='9'/></row>" * 4 + "</node>"),
        (
            "MAX_ATTEMPTS",
            3,
            "<node><row><string><a ref='11'/><a ref='12'/><a ref='13'/><a ref='14'/></string></row>"
            + "".join(f"<row><string><a id='{number}'>x</a></string></row>" for number in range(11, 15))
            + "</node>",
        ),
        ("MAX_NAMES", 3, "<node><row><string a='' b='' c='' d=''>x</string></row></node>"),
        ("MAX_ROW_BYTES", 300_000, "<node><row><string>" + "a" * 1_000_000 + "</string></row></node>"),
    ],
)
def test_each_limit_is_kept(xml, write, monkeypatch, name, limit, content):
    # The scanner's limits are constants of its own.
    monkeypatch.setattr(loading, "scanned", None)
    text = xml.result(f"<node>{xml.schema('sample', 'text:string')}</node>", content)
    if name == "MAX_FORWARD_REFERENCES":
        with pytest.raises(UnreadableRecording, match="never defines"):
            open_recording(write(text))
    else:
        open_recording(write(text))
    monkeypatch.setattr(limits, name, limit)
    with pytest.raises(UnreadableRecording, match=r"more than|nested|allowed|no row ended"):
        open_recording(write(text))


def test_limits_of_schemas_are_kept(xml, write):
    columns = " ".join(f"c{number}:string" for number in range(limits.MAX_COLUMNS + 1))
    with pytest.raises(UnreadableRecording, match="has more than 512 columns"):
        open_recording(write(xml.one_table(columns)))
    parts = "".join(f"<part{number}/>" for number in range(limits.MAX_COLUMN_PARTS + 1))
    with pytest.raises(UnreadableRecording, match="more than 16 kinds of parts"):
        open_recording(write(xml.result(f"<node><schema name='a'><col>{parts}</col></schema></node>")))
