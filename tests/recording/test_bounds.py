"""What a small file may make the reader do: each of these asked for gigabytes or had no end."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from support.choice import sweep_rest
from tracekit.errors import UnreadableRecording
from tracekit.recording import open_recording
from tracekit.recording.export import limits, recording as reader
from tracekit.recording.export.cells import Values

LIMITED = """
import resource, sys
from pathlib import Path
from tracekit.errors import UnreadableRecording
from tracekit.recording import open_recording
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
for path in sys.argv[1:]:
    try:
        recording = open_recording(path)
        for entry in recording.run.tables:
            recording.tables(entry.schema)
        print("read")
    except UnreadableRecording as error:
        print(error)
"""
"""Reads files in a process that may take 1 GB of addresses, libraries included, and 20 s of processor time."""


def read_within_limits(*paths: Path) -> list[str]:
    # Threads of BLAS take addresses of their own.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", LIMITED, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def labels(xml, *rows: str) -> str:
    text: str = xml.one_table("text:string label:formatted-label", *rows)
    return text


LONG = '<string id="1">' + "a" * 1_000_000 + "</string>"


def test_what_refers_to_a_long_text_thousands_of_times_is_refused(xml, write):
    paths = []
    for kind, part in (("formatted-label", "string"), ("tagged-backtrace", "frame")):
        long = f'<{part} id="1" name="{"a" * 1_000_000}">{"a" * 1_000_000}</{part}>'
        cell = f'<{kind} id="2">{f"""<{part} ref="1"/>""" * 3_000}</{kind}>'
        content = xml.one_table(f"text:{part} label:{kind}", long + "<sentinel/>", "<sentinel/>" + cell)
        paths.append(write(content, f"{kind}.xml"))
    rows = [
        f'<sentinel/><formatted-label><string ref="1"/><string>{number}</string></formatted-label>'
        for number in range(2_000)
    ]
    paths.append(write(labels(xml, LONG + "<sentinel/>", *rows), "labels.xml"))
    *cells, shared = read_within_limits(*paths)
    assert ["text of more than 1,048,576 characters" in each for each in cells] == [True, True]
    assert "assembled from parts take more than" in shared


def test_labels_put_together_from_parts_are_read_where_their_file_is_as_large(xml, write, monkeypatch):
    monkeypatch.setattr(limits, "COMPOSED_FREE_BYTES", 0)
    rows = [
        f"<sentinel/><formatted-label><string>number</string><uint64>{number}</uint64></formatted-label>"
        for number in range(500)
    ]
    (table,) = open_recording(write(labels(xml, *rows))).tables("sample")
    assert table.column("label").item(499) == "number499"


def test_ids_far_apart_take_no_room_for_those_between():
    values = Values()
    code = values.code("string")
    for number in range(300):
        values._register(str(number * 65_000 + 7), code, number)
    assert len(values.id_codes) < 3 * 65_536
    assert [values.refer(str(number * 65_000 + 7), code) for number in range(300)] == list(range(300))


def test_ids_with_gaps_stay_in_the_arrays():
    values = Values()
    code = values.code("string")
    for number in range(1, 10_000, 2):
        values._register(str(number), code, number)
    assert len(values.id_codes) == 10_000
    assert not values._odd_ids


def test_many_tables_without_position_are_read_once_each(xml, write, monkeypatch):
    read = 0
    read_table = reader._PlacedTable.table

    def counted(placed):
        nonlocal read
        read += 1
        return read_table(placed)

    monkeypatch.setattr(reader._PlacedTable, "table", counted)
    nodes = [
        f"<node>{xml.schema('sample', 'number:uint64')}<row><uint64>{number % 300}</uint64></row></node>"
        for number in range(400)
    ]
    recording = open_recording(write(xml.result(*nodes)))
    assert read == 400
    assert len(recording.tables("sample")) == 300
    # One line for each of the hundred that were there already would be a report of its own.
    assert len(recording.contents.notes) == limits.MAX_NOTES + 1
    assert recording.contents.notes[-1] == "50 more notes of the same kinds"


def test_tables_without_position_find_their_places_in_a_table_of_contents(xml, write):
    toc = write(xml.toc('schema="a"', 'schema="b"', 'schema="a"'), "toc.xml")
    nodes = [
        f"<node>{xml.schema(name, 'number:uint64')}<row><uint64>{number}</uint64></row></node>"
        for number, name in enumerate("ba")
    ]
    recording = open_recording([toc, write(xml.result(*nodes), "tables.xml")])
    assert [(entry.schema, entry.position, entry.state) for entry in recording.run.tables] == [
        ("a", 1, "unreadable"),
        ("b", 2, "rows"),
        ("a", 3, "unreadable"),
        ("a", None, "rows"),
    ]
    assert "it is unknown which of several tables 'a' one of the nodes contains" in recording.contents.notes


def test_a_table_of_contents_with_thousands_of_runs_or_tables_is_refused(write):
    runs = "".join(f'<run number="{number}"/>' for number in range(1, 20_001))
    with pytest.raises(UnreadableRecording, match="lists more than 1,000 runs"):
        open_recording(write(f"<trace-toc>{runs}</trace-toc>"))
    tables = '<table schema="a"/>' * 20_001
    with pytest.raises(UnreadableRecording, match="lists more than 20,000 tables"):
        open_recording(write(f"<trace-toc><run><data>{tables}</data></run></trace-toc>"))


def test_columns_of_many_tables_are_bounded_together(xml, write, monkeypatch):
    text = xml.result(f"<node>{xml.schema('sample', 'a:string b:string')}</node>", "<node/>" * 4)
    open_recording(write(text))
    monkeypatch.setattr(limits, "MAX_FILE_COLUMNS", 9)
    with pytest.raises(UnreadableRecording, match="more than 9 columns in the tables of one file"):
        open_recording(write(text))


def test_cells_that_wait_are_not_read_again_without_end(xml, write, monkeypatch):
    waiting = f'<string>{"<a/>" * 50}<a ref="11"/><a ref="12"/></string>'
    rows = [waiting, '<string><a id="11">x</a></string>', '<string><a id="12">x</a></string>']
    text = xml.one_table("text:string", *rows)
    open_recording(write(text))
    monkeypatch.setattr(limits, "MAX_WAITING_ELEMENTS", 120)
    with pytest.raises(UnreadableRecording, match="more than 120 elements in cells that wait for a value"):
        open_recording(write(text))


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        ("start-time", "<start-time>10<b/>00</start-time>"),
        ("uint64", "<uint64>10<b/></uint64>"),
        ("string", "<string>ab<b/>cd</string>"),
        ("string", "<string><b/>cd</string>"),
        ("formatted-label", "<formatted-label><string>a</string>b</formatted-label>"),
    ],
)
def test_text_with_elements_inside_is_damage(xml, write, kind, cell):
    with pytest.raises(UnreadableRecording, match=rf"row 1.*<{kind}> contains <\w+> inside its text"):
        open_recording(write(xml.one_table(f"column:{kind}", cell)))


def test_a_summary_or_a_column_with_elements_inside_its_text_is_damage(xml, write):
    with pytest.raises(UnreadableRecording, match="<duration> contains elements inside its text"):
        open_recording(write(xml.toc('schema="a"', summary="<duration>1<b/>.5</duration>")))
    column = "<col><mnemonic>st<b/>art</mnemonic><engineering-type>start-time</engineering-type></col>"
    with pytest.raises(UnreadableRecording, match="is described by more than text"):
        open_recording(write(xml.result(f"<node><schema name='sample'>{column}</schema></node>")))


def test_durations_whose_sum_would_wrap_around_are_refused(xml, write):
    longest = 2**50
    rows = [f"<start-time>0</start-time><duration>{longest}</duration>"] * 65
    (table,) = open_recording(write(xml.one_table("start:start-time duration:duration", *rows[:64]))).tables("sample")
    assert int(table.column("duration").values.sum()) == 64 * longest
    with pytest.raises(UnreadableRecording, match="the times of column 'duration' add up to too much"):
        open_recording(write(xml.one_table("start:start-time duration:duration", *rows)))


def test_an_archive_that_unpacks_to_far_more_than_its_size_is_refused(write, monkeypatch):
    """Each member is too small to be asked for its ratio; together they are a bomb."""
    monkeypatch.setattr("tracekit.recording.limits.UNPACKED_FREE_BYTES", 1_000_000)
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(20):
            archive.writestr(f"{number}.xml", b"<trace-toc>" + b" " * 900_000)
    with pytest.raises(UnreadableRecording, match="has a compression ratio above 250, like a zip bomb"):
        open_recording(write(buffer.getvalue(), "a.zip"))


RUNS = 30
"""Hostile inputs of each kind; `make fuzz` tries two thousand."""


@pytest.mark.parametrize("kind", sweep_rest("issues", "export", "bundle", "archive"))
def test_hostile_inputs_read_or_are_refused_soon_and_in_little_memory(kind):
    fuzzer = Path(__file__).resolve().parents[1] / "support" / "fuzz_hostile.py"
    command = [sys.executable, str(fuzzer), "--kind", kind, "--runs", str(RUNS)]
    # Not 0 where an input broke the reader, or where the process took too much memory.
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    _, read, _, refused, *_ = done.stdout.split()
    assert int(read) + int(refused) == RUNS
    assert min(int(read), int(refused)) > 2
