"""Which conditions of calls a recording shows to be the same before and after some time, and which it does not show."""

from __future__ import annotations

from collections.abc import Iterator

import tracekit.detectors as tk
from tracekit.analysis.quantities import median_of
from tracekit.analysis.queues import unit_rows
from tracekit.intervals import Timed
from tracekit.trace.events import COPY_KINDS

SAME = 1.2
"""Times that differ by less are the same: the usual spread stays within a fifth (heuristic)."""
BESIDE = 0.05
"""Part of the time of calls by which other work on their unit may differ and be the same (heuristic)."""
NEVER = ("Low Power Mode", "quality of service of the caller")
"""No instrument records it."""

Parts = tuple[tk.IntArray, tk.IntArray]
"""Ids of calls before and after."""


def conditions_in_words(view: tk.ModelView, parts: Parts, unit: tk.Device | None) -> tuple[str, str]:
    """The thermal state of calls on a unit, None where it is not known, and sentences on all conditions."""
    found: dict[str, list[str]] = {"The same before and after": [], "Different": [], "Not recorded": []}
    same, changed, unknown = found.values()
    held: dict[str, str] = {}
    for name, before, after, is_same in _conditions(view, parts, unit):
        if not before or not after:
            held[name] = "not recorded"
            unknown.append(name)
            continue
        held[name] = after if is_same else f"{before}, then {after}"
        (same if is_same else changed).append(f"{name} ({held[name]})")
    unknown += NEVER
    if unit is not tk.Device.GPU:
        unknown.append(f"clock of the {tk.DEVICE_NAMES[unit]}" if unit else "clocks of compute units")
    return held["thermal state"], " ".join(f"{title}: {', '.join(names)}." for title, names in found.items() if names)


def copying_ns(view: tk.ModelView, calls: tk.IntArray) -> float:
    """Median time in which inputs and outputs of calls, by id, are copied and converted; 0 where no row shows it."""
    copies = view.data.where(view.data.kind.is_any(*COPY_KINDS))
    return median_of(tk.sums_by(calls, copies.prediction.filled(), copies.duration_ns))


def time_on_unit(view: tk.ModelView, parts: Parts) -> tuple[tk.Device | None, str]:
    """The unit that works most for calls, and how its time for each changed, in words that end a sentence; None and no
    words where no row shows it."""
    at = [tk.places_of(view.predictions.id, part) for part in parts]
    busy = {unit: view.breakdown.busy(unit).filled(0) for unit in tk.DEVICE_NAMES}
    unit = max(busy, key=lambda each: int(busy[each].sum()))
    before, after = (median_of(busy[unit][part]) for part in at)
    if not before:
        return None, ""
    return unit, f"; on the {tk.DEVICE_NAMES[unit]} {view.time(after)} instead of {view.time(before)}"


def _conditions(view: tk.ModelView, parts: Parts, unit: tk.Device | None) -> Iterator[tuple[str, str, str, bool]]:
    """Name of each condition, what held before and after, in words, and whether that is the same; no words where it was
    not recorded. O(n log n) in the rows of the trace."""
    times = [tk.Intervals.from_rows(view.trace.activity.take(part)) for part in parts]
    named: dict[str, tuple[Timed, tk.Texts] | None] = {"thermal state": None, "app state": None}
    if (thermal := view.trace.table(tk.Thermal)) is not None:
        named["thermal state"] = thermal, thermal.state
    if (periods := view.trace.table(tk.LifeCycle)) is not None:
        named["app state"] = periods, periods.period
    if unit in (tk.Device.GPU, None) and (gpu := view.trace.table(tk.GpuPerformance)) is not None:
        named["performance state of the GPU"] = gpu, gpu.state
    for name, states in named.items():
        before, after = ("", "") if states is None else (_held(*states, each) for each in times)
        yield name, before, after, before == after
    copying = [copying_ns(view, part) for part in parts]
    before, after = (view.time(each) if each else "" for each in copying)
    yield "time to copy inputs and outputs", before, after, copying[1] < SAME * copying[0]
    if unit in (tk.Device.ANE, tk.Device.GPU):
        work = unit_rows(view.trace)[unit]
        others = work.times.where(tk.places_of(view.predictions.id, work.call) < 0)
        shares = [float(others.covered_within(each).sum()) / max(int(each.durations.sum()), 1) for each in times]
        before, after = (tk.format_share(share) if share else "none" for share in shares)
        yield f"other work on the {tk.DEVICE_NAMES[unit]}", before, after, shares[1] - shares[0] < BESIDE


def _held(rows: Timed, states: tk.Texts, times: tk.Intervals) -> str:
    """The states in which calls were in flight; empty for none."""
    held = tk.Intervals.from_rows(rows)
    found = (name for name in sorted(states.held()) if held.where(states.is_any(name)).covered_within(times).any())
    return ", ".join(found)
