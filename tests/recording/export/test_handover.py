"""What `support.handover` makes of a scenario in memory is what reading its export gives."""

from __future__ import annotations

import random
from dataclasses import fields, replace

import numpy as np
import pytest

from suite.frame import SHARED, detector_ids, load, module_of
from support.handover import recording_of
from support.samples import EXPORTED, SAMPLES
from support.scenarios import derive_gpu_states
from tracekit.recording import open_recording
from tracekit.recording.table import IntegerCells
from tracekit.testing import Draws, Model, PointRow, Process, Scenario, SignpostRow, StateRow, write_export
from tracekit.testing.machines import WINDOW_SERVER
from tracekit.testing.recorder import App
from tracekit.testing.rows import EVENT_LANES
from tracekit.trace.build import NEEDED_SCHEMAS

MS = 1_000_000


def labeled(module: str) -> Scenario:
    """One of the labeled recordings of a detector, of another kind for each."""
    numbers = load(module)
    case = numbers[sum(map(ord, module)) % len(numbers)]
    recorded = case.build(Draws(case.seed))
    return recorded.finish() if isinstance(recorded, App) else recorded


def with_every_value(seed: int) -> Scenario:
    """Rows in all tables, cells without a value, durations of zero, rows at one time, names that XML must escape."""
    draw = random.Random(seed)  # noqa: S311  a repeatable scenario, no secret
    others = [WINDOW_SERVER, Process('Am<p> & "Quote" é', 90)]
    scenario = Scenario(
        Process("App", 700 + seed),
        duration_ns=60_000 * MS + 789 * seed,
        xcode_version=["16.4", "26.3", "27.0", "27.2"][seed % 4],
        event_types=seed % 2 == 0,
        launched=seed % 3 == 0,
        processes=others,
    )
    for name, version in (("Mödel <A>", 1), ("Mödel", None), ("", None)):
        model = Model(name, version)
        scenario.load(model, draw.randint(0, 40) * MS, draw.randint(0, 1) * 300 * MS)
        for _ in range(6):
            prediction = scenario.predict(model, draw.choice([0, 13 * MS, 997 * MS]), draw.randint(10, 90) * MS)
            for label in draw.sample(sorted(EVENT_LANES), 3):
                prediction.event(label, draw.randint(0, 5) * MS, draw.randint(0, 5) * MS)
            prediction.neural_engine(MS, draw.randint(0, 5) * MS)
            prediction.gpu(MS, draw.randint(0, 5) * MS, buffers=draw.randint(1, 3))
            prediction.stage("Stage", MS, 2 * MS)
    for owner, frame in ((others[0], None), (others[1], 0), (None, 7)):
        scenario.gpu_work(draw.randint(0, 40) * MS, draw.randint(0, 9) * MS, owner, "Fragment", "", frame)
    for text in ("", "x & y"):
        scenario.hang(draw.randint(0, 40) * MS, 300 * MS)
        scenario.signposts.append(SignpostRow(draw.randint(0, 40) * MS, 0, "Frame", "a.b", "c", text))
        scenario.points.append(PointRow(draw.randint(0, 40) * MS, "Shutter", "a.b", text))
        scenario.gpu_performance.append(StateRow(draw.randint(0, 40) * MS, MS, "Minimum"))
        scenario.thermal.append(StateRow(draw.randint(0, 40) * MS, MS, "Fair"))
    derive_gpu_states(scenario)
    scenario.missing |= {"time-info"} if seed == 3 else set()
    scenario.emptied |= {"process-info"} if seed == 2 else set()
    return scenario


def assert_same(written, handed) -> None:
    """Two recordings are equal in every fact, table and cell."""
    assert replace(handed.contents, source="") == replace(written.contents, source="")
    assert handed.run == written.run
    compared = 0
    for schema in dict.fromkeys(entry.schema for entry in written.run.tables):
        for mine, its in zip(handed.tables(schema), written.tables(schema), strict=True):
            for name in (field.name for field in fields(mine) if field.name != "cells"):
                assert getattr(mine, name) == getattr(its, name), (schema, name)
            for column, one, other in zip(mine.columns, mine.cells, its.cells, strict=True):
                where = f"{schema}, {column.mnemonic}"
                assert isinstance(one, IntegerCells) == isinstance(other, IntegerCells), where
                if isinstance(one, IntegerCells):
                    arrays = ((one.values, other.values), (one.valid, other.valid))
                else:
                    assert one.values == other.values, where
                    arrays = ((one.codes, other.codes),)
                for first, second in arrays:
                    assert first.dtype == second.dtype, where
                    np.testing.assert_array_equal(first, second, where)
            compared += its.rows
    assert compared > 3


@pytest.mark.turns(9)
@pytest.mark.parametrize("module", [*map(module_of, detector_ids()), *SHARED])
def test_a_labeled_recording_is_what_its_export_says(tmp_path, module):
    scenario = labeled(module)
    write_export(scenario, tmp_path, only=NEEDED_SCHEMAS)
    assert_same(open_recording(tmp_path, schemas=NEEDED_SCHEMAS), recording_of(scenario, NEEDED_SCHEMAS))


@pytest.mark.turns(6)
@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_what_its_export_says(exports, name):
    assert_same(open_recording(exports / name), recording_of(SAMPLES[name](), EXPORTED))


@pytest.mark.parametrize("seed", range(4))
def test_every_kind_of_value_is_what_an_export_says(tmp_path, seed):
    scenario = with_every_value(seed)
    write_export(scenario, tmp_path)
    assert_same(open_recording(tmp_path), recording_of(scenario))


def test_several_runs_are_what_their_export_says(tmp_path):
    runs = [with_every_value(0), with_every_value(4)]
    write_export(runs, tmp_path)
    assert_same(open_recording(tmp_path), recording_of(runs))


def test_a_name_that_a_file_would_change_is_refused():
    scenario = Scenario(Process("App", 7), duration_ns=MS)
    scenario.predict(Model("two\nlines"), 0, MS)
    with pytest.raises(ValueError, match="is changed by a file"):
        recording_of(scenario)
