"""Whole bundles, made byte by byte: what reads, what is unreadable and why, and what is refused."""

from __future__ import annotations

import plistlib
import zlib
from typing import Any

import pytest

from support.cells import cells, only
from tracekit.errors import UnreadableRecording
from tracekit.recording import open_contents, open_recording
from tracekit.recording.table import TableState


@pytest.fixture
def sample(made_table):
    """A table with one row, changed as the test needs."""
    return lambda **changes: made_table("sample", "time:event-time count:uint32", [(5, 7)], **changes)


def test_attributes_read_as_a_table_of_contents_prints_them(made_bundle, sample, tmp_path):
    attributes: dict[str, object] = {
        "target-pid": "SINGLE",
        "category": "CAMetalLayer.Stalls",
        "codes": ["0x06,0x1b", "plain"],
        "enabled": False,
        "frequency": 10,
    }
    path = made_bundle([sample(attributes=attributes)]).write(tmp_path / "run.trace")
    recording = open_recording(path)
    (entry,) = recording.run.tables
    assert dict(entry.attributes) == {
        "target-pid": "SINGLE",
        "category": '"CAMetalLayer.Stalls"',
        "codes": '"0x06,0x1b" plain',
        "enabled": "0",
        "frequency": "10",
    }
    assert len(recording.tables("sample", category="CAMetalLayer.Stalls", codes="0x06,0x1b")) == 1
    assert recording.tables("sample", category="CAMetalLayer") == []
    assert recording.tables("other") == []


def test_a_table_without_rows_is_empty_with_and_without_its_rows_file(made_bundle, made_table, tmp_path):
    tables = [
        made_table("a", "time:event-time", []),
        made_table("b", "time:event-time", [], replace={"bulkstore": None}),
    ]
    recording = open_recording(made_bundle(tables).write(tmp_path / "run.trace"))
    assert [(entry.state, entry.rows, entry.columns) for entry in recording.run.tables] == [
        (TableState.EMPTY, 0, 1)
    ] * 2
    assert [table.state for name in "ab" for table in recording.tables(name)] == [TableState.EMPTY] * 2


BROKEN = [
    ({"replace": {"bulkstore": None}}, "1 rows were recorded, but their file is missing"),
    ({"replace": {"bulkstore": b"\0" * 5000}}, "unknown format 0x0 version 0"),
    ({"replace": {"bulkstore": b"\x0a"}}, "its rows file is cut off"),
    ({"replace": {"schema.xml": None}}, "schema.xml' is missing"),
    ({"replace": {"schema.xml": b"<schema"}}, "schema.xml is not well-formed"),
    ({"replace": {"schema.xml": b'<!DOCTYPE a [<!ENTITY b "c">]><schema/>'}}, "declares a document type"),
    ({"replace": {"schema.xml": b'<schema name="other" topology="x"/>'}}, "contains the schema 'other'"),
    ({"replace": {"spec.plist": b"bplist00"}}, "spec.plist is not a readable property list"),
    ({"replace": {"bulkstore_descriptor": b"<plist/>"}}, "bulkstore_descriptor is no"),
    ({"topology": "XRT99_TypeID"}, "unknown topology 'XRT99_TypeID'"),
    ({"declared": -1}, "the number of its rows is -1"),
    ({"declared": 1 << 40}, "the number of its rows is"),
]


@pytest.mark.parametrize(("changes", "reason"), BROKEN)
def test_a_table_that_a_guard_refuses_is_unreadable_and_the_rest_reads(
    made_bundle, made_table, sample, tmp_path, changes, reason
):
    tables = [sample(**changes), made_table("sound", "time:event-time", [(1,), (2,)])]
    recording = open_recording(made_bundle(tables, compressed=False).write(tmp_path / "run.trace"))
    broken, sound = recording.run.tables
    assert (broken.state, broken.rows) == (TableState.UNREADABLE, None)
    assert reason in broken.reason
    xpath = '/trace-toc/run[@number="1"]/data/table[@schema="sample"]'
    command = f"xcrun xctrace export --input run.trace --xpath '{xpath}'"
    assert broken.reason.endswith(f"; export it on a Mac with `{command}`")
    assert (sound.state, sound.rows) == (TableState.ROWS, 2)
    (table,) = recording.tables("sample")
    assert (table.state, table.reason, table.cells) == (TableState.UNREADABLE, broken.reason, ())
    assert cells(recording.tables("sound")[0], "time") == [1, 2]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"declared": 65}, "65 rows are declared, and its rows file ends before them"),
        ({"declared": 150_000_000}, "150,000,000 rows do not fit in the"),
    ],
)
def test_a_wrong_number_of_rows_is_noticed_when_the_table_is_read(made_bundle, sample, tmp_path, changes, reason):
    table = only(made_bundle([sample(**changes)]).write(tmp_path / "run.trace"), "sample")
    assert table.state is TableState.UNREADABLE
    assert reason in table.reason


