"""How much the latency of each model must change to count, as the settings of a project have it.

min-change = 0.05                 # share of the latency
min-change-time = "50us"          # and at least this much time

[models."Caption*"]
min-change = 0.1
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tracekit.detectors.options import matches
from tracekit.errors import UsageError
from tracekit.units import parse_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tracekit.compare.latency import Floor

KEYS = ("min-change", "min-change-time")


@dataclass(frozen=True, slots=True)
class Floors:
    """The floor of each model: where several patterns set the same, a later one wins."""

    settings: tuple[tuple[str, Mapping[str, float]], ...] = ()
    """Shell patterns of names, each with fields of `Floor`."""

    def of(self, model: str) -> Floor:
        """The floor of a model by its name."""
        from tracekit.compare.latency import Floor

        floor = Floor()
        for pattern, values in self.settings:
            if matches(model, pattern):
                floor = replace(floor, **values)
        return floor


def parse_floor(table: Mapping[str, Any], where: str) -> dict[str, float]:
    """Fields of `Floor` that a table of settings sets. Raises `UsageError` with the key."""
    values = {}
    share = table.get("min-change")
    if share is not None:
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise UsageError(f"'{where}min-change': must be a share from 0 to 1, as 0.05")
        values["ratio"] = float(share)
    time = table.get("min-change-time")
    if time is not None:
        time_ns = parse_duration(time) if isinstance(time, str) else None
        if time_ns is None:
            raise UsageError(f"'{where}min-change-time': must be a time with its unit, as \"50us\"")
        values["absolute_ns"] = float(time_ns)
    return values
