"""Measurements of recordings that were never made, with known latencies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from support.simulated_latencies import Case, latencies
from tracekit.analysis.where.verdict import UnitUse, Whereabouts
from tracekit.comparison.measurements import CheckResult, Environment, Measurements, ModelMeasurements

if TYPE_CHECKING:
    from collections.abc import Sequence

CASE = Case("", spread=0.028, phi=0.3)
"""Samples of one recording lie within 2.8%, as those of mui/mui-public#1712 did."""
DEVICE = Environment("iPhone 14 Pro", "iOS 18.5 (22F76)", "16.0 (16F6)", "Core ML", "nominal", "trace bundle")


def ran_on(*, off_by: float = 0.0, **shares: float) -> Whereabouts:
    """Where a model ran by its shares of compute, each of which may be larger by so much."""
    return Whereabouts(
        100,
        0,
        tuple(
            UnitUse(
                *(unit, "proven" if share else "refuted", 100 if share else 0, 0, round(share * 1e9), share),
                *(share, min(share + off_by, 1.0), 100 if share else 0, 0, (), ""),
            )
            for unit in ("neural-engine", "gpu", "cpu")
            for share in (shares.get(unit.replace("-", "_"), 0.0),)
        ),
    )


def model(name: str, values: np.ndarray) -> ModelMeasurements:
    """A model with these warm latencies in ns, shape (predictions,)."""
    nothing = np.zeros(0, np.int64)
    return ModelMeasurements(
        name=name,
        predictions=len(values),
        latencies_ns=values,
        warm=np.ones(len(values), dtype=bool),
        cold_loads_ns=nothing,
        cached_loads_ns=nothing,
        other_loads_ns=nothing,
        copies=0,
        max_in_flight=1,
        warm_parts=None,
        parts=None,
        where=ran_on(neural_engine=1.0),
    )


def of_models(*models: ModelMeasurements, source: str = "run", environment: Environment = DEVICE) -> Measurements:
    """A recording of these models, in which every check passed."""
    checks = tuple(CheckResult("latency-jitter", "Latency jitter", one.name, "passed", None, None) for one in models)
    return Measurements(source, environment, True, models, checks)


def recording(seed: int, scale: float = 1.0, *, count: int = 100, name: str = "Net", case: Case = CASE) -> Measurements:
    """A recording of one model whose typical latency is `scale` times 10 ms."""
    values = latencies(case, count, np.random.default_rng(seed), scale)
    identity = f"{seed} {scale} {count} {name} {case}"
    return replace(of_models(model(name, values), source=f"run {seed}"), identity=identity)


def recordings(scales: Sequence[float], *, first: int = 0, **options: object) -> list[Measurements]:
    """A recording for each scale."""
    return [recording(first + index, scale, **options) for index, scale in enumerate(scales)]
