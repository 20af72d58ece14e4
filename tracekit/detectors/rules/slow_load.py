"""`slow-load`: a prediction waits for a load from the cache that takes a second or longer."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.load_waits import waits_for_loads
from tracekit.analysis.loads import cold_loads
from tracekit.detectors.shared.loads import again_and_again, perhaps_cold, warm_up_doubt
from tracekit.detectors.shared.options import max_delay_option, warm_up_gap_option


class Options(tk.Options):
    min_wait_ms: float = tk.option(
        1_000.0,
        "ms",
        "Heuristic: cached loads in public recordings take 9 to 560 ms, and a wait of a second interrupts the user.",
    )
    soon_ms: float = max_delay_option()
    warm_up_gap_s: float = warm_up_gap_option()


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for long loads that did not specialize the model, and that a prediction waited for."""
    known, durations = cold_loads(view.loads, view.trace), view.loads.duration_ns
    long = ~known.cold & (durations >= options.min_wait_ms * 1e6)
    waits = waits_for_loads(view.loads, view.trace, options.soon_ms, options.warm_up_gap_s)
    felt, perhaps = (long & wait for wait in waits)
    sure = felt & ~known.unknown
    count, longest_ns = int(sure.sum()), int(durations[sure].max(initial=0))
    metrics = (
        tk.above("long-waits", "long cached loads the app waited for", count, "count", 1),
        tk.above("longest-wait", "longest such load", longest_ns, "ns", round(options.min_wait_ms * 1e6)),
        tk.Metric("loads", "loads", len(view.loads), "count"),
    )
    if not felt.any() and perhaps.any():
        longest = view.time(int(durations[perhaps].max()))
        return warm_up_doubt(view, f"a prediction right after a load of {longest}")
    if not felt.any() and not len(view.predictions):
        return view.not_applicable("No prediction was recorded.")
    if not felt.any():
        loads, longest = tk.format_count(len(durations), "load"), view.time(int(durations.max()))
        if known.cold.all():
            return view.not_applicable(f"{loads} specialized the model, in {longest} at most: see cold-load.")
        return view.passed(f"{loads}, the longest {longest}; no prediction waited for a long one.", metrics)
    if len(view.predictions) and again_and_again(view):
        return view.not_applicable("Its long loads are reloads: see reload-before-predict and load-churn.")
    if not count:
        return perhaps_cold(view, "A prediction", int(durations[felt].max()))
    rows = view.loads.where(sure)
    cost_ns = tk.covered_ns(rows)
    if count == 1:
        summary = f"A prediction waited {view.time(cost_ns)} for a load from the cache."
    else:
        summary = (
            f"Predictions waited for {tk.format_count(count, 'load')} from the cache ({view.time(cost_ns)} in "
            f"total, longest {view.time(longest_ns)})."
        )
    cost = view.cost(cost_ns, "Time covered by the long cached loads that a prediction waited for", once=True)
    return view.finding(summary, metrics, rows=rows, cost=cost)


DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS, tk.Origin.SIGNPOSTS),
    joins=True,
    uses=("Neural Engine",),
    options=Options,
    asks=(tk.any_load("how long it took and whether a prediction waited for it"),),
    detect=detect,
)
