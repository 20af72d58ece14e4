"""`copies-between-predictions`: the app copies arrays from one prediction to the next, as the state of a decoder."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.quantities import median_of
from tracekit.detectors.shared.idle_gaps import SequenceGaps, copies_in, find_gaps, gap_finding
from tracekit.detectors.shared.partitions import why_no_gaps


class Options(tk.Options):
    copy_share: float = tk.option(0.1, "share of the time", "Heuristic: below a tenth, other work comes first.")
    min_predictions: int = tk.option(20, "predictions in a row", "Heuristic: shorter runs end before it matters.")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for gaps in which the thread that predicts copies arrays."""
    gaps = find_gaps(view, options.min_predictions)
    if not isinstance(gaps, SequenceGaps):
        return gaps
    copies = copies_in(view, gaps.idle)
    if copies is None or not copies.calling:
        return view.passed("No call stack shows the app copying arrays between predictions.")
    each = copies.each_ns
    share = int(each.sum()) / max(int(gaps.idle.distance_ns.sum()), 1)
    usual = median_of(each[each > 0])
    metrics = (
        tk.above("copying", "time in copies between predictions", share, "share", options.copy_share),
        tk.Metric("median-copy", "median time of copies in a gap", usual, "ns"),
    )
    if not tk.reached(metrics, "copying"):
        return view.passed(f"The app copies arrays for {tk.format_share(share)} of the time.", metrics)
    if other := why_no_gaps(view, gaps):
        return view.passed(other, metrics)
    summary = (
        f"The app copies arrays for {view.time(usual)} (median) between two predictions, "
        f"{tk.format_share(share)} of the time. Each prediction seems to need what the one before wrote."
    )
    basis = "Time between predictions in which the thread that predicts copies arrays"
    return gap_finding(view, gaps.idle, summary, metrics, copies.sites, each, basis)


DETECTOR = tk.Detector(
    needs=("Core ML", "Call Stacks"), origins=(tk.Origin.CALL_STACKS,), options=Options, detect=detect
)
