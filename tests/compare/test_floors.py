"""How much a latency must change to count is a setting, for all models and for some."""

from __future__ import annotations

import numpy as np
import pytest

from support.simulated_latencies import Case, latencies
from tracekit.compare.floors import Floors
from tracekit.compare.latency import Answer, Floor, compare_latency
from tracekit.config import load_config
from tracekit.detectors.plugins import all_detectors
from tracekit.errors import UsageError


@pytest.fixture
def floors(tmp_path):
    def of(text):
        file = tmp_path / "tracekit.toml"
        file.write_text(text)
        return load_config(file, all_detectors()).floors

    return of


def test_without_settings_it_is_five_percent_and_fifty_microseconds(floors):
    assert floors("").of("Net") == Floors().of("Net") == Floor(0.05, 50_000)


def test_each_model_has_its_own_and_the_later_pattern_wins(floors):
    text = """
min-change = 0.1
[models."Net*"]
min-change-time = "1ms"
[models.NetB]
min-change = 0.2
min-change-time = "2ms"
"""
    found = floors(text)
    assert [found.of(name) for name in ("Other", "NetA", "NetB")] == [
        Floor(0.1, 50_000),
        Floor(0.1, 1e6),
        Floor(0.2, 2e6),
    ]


@pytest.mark.parametrize("text", [
    "min-change = 5",
    "min-change = true",
    'min-change = "5%"',
    "min-change-time = 50",
    'min-change-time = "soon"',
    "[models.Net]\nmin-change = -1",
])  # fmt: skip
def test_a_mistake_is_told_with_its_key(floors, text):
    with pytest.raises(UsageError, match="min-change"):
        floors(text)


def test_it_decides_what_is_a_change():
    before, after = (latencies(Case("", scale=1), 200, np.random.default_rng(seed), 1 + 0.1 * seed) for seed in (0, 1))
    assert compare_latency([before], [after], floor=Floor(0.05)).answer is Answer.REGRESSED
    assert compare_latency([before], [after], floor=Floor(0.25)).answer is Answer.UNCHANGED
    assert compare_latency([before], [after], floor=Floor(0.05, 5e6)).answer is Answer.UNCHANGED
