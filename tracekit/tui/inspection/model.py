"""About a model: all facts that the report has of it; about a row of the aggregation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from tracekit.analysis.aggregation import SORT_COLUMNS
from tracekit.report.formatting import ABSENT, count, duration, visible, word_list
from tracekit.report.model_file_words import file_rows
from tracekit.report.phases import phase_rows
from tracekit.report.time_breakdown import fast_enough, parts_notes, parts_rows
from tracekit.trace.events import Level
from tracekit.tui.inspection.blocks import bar_text, facts, heading, section, slices
from tracekit.tui.inspection.histogram import histogram_blocks
from tracekit.tui.ranges import durations_of_model, durations_of_row

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tracekit.analysis.models import ModelSummary
    from tracekit.analysis.statistics import Statistics
    from tracekit.report.report import Report
    from tracekit.tui.state import RowRef, Session, State
    from tracekit.tui.theme import Palette

SHARES = 16
"""Cells for a time and its share."""


def model_blocks(session: Session, name: str, palette: Palette, *, monochrome: bool) -> Iterator[RenderableType]:
    """About a model of the report; nothing while there is no report."""
    model = next((entry for entry in (session.report.models if session.report else ()) if entry.name == name), None)
    if model is None:
        return
    yield from section(model.name, _facts(model))
    if session.report is not None:
        yield from _file_blocks(session.report, name)
    yield from histogram_blocks(durations_of_model(session, name), "all predictions", model.resolution_ns)
    latency = model.latency
    for title, numbers in (
        ("Loads", model.load),
        ("All predictions", model.prediction),
        ("Warm predictions", latency.warm if latency is not None else None),
        ("First predictions after a load", latency.cold if latency is not None else None),
    ):
        if numbers is not None:
            yield from section(title, numbers_of(numbers, model.resolution_ns))
    for calls in model.phases:
        yield heading(f"Where the time of a {calls.kind} goes")
        yield facts(((row.share_words, row.words) for row in phase_rows([model]) if row.calls is calls), SHARES)
    rows = parts_rows([] if model.phases else [model])
    for row in rows:
        yield heading("Where a prediction's time goes")
        yield bar_text(row.bar, palette, monochrome=monochrome)
        yield slices(row)
    for note in parts_notes(rows):
        yield Text(f"\n{note}", "dim")


def _file_blocks(report: Report, name: str) -> Iterator[RenderableType]:
    """What the model's file says of it; nothing where none is known."""
    for row in file_rows(report):
        if row.model == name:
            yield heading("Model file" if row.card else "Performance report")
            yield Text(visible(row.facts))
            for sentence in row.sentences:
                yield Text(visible(sentence))
            yield facts(row.card)
            yield ""


def _facts(model: ModelSummary) -> Iterator[tuple[str, str]]:
    if model.parents:
        also = "also a " if model.level == Level.TOP else ""
        yield "stage", f"{also}stage of {word_list(model.parents)}"
    yield "instances", count(model.instances)
    yield "loads", count(model.loads)
    yield "cold loads", count(model.cold_loads)
    yield "predictions", count(model.predictions)
    throughput, rate = model.throughput, fast_enough(model.quantities)
    if throughput is not None and throughput.per_second is not None:
        pace = f" (steady {throughput.steady_rate.fps} fps)" if throughput.steady_rate is not None else ""
        yield "rate", f"{throughput.per_second:,.1f} predictions/s{pace}"
    if rate:
        yield "latency", rate


def numbers_of(numbers: Statistics, resolution_ns: int) -> Iterator[tuple[str, str]]:
    """Statistics of durations as names and values, with the digits that are known."""
    yield "count", count(numbers.count)
    yield "sum", duration(numbers.total_ns, resolution_ns)
    if numbers.elapsed_ns != numbers.total_ns:
        yield "elapsed", duration(numbers.elapsed_ns, resolution_ns)
    for name in ("mean", "min", "median", "p90", "p95", "p99", "max", "stdev"):
        yield name, duration(getattr(numbers, SORT_COLUMNS[name]), resolution_ns)


def row_blocks(state: State, ref: RowRef) -> Iterator[RenderableType]:
    """A row, of what range and filter let through."""
    row = ref.source
    numbers = row.warm if ref.warm else row.statistics
    known = [("lane", row.lane), ("model", row.model or ABSENT)]
    known += [("process", row.process)] if row.process is not None else []
    known += [("warm", "excludes the first prediction after each load")] if ref.warm else []
    yield from section(row.label, [*known, ("keys", "enter lists the events")])
    if numbers is not None:
        yield from histogram_blocks(durations_of_row(state, ref), "these events", row.resolution_ns)
        yield facts(numbers_of(numbers, row.resolution_ns))
        yield ""
