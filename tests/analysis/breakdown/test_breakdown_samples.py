"""The breakdown of sample recordings against what their scenarios say happened."""

from __future__ import annotations

import pytest

from support.choice import sweep_rest
from support.samples import SAMPLES
from tracekit.analysis.breakdown.partition import REASONS, Part, Unknown, breakdown
from tracekit.testing import Process, Scenario, write_export
from tracekit.testing.rows import COMPUTE, DATA, PREDICTION, Model
from tracekit.trace.build import open_trace


def covered(rows, start, end):
    """Instants of a prediction, in units of 125 ns, that rows cover: every time of a scenario is a multiple of it."""
    ticks = set()
    for row in rows:
        ticks.update(range(max(row.start_ns, start) // 125, min(row.start_ns + row.duration_ns, end) // 125))
    return ticks


@pytest.mark.parametrize("name", sweep_rest("sharpen_float16", "style_transfer_fixed", "sharpen_8bit"))
def test_each_prediction_has_the_parts_that_its_scenario_gave_it(name, exports):
    scenario = SAMPLES[name]()
    parts = breakdown(open_trace(exports / name)).frame
    calls = [(index, row) for index, row in enumerate(scenario.coreml) if row.label == PREDICTION]
    calls.sort(key=lambda entry: entry[1].start_ns)
    assert len(parts) == len(calls)
    for position, (index, call) in list(enumerate(calls))[::7]:
        start, end = call.start_ns, call.start_ns + call.duration_ns
        assert start % 125 == call.duration_ns % 125 == 0

        def of(rows, start=start, end=end, index=index):
            return covered([row for row in rows if row.prediction == index], start, end)

        engine, gpu = of(scenario.neural_engine), of(scenario.gpu)
        data = of([row for row in scenario.coreml if row.lane == DATA]) - engine - gpu
        requested = of([row for row in scenario.coreml if row.lane == COMPUTE]) - engine - gpu - data
        row = parts.iloc[position]
        assert row[Part.ANE.column] == 125 * len(engine)
        assert row[Part.GPU.column] == 125 * len(gpu)
        assert sum(row[f"data_{part}_ns"] for part in ("before", "between", "after")) == 125 * len(data)
        assert row["ane_queue_ns"] + row["gpu_queue_ns"] + row["cpu_ns"] == 125 * len(requested)
        assert row["unaccounted_ns"] == call.duration_ns - 125 * len(engine | gpu | data | requested)
        assert row["segments"] == 1


def test_work_of_the_engine_that_runs_past_a_prediction_does_not_make_its_time_there_zero(tmp_path):
    ms = 1_000_000
    scenario = Scenario(Process("Camera", 412), duration_ns=1_000 * ms)
    for start in (100, 200):
        scenario.predict(Model("Net"), start * ms, 50 * ms)
    # From the 30th ms of the first prediction to the 70th, and names nobody.
    scenario.other_neural_engine(130 * ms, 40 * ms)
    write_export(scenario, tmp_path)
    split = breakdown(open_trace(tmp_path))
    assert [REASONS[code] if code >= 0 else None for code in split.unknown[Part.ANE]] == [Unknown.AMBIGUOUS, None]
    assert split.frame[Part.ANE.column].tolist()[1] == 0
    assert split.frame[Part.AMBIGUOUS.column].tolist() == [20 * ms, 0]
