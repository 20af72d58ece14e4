"""What people expect of their models, of all or of one (`Segmenter=gpu`): a time budget of a prediction (`16.7ms`,
`33.3`, `30fps`), and a compute unit (`cpu`, `gpu`, `neural-engine`). And of the app: how much memory it may hold."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from tracekit.detectors.options import ModelSettings, Settings, with_values
from tracekit.errors import UsageError
from tracekit.units import compute_unit, parse_duration

EXPECT_KEY = "not-on-expected-unit.expected_unit"
"""Option that holds the number of the unit."""

UNIT_NUMBERS = {"neural-engine": 1, "gpu": 2, "cpu": 3}
"""Numbers of the units in that option; 0 is none."""


def parse_expectation(text: str) -> tuple[str | None, int]:
    """An expectation as pattern of base names (None: every model) and number of the unit.

    Raises `UsageError` for any other text.
    """
    pattern, equals, unit = text.rpartition("=")
    number = UNIT_NUMBERS.get(compute_unit(unit.strip()) or "")
    if number is None or (equals and not pattern):
        raise UsageError(f"expectation '{text}': write cpu, gpu or neural-engine, or MODEL=gpu")
    return pattern if equals else None, number


BUDGET_KEY = "missed-deadline.budget_ms"
"""Option that holds the budget."""

_RATE = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*fps\s*", re.ASCII)


def parse_budget(text: str) -> tuple[str | None, float]:
    """A budget as pattern of base names (None: every model) and ms; a number without unit is ms.

    Raises `UsageError` for any other text, and for a budget of 0.
    """
    pattern, equals, amount = text.rpartition("=")
    rate = _RATE.fullmatch(amount)
    number = float(rate[1]) if rate else (parse_duration(amount, "ms") or 0) / 1e6
    if number <= 0 or not math.isfinite(number) or (equals and not pattern):
        raise UsageError(f"budget '{text}': write a time or a rate above 0, as 16.7ms, 33.3 or 30fps, or MODEL=16.7ms")
    return pattern if equals else None, 1_000 / number if rate else number


LIMIT_KEY = "memory-peak.limit_mb"
"""Option that holds the most memory of the app."""

_MB = {"MB": 1.0, "GB": 1_000.0}
_SIZE = re.compile(r"\s*(?P<number>[0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(?P<unit>MB|GB)\s*", re.ASCII | re.IGNORECASE)


def parse_memory_limit(text: str) -> float:
    """A limit such as `3GB` or `512MB` in MB. Raises `UsageError` for any other text, and for one of 0."""
    match = _SIZE.fullmatch(text)
    size = 0.0 if match is None else float(match["number"]) * _MB[match["unit"].upper()]
    if not size:
        raise UsageError(f"memory limit '{text}': write a size above 0 with its unit, as 3GB or 512MB")
    return size


def with_expectations(
    budgets: Iterable[str], units: Iterable[str], settings: Settings, model_settings: ModelSettings
) -> tuple[Settings, ModelSettings]:
    """Both kinds of settings with these budgets and compute units on top. A later one outweighs an earlier one.

    Raises `UsageError` as `parse_budget` and `parse_expectation` do.
    """
    settings, model_settings = with_values(BUDGET_KEY, map(parse_budget, budgets), settings, model_settings)
    return with_values(EXPECT_KEY, map(parse_expectation, units), settings, model_settings)
