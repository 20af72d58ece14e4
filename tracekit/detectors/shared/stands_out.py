"""Calls of a model that take longer than its usual one, by causes that the account of time names.

A rule on this engine is a mask, a threshold and words. What is usual, which calls compare with each other, and what
makes each longer is what the account says (`tracekit.analysis.ledger`); a finding costs what the causes take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import NamedTuple, TypeVar

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.code.sites import sites_of
from tracekit.analysis.device_states import UNKNOWN, thermal_states
from tracekit.analysis.latency import modes
from tracekit.analysis.ledger.account import Account, ledger
from tracekit.analysis.ledger.causes import NAMES, QUEUED
from tracekit.analysis.ledger.layers import Compared, Layer
from tracekit.analysis.ledger.patterns import is_narrow
from tracekit.analysis.ledger.usual import Usual
from tracekit.analysis.quantities import median_of
from tracekit.analysis.throughput import burst_numbers
from tracekit.detectors.shared.options import SwitchOptions
from tracekit.detectors.shared.wording import KEEP_LOADED, keep_loaded
from tracekit.sorting import distinct_numbers

Options = TypeVar("Options")

MIN_CALLS = 20
"""Fewest comparable calls. Below it a 95th percentile is the longest call or lies between the longest two."""
LARGER = 0.5
"""Copies of larger inputs take longer than usual by this part of the usual time (heuristic)."""
FEW = 3
"""Samples from which on they show that copies take longer (heuristic)."""
SWITCHING = (tk.Cause.WORK, tk.Cause.UNIT)
"""What makes calls of several shapes differ."""


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """Calls that compare with each other, in order of time: shape (calls,) each. Masks of rules have this shape."""

    view: tk.ModelView
    account: Account
    at: tk.IntArray
    """Their places in the account."""
    calls: Compared
    usual: Usual
    warm: tk.BoolArray
    """Not the first after a load."""
    causes: tuple[tk.Cause, ...]
    """Those of the rule."""

    @property
    def extra_ns(self) -> tk.IntArray:
        """What the causes of the rule make each longer than the usual one; may be negative."""
        return self.by(*self.causes)

    @property
    def own_ns(self) -> tk.IntArray:
        """What each took without waits for units."""
        return self.calls.duration_ns - self.by(*QUEUED)

    def by(self, *causes: tk.Cause) -> tk.IntArray:
        """What other causes make each longer."""
        return self.account.of(*causes)[self.at]

    def took(self, *causes: tk.Cause) -> tk.IntArray:
        """What each takes by some causes alone, where these make it longer."""
        return self.usual.ns + np.maximum(self.by(*causes), 0)

    def has_larger_inputs(self, chosen: tk.BoolArray) -> bool:
        """Whether copying takes longer for most of some calls, at least one; by a few samples, where these show it."""
        least = max(LARGER * max(int(self.usual.layers_ns[Layer.DATA]), 1), FEW * self.account.resolution_ns)
        return median_of(self.by(tk.Cause.COPIES)[chosen]) >= least

    @property
    def times(self) -> tk.Intervals:
        """When each was in flight."""
        return tk.Intervals.from_rows(self.calls)

    @property
    def thermal(self) -> tk.IntArray:
        """Place in `THERMAL_STATES` in the middle of each; `UNKNOWN` where none is known."""
        states = thermal_states(self.view.trace, self.calls.start_ns + self.calls.duration_ns // 2)
        return np.full(len(self.calls), UNKNOWN) if states is None else states

    def typical_ns(self, chosen: tk.BoolArray) -> float:
        """What some calls, at least one, take at the median by the causes alone."""
        return self.usual.ns + median_of(self.extra_ns[chosen])

    def finding(
        self,
        chosen: tk.BoolArray,
        said: tuple[str, tuple[tk.Metric, ...]],
        basis: str,
        *,
        once: bool = False,
        fix: str = "",
    ) -> tk.Finding:
        """The finding about those of the chosen calls that the causes make longer. It costs that time, at the end of
        each, once where several are in flight. `said` is summary and metrics; `once` and `fix` as in `Cost` and
        `Finding`."""
        every = self.extra_ns
        at = np.flatnonzero(chosen & (every > 0))
        extra, ends = every[at], self.times.ends[at]
        affected = tk.Intervals(ends - extra, ends).union()
        cost = self.view.cost(
            affected.covered_ns,
            basis,
            once=once,
            longest_wait_ns=int(extra.max(initial=0)),
            usual_ns=float(self.usual.ns),
        )
        predictions = self.view.predictions
        rows = predictions.take(tk.places_of(predictions.id, self.calls.id[at]))
        sites = sites_of(self.view.trace, rows.id)
        summary, metrics = said
        largest, ns = next(iter(self.account.sums(self.at[at]).items()), (None, 0))
        if largest and largest not in self.causes:
            beyond = int((self.calls.duration_ns[at] - self.usual.ns).sum())
            summary += (
                f" The largest part of the extra time has another cause: {NAMES[largest]}, {self.view.time(ns)} of "
                f"{self.view.time(beyond)}."
            )
        return self.view.finding(summary, metrics, rows=rows, cost=cost, affected=affected, call_sites=sites, fix=fix)


def judge_alike(
    causes: tuple[tk.Cause, ...], least: int | str = MIN_CALLS
) -> Callable[[Callable[[Alike, Options], tk.Outcome]], Callable[[tk.ModelView, Options], tk.Outcome]]:
    """What a rule about some causes says of the calls that compare with each other, of which at least so many must be
    warm, or as many as the option of that name: the finding that costs most, or what it says of most of them. O(calls),
    and the account once for a trace."""

    def of(judge: Callable[[Alike, Options], tk.Outcome]) -> Callable[[tk.ModelView, Options], tk.Outcome]:
        @wraps(judge)
        def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
            account = ledger(view.trace).get(view.name)
            needed = least if isinstance(least, int) else int(getattr(options, least))
            if account is None:
                return view.too_few_predictions(int(view.warm.sum()), needed, adjective="comparable")
            outcomes: list[tk.Outcome] = []
            for number, usual in enumerate(account.usual):
                at = np.flatnonzero(account.kind == number)
                warm = account.warm[at]
                if usual.is_cold:
                    outcomes.append(view.unknown("All predictions are the first after a load.", KEEP_LOADED))
                elif (count := int(warm.sum())) >= needed:
                    alike = Alike(view, account, at, account.calls.at(at), usual, warm, causes)
                    outcomes.append(judge(alike, options))
                else:
                    record = keep_loaded(view, tk.RECORD_LONGER)
                    outcomes.append(view.too_few_predictions(count, needed, adjective="comparable", record=record))
            return _worst_of(view, outcomes)

        return detect

    return of


def _worst_of(view: tk.ModelView, outcomes: Sequence[tk.Outcome]) -> tk.Outcome:
    """The finding that costs most, unless predictions of several processes may stand under one name and number, with
    nothing to tell them apart; without one, what is said of most."""
    found = [outcome for outcome in outcomes if isinstance(outcome, tk.Finding)]
    if not found:
        return outcomes[0]
    if view.trace.run.target.kind == "all-processes" and not (view.processes >= 0).any():
        loaded = view.loads.instance.filled()
        numbers = distinct_numbers(view.predictions.instance.filled())
        if any((loaded == number).sum() != 1 for number in numbers):
            return view.unknown(
                "All processes were recorded, and the rows do not show which process each prediction belongs to, so "
                "they cannot be compared.",
                "Record the process that you want to examine.",
            )
    return max(found, key=lambda finding: finding.cost.ns if finding.cost else 0)


class Groups(NamedTuple):
    """Fast and slow calls of those that compare."""

    slow: tk.BoolArray
    """Shape (calls,)."""
    take_turns: bool
    """They are separate, and come and go, as calls of several shapes do."""
    metrics: tuple[tk.Metric, ...]


def alternating(calls: Alike, options: SwitchOptions) -> Groups | None:
    """The groups that warm calls fall into by their work; None where they form one. O(n log n)."""
    warm = np.flatnonzero(calls.warm)
    took = calls.took(*SWITCHING)[warm]
    group = groups_of(took, options)
    slow, chosen = group > 0, np.zeros(len(calls.calls), np.bool_)
    if not slow.any():
        return None
    chosen[warm[slow]] = True
    fast_ns, slow_ns = (median_of(took[each]) for each in (~slow, slow))
    switches, share = _switches(slow, burst_numbers(calls.calls)[warm]), float(slow.mean())
    metrics = (
        tk.above("ratio", "slow group to fast group", slow_ns / fast_ns, "ratio", options.ratio),
        tk.above("difference", "slow beyond fast group", slow_ns - fast_ns, "ns", options.min_difference_ms * 1e6),
        tk.above("slow-share", "predictions in the slow group", share, "share", options.group_share),
        tk.above("switches", "switches between the groups", switches, "count", options.switches),
        tk.Metric("fast-median", "median of the fast group", fast_ns, "ns"),
        tk.Metric("slow-median", "median of the slow group", slow_ns, "ns"),
    )
    narrow = all(is_narrow(took[group == number]) for number in range(int(group.max()) + 1))
    return Groups(chosen, narrow and tk.all_reached(metrics), metrics)


def groups_of(took: tk.IntArray, options: SwitchOptions) -> tk.IntArray:
    """Number of the group of each time, 0 for fast ones."""
    # Ratios are compared as logarithms; a hair below, so that the ratio itself is reached.
    return modes(took, min_share=options.group_share, min_ratio=options.ratio * (1 - 1e-9))[0]


def _switches(slow: tk.BoolArray, burst: tk.IntArray) -> int:
    """Changes between fast and slow calls, without those of slow calls that open a sequence and end in it: clocks that
    come up after a rest look so. Both shape (calls,)."""
    changes = np.flatnonzero(np.diff(slow))
    first, last = np.concatenate(([0], changes + 1)), np.concatenate((changes, [len(slow) - 1]))
    opens = (first == 0) | (burst[first] != burst[first - 1])
    ends = (last < len(slow) - 1) & (burst[last] == burst[np.minimum(last + 1, len(slow) - 1)])
    opening = slow[first] & opens & ends
    return int((~(opening[:-1] | opening[1:])).sum())
