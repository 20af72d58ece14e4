"""Real bundles, against exports of the same recordings and against facts that were measured without tracekit.

Golden facts: section 16 of the reference on trace bundles, computed by a script of its own.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from support.real_bundles import ALL, CORE_ML, names, numbers, only, row
from tracekit.recording import open_contents, open_recording
from tracekit.recording.table import TableState

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize("name", ["quick_probe", "fp16_w8_60s_all"])
def test_tables_target_template_and_span_are_those_of_the_exported_table_of_contents(corpus, name):
    exported = open_contents(corpus / f"xml/xcode16.4-coreml-toc-{name}.xml").runs[0]
    native = open_contents(corpus / f"bundles/{name}.trace").runs[0]
    assert len(native.tables) == 90
    ours, theirs = (
        Counter((table.schema, *sorted(table.attributes.items())) for table in run.tables) for run in (native, exported)
    )
    assert ours == theirs
    assert native.target.process == exported.target.process
    assert native.template == exported.template == "Core ML"
    assert native.duration_ns is not None
    assert exported.duration_ns is not None
    assert abs(native.duration_ns - exported.duration_ns) < 1_000
    assert native.device.os_version is not None
    assert str(exported.device.os_version).startswith(f"{native.device.os_version} (")
    for here, there in ((native.start_date, exported.start_date), (native.end_date, exported.end_date)):
        # The same moment: the export is written in the time zone of the Mac, seven hours behind.
        assert here is not None
        assert there is not None
        moment = np.datetime64(there.removesuffix("-07:00")) + 7 * 3_600_000
        assert np.datetime64(here.removesuffix("+00:00")) == moment


def test_all_cells_of_a_table_equal_its_export(corpus, opened):
    exported = only(open_recording(corpus / "xml/xcode16.4-mps-hw-intervals.xml"), "mps-hw-intervals")
    native = only(opened["fp16_w8_60s_all"], "mps-hw-intervals")
    assert native.columns == exported.columns
    assert (native.rows, len(native.columns)) == (10, 13)
    assert [row(native, index) for index in range(10)] == [row(exported, index) for index in range(10)]
    assert [type(cells) for cells in native.cells] == [type(cells) for cells in exported.cells]


@pytest.mark.parametrize(
    ("name", "schema", "attributes", "export"),
    [
        ("quick_probe", "coreml-os-signpost", {}, "xcode16.4-coreml-os-signpost-0rows-quick_probe.xml"),
        ("hello_coreml", "coreml-os-signpost", {}, "xcode16.4-coreml-os-signpost-0rows-hello_coreml.xml"),
        ("fp16_w8_60s_all", "ane-hw-intervals-internal", {}, "xcode16.4-ane-hw-intervals-internal-0rows.xml"),
        ("fp16_w8_60s_all", "os-signpost", {"category": "coreml"}, "xcode16.4-os-signpost-coreml-0rows.xml"),
    ],
)
def test_an_empty_table_has_the_columns_of_its_export(corpus, opened, name, schema, attributes, export):
    exported = only(open_recording(corpus / "xml" / export), schema)
    native = only(opened[name], schema, **attributes)
    assert native.state is exported.state is TableState.EMPTY
    assert native.columns == exported.columns
    assert [len(cells) for cells in native.cells] == [0] * len(native.columns)


ROWS = {
    "coreml-os-signpost": (0, 0, 0),
    "ane-hw-intervals-internal": (0, 0, 0),
    "dyld-library-load": (0, 0, 0),
    "mps-hw-intervals": (1, 9, 10),
    "metal-gpu-intervals": (31_015, 10_601, 21_651),
    "metal-gpu-state-intervals": (61_705, 21_182, 43_241),
    "metal-application-command-buffer-submissions": (34, 306, 340),
    "metal-application-encoders-list": (34, 306, 340),
    "metal-application-intervals": (69, 621, 690),
    "metal-command-buffer-completed": (3_165, 2_290, 2_029),
    "metal-gpu-submission-to-command-buffer-id": (31_762, 11_024, 22_108),
    "gpu-performance-state-intervals": (812, 615, 656),
    "graphics-compiler-activity-intervals": (129, 54, 46),
    "os-signpost-arg": (24_228, 9_836, 9_338),
    "time-profile": (389, 3_689, 855),
    "time-sample": (391, 3_691, 857),
    "process-info": (1_518, 1_056, 2_300),
    "thread-info": (11_197, 8_638, 13_590),
    "life-cycle-period": (4, 4, 4),
    "time-info": (1, 1, 1),
    "device-gpu-info": (1, 1, 1),
    "kdebug-strings": (8_597, 6_516, 5_948),
    "tick": (79, 50, 54),
}
READABLE_ROWS = {"hello_coreml": 1_780_377, "quick_probe": 1_544_805, "fp16_w8_60s_all": 1_198_565, "output": 1_349}
ABSENT_ROWS = {"hello_coreml": {857_872, 897_679}, "fp16_w8_60s_all": {620_139, 596_189}}


def test_row_counts_are_those_that_were_measured(opened):
    for index, name in enumerate(CORE_ML):
        entries = opened[name].run.tables
        counted = {schema: sum(entry.rows or 0 for entry in entries if entry.schema == schema) for schema in ROWS}
        assert counted == {schema: counts[index] for schema, counts in ROWS.items()}, name
    for name, total in READABLE_ROWS.items():
        assert sum(table.rows or 0 for table in opened[name].run.tables) == total, name


@pytest.mark.sweep
@pytest.mark.turns(3)
@pytest.mark.parametrize("name", ALL)
def test_every_table_decodes_to_as_many_rows_as_are_listed(opened, name):
    recording = opened[name]
    for schema in dict.fromkeys(entry.schema for entry in recording.run.tables):
        entries = [entry for entry in recording.run.tables if entry.schema == schema]
        for entry, table in zip(entries, recording.tables(schema), strict=True):
            assert (table.state, table.reason) == (entry.state, entry.reason)
            assert table.rows == (entry.rows or 0)
            if table.cells:
                times = numbers(table, table.columns[0].mnemonic)
                assert (np.diff(times) >= 0).all(), schema
                assert {len(cells) for cells in table.cells} == {table.rows}


def test_a_table_whose_rows_file_is_absent_is_unreadable_and_never_zero(opened):
    for name in ALL:
        lost = [table for table in opened[name].run.tables if table.state is TableState.UNREADABLE]
        assert {int(each.reason.split(" ")[0].replace(",", "")) for each in lost} == ABSENT_ROWS.get(name, set())
        assert all(each.schema == "kdebug" and each.rows is None for each in lost)
        assert all("missing from the bundle; export it on a Mac with `xcrun xctrace" in each.reason for each in lost)
        assert all(not table.cells for table in opened[name].tables("kdebug") if table.state is TableState.UNREADABLE)


SUMS = [
    ("metal-gpu-intervals", "start", (100_334_770_088_078, 26_153_659_072_945, 53_932_295_387_995)),
    ("metal-gpu-intervals", "duration", (527_999_552, 147_969_280, 466_001_458)),
    ("metal-gpu-state-intervals", "start", (199_622_163_221_025, 52_252_966_363_884, 107_724_893_775_760)),
    ("mps-hw-intervals", "duration", (232_791, 2_285_333, 2_554_876)),
    ("metal-application-command-buffer-submissions", "duration", (136_773_417, 311_091_413, 296_141_638)),
    ("time-profile", "time", (1_908_552_466_873, 9_514_907_844_015, 3_786_010_444_546)),
    ("gpu-performance-state-intervals", "duration", (3_652_883_132, 2_189_378_656, 2_495_342_545)),
]


@pytest.mark.parametrize(("schema", "column", "sums"), SUMS)
def test_sums_are_those_that_were_measured(opened, schema, column, sums):
    totals = tuple(int(numbers(only(opened[name], schema), column).sum()) for name in CORE_ML)
    assert totals == sums


def test_sums_over_a_selection_are_those_that_were_measured(opened):
    active = []
    for name in CORE_ML:
        states = only(opened[name], "metal-gpu-state-intervals")
        mask = np.array(names(states, "state")) == "Active"
        active.append(int(numbers(states, "duration")[mask].sum()))
    assert active == [451_229_366, 138_155_032, 418_458_947]
    times = [
        int(numbers(only(opened[name], "os-signpost", category="ShaderTimeline"), "time").sum()) for name in CORE_ML
    ]
    assert times == [14_020_732_216_448, 1_684_035_722_229, 1_620_755_542_503]


GPU_BY_PROCESS = {
    ("cmhello (83876)", "Compute"): (34, 2_977_957),
    ("Cursor Helper (GPU) (88248)", "Vertex"): (10_361, 95_268_316),
    ("Cursor Helper (GPU) (88248)", "Fragment"): (10_369, 213_736_798),
    ("Cursor Helper (GPU) (88248)", "Compute"): (458, 20_109_429),
    ("WindowServer (502)", "Vertex"): (4_109, 58_790_589),
    ("WindowServer (502)", "Fragment"): (4_104, 110_088_140),
    ("WindowServer (502)", "Compute"): (125, 1_397_206),
    ("NotificationCenter (763)", "Vertex"): (664, 9_833_034),
    ("NotificationCenter (763)", "Fragment"): (667, 12_847_790),
    ("avconferenced (901)", "Compute"): (106, 2_787_418),
    ("Usage (898)", "Vertex"): (8, 81_041),
    ("Usage (898)", "Fragment"): (8, 68_501),
    ("None", "Vertex"): (2, 13_333),
}


def test_gpu_time_by_process_and_channel_is_what_was_measured(opened):
    table = only(opened["hello_coreml"], "metal-gpu-intervals")
    by_process: dict[tuple[str, str], tuple[int, int]] = {}
    rows = zip(names(table, "process"), names(table, "channel-name"), numbers(table, "duration").tolist(), strict=True)
    for process, channel, duration in rows:
        count, total = by_process.get((process, channel), (0, 0))
        by_process[process, channel] = count + 1, total + duration
    assert by_process == GPU_BY_PROCESS
