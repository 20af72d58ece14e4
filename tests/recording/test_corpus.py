"""Real exports of Xcode 12.5 to 27.2: everything that the index of the corpus says must be there."""

from __future__ import annotations

import csv
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tracekit.errors import UnreadableRecording
from tracekit.recording import open_contents, open_recording
from tracekit.recording.table import Process, TableState, Thread

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.corpus

UNREADABLE = {
    "xml/xcode27.0-VM-Tracker-Regions-Map-malformed.xml": r"not well-formed XML at line 3.*track details.*leave it out",
    "xml/xcode26-network-toc-failed-recording.xml": r"run 1 is a failed recording.*record it again",
}
"""Files that must be refused, with the sentence."""
COLUMNS_WITHOUT_SCHEMA = {
    "xml/snippet-ane-hw-intervals-activitymonitor.xml": 5,
    "xml/snippet-ane-hw-intervals-imageall.xml": 5,
    "xml/snippet-metal-gpu-intervals-gputrace.xml": 18,
    "xml/snippet-OSSignpostIntervals-oxys.xml": 5,
}
"""Cells of a row, as the index describes them, in files whose schema lists no columns."""


def index(corpus: Path) -> list[dict[str, str]]:
    with (corpus / "INDEX.tsv").open(encoding="utf-8") as stream:
        return [line for line in csv.DictReader(stream, delimiter="\t") if line["file"].startswith("xml/")]


def test_every_file_reads_with_the_rows_and_columns_of_the_index(corpus):
    lines = index(corpus)
    assert len(lines) == 51
    for line in lines:
        name = line["file"]
        if name in UNREADABLE:
            continue
        contents = open_recording(corpus / name).contents
        tables = [entry for run in contents.runs for entry in run.tables]
        if line["schemas"] == "TOC":
            runs, count = map(int, re.findall(r"\d+", line["rows"]))
            assert (len(contents.runs), len(tables)) == (runs, count), name
            assert {entry.state for entry in tables} <= {TableState.UNREADABLE}, name
            continue
        expected = [] if line["rows"] == "-" else [int(rows) for rows in line["rows"].split(",")]
        assert [entry.rows for entry in tables] == expected, name
        columns = (corpus / name).read_bytes().count(b"<col>") or COLUMNS_WITHOUT_SCHEMA.get(name)
        assert {entry.columns for entry in tables} <= {columns}, name
        schemas = [entry.schema for entry in tables]
        assert schemas[:1] == [name for name in line["schemas"].split(",")[:1] if name != "(no node)"]


def test_files_that_are_broken_or_empty_of_sense_get_their_sentence(corpus):
    for name, sentence in UNREADABLE.items():
        with pytest.raises(UnreadableRecording, match=sentence):
            open_recording(corpus / name)


def test_counting_agrees_with_decoding_in_every_file(corpus):
    for line in index(corpus):
        if line["file"] not in UNREADABLE and "snippet" not in line["file"]:
            path = corpus / line["file"]
            assert open_contents(path).runs == open_recording(path).contents.runs


def test_the_same_file_has_the_same_number_of_cells_with_and_without_value_as_its_text(corpus):
    for line in index(corpus):
        if line["kind"] != "real" or not line["rows"].isdigit() or line["rows"] == "0":
            continue
        path = corpus / line["file"]
        (table,) = open_recording(path).tables(line["schemas"])
        missing = sum(cells.item(row) is None for cells in table.cells for row in range(table.rows))
        assert missing == path.read_text(encoding="utf-8").count("<sentinel/>"), line["file"]


def test_mps_rows_have_the_values_of_the_file(corpus):
    (table,) = open_recording(corpus / "xml/xcode16.4-mps-hw-intervals.xml").tables("mps-hw-intervals")
    assert table.position == 73
    assert table.column("start").item(0) == 4_397_573_333
    assert table.column("duration").item(0) == 259_167
    assert table.column("event-label").item(0) == "MPSGraph:0x10f504470 (CommandBuffer: 0xaa130cc9)"
    assert table.column("start-latency").item(0) is None
    assert table.column("channel-subtitle").item(0) == ""


