"""Facts per model: loads, predictions, instances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracekit.analysis.statistics import Statistics


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """One model, by base name."""

    name: str
    level: str
    """`top`, or `sub` for a stage of a pipeline."""
    parents: tuple[str, ...]
    """Pipelines it is a stage of."""
    instances: int | None
    """Distinct instance numbers seen; None where names carry none."""
    loads: int
    cold_loads: int | None
    """Loads that prepared the model for the device; None where the recording does not tell cold from cached."""
    predictions: int
    prediction: Statistics | None
    """None where there is no prediction."""
    load: Statistics | None
    """None where there is no load."""
