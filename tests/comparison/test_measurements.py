"""What is measured of a recording."""

from dataclasses import replace

import numpy as np
import pytest

from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.breakdown.summary import compute_shares
from tracekit.columns import all_known, no_numbers
from tracekit.comparison.measurements import only_models
from tracekit.comparison.sampling import RESAMPLES, block_length, mean_errors
from tracekit.errors import UsageError
from tracekit.trace.build import open_trace


def test_a_compute_unit_that_was_not_recorded_has_no_share(samples):
    times = breakdown(open_trace(samples / "sharpen_8bit.trace"))
    count = len(times.every)
    unknown = no_numbers(count)
    busy = all_known(np.array([3_000] * (count // 2) + [1_000] * (count - count // 2)))
    hidden = replace(times.every, ane_busy_ns=unknown, gpu_busy_ns=busy, cpu_busy_ns=busy)
    assert compute_shares(replace(times, every=hidden)) == ({}, 0.0)
    shown = replace(hidden, ane_busy_ns=busy)
    assert compute_shares(replace(times, every=shown))[0] == pytest.approx({"ane": 1 / 3, "gpu": 1 / 3, "cpu": 1 / 3})
    nothing = replace(hidden, gpu_busy_ns=unknown, cpu_busy_ns=unknown)
    assert compute_shares(replace(times, every=nothing)) == ({}, 0.0)


def test_models_are_chosen_by_patterns(measured):
    recording = measured("style_transfer_fixed")
    names = [model.name for model in only_models(recording, ["Mos*", "InkWash"]).models]
    assert sorted(names) == ["InkWash", "Mosaic"]
    checks = only_models(recording, ["Mosaic"]).checks
    assert {check.model for check in checks} <= {None, "Mosaic"}
    with pytest.raises(UsageError, match="Mosaic"):
        only_models(recording, ["Mosaik"])


def test_errors_of_means_do_not_depend_on_how_many_draws_are_held_at_once(monkeypatch):
    values = np.random.default_rng(1).normal(10, 1, (400, 3))
    whole = mean_errors(values, block_length(values[:, 0]))
    monkeypatch.setattr("tracekit.comparison.sampling.MAX_PICKED", RESAMPLES)
    assert (mean_errors(values, block_length(values[:, 0])) == whole).all()
