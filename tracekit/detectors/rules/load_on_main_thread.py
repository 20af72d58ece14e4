"""`load-on-main-thread`: the main thread of an app with an interface loads a model."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.code.threads import PREPARING, main_thread_calls, runs_interface
from tracekit.detectors.shared.call_stacks import LOADS_MS, core_ml_in_stacks, judge_blocking
from tracekit.detectors.shared.wording import of_models


class Options(tk.Options):
    min_ms: float = tk.option(
        LOADS_MS, "ms", "From 250 ms on, Instruments calls a main thread that does not respond a hang."
    )


def detect(view: tk.RecordingView, options: Options) -> tk.Outcome:
    """Looks for loads that call stacks show on the main thread."""
    trace = view.trace
    blocking = main_thread_calls(trace, PREPARING, round(options.min_ms * 1e6))
    if blocking is None or not blocking.known:
        loads = trace.activity.kind.is_any(*tk.SETUP_KINDS)
        if not loads.any():
            return view.not_applicable("No load or compilation was recorded.")
        return view.unknown(
            f"{tk.format_count(int(loads.sum()), 'load')}, and no call stack shows on which thread.",
            "Record again: Time Profiler samples each ms, and sees loads of a few ms.",
        )
    if runs_interface(trace) is None:
        return view.unknown(
            "No call stack of the main thread was caught, so it is not known whether the app has an interface.",
            "Use the app while recording.",
        )
    longest = int(blocking.periods.durations.max(initial=0))
    blocked = tk.format_time(blocking.periods.covered_ns)
    several = f" in total, longest {tk.format_time(longest)}" if len(blocking.periods) > 1 else ""
    return judge_blocking(
        view,
        blocking,
        options.min_ms,
        ("loads", "loads and compilations"),
        f"The main thread makes {tk.format_count(len(blocking.calls), 'load')}{of_models(blocking.calls)} and does "
        f"nothing else for {blocked}{several}.",
        "Time for which the main thread loads",
        once=True,
    )


DETECTOR = tk.RecordingDetector(
    needs=("Call Stacks",),
    origins=(tk.Origin.CALL_STACKS, tk.Origin.SIGNPOSTS),
    uses=("Core ML",),
    caused_by=("cold-load", "reload-before-predict"),
    options=Options,
    asks=(core_ml_in_stacks,),
    detect=detect,
)
