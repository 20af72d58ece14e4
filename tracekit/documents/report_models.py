"""What a report says of models: latencies, where the time of a prediction goes, how predictions follow each other, and
what the files of the models say."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tracekit.analysis.breakdown.partition import Part
from tracekit.analysis.quantities import MODEL, mean_id
from tracekit.render.blocks import (
    Column,
    Entries,
    Entry,
    Figure,
    Paragraph,
    Role,
    Span,
    items,
    present,
    section,
    table,
)
from tracekit.report import formatting, over_time
from tracekit.report.formatting import ABSENT, ABSENT_NOTE
from tracekit.report.model_file_words import TITLE as TITLE_OF_FILES
from tracekit.report.model_file_words import file_rows
from tracekit.report.time_breakdown import (
    MEANINGS,
    TITLE,
    each_first,
    fast_enough,
    is_inferred,
    parts_notes,
    parts_row,
    parts_rows,
    shown_groups,
)
from tracekit.trace.events import DEVICE_NAMES
from tracekit.units import format_count, format_time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tracekit.analysis.models import ModelSummary
    from tracekit.render.blocks import Block, Line, Section
    from tracekit.report.model_file_words import FileRow
    from tracekit.report.report import Report
    from tracekit.report.time_breakdown import Group, PartsRow

MODELS = 10
"""Models, and files of models, in the short text."""
BAR = 20
"""Cells of a bar in text: 5% each."""
LEGEND = "█▓ compute units, ▒ data, ░ rest"
_COMPUTE = frozenset(DEVICE_NAMES.values())


def models_section(models: Sequence[ModelSummary]) -> Section | None:
    """Median and p95 of each model that the app called, and where the time of its predictions goes."""
    known = [model for model in models if _is_called(model) and not is_inferred(model)]
    if not known:
        return None
    columns: tuple[Column[ModelSummary], ...] = (
        Column("model", lambda model: Span(model.name, Role.CODE), words=True),
        Column("predictions", _predictions, lambda model: model.predictions, long=True, quantity="predictions"),
        _latency("p50_ns", 0),
        _latency("p95_ns", 2),
        _frames("fps", "fps", 4),
        Column("where the time goes", _where_time_goes, words=True, drop=3),
        Column("mostly", _headline, words=True),
    )
    broken_down = parts_rows(known)
    return section(
        "Models",
        table("Models", columns, known, brief=MODELS),
        _legend(shown_groups(broken_down)) if broken_down else None,
        Paragraph(pace(known[0]), Role.DIM) if len(known) == 1 else None,
        items((*each_first(known), *_meanings(broken_down)), role=Role.DIM),
        name="models",
    )


def _is_called(model: ModelSummary) -> bool:
    return model.level == "top" and model.prediction is not None


def _predictions(model: ModelSummary) -> str:
    return formatting.count(model.predictions)


def _frames(title: str, name: str, drop: int) -> Column[Any]:
    def value(row: ModelSummary | PartsRow) -> float | None:
        return row.quantities.get(name)

    return Column(title, lambda row: formatting.frames(value(row)), value, drop=drop, quantity=name)


def _latency(name: str, drop: int) -> Column[ModelSummary]:
    def value(model: ModelSummary) -> float | None:
        return model.quantities.get(name)

    return Column(MODEL[name].title, lambda model: formatting.duration(value(model)), value, drop=drop, quantity=name)


def _where_time_goes(model: ModelSummary) -> Line:
    """A bar of the parts of a prediction."""
    if model.breakdown is None or not model.breakdown.total_ns:
        return ""
    row = parts_row(model.name, model.breakdown)
    return Span(_bar(row), picture=partial(_picture, row))


def _headline(model: ModelSummary) -> str:
    """The large parts in words."""
    if model.breakdown is None or not model.breakdown.total_ns:
        return ABSENT
    return parts_row(model.name, model.breakdown).headline


def _bar(row: PartsRow) -> str:
    """Its parts in cells: full for the compute unit that takes most, then other units, data, and the rest."""
    units = [part for part in row.slices if part.group.name in _COMPUTE]
    most = max(units, key=lambda part: part.share, default=None)
    cells, done, share = "", 0, 0.0
    for part in sorted(row.slices, key=lambda part: part is not most):
        share += part.share
        is_unit = part.group.name in _COMPUTE
        sign = "█" if part is most else "▓" if is_unit else "▒" if part.group.name == "data" else "░"
        cells += sign * (round(share * BAR) - done)
        done = round(share * BAR)
    return cells


def _picture(row: PartsRow) -> str:
    from tracekit.documents.pictures import parts_bar

    return parts_bar(row.slices, row.headline)


def _legend(groups: Sequence[Group]) -> Figure:
    from tracekit.documents.pictures import parts_legend

    return Figure(parts_legend(groups), text=LEGEND)


def _meanings(rows: Sequence[PartsRow]) -> tuple[str, ...]:
    """What the large parts of a prediction mean whose names do not say it."""
    large = {kind for row in rows for part in row.large for kind in part.group.parts}
    return tuple(MEANINGS[kind] for kind in (Part.AMBIGUOUS, Part.OTHER) if kind in large)


def pace(model: ModelSummary) -> str:
    """How often it predicts, how many at once, and which frame rate it allows."""
    parts = [format_count(model.prediction.count, "prediction")] if model.prediction else []
    if model.throughput is not None and model.throughput.per_second is not None:
        rate = model.throughput.per_second
        parts.append(f"{rate:,.0f}/s while active" if rate >= 10 else f"{rate:.1f}/s while active")
    if model.in_flight is not None:
        max_in_flight = model.in_flight.max
        parts.append("never concurrent" if max_in_flight == 1 else f"up to {max_in_flight} in flight")
    serves, alone = fast_enough(model.quantities), model.quantities.get("alone_fps")
    if serves and alone is not None and model.in_flight is not None and model.in_flight.max > 1:
        serves += f", {formatting.frames(alone)} fps if run one at a time"
    return "; ".join(filter(None, (", ".join(parts), serves)))


def hardware_section(models: Sequence[ModelSummary]) -> Section | None:
    """What hardware rows show of models of which Core ML recorded nothing."""
    inferred = [model for model in models if _is_called(model) and is_inferred(model)]
    columns: tuple[Column[ModelSummary], ...] = (
        Column("model", lambda model: Span(model.name, Role.CODE), words=True),
        Column("predictions", _predictions, lambda model: model.predictions),
        Column("median at least", lambda model: formatting.duration(_median(model)), _median),
        Column("every", lambda model: formatting.duration(_interval(model)), _interval, drop=1),
        Column("busy per prediction", _busy, words=True),
    )
    return section(
        "Inferred from hardware",
        table("Inferred from hardware", columns, inferred, brief=MODELS),
        note="lower bounds; Core ML's and the CPU's share is not visible",
        name="hardware",
    )


def _median(model: ModelSummary) -> float | None:
    return model.prediction.p50_ns if model.prediction else None


def _interval(model: ModelSummary) -> float | None:
    return model.throughput.interval_ns if model.throughput else None


def _busy(model: ModelSummary) -> str:
    """How long each compute unit worked for a prediction."""
    if model.breakdown is None or not model.breakdown.total_ns:
        return ABSENT
    slices = parts_row(model.name, model.breakdown).slices
    units = [f"{part.group.name} {format_time(part.mean_ns)}" for part in slices if part.group.name in _COMPUTE]
    return ", ".join(units) or ABSENT


def files_section(report: Report) -> Section | None:
    """What the files of the models say, a paragraph each; then their facts."""
    rows = file_rows(report)
    cards = Entries(tuple(Entry(Span(row.model, Role.CODE), row.card) for row in rows if row.card))
    facts = section("Facts of the files", cards if cards.entries else None, folded=True)
    return section(TITLE_OF_FILES, *map(_file, rows[:MODELS]), *map(_more_file, rows[MODELS:]), facts, name="files")


def _file(row: FileRow, brief: int | None = None) -> Paragraph:
    sentences = "".join(f" {words}" for words in row.sentences)
    return Paragraph((Span(row.model, Role.CODE), f"  {row.facts}.{sentences}"), brief=brief)


def _more_file(row: FileRow) -> Paragraph:
    return _file(row, 0)


def time_section(models: Sequence[ModelSummary]) -> Section | None:
    """Time and share of every part of a prediction, per model."""
    rows = parts_rows(models)
    columns: tuple[Column[PartsRow], ...] = (
        Column("model", lambda row: Span(row.name, Role.CODE), words=True),
        Column("mean of all", lambda row: format_time(row.mean_ns), lambda row: row.mean_ns, quantity=mean_id("")),
        *map(_part, shown_groups(rows)),
        _frames("fps", "fps", 1),
        _frames("fps at p95", "fps_at_p95", 1),
    )
    grid = table(TITLE, columns, rows, parts=True)
    return section(TITLE, grid, items(parts_notes(rows), role=Role.DIM), folded=True) if grid else None


def _part(group: Group) -> Column[PartsRow]:
    def words(row: PartsRow) -> str:
        return next((part.words for part in row.slices if part.group == group), ABSENT)

    def mean(row: PartsRow) -> float | None:
        return next((part.mean_ns for part in row.slices if part.group == group), None)

    return Column(group.name, words, mean, quantity=mean_id(group.part))


def over_time_section(models: Sequence[ModelSummary]) -> Section | None:
    """How predictions follow each other, and how their latency runs."""
    rows = [model for model in models if model.throughput is not None and model.throughput.per_second is not None]
    name: Column[ModelSummary] = Column("model", lambda model: Span(model.name, Role.CODE), words=True)
    numbers = [_number(title, text) for title, text in over_time.NUMBERS.items()]
    filled = [column for column in numbers if any(column.text(model) not in ("", ABSENT) for model in rows)]
    absent = any(column.text(model) == ABSENT for model in rows for column in filled)
    trends = [(model, over_time.trend(model)) for model in rows]
    lines: list[Line] = [(Span(model.name, Role.CODE), f": {words}") for model, words in trends if words]
    blocks: tuple[Block, ...] = present(
        (
            table(over_time.TITLE, (name, *filled), rows, parts=True),
            items(lines),
            items((over_time.NOTE,), role=Role.DIM),
            Paragraph(ABSENT_NOTE, Role.DIM) if absent else None,
        )
    )
    return section(over_time.TITLE, *blocks, folded=True) if rows else None


def _number(title: str, text: Callable[[ModelSummary], str]) -> Column[ModelSummary]:
    quantity = over_time.QUANTITIES.get(title, "")
    return Column(title, text, lambda model: model.quantities.get(quantity), quantity=quantity)
