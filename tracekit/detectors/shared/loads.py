"""What the detectors of loads share: which loads a call waited for, which are reloads, and from when on these are a
pattern. One cause is one finding, so a detector leaves to the others what they report by default."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.code.sites import sites_of
from tracekit.analysis.load_waits import waits_for_loads
from tracekit.analysis.loads import uses_of_loads
from tracekit.analysis.statistics import top_calls
from tracekit.detectors.shared.options import ChurnOptions, ReloadOptions
from tracekit.trace.calls.stacks import Api


def warm_up_doubt(view: tk.ModelView, what: str) -> tk.NotEvaluated:
    """The answer where a prediction after a load (`what`: a noun) may be one to warm the model up."""
    return view.unknown(
        f"A gap follows {what}. Gaps are long throughout, so the recording does not show whether a user waited for "
        "that prediction or whether it warmed the model up.",
        "Record the feature from the load on, with several predictions in a row.",
    )


def perhaps_cold(view: tk.ModelView, who: str, load_ns: int, more: str = "") -> tk.NotEvaluated:
    """The answer where somebody (`who`) waited for a load that may have come from the cache; `more` is advice."""
    return view.unknown(
        f"{who} waited for a load of {tk.format_time(load_ns)}, but the recording does not show whether the model was "
        "specialized or loaded from the cache.",
        "Record two launches in a row: if the second load is much shorter, the first one specialized the model." + more,
    )


TIMES_USE = 3.0
"""A load that takes so many times as long as the predictions that it serves makes up most of the user's wait, whatever
memory its release saves (heuristic)."""

FELT_MS = 250
"""The delay from which Instruments' Hangs instrument notes a hang. A published speech app that loads its stages for
each sentence, on purpose, stays below."""


def outweigh_use(view: tk.ModelView) -> tk.BoolArray:
    """Shape (loads,): it was waited for, is long enough to be felt, and takes `TIMES_USE` times what ran on it took.

    Loads that prepare the model for the device are left out: the cache is what they lack. O((l + p) log(l + p)).
    """
    uses = uses_of_loads(view.loads, view.predictions)
    durations = view.loads.duration_ns
    known = uses.load >= 0
    predicting = np.zeros(len(durations))
    each = np.bincount(uses.group, view.durations, minlength=len(known))
    predicting[uses.load[known]] = each[known]
    chosen = (durations >= FELT_MS * 1_000_000) & (predicting > 0) & (durations >= TIMES_USE * predicting)
    chosen &= ~view.loads.kind.is_any(tk.Kind.LOAD_UNCACHED)
    if chosen.any():
        chosen &= waits_for_loads(view.loads, view.trace)[0]
    return chosen


def beside_cold(loads: tk.Calls, *, either_side: bool = False) -> tk.BoolArray:
    """Shape (loads,): a load from the cache that comes right after one that prepared the model for the device, or with
    `either_side` right before it: both belong to the model's first run, and neither repeats the other. O(l)."""
    cold, cached = (loads.kind.is_any(kind) for kind in (tk.Kind.LOAD_UNCACHED, tk.Kind.LOAD_CACHED))
    near = np.append(False, cold)[:-1]
    if either_side:
        near |= np.append(cold, False)[1:]
    beside: tk.BoolArray = cached & near
    return beside


