"""Real bundles, against exports of the same recordings and against facts that were measured without tracekit.

Golden facts: section 16 of the reference on trace bundles, computed by a script of its own.
"""

from __future__ import annotations

import shutil
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tracekit.errors import UnreadableRecording, UsageError
from tracekit.recording import open_contents, open_recording
from tracekit.recording.table import IntegerCells, Process, TableState

if TYPE_CHECKING:
    from pathlib import Path

    from tracekit.recording.contents import Recording
    from tracekit.recording.table import Table

pytestmark = pytest.mark.corpus

CORE_ML = ("hello_coreml", "quick_probe", "fp16_w8_60s_all")
ALL = (*CORE_ML, "output")


@pytest.fixture(scope="module")
def opened(corpus: Path) -> dict[str, Recording]:
    return {name: open_recording(corpus / f"bundles/{name}.trace") for name in ALL}


def only(recording: Recording, schema: str, **attributes: str) -> Table:
    (table,) = recording.tables(schema, **attributes)
    return table


def numbers(table: Table, mnemonic: str) -> np.ndarray:
    cells = table.column(mnemonic)
    assert isinstance(cells, IntegerCells)
    return cells.values


def row(table: Table, index: int) -> tuple[object, ...]:
    return tuple(str(value) if isinstance(value, Process) else value for value in (c.item(index) for c in table.cells))


def names(table: Table, mnemonic: str) -> list[str]:
    cells = table.column(mnemonic)
    return [str(cells.item(index)) for index in range(table.rows)]


@pytest.mark.parametrize("name", ["quick_probe", "fp16_w8_60s_all"])
def test_the_list_of_tables_is_that_of_the_exported_table_of_contents(corpus: Path, name: str) -> None:
    exported = open_contents(corpus / f"xml/xcode16.4-coreml-toc-{name}.xml").runs[0]
    native = open_contents(corpus / f"bundles/{name}.trace").runs[0]
    assert len(native.tables) == 90
    assert Counter((each.schema, *sorted(each.attributes.items())) for each in native.tables) == Counter(
        (each.schema, *sorted(each.attributes.items())) for each in exported.tables
    )


@pytest.mark.parametrize("name", ["quick_probe", "fp16_w8_60s_all"])
def test_target_template_and_span_are_those_of_the_exported_table_of_contents(corpus: Path, name: str) -> None:
    exported = open_contents(corpus / f"xml/xcode16.4-coreml-toc-{name}.xml").runs[0]
    native = open_contents(corpus / f"bundles/{name}.trace").runs[0]
    assert native.target.process == exported.target.process
    assert native.template == exported.template == "Core ML"
    assert native.duration_ns is not None
    assert exported.duration_ns is not None
    assert abs(native.duration_ns - exported.duration_ns) < 1_000
    assert native.device.os_version is not None
    assert str(exported.device.os_version).startswith(f"{native.device.os_version} (")
    for ours, theirs in ((native.start_date, exported.start_date), (native.end_date, exported.end_date)):
        # The same moment: the export is written in the time zone of the Mac, seven hours behind.
        assert ours is not None
        assert theirs is not None
        assert (
            np.datetime64(ours.removesuffix("+00:00")) == np.datetime64(theirs.removesuffix("-07:00")) + 7 * 3_600_000
        )


def test_all_cells_of_a_table_equal_its_export(corpus: Path, opened: dict[str, Recording]) -> None:
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
def test_an_empty_table_has_the_columns_of_its_export(
    corpus: Path, opened: dict[str, Recording], name: str, schema: str, attributes: dict[str, str], export: str
) -> None:
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


def test_row_counts_are_those_that_were_measured(opened: dict[str, Recording]) -> None:
    for index, name in enumerate(CORE_ML):
        entries = opened[name].run.tables
        counted = {schema: sum(each.rows or 0 for each in entries if each.schema == schema) for schema in ROWS}
        assert counted == {schema: counts[index] for schema, counts in ROWS.items()}, name
    for name, total in READABLE_ROWS.items():
        assert sum(each.rows or 0 for each in opened[name].run.tables) == total, name


