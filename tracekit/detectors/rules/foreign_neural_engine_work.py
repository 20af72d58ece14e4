"""`foreign-neural-engine-work`: other processes used the Neural Engine while the app was measured."""

from __future__ import annotations

import tracekit.detectors as tk


class Options(tk.Options):
    min_share: float = tk.option(
        tk.MAX_OUTSIDE_SHARE,
        "share of the Neural Engine's execution time",
        "Heuristic: below this share, a few rows of the system change no result.",
    )


def detect(view: tk.RecordingView, options: Options) -> tk.Outcome:
    """Looks for execution on the Neural Engine that is not the target's."""
    trace = view.trace
    sharing, engine = trace.sharing, trace.coverage_of(tk.NEURAL_ENGINE)
    if engine.state in (tk.TableState.MISSING, tk.TableState.UNREADABLE):
        return view.unknown(engine.conclusion, engine.advice)
    if sharing.state is tk.SharingState.NONE:
        return view.not_applicable(sharing.sentence)
    if sharing.state is tk.SharingState.UNKNOWN:
        return view.unknown(
            sharing.sentence, "Start recording before the app loads its models, and use its Core ML features."
        )
    executed, attribution = trace.hardware.kind.is_any(tk.Kind.ANE_EXEC), trace.hardware.attribution
    times = tk.Intervals.from_rows(trace.hardware)
    executed_ns = times.where(executed).covered_ns
    named_ns = times.where(executed & attribution.is_any(tk.Attribution.FOREIGN)).covered_ns
    foreign_share = named_ns / executed_ns if executed_ns else 0.0
    metrics = (
        tk.above("outside", "execution outside all predictions", sharing.outside_share, "share", options.min_share),
        tk.above(
            "foreign", "execution of models that the target never loaded", foreign_share, "share", options.min_share
        ),
        tk.Metric("executed", "execution on the Neural Engine", executed_ns, "ns"),
    )
    if not any(metric.reached for metric in metrics):
        share = max(sharing.outside_share or 0.0, foreign_share)
        if not share:
            return view.passed("All execution on the Neural Engine matches the target's predictions.", metrics)
        words = f"Only {tk.format_share(share)} of the execution on the Neural Engine is not the target's"
        return view.passed(f"{words}, too little to matter.", metrics)
    # What lies outside the predictions is in the sentence before already.
    outside = tk.reached(metrics, "outside")
    part = "" if outside else f", {tk.format_share(foreign_share)} of that for models of other processes"
    return view.finding(
        f"{sharing.sentence} In total, the engine was busy for {tk.format_time(executed_ns)}{part}. The app's "
        "predictions may have queued behind this work.",
        metrics,
        rows=trace.hardware.where(executed & attribution.is_any(tk.Attribution.FOREIGN, tk.Attribution.UNATTRIBUTED)),
    )


DETECTOR = tk.RecordingDetector(needs=("Core ML",), options=Options, causes=(tk.Cause.QUEUED_PROCESSES,), detect=detect)
