"""Which recording a trace is of: copies, exports and saved reports of one agree, and no two recordings do."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

from support.choice import sweep_rest
from support.handover import trace_of
from tracekit.api import analysis_of, judge
from tracekit.comparison.comparison import compare, same_recording
from tracekit.comparison.measurements import Measurements
from tracekit.comparison.measuring import measure
from tracekit.comparison.reports import load_report
from tracekit.report.serialize import to_json
from tracekit.request import request_of
from tracekit.testing import Draws, Model, Process, Scenario, cpu, start_recording, write_bundle, write_export
from tracekit.trace.build import open_trace
from tracekit.trace.trace import identity_of

MS = 1_000_000
NOW, LATER = "2025-06-03T10:15:00.000+02:00", "2025-06-03T10:16:00.000+02:00"


def app_without_core_ml(missing: bool = True) -> Scenario:
    app = start_recording(Draws(3), noise=False, code=True)
    for _ in range(5):
        app.predict(Model("Net"), cpu(20 * MS), inputs=0)
        app.pause(10 * MS)
    scenario = app.finish()
    if missing:
        scenario.emptied.add("coreml-os-signpost")
    return scenario


def silent(start_date: str = NOW) -> Scenario:
    """A recording in which nothing was recorded."""
    return Scenario(Process("App", 900), 1_000 * MS, start_date=start_date)


def measures(scenario: Scenario) -> Measurements:
    trace = trace_of(scenario)
    return measure(trace, judge(trace))


@pytest.mark.parametrize("name", ["captions_concurrent", "style_transfer_reload"])
def test_an_export_is_the_recording_of_its_bundle(samples, name):
    # Both write the time of the start with different offsets, and times of rows alike.
    bundle, export = (open_trace(samples / f"{name}{ending}") for ending in (".trace", "_xml"))
    assert bundle.run.start_date != export.run.start_date
    assert identity_of(bundle) == identity_of(export) is not None


@pytest.mark.parametrize("missing", sweep_rest(True, False))
def test_so_it_is_where_calls_are_inferred(tmp_path, missing):
    scenario = app_without_core_ml(missing)
    write_bundle(scenario, tmp_path / "a.trace", rows_per_block=64)
    write_export(scenario, tmp_path / "a")
    shutil.copytree(tmp_path / "a.trace", tmp_path / "copy.trace")
    traces = [open_trace(tmp_path / name) for name in ("a.trace", "a", "copy.trace")]
    assert [trace.inferred for trace in traces] == [missing] * 3
    assert len({identity_of(trace) for trace in traces}) == 1


@pytest.mark.parametrize("redact", sweep_rest(True, False))
def test_a_report_is_the_recording_it_is_about(samples, tmp_path, measured, redact):
    path = tmp_path / "report.json"
    path.write_text(to_json(analysis_of(samples / "sharpen_8bit.trace", request_of(redact=redact)).measured_report()))
    assert same_recording(load_report(path), measured("sharpen_8bit"))
    assert not same_recording(load_report(path), measured("sharpen_float16"))
    # A report that an earlier version wrote does not say which recording it is about.
    plain = json.loads(path.read_text())
    del plain["measurements"]["identity"]
    path.write_text(json.dumps(plain))
    assert not same_recording(load_report(path), load_report(path))


@pytest.mark.parametrize("missing", sweep_rest(True, False))
def test_equal_measurements_are_not_the_same_recording(missing):
    first, second = app_without_core_ml(missing), app_without_core_ml(missing)
    second.start_date = LATER
    before, after, again = measures(first), measures(second), measures(first)
    assert before.models[0].latencies_ns.tolist() == after.models[0].latencies_ns.tolist()
    # Two on one side are two recordings.
    assert compare([before, after], [after]).before == (before.source, after.source)
    assert [note for note in compare([before], [after]).notes if "itself" in note] == []
    assert "compared with itself" in compare([before], [again]).notes[0]


def test_recordings_in_which_nothing_ran_are_not_the_same():
    first, second = silent(), silent(LATER)
    assert measures(first).models == ()
    assert same_recording(measures(first), measures(silent()))
    assert not same_recording(measures(first), measures(second))


def test_nothing_tells_a_recording_without_date_and_rows_from_others():
    trace = trace_of(silent())
    unknown = replace(trace, run=replace(trace.run, start_date=None))
    assert identity_of(unknown) is None
    side = measure(unknown, judge(unknown))
    assert not same_recording(side, side)


def test_an_identity_says_nothing_that_is_private(samples):
    identity = identity_of(open_trace(samples / "sharpen_8bit.trace"))
    assert identity is not None
    assert (len(identity), set(identity) <= set("0123456789abcdef")) == (32, True)
