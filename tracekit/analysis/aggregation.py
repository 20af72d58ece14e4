"""Model Activity Aggregation: per lane, event and model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracekit.analysis.statistics import Statistics


@dataclass(frozen=True, slots=True)
class AggregationRow:
    """One row of the aggregation: a lane, an event and a model."""

    lane: str
    label: str
    """Event as recorded."""
    kind: str
    guessed: bool
    model: str | None
    """Base name; None where the rows name no model."""
    level: str
    """`top`, or `sub` for a stage of a pipeline."""
    statistics: Statistics
    warm: Statistics | None
    """Predictions only: without the first one after each load. None for other kinds, and where none is left."""
