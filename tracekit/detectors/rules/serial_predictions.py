"""`serial-predictions`: each call waits until the app has dealt with the last one."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.quantities import median_of
from tracekit.detectors.shared import idle_gaps
from tracekit.detectors.shared.options import GAP_SHARE
from tracekit.detectors.shared.partitions import why_no_gaps


class Options(tk.Options):
    gap_share: float = tk.option(
        0.2, "share of the time", "Heuristic: below a fifth, overlapping predictions gain little for the effort."
    )
    min_predictions: int = tk.option(20, "predictions in a row", "Heuristic: shorter runs end before it matters.")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for gaps that would vanish if calls overlapped."""
    gaps = idle_gaps.find_gaps(view, options.min_predictions)
    if not isinstance(gaps, idle_gaps.SequenceGaps):
        return gaps
    idle = tk.above("idle", "time without Core ML work", gaps.idle.share, "share", options.gap_share)
    share = tk.format_share(gaps.idle.share)
    if gaps.idle.share < options.gap_share:
        return view.passed(f"Core ML is idle {share} of the time between successive predictions.", (idle,))
    if not tk.Intervals.from_rows(view.predictions).alone().all():
        return view.passed("Predictions already overlap.", (idle,))
    other = why_no_gaps(view, gaps)
    if other or gaps.idle.share >= GAP_SHARE:
        return view.passed(other or "The gaps are longer than the predictions: see pipeline-gaps.", (idle,))
    # Whoever it works for. A model without rows of the hardware runs on the CPU, which rests in the whole gap.
    lanes = [lane for lane in (tk.Lane.NEURAL_ENGINE, tk.Lane.GPU) if view.hardware.lane.is_any(lane).any()]
    hardware = view.trace.hardware
    busy = tk.Intervals.from_rows(hardware).where(hardware.lane.is_any(*lanes)).covered_within(gaps.idle.gaps)
    resting = int((gaps.idle.gaps.durations - busy).sum()) / max(int(gaps.idle.distance_ns.sum()), 1)
    metrics = (
        tk.above("unit-idle", "compute unit idle", resting, "share", options.gap_share),
        idle,
        tk.Metric("median-gap", "median gap per prediction", median_of(gaps.idle.idle_ns), "ns"),
    )
    if not tk.reached(metrics, "unit-idle") or not resting:
        return view.passed(
            f"The compute unit idles {tk.format_share(resting)} of the time between successive predictions.", metrics
        )
    if (in_order := idle_gaps.one_after_another(view, gaps.idle, metrics)) is not None:
        return in_order
    if gaps.activity is idle_gaps.Activity.UNCLEAR:
        return idle_gaps.unclear(view, gaps, f"The compute unit idles {tk.format_share(resting)}")
    marked = f" ({', '.join(gaps.marked)})" if gaps.marked else ""
    summary = (
        f"{tk.format_count(len(gaps.idle.distance_ns) + 1, 'successive prediction')} run one after another, and Core "
        f"ML is idle {share} of the time while the app works in between{marked}. If none "
        "needs the previous result, two can be in flight."
    )
    return idle_gaps.gap_finding(view, gaps.idle, summary, metrics, gaps.sites)


DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    uses=("Neural Engine", "GPU", "Signposts", "Call Stacks"),
    options=Options,
    detect=detect,
)
