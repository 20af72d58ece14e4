"""Evidence of where models ran beside rows of the units: Metal's encoders, names of files, functions and stages, the
kernel's events of the engine, and Core AI's work."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.handover import trace_of
from tracekit.analysis.where.verdict import parts, whereabouts
from tracekit.detectors.shared.not_there import nothing_logged
from tracekit.detectors.views import model_views
from tracekit.testing.code import Code
from tracekit.testing.machines import Process, Thread, main_thread
from tracekit.testing.metal import encode_graphs
from tracekit.testing.rows import ENGINE_PREDICTION, Model
from tracekit.testing.scenario import Scenario
from tracekit.testing.stacks import OPERATIONS, PREDICT
from tracekit.trace.trace import Joined, Match

MS = 1_000_000
ENGINE, GPU = "ane-hw-intervals-internal", "metal-gpu-intervals"
COUNT = 20


def recording(*steps, name="Net", labels=None, every_ms=30, lead_ms=1):
    """A model whose predictions have this work one after the other: unit and ms, or several lists of it in turn."""
    scenario = Scenario(Process("Camera", 412), duration_ns=COUNT * every_ms * MS + 200 * MS)
    scenario.load(Model(name), 10 * MS, 40 * MS)
    for number in range(COUNT):
        work = steps[number % len(steps)]
        length = sum(ms for _, ms in work) + 2 * lead_ms
        prediction = scenario.predict(Model(name), (100 + number * every_ms) * MS, length * MS)
        at = lead_ms * MS
        for unit, ms in work:
            if unit == "gpu":
                prediction.gpu(at, ms * MS)
            else:
                prediction.neural_engine(at, ms * MS, None if labels is None else labels[number % len(labels)])
            at += ms * MS
    scenario.other_neural_engine(60 * MS, MS, "Assistant_main__Op0_AneInference Prediction")
    return scenario


def answers(trace, model="Net", level="top"):
    return {use.unit: (use.answer, use.predictions) for use in whereabouts(trace, model, level).units}


@pytest.mark.parametrize("state", ["emptied", "missing"])
@pytest.mark.parametrize(
    ("named", "on_its_thread", "shown"),
    [(True, True, COUNT), (True, False, COUNT), (False, True, COUNT), (False, False, 0)],
)
def test_metal_encoders_prove_gpu_work_where_its_table_has_no_rows(state, named, on_its_thread, shown):
    scenario = recording([("gpu", 9)])
    caller, other = main_thread(scenario.target), Thread(0x9999, scenario.target)
    code = Code(scenario, on_main=True)
    for row in [row for row in scenario.coreml if row.label == "Prediction"]:
        code.runs(row.start_ns, row.duration_ns, *PREDICT)
    encode_graphs(scenario)
    scenario.command_buffers = [
        replace(row, label=row.label if named else "", thread=caller if on_its_thread else other)
        for row in scenario.command_buffers
    ]
    getattr(scenario, state).update({GPU, "mps-hw-intervals"})
    gpu = whereabouts(trace_of(scenario), "Net").of("gpu")
    assert (gpu.answer, gpu.predictions) == (("proven", shown) if shown else ("unknown", 0))
    assert gpu.evidence == (("Metal encoders and pipelines",) if shown else ())


def test_metal_encoders_show_that_the_table_of_the_gpu_lost_rows():
    scenario = recording([("gpu", 9)])
    encode_graphs(scenario)
    scenario.gpu = [row for row in scenario.gpu if row.process != scenario.target]
    scenario.gpu_work(20 * MS, MS, Process("backboardd", 66))
    gpu = whereabouts(trace_of(scenario), "Net").of("gpu")
    assert (gpu.answer, gpu.predictions) == ("proven", COUNT)
    assert gpu.why == f"its table lost the rows of {COUNT} predictions"


@pytest.mark.parametrize(("file", "count"), [("weights.mlpackage", COUNT), ("Other.mlpackage", 0), (None, 0)])
def test_rows_that_have_the_name_of_the_models_file_are_its_own(file, count):
    label = "weights_5D0B6A1E-93C7-4F0E-8C56-1B7E0B8C2F11_main__Op0_AneInference Prediction"
    trace = trace_of(recording([("neural-engine", 9)], labels=[label]))
    files = () if file is None else (Joined(file, "Net", Match.GIVEN, None),)
    engine = whereabouts(replace(trace, model_files=files), "Net").of("neural-engine")
    assert engine.predictions == count
    assert engine.evidence == (("rows that name the model",) if count else ())


@pytest.mark.parametrize("table", ["whole", "emptied", "missing"])
@pytest.mark.parametrize(("head", "first"), [("Net_", "prefill_step"), (f"{64 * 'a'}_", "prefill")])
def test_each_function_that_labels_name_has_a_verdict_of_its_own(table, head, first):
    labels = [f"{head}{function}__Op0_AneInference Prediction" for function in (first, "decode")]
    scenario = recording([("neural-engine", 9)], [("neural-engine", 2), ("gpu", 7)], labels=labels)
    scenario.gpu = [replace(row, command_buffer=row.command_buffer.replace("_main", "_decode")) for row in scenario.gpu]
    scenario.gpu_work(20 * MS, MS, Process("backboardd", 66))
    if table != "whole":
        getattr(scenario, table).add(GPU)
    found = dict(parts("Net", whereabouts(trace_of(scenario), "Net")))
    assert [*found] == ["Net", f"Net.{first}", "Net.decode"]
    half = COUNT // 2
    engine = {name: where.of("neural-engine").predictions for name, where in found.items()}
    assert engine == {"Net": COUNT, f"Net.{first}": half, "Net.decode": half}
    gpu = [(where.of("gpu").answer, where.of("gpu").predictions) for where in found.values()]
    # Metal's encoders show it where the GPU's table does not.
    assert gpu == [("proven", half), ("refuted" if table == "whole" else "unknown", 0), ("proven", half)]


def test_a_function_alone_is_the_model():
    trace = trace_of(recording([("neural-engine", 9)], labels=["Net_decode__Op0_AneInference Prediction"]))
    assert not whereabouts(trace, "Net").functions


@pytest.mark.parametrize("table", ["whole", "missing"])
@pytest.mark.parametrize("label", [None, ENGINE_PREDICTION])
def test_each_stage_has_a_verdict_of_its_own(table, label):
    scenario = recording([])
    scenario.coreml.clear()
    scenario.gpu_work(20 * MS, MS, Process("backboardd", 66))
    for number in range(COUNT):
        pipeline = scenario.predict(Model("Pipeline"), (100 + number * 30) * MS, 24 * MS)
        encoder = pipeline.stage("Encoder", MS, 11 * MS)
        encoder.neural_engine(MS, 9 * MS, label)
        pipeline.stage("Decoder", 12 * MS, 11 * MS).gpu(MS, 9 * MS)
    if table == "missing":
        scenario.missing.add(ENGINE)
    trace, done = trace_of(scenario), ("proven", COUNT)
    units = {
        (name, unit): answers(trace, name, level)[unit]
        for name, level in (("Pipeline", "top"), ("Encoder", "sub"), ("Decoder", "sub"))
        for unit in ("neural-engine", "gpu")
    }
    assert units.pop(("Pipeline", "gpu")) == units.pop(("Decoder", "gpu")) == done
    engine = done if table == "whole" else ("unknown", 0)
    assert units.pop(("Pipeline", "neural-engine")) == units.pop(("Encoder", "neural-engine")) == engine
    assert set(units.values()) <= {("refuted", 0), ("unknown", 0)}
    assert table != "whole" or set(units.values()) == {("refuted", 0)}


def test_events_of_the_kernel_say_that_an_empty_table_lost_rows_and_prove_nothing():
    scenario = recording([("gpu", 9)])
    scenario.emptied.add(ENGINE)
    trace = trace_of(scenario)
    tables = [
        replace(each, rows=3) if "0x2b,0x24" in each.attributes.get("codes", "") else each for each in trace.run.tables
    ]
    logged = replace(trace, run=replace(trace.run, tables=tuple(tables)))
    assert whereabouts(trace, "Net").of("neural-engine").why == "its table has no row of anybody"
    engine = whereabouts(logged, "Net").of("neural-engine")
    assert engine.answer == "unknown"
    assert [nothing_logged(view) for each in (trace, logged) for view in model_views(each)] == [True, False]
    assert engine.why == "its table has no row of anybody, though the kernel logged 3 events of its driver"


@pytest.mark.parametrize("core_ai", [False, True])
def test_what_computes_while_core_ai_works_is_of_no_known_unit(core_ai):
    scenario = recording([("neural-engine", 9)], labels=[ENGINE_PREDICTION])
    scenario.xcode_version = "27.2"
    code = Code(scenario, thread=7, on_main=False)
    calls = [row for row in scenario.coreml if row.label == "Prediction"]
    for row in calls:
        code.runs(row.start_ns, row.duration_ns, OPERATIONS["cpu"])
    if core_ai:
        what = "Chat", "main", "main", "Inference", "Inference", "Blue", "0", "Run"
        scenario.language_models["CoreAIProfile"] = [(row.start_ns, row.duration_ns, *what) for row in calls]
    trace = trace_of(scenario)
    engine, cpu = (whereabouts(trace, "Net").of(unit) for unit in ("neural-engine", "cpu"))
    assert (engine.answer, cpu.answer == "proven") == (("unknown", False) if core_ai else ("proven", True))
    assert "Chat" not in trace.models.name
