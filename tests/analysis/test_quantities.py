"""Numbers of a model: which predictions they are of, and how they are worked out."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import tracekit
from suite.reported import reported
from support.handover import trace_of
from tracekit.analysis.quantities import (
    MODEL,
    Population,
    Sample,
    fast_enough,
    least,
    mostly_overlap,
    quantiles,
    quantities_of,
    sample_quantiles,
)
from tracekit.comparison.measuring import measure
from tracekit.comparison.reports import from_plain, to_plain
from tracekit.testing.machines import Process
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Scenario

MS = 1_000_000


def sample(durations_ms, first=(), **more):
    times = np.array([round(value * MS) for value in durations_ms], dtype=np.int64)
    warm = ~np.isin(np.arange(len(times)), first)
    nothing = np.zeros(0, dtype=np.int64)
    return Sample(len(times), times, warm, nothing, nothing, **more)


@pytest.mark.parametrize(
    ("latency_ns", "rate"),
    # 8.35 ms is 119.76 frames a second; 105 ms is 9.52, 21 s 0.0476.
    [
        *((8_350_000, 119), (10 * MS, 100), (8_333_300, 120), (105 * MS, 9.5), (2_000 * MS, 0.5), (21_000 * MS, 0.047)),
        *((None, None), (0, None)),
    ],
)
def test_a_rate_is_never_rounded_up(latency_ns, rate):
    assert fast_enough(latency_ns) == rate


@pytest.mark.parametrize(("level", "count"), [(0.5, 1), (0.9, 10), (0.95, 20), (0.99, 100)])
def test_a_quantile_needs_values_beyond_it(level, count):
    assert least(level) == count
    assert quantiles(np.arange(count), level)[0] is not None
    assert quantiles(np.arange(count - 1), level) == (None,)


@pytest.mark.parametrize("count", [1, 2, 3, 20, 101, 400])
def test_quantiles_have_the_digits_of_numpy(count):
    draws, levels = np.random.default_rng(count), (0.0, 0.05, 0.25, 0.5, 0.95, 0.99, 1.0)
    for values in (draws.integers(0, 10**15, count), np.log(draws.uniform(1, 10**9, count))):
        assert sample_quantiles(values, *levels) == tuple(np.quantile(values, levels).tolist())


def test_a_quantile_of_what_is_no_number_is_none():
    assert np.isnan(sample_quantiles(np.array([1.0, np.nan, 2.0]), 0.5)).all()


def test_latencies_are_of_warm_predictions_unless_the_label_says_more():
    values = quantities_of(sample([100, *([10] * 29)], first=[0]))
    assert (values["p50_ns"], values["p95_ns"], values["first_p50_ns"]) == (10 * MS, 10 * MS, 100 * MS)
    # Of 30 values it lies between the 28th and the 29th, 29 * 0.95 = 27.55 from the first; only the 30th is long.
    assert values["all_p95_ns"] == 10 * MS
    assert MODEL["p95_ns"].label == "p95"
    assert MODEL["all_p95_ns"].label == "p95, all predictions"
    assert MODEL["first_p50_ns"].label == "median, first predictions after a load"


def test_where_each_prediction_is_a_first_all_count_and_no_rate_follows():
    values = quantities_of(sample([10] * 10 + [30] * 11, first=range(21)))
    assert (values["p50_ns"], values["fps"], values["fps_at_p95"]) == (30 * MS, None, None)


def test_predictions_in_flight_together_do_not_make_the_rate_of_one_alone():
    alone = np.array([False] * 3 + [True] * 2)
    overlap = mostly_overlap(alone, np.ones(5, np.bool_))
    values = quantities_of(sample([50, 50, 50, 20, 20], alone=alone, overlap=overlap))
    assert (values["fps"], values["fps_at_p95"], values["alone_fps"]) == (None, None, 50)
    assert not mostly_overlap(~alone, np.ones(5, np.bool_))


def test_what_was_not_recorded_has_no_number():
    values = quantities_of(sample([]))
    assert {name for name, value in values.items() if value is not None} == {"predictions"}


@pytest.mark.parametrize(("length_ns", "fps"), [(40, 25_000_000), (730, 1_369_863), (1_234_549, 810)])
def test_latencies_count_to_the_nanosecond(length_ns, fps):
    scenario, model = Scenario(Process("App", 1), duration_ns=10**9), Model("Tiny")
    scenario.load(model, 0, 10_000_000)
    for index in range(100):
        scenario.predict(model, 20_000_000 + index * 5_000_000, length_ns)
    made = reported(trace_of(scenario))
    measured = measure(made.trace, made.report)
    stored = from_plain(json.loads(json.dumps(to_plain(measured))))
    for (each,) in (made.report.models, measured.models, stored.models):
        quantities = each.quantities
        assert (quantities["p50_ns"], quantities["p95_ns"], quantities["fps"]) == (length_ns, length_ns, fps)


def test_the_default_population_is_named_by_none():
    assert {each.population for each in MODEL.values()} == set(Population)
    for each in MODEL.values():
        assert (str(each.population) in each.label) == (each.population is not Population.WARM)


def test_quantiles_are_computed_in_one_place():
    own = {
        path.name
        for path in Path(tracekit.__file__).parent.rglob("*.py")
        if re.search(r"\bnp\.(nan)?(quantile|percentile)\b|statistics\.quantiles", path.read_text("utf-8"))
    }
    assert own == {"quantities.py"}
