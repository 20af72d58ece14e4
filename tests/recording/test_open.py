"""Opening recordings: what may be given, how files come together, and what is said of them."""

from __future__ import annotations

import io
import os
import sys
import zipfile

import pytest

from tracekit.errors import UnreadableRecording, UsageError
from tracekit.recording import Progress, open_contents, open_recording, progress
from tracekit.recording.table import TableState

ROW = '<start-time id="1" fmt="00:00.001">1000</start-time><string id="2" fmt="a">a</string>'
OTHER_ROW = '<start-time id="1" fmt="00:00.002">2000</start-time><string id="2" fmt="b">b</string>'
COLUMNS = "start:start-time text:string"


def test_an_xml_file_opens_whatever_its_name(xml, write):
    path = write(xml.one_table(COLUMNS, ROW, table=7), "export.data")
    recording = open_recording(path)
    (table,) = recording.tables("sample")
    assert (table.state, table.rows, table.position, table.source) == (TableState.ROWS, 1, 7, "export.data")
    assert recording.contents.source == "export.data"
    assert recording.contents.form == "xctrace export XML"
    assert not recording.contents.has_table_of_contents


def test_a_folder_a_zip_and_a_list_of_files_are_the_same_recording(xml, write, tmp_path):
    files = {
        "toc.xml": xml.toc('schema="first"', 'schema="second"'),
        "deeper/b.xml": xml.one_table(COLUMNS, ROW, name="second", table=2),
        "a.xml": xml.one_table(COLUMNS, ROW, name="first", table=1),
    }
    paths = [write(text, f"folder/{name}") for name, text in files.items()]
    write(b"\x00\x05\x16\x07", "folder/.DS_Store")
    write("how this was recorded", "folder/README.md")
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in files.items():
            packed.writestr(f"top/{name}", text)
            packed.writestr(f"__MACOSX/top/._{name.rsplit('/', 1)[-1]}", b"\x00\x05\x16\x07")
    opened = [open_recording(each).contents for each in (tmp_path / "folder", archive, paths)]
    assert [entry.state for entry in opened[0].runs[0].tables] == [TableState.ROWS, TableState.ROWS]
    assert opened[0].runs == opened[1].runs == opened[2].runs
    assert all(contents.notes == () for contents in opened)


def test_standard_input_may_be_xml_or_an_archive(xml, monkeypatch):
    text = xml.one_table(COLUMNS, ROW).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("table.xml", text)
    for content in (text, packed.getvalue()):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        recording = open_recording("-", schemas=())
        assert recording.contents.source == "standard input"
        assert recording.tables("sample")[0].column("start").item(0) == 1000


