"""Histories of apps that were never recorded, with known changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from tracekit.comparison.history import FIGURES, Recorded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FIRST = datetime(2026, 8, 4, 9, tzinfo=UTC)
SYSTEM = "iOS 18.5 (22F76)"


def commit(number: int) -> str:
    """The commit of a build."""
    return f"{number:07x}" + "0" * 33


def recorded(
    number: int,
    models: Mapping[str, Mapping[str, float]],
    *,
    device: str = "iPhone 14 Pro",
    system: str = SYSTEM,
    day: float | None = None,
    of_commit: str | None = "",
    findings: Mapping[str, tuple[str, ...]] | None = None,
    report: str = "",
) -> Recorded:
    """The recording of a build, by default one a day."""
    began = FIRST + timedelta(days=number if day is None else day)
    values = {name: tuple(figures.get(figure) for figure in FIGURES) for name, figures in models.items()}
    made = commit(number) if of_commit == "" else of_commit
    identity = f"{device} {system} {began} {made}"
    return Recorded(began.isoformat(timespec="seconds"), made, identity, device, system, values, findings or {}, report)


def latencies(logs: Sequence[float], model: str = "Sharpen", **options: str) -> list[Recorded]:
    """Builds of one model with a median of 8 ms times the exponential of these."""
    return [recorded(at, {model: {"p50_ns": 8e6 * float(np.exp(log))}}, **options) for at, log in enumerate(logs)]
