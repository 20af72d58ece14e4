"""Which predictions are explained: the slowest, those at a time, at a quantile, or beyond a duration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.quantities import sample_quantiles
from tracekit.arrays import IndexArray

if TYPE_CHECKING:
    from tracekit.analysis.why.parts import Differences

MOST = 10
"""Predictions over a duration that are explained, unless another number is asked for."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is asked for; by default the slowest prediction of the model with most time in predictions."""

    slowest: int | None = None
    """How many, the longest first."""
    at_ns: int | None = None
    """Those in flight at this time since the start of the run; else the next one."""
    percentile: float | None = None
    """The one closest to this percentile of the warm ones; the tail begins there too."""
    over_ns: int | None = None
    """Those that take longer."""

    @property
    def level(self) -> float:
        """Of the quantile that the tail begins at."""
        return 0.95 if self.percentile is None else self.percentile / 100


def chosen(models: Mapping[str, Differences], choice: Choice, *, named: bool = False) -> dict[str, tuple[int, ...]]:
    """Labels of the predictions by model, those that take longest first. Of all models unless they are `named` only the
    one that is asked for, or that is busiest. O(predictions)."""
    if choice.at_ns is not None and not named:
        models = _at(models, choice.at_ns)
    elif not named and models:
        busiest = max(models, key=lambda name: int(models[name].durations.sum()))
        models = {busiest: models[busiest]}
    return {
        name: tuple(of_model.calls.index.to_numpy()[_rows(of_model, choice)].tolist())
        for name, of_model in models.items()
    }


def _at(models: Mapping[str, Differences], time_ns: int) -> Mapping[str, Differences]:
    """The model of which a prediction was in flight, the longest one; else of the next."""

    def rank(of_model: Differences) -> tuple[bool, int]:
        rows = _at_rows(of_model, time_ns)
        start = int(of_model.calls["start_ns"].iloc[rows[0]])
        return start > time_ns, start - time_ns if start > time_ns else -int(of_model.durations[rows[0]])

    some = {name: each for name, each in models.items() if len(_at_rows(each, time_ns))}
    return dict([min(some.items(), key=lambda item: rank(item[1]))]) if some else {}


def _at_rows(of_model: Differences, time_ns: int) -> IndexArray:
    starts = of_model.calls["start_ns"].to_numpy()
    in_flight = np.flatnonzero((starts <= time_ns) & (starts + of_model.durations > time_ns))
    if len(in_flight):
        return in_flight[np.argsort(-of_model.durations[in_flight], kind="stable")]
    return np.flatnonzero(starts > time_ns)[:1]


def _rows(of_model: Differences, choice: Choice) -> IndexArray | Sequence[int]:
    durations = of_model.durations
    longest = np.argsort(-durations, kind="stable")
    if choice.at_ns is not None:
        return _at_rows(of_model, choice.at_ns)[: choice.slowest or 1]
    if choice.over_ns is not None:
        return longest[durations[longest] > choice.over_ns][: choice.slowest or MOST]
    if choice.percentile is not None and choice.slowest is None:
        (value,) = sample_quantiles(durations[of_model.warm], choice.level)
        return np.argsort(np.abs(durations - value), kind="stable")[:1]
    return longest[: choice.slowest or 1]