def load_pattern(view: tk.ModelView, options: ReloadOptions) -> tuple[tuple[tk.Metric, ...], tk.BoolArray]:
    """How loads and predictions compare, with the thresholds of the rule, and which loads are reloads, shape (loads,):
    used since the previous load, at most the idle time ago or with loads that outweigh the use.
    O((l + p) log(l + p))."""
    load_starts, load_times = view.loads.start_ns, view.loads.duration_ns
    calls = tk.Intervals.from_rows(view.predictions)
    latest_end = np.maximum.accumulate(calls.ends)
    before = np.searchsorted(calls.starts, load_starts, side="left")
    after = np.diff(np.append(before, len(calls)))
    used_since_load = np.concatenate([[False], after[:-1] >= 1])
    last_use = np.where(before > 0, latest_end[np.maximum(before - 1, 0)], np.iinfo(np.int64).min // 2)
    late = used_since_load & (load_starts - last_use > round(options.idle_s * 1e9))
    counts = ~late | outweigh_use(view) if late.any() else ~late
    is_reload = used_since_load & counts & ~beside_cold(view.loads)
    loads, single_use = len(load_times), float((after <= 1).mean())
    metrics = (
        tk.above("loads", "loads", loads, "count", options.min_loads),
        tk.Metric("predictions", "predictions", len(calls), "count"),
        tk.Metric("load-time", "load time", int(load_times.sum()), "ns"),
        tk.Metric("prediction-time", "prediction time", int(calls.durations.sum()), "ns"),
        tk.above("per-prediction", "loads per prediction", loads / len(calls), "ratio", options.loads_per_prediction),
        tk.above("single-use", "loads used at most once", single_use, "share", options.single_use_share),
        # One reload fewer than loads: the first load of the recording is none.
        tk.above("reloads", "reloads soon after use", int(is_reload.sum()), "count", max(options.min_loads - 1, 1)),
        tk.Metric("mean-load", "mean load", float(load_times.mean()), "ns"),
        tk.Metric("mean-prediction", "mean prediction", float(calls.durations.mean()), "ns"),
    )
    return metrics, is_reload


def for_each_prediction(view: tk.ModelView) -> bool:
    """Whether the model is loaded again for each prediction, or nearly so: then no other detector claims its reloads.
    The model has loads and predictions. O((l + p) log(l + p))."""
    metrics, _ = load_pattern(view, ReloadOptions())
    return tk.all_reached(metrics)


class Reloads(NamedTuple):
    """Loads that bring back a model that had been used since it was last loaded, had been let go, and is used again;
    and either that was a moment before, or the load outweighs its use."""

    rows: tk.Calls
    share: float
    """Part of the time with loads or predictions of the model that they cover."""
    in_turns_share: float
    """Part of them before which another model was loaded since the last use; 0.0 without any."""


def reloads(view: tk.ModelView, idle_ns: int) -> Reloads:
    """What was released and loaded again. O((l + p) log(l + p))."""
    starts = view.loads.start_ns
    uses = uses_of_loads(view.loads, view.predictions)
    begun = np.searchsorted(uses.first_ns, starts, side="left")
    before = np.maximum(begun - 1, 0)
    # What began earlier and is still called later was not released: this load makes one more instance.
    released = np.maximum.accumulate(uses.last_ns)[before] < starts
    last_end = np.maximum.accumulate(uses.end_ns)[before]
    back = (begun > 0) & released & np.isin(np.arange(len(starts)), uses.load) & ~beside_cold(view.loads)
    late = back & (starts - last_end > idle_ns)
    if late.any():
        back &= ~late | outweigh_use(view)
    rows, spent = view.loads.where(back), tk.covered_ns(view.loads, view.predictions)
    every = top_calls(view.trace, *tk.LOAD_KINDS).start_ns
    of_all, own = (np.searchsorted(each, starts) - np.searchsorted(each, last_end) for each in (every, starts))
    between = of_all - own
    return Reloads(
        rows=rows,
        share=tk.covered_ns(rows) / spent if spent else 0.0,
        in_turns_share=float((between[back] > 0).mean()) if len(rows) else 0.0,
    )


def reload_finding(view: tk.ModelView, summary: str, metrics: tuple[tk.Metric, ...], rows: tk.Calls) -> tk.Finding:
    """The finding with its cost: these reloads."""
    return view.finding(
        summary,
        metrics,
        rows=rows,
        cost=view.cost(
            tk.covered_ns(rows), "Time covered by the reloads after use", longest_wait_ns=int(rows.duration_ns.max())
        ),
        call_sites=tuple(replace(site, api=Api.RELOAD) for site in sites_of(view.trace, rows.id)),
    )


def again_and_again(view: tk.ModelView) -> bool:
    """Whether the model's loads are reported as reloads, for each prediction or with several in between. The model has
    loads and predictions. O((l + p) log(l + p))."""
    if for_each_prediction(view):
        return True
    options = ChurnOptions()
    reloaded = reloads(view, round(options.idle_s * 1e9))
    enough = len(reloaded.rows) >= options.min_loads - 1 and reloaded.share >= options.load_share
    return enough and reloaded.in_turns_share < options.in_turns_share
