"""`truncated-recording`: a part of what happened is not in the recording: it ended early, or kept only its end."""

from __future__ import annotations

import re

import numpy as np

import tracekit.detectors as tk
from tracekit.detectors.shared.wording import what_ran

REGULAR_ENDS = ("target app exited", "time limit reached", "user pressed stop")
"""How recordings end that are complete, as seen in tables of contents. A time limit is what its user asked for."""

AT_END_NS = 100_000
"""A row that ends so near to the end of the recording was cut there. Tables of contents round the end to 1 µs, and no
program ends so fast after its last call (heuristic)."""


_WINDOW = re.compile(r"windowed \((\d+(?:\.\d+)?) (milli)?(second|minute|hour)s?\)", re.IGNORECASE)
_UNIT_S = {"second": 1, "minute": 60, "hour": 3_600}


class Options(tk.Options):
    cut_share: float = tk.option(
        0.25,
        "share of the time",
        "Heuristic: a prediction in flight when recording stops is normal and changes no result, unless "
        "it makes up much of the recording.",
    )


def detect(view: tk.RecordingView, options: Options) -> tk.Outcome:
    """Looks for signs that loads and predictions are missing or cut."""
    trace, rows, hardware, duration = view.trace, view.trace.activity, view.trace.hardware, view.trace.run.duration_ns
    # Loads, compilations and predictions that Core ML recorded.
    recorded = rows.level.is_any(tk.Level.TOP) & ~rows.attribution.is_any(tk.Attribution.INFERRED)
    # Executions whose label names a model that Core ML names too.
    own = hardware.kind.is_any(tk.Kind.ANE_EXEC, tk.Kind.GPU_EXEC)
    own &= hardware.attribution.is_any(tk.Attribution.LABEL, tk.Attribution.EXACT)
    own &= hardware.model.is_any(*rows.model.take(recorded).held())
    end_ns = np.iinfo(np.int64).max if duration is None else duration - AT_END_NS
    called, worked = map(tk.Intervals.from_rows, (rows, hardware))
    others = map(tk.Intervals.from_rows, (trace.data, trace.compute, trace.other))
    last_ns = max(int(times.ends.max(initial=0)) for times in (called.where(recorded), *others))
    cut, late = recorded & (called.ends >= end_ns), own & (worked.starts > last_ns)
    share = options.cut_share
    metrics = (
        _share("cut", "load and prediction time cut off at the end", called, cut, recorded, share),
        _share("late", "hardware work after the last Core ML event", worked, late, own, share),
    )
    cut, late = (each & metric.reached for metric, each in zip(metrics, (cut, late), strict=True))
    cut_rows, late_rows = rows.where(cut), hardware.where(late)
    signs = [*_of_the_file(trace), *_of_the_rows(cut_rows, late_rows, metrics, last_ns)]
    if signs:
        return view.finding(" ".join(signs), metrics, rows=tk.Shown.of(cut_rows, late_rows))
    return _unclear(view) or view.passed("The recording ended normally.", metrics)


def _unclear(view: tk.RecordingView) -> tk.Outcome | None:
    """Where the way in which the recording ended is not known, or not understood."""
    reason = view.trace.run.end_reason
    if reason is not None and reason.casefold() in REGULAR_ENDS:
        return None
    if reason is not None:
        why = f'The recording ended with "{reason}"; what that means for its tables is unknown.'
        return view.unknown(why, "Record again, and press Ctrl-C only once or set a time limit.")
    if view.trace.contents.has_table_of_contents:
        why = "The recording has no end marker: xctrace was killed or the copy is incomplete."
        return view.unknown(why, "Press Ctrl-C only once, and wait until the recording is saved.")
    why = "The recording's end is in the table of contents, which this input lacks."
    return view.unknown(why, "Export it too: `xcrun xctrace export --input run.trace --toc --output toc.xml`.")


def _of_the_file(trace: tk.Trace) -> list[str]:
    """Signs in what the recording says of itself, as sentences."""
    run, signs = trace.run, []
    if run.raw_stream is not None:
        signs.append("The recording was not finished: it contains raw data that is in none of its tables.")
    mode = run.recording_mode or ""
    if mode.casefold().startswith("window"):
        match = _WINDOW.match(mode)
        seconds = float(match[1]) * _UNIT_S[match[3].casefold()] / (1_000 if match[2] else 1) if match else 0.0
        if run.duration_ns is None or run.duration_ns >= round(seconds * 1e9):
            signs.append(f"Only the last part of the recording was kept ({mode}); earlier events are missing.")
    return signs


def _of_the_rows(cut: tk.Calls, late: tk.Events, metrics: tuple[tk.Metric, ...], last_ns: int) -> list[str]:
    """Signs in the rows of metrics that are reached, as sentences."""
    signs = []
    cut_share, late_share = (tk.format_share(metric.value or 0) for metric in metrics)
    if len(cut):
        longest = int(np.argsort(cut.duration_ns)[-1])
        signs.append(
            f"{what_ran(cut)} had not ended when the recording did ({cut_share} of "
            "the recorded load and prediction time). "
            f"The longest, of {cut.model.item(longest)}, had run for {tk.format_time(int(cut.duration_ns[longest]))}."
        )
    if len(late):
        signs.append(
            f"After the last Core ML event at {tk.format_time(last_ns)}, the hardware worked for the app's "
            f"models for another {tk.format_time(tk.covered_ns(late))} ({late_share} "
            "of all its work for them): predictions were still in flight, or their events were lost."
        )
    return signs


def _share(
    name: str, words: str, times: tk.Intervals, part: tk.BoolArray, every: tk.BoolArray, threshold: float
) -> tk.Metric:
    time = times.where(every).covered_ns
    return tk.above(name, words, times.where(part).covered_ns / time if time else None, "share", threshold)


DETECTOR = tk.RecordingDetector(options=Options, detect=detect)
