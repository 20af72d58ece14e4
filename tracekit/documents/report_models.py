"""What a report says of models: latencies, where the time of a prediction goes, loads, how predictions follow each
other, what is inferred where Core ML recorded no call, and what the files of the models say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from tracekit.analysis.breakdown.summary import Group
from tracekit.analysis.models import ModelSummary, is_hardware_alone, is_inferred
from tracekit.analysis.quantities import MODEL, mean_id
from tracekit.analysis.statistics import Statistics
from tracekit.analysis.where.verdict import UnitUse, Whereabouts, parts
from tracekit.analysis.where.words import compute_words, predictions_words, unit_name, where_words
from tracekit.documents import over_time, phases, time_breakdown
from tracekit.documents.columns import absent_note, durations, names, numbers, quantity, words
from tracekit.documents.model_file_words import TITLE as TITLE_OF_FILES, file_rows
from tracekit.documents.pictures import group_class, legend, parts_bar
from tracekit.documents.time_breakdown import PartsRow, Slice, parts_notes, parts_rows, shown_groups
from tracekit.documents.why import tail_words
from tracekit.grouping import grouped
from tracekit.render import blocks
from tracekit.render.blocks import Column, Figure, Line, Paragraph, Role, Section, Span, items, join, section, table
from tracekit.report import formatting
from tracekit.report.formatting import ABSENT, frames
from tracekit.report.report import Report, Result
from tracekit.report.why import known_tails
from tracekit.trace.events import DEVICE_NAMES, Level
from tracekit.units import format_count, format_percent, format_rate, format_time

MODELS = 10
BAR = 20
"""Cells of a bar in text: 5% each."""
LEGEND = {"█▓": "compute units", "▒": "data", "░": "rest"}
_COMPUTE = frozenset(DEVICE_NAMES.values())


def models_section(models: Sequence[ModelSummary], results: Sequence[Result] = ()) -> Section | None:
    """Median and p95 of models whose predictions Core ML recorded, where time goes, and what makes the p95."""
    called = (model for model in models if model.level == Level.TOP and not is_inferred(model))
    predicting = [model for model in called if model.prediction is not None]
    if not predicting:
        return None
    reloaded = any((model.loads or 0) > 1 for model in predicting)
    broken_down = parts_rows(predicting)
    bars = {row.name: Span(_bar(row), picture=partial(parts_bar, row.name, row.slices)) for row in broken_down}
    drawn = set("".join(bar.text for bar in bars.values()))
    headlines = {row.name: row.headline for row in broken_down}
    signs = {"".join(sign for sign in group if sign in drawn): name for group, name in LEGEND.items()}
    columns: tuple[Column[ModelSummary], ...] = (
        names("model", lambda model: model.name),
        numbers("loads", lambda model: model.loads if reloaded else None, drop=1, quantity="loads"),
        numbers("predictions", lambda model: model.predictions, long=True, quantity="predictions"),
        *(quantity(MODEL[name].title, name, drop=at and at + 1) for at, name in enumerate(time_breakdown.SHOWN)),
        quantity("fps", "fps", frames, drop=4),
        words(
            "where the time goes",
            lambda model: bars.get(model.name, ""),
            drop=3,
            legend=", ".join(f"{group} {name}" for group, name in signs.items() if group),
        ),
        words("share of time", lambda model: headlines.get(model.name, ABSENT)),
    )
    groups = shown_groups(broken_down)
    large = {part.group.part for row in broken_down for part in row.large}
    # What their names do not say.
    meanings = (time_breakdown.MEANINGS[name] for name in ("ambiguous", "other") if name in large)
    # What makes the p95 of each model, where that needs a reason and has one.
    tails: list[Line] = []
    for model, tail, finding in known_tails(predicting, results):
        p95 = Span(formatting.duration(model.quantities.get("p95_ns"), model.resolution_ns), quantity="p95_ns")
        link: Line = (" (", Span(finding.id, link=f"#finding-{finding.id}"), ")") if finding else ""
        slow = (Span(model.name, Role.CODE), ": p95 ", p95, f", {tail_words(tail, model.resolution_ns)}")
        tails.append(join((*slow, link), ""))
    return section(
        "Models",
        ran_on(models, inferred=False),
        table("Models", columns, predicting, brief=MODELS),
        Figure(legend({group_class(group): group.name for group in groups})) if groups else None,
        items(tails, brief=MODELS),
        Paragraph(pace(predicting[0]), Role.DIM) if len(predicting) == 1 else None,
        items((*time_breakdown.each_first(predicting), *meanings), role=Role.DIM),
        name="models",
    )


def ran_on(models: Sequence[ModelSummary], *, inferred: bool) -> blocks.Block | None:
    """Where each model of recorded or `inferred` calls ran, then each stage: a line each, or one for those that did
    alike."""
    groups: dict[str, list[tuple[Line, Whereabouts]]] = {}
    for model in sorted(models, key=lambda model: model.level == Level.SUB):
        of = f" (stage of {formatting.word_list(model.parents)})" if model.level == Level.SUB else ""
        for name, where in parts(model.name, model.where) if is_inferred(model) == inferred else ():
            every = f"{where.predictions:,} of {format_count(where.predictions, 'prediction')}"
            line = (Span(name, Role.CODE), of)
            groups.setdefault(where_words(where).replace(every, _EVERY), []).append((line, where))
    lines: list[Line] = []
    for said, group in groups.items():
        total = sum(where.predictions for _, where in group)
        every = f"all {total:,} predictions" if len(group) > 1 else f"{total:,} of {format_count(total, 'prediction')}"
        listed = join((line for line, _ in group), ", ")
        lines.append(join((listed, f": {said.replace(_EVERY, every)}"), ""))
    return items(lines, brief=MODELS)


def where_section(models: Sequence[ModelSummary]) -> Section | None:
    """What is known of each unit's work for each model, stages too, with what it rests on."""
    every = (part for model in models for part in parts(model.name, model.where))
    rows = [(name, where, use) for name, where in every for use in where.units]
    columns: tuple[Column[_Use], ...] = (
        names("model", lambda row: row[0]),
        words("unit", lambda row: unit_name(row[2])),
        words("answer", lambda row: row[2].answer),
        words("predictions", lambda row: predictions_words(row[1], row[2])),
        numbers("share\nof time", lambda row: row[2].share_of_time, format_percent),
        words("share of\ncompute", lambda row: compute_words(row[2])),
        numbers("rows", lambda row: row[2].rows, drop=2),
        numbers("rows of\nothers", lambda row: row[2].other_rows, drop=3),
        words("because of", lambda row: because(row[2]), drop=1),
    )
    # Models with the same answer share a line; their shares stand with their names above.
    lines: list[Line] = []
    for said, models_of in grouped(
        ((unit_name(use), str(use.answer), because(use)), name) for name, _, use in rows
    ).items():
        unit, answer, why = said
        named = "" if len(models_of) == len({name for name, *_ in rows}) else f" ({', '.join(models_of)})"
        lines.append((Span(f"{unit} {answer}", Role.STRONG), f"{named}: {why}"))
    title = "Where it ran"
    return section(title, table(title, columns, rows, instead=items(lines)), folded=True)


