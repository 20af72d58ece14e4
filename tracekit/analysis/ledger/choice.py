"""Which predictions are explained: the slowest, those at a time, at a quantile, or beyond a duration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracekit.analysis.ledger.account import Account
from tracekit.analysis.quantities import sample_quantiles
from tracekit.arrays import IndexArray

MOST = 10
"""Predictions over a duration that are explained, unless another number is asked for."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is asked for; by default the slowest prediction."""

    slowest: int | None = None
    """How many, the longest first."""
    at_ns: int | None = None
    """Those in flight at this time since the start of the run."""
    percentile: float | None = None
    """The one closest to this percentile of the warm ones; the tail begins there too."""
    over_ns: int | None = None
    """Those that take longer."""
    frame_ns: int | None = None
    """The one that held up the late frame due at this time, or the next one."""

    @property
    def level(self) -> float:
        """Of the quantile that the tail begins at."""
        return 0.95 if self.percentile is None else self.percentile / 100

    def fitting(self, of_model: Account) -> int | None:
        """How many predictions of a model take longer than asked for; None if no time is."""
        return None if self.over_ns is None else int((of_model.durations > self.over_ns).sum())

    def rows(self, of_model: Account) -> IndexArray:
        """Which predictions of a model, by position. O(n log n)."""
        durations, starts = of_model.durations, of_model.calls.start_ns
        longest = np.argsort(-durations, kind="stable")
        if self.percentile is not None and self.slowest is None:
            (value,) = sample_quantiles(durations[of_model.warm], self.level)
            return np.argsort(np.abs(durations - value), kind="stable")[:1]
        if self.over_ns is not None:
            return longest[durations[longest] > self.over_ns][: self.slowest or MOST]
        if self.at_ns is not None:
            longest = longest[((starts <= self.at_ns) & (starts + durations > self.at_ns))[longest]]
        return longest[: self.slowest or 1]


@dataclass(frozen=True, slots=True)
class Slower:
    """The slowest prediction of a recording, of another model than the one that is explained."""

    model: str
    duration_ns: int
    resolution_ns: int
    """How exactly that is known; 0: to the nanosecond."""


def slower_elsewhere(models: Mapping[str, Account], shown: str, duration_ns: int) -> Slower | None:
    """What is slower than a prediction that is the slowest of its model; None for any other. O(n)."""
    longest = {name: int(each.durations.max()) for name, each in models.items()}
    name = max(longest, key=lambda each: longest[each])
    if not longest[shown] <= duration_ns < longest[name]:
        return None
    return Slower(name, longest[name], models[name].resolution_ns)


def chosen(models: Mapping[str, Account], choice: Choice, *, named: bool = False) -> dict[str, tuple[int, ...]]:
    """Ids of the predictions by model; unless these are `named`, of the busiest model that has any;
    where none is in flight at a time, the next. O(n log n)."""
    busiest_first = sorted(models, key=lambda name: -int(models[name].durations.sum()))
    found = {name: models[name].calls.id[choice.rows(models[name])].tolist() for name in busiest_first}
    found = {name: ids for name, ids in found.items() if ids}
    if not found and choice.at_ns is not None:
        # Between two predictions: the next one.
        every = ((name, models[name].calls) for name in busiest_first)
        later = ((name, calls.where(calls.start_ns > choice.at_ns)) for name, calls in every)
        following = [(int(calls.start_ns[0]), name, int(calls.id[0])) for name, calls in later if len(calls)]
        found = {name: [first] for _, name, first in sorted(following)[:1]}
    some = list(found.items())[: None if named else 1]
    return {name: tuple(map(int, ids)) for name, ids in some}