@pytest.mark.parametrize("name", ALL)
def test_every_table_decodes_to_as_many_rows_as_are_listed(opened: dict[str, Recording], name: str) -> None:
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


def test_a_table_whose_rows_file_is_absent_is_unreadable_and_never_zero(opened: dict[str, Recording]) -> None:
    for name in ALL:
        lost = [each for each in opened[name].run.tables if each.state is TableState.UNREADABLE]
        assert {int(each.reason.split(" ")[0].replace(",", "")) for each in lost} == ABSENT_ROWS.get(name, set())
        assert all(each.schema == "kdebug" and each.rows is None for each in lost)
        assert all("missing from the bundle; export it on a Mac with `xcrun xctrace" in each.reason for each in lost)
        assert all(not each.cells for each in opened[name].tables("kdebug") if each.state is TableState.UNREADABLE)


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
def test_sums_are_those_that_were_measured(
    opened: dict[str, Recording], schema: str, column: str, sums: tuple[int, ...]
) -> None:
    totals = tuple(int(numbers(only(opened[name], schema), column).sum()) for name in CORE_ML)
    assert totals == sums


def test_sums_over_a_selection_are_those_that_were_measured(opened: dict[str, Recording]) -> None:
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


def test_gpu_time_by_process_and_channel_is_what_was_measured(opened: dict[str, Recording]) -> None:
    table = only(opened["hello_coreml"], "metal-gpu-intervals")
    by_process: dict[tuple[str, str], tuple[int, int]] = {}
    rows = zip(names(table, "process"), names(table, "channel-name"), numbers(table, "duration").tolist(), strict=True)
    for process, channel, duration in rows:
        count, total = by_process.get((process, channel), (0, 0))
        by_process[process, channel] = count + 1, total + duration
    assert by_process == GPU_BY_PROCESS


def test_sample_rows_of_the_gpu_are_those_of_the_reference(opened: dict[str, Recording]) -> None:
    table = only(opened["hello_coreml"], "metal-gpu-intervals")
    values = {mnemonic: table.column(mnemonic).item(0) for mnemonic in (column.mnemonic for column in table.columns)}
    assert {**values, "process": str(values["process"])} == {
        "start": 389_717_041,
        "duration": 55_042,
        "channel-name": "Vertex",
        "frame-number": 1,
        "start-latency": 263_000,
        "event-depth": 0,
        "event-label": "Command Buffer 0:Render Command 0   (NotificationCenter (763)) 0x10882060",
        "state": "Active",
        "connection-UUID": 1,
        "color": 1001,
        "process": "NotificationCenter (763)",
        "gpu": "M2 Ultra",
        "channel-subtitle": "",
        "iosurface-accesses": "",
        "bytes": 0,
        "cmdbuffer-id": 85_081_320,
        "encoder-id": 85_081_321,
        "gpu-submission-id": 277_356_640,
    }
    assert table.column("iosurface-accesses").item(1) == "Write Surface: 1434(512×1024:AGB&)"
    mine = names(table, "process").index("cmhello (83876)")
    assert table.column("start").item(mine) == 5_031_012_750
    label = "MambaASR_fp16_w8_main__Op0_MpsGraphInference:Compute Command 0   (cmhello (83876)) 0x1188bcc0"
    assert table.column("event-label").item(mine) == label
    assert table.column("cmdbuffer-id").item(mine) == 4_572_362_927