def test_standard_input_that_is_no_export_is_refused_before_its_end(monkeypatch):
    class Endless(io.RawIOBase):
        given = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
            self.given += len(buffer)
            assert self.given < 10_000_000
            buffer[:] = b"y" * len(buffer)
            return len(buffer)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Endless())))
    with pytest.raises(UnreadableRecording, match="standard input is not XML"):
        open_recording("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UnreadableRecording, match="standard input is not a file or pipe"):
        open_recording("-")


def test_other_files_of_a_folder_are_left_out_and_noted_where_they_claim_to_be_xml(xml, write, tmp_path):
    write(xml.one_table(COLUMNS, ROW), "folder/table.xml")
    write("not xml", "folder/broken.xml")
    write("", "folder/empty.xml")
    write("<html/>", "folder/page.html")
    write("<plist/>", "folder/settings.xml")
    (tmp_path / "folder/run.trace").mkdir()
    notes = open_recording(tmp_path / "folder").contents.notes
    assert [
        sum(name in note for note in notes) for name in ("broken.xml", "empty.xml", "settings.xml", "run.trace")
    ] == [1, 1, 1, 1]
    assert not any("page.html" in note for note in notes)


def test_an_input_without_any_export_says_what_was_found_and_what_helps(write, tmp_path):
    write("text", "folder/notes.xml")
    (tmp_path / "void").mkdir()
    (tmp_path / "run.trace").mkdir()
    (tmp_path / "shelf" / "run.trace").mkdir(parents=True)
    for path, sentence in (
        (tmp_path / "folder", r"contains no recording.*notes.xml.* is not XML.*xcrun xctrace export"),
        (tmp_path / "void", r"'void' contains no recording; pass a \.trace bundle, or XML"),
        (
            tmp_path / "run.trace",
            r"'run.trace' is named like a trace bundle but contains nothing of one; check the path",
        ),
        (
            tmp_path / "shelf",
            r"'shelf' contains .trace bundles, which have to be passed themselves, such as 'shelf/run.trace'",
        ),
        (tmp_path / "absent.xml", r"^[^']*absent\.xml: no such file or directory$"),
        (write("hello", "a.txt"), r"'a.txt' is not XML; pass a .trace bundle, or XML"),
        (write(b"\x1f\x8b\x08", "a.gz"), r"'a.gz' is a gzip file"),
        (write("", "empty"), r"'empty' is empty"),
        (write("<other/>", "other.xml"), r"begins with the element 'other', where an export begins with"),
    ):
        with pytest.raises(UnreadableRecording, match=sentence):
            open_recording(path)


def test_what_the_operating_system_refuses_is_a_sentence(tmp_path):
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    with pytest.raises(UnreadableRecording, match=r"'pipe' is not a regular file; pass - "):
        open_recording(fifo)
    with pytest.raises(UnreadableRecording, match="cannot be read: file name too long"):
        open_recording(tmp_path / ("a" * 300))
    with pytest.raises(UnreadableRecording):
        open_recording("a\0b")
    with pytest.raises(UnreadableRecording, match="no path given"):
        open_recording([])
    # An unset variable in a script must not read the current folder.
    with pytest.raises(UnreadableRecording, match="a path is empty"):
        open_recording("")
    with pytest.raises(UnreadableRecording, match=r"^not-here/a\.xml: no such file or directory$"):
        open_recording("not-here/a.xml")


def test_a_link_out_of_the_folder_is_not_followed(xml, write, tmp_path):
    outside = write(xml.one_table(COLUMNS, ROW, name="outside"), "outside.xml")
    write(xml.one_table(COLUMNS, ROW, name="inside"), "folder/inside.xml")
    (tmp_path / "folder/link.xml").symlink_to(outside)
    (tmp_path / "folder/again").symlink_to(tmp_path / "folder")
    recording = open_recording(tmp_path / "folder")
    assert recording.tables("outside") == []
    assert len(recording.tables("inside")) == 1
    assert len(recording.contents.notes) == 2


def test_the_latest_run_is_shown_unless_another_is_asked_for(xml, write):
    schema = xml.schema("sample", COLUMNS)
    path = write(xml.result(xml.node(schema + xml.rows(ROW)), xml.node("", run=2)))
    latest = open_recording(path)
    assert (latest.run.number, latest.tables("sample")[0].state) == (2, TableState.EMPTY)
    assert any("has 2 runs (1, 2)" in note for note in latest.contents.notes)
    assert open_recording(path, run=1).tables("sample")[0].rows == 1
    with pytest.raises(UsageError, match=r"has no run 3 \(runs: 1, 2\)"):
        open_recording(path, run=3)


def test_the_xpath_counts_runs_and_the_table_of_contents_numbers_them(xml, write):
    toc = write(xml.toc('schema="sample"', number=4), "toc.xml")
    recording = open_recording([toc, write(xml.one_table(COLUMNS, ROW, run=1))])
    assert recording.run.number == 4
    assert recording.tables("sample")[0].run == 4


def test_attributes_of_the_table_of_contents_tell_tables_of_one_schema_apart(xml, write):
    toc = xml.toc(
        'schema="log" category="first" target-pid="SINGLE"',
        'schema="log" subsystem="&quot;com.example.a&quot; &quot;com.example.b&quot;"',
        'schema="log"',
    )
    recording = open_recording(
        [write(toc, "toc.xml"), write(xml.one_table(COLUMNS, ROW, name="log", table=2), "b.xml")]
    )
    assert [table.position for table in recording.tables("log")] == [1, 2, 3]
    (table,) = recording.tables("log", subsystem="com.example.b")
    assert (table.position, table.rows) == (2, 1)
    assert recording.tables("log", subsystem="com.example") == []
    (absent,) = recording.tables("log", category="first", **{"target-pid": "SINGLE"})
    assert absent.state is TableState.UNREADABLE
    assert '--xpath \'/trace-toc/run[@number="1"]/data/table[@schema="log"]\'' in absent.reason
    assert recording.tables("unheard") == []


def test_a_node_that_does_not_tell_its_place_joins_the_only_table_of_its_schema(xml, write):
    node = f"<node>{xml.schema('log', COLUMNS)}{xml.rows(ROW)}</node>"
    table = write(xml.result(node), "b.xml")
    one = open_recording([write(xml.toc('schema="x"', 'schema="log" a="1"'), "toc.xml"), table])
    assert [(each.position, each.rows) for each in one.tables("log", a="1")] == [(2, 1)]
    two = open_recording([write(xml.toc('schema="log"', 'schema="log"'), "toc.xml"), table])
    assert [(each.position, each.rows) for each in two.tables("log")] == [(1, 0), (2, 0), (None, 1)]
    assert any("unknown" in note for note in two.contents.notes)


def test_files_of_different_recordings_are_refused(xml, write):
    first = write(xml.one_table(COLUMNS, ROW, table=1), "first.xml")
    for text in (
        xml.one_table(COLUMNS, OTHER_ROW, table=1),
        xml.one_table(COLUMNS, table=1),
        xml.one_table(COLUMNS, ROW, name="other", table=1),
        xml.toc('schema="other"'),
        xml.toc(),
    ):
        with pytest.raises(UnreadableRecording, match="not from the same recording"):
            open_recording([first, write(text, "second.xml")])
    with pytest.raises(UnreadableRecording, match="tables of contents of different recordings"):
        open_recording([write(xml.toc('schema="a"'), "a.xml"), write(xml.toc('schema="b"'), "b.xml")])
    write(xml.toc('schema="a"'), "both/one/toc.xml"), write(xml.toc('schema="b"'), "both/two/toc.xml")
    both = first.parent / "both"
    for paths in (both, [both / "one", both / "two"]):
        with pytest.raises(UnreadableRecording, match=r"^'one/toc.xml' and 'two/toc.xml' are tables of contents"):
            open_recording(paths)
    with pytest.raises(UnreadableRecording, match="lists 1 run"):
        open_recording([write(xml.toc('schema="a"'), "a.xml"), write(xml.one_table(COLUMNS, ROW, run=2), "b.xml")])


@pytest.mark.parametrize("schemas", [None, (), ("sample",)])
def test_the_same_table_given_twice_counts_once(xml, write, schemas):
    text = xml.one_table(COLUMNS, ROW)
    toc = xml.toc('schema="sample"')
    paths = [write(text, "a.xml"), write(text.replace("\n", "\n\n"), "b.xml"), write(toc, "t.xml"), write(toc, "u.xml")]
    recording = open_recording([*paths, paths[0]], schemas=schemas)
    assert len(recording.tables("sample")) == 1
    notes = recording.contents.notes
    assert sum("'b.xml' is the same as in 'a.xml'" in note for note in notes) == 1
    assert sum("'u.xml' is the same table of contents" in note for note in notes) == 1
    assert sum("'a.xml' was passed twice" in note for note in notes) == 1


def test_tables_that_were_only_counted_are_read_when_asked_for(xml, write):
    paths = [
        write(xml.one_table(COLUMNS, ROW, ROW.replace(' id="', ' id="1'), name=name, table=index), f"{name}.xml")
        for index, name in enumerate(("wanted", "other"), 1)
    ]
    recording = open_recording(paths, schemas=["wanted"])
    assert [entry.rows for entry in recording.run.tables] == [2, 2]
    paths[0].unlink()
    assert recording.tables("wanted")[0].column("start").item(1) == 1000
    assert recording.tables("other")[0].column("start").item(1) == 1000
    paths[1].write_text(xml.one_table(COLUMNS, ROW, name="other", table=2))
    fresh = open_recording(paths[1], schemas=["wanted"])
    paths[1].write_text(xml.one_table(COLUMNS, name="other", table=2))
    with pytest.raises(UnreadableRecording, match="changed while it was read"):
        fresh.tables("other")


def test_rows_that_were_forgotten_are_read_again(xml, write):
    path = write(xml.one_table(COLUMNS, ROW))
    recording = open_recording(path)
    path.unlink()
    assert recording.tables("sample")[0].column("start").item(0) == 1000
    recording.forget(["sample"])
    with pytest.raises(UnreadableRecording):
        recording.tables("sample")
    path.write_text(xml.one_table(COLUMNS, ROW))
    assert recording.tables("sample")[0].column("start").item(0) == 1000


def test_values_defined_in_an_unwanted_table_reach_a_wanted_one_of_the_same_file(xml, write):
    first = xml.node(xml.schema("unwanted", COLUMNS) + xml.rows(ROW), table=1)
    second = xml.node(xml.schema("wanted", COLUMNS) + xml.rows('<start-time ref="1"/><string ref="2"/>'), table=2)
    recording = open_recording(write(xml.result(first, second)), schemas={"wanted"})
    assert recording.tables("wanted")[0].column("text").item(0) == "a"


def test_contents_list_every_run_without_decoding(xml, write):
    bad_cell = ROW.replace(">1000<", ">no number<")
    path = write(xml.one_table(COLUMNS, bad_cell))
    (entry,) = open_contents(path).runs[0].tables
    assert (entry.schema, entry.rows, entry.columns) == ("sample", 1, 2)
    with pytest.raises(UnreadableRecording, match="no number"):
        open_recording(path)


def test_progress_reaches_the_end_and_names_the_file(xml, write, monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL_S", 0.0)
    path = write(xml.one_table(COLUMNS, *(ROW.replace('id="', f'id="{number}') for number in range(1, 9_000))))
    seen: list[Progress] = []
    open_recording(path, progress=seen.append)
    size = path.stat().st_size
    assert len(seen) > 3
    assert [each.done_bytes for each in seen] == sorted(each.done_bytes for each in seen)
    assert seen[-1] == Progress(size, size, "export.xml")


def test_a_failed_recording_says_so_only_where_it_is_opened(xml, write):
    failed = xml.toc(
        'schema="a"', summary="<start-date/><end-date/><duration>0.000000</duration><instruments-version/>"
    )
    with pytest.raises(UnreadableRecording, match=r"run 1 is a failed recording.*record it again"):
        open_recording(write(failed, "toc.xml"))
    runs = failed.replace("</trace-toc>", xml.toc('schema="a"', number=2).partition("<trace-toc>")[2])
    path = write(runs, "runs.xml")
    assert open_recording(path).run.number == 2
    with pytest.raises(UnreadableRecording, match="run 1 is a failed recording"):
        open_recording(path, run=1)
