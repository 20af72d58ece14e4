"""`cpu-contention`: predictions are slow while another model of the app works on the CPU."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import tracekit.detectors as tk
from tracekit.detectors.shared.comparable_latency import judge_groups
from tracekit.detectors.shared.competing_work import time_by_model
from tracekit.detectors.shared.contention import Contention, ContentionWords, Met, beginnings, spans_of, surely_longer
from tracekit.detectors.shared.options import ContentionOptions


class Options(ContentionOptions):
    overlap_share: float = tk.option(
        0.2, "share of a prediction's CPU work", "A shorter overlap costs less than the usual spread of latencies."
    )
    calm_share: float = tk.option(
        0.05, "share of a prediction's CPU work", "Heuristic: so little overlap has no measurable effect."
    )
    cpu_share: float = tk.option(
        0.2,
        "share of a prediction's time",
        "Two models that share a core double their CPU work. With less of it, a prediction slows down by "
        "less than `slowdown`.",
    )


class Others(NamedTuple):
    """CPU work of other models: shape (rows,) each."""

    times: tk.Intervals
    model: tk.Texts


class Calls(NamedTuple):
    """Predictions with CPU work that can be compared: shape (predictions,) each."""

    rows: tk.Calls
    """None overlaps another one of the model, or is the first after a load."""
    cpu_ns: tk.IntArray
    """Time with CPU work of the prediction."""
    at_risk_ns: tk.IntArray
    """Time that other CPU work can make longer: the CPU work, or all of a prediction of a model that uses no other
    compute unit, which may also wait for the CPU."""
    shared_ns: tk.IntArray
    """Part of it in which other models worked on the CPU."""
    overlap: tk.FloatArray
    """That part as a share, at the beginning (`beginnings`)."""


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Compares predictions during whose CPU work other models used the CPU with those that met none."""
    on_cpu = view.compute.kind.is_any(tk.Kind.CPU_COMPUTE) & view.compute.prediction.known
    if not on_cpu.any():
        return view.not_applicable("None of the recorded work ran on the CPU.")
    cpu_rows = view.compute.where(on_cpu)
    every = _cpu_work(view.trace)
    mine = np.isin(every, view.compute.id)
    if mine.all():
        return view.not_applicable(f"No other model of the app used the CPU. {_UNKNOWN}")
    computed, at = view.trace.compute, every[~mine]
    others = Others(tk.Intervals.from_rows(computed).where(at), computed.model.take(at))
    return judge_groups(view, lambda chosen: _judge_calls(view, cpu_rows, others, chosen, options))


def _judge_calls(
    view: tk.ModelView, cpu_rows: tk.Events, others: Others, chosen: tk.BoolArray, options: Options
) -> tk.Outcome:
    """The answer for the `chosen` predictions, which compare with each other."""
    calls = _calls(view, cpu_rows, others, chosen)
    part = float(np.median(calls.cpu_ns / calls.rows.duration_ns)) if len(calls.rows) else 1.0
    if part < options.cpu_share:
        words = f"CPU work is {tk.format_share(part)} of prediction time, too little to slow predictions down much."
        return view.not_applicable(words)
    contention = Contention(view, options, _WORDS)
    met = contention.split(calls.rows, calls.overlap)
    if not isinstance(met, Met):
        return met
    extra = met.extra_ns
    longer = np.maximum(calls.at_risk_ns - float(np.median(calls.at_risk_ns[met.calm])), 0)
    filled = np.minimum(np.minimum(longer, calls.shared_ns), extra)
    slow = met.disturbed & (extra > 0)
    explained = float(np.median((filled / np.maximum(extra, 1))[slow])) if slow.any() else 1.0

    def chance() -> str:
        longer = surely_longer(met.durations, met.disturbed, met.calm)
        return "" if longer else "latency varies so much that this may be chance"

    metrics = contention.slowdown(met, explained, chance)
    if isinstance(metrics, tk.Passed):
        return metrics
    rows = met.rows.where(met.disturbed)
    at_risk = cpu_rows.where(np.isin(cpu_rows.prediction.filled(), rows.id)) if _elsewhere(view) else rows
    affected = tk.Intervals.from_rows(at_risk).intersection(others.times)
    # The models that worked in the affected time, most time first.
    working = list(time_by_model(others.model, others.times, affected))
    names = tk.format_names(working, 2) if len(working) > 2 else " and ".join(working) or "other models"
    return contention.finding(met, metrics, filled, affected, f"{names} used the CPU")


_UNKNOWN = "CPU work of the app itself and of other processes is not recorded."
_WORDS = ContentionWords(
    unit="CPU",
    did="other models used the CPU",
    does="other models use the CPU",
    part="the beginning of their CPU work",
    apart="Record longer, with phases in which each model runs alone.",
    unknown=_UNKNOWN,
)


@tk.cached_by_trace
def _cpu_work(trace: tk.Trace) -> tk.IndexArray:
    """CPU work of all models of the app, as rows of the compute lane; found once per trace."""
    return np.flatnonzero(trace.compute.kind.is_any(tk.Kind.CPU_COMPUTE) & (trace.compute.duration_ns > 0))


def _calls(view: tk.ModelView, cpu_rows: tk.Events, others: Others, chosen: tk.BoolArray) -> Calls:
    """The comparable ones among the `chosen` predictions. O(n log n) in the predictions and CPU rows."""
    rows = view.predictions
    predicted, work = tk.Intervals.from_rows(rows), tk.Intervals.from_rows(cpu_rows)
    owner = tk.places_of(rows.id, cpu_rows.prediction.values)
    known = owner >= 0
    owner, linked = owner[known], work.where(known)
    worked = spans_of(len(rows), owner, linked)
    comparable = (worked.ends > worked.starts) & predicted.alone() & view.warm & chosen
    cpu_ns = tk.union_length_by_group(owner, linked.starts, linked.ends, len(rows))[comparable]
    if _elsewhere(view):
        at_risk, spans = work, worked.where(comparable)
    else:
        at_risk = spans = predicted.where(comparable)
    first = beginnings(spans)
    working = at_risk.covered_time()
    both = at_risk.intersection(others.times).covered_time()
    at_risk_ns, shared_ns = (covered.within(spans.starts, spans.ends) for covered in (working, both))
    overlap = both.within(first.starts, first.ends) / np.maximum(working.within(first.starts, first.ends), 1)
    return Calls(rows.where(comparable), cpu_ns, at_risk_ns, shared_ns, overlap)


def _elsewhere(view: tk.ModelView) -> bool:
    """Whether work of the model ran on the Neural Engine or the GPU, or was asked of them."""
    return bool(len(view.hardware) or view.compute.kind.is_any(tk.Kind.GPU_REQUEST, tk.Kind.ANE_REQUEST).any())


DETECTOR = tk.Detector(needs=("Core ML",), options=Options, causes=(tk.Cause.SHARED_CPU,), detect=detect)