def test_a_recording_that_was_not_finished_says_how_to_recover_it(made_bundle, sample, tmp_path):
    stream = tmp_path / "raw.trace/Trace1.run/Attachments/trace-data.atrc"
    stream.parent.mkdir(parents=True)
    stream.write_bytes(b"raw")
    recipe = r"unfinished.*xctrace import --input X.trace/Trace1.run/Attachments/trace-data.atrc --template 'Core ML'"
    with pytest.raises(UnreadableRecording, match=recipe):
        open_recording(tmp_path / "raw.trace")
    (tmp_path / "issues.trace/Trace1.run").mkdir(parents=True)
    (tmp_path / "issues.trace/Trace1.run/RunIssues.storedata").write_bytes(b"")
    with pytest.raises(UnreadableRecording, match="unfinished recording: it contains no tables; record again"):
        open_recording(tmp_path / "issues.trace")
    partly = made_bundle([sample()], replace={"Trace1.run/Attachments/trace-data.atrc": b"raw"})
    recording = open_recording(partly.write(tmp_path / "partly.trace"))
    assert cells(recording.tables("sample")[0], "count") == [7]
    assert any("not finished: the raw stream 'trace-data.atrc' was left behind" in n for n in recording.contents.notes)
    assert recording.run.raw_stream == "Trace1.run/Attachments/trace-data.atrc"


@pytest.mark.parametrize(
    ("template", "words"), [("Leaks", r"saved recording \(template 'Leaks'\) that"), (None, "saved recording that")]
)
def test_a_saved_recording_without_tables_is_not_called_unfinished(archive, tmp_path, template, words):
    """As Leaks and Allocations leave it: `form.template` and a stream of their own, and no table in `corespace`."""
    run = {1: {"runInfo": ("XRRunInfo", {"_templateName": template})}} if template else {}
    listed = archive.dump(("XRRunListData", {"$0": [1], "$1": run, "$2": 2}), "com.apple.xray.run.data")
    bundle = tmp_path / "leaks.trace"
    for path, content in {
        "form.template": listed,
        "Trace1.run/RunIssues.storedata": b"",
        "Trace1.run/event_data_77.oa": b"raw",
        "corespace/run1/core/uniquing/strings": b"",
    }.items():
        (bundle / path).parent.mkdir(parents=True, exist_ok=True)
        (bundle / path).write_bytes(content)
    with pytest.raises(UnreadableRecording, match=words) as caught:
        open_recording(bundle)
    assert "unfinished" not in str(caught.value)
    assert "Allocations, Leaks" in str(caught.value)


def test_folders_that_are_no_readable_bundle_get_their_sentence(tmp_path):
    (tmp_path / "empty.trace").mkdir()
    with pytest.raises(
        UnreadableRecording, match=r"named like a trace bundle but contains nothing of one; check the path"
    ):
        open_recording(tmp_path / "empty.trace")
    (tmp_path / "old.trace").mkdir()
    (tmp_path / "old.trace/form.template").write_bytes(b"bplist00")
    with pytest.raises(UnreadableRecording, match=r"no folder 'corespace'.*Instruments 7 or older"):
        open_recording(tmp_path / "old.trace")


def test_a_bundle_in_an_archive_reads_without_unpacking(made_bundle, sample, tmp_path):
    for name, prefix in (("named.zip", "run.trace/"), ("bare.zip", ""), ("deep.zip", "shared/runs/run.trace/")):
        (tmp_path / name).write_bytes(made_bundle([sample()]).zipped(prefix))
        before = set(tmp_path.iterdir())
        assert cells(only(tmp_path / name, "sample"), "count") == [7]
        assert set(tmp_path.iterdir()) == before
        assert open_contents(tmp_path / name).source == name


