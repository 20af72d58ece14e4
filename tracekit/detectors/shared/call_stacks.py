"""What detectors that rest on call stacks alone ask first, and what they say of samples of the app's own work."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.code.call_sites import core_ml_stacks
from tracekit.analysis.code.sites import sites_of
from tracekit.analysis.code.threads import PREPARING, Blocking, app_work, main_thread_calls, runs_interface
from tracekit.analysis.frames.late import late_frames, late_hangs
from tracekit.columns import constant
from tracekit.detectors.shared.options import AppWorkOptions
from tracekit.trace.coverage import BY_TIME, stacks_coverage
from tracekit.trace.samples import SAMPLE_NS, TIMED


class AppWorkWords(NamedTuple):
    """How a detector names one sort of the app's own work."""

    which: str
    """Which samples are counted, after their number: `of threads that predict`."""
    counted: str
    """Name of the metric that counts the samples of the work."""
    threads: str
    """Whose samples the share is of: `these threads`."""
    none: str
    """Says that there is no such work."""
    little: str
    """After a share: says that so little is such work."""
    summary: str
    """Summary of the finding, with `{samples}` (`3 of 20 samples`) and their `{share}`."""
    saved: str
    """What of the time the fix saves: the last sentence of the basis of the cost."""


def core_ml_in_stacks(view: tk.RecordingView, _options: Any) -> tk.Outcome | None:
    """Precondition: call stacks show calls of Core ML."""
    sampled, profiled = view.trace.sampled, view.trace.profiled
    if sampled is not None and sampled.failures and not len(sampled.stacks):
        stacks = stacks_coverage(view.trace)
        return view.unknown(stacks.conclusion, stacks.advice)
    if sampled is None or not len(sampled.stacks):
        if profiled is None or profiled is sampled:
            return view.unknown("No call stack could be read.", f"{BY_TIME}.")
        reason = "Call stacks were sampled by what a CPU counted, as cycles, and not by time."
        return view.unknown(reason, f"{BY_TIME}; `tracekit stacks` shows these.")
    if not sampled.stacks.image.known.any():
        return view.unknown(
            "The call stacks are addresses alone: the recording does not show which libraries were loaded, so calls of "
            "Core ML cannot be identified.",
            "Record again and let Instruments launch the app; of an export, use the whole bundle instead.",
        )
    if not sampled.stacks.function.known.any():
        return view.unknown(
            "The call stacks have no symbols, so calls of Core ML cannot be identified.",
            "Use the whole bundle with its folder `symbols`, as Instruments saved it.",
        )
    kinds = core_ml_stacks(view.trace)
    if kinds is None or not kinds.api.known.any():
        return view.not_applicable("No call stack shows a call of Core ML.")
    return None


def judge_app_work(view: tk.RecordingView, api: tk.Api, options: AppWorkOptions, words: AppWorkWords) -> tk.Outcome:
    """Whether one sort of the app's own work (`app_work`) takes much of the threads' CPU time, by samples."""
    work = app_work(view.trace, api)
    counted = 0 if work is None else work.of
    if work is None or counted < options.min_samples:
        few = f"{tk.format_count(counted, 'sample')} {words.which}, {options.min_samples} needed."
        return view.unknown(few, "Record the feature for longer.")
    metrics = (
        tk.above("samples", words.counted, work.samples, "count", options.min_samples),
        tk.above("share", f"share of the samples of {words.threads}", work.share, "share", options.share),
    )
    if not work.samples:
        return view.passed(words.none, metrics)
    if not tk.all_reached(metrics):
        return view.passed(f"{tk.format_share(work.share)} {words.little}", metrics)
    pieces, count = work.pieces, len(work.pieces)
    label = f"{'conversion' if api is tk.Api.BETWEEN else api} (from call stacks)"
    return view.finding(
        words.summary.format(
            samples=f"{work.samples:,} of {tk.format_count(work.of, 'sample')}", share=tk.format_share(work.share)
        ),
        metrics,
        cost=tk.Cost(
            work.time.covered_ns,
            work.share,
            f"CPU time: {work.period_ns / 1e6:g} ms for each sample {words.counted.removeprefix('samples ')}, with "
            f"samples of several threads at once counted once. {words.saved}",
            of=f"the CPU time of {words.threads}",
        ),
        rows=tk.Shown(
            *(pieces.starts, pieces.durations, constant(None, count), constant(label, count)),
            *(constant(TIMED[0], count), work.row, np.full(count, SAMPLE_NS)),
        ),
        affected=work.time,
        call_sites=work.sites,
    )


LOADS_MS, PREDICTIONS_MS = 250.0, 100.0
"""From when on loads and predictions that fill the main thread are findings of their own."""


@tk.cached_by_trace
def in_blocking(trace: tk.Trace) -> tk.IntArray:
    """Rows of the activity with which the main thread is busy for so long that another finding is about it."""
    kinds = ((PREPARING, LOADS_MS), ((tk.Api.PREDICTION,), PREDICTIONS_MS))
    found = [main_thread_calls(trace, apis, round(least * 1e6)) for apis, least in kinds if runs_interface(trace)]
    return np.concatenate([np.zeros(0, np.int64), *(each.calls.id for each in found if each is not None)])


def _seen_by_users(trace: tk.Trace, blocking: Blocking) -> str:
    """Which hangs and late frames are part of it, as a sentence; empty where none are, or none were recorded."""
    hangs, late = late_hangs(trace), late_frames(trace)
    late = late.where(late.counted & np.isin(late.call, blocking.calls.id))
    within = 0 if hangs is None else int((blocking.periods.covered_within(tk.Intervals.from_rows(hangs)) > 0).sum())
    parts = [tk.format_count(count, noun) for count, noun in ((within, "hang"), (len(late), "late frame")) if count]
    if not parts:
        return ""
    ms = f" ({tk.format_time(int(late.saved_ns.sum()))} late)" if len(late) else ""
    return f" Instruments recorded {' and '.join(parts)} of that{ms}."


MOVED = "The work remains, but no one has to wait for it."
"""What a cost says of work that another thread could do."""


def judge_blocking(
    view: tk.RecordingView,
    blocking: Blocking,
    min_ms: float,
    words: tuple[str, str],
    summary: str,
    basis: str,
    *,
    once: bool = False,
) -> tk.Outcome:
    """Whether calls fill the main thread of an app with an interface for so long. `words` say what the thread does and
    what the calls are: `("predicts", "predictions")`; `summary` is that of a finding, `basis` begins that of its cost.
    """
    verb, noun = words
    count, longest = len(blocking.periods), int(blocking.periods.durations.max(initial=0))
    metrics = (
        tk.above("blocking", f"times the main thread {verb} that long", count, "count", 1),
        tk.Metric("longest", "longest of them", longest if count else None, "ns"),
        tk.Metric("calls", f"{noun} in them", len(blocking.calls), "count"),
    )
    if not runs_interface(view.trace):
        return view.not_applicable("The app has no UI that waits for the main thread.")
    if not count:
        return view.passed(f"The main thread never {verb} for {min_ms:g} ms or more.", metrics)
    wait_ns = 0 if once else longest
    return view.finding(
        f"{summary}{_seen_by_users(view.trace, blocking)}",
        metrics,
        rows=blocking.calls,
        cost=view.cost(blocking.periods.covered_ns, basis, MOVED, once=once, longest_wait_ns=wait_ns),
        affected=blocking.periods,
        call_sites=sites_of(view.trace, blocking.calls.id),
    )
