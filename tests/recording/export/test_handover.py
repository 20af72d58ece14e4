"""What `support.handover` makes of a scenario in memory is what reading its export gives."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from recording.bundle.test_round_trip import random_scenario

from suite.frame import SHARED, detector_ids, load, module_of
from support.handover import recording_of
from support.samples import EXPORTED, SAMPLES
from tracekit.columns import Numbers
from tracekit.recording import open_recording
from tracekit.testing import Draws, Model, Process, Scenario, write_export
from tracekit.testing.recorder import App
from tracekit.trace.build import NEEDED_SCHEMAS

MS = 1_000_000


def labeled(module: str) -> Scenario:
    """One of the labeled recordings of a detector, of another kind for each."""
    numbers = load(module)
    case = numbers[sum(map(ord, module)) % len(numbers)]
    recorded = case.build(Draws(case.seed))
    return recorded.finish() if isinstance(recorded, App) else recorded


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
                assert isinstance(one, Numbers) == isinstance(other, Numbers), where
                if isinstance(one, Numbers):
                    arrays = ((one.values, other.values), (one.known, other.known))
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


@pytest.mark.parametrize("seed", range(1, 5))
def test_every_kind_of_value_is_what_an_export_says(tmp_path, seed):
    scenario = random_scenario(seed)
    write_export(scenario, tmp_path)
    assert_same(open_recording(tmp_path), recording_of(scenario))


def test_several_runs_are_what_their_export_says(tmp_path):
    runs = [random_scenario(1), random_scenario(4)]
    write_export(runs, tmp_path)
    assert_same(open_recording(tmp_path), recording_of(runs))


def test_a_name_that_a_file_would_change_is_refused():
    scenario = Scenario(Process("App", 7), duration_ns=MS)
    scenario.predict(Model("two\nlines"), 0, MS)
    with pytest.raises(ValueError, match="is changed by a file"):
        recording_of(scenario)
