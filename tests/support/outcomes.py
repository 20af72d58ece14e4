"""Numbers of outcomes."""

from __future__ import annotations

from tracekit.detectors.outcomes import Finding, Passed


def values(outcome: Finding | Passed) -> dict[str, float | None]:
    """The values of its metrics, by what readers call them."""
    return {metric.name: metric.value for metric in outcome.metrics}
