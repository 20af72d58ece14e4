"""`warm-up-spike`: the first prediction after a load is far slower than those that follow."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.ledger import layers
from tracekit.analysis.ledger.causes import NAMES, OWN, PREPARING
from tracekit.analysis.ledger.explain import prepared_by
from tracekit.analysis.ledger.layers import Layer
from tracekit.analysis.ledger.patterns import PAUSE_NS
from tracekit.analysis.load_waits import after_gap, stand_alone
from tracekit.analysis.quantities import median_of
from tracekit.detectors.shared.loads import warm_up_doubt
from tracekit.detectors.shared.stands_out import Alike, judge_alike
from tracekit.detectors.shared.wording import KEEP_LOADED


class Options(tk.Options):
    ratio: float = tk.option(
        3.0,
        "times the median of the following predictions",
        "Public measurements of first predictions range from 7 to 120 times.",
    )
    min_extra_ms: float = tk.option(10.0, "ms", "Heuristic: less than a frame at 60 fps, so no one notices it.")
    min_following: int = tk.option(5, "predictions", "Heuristic: a median of fewer predictions depends on chance.")
    alike_share: float = tk.option(
        0.5,
        "share of the first prediction's duration",
        "Heuristic: predictions that take this much of it are slow in the same way; a warm-up stands out from them.",
    )
    as_slow_share: float = tk.option(
        0.05,
        "share of the following predictions",
        "Heuristic: if this many later predictions are as slow, the first one is no exception.",
    )


CAUSES = (tk.Cause.FIRST, tk.Cause.SPECIALIZING, tk.Cause.PIPELINES)


@judge_alike(CAUSES, "min_following")
def detect(calls: Alike, options: Options) -> tk.Outcome:
    """Looks for first predictions that stand out and that somebody waited for."""
    view, usual = calls.view, calls.usual.ns
    first = np.flatnonzero(~calls.warm & (calls.calls.duration_ns > 0))
    if not len(first):
        return view.unknown("No load is followed by enough predictions to compare the first one with.", KEEP_LOADED)
    # Without waits; and by the causes of the rule alone.
    own, took = usual + calls.by(*OWN), usual + calls.extra_ns[first]
    paused, others = calls.warm & after_gap(calls.calls, PAUSE_NS), np.sort(own[calls.warm])
    least_ns = round(options.min_extra_ms * 1e6)
    resumed_ns = median_of(own[paused]) if paused.any() else 0.0

    def as_slow(ns: tk.IntArray) -> tk.FloatArray:
        return (len(others) - np.searchsorted(others, options.alike_share * ns)) / len(others)

    def stands_out(ns: tk.IntArray) -> tk.BoolArray:
        long = (ns >= options.ratio * usual) & (ns - usual >= least_ns) & (options.alike_share * ns > resumed_ns)
        return long & (as_slow(ns) <= options.as_slow_share)

    spikes = stands_out(took)
    places = tk.places_of(view.predictions.id, calls.calls.id[first])
    alone, perhaps = stand_alone(view.predictions, places, PAUSE_NS)
    late = spikes & ~(alone | perhaps) & (own[first] > usual)
    worst = int(np.lexsort((took, late))[-1])
    most_ns, slow = int(took[worst]), float(as_slow(took)[worst])
    metrics = (
        tk.above("ratio", "first prediction to median of following", most_ns / usual, "ratio", options.ratio),
        tk.above("extra-time", "extra time of the first prediction", most_ns - usual, "ns", least_ns),
        tk.below("slow", "following predictions as slow", slow, "share", options.as_slow_share),
        tk.Metric("median-following", "median of following predictions", usual, "ns"),
        tk.Metric("compared", "first predictions compared", len(first), "count"),
    )
    if late.any():
        return _finding(calls, first[late], first[worst], int(own[first[worst]]), metrics)
    if (spikes & perhaps).any():
        slow_ns = int(took[spikes & perhaps].max())
        return warm_up_doubt(view, f"the first prediction after a load, which took {view.time(slow_ns)}")
    unclear = stands_out(own[first]) & ~spikes & ~alone
    # Of calls that only samples show, what computes may prepare.
    if unclear.any() and (view.trace.inferred or not calls.by(tk.Cause.WORK)[paused].any()):
        return view.unknown(
            f"The first prediction after a load took {view.time(int(own[first][unclear].max()))}, but it also had more "
            "work: it warms up the model, or it has a larger input, such as the prompt of a language model.",
            "Use the feature twice in one recording, 1 s or more apart, and keep the model loaded.",
        )
    more = "; a gap follows, as after a warm-up prediction" if (spikes & alone).any() else ""
    words = f"The first prediction after a load takes at most {most_ns / usual:.1f}x the usual one{more}."
    return view.passed(words, metrics)


def _finding(calls: Alike, chosen: tk.IntArray, worst: int, took: int, metrics: tuple[tk.Metric, ...]) -> tk.Finding:
    """The finding about first predictions at these places, of which one stands out most and took so long."""
    view, usual = calls.view, calls.usual.ns
    # What may be several predictions takes longer than each of them.
    several = view.trace.inferred and not view.predictions.single.all()
    least, most = ("at least ", ", at most ") if several else ("", " ")
    more = f" ({tk.format_count(len(chosen), 'load')} affected)" if len(chosen) > 1 else ""
    summary = (
        f"The first prediction after a load took {least}{view.time(took)}, {least}{took / usual:.1f}x the usual{most}"
        f"{view.time(usual)}{more}."
    )
    if said := [words for _, words in sorted(_prepared(calls, worst, _WORTH * took), reverse=True)]:
        summary += f" Of that: {' and '.join(said)}."
    words = "Time slow first predictions took beyond the median of those that follow"
    return calls.finding(np.isin(np.arange(len(calls.at)), chosen), (summary, metrics), words, once=True)


def _prepared(calls: Alike, at: int, least_ns: float) -> Iterator[tuple[int, str]]:
    """What a prediction prepared for so long or longer: how long, and words for it."""
    for cause, layer in zip(PREPARING, layers.PREPARING, strict=True):
        if (ns := int(calls.by(cause)[at])) < max(least_ns, 1):
            continue
        shown, time = prepared_by(calls.view.trace, calls.calls.id[at : at + 1], layer), calls.view.time(ns)
        if layer is Layer.PIPELINES:
            count = int(calls.account.pipelines[calls.at[at]])
            what = tk.format_count(count, "Metal pipeline") if count else "Metal pipelines"
            yield ns, f"{time} compiling {what} ({shown.partition(':')[0]})"
        else:
            yield ns, f"{time} {NAMES[cause]} ({shown})"


_WORTH = 0.1
"""Part of its time from which on what it prepared is named (heuristic)."""

DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    joins=True,
    counts=True,
    on_evidence=True,
    caused_by=("reload-before-predict", "load-churn"),
    options=Options,
    asks=(tk.any_prediction, tk.any_load("which prediction was the first")),
    causes=CAUSES,
    detect=detect,
)
