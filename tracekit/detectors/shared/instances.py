"""When one instance of a model could do what several do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tracekit.analysis.instances import Instances

MIN_SWITCHES, PARALLEL_SHARE, ALIKE = 5, 0.05, 1.5
"""Defaults of `duplicate-instances`, which other rules go by too."""


class TurnsRule(Protocol):
    """Thresholds."""

    @property
    def min_switches(self) -> int:
        """Switches between instances."""

    @property
    def parallel_share(self) -> float:
        """Share of the busy time in which several are at work."""

    @property
    def alike(self) -> float:
        """Slowest to fastest."""


def take_turns(instances: Instances, rule: TurnsRule) -> bool:
    """Whether they take turns without working at the same time."""
    return instances.switches >= rule.min_switches and instances.parallel_share < rule.parallel_share


def one_suffices(instances: Instances, rule: TurnsRule) -> bool:
    """Whether one of them could do what they do."""
    return take_turns(instances, rule) and instances.spread is not None and instances.spread <= rule.alike
