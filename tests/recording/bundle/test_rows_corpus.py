"""Rows of real bundles, one by one, against those that were read without tracekit (section 16 of the reference)."""

from collections import Counter

import numpy as np
import pytest

from support.real_bundles import CORE_ML, names, numbers, only

pytestmark = pytest.mark.corpus


def test_sample_rows_of_the_gpu_are_those_of_the_reference(opened):
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


def test_sample_rows_of_submissions_and_encoders_are_those_of_the_reference(opened):
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


def test_signposts_have_their_message_and_arguments(opened):
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


def test_samples_have_their_thread_state_and_stack(opened):
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


def test_a_sampled_stack_is_the_profiled_one_but_for_its_leaf(opened):
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


def test_life_cycle_clock_and_device_rows_are_those_of_the_reference(opened):
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


def test_processes_and_threads_have_their_names(opened):
    processes = only(opened["hello_coreml"], "process-info")
    names_by_pid = dict(zip(names(processes, "pid"), names(processes, "process-name"), strict=True))
    assert [names_by_pid[pid] for pid in ("0", "1", "432")] == ["kernel_task", "launchd", "logd"]
    threads = only(opened["hello_coreml"], "thread-info")
    assert threads.column("tid").item(0) == 101
    assert threads.column("name").item(0) == "VM_pageout_scan"
    assert str(threads.column("process").item(0)) == "kernel_task (0)"
    assert str(threads.column("thread").item(0)) == "VM_pageout_scan (0x65) (kernel_task, pid: 0)"
