"""`cold-load`: somebody waits while a model is prepared for the device."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.code.sites import sites_of
from tracekit.analysis.load_waits import hung_share, waits_for_loads
from tracekit.analysis.loads import ColdLoads, cold_loads
from tracekit.analysis.quantities import median_of
from tracekit.detectors.shared.loads import perhaps_cold, warm_up_doubt
from tracekit.detectors.shared.options import hang_share_option, max_delay_option, warm_up_gap_option
from tracekit.detectors.shared.planned import of_load


class Options(tk.Options):
    min_wait_ms: float = tk.option(100.0, "ms", "The shortest delay that the Hangs instrument can be set to report.")
    soon_ms: float = max_delay_option()
    hung_share: float = hang_share_option()
    ratio: float = tk.option(
        10.0,
        "times the median of the other loads",
        "Published comparisons of cold and cached loads range from 12 to 270 times.",
    )
    ratio_min_ms: float = tk.option(
        250.0, "ms", "Heuristic: below this, disk and memory can explain a slow load as well."
    )
    min_compared: int = tk.option(3, "other loads", "Heuristic: a median of fewer loads depends on chance.")
    warm_up_gap_s: float = warm_up_gap_option()


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for loads that prepared the model for the device while a call or the main thread waited."""
    loads = view.loads
    known = cold_loads(loads, view.trace, options.ratio, round(options.ratio_min_ms * 1e6), options.min_compared)
    durations = loads.duration_ns
    long = durations >= options.min_wait_ms * 1e6
    waits = waits_for_loads(loads, view.trace, options.soon_ms, options.warm_up_gap_s)
    waited, perhaps = (long & wait for wait in waits)
    hung = long & (hung_share(loads, view.trace) >= max(options.hung_share, 1e-9))
    on_main = long & _on_main_alone(view)
    felt = waited | hung | on_main
    rest, longest_ns = durations[~known.cold & ~known.unknown], int(durations[felt].max(initial=0))
    metrics = (
        tk.above("cold-waits", "cold loads the app waited for", int((known.cold & felt).sum()), "count", 1),
        tk.above("longest-wait", "longest load the app waited for", longest_ns, "ns", round(options.min_wait_ms * 1e6)),
        tk.Metric("loads", "loads", len(durations), "count"),
        tk.Metric("cold-loads", "cold loads", int(known.cold.sum()), "count"),
        tk.Metric("median-cached", "median cached load", median_of(rest) if len(rest) else None, "ns"),
    )
    if (known.cold & felt).any():
        return _finding(view, known, felt, hung & ~waited & ~on_main, metrics)
    if (known.unknown & felt).any():
        more = " On iOS 17, macOS 14 and later, the load row says which it was."
        return perhaps_cold(view, "The app", int(durations[known.unknown & felt].max()), more)
    if ((known.cold | known.unknown) & perhaps).any():
        longest = view.time(int(durations[perhaps].max()))
        return warm_up_doubt(view, f"a prediction right after a load of {longest}")
    if not known.cold.any():
        longest, words = view.time(int(durations.max())), tk.format_count(len(durations), "load")
        return view.passed(f"{words}, none known to have specialized the model; the longest took {longest}.", metrics)
    # No problem, and still worth knowing.
    longest, cold = view.time(int(durations[known.cold].max())), int(known.cold.sum())
    times = "once" if cold == 1 else f"{cold:,} times"
    unseen = "" if "hangs" in view.trace.context else " (hangs were not recorded)"
    words = f"Specialized {times}, in {longest} at most; no prediction waited long for it{unseen}."
    return view.passed(words, metrics)


def _on_main_alone(view: tk.ModelView) -> tk.BoolArray:
    """Shape (loads,): call stacks alone show the load, on the main thread, and no prediction that could wait for it."""
    sites = view.trace.sites
    if sites is None or view.trace.activity.kind.is_any(tk.Kind.PREDICTION).any():
        return np.zeros(len(view.loads), np.bool_)
    return np.isin(view.loads.id, sites.id[sites.main_thread.values & sites.main_thread.known & ~sites.ambiguous])


def _finding(
    view: tk.ModelView, known: ColdLoads, felt: tk.BoolArray, only_hung: tk.BoolArray, metrics: tuple[tk.Metric, ...]
) -> tk.Outcome:
    """The finding with its cost: the cold loads that were waited for."""
    chosen = known.cold & felt
    rows = view.loads.where(chosen)
    cost_ns = tk.covered_ns(rows)
    took = view.time(cost_ns)
    if len(rows) > 1:
        longest = view.time(int(rows.duration_ns.max()))
        took = f"for {tk.format_count(len(rows), 'load')} ({took} in total, longest {longest})"
    who = "A prediction" if len(rows) == 1 else "Predictions"
    if _on_main_alone(view)[chosen].any():
        who = "The main thread"
    summary = f"{who} waited {took} while Core ML compiled the model."
    if only_hung[chosen].all():
        summary = (
            f"The main thread was unresponsive {took} while Core ML compiled the model (possible but not certain: only "
            "the times match)."
        )
    # What the reader must know where the rows themselves do not say that the load was cold.
    if (known.by_time & chosen).any():
        summary += (
            " Possible but not certain: the row does not tell cold from cached, but the Neural Engine specialized a "
            "model at that time."
        )
    elif (known.compared & chosen).any():
        summary += (
            " The row does not tell cold from cached, but it took many times longer than the model's other loads."
        )
    if view.model_file is not None:
        sizes = [part.weights.bytes for part in view.model_file.parts]
        weights = sum(size for size in sizes if size is not None)
        parts = [f"{tk.format_bytes(weights)} of weights"] if weights and None not in sizes else []
        count = sum(number for _, number in view.model_file.counts)
        parts += [tk.format_count(count, "operation")] if count else []
        summary += f" By its file, the model has {' and '.join(parts)}." if parts else ""
    summary += of_load(view)
    cost = view.cost(cost_ns, "Time covered by the cold loads the app waited for", once=True)
    return view.finding(summary, metrics, rows=rows, cost=cost, call_sites=sites_of(view.trace, rows.id))


DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS, tk.Origin.SIGNPOSTS),
    joins=True,
    uses=("Neural Engine", "Hangs", "Call Stacks"),
    caused_by=("reload-before-predict",),
    options=Options,
    asks=(tk.any_load("whether it came from the cache"),),
    causes=(tk.Cause.SPECIALIZING, tk.Cause.FIRST),
    detect=detect,
)