def test_sample_rows_of_submissions_and_encoders_are_those_of_the_reference(opened: dict[str, Recording]) -> None:
    table = only(opened["hello_coreml"], "metal-application-command-buffer-submissions")
    values = {column.mnemonic: table.column(column.mnemonic).item(0) for column in table.columns}
    assert (values["start"], values["duration"]) == (4_915_932_750, 98_179_375)
    assert (values["event-type"], values["num-encoders"], values["encoder-time"]) == (
        "CommandBufferSubmission",
        1,
        6_985_458,
    )
    assert values["track-label"] is None
    assert values["event-label"] == 'Committed "MambaASR_fp16_w8_main__Op0_MpsGraphInference" with 1 encoders'
    thread = values["thread"]
    assert thread is not None
    assert str(thread) == "Main Thread (0x5673f7b) (cmhello, pid: 83876)"
    assert getattr(thread, "tid", None) == 90_652_539
    encoders = only(opened["hello_coreml"], "metal-application-encoders-list")
    assert encoders.column("cmdbuffer-label-indexed").item(0) == "[0] MambaASR_fp16_w8_main__Op0_MpsGraphInference"
    assert encoders.column("encoder-id").item(0) == 4_572_362_928


def test_signposts_have_their_message_and_arguments(opened: dict[str, Recording]) -> None:
    table = only(opened["hello_coreml"], "os-signpost", category="ShaderTimeline")
    assert Counter(names(table, "name")) == {
        "FunctionCompiled": 3_986,
        "RenderPipelineLabel": 55,
        "ComputePipelineLabel": 46,
    }
    first = numbers(table, "time").tolist().index(783_599_166)
    message = "Name=VfxXh Label=com.apple.coreanimation.vert.VfxXh Type=vertex ID=31 Addr=26944 Size=182"
    assert table.column("message").item(first) == message
    assert str(table.column("process").item(first)) == "com.apple.appkit.xpc.openAndSav (84660)"
    assert numbers(table, "identifier").view(np.uint64)[first] == 17_216_892_719_917_625_070
    arguments = only(opened["hello_coreml"], "os-signpost-arg")
    first = numbers(arguments, "time").tolist().index(783_599_166)
    assert [
        (arguments.column("name").item(index), arguments.column("value").item(index))
        for index in range(first, first + 6)
    ] == [
        ("arg0", "VfxXh"),
        ("arg1", "com.apple.coreanimation.vert.VfxXh"),
        ("arg2", "vertex"),
        ("arg3", "31"),
        ("arg4", "26944"),
        ("arg5", "182"),
    ]


def test_samples_have_their_thread_state_and_stack(opened: dict[str, Recording]) -> None:
    table = only(opened["hello_coreml"], "time-profile")
    values = {column.mnemonic: table.column(column.mnemonic).item(0) for column in table.columns}
    assert (values["time"], values["core"], values["thread-state"], values["weight"]) == (
        699_155_500,
        15,
        "Running",
        1_000_000,
    )
    assert values["stack"] == "0x19850f095 ← 0x1984a4100 ← 0x1984a13d8 ← 0x19849f134 ← 0x19849eb4c"
    stacks = table.column("stack")
    assert sum(stacks.item(index) is None for index in range(table.rows)) == 33
    for name, tid, samples in (
        ("hello_coreml", 90_652_539, 343),
        ("quick_probe", 71_200_590, 3_614),
        ("fp16_w8_60s_all", 31_246_559, 745),
    ):
        threads = only(opened[name], "time-profile").column("thread")
        of_main = [getattr(threads.item(index), "tid", None) == tid for index in range(len(threads))]
        assert sum(of_main) == samples, name


def test_a_sampled_stack_is_the_profiled_one_but_for_its_leaf(opened: dict[str, Recording]) -> None:
    """The program counter of a sample is one less than the leaf of the profile: 8,239 of 8,239 samples.

    The profile adds the link register where the leaf has no frame of its own.
    """
    profile, samples = only(opened["quick_probe"], "time-profile"), only(opened["quick_probe"], "time-sample")
    sampled = {
        samples.column("time").item(index): str(samples.column("cp-user-callstack").item(index))
        for index in range(samples.rows)
        if samples.column("sample-type").item(index) == 0
    }
    compared = 0
    for index in range(profile.rows):
        stack = profile.column("stack").item(index)
        if stack is None:
            continue
        leaf, *callers = str(stack).split(" ← ")
        counter, *below = sampled[profile.column("time").item(index)].split(" ← ")
        assert int(leaf, 16) == int(counter, 16) + 1
        assert callers in (below, [callers[0], *below])
        compared += 1
    assert compared > 3_000


