"""Compute units that people expect their models on: `ane`, `gpu`, `cpu`, and for one model `Segmenter=ane`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.detectors.options import with_values
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tracekit.detectors.options import ModelSettings, Settings

EXPECT_KEY = "unexpected-device.expected_unit"
"""Option that holds the number of the unit."""

UNIT_NUMBERS: dict[str, int] = {"ane": 1, "gpu": 2, "cpu": 3}
"""Numbers of the units in that option; 0 is none."""


def parse_expectation(text: str) -> tuple[str | None, int]:
    """An expectation as pattern of base names (None: every model) and number of the unit.

    Raises `UsageError` for any other text.
    """
    pattern, equals, unit = text.rpartition("=")
    number = UNIT_NUMBERS.get(unit.strip().casefold())
    if number is None or (equals and not pattern):
        raise UsageError(f"expectation '{text}': write ane, gpu or cpu, or MODEL=ane")
    return pattern if equals else None, number


def with_expectations(
    expectations: Iterable[str], settings: Settings, model_settings: ModelSettings
) -> tuple[Settings, ModelSettings]:
    """Both kinds of settings with these expectations on top. A later one outweighs an earlier one.

    Raises `UsageError` as `parse_expectation` does.
    """
    return with_values(EXPECT_KEY, map(parse_expectation, expectations), settings, model_settings)