def because(use: UnitUse) -> str:
    """What an answer rests on."""
    return "; ".join(filter(None, (*use.evidence, use.why)))


_EVERY = "\0"
_Use = tuple[str, Whereabouts, UnitUse]


def _bar(row: PartsRow) -> str:
    """Its parts in cells: full for the compute unit that takes most, then other units, data, and the rest."""
    units = [part for part in row.slices if part.group.name in _COMPUTE]
    most = max(units, key=lambda part: part.share, default=None)
    cells, done, share = "", 0, 0.0
    for part in sorted(row.slices, key=lambda part: part is not most):
        share += part.share
        sign = "█" if part is most else "▓" if part in units else "▒" if part.group.name == "data" else "░"
        cells += sign * (round(share * BAR) - done)
        done = round(share * BAR)
    return cells


def pace(model: ModelSummary) -> str:
    """How often it predicts, how many at once, and which frame rate it allows."""
    parts = [format_count(model.prediction.count, "prediction")] if model.prediction else []
    if model.throughput is not None and model.throughput.per_second is not None:
        parts.append(f"{format_rate(model.throughput.per_second)} while active")
    most = model.in_flight.max if model.in_flight is not None else 0
    if most > 1:
        parts.append(f"up to {most} in flight")
    serves, alone = time_breakdown.fast_enough(model.quantities), model.quantities.get("alone_fps")
    if not serves and alone is not None:
        serves = f"one at a time fast enough for {frames(alone)} fps"
    return "; ".join(filter(None, (", ".join(parts), serves)))