def test_an_archive_of_several_bundles_is_refused_and_exports_go_first(made_bundle, sample, tmp_path):
    import io
    import zipfile

    both = io.BytesIO()
    with zipfile.ZipFile(both, "w") as archive:
        for prefix in ("a.trace/", "b.trace/"):
            for path, data in made_bundle([sample()]).files().items():
                archive.writestr(prefix + path, data)
    (tmp_path / "two.zip").write_bytes(both.getvalue())
    with pytest.raises(UnreadableRecording, match=r"contains 2 trace bundles \('a.trace', 'b.trace'\); unpack it"):
        open_recording(tmp_path / "two.zip")


def test_links_are_not_followed(made_bundle, sample, tmp_path):
    path = made_bundle([sample()]).write(tmp_path / "run.trace")
    rows = path / "corespace/run1/core/stores/indexed-store-0/bulkstore"
    rows.rename(tmp_path / "elsewhere")
    rows.symlink_to(tmp_path / "elsewhere")
    recording = open_recording(path)
    assert recording.tables("sample")[0].state is TableState.UNREADABLE
    assert "1 symbolic links inside the bundle were ignored" in recording.contents.notes


def test_a_newer_document_and_unknown_topologies_are_told(made_bundle, sample, tmp_path):
    requirements = {
        "com.apple.dt.trace": [6, "newer"],
        "com.apple.dt.ac.topology.XRT64_CC32_R_TypeID": [1, "old"],
        "com.apple.dt.ac.topology.XRNew_TypeID": [1, "new"],
    }
    bundle = made_bundle([sample()], replace={"open.creq": plistlib.dumps(requirements)})
    recording = open_recording(bundle.write(tmp_path / "run.trace"))
    notes = " ".join(recording.contents.notes)
    assert "format version 6, newer than version 5" in notes
    assert "row topology that tracekit does not know (XRNew_TypeID)" in notes
    assert cells(recording.tables("sample")[0], "count") == [7]


def test_a_list_of_tables_that_cannot_be_read_is_an_error(made_bundle, sample, tmp_path):
    bundle = made_bundle([sample()], replace={"corespace/run1/core/table-manager/tables.plist": b"junk"})
    with pytest.raises(UnreadableRecording, match=r"list of tables of run 1 in 'run.trace' cannot be read: .*copy the"):
        open_recording(bundle.write(tmp_path / "run.trace"))


@pytest.mark.parametrize(
    ("stores", "why"),
    [
        ([None], "lists a table without a store"),
        (["run2/core/stores/indexed-store-0"], "lists a table without a store"),
        (["run1/core/stores/../indexed-store-0"], "lists a table without a store"),
        (["run1/core/stores/indexed-store-0"] * 2, "lists two tables in one store"),
    ],
)
def test_a_table_has_a_store_of_its_own_in_its_run(made_bundle, archive, sample, tmp_path, stores, why):
    details = {
        number: {"storeSubpath": store, "spec": sample(attributes={"number": str(number)}).spec()}
        for number, store in enumerate(stores)
    }
    listed = zlib.compress(archive.dump({"tableDetails": archive.numbered(details)}))
    bundle = made_bundle([sample()], replace={"corespace/run1/core/table-manager/tables.plist": listed})
    with pytest.raises(UnreadableRecording, match=f"list of tables of run 1 in 'run.trace' cannot be read: .*{why}"):
        open_recording(bundle.write(tmp_path / "run.trace"))


def test_progress_is_reported_in_bytes_of_the_bundle(made_bundle, sample, tmp_path):
    seen: list[Any] = []
    path = made_bundle([sample()]).write(tmp_path / "run.trace")
    open_recording(path, progress=seen.append).tables("sample")
    size = (path / "corespace/run1/core/stores/indexed-store-0/bulkstore").stat().st_size
    assert [(each.done_bytes, each.total_bytes, each.source) for each in seen] == [(size, size, "run.trace")]