def test_life_cycle_clock_and_device_rows_are_those_of_the_reference(opened: dict[str, Recording]) -> None:
    hello = opened["hello_coreml"]
    cycle = only(hello, "life-cycle-period")
    rows = [
        (cycle.column("start").item(n), cycle.column("duration").item(n), names(cycle, "period")[n]) for n in range(4)
    ]
    assert sorted(rows, key=str) == sorted(
        [
            (0, 697_702_874, "Initializing - Process Creation"),
            (697_702_875, 4_001_869_332, "Initializing - System Interface Initialization"),
            (4_699_572_208, 894_625, "Initializing - Static Runtime Initialization"),
            (698_478_125, 4_001_988_708, "Initializing - System Interface Initialization"),
        ],
        key=str,
    )
    assert "Initializing – Static Runtime Initialization" in names(cycle, "narrative")
    epochs = [only(opened[name], "time-info").column("mabs-epoch").item(0) for name in CORE_ML]
    assert epochs == [2_371_010_520_781, 1_957_307_546_856, 1_034_743_489_489]
    assert only(hello, "time-info").column("timebase-info").item(0) == "125/3"
    gpu = only(hello, "device-gpu-info")
    assert (gpu.column("device-name").item(0), gpu.column("vendor-name").item(0)) == ("M2 Ultra", "Apple")
    assert gpu.column("recommended-max-working-set-size").item(0) == 51_539_607_552
    assert (gpu.column("mobile").item(0), gpu.column("agx-tracecode-version").item(0)) == (1, "3.43.0")
    speeds = names(only(opened["quick_probe"], "gpu-performance-state-intervals"), "gpu-performance-state")
    assert Counter(speeds) == {"Minimum": 580, "Medium": 22, "Maximum": 13}


def test_processes_and_threads_have_their_names(opened: dict[str, Recording]) -> None:
    processes = only(opened["hello_coreml"], "process-info")
    names_by_pid = dict(zip(names(processes, "pid"), names(processes, "process-name"), strict=True))
    assert [names_by_pid[pid] for pid in ("0", "1", "432")] == ["kernel_task", "launchd", "logd"]
    threads = only(opened["hello_coreml"], "thread-info")
    assert threads.column("tid").item(0) == 101
    assert threads.column("name").item(0) == "VM_pageout_scan"
    assert str(threads.column("process").item(0)) == "kernel_task (0)"
    assert str(threads.column("thread").item(0)) == "VM_pageout_scan (0x65) (kernel_task, pid: 0)"


RUNS = {
    1: (1_740_826_482.798154, 0.446285248, Process("main", 57606), "Time Profiler", 1_461),
    2: (1_740_827_170.683584, 0.454856157, Process("main", 57899), "form", 1_367),
    3: (1_740_827_362.281771, 0.413347006, Process("main", 58016), "form", 1_349),
}


def test_each_run_of_a_recording_has_its_own_facts(opened: dict[str, Recording]) -> None:
    contents = opened["output"].contents
    assert [run.number for run in contents.runs] == [1, 2, 3]
    for run in contents.runs:
        start, duration, target, template, rows = RUNS[run.number]
        assert run.start_date is not None
        assert abs(np.datetime64(run.start_date.removesuffix("+00:00")).astype(int) / 1000 - start) < 0.001
        assert abs((run.duration_ns or 0) / 1e9 - duration) < 1e-6
        assert (run.target.process, run.template) == (target, template)
        assert (run.device.platform, run.device.os_version) == ("macOS", "15.3.1 (24D70)")
        assert (run.instruments_version, run.end_reason) == ("16.0 (16C5032a)", "Target app exited")
        assert (run.recording_mode, run.time_limit) == ("Deferred", "12 hours")
        assert run.target.termination_reason == "exit(0)"
        assert run.device.name
        assert run.device.uuid
        assert len(run.tables) == 40
        assert sum(entry.rows or 0 for entry in run.tables) == rows


