"""`main-thread-work`: loads or predictions hold the main thread up."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.code.threads import main_thread_calls, runs_interface
from tracekit.analysis.load_waits import HangCalls, hang_calls
from tracekit.detectors.shared.call_stacks import MOVED, PREDICTIONS_MS, judge_blocking
from tracekit.detectors.shared.wording import of_models, what_ran


class Options(tk.Options):
    min_hang_ms: float = tk.option(
        PREDICTIONS_MS, "ms", "The shortest delay that the Hangs instrument can be set to report."
    )
    call_share: float = tk.option(
        0.8,
        "share of the call",
        "Heuristic: a call on the main thread is inside the hang it causes; one in the background often "
        "extends beyond it.",
    )
    hang_share: float = tk.option(
        0.5, "share of the hang", "Heuristic: if calls cover less, something else takes most of the hang."
    )
    ratio: float = tk.option(
        2.0,
        "times the share next to the hang",
        "Heuristic: calls that are as frequent before and after the hang overlap it by chance.",
        minimum=1,
    )


def detect(view: tk.RecordingView, options: Options) -> tk.Outcome:
    """Looks for predictions that call stacks show on the main thread; without them for hangs that calls fill."""
    if runs_interface(view.trace) is not None:
        blocking = main_thread_calls(view.trace, (tk.Api.PREDICTION,), round(options.min_hang_ms * 1e6))
        if blocking is not None and blocking.known:
            longest = view.time(int(blocking.periods.durations.max(initial=0)))
            return judge_blocking(
                view,
                blocking,
                options.min_hang_ms,
                ("predicts", "predictions"),
                f"{tk.format_count(len(blocking.calls), 'prediction')}{of_models(blocking.calls)} on the main thread "
                f"kept it busy {tk.format_count(len(blocking.periods), 'time')} for {options.min_hang_ms:g} ms or more "
                f"({view.time(blocking.periods.covered_ns)} in total, longest {longest}), as call stacks show.",
                "Time for which these predictions keep the main thread busy",
            )
    return _by_hangs(view, options)


def _by_hangs(view: tk.RecordingView, options: Options) -> tk.Outcome:
    """The answer where only the times of hangs can show it."""
    in_hangs = hang_calls(
        view.trace, round(options.min_hang_ms * 1e6), options.call_share, options.hang_share, options.ratio
    )
    if in_hangs is None:
        hangs = view.trace.coverage_of("Hangs")
        return view.unknown(hangs.conclusion, hangs.advice)
    blocked = tk.Intervals.from_rows(in_hangs.calls).union()
    longest_ns = int(in_hangs.hangs.durations.max()) if len(in_hangs.hangs) else None
    metrics = (
        tk.above("explained", "hangs explained by loads and predictions", int(in_hangs.explained.sum()), "count", 1),
        tk.Metric("time-in-hangs", "loads and predictions in these hangs", blocked.covered_ns, "ns"),
        tk.Metric("hangs", "hangs", len(in_hangs.hangs), "count"),
        tk.Metric("longest", "longest hang", longest_ns, "ns"),
    )
    if not tk.reached(metrics, "explained"):
        return view.passed(_hang_summary(in_hangs, options), metrics)
    hung = in_hangs.hangs.durations[in_hangs.explained]
    covered = float((in_hangs.covered[in_hangs.explained] * hung).sum() / hung.sum())
    calls = in_hangs.calls
    return view.finding(
        f"{what_ran(calls)}{of_models(calls)} ({tk.format_time(blocked.covered_ns)}) filled "
        f"{tk.format_share(covered)} of {tk.format_count(len(hung), 'hang')} of the main thread "
        f"({tk.format_time(int(hung.sum()))}). Possible but not certain: the recording does not show which thread "
        "called Core ML; only the times match.",
        metrics,
        cost=view.cost(
            blocked.covered_ns,
            "Time covered by the loads and predictions in these hangs",
            MOVED,
            longest_wait_ns=int(blocked.durations.max()),
        ),
        rows=calls,
        affected=blocked,
    )


def _hang_summary(in_hangs: HangCalls, options: Options) -> str:
    if not len(in_hangs.hangs):
        return f"The main thread did not hang for {options.min_hang_ms:g} ms or more."
    hangs = tk.format_count(len(in_hangs.hangs), "hang")
    by_chance = int(((in_hangs.covered >= options.hang_share) & ~in_hangs.explained).sum())
    if by_chance:
        return (
            f"{hangs}; {by_chance} of them overlap loads or predictions, but these are just as frequent outside hangs."
        )
    return f"{hangs} of the main thread, none explained by loads or predictions."


DETECTOR = tk.RecordingDetector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    uses=("Call Stacks", "Hangs"),
    caused_by=("cold-load", "reload-before-predict"),
    options=Options,
    causes=(tk.Cause.BLOCKED,),
    detect=detect,
)
