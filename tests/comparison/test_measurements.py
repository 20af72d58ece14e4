"""What is measured of a recording."""

import numpy as np
import pytest

from tracekit.comparison.measurements import only_models
from tracekit.comparison.sampling import RESAMPLES, block_length, mean_errors
from tracekit.errors import UsageError


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
