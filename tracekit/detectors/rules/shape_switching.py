"""`shape-switching`: calls fall into fast and slow ones, as with inputs of several shapes."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.latency import modes
from tracekit.analysis.ledger.account import spent_by_layer
from tracekit.analysis.ledger.layers import UNITS, Layer
from tracekit.analysis.ledger.patterns import is_narrow
from tracekit.analysis.quantities import median_of
from tracekit.analysis.throughput import burst_numbers
from tracekit.detectors.shared.interface import shapes_words
from tracekit.detectors.shared.stands_out import MIN_CALLS, Alike, judge_alike
from tracekit.detectors.shared.wording import FOLLOWS_INPUT_SIZE

_PAGE = tk.page_beside(__file__)
_HINT = _PAGE.fix_from("If the shape rarely changes")
_LARGER = 0.5
"""Copies of larger inputs take longer than usual by this part of the usual time (heuristic)."""


class Options(tk.Options):
    ratio: float = tk.option(
        2.0,
        "slow group to fast group",
        "Heuristic: public reports of inputs that leave the fast path mention a factor of five.",
        minimum=1,
    )
    group_share: float = tk.option(
        0.1, "share of predictions", "Heuristic: fewer predictions are exceptions, not a second path.", maximum=0.5
    )
    switches: int = tk.option(
        4, "switches between the groups", "Heuristic: one change, and perhaps one back, can have any cause."
    )
    min_difference_ms: float = tk.option(
        1.0, "ms", "Heuristic: no one notices smaller differences between predictions."
    )


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for two groups of calls whose work differs and which take turns."""
    return judge_alike(view, DETECTOR.causes, MIN_CALLS, lambda calls: _judge(calls, options))


def _judge(calls: Alike, options: Options) -> tk.Outcome:
    view, warm = calls.view, np.flatnonzero(calls.warm)
    took = calls.usual.ns + np.maximum(calls.extra_ns[warm], 0)
    # Ratios are compared as logarithms; a hair below, so that the ratio itself is reached.
    limits = {"min_share": options.group_share, "min_ratio": options.ratio * (1 - 1e-9)}
    groups, _ = modes(took, **limits)
    slow = groups > 0
    if not slow.any():
        hidden = np.maximum(took + calls.by(tk.Cause.NOT_VISIBLE)[warm], 1)
        if not calls.usual.layers_ns[UNITS].any() and modes(hidden, **limits)[0].any():
            words = "Predictions are fast or slow, but the recording does not show whether the slow ones work or wait."
            return view.unknown(
                words, "Record with the Core ML template, which includes the Neural Engine and the GPU."
            )
        return view.passed(f"The latencies of {tk.format_count(len(warm), 'prediction')} form no separate slow group.")
    fast_ns, slow_ns = (median_of(took[each]) for each in (~slow, slow))
    switches, share = _switches(slow, burst_numbers(calls.calls)[warm]), float(slow.mean())
    metrics = (
        tk.above("ratio", "slow group to fast group", slow_ns / fast_ns, "ratio", options.ratio),
        tk.above("difference", "slow beyond fast group", slow_ns - fast_ns, "ns", options.min_difference_ms * 1e6),
        tk.above("slow-share", "predictions in the slow group", share, "share", options.group_share),
        tk.above("switches", "switches between the groups", switches, "count", options.switches),
        tk.Metric("fast-median", "median of the fast group", fast_ns, "ns"),
        tk.Metric("slow-median", "median of the slow group", slow_ns, "ns"),
    )
    narrow = all(is_narrow(took[groups == number]) for number in range(int(groups.max()) + 1))
    if not (narrow and tk.all_reached(metrics)):
        words = "Some predictions are slow, but they do not form a separate group that comes and goes."
        return view.passed(words, metrics)
    spent, _ = spent_by_layer(view.trace, calls.calls.id[warm[slow]])
    main, units = int(spent[:, UNITS].sum(axis=0).argmax()), list(tk.DEVICE_NAMES.values())
    if main != calls.usual.main_unit:
        what = f"the slow ones run mainly on the {units[main]}, the fast ones on the {units[calls.usual.main_unit]}"
    elif median_of(calls.by(tk.Cause.COPIES)[warm[slow]]) >= _LARGER * max(calls.usual.layers_ns[Layer.DATA], 1):
        return view.passed(FOLLOWS_INPUT_SIZE, metrics)
    else:
        what = f"the slow ones work longer on the {units[main]}"
    note, fix = shapes_words(view)
    summary = (
        f"{int(slow.sum()):,} of {tk.format_count(len(warm), 'prediction')} ({tk.format_share(share)}) take "
        f"{view.time(slow_ns)} instead of {view.time(fast_ns)} (medians) and switch groups {switches:,} times; {what}. "
        f"{note}"
    )
    chosen = np.zeros(len(calls.calls), np.bool_)
    chosen[warm[slow]] = True
    words = "Time that predictions of the slow group took beyond a usual one, of the fast group"
    return calls.finding(chosen, (summary, metrics), words, fix=fix and f"{fix}\n\n{_HINT}\n")


def _switches(slow: tk.BoolArray, burst: tk.IntArray) -> int:
    """Changes between fast and slow calls, without those of slow calls that open a sequence and end in it: clocks that
    come up after a rest look so. Both shape (calls,)."""
    changes = np.flatnonzero(np.diff(slow))
    first, last = np.concatenate(([0], changes + 1)), np.concatenate((changes, [len(slow) - 1]))
    opens = (first == 0) | (burst[first] != burst[first - 1])
    ends = (last < len(slow) - 1) & (burst[last] == burst[np.minimum(last + 1, len(slow) - 1)])
    opening = slow[first] & opens & ends
    return int((~(opening[:-1] | opening[1:])).sum())


DETECTOR = tk.Detector(
    page=_PAGE,
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    counts=True,
    uses=("Neural Engine", "GPU", "Thermal State"),
    options=Options,
    causes=(tk.Cause.WORK, tk.Cause.UNIT),
    detect=detect,
)
