"""What the performance report of a model plans and times, for checks that measure what a recording shows.

A plan is an intention on one device, and a report times the model alone: both are shown, and decide nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import tracekit.detectors as tk

if TYPE_CHECKING:
    from tracekit.model_files.performance.facts import ComputeUnit, PerformanceReport, PlannedOperation
    from tracekit.recording import contents

# Words instead of members: what reads reports takes long to load, and most recordings come alone.
ENGINE = tk.DEVICE_NAMES[tk.Device.ANE]
NAMES = {name: f"the {name}" for name in tk.DEVICE_NAMES.values()}
"""Compute units in sentences, in the order of a result, by the words of reports and recordings alike."""

_TYPES = 4
"""Types of operations that a sentence lists."""
_SLOWER = 1.2
"""The model alone is no slower than in the app, by more than measurements differ (heuristic)."""
_LONGEST = 40
"""Characters of a word of the report that a sentence repeats."""


def requested_units(report: PerformanceReport) -> str:
    """Compute units that the model was loaded for."""
    if report.asked is None:
        return "unknown compute units"
    if len(report.asked) == len(NAMES):
        return "all compute units"
    return f"{report.asked[0]} only" if len(report.asked) == 1 else " and ".join(map(str, report.asked))


def same_device(report: PerformanceReport, device: contents.Device) -> bool | None:
    """Whether the report was made on the model of device that was recorded; None where either is unknown."""
    if report.device is None or device.model is None:
        return None
    return report.device.casefold() == device.model.casefold()


def report_origin(report: PerformanceReport, device: contents.Device) -> str:
    """Where the report was made, and whether that was recorded: `iPhone 14 Pro, iOS 18.5, all compute units`."""
    words = [word[:_LONGEST] for word in (report.device, report.system) if word]
    words.append(requested_units(report))
    if report.device is None:
        words.insert(0, "unknown device")
    elif same_device(report, device) is False:
        words.append(f"not the {device.model} that was recorded")
    return ", ".join(words)


def units(report: PerformanceReport) -> dict[str, int]:
    """Operations on each compute unit, by name; units without any are absent."""
    return {str(unit): count for unit, count in report.counts.items()}


def placement(report: PerformanceReport) -> str:
    """`764 operations: 740 on the Neural Engine, 21 on the GPU, 3 on the CPU`; empty where it lists none."""
    if not report.operations:
        return ""
    counts = units(report)
    known = [f"{counts[unit]:,} on {name}" for unit, name in NAMES.items() if unit in counts]
    unknown = len(report.operations) - sum(counts.values())
    known += [f"{unknown:,} unknown"] if unknown else []
    return f"{tk.format_count(len(report.operations), 'operation')}: {', '.join(known)}"


def hand_offs(report: PerformanceReport) -> str:
    """`2 hand-offs (Neural Engine → CPU 1, CPU → Neural Engine 1)`, or `no hand-offs`; empty without placed ones."""
    if not report.counts:
        return ""
    if not report.transitions:
        return "no hand-offs"
    transitions = ", ".join(f"{entry.source} → {entry.target} {entry.count:,}" for entry in report.transitions)
    return f"{tk.format_count(sum(entry.count for entry in report.transitions), 'hand-off')} ({transitions})"


def of_units(view: tk.ModelView, expected: str | None = None) -> str:
    """Where operations are planned and, if asked, why some are not on a unit: sentences after a space, or nothing."""
    report = view.performance_report
    if report is None or not report.counts:
        return ""
    where = report_origin(report, view.trace.run.device)
    plan = f" Planned by the performance report ({where}): {placement(report)}."
    return plan if expected is None else f"{plan}{_not_on(view, report, expected)}"


def _not_on(view: tk.ModelView, report: PerformanceReport, unit: str) -> str:
    """What the plan says of the operations that are not on a unit."""
    if report.asked is not None and unit not in report.asked:
        return f" It was made without {NAMES[unit]}, and says nothing of what could run there."
    could = [entry for entry in report.operations or () if report.mark(entry, _unit(unit)) == "could run"]
    groups = [*_incompatible(report, unit), *([f"{_type_counts(could)} could"] if could else [])]
    others = f" Of the operations that are not on {NAMES[unit]}, {' and '.join(groups)}." if groups else ""
    mostly_there = 2 * units(report).get(unit, 0) >= sum(report.counts.values())
    if not mostly_there or same_device(report, view.trace.run.device) is False:
        return others
    return f"{others} Most are planned for {NAMES[unit]}: check `computeUnits` in the app."


def _incompatible(report: PerformanceReport, unit: str) -> list[str]:
    """The operations that the report marks so, for a sentence about a unit. It is not sure of the Neural Engine,
    and marks of units that it was not made for mean nothing."""
    operations = report.incompatible_with(_unit(unit))
    return [f"{_type_counts(operations)} {'may not' if unit == ENGINE else 'cannot'} run there"] if operations else []


def _unit(name: str) -> ComputeUnit:
    from tracekit.model_files.performance.facts import ComputeUnit

    return ComputeUnit(name)


def _type_counts(operations: Sequence[PlannedOperation]) -> str:
    """How many, and the most frequent types: `3 (topk 2, cast 1)`."""
    counts = Counter(entry.type[:_LONGEST] or "unknown type" for entry in operations).most_common()
    shown = [f"{name} {count:,}" for name, count in counts[:_TYPES]]
    rest = sum(count for _, count in counts[_TYPES:])
    return f"{len(operations):,} ({', '.join([*shown, f'{rest:,} more'] if rest else shown)})"


def of_hand_offs(view: tk.ModelView, main: str | None = None) -> str:
    """How often the plan changes the unit and, given a main one, at which operations: after a space, or nothing."""
    report = view.performance_report
    if report is None or not report.counts:
        return ""
    where = report_origin(report, view.trace.run.device)
    plan = f" The performance report ({where}) plans {hand_offs(report)} in the order of its operations"
    if main is None:
        return f"{plan}."
    if not report.transitions:
        return f"{plan}: check that the app uses the same device, system and compute units."
    away = [entry for entry in report.operations or () if entry.unit is not None and entry.unit != main]
    reasons = "".join(f", of which {words}" for words in _incompatible(report, main))
    return f"{plan}; not on {NAMES[main]}: {_type_counts(away)}{reasons}."


def of_time(view: tk.ModelView, limit_ns: int, recorded_ns: float) -> str:
    """Whether the model alone would keep a time limit, beside the recorded median: after a space, or nothing."""
    report = view.performance_report
    median = report.prediction.median_ns if report and report.prediction else None
    if report is None or median is None:
        return ""
    fits = median <= limit_ns
    verdict = f"which fits in {tk.format_time(limit_ns)}" if fits else f"more than {tk.format_time(limit_ns)}"
    advice = f": {'look at what else runs at that time' if fits else 'the model itself is too slow'}"
    if same_device(report, view.trace.run.device) is False:
        advice = ""
    elif median > _SLOWER * recorded_ns:
        advice = "; the app is faster, so check that the report is of this model and of the same compute units"
    where = report_origin(report, view.trace.run.device)
    alone = f"Alone, the model takes {tk.format_time(median)} by the performance report (median; {where})"
    return f" {alone}, {verdict}{advice}."


def of_load(view: tk.ModelView) -> str:
    """How long the model loads by the report: a sentence after a space, or nothing."""
    report = view.performance_report
    if report is None or report.load is None:
        return ""
    cached, first = report.load.median_ns, report.load.first_ns
    # Where nothing is kept apart, it is unknown which of the loads were cached.
    words = [f"{tk.format_time(cached)} {'from the cache' if first else '(median)'}"] if cached is not None else []
    if first:
        spread = (
            tk.format_time(first[0])
            if len(first) == 1
            else f"{tk.format_time(min(first))} to {tk.format_time(max(first))}"
        )
        words.append(f"{spread} without")
    where = report_origin(report, view.trace.run.device)
    return f" By the performance report ({where}), a load takes {' and '.join(words)}." if words else ""
