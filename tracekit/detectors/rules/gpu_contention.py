"""`gpu-contention`: predictions are slow while the GPU works for others, mostly drawing."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.detectors.shared.comparable_latency import judge_groups
from tracekit.detectors.shared.contention import Contention, ContentionWords, Met, beginnings, spans_of, surely_longer
from tracekit.detectors.shared.options import ContentionOptions


class Options(ContentionOptions):
    overlap_share: float = tk.option(
        0.2, "share of a prediction's GPU time", "Heuristic: drawing an idle screen takes less."
    )
    calm_share: float = tk.option(
        0.05, "share of a prediction's GPU time", "Heuristic: so little overlap has no effect."
    )


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Compares predictions during which the GPU worked for others with those that had it for themselves."""
    gpu_work = _own_work(view)
    if not len(gpu_work[0]):
        return view.not_applicable("None of the recorded work ran on the GPU.")
    # Rows of the GPU that are not the model's.
    others = view.trace.hardware.kind.is_any(tk.Kind.GPU_EXEC)
    others[view.hardware.id] = False
    return judge_groups(view, lambda chosen: _judge_calls(view, gpu_work, others, chosen, options))


def _judge_calls(
    view: tk.ModelView,
    gpu_work: tuple[tk.IndexArray, tk.Intervals],
    others: tk.BoolArray,
    chosen: tk.BoolArray,
    options: Options,
) -> tk.Outcome:
    """The answer for the `chosen` predictions, which compare with each other."""
    spans, predicted = spans_of(len(view.predictions), *gpu_work), tk.Intervals.from_rows(view.predictions)
    comparable = (spans.ends > spans.starts) & predicted.alone() & (predicted.durations > 0) & view.warm & chosen
    # The time of predictions on the GPU, from the first request or row to the last.
    times, working = spans.where(comparable), _times(view, others).covered_time()
    others_ns = working.within(times.starts, times.ends)
    contention = Contention(view, options, _WORDS)
    met = contention.split(view.predictions.where(comparable), others_ns / np.maximum(times.durations, 1))
    if not isinstance(met, Met):
        return met

    def chance() -> str:
        # Those that meet others at the beginning, where length makes no difference.
        first = beginnings(times)
        overlap = working.within(first.starts, first.ends) / np.maximum(first.durations, 1)
        disturbed, calm = overlap >= options.overlap_share, overlap <= options.calm_share
        few = min(int(disturbed.sum()), int(calm.sum())) < options.min_compared
        if few or surely_longer(met.durations, disturbed, calm):
            return ""
        return "only because long predictions are more likely to meet it"

    explained = np.minimum(others_ns[met.disturbed] / np.maximum(met.extra_ns[met.disturbed], 1), 1)
    metrics = contention.slowdown(met, float(np.median(explained)), chance)
    if isinstance(metrics, tk.Passed):
        return metrics
    affected = _times(view, others).intersection(times.where(met.disturbed))
    filled = np.minimum(met.extra_ns, others_ns)
    return contention.finding(met, metrics, filled, affected, _WORDS.did, _whose(view, others, affected))


_WORDS = ContentionWords(
    unit="GPU",
    did="the GPU did other work",
    does="the GPU does other work",
    part="their GPU time",
    apart="Record longer, with phases in which the app draws and phases in which it does not.",
)


def _own_work(view: tk.ModelView) -> tuple[tk.IndexArray, tk.Intervals]:
    """Rows that show when the GPU was asked or worked for a prediction of the model: position of that prediction among
    those of the model, and when, shape (rows,) each."""
    parts = [
        (rows, rows.kind.is_any(kind))
        for rows, kind in ((view.hardware, tk.Kind.GPU_EXEC), (view.compute, tk.Kind.GPU_REQUEST))
    ]
    times = tk.Intervals.none().joined(*(tk.Intervals.from_rows(rows).where(chosen) for rows, chosen in parts))
    called = [rows.prediction.filled()[chosen] for rows, chosen in parts]
    prediction_index = tk.places_of(view.predictions.id, np.concatenate(called))
    known = prediction_index >= 0
    return prediction_index[known], times.where(known)


def _times(view: tk.ModelView, chosen: tk.BoolArray) -> tk.Intervals:
    """When the chosen hardware rows of the trace were active."""
    return tk.Intervals.from_rows(view.trace.hardware).where(chosen)


def _whose(view: tk.ModelView, others: tk.BoolArray, affected: tk.Intervals) -> str:
    """Sentence for whose work that was, as far as rows name it."""
    hardware = view.trace.hardware
    foreign = hardware.attribution.is_any(tk.Attribution.FOREIGN)
    own_app = others & ~foreign & hardware.process.known
    affected_ns = max(affected.covered_ns, 1)
    app, other_processes = (
        int(_times(view, chosen).covered_within(affected).sum()) / affected_ns for chosen in (own_app, others & foreign)
    )
    if app >= _NEARLY_ALL > other_processes:
        return "Nearly all of that work was the app's own, such as drawing."
    if other_processes >= _NEARLY_ALL > app:
        return "Nearly all of that work was for other processes."
    of_app, of_others = tk.format_share(app), tk.format_share(other_processes)
    return f"{of_app} of that work was the app's own, {of_others} was for other processes."


_NEARLY_ALL = 0.9
"""Share of the disturbed time from which on one side alone is named."""


DETECTOR = tk.Detector(
    needs=("Core ML", "GPU"),
    options=Options,
    causes=(tk.Cause.QUEUED_MODELS, tk.Cause.QUEUED_PROCESSES, tk.Cause.QUEUED_OWN),
    detect=detect,
)
