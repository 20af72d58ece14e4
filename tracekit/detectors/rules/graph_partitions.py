"""`graph-partitions`: a runtime runs one graph as several models, with its own code between them."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.quantities import median_of
from tracekit.detectors.shared.idle_gaps import SequenceGaps, find_gaps, gap_finding
from tracekit.detectors.shared.partitions import ROUNDS, partitions_of


class Options(tk.Options):
    between_share: float = tk.option(0.1, "share of the time", "Heuristic: below a tenth, other work comes first.")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for models that follow each other in each round, with code of a runtime between them."""
    gaps = find_gaps(view, ROUNDS)
    if not isinstance(gaps, SequenceGaps):
        return gaps
    found = partitions_of(view)
    if found is None:
        return view.passed("Nothing shows that a runtime calls this model as a partition of a graph.")
    models, idle, code = found.models, found.idle, found.code
    if models[0] != view.name:
        return view.passed(f"It is one of {len(models)} partitions of a graph: see {models[0]}.")
    between, interval = median_of(idle.idle_ns), median_of(idle.distance_ns)
    metrics = (
        tk.above("between", "time between partitions", idle.share, "share", options.between_share),
        tk.Metric("models", "models in a round", len(models), "count"),
        tk.Metric("median-between", "median time between partitions, per round", between, "ns"),
        tk.Metric("median-interval", "median interval of rounds", interval, "ns"),
    )
    if not tk.reached(metrics, "between"):
        return view.passed(f"{tk.format_share(idle.share)} of the time passes between its partitions.", metrics)
    length = median_of(idle.idle_ns + idle.busy_ns)
    summary = (
        f"{found.runtime} seems to run one graph in {len(models)} partitions, from {models[0]} to {models[-1]}. "
        f"In each of {tk.format_count(len(idle.distance_ns) + 1, 'round')}, one every {view.time(interval)}, "
        f"{view.time(between)} of {view.time(length)} pass between partitions ({tk.format_share(between / length)})"
    )
    if code is None:
        summary += ". Names of the models show the runtime."
    else:
        ran = int(code.each_ns.sum()) / max(int(idle.gaps.durations.sum()), 1)
        summary += f". Code of the runtime runs for {tk.format_share(ran)} of that."
    sites = () if code is None else code.sites
    basis = "Time in a round between its models, without a load, compilation or prediction"
    return gap_finding(view, idle, summary, metrics, sites, basis=basis)


DETECTOR = tk.Detector(
    needs=("Core ML",), origins=(tk.Origin.CALL_STACKS,), uses=("Call Stacks",), options=Options, detect=detect
)