def inferred_section(models: Sequence[ModelSummary]) -> Section | None:
    """Loads, predictions and median of each model, and what its predictions do; None without inferred calls."""
    inferred = [model for model in models if model.level == Level.TOP and is_inferred(model)]
    columns: tuple[Column[ModelSummary], ...] = (
        names("model", lambda model: model.name),
        words("calls", phases.calls_words),
        Column("median", median, median_ns, quantity="p50_ns"),
        quantity(MODEL["p95_ns"].title, "p95_ns", drop=1),
        words("per prediction", lambda model: phases.headline(model) or ABSENT, drop=2),
    )
    grid = table("Models", columns, inferred, brief=MODELS)
    only = inferred[0] if len(inferred) == 1 else None
    lines = items(phases.phase_lines(only)) if only else None
    about = Paragraph(pace(only), Role.DIM) if only and only.in_flight else None
    ran, note = ran_on(models, inferred=True), "inferred: at least these calls"
    return section("Models", ran, grid, lines, about, note=note, name="models")


def median(model: ModelSummary) -> str:
    """A lower bound where only the hardware shows the predictions."""
    bound = time_breakdown.AT_LEAST if is_hardware_alone(model) else ""
    return f"{bound}{formatting.duration(ns, model.resolution_ns)}" if (ns := median_ns(model)) else ABSENT


def median_ns(model: ModelSummary) -> float | None:
    """The median latency; of all predictions where only the hardware shows them."""
    if is_hardware_alone(model):
        return model.prediction.p50_ns if model.prediction else None
    return model.quantities.get("p50_ns")


def phases_section(models: Sequence[ModelSummary]) -> Section | None:
    """Where the time of each model's loads and predictions went; None where no call stack shows it."""

    def mean(row: phases.PhaseRow) -> Span:
        return Span(formatting.duration(row.mean_ns, row.resolution_ns), quantity=row.quantity)

    columns: tuple[Column[phases.PhaseRow], ...] = (
        names("model", lambda row: row.model),
        words("call", lambda row: row.calls.kind),
        numbers("calls", lambda row: row.calls.calls),
        words("phase", lambda row: row.words),
        Column("mean per call", mean, lambda row: row.mean_ns),
        numbers("share", lambda row: row.share, format_percent),
    )
    grid = table(phases.TITLE, columns, phases.phase_rows(models))
    return section(phases.TITLE, grid, items(phases.NOTES if grid else (), role=Role.DIM), folded=True)


def files_section(report: Report) -> Section | None:
    """What the files of the models say, a paragraph each; then their facts."""
    rows = file_rows(report)
    lines = ((Span(row.model, Role.CODE), f"  {' '.join((f'{row.facts}.', *row.sentences))}") for row in rows)
    files = (Paragraph(line, brief=0 if at >= MODELS else None) for at, line in enumerate(lines))
    cards = items(blocks.Entry(Span(row.model, Role.CODE), row.card) for row in rows if row.card)
    return section(TITLE_OF_FILES, *files, section("Facts of the files", cards, folded=True), name="files")


def time_section(models: Sequence[ModelSummary]) -> Section | None:
    """Time and share of every part of a prediction, per model."""
    rows = parts_rows(model for model in models if not model.phases)
    columns: tuple[Column[PartsRow], ...] = (
        names("model", lambda row: row.name),
        numbers("mean of all", lambda row: row.mean_ns, format_time, quantity=mean_id("")),
        *map(_part, shown_groups(rows)),
        quantity("fps", "fps", frames, drop=1),
        quantity("fps at p95", "fps_at_p95", frames, drop=1),
    )
    grid = table(time_breakdown.TITLE, columns, rows, parts=True)
    notes = items(parts_notes(rows), role=Role.DIM)
    return section(time_breakdown.TITLE, grid, notes, absent_note(grid), folded=True)


def _part(group: Group) -> Column[PartsRow]:
    def of(row: PartsRow) -> Slice | None:
        return next((part for part in row.slices if part.group == group), None)

    def value(row: PartsRow) -> float | None:
        return part.mean_ns if (part := of(row)) else None

    def text(row: PartsRow) -> str:
        is_unknown = any(part.unknown for part in row.parts if part.part in group.parts)
        return part.words if (part := of(row)) else ABSENT if is_unknown else "none"

    return Column(group.name, text, value, quantity=mean_id(group.part))


