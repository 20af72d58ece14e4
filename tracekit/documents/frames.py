"""What is said of frames that came late and of hangs: how many, by how much, and which model made them."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING

from tracekit.analysis.frames.paths import Path
from tracekit.analysis.frames.summary import FrameSummary, HeldUp, LateFrame
from tracekit.detectors.shared.wording import HELD_UP
from tracekit.documents import columns
from tracekit.render.blocks import Block, Column, Paragraph, Role, Section, items, section, table
from tracekit.report.formatting import moment
from tracekit.units import format_count, format_time

if TYPE_CHECKING:
    from tracekit.report.report import Report

BANDS = {10: "good", 25: "warning", 50: "critical", inf: "fix at once"}
"""Ms late per second of animation up to which Apple says so (Understanding hitches in your app, 2026)."""
BY_APPLE = (
    "Apple in 2026, all animations: good up to 10 ms/s, warning up to 25, critical up to 50; in 2020, scrolling: 5, 10"
)
FRAMES: tuple[Column[HeldUp], ...] = (
    columns.names("model", lambda each: each.model),
    columns.words("held up by", lambda each: each.path),
    columns.numbers("late frames", lambda each: each.count),
    columns.numbers("proved", lambda each: each.proved, drop=2),
    columns.numbers("in time without it", lambda each: each.in_time, drop=1),
    columns.durations("late because of it", lambda each: each.saved_ns),
)
HANGS: tuple[Column[HeldUp], ...] = (
    columns.names("model", lambda each: each.model),
    columns.words("main thread", lambda each: each.path.removeprefix("main thread ")),
    columns.numbers("hangs", lambda each: each.count),
    columns.numbers("in call stacks", lambda each: each.proved, drop=1),
    columns.durations("longest", lambda each: each.longest_ns),
    columns.words("at", lambda each: moment(each.longest_start_ns)),
)
STAGES = {"update": "committed", "render": "drawn", "gpu": "GPU"}


def frames_section(report: Report) -> Section | None:
    """Late frames and hangs; None where neither was recorded, or no frame came late and no hang is a model's."""
    frames = report.frames
    late: tuple[Block | None, ...] = ()
    if frames is not None and (frames.late or frames.aside):
        worst = Paragraph("latest: " + frame_words(frames.worst), Role.DIM) if frames.worst is not None else None
        grid = table("Late frames by model", FRAMES, frames.models)
        none = None if grid or not frames.late else Paragraph("no model is known to have made one late", Role.DIM)
        late = items(_late(frames)), grid, none, worst
    bands = Paragraph(BY_APPLE, Role.DIM, brief=0) if late else None
    return section("Frames", *late, table("Hangs by model", HANGS, report.hangs), bands, name="frames")


def _late(frames: FrameSummary) -> Iterator[str]:
    rates = []
    if frames.animated_ns and frames.ns_per_second is not None:
        per_second = frames.ns_per_second / 1e6
        band = next(word for most, word in BANDS.items() if per_second <= most)
        rates.append(f"{per_second:.3g} ms/s of animation (Apple: {band})")
    if frames.recorded_ns:
        rates.append(f"{1_000 * frames.late_ns / frames.recorded_ns:.3g} ms/s of the recording")
    of = f" of {frames.shown:,}" if frames.shown else ""
    count = f"{frames.late:,}{of} frames late, {format_time(frames.late_ns)} in all"
    yield ": ".join(filter(None, (count, ", ".join(rates))))
    if frames.aside:
        yield "not counted: " + ", ".join(f"{count:,} {why}" for why, count in frames.aside.items())


def frame_words(frame: LateFrame) -> str:
    """`frame due at 3.204 s, 16.7 ms late (1 refresh of 16.7 ms): it waited for GPU work of Net for 14.2 ms; …`"""
    refreshes = ""
    if frame.interval_ns:
        count = format_count(round(frame.duration_ns / frame.interval_ns), "refresh", "refreshes")
        refreshes = f" ({count} of {format_time(frame.interval_ns)})"
    late = f"frame due at {moment(frame.start_ns)}, {format_time(frame.duration_ns)} late{refreshes}"
    if frame.model is None or frame.path is None:
        return f"{late}: no model is known to have held it up"
    held = HELD_UP[Path(frame.path)].format(model=frame.model)
    said = f"{late}: it {held} for {format_time(frame.blocked_ns)} ({frame.strength})"
    if not frame.saved_ns:
        return f"{said}, which is not known to have made it late"
    left = frame.duration_ns - frame.saved_ns
    return f"{said}; without that, {'in time' if left <= 0 else f'{format_time(left)} late'}"


def stages_of(frame: LateFrame) -> Iterator[Block | None]:
    """When each stage of a frame began and ended, from when it was due."""
    rows = [*frame.stages.items(), ("shown", (frame.duration_ns, frame.duration_ns))]
    yield table("Stages, from when it was due", STAGE_COLUMNS, rows)
    yield Paragraph(f"Apple: {frame.says}" if frame.says else "Apple names no cause", Role.DIM)


STAGE_COLUMNS: tuple[Column[tuple[str, tuple[int, int]]], ...] = (
    columns.words("stage", lambda row: STAGES.get(row[0], row[0])),
    columns.numbers("began", lambda row: row[1][0], lambda ns: f"{ns / 1e6:+.1f} ms"),
    columns.numbers("ended", lambda row: row[1][1], lambda ns: f"{ns / 1e6:+.1f} ms"),
)
