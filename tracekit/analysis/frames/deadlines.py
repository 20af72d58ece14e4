"""When each stage of a frame has to be done: what other frames of the recording show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracekit.analysis.statistics import medians_by_group
from tracekit.arrays import IntArray
from tracekit.rows import group_ids
from tracekit.trace.instruments.frames import QUANTUM_NS, Frames, Stage

COMPARED: Final = 5
"""So many frames are needed on each side of a comparison (heuristic)."""
NEVER: Final = np.iinfo(np.int64).max
_MARGIN_NS: Final = 500_000
"""How long before a refresh a commit must be done to be drawn at it (heuristic)."""


@dataclass(frozen=True, slots=True, eq=False)
class Deadlines:
    """Frames, and what those of one kind have in common: shape (frames,) each."""

    frames: Frames
    group: IntArray
    """The same for frames of one process, display and refresh interval."""
    interval_ns: IntArray
    """1 where it is not known."""
    begins_ns: IntArray
    """The refresh at which the app was to begin the frame; the maximum where that is not known."""
    drawn_ns: IntArray
    """The refresh at which the system was to draw it; the maximum where that is not known."""
    drawing_ns: IntArray
    """When it was to begin with that, shortly after this refresh; the maximum where that is not known."""
    lead_ns: dict[Stage, IntArray]
    """The shortest time from the end of a stage to the refresh at which any frame of the group was shown; -1 where too
    few show it."""

    @classmethod
    def of(cls, frames: Frames) -> Deadlines:
        """O(n log n)."""
        in_time = frames.duration_ns == 0
        # Clocks of displays wander by some us, so that intervals differ by less than their quantum.
        quanta = np.rint(frames.interval_ns.filled(0) / QUANTUM_NS).astype(np.int64)
        # Tables of drawing name no process.
        owner = frames.pid.filled() if (frames.pid.known & in_time).any() else np.zeros_like(quanta)
        group = group_ids([frames.display.codes, owner, quanta], len(frames))
        length, counts = np.maximum(frames.interval_ns.filled(0), 1), frames.late | in_time
        shown, size = frames.start_ns + frames.duration_ns, int(group.max(initial=-1)) + 1
        lead = {}
        for stage in Stage:
            end = frames.stage(stage)[1]
            usable = counts & end.known & (end.values <= shown)
            shortest = np.full(size, NEVER)
            np.minimum.at(shortest, group[usable], (shown - end.values)[usable])
            enough = np.bincount(group[usable & in_time], minlength=size) >= COMPARED
            lead[stage] = np.where(enough, shortest, -1)[group]
        usual = []
        for begin in (frames.update_ns, frames.render_ns):
            usable = in_time & begin.known & frames.interval_ns.known
            refreshes = (frames.start_ns - begin.values) / length
            ahead = medians_by_group(refreshes[usable], group[usable], size)[group]
            known = np.bincount(group[usable], minlength=size)[group] >= COMPARED
            # A stage begins shortly after a refresh, so the refresh itself lies a little farther ahead.
            for refreshes_back in (np.ceil(np.where(known, ahead, 0) - 0.05), np.where(known, ahead, 0)):
                back = (refreshes_back * length).astype(np.int64)
                usual.append(np.where(known, frames.start_ns - back, NEVER))
        begins, _, drawn, drawing = usual
        return cls(frames, group, length, begins, drawn, drawing, lead)

    def lateness(self, stage: Stage, end_ns: IntArray) -> IntArray:
        """How many refresh intervals late a frame is at most whose stage ends at these times; 0 where nothing shows."""
        lead = self.lead_ns[stage]
        over = end_ns + lead - self.frames.start_ns
        known = (lead >= 0) & self.frames.stage(stage)[1].known & self.frames.interval_ns.known & (over > 0)
        return np.where(known, -(-over // self.interval_ns), 0)

    def saved(self, stage: Stage, blocked_ns: IntArray) -> IntArray:
        """How much less late frames would be if a stage had ended so much earlier."""
        frames = self.frames
        if stage is Stage.UPDATE:
            known = (self.drawn_ns < NEVER) & frames.update_end_ns.known & frames.render_ns.known
            early = frames.update_end_ns.values - blocked_ns + _MARGIN_NS - self.drawn_ns
            now = np.where(known, (frames.render_ns.values - self.drawn_ns) // self.interval_ns, 0)
            without = np.where(known, np.maximum(-(-early // self.interval_ns), 0), now)
            # What follows moves by whole refreshes.
            less_ns = np.maximum(now - without, 0) * self.interval_ns
        else:
            less_ns = blocked_ns
        last = Stage.GPU if frames.gpu_end_ns.known.any() else Stage.RENDER
        end, intervals = frames.stage(last)[1].values, frames.intervals.filled(0)
        less = np.minimum(intervals, self.lateness(last, end)) - self.lateness(last, end - less_ns)
        less_late = np.where(less >= intervals, frames.duration_ns, np.maximum(less, 0) * self.interval_ns)
        return np.where(frames.late & (blocked_ns > 0) & (less_ns > 0), less_late, 0)