@dataclass(frozen=True, slots=True)
class LatencyRow:
    """A model, and statistics of its warm predictions, or of all where none is warm."""

    model: ModelSummary
    statistics: Statistics | None

    @property
    def resolution_ns(self) -> int:
        """How exactly its calls are known."""
        return self.model.resolution_ns

    @property
    def name(self) -> str:
        """Its name, and what it is a stage of."""
        # The numbers of a model that the app calls as well are those of these calls.
        also = "also " if self.model.level == Level.TOP else ""
        stage = f" ({also}stage of {formatting.word_list(self.model.parents)})" if self.model.parents else ""
        return f"{self.model.name}{stage}"


def latency_section(models: Sequence[ModelSummary]) -> Section | None:
    """Loads of each model, and quantiles of its predictions; None without models."""
    rows = [LatencyRow(model, (model.latency and model.latency.warm) or model.prediction) for model in models]

    def of(name: str, drop: int = 0) -> Column[LatencyRow]:
        title = "median" if name == "p50" else name
        return durations(title, lambda row: getattr(row.statistics, f"{name}_ns", None), drop=drop)

    columns: tuple[Column[LatencyRow], ...] = (
        words("model", lambda row: row.name),
        # Where nothing shows loads, none of them does not mean that none happened.
        numbers("loads", lambda row: row.model.loads, drop=4),
        numbers("cold", lambda row: row.model.cold_loads, drop=6),
        durations("load, mean", lambda row: row.model.load.mean_ns if row.model.load else None, drop=5),
        durations("first", lambda row: row.model.quantities.get("first_p50_ns"), drop=3),
        numbers("count", lambda row: row.statistics.count if row.statistics else None, drop=2),
        *(of("p50"), of("p90", 1), of("p95"), of("p99"), of("max")),
    )
    has_first = any(row.model.quantities.get("first_p50_ns") for row in rows)
    notes = ["count: warm predictions; first: median of the first ones after a load"] if has_first else []
    if cold := [row.name for row in rows if row.statistics and not (row.model.latency and row.model.latency.warm)]:
        notes = notes if len(cold) < len(rows) else []
        notes.append(f"of all predictions, since none is warm{': ' * bool(notes)}{', '.join(cold) if notes else ''}")
    grid = table("Latency", columns, rows)
    return section("Latency", grid, items(notes, role=Role.DIM), absent_note(grid), folded=True)


def over_time_section(models: Sequence[ModelSummary]) -> Section | None:
    """How predictions follow each other, and how their latency runs."""
    throughputs = ((model, model.throughput) for model in models)
    rows = [
        (model, over_time.numbers(model, pace)) for model, pace in throughputs if pace and pace.per_second is not None
    ]
    titles = {title for _, texts in rows for title, words in texts.items() if words not in ("", ABSENT)}
    columns = (_over_time(title) for title in (rows[0][1] if rows else ()) if title in titles)
    model_names: Column[_OverTime] = names("model", lambda row: row[0].name)
    grid = table(over_time.TITLE, (model_names, *columns), rows)
    return section(
        over_time.TITLE,
        grid,
        items((Span(model.name, Role.CODE), f": {trend}") for model, _ in rows if (trend := over_time.trend(model))),
        items((over_time.NOTE,) if rows else (), role=Role.DIM),
        absent_note(grid),
        folded=True,
    )


LEAST_NEEDED = (
    *("gaps, %\nof time", "steady", "gap\nmedian", "bursts", "mean in\nflight", "gap\np95", "units idle,\n% of gaps"),
    "in flight over time",
)
"""Columns over time that text leaves out where they do not fit, the first of them last."""
_OverTime = tuple[ModelSummary, dict[str, str]]
"""A model, and its numbers by title."""


def _over_time(title: str) -> Column[_OverTime]:
    name = "predictions_per_second" if title == "predictions/s" else ""
    drop = LEAST_NEEDED.index(title) + 1 if title in LEAST_NEEDED else 0
    value = (lambda row: row[0].quantities.get(name)) if name else None
    return Column(title, lambda row: row[1][title], value, drop=drop, quantity=name)
