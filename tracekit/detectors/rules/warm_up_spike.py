"""`warm-up-spike`: the first prediction after a load is far slower than those that follow."""

from __future__ import annotations

import numpy as np
import pandas as pd

import tracekit.detectors as tk
from tracekit.analysis.code.sites import sites_of
from tracekit.analysis.load_waits import stand_alone
from tracekit.detectors.shared.comparable_latency import judge_with_waits, latencies
from tracekit.detectors.shared.first_after_load import FirstCalls, Firsts, SpikeRule, firsts_after_loads
from tracekit.detectors.shared.loads import warm_up_doubt
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
        maximum=1,
    )
    as_slow_share: float = tk.option(
        0.05,
        "share of the following predictions",
        "Heuristic: if this many later predictions are as slow, the first one is no exception.",
        maximum=1,
    )
    gap_s: float = tk.option(1.0, "s", "Heuristic: longer than any interval at which an app predicts regularly.")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for first predictions that stand out and that somebody waited for."""
    return judge_with_waits(
        view,
        "The first prediction after a load took longer than those that follow",
        lambda latency_ns: _judge_spikes(view, latency_ns, options),
    )


def _judge_spikes(view: tk.ModelView, latency_ns: tk.IntArray, options: Options) -> tk.Outcome:
    """The answer for predictions that take so long, shape (predictions,)."""
    rule = SpikeRule(
        options.ratio,
        options.min_extra_ms * 1e6,
        options.min_following,
        options.alike_share,
        options.as_slow_share,
        round(options.gap_s * 1e9),
    )
    firsts = firsts_after_loads(view, latency_ns, rule)
    if firsts is None:
        return view.unknown(
            f"No load is followed by {options.min_following + 1} or more predictions, so the first one has nothing to "
            "be compared with.",
            KEEP_LOADED,
        )
    whole, calls, resumed, special = firsts.whole, firsts.calls, firsts.resumed, firsts.slower_than_resumed
    alone = stand_alone(view.predictions, calls.index, rule.gap_ns)
    chosen = calls.stands_out & special
    late = chosen & ~(alone.surely | alone.perhaps)
    metrics = _metrics(calls, late, resumed.median_ns)
    if late.any():
        return _finding(view, calls, late, metrics)
    if (chosen & alone.perhaps).any():
        slow_ns = calls.duration_ns[chosen & alone.perhaps].max()
        return warm_up_doubt(view, f"the first prediction after a load, which took {view.time(int(slow_ns))}")
    more_work = resumed.more_work & latencies(view).work_ns.any()
    unclear = whole.stands_out & ~chosen & special & ~alone.surely & ~more_work
    if unclear.any():
        return view.unknown(
            f"The first prediction after a load took {view.time(int(whole.duration_ns[unclear].max()))}, but it "
            "also had more work: it warms up the model, or it has a larger input, such as the prompt of a language "
            "model.",
            f"Use the feature twice in one recording, {options.gap_s:g} s or more apart, and keep the model loaded.",
        )
    return view.passed(_why_not(firsts, alone.surely), metrics)


def _metrics(firsts: FirstCalls, chosen: tk.BoolArray, resumed_ns: tk.FloatArray) -> tuple[tk.Metric, ...]:
    """Everything measured; of several first predictions the one that stands out most."""
    worst = int(np.lexsort((firsts.extra_ns, chosen))[-1])
    after_gap = None if np.isnan(resumed_ns[worst]) else float(resumed_ns[worst])
    return (
        tk.above("first prediction to median of following", float(firsts.ratio[worst]), "ratio", firsts.rule.ratio),
        tk.above(
            "extra time of the first prediction", float(firsts.extra_ns[worst]), "ns", round(firsts.rule.extra_ns)
        ),
        tk.below("following predictions as slow", float(firsts.as_slow[worst]), "share", firsts.rule.as_slow_share),
        tk.Metric("median of following predictions", float(firsts.usual_ns[worst]), "ns"),
        tk.Metric("median after a gap", after_gap, "ns"),
        tk.Metric("first predictions compared", len(firsts.index), "count"),
    )


def _why_not(firsts: Firsts, alone: tk.BoolArray) -> str:
    whole = firsts.whole
    if not whole.is_long.any():
        worst = float(whole.ratio.max())
        if worst < whole.rule.ratio:
            return f"The first prediction after a load takes at most {worst:.1f}x the median of the next ones."
        return "First predictions after a load take slightly longer than others, too little to notice."
    slow = f"The first prediction took {tk.format_time(int(whole.duration_ns[whole.is_long].max()))}"
    if (whole.stands_out & alone).any():
        return f"{slow} and was followed by a gap, as a warm-up prediction is."
    if not whole.stands_out.any():
        return f"{slow}, and some later ones took about as long."
    if not firsts.calls.stands_out.any():
        return f"{slow}, for more work: later ones after a gap have more than usual too."
    return f"{slow}, and predictions after a gap take about as long: the load is not the cause."


def _finding(
    view: tk.ModelView, firsts: FirstCalls, chosen: tk.BoolArray, metrics: tuple[tk.Metric, ...]
) -> tk.Finding:
    """The finding with its cost: what first predictions took beyond the usual."""
    rows: pd.DataFrame = view.predictions.iloc[firsts.index[chosen]]
    worst = int(np.flatnonzero(chosen)[np.argmax(firsts.extra_ns[chosen])])
    first_ns = firsts.usual_ns[worst] + firsts.extra_ns[worst]
    # What may be several predictions takes longer than each of them.
    several = view.trace.inferred and not view.predictions["single"].all()
    least, most = ("at least ", ", at most ") if several else ("", " ")
    summary = (
        f"The first prediction after a load took {least}{view.time(first_ns)}, {least}{firsts.ratio[worst]:.1f}x the "
        f"usual{most}{view.time(firsts.usual_ns[worst])}"
    )
    if len(rows) > 1:
        summary += f" ({tk.format_count(len(rows), 'load')} affected)"
    cost_ns = min(round(float(firsts.extra_ns[chosen].sum())), tk.covered_ns(rows))
    return view.finding(
        summary=f"{summary}.{_pipelines(view, rows)}",
        metrics=metrics,
        cost=view.cost(
            cost_ns,
            "Time slow first predictions took beyond the median of those that follow",
            "A warm-up prediction does this work before anyone waits.",
            once=True,
            usual_ns=float(firsts.usual_ns[chosen].max()),
        ),
        rows=rows,
        call_sites=sites_of(view.trace, rows.index),
    )


def _pipelines(view: tk.ModelView, rows: pd.DataFrame) -> str:
    """What of the time Metal explains: a sentence after a space, or nothing."""
    compiled = view.trace.context.get("metal_pipelines")
    if compiled is None or compiled.empty:
        return ""
    times = compiled["start_ns"].to_numpy()
    spans = tk.Intervals.from_rows(rows)
    during = int(((times >= spans.starts[:, None]) & (times < spans.ends[:, None])).any(axis=0).sum())
    if not during:
        return ""
    return f" Metal compiled {tk.format_count(during, 'GPU pipeline')} for the app during it."


DETECTOR = tk.Detector(
    id="warm-up-spike",
    page=tk.page_beside(__file__),
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    joins=True,
    counts=True,
    on_evidence=True,
    caused_by=("reload-before-predict", "load-churn"),
    options=Options,
    asks=(tk.any_prediction, tk.any_load("which prediction was the first")),
    detect=detect,
)
