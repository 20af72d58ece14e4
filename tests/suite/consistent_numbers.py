"""The numbers of a report allow each other, and allow no more than its rows do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from suite.reported import Reported, about
from tracekit.analysis.statistics import Statistics
from tracekit.trace.events import Kind

TOLERANCE = 1e-6
"""Of sums of floats."""


def statistics(reported: Reported) -> Iterator[str]:
    """Percentiles stand in order, and sums, means and elapsed times agree."""
    for where, numbers in _all_statistics(reported.report, ""):
        known = [numbers.p50_ns, numbers.p90_ns, numbers.p95_ns, numbers.p99_ns]
        ordered = [numbers.min_ns, *(value for value in known if value is not None), numbers.max_ns]
        if any(low > high for low, high in pairwise(ordered)):
            yield f"{where}: {ordered} is not in order"
        if not numbers.min_ns <= numbers.mean_ns * (1 + TOLERANCE) or numbers.mean_ns > numbers.max_ns + 1:
            yield f"{where}: mean {numbers.mean_ns} is outside of {numbers.min_ns} to {numbers.max_ns}"
        if abs(numbers.mean_ns * numbers.count - numbers.total_ns) > TOLERANCE * numbers.total_ns + 1:
            yield f"{where}: mean times count is not the sum"
        if not numbers.max_ns <= numbers.elapsed_ns <= numbers.total_ns:
            yield f"{where}: {numbers.elapsed_ns} ns elapsed of {numbers.total_ns} ns, longest {numbers.max_ns}"


def _all_statistics(part: Any, where: str) -> Iterator[tuple[str, Statistics]]:
    if isinstance(part, Statistics):
        yield where, part
    elif is_dataclass(part):
        name = getattr(part, "name", None) or getattr(part, "label", "")
        for field in fields(part):
            yield from _all_statistics(getattr(part, field.name), f"{where} {name} {field.name}".strip())
    elif isinstance(part, tuple):
        for entry in part:
            yield from _all_statistics(entry, where)


def counts(reported: Reported) -> Iterator[str]:
    """Loads and predictions are as many wherever they are counted."""
    report = reported.report
    for model in report.models:
        if model.prediction is not None and model.predictions != model.prediction.count:
            yield f"{model.name}: {model.predictions} predictions, statistics of {model.prediction.count}"
        if model.load is not None and model.loads != model.load.count:
            yield f"{model.name}: {model.loads} loads, statistics of {model.load.count}"
        if model.cold_loads is not None and model.cold_loads > (model.loads or 0):
            yield f"{model.name}: {model.cold_loads} cold of {model.loads} loads"
        if model.latency is not None:
            parts = [part.count for part in (model.latency.warm, model.latency.cold) if part is not None]
            if sum(parts) != model.predictions:
                yield f"{model.name}: {parts} warm and first of {model.predictions} predictions"
        rows = [row for row in report.aggregation if (row.model, row.level) == (model.name, model.level)]
        recorded = sum(row.statistics.count for row in rows if row.kind == Kind.PREDICTION)
        if recorded != (model.predictions or 0):
            yield f"{model.name}: {model.predictions} predictions, {recorded} in the events"
        if model.breakdown is not None and model.breakdown.predictions != model.predictions:
            yield f"{model.name}: a breakdown of {model.breakdown.predictions} of {model.predictions} predictions"


def rates(reported: Reported) -> Iterator[str]:
    """No rate is higher than predictions can follow each other: no more than those in flight together, by the time in
    which any of them is."""
    for model in reported.report.models:
        times = model.throughput
        if times is None:
            continue
        if not 0 <= times.gap_ns <= times.span_ns or times.predictions > (model.predictions or 0):
            yield f"{model.name}: {times}"
        if times.per_second is None:
            continue
        calls = reported.calls(model.name)
        groups = calls.union()
        if not len(groups):
            continue
        of_call = np.searchsorted(groups.starts, calls.starts, side="right") - 1
        fastest = float((np.bincount(of_call, minlength=len(groups)) / groups.durations).max() * 1e9)
        if times.per_second > fastest * (1 + TOLERANCE):
            yield f"{model.name}: {times.per_second:,.1f}/s, rows allow {fastest:,.1f}/s"
        active = times.span_ns - times.gap_ns
        if active and times.per_second * active / 1e9 > times.predictions * (1 + TOLERANCE):
            yield (
                f"{model.name}: {times.per_second:,.1f}/s, but {times.predictions} predictions take "
                f"{active / 1e6:,.1f} ms in flight"
            )
        if model.in_flight is not None and not 1 <= model.in_flight.mean <= model.in_flight.max * (1 + TOLERANCE):
            yield f"{model.name}: {model.in_flight.mean} in flight on average, at most {model.in_flight.max}"


def shares(reported: Reported) -> Iterator[str]:
    """Every share is one, and those of a model's time add up to 100% at most."""
    report = reported.report
    for model in report.models:
        if model.breakdown is None:
            continue
        parts = [part.share for part in model.breakdown.parts if part.share is not None]
        if any(not 0 <= share <= 1 + TOLERANCE for share in parts) or sum(parts) > 1 + TOLERANCE:
            yield f"{model.name}: parts of its predictions are {parts}, together {sum(parts)}"
        if sum(part.total_ns or 0 for part in model.breakdown.parts) > model.breakdown.total_ns:
            yield f"{model.name}: parts of its predictions are longer than these"
    for check in report.results:
        for metric in check.metrics:
            if metric.unit == "share" and metric.value is not None and not 0 <= metric.value <= 1 + TOLERANCE:
                yield f"{about(check)}: {metric.name} is {metric.value}"
        for percent in re.findall(r"(\d[\d,.]*)\s?%", check.summary):
            if float(percent.replace(",", "")) > 100:
                yield f"{about(check)} says {percent}%: {check.summary}"
