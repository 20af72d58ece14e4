"""Hangs of the app, and the calls of models that fill them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.analysis.frames.late import Strength
from tracekit.analysis.frames.main_thread import longest, main_calls
from tracekit.analysis.frames.paths import Path
from tracekit.analysis.load_waits import hangs_of_target
from tracekit.arrays import IntArray
from tracekit.columns import Texts, codes_of, column
from tracekit.intervals import Intervals
from tracekit.rows import Rows
from tracekit.trace.trace import Trace, cached_by_trace


@dataclass(frozen=True, slots=True, eq=False)
class LateHangs(Rows):
    """Hangs of the target, each with the calls of Core ML that the main thread made in it."""

    start_ns: IntArray = column("start")
    duration_ns: IntArray = column("duration")
    hang_type: Texts = column("how long it was, in words")
    path: Texts = column("how the model held the main thread up", Path)
    model: Texts = column("the model")
    strength: Texts = column("how sure that is", Strength)
    blocked_ns: IntArray = column("time of these calls in it")
    call: IntArray = column("row of `Trace.activity` that held it up longest; -1 for none")


@cached_by_trace
def late_hangs(trace: Trace) -> LateHangs | None:
    """Which calls of Core ML the main thread made in each hang; None where hangs were not recorded. O(n log n)."""
    hangs = hangs_of_target(trace)
    if hangs is None:
        return None
    main, window = main_calls(trace), Intervals.from_rows(hangs)
    blocked = main.times.covered_within(window)
    call, model = longest(main.times, main.calls, window)
    shortest = int(hangs.duration_ns.min(initial=0))
    gone = (blocked > 0) & (hangs.duration_ns - blocked < shortest) & (2 * blocked >= hangs.duration_ns)
    strength = np.select([blocked == 0, gone & main.is_sure, gone], [-1, 0, 1], 2)
    return LateHangs(
        start_ns=hangs.start_ns,
        duration_ns=hangs.duration_ns,
        hang_type=hangs.hang_type,
        path=codes_of(np.where(call < 0, -1, main.wait_in(call)), tuple(map(str, Path)), map(str, Path)),
        model=codes_of(model, trace.activity.model.values),
        strength=codes_of(strength, tuple(map(str, Strength)), map(str, Strength)),
        blocked_ns=blocked,
        call=call,
    )
