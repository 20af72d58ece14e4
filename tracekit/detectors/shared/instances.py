"""When one instance of a model could do what several do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.instances import Instances, Traits, traits
from tracekit.trace.cache import cached

MIN_SWITCHES, PARALLEL_SHARE, ALIKE = 5, 0.05, 1.5
"""Defaults of `duplicate-instances`, which other rules go by too."""


class Turns(NamedTuple):
    """When instances take turns, and when one of them could do what they do."""

    min_switches: int
    """Switches between instances."""
    parallel_share: float
    """Share of the busy time in which several are at work."""
    alike: float
    """Slowest to fastest."""

    def taken(self, instances: Instances) -> bool:
        """Whether they take turns without working at the same time."""
        return instances.switches >= self.min_switches and instances.parallel_share < self.parallel_share

    def one_suffices(self, instances: Instances) -> bool:
        """Whether one of them could do what they do."""
        return self.taken(instances) and instances.spread is not None and instances.spread <= self.alike


@cached
def traits_of(view: tk.ModelView) -> Traits:
    """Traits of the model's instances, which several rules compare. O(n log n)."""
    return traits(view.trace, view.predictions, view.data, view.compute, view.hardware)


def before_comparing(view: tk.ModelView, least: int) -> tk.Outcome | None:
    """The answer where there is one instance, or too little is known of several; None where they can be compared.
    `least` predictions are needed. O(n log n)."""
    numbers = np.concatenate([rows.instance.filled() for rows in (view.loads, view.predictions)])
    numbers = numbers[numbers >= 0]
    if not len(numbers) and len(view.loads) > 1:
        return view.unknown(
            f"{len(view.loads):,} loads, but the model names have no instance numbers.",
            "Record with Xcode 16 or later, which numbers instances, or count in the code how often the model is "
            "created.",
        )
    if len(view.loads) <= 1 and (numbers == numbers[:1]).all():
        return view.passed("Only one instance was recorded.")
    if len(view.predictions) < least:
        return view.unknown(
            f"Loaded several times, but only {tk.format_count(len(view.predictions), 'prediction')}; {least} needed.",
            tk.RECORD_LONGER,
        )
    return None
