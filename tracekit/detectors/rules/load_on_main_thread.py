"""`load-on-main-thread`: the main thread of an app with an interface loads a model."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.code.sites import sites_of
from tracekit.analysis.code.threads import PREPARING, Blocking, main_thread_calls, runs_interface
from tracekit.detectors.shared.call_stacks import core_ml_in_stacks
from tracekit.detectors.shared.wording import of_models


class Options(tk.Options):
    min_ms: float = tk.option(
        250.0, "ms", "From 250 ms on, Instruments calls a main thread that does not respond a hang."
    )


def detect(view: tk.RecordingView, options: Options) -> tk.Outcome:
    """Looks for loads that call stacks show on the main thread."""
    trace = view.trace
    blocking = main_thread_calls(trace, PREPARING, round(options.min_ms * 1e6))
    if blocking is None or not blocking.known:
        return _unknown(view)
    interface = runs_interface(trace)
    if interface is None:
        return view.unknown(
            "No call stack of the main thread was caught, so it is not known whether the app has an interface.",
            "Use the app while recording.",
        )
    if not interface:
        return view.not_applicable("The app has no UI that waits for the main thread.")
    longest = int(blocking.periods.durations.max(initial=0))
    metrics = (
        tk.above("times the main thread loads that long", len(blocking.periods), "count", 1),
        tk.Metric("longest of them", longest if len(blocking.periods) else None, "ns"),
        tk.Metric("loads and compilations in them", len(blocking.calls), "count"),
    )
    if not len(blocking.periods):
        return view.passed(f"The main thread never loads for {options.min_ms:g} ms or more.", metrics)
    blocked = blocking.periods.covered_ns
    return view.finding(
        summary=_summary(blocking, blocked, longest),
        metrics=metrics,
        cost=view.cost(
            blocked,
            "Time for which the main thread loads",
            "The work remains, but no one has to wait for it.",
            once=True,
        ),
        rows=blocking.calls,
        affected=blocking.periods,
        call_sites=sites_of(trace, blocking.calls.index),
    )


def _unknown(view: tk.RecordingView) -> tk.Outcome:
    """The answer where no call stack shows who loads."""
    loads = tk.is_any(view.trace.activity["kind"], *tk.SETUP_KINDS)
    if not loads.any():
        return view.not_applicable("No load or compilation was recorded.")
    return view.unknown(
        f"{tk.format_count(int(loads.sum()), 'load')}, and no call stack shows on which thread.",
        "Record again: a load that takes longer than some ms is seen.",
    )


def _summary(blocking: Blocking, blocked: int, longest: int) -> str:
    several = f" in total, longest {tk.format_time(longest)}" if len(blocking.periods) > 1 else ""
    return (
        f"The main thread makes {tk.format_count(len(blocking.calls), 'load')}"
        f"{of_models(blocking.calls)} and does nothing else for {tk.format_time(blocked)}{several}."
    )


DETECTOR = tk.RecordingDetector(
    id="load-on-main-thread",
    page=tk.page_beside(__file__),
    needs=("Call Stacks",),
    origins=(tk.Origin.CALL_STACKS, tk.Origin.SIGNPOSTS),
    uses=("Core ML",),
    caused_by=("cold-load", "reload-before-predict"),
    options=Options,
    asks=(core_ml_in_stacks,),
    detect=detect,
)
