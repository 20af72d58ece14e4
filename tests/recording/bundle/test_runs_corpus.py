"""Runs of real bundles and what surrounds their tables, against facts that were measured without tracekit."""

import numpy as np
import pytest

from support.real_bundles import ALL, CORE_ML, names, only, row
from tracekit.errors import UnreadableRecording, UsageError
from tracekit.recording import open_recording
from tracekit.recording.table import Process

pytestmark = pytest.mark.corpus


RUNS = {
    1: (1_740_826_482.798154, 0.446285248, Process("main", 57606), "Time Profiler", 1_461),
    2: (1_740_827_170.683584, 0.454856157, Process("main", 57899), None, 1_367),
    3: (1_740_827_362.281771, 0.413347006, Process("main", 58016), None, 1_349),
}


def test_each_run_of_a_recording_has_its_own_facts(opened):
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


def test_a_run_is_chosen_by_its_number(corpus):
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


def test_facts_that_only_the_run_information_holds_are_unknown_without_it(opened):
    for name in CORE_ML:
        run = opened[name].run
        assert (run.instruments_version, run.end_reason, run.target.arguments, run.device.model) == (None,) * 4
        assert any("no 'form.template'" in note for note in opened[name].contents.notes)
    assert not any("form.template" in note for note in opened["output"].contents.notes)


def test_run_issues_come_without_the_one_that_every_recording_has(opened):
    assert [len(opened[name].run.issues) for name in ALL] == [0, 1, 0, 0]
    assert "backdated timestamps" in opened["quick_probe"].run.issues[0]


def test_the_core_ml_images_are_among_the_kernel_strings(opened):
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


def test_bundles_of_old_instruments_get_their_sentence_as_folder_and_as_archive(corpus):
    for name in ("10.0_simple-time-profile.trace", "10.0_simple-time-profile.trace.zip"):
        with pytest.raises(UnreadableRecording, match=r"Instruments 10 or older \(row topology XRT50_C22_TypeID and"):
            open_recording(corpus / "bundles" / name)


def test_a_bundle_is_given_alone(corpus):
    bundle = corpus / "bundles/output.trace"
    with pytest.raises(
        UnreadableRecording, match=r"only one recording can be read at a time .*'output.trace' is a whole"
    ):
        open_recording([corpus / "xml/xcode16.4-mps-hw-intervals.xml", bundle])
