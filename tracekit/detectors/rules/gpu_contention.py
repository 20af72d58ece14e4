"""`gpu-contention`: predictions are slow while the GPU works for others, mostly drawing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

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


class Phases(NamedTuple):
    """The time of predictions on the GPU, from the first request or row to the last: shape (predictions,) each."""

    rows: pd.DataFrame
    """The predictions, none of which overlaps another one of the model or warms up."""
    times: tk.Intervals
    others_ns: tk.IntArray
    """Time in which the GPU worked for anybody else."""
    overlap_at_first: tk.FloatArray
    """That time as a share, at the beginning (`beginnings`)."""


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Compares predictions during which the GPU worked for others with those that had it for themselves."""
    gpu_work = _own_work(view)
    if not len(gpu_work[0]):
        return view.not_applicable("None of the recorded work ran on the GPU.")
    # Rows of the GPU that are not the model's.
    others = tk.is_any(view.trace.hardware["kind"], tk.Kind.GPU_EXEC)
    others[view.hardware.index.to_numpy()] = False
    return judge_groups(
        view, lambda chosen: _judge_calls(view, _phases(view, gpu_work, others, chosen), others, options)
    )


def _judge_calls(view: tk.ModelView, phases: Phases, others: tk.BoolArray, options: Options) -> tk.Outcome:
    """The answer for predictions that compare with each other."""
    overlap = phases.others_ns / np.maximum(phases.times.durations, 1)
    contention = Contention(view, options, _WORDS)
    met = contention.split(phases.rows, overlap)
    if not isinstance(met, Met):
        return met
    others_ns, extra_ns = phases.others_ns[met.disturbed], met.extra_ns[met.disturbed]
    explained = float(np.median(np.minimum(others_ns / np.maximum(extra_ns, 1), 1)))
    metrics = contention.slowdown(met, explained, lambda: _length_note(phases, options))
    if isinstance(metrics, tk.Passed):
        return metrics
    affected = _times(view, others).intersection(phases.times.where(met.disturbed))
    filled = np.minimum(met.extra_ns, phases.others_ns)
    return contention.finding(met, metrics, filled, affected, _WORDS.did, _whose(view, others, affected))


_WORDS = ContentionWords(
    unit="GPU",
    did="the GPU did other work",
    does="the GPU does other work",
    part="their GPU time",
    apart="Record longer, with phases in which the app draws and phases in which it does not.",
)


def _length_note(phases: Phases, options: Options) -> str:
    """Says so where predictions that meet others at the beginning, where length makes no difference, are not longer by
    more than chance; empty where they are, and where these are too few to compare."""
    met, calm = phases.overlap_at_first >= options.overlap_share, phases.overlap_at_first <= options.calm_share
    if min(int(met.sum()), int(calm.sum())) < options.min_compared:
        return ""
    durations = phases.rows["duration_ns"].to_numpy()
    return "" if surely_longer(durations, met, calm) else "only because long predictions are more likely to meet it"


def _own_work(view: tk.ModelView) -> tuple[tk.IndexArray, tk.Intervals]:
    """Rows that show when the GPU was asked or worked for a prediction of the model: position of that prediction among
    those of the model, and when, shape (rows,) each."""
    parts = [
        (frame, tk.is_any(frame["kind"], kind))
        for frame, kind in ((view.hardware, tk.Kind.GPU_EXEC), (view.compute, tk.Kind.GPU_REQUEST))
    ]
    times = tk.Intervals.none().joined(*(tk.Intervals.from_rows(frame).where(rows) for frame, rows in parts))
    called = [tk.or_minus_one(frame["prediction"])[rows] for frame, rows in parts]
    prediction_index = view.predictions.index.get_indexer(pd.Index(np.concatenate(called)))
    known = prediction_index >= 0
    return prediction_index[known], times.where(known)


def _phases(
    view: tk.ModelView, gpu_work: tuple[tk.IndexArray, tk.Intervals], others: tk.BoolArray, chosen: tk.BoolArray
) -> Phases:
    """Of the comparable ones among the `chosen` predictions."""
    spans = spans_of(len(view.predictions), *gpu_work)
    predicted = tk.Intervals.from_rows(view.predictions)
    comparable = (spans.ends > spans.starts) & predicted.alone() & (predicted.durations > 0) & view.warm & chosen
    times = spans.where(comparable)
    first = beginnings(times)
    working = _times(view, others).covered_time()
    others_ns, at_first = (working.within(spans.starts, spans.ends) for spans in (times, first))
    return Phases(
        tk.rows_where(view.predictions, comparable), times, others_ns, at_first / np.maximum(first.durations, 1)
    )


def _times(view: tk.ModelView, chosen: tk.BoolArray) -> tk.Intervals:
    """When the chosen hardware rows of the trace were active."""
    return tk.Intervals.from_rows(view.trace.hardware).where(chosen)


def _whose(view: tk.ModelView, others: tk.BoolArray, affected: tk.Intervals) -> str:
    """Sentence for whose work that was, as far as rows name it."""
    hardware = view.trace.hardware
    foreign = tk.is_any(hardware["attribution"], tk.Attribution.FOREIGN)
    own_app = others & ~foreign & hardware["process"].notna().to_numpy(dtype=bool)
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


DETECTOR = tk.Detector(needs=("Core ML", "GPU"), options=Options, detect=detect)
