"""`state-copies`: a cache is passed into and out of every call."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis import autoregression
from tracekit.analysis.latency_growth import growth
from tracekit.analysis.quantities import median_of
from tracekit.analysis.throughput import burst_numbers

USUAL_CALLS = 0.9
"""Share of the calls that must pass something in and out. The first of a sequence may begin without it."""


class Options(tk.Options):
    copy_share: float = tk.option(
        0.10, "share of the prediction", "Heuristic: smaller copies do not come from a cache of relevant size."
    )
    balance: float = tk.option(
        0.25,
        "times the larger of both directions",
        "Heuristic: a cache leaves as large as it entered; an image in and a label out do not.",
        maximum=1,
    )
    min_predictions: int = tk.option(50, "predictions", "Heuristic: the shortest sequence of tokens worth optimizing.")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for calls that continue each other and copy something large in and out."""
    rows = view.predictions
    times = tk.Intervals.from_rows(rows)
    if int((times.starts[1:] < times.ends[:-1]).sum()) > (1 - USUAL_CALLS) * len(rows):
        return view.not_applicable("Predictions overlap, so none continues the previous one.")
    copies = autoregression.state_copies(rows, view.data)
    large = copies.both >= options.copy_share * np.maximum(times.durations, 1)
    balanced = np.minimum(copies.into, copies.out) >= options.balance * np.maximum(copies.into, copies.out)
    passed_on = large & balanced
    share = float(passed_on.mean())
    metrics = (
        tk.above("copying", "predictions with large copies in and out", share, "share", USUAL_CALLS),
        tk.Metric("median-copy", "median copy time", median_of(copies.both), "ns"),
        tk.Metric("median-in", "median copy time in", median_of(copies.into), "ns"),
        tk.Metric("median-out", "median copy time out", median_of(copies.out), "ns"),
        tk.Metric("predictions", "predictions", len(rows), "count"),
    )
    if not tk.reached(metrics, "copying"):
        return view.passed(
            f"{tk.format_share(share) if share else 'None'} of the predictions have large copies both in and out.",
            metrics,
        )
    sign = _sign(view, copies)
    if not sign:
        return view.not_applicable("Nothing shows that outputs feed the next prediction, as a KV cache would.")
    if len(rows) < options.min_predictions:
        return view.unknown(
            f"{tk.format_count(len(rows), 'prediction')} with large copies in and out, {options.min_predictions} "
            "needed to tell a cache from other data.",
            "Record a longer answer, or several.",
        )
    copied_ns, predicted_ns = int(copies.both[passed_on].sum()), int(times.durations.sum())
    data = view.data.take(tk.places_of(view.data.id, copies.rows))
    data = data.where(np.isin(data.prediction.filled(), rows.id[passed_on]))
    copied = tk.Intervals.from_rows(data).union()
    return view.finding(
        f"Each prediction spends {tk.format_time(median_of(copies.into))} on copies in and "
        f"{tk.format_time(median_of(copies.out))} on copies out (medians; "
        f"{tk.format_share(copied_ns / predicted_ns)} of {tk.format_time(predicted_ns)} over "
        f"{tk.format_count(len(rows), 'prediction')}), and {sign}. Possible but not certain: this looks like a cache, "
        "but the recording does not show what is copied.",
        metrics,
        rows=data,
        cost=view.cost(
            min(copied_ns, copied.covered_ns),
            "Time covered by copies and conversions in predictions with large copies in and out, with overlaps counted "
            "once",
        ),
        affected=copied,
    )


def _sign(view: tk.ModelView, copies: autoregression.StateCopies) -> str:
    """What shows that calls continue each other, as a clause; empty where nothing does."""
    rows = view.predictions
    sequence = burst_numbers(rows)
    # As a cache does that holds what came before.
    if growth(np.maximum(copies.both, 1), sequence).usual:
        return "the copies grow with each prediction of a sequence"
    if copies.has_small_input.mean() < USUAL_CALLS:
        return ""
    if autoregression.opens_sequence(rows.duration_ns, sequence, autoregression.SURE_OPENING).any():
        return "sequences open with a long prediction, as for a prompt"
    if autoregression.opened_by_another_model(view.trace, rows, sequence):
        return "each sequence follows a prediction of another model, as after a prompt"
    return ""


DETECTOR = tk.Detector(needs=("Core ML",), options=Options, causes=(tk.Cause.COPIES,), detect=detect)