def test_a_run_is_chosen_by_its_number(corpus: Path) -> None:
    path = corpus / "bundles/output.trace"
    first = open_recording(path, run=1)
    profile = only(first, "time-profile")
    assert [profile.column("time").item(n) for n in range(3)] == [442_478_333, 443_477_916, 444_477_541]
    thread = profile.column("thread").item(0)
    assert getattr(thread, "tid", None) == 2_277_579
    assert str(profile.column("process").item(0)) == "main (57606)"
    thermal = only(first, "device-thermal-state-intervals")
    assert row(thermal, 0) == (0, 446_285_247, 446_285_247, "Unknown", "Current", 0, "Unknown thermal state")
    assert only(first, "life-cycle-period").column("duration").item(0) == 441_689_457
    assert only(open_recording(path, run=2), "device-thermal-state-intervals").run == 2
    assert open_recording(path).run.number == 3
    with pytest.raises(UsageError, match=r"has no run 4 \(runs: 1, 2, 3\)"):
        open_recording(path, run=4)


def test_facts_that_only_the_run_information_holds_are_unknown_without_it(opened: dict[str, Recording]) -> None:
    for name in CORE_ML:
        run = opened[name].run
        assert (run.instruments_version, run.end_reason, run.target.arguments, run.device.model) == (None,) * 4
        assert any("no 'form.template'" in note for note in opened[name].contents.notes)
    assert not any("form.template" in note for note in opened["output"].contents.notes)


def test_run_issues_come_without_the_one_that_every_recording_has(opened: dict[str, Recording]) -> None:
    assert [len(opened[name].run.issues) for name in ALL] == [0, 1, 0, 0]
    assert "backdated timestamps" in opened["quick_probe"].run.issues[0]


def test_the_core_ml_images_are_among_the_kernel_strings(opened: dict[str, Recording]) -> None:
    mapped = (4_698_517_416, 702_174_541, 4_028_408_916)
    for name, time in zip(CORE_ML, mapped, strict=True):
        tables = opened[name].tables("kdebug-strings", codes="0x1f,0x05")
        times = {
            table.column("time").item(index)
            for table in tables
            for index, path in enumerate(names(table, table.columns[1].mnemonic))
            if path.endswith("/CoreML.framework/Versions/A/CoreML")
        }
        assert time in times, name


def test_a_zipped_bundle_reads_like_its_folder(corpus: Path, tmp_path: Path) -> None:
    shutil.copytree(corpus / "bundles/output.trace", tmp_path / "packed" / "output.trace")
    (tmp_path / "packed" / "__MACOSX").mkdir()
    (tmp_path / "packed" / "__MACOSX" / "._output.trace").write_bytes(b"\0\5\26\7")
    packed = shutil.make_archive(str(tmp_path / "output"), "zip", tmp_path / "packed")
    zipped, plain = open_recording(packed), open_recording(corpus / "bundles/output.trace")
    assert zipped.contents.runs == plain.contents.runs
    for schema in {entry.schema for entry in plain.run.tables}:
        for one, other in zip(zipped.tables(schema), plain.tables(schema), strict=True):
            assert [row(one, index) for index in range(one.rows)] == [row(other, index) for index in range(other.rows)]


def test_bundles_of_old_instruments_get_their_sentence_as_folder_and_as_archive(corpus: Path) -> None:
    for name in ("10.0_simple-time-profile.trace", "10.0_simple-time-profile.trace.zip"):
        with pytest.raises(UnreadableRecording, match=r"Instruments 10 or older \(row topology XRT50_C22_TypeID and"):
            open_recording(corpus / "bundles" / name)


def test_a_bundle_is_given_alone(corpus: Path) -> None:
    bundle = corpus / "bundles/output.trace"
    with pytest.raises(
        UnreadableRecording, match=r"only one recording can be read at a time .*'output.trace' is a whole"
    ):
        open_recording([corpus / "xml/xcode16.4-mps-hw-intervals.xml", bundle])
