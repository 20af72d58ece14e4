"""A detector for tracekit: the app predicts late after its first load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.detectors.framework import Detector, ModelView, Reference
from tracekit.detectors.options import option
from tracekit.detectors.outcomes import (
    Cost,
    Direction,
    Evidence,
    Finding,
    Intervals,
    Metric,
    NotApplicable,
    Outcome,
    Passed,
)
from tracekit.detectors.patterns import Pattern
from tracekit.units import format_duration

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    wait_s: float = option(1.0, "s", "Who opens a camera expects a first result within a second (an example).")


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks at the time between the end of the first load and the first prediction."""
    if view.loads.empty or view.predictions.empty:
        return NotApplicable(view.name, "Its first load or its first prediction was not recorded.")
    start, end = _end(view.loads.iloc[0]), int(view.predictions.iloc[0]["start_ns"])
    wait_ns = max(end - start, 0)
    metrics = (Metric("time to the first prediction", wait_ns / 1e9, "ratio", options.wait_s, Direction.ABOVE),)
    if not metrics[0].reached:
        return Passed(view.name, f"Used {format_duration(wait_ns)} after it was loaded.", metrics)
    return Finding(
        model=view.name,
        summary=f"Loaded, and first used {format_duration(wait_ns)} later.",
        metrics=metrics,
        cost=Cost(wait_ns, 1.0, "Time from the end of the first load to the first prediction; share of that time."),
        evidence=(Evidence(start, end, view.name, "wait", str(view.loads.iloc[0]["table"]), 0),),
        lost=Intervals(np.array([start]), np.array([end])),
    )


def _end(row: pd.Series) -> int:
    return int(row["start_ns"] + row["duration_ns"])


DETECTOR = Detector(
    id="first-call",
    title="A loaded model is used soon",
    finding_title="The first prediction comes long after the load",
    pattern=Pattern.SLOW_FIRST_LOAD,
    description="The time between the end of a model's first load and its first prediction, against `wait_s`.",
    why="Memory is held, and the user waits for something else.",
    fix="Load the model when the feature opens, or predict once in the background to warm it up.",
    references=(Reference("tracekit: adding a detector", "https://example.com/your-package"),),
    needs=("Core ML",),
    options=Options,
    detect=detect,
)
