"""What a report says of memory, and of speed over minutes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.memory import Sureness
from tracekit.documents.columns import absent_note, durations, names, numbers, optional, words
from tracekit.documents.pictures import drawing, figure
from tracekit.render.blocks import Figure, Paragraph, Role, Section, items, section, table
from tracekit.render.markup import tag
from tracekit.report.formatting import ABSENT, moment
from tracekit.trace.events import DEVICE_NAMES, Device
from tracekit.trace.instruments.memory import Memory
from tracekit.units import format_bytes, format_count, format_share, format_time

if TYPE_CHECKING:
    from tracekit.analysis.memory import LoadMemory, MemoryLevel
    from tracekit.analysis.sustained import Sustained, Third
    from tracekit.render.blocks import Column
    from tracekit.report.report import Report
    from tracekit.report.timeline import DrawnLane, Timeline

LOADS = 3
"""Loads in the short text."""
SHORT = "footprint: at least what models take; memory of the Neural Engine lies in other processes"
STEP = "step: from one sample to the next, so whatever else the app did in that time is in it too"
NOTES = (
    "→: first to last third of the time; retained: share of predictions/s, 100% in an app that paces itself",
    "unit times are those in which it executed predictions: what energy follows from, not energy itself",
)
NO_RELEASE = "returned: what the footprint fell by after the last use; Core ML records no release, so – is not 0"


def memory_section(report: Report, timeline: Timeline | None = None) -> Section | None:
    """How much the target held, and what each load added and returned; None where nothing was sampled."""
    if report.memory is None:
        return None
    columns: tuple[Column[LoadMemory], ...] = (
        names("model", lambda each: each.model),
        numbers("instance", lambda each: each.instance, drop=3),
        words("loaded at", lambda each: moment(each.start_ns)),
        _bytes("step", "step_bytes"),
        _bytes("returned", "returned_bytes"),
        words("how sure", _sure, drop=1),
    )
    loads = report.memory.loads
    pictures = map(_picture, timeline.lanes if timeline is not None else ())
    return section(
        "Memory",
        items(map(_level, report.memory.levels)),
        *(each for each in pictures if each is not None),
        table("Loads in memory", columns, loads, brief=LOADS),
        Paragraph(SHORT, Role.DIM),
        *(Paragraph(note, Role.DIM, brief=0) for note in ((STEP, NO_RELEASE) if loads else ())),
        name="memory",
    )


def _level(level: MemoryLevel) -> str:
    """`footprint: 60 MB at first, most 412 MB at 00:03.200, 390 MB at last (31 samples, 1.00 s apart)`."""
    is_sampled = level.kind == Memory.FOOTPRINT
    samples = format_count(level.samples, "sample" if is_sampled else "change")
    often = f", {format_time(level.every_ns)} apart" if level.every_ns and is_sampled else ""
    return (
        f"{'footprint' if is_sampled else 'Metal'}: {format_bytes(level.first_bytes)} at first, most "
        f"{format_bytes(level.peak_bytes)} at {moment(level.peak_ns)}, {format_bytes(level.last_bytes)} at last "
        f"({samples}{often})"
    )


def _bytes(title: str, name: str) -> Column[LoadMemory]:
    def of(load: LoadMemory) -> int | None:
        size: int | None = getattr(load, name)
        return size

    return optional(title, of, format_bytes, lambda size: size)


def _sure(load: LoadMemory) -> str:
    """What the step rests on: `clear (1.00 s apart)`."""
    if load.apart_ns is None or load.sure == Sureness.UNSAMPLED:
        return load.sure
    return f"{load.sure} ({format_time(load.apart_ns)} apart)"


def _picture(lane: DrawnLane) -> Figure | None:
    """The level over time, of a lane of memory."""
    if lane.sizes is None or len(lane.sizes) < 2:
        return None
    times, held = lane.sizes.times, lane.sizes.bytes
    start, end, top = int(times[0]), max(int(lane.ends[-1]), int(times[-1]) + 1), max(int(held.max()), 1)
    x, y = 100 * (times - start) / (end - start), 100 - 95 * held / top
    keep = np.append(True, np.diff(held) != 0)
    steps = "".join(f"H{a:.2f}V{b:.2f}" for a, b in zip(x[keep].tolist(), y[keep].tolist(), strict=True))
    line = tag("path", d=f"M0 {y[0]:.2f}{steps}H100", class_="level median")
    chart = drawing([line], "0 0 100 100", f"{lane.title} over time")
    axis = (f"{ns / 1e9:,.1f} s" for ns in (start, (start + end) // 2, end))
    return Figure(figure(lane.title, chart, (format_bytes(round(top / 0.95)), "0"), axis))


def sustained_section(models: Sequence[Sustained]) -> Section | None:
    """Whether models keep their speed over minutes, and how long each unit works per prediction."""
    columns: tuple[Column[Sustained], ...] = (
        names("model", lambda each: each.model),
        durations("over", lambda each: each.span_ns, drop=4),
        words("predictions/s", lambda each: _pair(each, "per_second")),
        words("median", lambda each: _pair(each, "p50_ns"), drop=2),
        numbers("retained", lambda each: each.retained, lambda share: format_share(share) if share else ABSENT),
        words("thermal", _thermal, drop=1),
        *(_unit(device) for device in Device),
    )
    return section(
        "Over minutes",
        grid := table("Over minutes", columns, models),
        *(Paragraph(note, Role.DIM, brief=0) for note in NOTES if models),
        absent_note(grid),
        name="over-minutes",
    )


def _pair(model: Sustained, name: str) -> str:
    """Of the first third and of the last: `12.1 → 13.1 ms`."""
    first, last = (getattr(each, name) for each in (model.first, model.last))
    if name != "p50_ns":
        return " → ".join(ABSENT if rate is None else f"{rate:,.1f}" for rate in (first, last))
    one, other = (ABSENT if ns is None else format_time(ns) for ns in (first, last))
    unit = other.rpartition(" ")[2]
    return f"{one.removesuffix(f' {unit}')} → {other}"


def _thermal(model: Sustained) -> str:
    def state(third: Third) -> str:
        return third.thermal or "not recorded"

    first, last = state(model.first), state(model.last)
    return first if first == last else f"{first} → {last}"


def _unit(device: Device) -> Column[Sustained]:
    title = f"{DEVICE_NAMES[device]} per prediction"
    return durations(title, lambda each: each.units.get(str(device)), drop=3)
