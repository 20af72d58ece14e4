"""`compiled-again`: a model is compiled for the device although the cache should have it. Of several recordings,
`tracekit.comparison.launches` says the same."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.code.sites import sites_of
from tracekit.analysis.load_waits import awaited
from tracekit.analysis.loads import cold_loads, uses_of_loads
from tracekit.detectors.shared.instances import traits_of
from tracekit.detectors.shared.wording import RECORD_APP

_APART = "Record one configuration of the model, with a prediction after each load."


class Options(tk.Options):
    min_lost_ms: float = tk.option(
        100.0, "ms", "Heuristic: less in total is hardly felt; the Hangs instrument reports no delay below 100 ms."
    )


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for loads that compiled the model after another load of it had."""
    loads = view.loads
    known, times = cold_loads(loads, view.trace), tk.Intervals.from_rows(loads)
    # A load that is only slow for its kind may lack memory; one that began before the first was done found no result.
    cold = np.flatnonzero(known.cold & ~known.compared)
    again = cold[times.starts[cold] >= times.ends[cold].min(initial=np.iinfo(np.int64).max)]
    rows = loads.take(again)
    lost_ns = tk.covered_ns(rows)
    metrics = (
        tk.above("lost", "time of loads that compiled it again", lost_ns, "ns", round(options.min_lost_ms * 1e6)),
        tk.Metric("compiled", "loads that compiled it", len(cold), "count"),
        tk.Metric("loads", "loads", len(loads), "count"),
    )
    if lost_ns < options.min_lost_ms * 1e6 or not len(again):
        open_ns = int(times.durations[known.unknown].sum())
        if len(loads) > 1 and known.unknown.any() and open_ns >= options.min_lost_ms * 1e6:
            return view.unknown(
                "The load rows do not tell cold from cached.", "On iOS 17, macOS 14 and later, the load row says it."
            )
        said = tk.format_count(len(loads), "load")
        return view.passed(
            f"{said}, {len(cold):,} of which compiled the model, none of them long after another.", metrics
        )
    if view.trace.run.target.kind == "all-processes":
        return view.unknown(
            "All processes were recorded, and loads do not name theirs: each has its cache.", RECORD_APP
        )
    used = np.isin(np.append(cold[:1], again), uses_of_loads(loads, view.predictions).load)
    if not used.all():
        return view.unknown(
            f"Compiled {len(cold):,} times, and not each of these loads has a prediction that shows its configuration.",
            _APART,
        )
    if difference := traits_of(view).difference():
        return view.unknown(
            f"Compiled {len(cold):,} times, but instances differ ({difference}), and each is compiled by itself.",
            _APART,
        )
    waited = rows.where(awaited(rows, view.trace))
    noun = "load" if len(again) == 1 else "loads"
    return view.finding(
        f"{len(again):,} {noun} compiled the model again, in {view.time(lost_ns)}, after an earlier load had.",
        metrics,
        rows=rows,
        cost=view.cost(
            lost_ns,
            "Time covered by the loads that compiled it again",
            longest_wait_ns=int(waited.duration_ns.max(initial=0)),
        ),
        call_sites=sites_of(view.trace, rows.id),
    )


DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS, tk.Origin.SIGNPOSTS),
    joins=True,
    uses=("Neural Engine", "Call Stacks"),
    caused_by=("reload-before-predict", "load-churn"),
    options=Options,
    asks=(tk.any_load("whether it came from the cache"),),
    causes=(tk.Cause.SPECIALIZING,),
    detect=detect,
)
