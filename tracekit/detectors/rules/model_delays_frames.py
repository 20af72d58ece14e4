"""`model-delays-frames`: frames come late because of a model."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.code.sites import sites_of
from tracekit.analysis.code.threads import runs_interface
from tracekit.analysis.frames.late import Strength, late_frames
from tracekit.analysis.frames.paths import Path
from tracekit.analysis.frames.summary import frame_summary, unknown_frames
from tracekit.detectors.shared.call_stacks import in_blocking
from tracekit.detectors.shared.wording import HELD_UP


class Options(tk.Options):
    min_frames: int = tk.option(3, "frames", "Heuristic: fewer late frames are no pattern.")
    late_per_s: float = tk.option(
        5.0, "ms per second", "Up to 5 ms late per second is good by Apple's first page on hitches, of 2020."
    )


ON_MAIN = (
    "Call the model on a background thread, or with `await model.prediction(from:)`, and update the interface when it "
    "is done:\n\n```swift\nlet output = try await model.prediction(from: input)\nawait MainActor.run { show(output) }\n"
    "```\n\nLoad it there too, with `MLModel.load(contentsOf:configuration:)`."
)
"""The fix where the main thread makes the calls."""
ON_CPU = (
    "Call the model with a lower quality of service than the interface has, so that the interface gets a core first:"
    "\n\n```swift\nlet output = try await Task.detached(priority: .utility) {\n"
    "    try await model.prediction(from: input)\n}.value\n```\n\n"
    "Or let it use the Neural Engine: `configuration.computeUnits = .cpuAndNeuralEngine`."
)
"""The fix where it takes the cores."""
FIXES = {Path.MAIN_BUSY: ON_MAIN, Path.MAIN_WAITS: ON_MAIN, Path.CPU: ON_CPU}


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for late frames that would have come earlier without the model."""
    trace = view.trace
    summary = frame_summary(trace)
    if summary is None:
        if runs_interface(trace) is False:
            return view.not_applicable("The app has no UI that shows frames.")
        return view.unknown(*unknown_frames(trace))
    found = late_frames(trace)
    if not summary.late:
        return view.passed("No frame came late.")
    late = tk.format_count(summary.late, "late frame")
    if summary.shown is None:
        return view.unknown(
            f"{late}; the tables of stages and of what displays showed were not recorded, so no cause is known.",
            "Record with --frames, and export all tables of Hitches and Display.",
        )
    # A wait that another finding is about is one finding.
    mine = found.counted & found.model.is_any(view.name) & ~np.isin(found.call, in_blocking(trace))
    frames, saved = int(mine.sum()), int(found.saved_ns[mine].sum())
    per_second = 1e3 * saved / max(summary.animated_ns or 0, 1_000_000_000)
    metrics = (
        tk.above("frames", "late frames of the model", frames, "count", options.min_frames),
        tk.above("late", "late per second of animation", per_second * 1e6, "ns", options.late_per_s * 1e6),
        tk.Metric("proved", "proved", int((mine & found.strength.is_any(Strength.PROVED)).sum()), "count"),
        tk.Metric("late-frames", "late frames of the app", summary.late, "count"),
        tk.Metric("longest", "longest of them", int(found.saved_ns[mine].max(initial=0)) or None, "ns"),
    )
    if not frames:
        return view.passed(f"{late}, none of them because of {view.name}.", metrics)
    path = Path(max(Path, key=lambda each: int((mine & found.path.is_any(each)).sum())))
    whole = int((mine & (found.saved_ns == found.duration_ns)).sum())
    proved = metrics[2].value
    said = (
        f"{frames:,} of {late} {HELD_UP[path].format(model=view.name)}{f' ({proved:,} proved)' if proved else ''}; "
        f"{per_second:.3g} ms late per second of animation. Without it, {whole:,} would have been in time."
    )
    if not tk.all_reached(metrics):
        return view.passed(said, metrics)
    rows = tk.Shown(
        *(found.start_ns[mine], found.duration_ns[mine], tk.constant(view.name, frames)),
        *(tk.constant(f"late frame ({path})", frames), trace.frames.table.take(found.place[mine])),
        *(trace.frames.row[found.place[mine]], np.zeros(frames, np.int64)),
    )
    calls = found.call[mine]
    return view.finding(
        said,
        metrics,
        rows=rows,
        # As Apple rates it: from 10 ms/s on medium, from 25 high, from 50 critical.
        missed=min(per_second / 100, 1.0),
        fix=FIXES.get(path, ""),
        call_sites=sites_of(trace, np.unique(calls[calls >= 0])),
    )


DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS, tk.Origin.SIGNPOSTS),
    uses=("Hitches", "Display", "GPU", "Call Stacks", "Run Loops"),
    options=Options,
    detect=detect,
)
