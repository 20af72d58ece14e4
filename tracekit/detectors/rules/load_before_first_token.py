"""`load-before-first-token`: a request waits for its first token while the language model is loaded."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.quantities import median_of
from tracekit.detectors.shared.requests import USES, Asked, judge_requests, times_of


class Options(tk.Options):
    min_load_ms: float = tk.option(300.0, "ms", "Heuristic: a shorter delay of a first word is hardly noticed.")
    share: float = tk.option(
        0.2, "share of the time to first token", "Heuristic: below, the prompt itself is what takes long."
    )
    ratio: float = tk.option(
        3.0,
        "first prompt to later ones",
        "Heuristic: where no load was recorded, a first prompt that takes so many times as long for as many tokens "
        "waited for something.",
        minimum=1,
    )
    min_later: int = tk.option(3, "requests", "Heuristic: fewer later requests do not show how long a prompt takes.")


@judge_requests
def detect(asked: Asked, options: Options) -> tk.Outcome:
    """Looks for loads from the start of a request to its first token, or a first prompt slow for its tokens."""
    load, first = asked.rows.load_ns.or_nan(), asked.rows.first_token_ns.or_nan()
    if not asked.logs("load"):
        load = np.full(len(load), np.nan)
    known = ~np.isnan(load) & ~np.isnan(first)
    share = np.where(known, load, 0) / np.maximum(np.nan_to_num(first), 1)
    late = known & (load >= max(options.min_load_ms * 1e6, 1)) & (share >= options.share)
    if late.any():
        return _loads(asked, options, late, share)
    return _first_prompt(asked, options, known)


def _loads(asked: Asked, options: Options, late: tk.BoolArray, share: tk.FloatArray) -> tk.Outcome:
    rows = asked.rows.where(late)
    starts, load, first = rows.start_ns, rows.load_ns.values, rows.first_token_ns.values
    worst = int(np.argmax(load))
    metrics = (
        tk.above("loading", "loading before a first token", int(load[worst]), "ns", round(options.min_load_ms * 1e6)),
        tk.above("share", "its share of the time to first token", float(share[late][worst]), "share", options.share),
        tk.Metric("requests", "requests that waited for a load", len(rows), "count"),
    )
    phases = asked.view.trace.phases
    is_load = phases.phase.is_any("load", "warm-up") & phases.runtime.is_any(asked.runtime)
    loads = times_of(asked.view, is_load & phases.duration_ns.known)
    waits = tk.Intervals(starts, starts + first)
    waited = loads.intersection(waits)
    shown = None
    if (waited.covered_within(waits) > 0).all():
        # Of each wait, from the first load in it to the last.
        begun, ended = np.searchsorted(waited.ends, starts, "right"), np.searchsorted(waited.starts, waits.ends) - 1
        shown = tk.Intervals(waited.starts[begun], waited.ends[ended]).clipped(starts, waits.ends)
    up_to = "up to " if len(rows) > 1 else ""
    return asked.finding(
        f"{tk.format_count(len(rows), 'request')} waited for a load: {up_to}"
        f"{tk.format_time(load[worst])} of {tk.format_time(first[worst])} to the first token.",
        metrics,
        late,
        cost=(int(load.sum()), "Loading and warming up between a request and its first token", waited),
        once=len(rows) == 1,
        longest_wait_ns=int(load[worst]),
        shown=shown,
    )


def _first_prompt(asked: Asked, options: Options, known: tk.BoolArray) -> tk.Outcome:
    """Whether a first prompt took long without a load: attached recordings often show only unloaded assets."""
    view, prompt, tokens = asked.view, asked.rows.prompt_ns.or_nan(), asked.rows.processed_tokens.or_nan()
    advice = "Start recording before the app loads the model." if asked.logs("load") else ""
    later = np.arange(len(prompt)) > 0
    timed = later & ~np.isnan(prompt)
    if int(timed.sum()) >= options.min_later and not np.isnan(prompt[0]):
        usual_ns = median_of(prompt[timed])
        excess_ns = prompt[0] - usual_ns
        metrics = (
            tk.above("ratio", "first prompt to later ones", prompt[0] / max(usual_ns, 1), "ratio", options.ratio),
            tk.above("excess", "time beyond later ones", round(excess_ns), "ns", round(options.min_load_ms * 1e6)),
        )
        if all(metric.reached for metric in metrics) and excess_ns > 0:
            alike = timed & (tokens >= tokens[0])
            if np.isnan(tokens[0]) or np.isnan(tokens[timed]).any():
                return asked.unknown(
                    f"The first prompt took {metrics[0].value:.1f}x as long as later ones; how many tokens they "
                    "processed is not recorded.",
                    advice,
                )
            if int(alike.sum()) >= options.min_later and prompt[0] >= options.ratio * median_of(prompt[alike]):
                return _slow_first(asked, metrics, round(median_of(prompt[alike])))
    if not known.any():
        loads = "loads" if advice else "loads of this runtime"
        return asked.unknown(f"The recording does not show {loads} and first tokens of the same request.", advice)
    longest = float(np.nanmax(np.where(known, asked.rows.load_ns.or_nan(), np.nan)))
    count = tk.format_count(int(known.sum()), "request")
    return view.passed(
        f"None of {count} waited for a load."
        if not longest
        else f"None of {count} waited long for a load, {tk.format_time(longest)} at most.",
        (tk.above("loading", "loading before a first token", int(longest), "ns", round(options.min_load_ms * 1e6)),),
    )


def _slow_first(asked: Asked, metrics: tuple[tk.Metric, ...], usual_ns: int) -> tk.Outcome:
    first = np.arange(len(asked.rows)) == 0
    prompts = asked.times("prompt", of=first)
    excess = int(asked.rows.prompt_ns.values[0]) - usual_ns
    return asked.finding(
        f"The first prompt took {tk.format_time(usual_ns + excess)}, later ones with as many tokens "
        f"{tk.format_time(usual_ns)} (median); no load was recorded meanwhile.",
        metrics,
        first,
        cost=(excess, "Time of the first prompt beyond the median of later ones with as many tokens", prompts),
        once=True,
        longest_wait_ns=excess,
        usual_ns=usual_ns,
        shown=prompts.where(prompts.durations.argsort()[-1:]),
    )


DETECTOR = tk.RecordingDetector(uses=USES, options=Options, detect=detect)
