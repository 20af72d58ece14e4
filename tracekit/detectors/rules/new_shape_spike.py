"""`new-shape-spike`: the first prediction of each new input shape is far slower than the later ones of that shape.

A recording names no input shapes. Inputs of different shapes mostly keep the compute units busy for different times, so
that the time they worked stands for the shape.
"""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.ledger.causes import OWN
from tracekit.analysis.ledger.patterns import PAUSE_NS, first_of_each_amount
from tracekit.analysis.load_waits import after_gap, setup_times, stand_alone
from tracekit.analysis.statistics import medians_by_group
from tracekit.detectors.shared.stands_out import Alike, judge_alike


class Options(tk.Options):
    ratio: float = tk.option(
        2.0,
        "times what predictions with about the same work take",
        "Heuristic: twice as long is beyond the usual spread of latencies.",
        minimum=1,
    )
    min_extra_ms: float = tk.option(10.0, "ms", "Heuristic: less than a frame at 60 fps, so no one notices it.")
    slow_share: float = tk.option(
        0.5, "share of first predictions", "Heuristic: fewer slow predictions do not show a pattern."
    )
    as_slow_share: float = tk.option(
        0.02,
        "share of the other predictions",
        "Heuristic: if this many others stand out too, slow predictions are no matter of the shape.",
    )


CAUSES = (tk.Cause.SHAPE, tk.Cause.SPECIALIZING, tk.Cause.PIPELINES)


@judge_alike(CAUSES)
def detect(calls: Alike, options: Options) -> tk.Outcome:
    """Looks for the first prediction of each amount of work."""
    view, amount = calls.view, calls.account.amount[calls.at].astype(np.int64)
    held, own = calls.by(*_HELD), calls.usual.ns + calls.by(*OWN)
    typical = medians_by_group(own, amount, int(amount.max()) + 1)[amount]
    slow = (held >= options.min_extra_ms * 1e6) & (held >= (options.ratio - 1) * typical)
    loading = setup_times(view.trace).covered_within(calls.times) >= _MOSTLY * np.maximum(held, 1)
    first = first_of_each_amount(amount, ~calls.warm)
    # A group that comes once and stays looks like another state of the device.
    visits = np.bincount(amount[np.flatnonzero(np.diff(amount, prepend=-1))])
    after_slow = np.append(False, (slow & ~calls.warm)[:-1])
    doubt = loading | after_gap(calls.calls, PAUSE_NS) | after_slow | (visits < 2)[amount]
    surely, perhaps = _warming_up(calls, first)
    sure, unsure = first & ~doubt & ~surely & ~perhaps, first & (doubt | perhaps) & ~surely
    share, elsewhere = _share(slow, sure), _share(slow & ~loading, calls.warm & ~first)
    metrics = (
        tk.above("slow-firsts", "slow first predictions of new work", share, "share", options.slow_share),
        tk.below("slow-others", "other slow predictions", elsewhere, "share", options.as_slow_share),
        tk.Metric("amounts", "amounts of work", len(visits), "count"),
        tk.Metric("compared", "first predictions compared", int(sure.sum()), "count"),
    )
    few, found = metrics[1].reached, slow & sure
    if few and metrics[0].reached and (count := int(found.sum())):
        worst = int(np.where(found, held, 0).argmax())
        more = f" ({tk.format_count(count, 'first prediction')} affected)" if count > 1 else ""
        summary = (
            f"Predictions do {len(visits)} amounts of work, as with inputs of several shapes, and the first one of "
            f"another amount took {view.time(int(own[worst]))} instead of the usual "
            f"{view.time(int(own[worst] - held[worst]))}{more}."
        )
        words = "Time slow first predictions took beyond those with about the same work"
        return calls.finding(found, (summary, metrics), words, once=True)
    open_ = slow & (unsure | (calls.warm & ~loading & (len(visits) < 2)))
    if few and open_.any() and not found.any():
        return view.unknown(
            f"A prediction took {view.time(int(calls.calls.duration_ns[open_].max()))}, far longer than others with "
            "about the same work. It may be the first of a new input shape. But shapes of the same work look alike, "
            "and a gap, a load, or another state of the device would look the same.",
            "Use one input shape for a while, then the other, and both again, without gaps and loads.",
        )
    words = "No prediction stands out from those with about the same work."
    if slow[calls.warm].any():
        firsts = f"{tk.format_share(share)} of the first predictions of an amount of work stand out"
        words = f"{firsts}, and {tk.format_share(elsewhere)} of the others."
    return view.passed(words, metrics)


def _share(chosen: tk.BoolArray, among: tk.BoolArray) -> float:
    """Part of some calls; 0 without any."""
    return float(chosen[among].mean()) if among.any() else 0.0


def _warming_up(calls: Alike, first: tk.BoolArray) -> tuple[tk.BoolArray, tk.BoolArray]:
    """Calls that surely and perhaps warm the model up: one for each amount after a load, which a gap follows."""
    load = np.cumsum(~calls.warm)
    again = np.cumsum(calls.warm & ~first)
    opens = np.flatnonzero(np.diff(load, prepend=-1))
    number = np.searchsorted(opens, np.arange(len(load)), "right") - 1
    leading = again == again[opens][number]
    last = opens + np.bincount(number[leading], minlength=len(opens)) - 1
    surely, perhaps = stand_alone(calls.calls, np.maximum(last, 0), PAUSE_NS)
    return leading & surely[number], leading & perhaps[number]


_MOSTLY = 0.5
"""Part of the extra time from which on a load meanwhile explains it (heuristic)."""

DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    counts=True,
    uses=("Neural Engine", "GPU", "Thermal State"),
    caused_by=("reload-before-predict", "load-churn"),
    options=Options,
    causes=CAUSES,
    detect=detect,
)
_HELD = (*CAUSES, tk.Cause.FIRST, tk.Cause.SHARED_CPU, tk.Cause.BLOCKED, tk.Cause.NOT_VISIBLE)
