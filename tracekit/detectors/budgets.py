"""Time budgets of a prediction as people give them: `16.7ms`, `33.3`, `30fps`, and for one model `Segmenter=16.7ms`."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from tracekit.detectors.options import with_values
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tracekit.detectors.options import ModelSettings, Settings

BUDGET_KEY = "missed-deadline.budget_ms"
"""Option that holds the budget."""

_FORM = re.compile(r"(?:(?P<model>.+)=)?\s*(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(?P<unit>ms|fps)?\s*", re.ASCII)


def parse_budget(text: str) -> tuple[str | None, float]:
    """A budget as pattern of base names (None: every model) and ms; a number without unit is ms.

    Raises `UsageError` for any other text, and for a budget of 0.
    """
    match = _FORM.fullmatch(text)
    number = 0.0 if match is None else float(match["number"])
    if match is None or number <= 0 or not math.isfinite(number):
        raise UsageError(f"budget '{text}': write a time or a rate above 0, as 16.7ms, 33.3 or 30fps, or MODEL=16.7ms")
    return match["model"], 1_000 / number if match["unit"] == "fps" else number


def with_budgets(
    budgets: Iterable[str], settings: Settings, model_settings: ModelSettings
) -> tuple[Settings, ModelSettings]:
    """Both kinds of settings with these budgets on top. A later budget outweighs an earlier one.

    Raises `UsageError` as `parse_budget` does.
    """
    return with_values(BUDGET_KEY, map(parse_budget, budgets), settings, model_settings)