def test_a_column_that_repeats_the_type_of_another_keeps_its_own_values(corpus):
    path = corpus / "xml/xcode15-device-thermal-state-intervals.xml"
    (table,) = open_recording(path).tables("device-thermal-state-intervals")
    assert (table.column("start").item(0), table.column("end").item(0)) == (0, 4_531_561_613)
    assert table.column("narrative").item(0) == "Nominal thermal state"


def test_a_forward_reference_takes_the_value_defined_later(corpus):
    (table,) = open_recording(corpus / "xml/snippet-metal-gpu-intervals-llmtracefx.xml").tables("metal-gpu-intervals")
    durations = table.column("duration")
    assert [durations.item(row) for row in range(5)] == [10_000, 20_000, 5_000, 1_000, 1_000]
    assert table.column("process").item(3) == Process("WindowServer", 77)


def test_processes_and_threads_carry_their_numbers(corpus):
    (table,) = open_recording(corpus / "xml/xcode27.0-potential-hangs.xml").tables("potential-hangs")
    process = Process("TestApp", 12_345)
    assert table.column("process").item(22) == process
    assert table.column("thread").item(0) == Thread("Main Thread (0x2732bb) (TestApp, pid: 12345)", 2_568_891, process)


def test_cells_of_type_any_are_numbers_where_all_of_them_are(corpus):
    (table,) = open_recording(corpus / "xml/xcode14-counters-profile.xml").tables("counters-profile")
    weights = table.column("weight")
    assert Counter(weights.item(row) for row in range(table.rows)) == {1_000_000: 205}
    assert table.column("counters-array").item(0) == "40 4770"


def test_stacks_read_leaf_first_in_every_shape(corpus):
    (frames,) = open_recording(corpus / "xml/xcode14-counters-profile.xml").tables("counters-profile")
    assert frames.column("stack").item(1) == "c ← b ← a ← main ← start"
    (addresses,) = open_recording(corpus / "xml/xcode12.5-time-profile.xml").tables("time-profile")
    stack = str(addresses.column("stack").item(0)).split(" ← ")
    assert stack[:3] == [hex(6497650484), hex(6498149058), hex(6498149514)]


def test_a_further_node_without_schema_is_the_same_table_of_the_next_run(corpus):
    path = corpus / "xml/xcode16.4-coreml-os-signpost-two-nodes.xml"
    recording = open_recording(path)
    assert [run.number for run in recording.contents.runs] == [1, 2]
    assert recording.run.number == 2
    assert [table.state for table in recording.tables("coreml-os-signpost")] == [TableState.EMPTY]
    assert open_recording(path, run=1).run.number == 1


def test_an_answer_that_matched_nothing_is_a_recording_without_that_table(corpus):
    recording = open_recording(corpus / "xml/xcode16.4-no-match-coreml.xml")
    assert recording.tables("coreml-os-signpost") == []
    assert any("matched nothing" in note for note in recording.contents.notes)


def test_a_table_of_contents_and_its_table_come_together(corpus):
    toc = corpus / "xml/xcode16.4-coreml-toc-fp16_w8_60s_all.xml"
    recording = open_recording([corpus / "xml/xcode16.4-os-signpost-coreml-0rows.xml", toc])
    (table,) = recording.tables("os-signpost", subsystem="com.apple.coreml", category="coreml")
    assert (table.position, table.state) == (71, TableState.EMPTY)
    others = [each for each in recording.tables("os-signpost") if each.position != 71]
    assert others
    assert all(other.state is TableState.UNREADABLE and "not exported" in other.reason for other in others)
    assert recording.run.duration_ns is not None
    assert recording.run.template == "Core ML"
    assert recording.run.instruments_version == "16.0 (16F6)"


def test_a_table_of_another_recording_is_refused(corpus):
    toc = corpus / "xml/xcode14.3.1-cpu-profiler-toc.xml"
    with pytest.raises(UnreadableRecording, match="not from the same recording"):
        open_recording([toc, corpus / "xml/xcode16.4-mps-hw-intervals.xml"])
