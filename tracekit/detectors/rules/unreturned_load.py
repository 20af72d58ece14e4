"""`unreturned-load`: a model is loaded again and again, and its memory stays."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.code.sites import sites_of
from tracekit.analysis.memory import LoadMemory, Sureness, load_memory, sizes
from tracekit.analysis.quantities import median_of
from tracekit.detectors.shared.memory import MB, engine_memory, held, min_mb_option, unsampled


class Options(tk.Options):
    min_reloads: int = tk.option(
        3, "reloads", "Heuristic: the first load fills caches of Core ML that stay; three more show what is usual."
    )
    min_mb: float = min_mb_option()
    kept_share: float = tk.option(
        0.5, "share of what a load adds", "Heuristic: what stays after a release is otherwise a small part."
    )


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Compares the footprint before each load of a model with that before its next one."""
    if len(view.loads) <= options.min_reloads:
        return view.not_applicable(f"{tk.format_count(len(view.loads), 'load')}, so there is little to return.")
    if (answer := unsampled(view)) is not None:
        return answer
    loads = [each for each in load_memory(view.trace) if each.model == view.name]
    cycles = [(first, then) for first, then in pairwise(loads) if _is_cycle(view, first, then)]
    # Of the first cycle, what Core ML keeps for later loads is a part.
    cycles = cycles[1:] if cycles and cycles[0][0] is loads[0] else cycles
    if len(cycles) < options.min_reloads:
        return view.unknown(
            f"{tk.format_count(len(loads), 'load')}, but the footprint shows {len(cycles)} of them apart from others; "
            f"{options.min_reloads} are needed.",
            "Record longer, with more time between loads: Activity Monitor samples about once per second.",
        )
    added = np.array([first.step_bytes or 0 for first, _ in cycles], np.float64)
    # What is there before the next load beyond what was there before this one, without what predictions added.
    kept = np.array(
        [(then.before_bytes or 0) - (first.before_bytes or 0) - first.grown_bytes for first, then in cycles], np.float64
    )
    step, stays = median_of(added), median_of(kept)
    share = min(max(stays / step, 0.0), 1.0) if step > 0 else None
    metrics = (
        tk.above("reloads", "reloads", len(cycles), "count", options.min_reloads),
        tk.above("step", "what a load adds", step, "bytes", options.min_mb * MB),
        tk.above("kept-share", "what stays of it", share, "share", options.kept_share),
        tk.Metric("kept", "what stays of all", float(kept.sum()), "bytes"),
    )
    if not tk.reached(metrics, "step"):
        return view.passed(
            f"A load adds {tk.format_bytes(round(step))} to the footprint. {engine_memory(view)}", metrics
        )
    if not tk.all_reached(metrics) or float(np.mean(kept >= options.kept_share * step)) < _MOST:
        return view.passed(
            f"{tk.format_bytes(round(step - max(stays, 0)))} of the {tk.format_bytes(round(step))} that a load adds "
            "are returned before the next one.",
            metrics,
        )
    by_start = dict(zip((then.start_ns for _, then in cycles), kept.astype(np.int64).tolist(), strict=True))
    rows = view.loads.where(np.isin(view.loads.start_ns, [*by_start]))
    # Samples around it are noisy: a little more may stay than a load adds.
    still = f"{tk.format_bytes(round(stays))} of it are" if stays < step else "all of it is"
    return view.finding(
        f"Each of {tk.format_count(len(cycles), 'reload')} adds {tk.format_bytes(round(step))} to the footprint, and "
        f"{still} still there at the next one: {tk.format_bytes(round(kept.sum()))} in all.",
        metrics,
        rows=rows,
        call_sites=sites_of(view.trace, rows.id),
        held=held(float(kept.sum()), view.trace),
        sizes=np.array([by_start[start] for start in rows.start_ns.tolist()], np.int64),
    )


_MOST = 0.75
"""Share of the reloads that must show it (heuristic)."""


def _is_cycle(view: tk.ModelView, first: LoadMemory, then: LoadMemory) -> bool:
    """Whether samples show what the load added and what was there before the next, without other loads between."""
    known_bytes = (first.step_bytes, first.before_bytes, then.before_bytes)
    if None in known_bytes or first.sure == Sureness.SHARED:
        return False
    known = sizes(view.trace)
    ends = known.times[int(known.before(then.start_ns))]
    between = [each for each in load_memory(view.trace) if first.start_ns <= each.start_ns <= then.start_ns]
    alone = all(each.model == view.name for each in between)
    return alone and bool(ends >= first.start_ns + (first.apart_ns or 0) // 2)


DETECTOR = tk.Detector(
    needs=("Core ML",),
    uses=("Activity Monitor", "Call Stacks"),
    caused_by=("reload-before-predict", "load-churn"),
    options=Options,
    asks=(),
    detect=detect,
)
