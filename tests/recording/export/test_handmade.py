"""Tables whose schema lists no columns: read where a tag leaves no doubt, refused where it does."""

from __future__ import annotations

import pytest

from tracekit.errors import UnreadableRecording
from tracekit.recording import open_recording
from tracekit.recording.export.rows import KNOWN_SCHEMAS


def columns(xml, write, schema: str, *rows: str) -> dict[str, list[object]]:
    path = write(xml.result(f'<node><schema name="{schema}"/>{xml.rows(*rows)}</node>'))
    (table,) = open_recording(path).tables(schema)
    return {
        column.mnemonic: [cells.item(row) for row in range(table.rows)]
        for column, cells in zip(table.columns, table.cells, strict=True)
    }


def test_tags_of_a_known_schema_become_its_mnemonics(xml, write):
    rows = (
        "<start-time>1</start-time><duration id='1'>2</duration>",
        "<start-time>3</start-time><duration ref='1'/><gpu-state>Active</gpu-state>",
    )
    assert columns(xml, write, "ane-hw-intervals", *rows) == {
        "start": [1, 3],
        "duration": [2, 2],
        "state": [None, "Active"],
    }


def test_a_complete_row_binds_by_position(xml, write):
    row = (
        "<start-time>1</start-time><duration>2</duration><start-time>3</start-time><thermal-state>Nominal</thermal-state>"
        "<sentinel/><boolean>0</boolean><narrative fmt='n'/>"
    )
    read_columns = columns(xml, write, "device-thermal-state-intervals", row)
    assert (read_columns["start"], read_columns["end"], read_columns["track-label"], read_columns["is-induced"]) == (
        [1],
        [3],
        [None],
        [0],
    )


def test_tags_of_an_unknown_schema_name_its_columns(xml, write):
    assert columns(xml, write, "unheard", "<a>1</a><duration>5</duration>") == {"a": ["1"], "duration": [5]}


def test_a_forward_reference_reaches_a_hand_made_row(xml, write):
    assert columns(xml, write, "unheard", "<a ref='4'/>", "<a id='4'>x</a>") == {"a": ["x", "x"]}


@pytest.mark.parametrize(
    ("schema", "row", "sentence"),
    [
        ("unheard", "<a>1</a><a>2</a>", "row 1: the schema lists no columns, so it is unclear what <a> means"),
        ("unheard", "<a>1</a><sentinel/>", "unclear what <sentinel> means"),
        ("metal-gpu-intervals", "<duration>1</duration>", "<duration> may be 'duration' or 'start-latency'"),
        ("coreml-os-signpost", "<coreml-model-name>m</coreml-model-name>", "'model-name' or 'parent-model-name'"),
    ],
)
def test_a_tag_that_may_mean_two_columns_is_refused(xml, write, schema, row, sentence):
    with pytest.raises(UnreadableRecording, match=sentence):
        columns(xml, write, schema, row)


def test_large_tables_without_columns_are_refused(xml, write, monkeypatch):
    monkeypatch.setattr("tracekit.recording.export.limits.MAX_HANDMADE_ROWS", 2)
    with pytest.raises(UnreadableRecording, match="only accepted for small hand-made tables"):
        columns(xml, write, "unheard", *["<a>1</a>"] * 3)


@pytest.mark.corpus
def test_known_schemas_agree_with_the_columns_of_real_files(corpus):
    compared = 0
    for path in sorted((corpus / "xml").glob("xcode*.xml")):
        if "malformed" in path.name or "failed" in path.name:
            continue
        for entry in open_recording(path).contents.runs[0].tables:
            variants = KNOWN_SCHEMAS.get(entry.schema)
            if variants and entry.columns:
                (table,) = open_recording(path, run=1).tables(entry.schema)
                real = tuple((column.mnemonic, column.engineering_type) for column in table.columns)
                assert real in [
                    tuple((each.mnemonic, each.engineering_type) for each in variant) for variant in variants
                ]
                compared += 1
    assert compared >= 8
