"""Call stacks of a scenario are read alike from a bundle, from an export and in memory."""

from __future__ import annotations

import pytest

from support.handover import trace_of
from support.scenarios import READ_ELEMENT
from tracekit.analysis.code.sites import all_sites
from tracekit.testing import Draws, cpu, gpu, write_bundle, write_export
from tracekit.testing.apps import MS, draw_models
from tracekit.testing.recorder import start_recording
from tracekit.testing.stacks import app_function
from tracekit.trace.build import open_trace
from tracekit.trace.trace import Trace


@pytest.fixture
def scenario():
    """A load, predictions on both units, and element access, on two threads."""
    app = start_recording(Draws(5), jitter=0, noise=False, code=True)
    assert app.code is not None
    model = draw_models(app.draws)[0]
    app.code.on_main = True
    app.load(model, 12 * MS)
    app.code.on_main = False
    for step in (cpu(5 * MS), gpu(6 * MS)):
        app.predict(model, step)
        app.busy(3 * MS, READ_ELEMENT, app_function("decode", 90, "Output.swift"))
    return app.finish()


def sites_with_callers(trace: Trace) -> list[tuple[object, ...]]:
    return [(site, site.called_by) for site in all_sites(trace)]


def test_all_forms_of_a_scenario_tell_the_same(scenario, tmp_path):
    bundle = open_trace(write_bundle(scenario, tmp_path / "a.trace", rows_per_block=64))
    write_export(scenario, tmp_path / "xml")
    export, handed = open_trace(tmp_path / "xml"), trace_of(scenario)
    assert sites_with_callers(bundle) == sites_with_callers(export) == sites_with_callers(handed)
    load, prediction, element = all_sites(bundle)
    assert (load.function, load.file, load.line, load.thread, load.calls) == ("App.apply", "Style.swift", 42, "main", 1)
    assert [caller.function for caller in load.called_by] == ["App.run", "main"]
    assert (prediction.thread, prediction.calls) == ("other", 2)
    assert (element.function, element.line, element.samples) == ("App.decode", 90, 6)
    assert len(bundle.samples) == len(scenario.samples)
    assert bundle.sampled.notes == ()


def test_a_bundle_without_symbols_tells_libraries_alone(scenario, tmp_path):
    scenario.symbols = False
    trace = open_trace(write_bundle(scenario, tmp_path / "a.trace", rows_per_block=64))
    assert not trace.stacks.function.known.any()
    assert {"CoreML", "dyld", scenario.target.name} <= set(trace.stacks.image.held())
    assert all_sites(trace) == ()


def test_a_recording_without_samples_holds_no_table_of_them(tmp_path):
    app = start_recording(Draws(5), noise=False)
    app.load(draw_models(app.draws)[0])
    names = {path.name for path in write_export(app.finish(), tmp_path)}
    assert "time-profile.xml" not in names
