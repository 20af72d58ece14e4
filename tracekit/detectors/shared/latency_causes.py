"""What the times of a model's calls show: one reading for one effect, in a fixed order.

Growth, heat and different work can look alike in a histogram. They differ in time: heat follows the thermal state,
growth goes on while that stays the same, different work comes and goes from call to call. Each detector asks the
readings before its own, with their usual rules, and leaves to them what they explain.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis import device_states
from tracekit.analysis.device_states import UNKNOWN
from tracekit.analysis.latency import modes
from tracekit.analysis.latency_growth import GrowthRule
from tracekit.analysis.ledger import patterns
from tracekit.analysis.ledger.patterns import KNOWN_SHARE, LARGER_WORK, MIN_IN_STATE, GrowthReading, is_narrow
from tracekit.analysis.quantities import median_of
from tracekit.detectors.shared.comparable_predictions import Calls, held_up_ns, judge_by_load_kind
from tracekit.detectors.shared.options import HEAT_RATIO
from tracekit.detectors.shared.stands_out import MIN_CALLS
from tracekit.detectors.shared.unit_work import sampled_ns
from tracekit.detectors.shared.wording import FOLLOWS_INPUT_SIZE
from tracekit.trace.events import COPY_KINDS
from tracekit.trace.instruments.tables import GpuPerformance

SIZE_CORRELATION = 0.7
"""From this correlation of copying with the rest of a call on, in logarithms, input sizes explain it (heuristic)."""


def read_growth(view: tk.ModelView, calls: Calls, rule: GrowthRule | None = None) -> GrowthReading:
    """Whether calls grow with their sequence, or on from sequence to sequence. O(n log n)."""
    states = thermal_states(view, calls)
    unknown = np.full(len(calls.rows), UNKNOWN)
    return patterns.read_growth(calls.times, calls.burst, unknown if states is None else states, rule)


def thermal_states(view: tk.ModelView, calls: Calls) -> tk.IntArray | None:
    """Thermal state of the device in the middle of each call, as index in `THERMAL_STATES`; None where not recorded."""
    return device_states.thermal_states(view.trace, calls.times.starts + calls.durations // 2)


def gpu_at_minimum(view: tk.ModelView, calls: Calls) -> tk.BoolArray | None:
    """Shape (calls,): the GPU was at its minimum performance state in the middle; None where states are unknown."""
    states = view.trace.table(GpuPerformance)
    if states is None or not len(states):
        return None
    middle = calls.times.starts + calls.durations // 2
    slowest: tk.BoolArray = device_states.states_at(states, ("Minimum",), middle) == 0
    return slowest


def judge_when_cool(
    view: tk.ModelView, every: tuple[Calls, ...], judge: Callable[[Calls, float], tk.Outcome]
) -> tk.Outcome:
    """What a detector says of the calls in the coolest thermal state where heat slows the others down, however unclear
    calls count. `judge` takes them and how many calls were asked for each one that is compared."""

    def judge_cool(some: Calls) -> tk.Outcome:
        states, cool = thermal_states(view, some) if len(some.rows) >= MIN_CALLS else None, some
        if states is not None:
            ratio, coolest = device_states.heat_ratio(some.durations, states, MIN_IN_STATE)
            cool = some.where(states == coolest) if (ratio or 0) >= HEAT_RATIO else some
        enough = len(cool.rows) >= MIN_CALLS
        return judge(cool, some.requested_ratio) if enough else cool.too_few(view, MIN_CALLS)

    return judge_by_load_kind(view, every, judge_cool)


def follows_input_size(view: tk.ModelView, calls: Calls) -> bool:
    """Whether calls take longer the longer copying their inputs and outputs takes: then the inputs differ in size.

    Copying is compared with the rest of the call, so that slow copies alone do not count. O(n log n).
    """
    copies = view.data.where(view.data.kind.is_any(*COPY_KINDS))
    copying = tk.sums_by(calls.rows.id, copies.prediction.filled(), copies.duration_ns)
    rest = calls.durations - copying
    known = (copying > 0) & (rest > 0)
    if known.mean() < KNOWN_SHARE or not np.ptp(copying[known]) or not np.ptp(rest[known]):
        return False
    return float(np.corrcoef(np.log(copying[known]), np.log(rest[known]))[0, 1]) >= SIZE_CORRELATION


class SwitchOptions(tk.Options):
    """Thresholds of `shape-switching`; by their defaults other rules leave groups of calls to it."""

    ratio: float = tk.option(
        2.0,
        "slow group to fast group",
        "Heuristic: public reports of inputs that leave the fast path mention a factor of five.",
        minimum=1,
    )
    group_share: float = tk.option(
        0.1, "share of predictions", "Heuristic: fewer predictions are exceptions, not a second path.", maximum=0.5
    )
    switches: int = tk.option(
        4, "switches between the groups", "Heuristic: one change, and perhaps one back, can have any cause."
    )
    min_difference_ms: float = tk.option(
        1.0, "ms", "Heuristic: no one notices smaller differences between predictions."
    )


class Work(StrEnum):
    """How the work of two groups compares."""

    SAME = "same"
    LONGER = "longer"
    OTHER_UNIT = "other unit"
    UNKNOWN = "unknown"


class Switching(NamedTuple):
    """Calls in two groups, a fast and a slow one. The numbers are there however far the rule was followed."""

    slow: tk.BoolArray
    """Shape (calls,)."""
    fast_median_ns: float
    slow_median_ns: float
    switches: int
    work: Work
    fast_unit: str
    """Compute unit with most time in the fast group; empty where it is not known."""
    slow_unit: str
    follows: bool
    """Whether the groups follow the rule, whatever the work."""

    @property
    def ratio(self) -> float:
        """Median of the slow group over that of the fast one."""
        return self.slow_median_ns / self.fast_median_ns


def read_switching(
    view: tk.ModelView, calls: Calls, requested_ratio: float, options: SwitchOptions
) -> Switching | None:
    """Two groups of calls that differ by the least ratio; None where there are none. O(n log n).

    Shares are of the calls that were asked for, of which there are so many for each one that is compared
    (`Calls.requested_ratio`). How long a call queued for the Neural Engine says nothing of its group: some of either
    may have.
    """
    durations = calls.durations
    queued = held_up_ns(view, tk.Cause.QUEUED_MODELS, tk.Cause.QUEUED_PROCESSES)
    without_waits = np.maximum(durations - queued[tk.places_of(view.predictions.id, calls.rows.id)], 1)
    # Ratios are compared as logarithms; a hair below, so that the ratio itself is reached.
    min_share = min(options.group_share * requested_ratio, 0.5)
    groups, _ = modes(without_waits, min_share=min_share, min_ratio=options.ratio * (1 - 1e-9))
    if not groups.any():
        return None
    slow = groups > 0
    medians = [median_of(durations[group]) for group in (~slow, slow)]
    switches = _switches(slow, calls.burst)
    work, units = _work(view, calls, slow)
    return Switching(
        slow=slow,
        fast_median_ns=medians[0],
        slow_median_ns=medians[1],
        switches=switches,
        work=work,
        fast_unit=units[0],
        slow_unit=units[1],
        follows=(
            switches >= options.switches
            and medians[1] - medians[0] >= options.min_difference_ms * 1e6
            and all(is_narrow(without_waits[groups == number]) for number in range(groups.max() + 1))
        ),
    )


def _switches(slow: tk.BoolArray, burst: tk.IntArray) -> int:
    """Changes between fast and slow calls, without those of slow calls that open a sequence and end in it: clocks that
    come up after a rest look so. Both shape (calls,)."""
    changes = np.flatnonzero(np.diff(slow))
    first, last = np.concatenate(([0], changes + 1)), np.concatenate((changes, [len(slow) - 1]))
    opens = (first == 0) | (burst[first] != burst[first - 1])
    ends = (last < len(slow) - 1) & (burst[last] == burst[np.minimum(last + 1, len(slow) - 1)])
    opening = slow[first] & opens & ends
    return int((~(opening[:-1] | opening[1:])).sum())


def busy_times(view: tk.ModelView, calls: Calls) -> tk.FloatArray:
    """Time in ns that the Neural Engine, the GPU and the CPU executed for each call: shape (calls, 3), 0 where it is
    not known. Of calls without rows of any unit, samples of a thread that computes show it."""
    busy = np.column_stack([view.breakdown.busy(device).filled(0) for device in tk.DEVICE_NAMES]).astype(np.float64)
    unknown = ~busy.any(axis=1)
    busy[unknown, list(tk.DEVICE_NAMES).index(tk.Device.CPU)] = sampled_ns(view)[unknown]
    return busy[tk.places_of(view.predictions.id, calls.rows.id)]


def _work(view: tk.ModelView, calls: Calls, slow: tk.BoolArray) -> tuple[Work, tuple[str, str]]:
    """How the work of the slow group compares with that of the fast one, and the units that did most of each."""
    busy = busy_times(view, calls)
    total = busy.sum(axis=1)
    if min(float((total[group] > 0).mean()) for group in (~slow, slow)) < KNOWN_SHARE:
        return Work.UNKNOWN, ("", "")
    names = list(tk.DEVICE_NAMES.values())
    main = [int(busy[group].sum(axis=0).argmax()) for group in (~slow, slow)]
    units = names[main[0]], names[main[1]]
    if main[0] != main[1]:
        return Work.OTHER_UNIT, units
    longer = median_of(total[slow]) >= LARGER_WORK * median_of(total[~slow])
    return (Work.LONGER if longer else Work.SAME), units


def no_switching(view: tk.ModelView, calls: Calls, switching: Switching) -> str:
    """Why two groups are no sign of different shapes, in one sentence; empty where nothing else explains them."""
    if not switching.follows:
        return "Some predictions are slow, but they do not form a separate group that comes and goes."
    if read_growth(view, calls).cause is not None:
        return "The slow predictions are the late ones of sequences in which latency grows."
    if switching.work is Work.SAME:
        return "Compute units work as long for slow predictions as for fast ones."
    if switching.work is Work.LONGER and follows_input_size(view, calls):
        return FOLLOWS_INPUT_SIZE
    return ""
