"""The numbers that a page shows first: latency, loads, pace, where the time goes, and what fixes would save."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tracekit.analysis.breakdown.summary import GROUPS
from tracekit.analysis.models import ModelSummary
from tracekit.characters import visible
from tracekit.documents import phases
from tracekit.documents.pictures import parts_bar
from tracekit.documents.report_findings import each_words
from tracekit.documents.report_models import median, median_ns
from tracekit.documents.time_breakdown import PartsRow, Slice, parts_rows
from tracekit.grouping import grouped
from tracekit.render.blocks import Figure
from tracekit.render.markup import Html, tag
from tracekit.report.formatting import duration
from tracekit.report.operations import REQUEST_TITLES, request_number, request_value
from tracekit.report.report import Report
from tracekit.trace.events import Level
from tracekit.units import format_count, format_estimate, format_rate, format_time

OF_REQUESTS = ("first_token_p50_ns", "generation_tokens_per_second", "context_tokens", "tool_share")
"""Numbers of a language model that have a tile."""


def tiles(report: Report) -> Figure | None:
    """A tile for each number that is known, of all models that the app called: from the least to the largest."""
    models = [model for model in report.models if model.level == Level.TOP]
    parts = [tile for tile in _tiles(report, models) if tile]
    return Figure(tag("dl", *parts, class_="tiles")) if parts else None


def _tiles(report: Report, models: Sequence[ModelSummary]) -> Iterator[Html | None]:
    timed = [
        (visible(operation.name), operation.statistics) for operation in report.operations if operation.statistics
    ][:1]
    # Those of a language model have tiles below.
    others = [
        runtime for runtime in report.runtimes if runtime.name not in {asked.runtime for asked in report.requests}
    ]
    asks = [(other.name, phase) for other in others for phase in other.phases if phase.phase == "request"]
    for name, statistics in (*timed, *((f"{name} request", phase.statistics) for name, phase in asks)):
        if statistics:
            yield _tile(name, duration(statistics.p50_ns), f"median; {format_count(statistics.count, 'time')}")
    predicting = [model for model in models if model.prediction is not None]
    whose = visible(predicting[0].name) if len(predicting) == 1 else format_count(len(predicting), "model")
    predictions = format_count(sum(model.prediction.count for model in predicting if model.prediction), "prediction")
    if not any(map(_per_second, predicting)):
        whose += f", {predictions}"
    loads = [model.load for model in models if model.load is not None and model.load.count]
    yield _tile("median latency", _range(predicting, median, median_ns), whose, "p50_ns")
    yield _tile("p95 latency", _range(predicting, _p95, lambda model: model.quantities.get("p95_ns")), whose, "p95_ns")
    if count := sum(load.count for load in loads):
        total = sum(load.total_ns for load in loads)
        each = f", {format_time(total / count)} each" if count > 1 else ""
        yield _tile("load time", format_time(total), format_count(count, "load") + each)
    rates = _range(predicting, lambda model: format_rate(_per_second(model) or 0, ""), _per_second)
    yield _tile("predictions per second", rates, f"while active; {predictions}")
    yield _units(predicting)
    for asked in report.requests:
        note = visible(asked.name) if len(report.requests) > 1 else format_count(asked.requests, "request")
        for name in (name for name in OF_REQUESTS if request_value(asked, name) is not None):
            unit = "tokens; " if name == "context_tokens" else ""
            yield _tile(REQUEST_TITLES[name], request_number(asked, name), f"{unit}{note}")
    if saved := report.summary.savings_ns:
        words = format_count(len({finding.id for finding in report.findings}), "finding")
        yield _tile("est. savings", f"up to {format_estimate(saved)}", f"of all fixes; {words}")
    elif len(saving := [check for check in report.results if check.cost or check.saved]) == 1:
        savings = saving[0].saved
        parts = [savings.each] if savings and savings.each and not savings.once else []
        amount, what, share = each_words(parts, saving[0].resolution_ns)
        yield _tile("est. savings", amount and f"up to {amount}", f"{what} {share}".rstrip())


def _tile(title: str, value: str, note: str | Html, quantity: str = "") -> Html | None:
    """One number with what it is of; None where it is not known."""
    if not value:
        return None
    return tag("div", tag("dt", title), tag("dd", value, data_quantity=quantity or None), tag("dd", note, class_="dim"))


def _range(
    models: Sequence[ModelSummary], words: Callable[[ModelSummary], str], of: Callable[[ModelSummary], float | None]
) -> str:
    """A number of the models that have it, from the least to the largest; empty where none has."""
    texts = sorted((value, words(model)) for model in models if (value := of(model)) is not None)
    if not texts:
        return ""
    low, high = texts[0][1], texts[-1][1]
    unit = f" {high.partition(' ')[2]}"
    return high if low == high else f"{low.removesuffix(unit)}–{high}"


def _per_second(model: ModelSummary) -> float | None:
    return model.throughput.per_second if model.throughput is not None else None


def _p95(model: ModelSummary) -> str:
    return duration(model.quantities.get("p95_ns"), model.resolution_ns)


def _units(models: Sequence[ModelSummary]) -> Html | None:
    """Where the time of all their predictions goes together."""
    rows = parts_rows(model for model in models if not model.phases)
    if not rows:
        headlines = [words for model in models if (words := phases.headline(model))]
        lines = headlines[0].split(", ") if len(headlines) == len(models) == 1 else ()
        return tag("div", tag("dt", "per prediction"), *(tag("dd", line) for line in lines)) if lines else None
    counts = {model.name: model.prediction.count for model in models if model.prediction is not None}
    total = sum(row.mean_ns * counts[row.name] for row in rows)
    parts = grouped((part.group, (part, part.mean_ns * counts[row.name])) for row in rows for part in row.slices)
    slices = []
    for group in filter(parts.__contains__, GROUPS):
        time_ns = sum(ns for _, ns in parts[group])
        slices.append(Slice(group, time_ns, time_ns / total, any(part.incomplete for part, _ in parts[group])))
    words = PartsRow("", total, tuple(slices), (), {}).headline
    return tag(
        "div", tag("dt", "where the time goes"), tag("dd", parts_bar("where the time goes", slices)), tag("dd", words)
    )
