"""Loads and compilations that Core ML logs as signposts, in recordings whose Core ML table is empty."""

from __future__ import annotations

import pytest

from support.handover import trace_of
from support.rows import values_of
from tracekit.api import judge
from tracekit.comparison.measuring import measure
from tracekit.testing import (
    Draws,
    Model,
    Process,
    Scenario,
    SignpostRow,
    cpu,
    start_recording,
    write_bundle,
    write_export,
)
from tracekit.testing.machines import Thread
from tracekit.testing.recorder import App
from tracekit.testing.rows import LOAD_COLD, PREDICTION
from tracekit.trace.build import open_trace
from tracekit.trace.events import SETUP_KINDS
from tracekit.trace.trace import Trace

MS = 1_000_000
NET = Model("Net")
CORE_ML = "coreml-os-signpost"


@pytest.fixture
def app():
    app = start_recording(Draws(3), jitter=0, noise=False, code=True)
    app.code.on_main = True
    return app


def logged(start_ns: int, duration_ns: int, message: str = "Net", name: str = "MLModel_Load") -> SignpostRow:
    return SignpostRow(start_ns, duration_ns, name, "com.apple.coreml", "coreml", message)


def use(app: App, load_ns: int = 300 * MS) -> Scenario:
    """The app loads a model and predicts with it; Core ML's signposts say so, and its table does not."""
    app.load(NET, load_ns, LOAD_COLD)
    for _ in range(9):
        app.predict(NET, cpu(20 * MS), inputs=0)
        app.pause(10 * MS)
    scenario = app.finish()
    (load,) = [row for row in scenario.coreml if row.label == LOAD_COLD]
    scenario.core_ml_signposts = [logged(load.start_ns, load.duration_ns)]
    scenario.emptied.add(CORE_ML)
    return scenario


def loads(trace: Trace) -> list[tuple[str, int, int, str, str, int]]:
    rows = trace.activity.where(trace.activity.kind.is_any(*SETUP_KINDS))
    columns = ("model", "start_ns", "duration_ns", "origin", "kind", "resolution_ns")
    return list(zip(*(values_of(rows, name) for name in columns), strict=True))


def test_an_inferred_load_is_the_one_that_was_logged(app):
    scenario = use(app)
    trace = trace_of(scenario)
    (load,) = [row for row in scenario.coreml if row.label == LOAD_COLD]
    # The times and the name are those of the signpost; that it was cold is known from call stacks.
    assert loads(trace) == [("Net", load.start_ns, load.duration_ns, "signposts", "load_uncached", 0)]
    assert (trace.activity.start_min_ns[0], trace.activity.end_max_ns[0]) == (load.start_ns, load.end_ns)
    predictions = [row for row in scenario.coreml if row.label == PREDICTION]
    assert trace.activity.kind.is_any("prediction").sum() == len(predictions)
    # The one model that predicts was taken for the one that is loaded; now its name is known.
    assert set(trace.activity.model.held()) == {"Net"}
    assert trace.sites is not None
    assert trace.sites.line.item(0) == 42
    assert trace.sites.id.tolist() == list(range(len(trace.activity)))
    assert trace.inferred


def test_files_say_the_same(app, tmp_path):
    scenario = use(app)
    write_bundle(scenario, tmp_path / "a.trace", rows_per_block=64)
    write_export(scenario, tmp_path / "a")
    expected = loads(trace_of(scenario))
    assert [loads(open_trace(tmp_path / name)) for name in ("a.trace", "a")] == [expected, expected]


def test_loads_that_no_stack_shows_are_added():
    scenario = Scenario(Process("App", 900), 1_000 * MS)
    other = Process("Other", 901)
    elsewhere = SignpostRow(5 * MS, MS, "MLModel_Load", "com.apple.coreml", "coreml", "Foreign", Thread(7, other, "T"))
    scenario.core_ml_signposts = [
        logged(500 * MS, 20 * MS, "modelName: Stage, parentModelName: Pipeline"),
        logged(490 * MS, 40 * MS, "Pipeline"),
        logged(100 * MS, 50 * MS, "Net", "MLModel_Compile"),
        logged(700 * MS, 5 * MS, ""),
        elsewhere,
    ]
    trace = trace_of(scenario)
    assert loads(trace) == [
        ("Net", 100 * MS, 50 * MS, "signposts", "compile", 0),
        ("Pipeline", 490 * MS, 40 * MS, "signposts", "load", 0),
        ("Stage", 500 * MS, 20 * MS, "signposts", "load", 0),
        ("model without a name", 700 * MS, 5 * MS, "signposts", "load", 0),
    ]
    assert values_of(trace.activity, "level") == ["top", "top", "sub", "top"]
    assert trace.activity.parent_model.item(2) == "Pipeline"


def test_a_load_of_another_thread_or_time_is_another_load(app):
    scenario = use(app)
    worker = Thread(99_999, scenario.target, "Worker")
    (first,) = scenario.core_ml_signposts
    scenario.core_ml_signposts = [
        SignpostRow(first.start_ns, first.duration_ns, first.name, first.subsystem, first.category, "Other", worker),
        logged(first.end_ns + 200 * MS, 10 * MS, "Later"),
    ]
    trace = trace_of(scenario)
    assert {(model, origin) for model, _, _, origin, _, _ in loads(trace)} == {
        ("Other", "signposts"),
        ("model called at Style.swift:42", "call-stacks"),
        ("Later", "signposts"),
    }


def test_what_core_ml_recorded_counts_alone(app):
    scenario = use(app)
    scenario.emptied.clear()
    assert {origin for _, _, _, origin, _, _ in loads(trace_of(scenario))} == {"core-ml"}


def test_hardware_rows_keep_their_calls(app):
    """Rows move to other places; what belongs to a prediction stays with it."""
    from tracekit.testing import gpu

    app.load(NET, 100 * MS)
    for _ in range(5):
        app.predict(NET, gpu(20 * MS), inputs=0)
        app.pause(10 * MS)
    scenario = app.finish()
    scenario.emptied.add(CORE_ML)
    before = trace_of(scenario)
    scenario.core_ml_signposts = [logged(MS, 2 * MS, "Early")]
    after = trace_of(scenario)
    owners = [trace.hardware.prediction for trace in (before, after)]
    assert owners[0].known.any()
    first, second = (
        trace.activity.start_ns[own.values[own.known]].tolist()
        for trace, own in zip((before, after), owners, strict=True)
    )
    assert first == second


def test_a_load_on_the_main_thread_is_found_with_its_exact_times(app):
    scenario = use(app, 3_000 * MS)
    (load,) = [row for row in scenario.coreml if row.label == LOAD_COLD]
    trace = trace_of(scenario)
    report = judge(trace)
    (finding,) = [one for one in report.results if one.id == "load-on-main-thread" and one.outcome == "finding"]
    assert [(one.start_ns, one.end_ns) for one in finding.evidence] == [(load.start_ns, load.end_ns)]
    assert any("1 load or compilation from Core ML's signposts" in note for note in report.recording.notes)
    (one,) = measure(trace, report).models
    assert one.cold_loads_ns.tolist() == [load.duration_ns]
    assert (one.inexact.load_ns, one.inexact.loads_at_least) == (0, False)
