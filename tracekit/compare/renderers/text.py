"""A comparison on the screen: findings, models, what is on one side only, notes, and the summary last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tracekit.characters import visible
from tracekit.compare.findings import FindingStatus
from tracekit.compare.latency import Answer
from tracekit.compare.models import Basis, Presence
from tracekit.compare.renderers import words
from tracekit.report.renderers.concise_layout import Layout
from tracekit.report.renderers.text_layout import NARROWEST, WIDEST, glued, printed
from tracekit.report.strings import map_strings

if TYPE_CHECKING:
    from tracekit.compare.comparison import Comparison
    from tracekit.compare.findings import FindingChange
    from tracekit.compare.models import ModelComparison

STYLES: dict[str, str] = {
    Answer.REGRESSED: "bold red",
    Answer.IMPROVED: "bold green",
    Answer.UNCHANGED: "green",
    Answer.NOT_ENOUGH_DATA: "yellow",
    FindingStatus.NEW: "bold red",
    FindingStatus.STILL_THERE: "yellow",
    FindingStatus.FIXED: "bold green",
    FindingStatus.NOT_COMPARABLE: "yellow",
}
STATUS_CELLS = 14
ROW_CELLS = 7


def render_comparison(comparison: Comparison, *, width: int, color: bool) -> str:
    """The comparison in lines of at most `width` cells, with a line break at the end. `color` writes ANSI styles."""
    layout = Layout(min(max(width, NARROWEST), WIDEST))
    safe = map_strings(comparison, lambda _, text: visible(text))
    lines = [
        *layout.hanging(Text(f"before  {words.sources(safe.before)}"), 8),
        *layout.hanging(Text(f"after   {words.sources(safe.after)}"), 8),
        *layout.hanging(Text(words.not_recorded(safe), style="dim"), 8),
        Text(),
        *_unfair(safe, layout),
        *_findings(safe, layout),
        *_models(safe, layout),
        *_notes(safe, layout),
        *layout.hanging(Text(words.summary(safe), style=_summary_style(safe)), 2),
    ]
    return printed(lines, layout.width, color)


def _unfair(comparison: Comparison, layout: Layout) -> list[Text]:
    if not comparison.unfair:
        return []
    lines = layout.heading("NOT A FAIR COMPARISON", "these differ, and can change latency by themselves")
    for one in comparison.unfair:
        lines += layout.hanging(Text(f"  {one.what:<{STATUS_CELLS}}{words.arrow(one.before, one.after)}"), 16)
    return [*lines, Text()]


def _findings(comparison: Comparison, layout: Layout) -> list[Text]:
    if not comparison.findings:
        return []
    return [
        *layout.heading("FINDINGS", ""),
        *(line for change in comparison.findings for line in _finding(change, layout)),
        Text(),
    ]


def _finding(change: FindingChange, layout: Layout) -> list[Text]:
    models, savings = words.finding_models(change), words.savings(change)
    line = Text("  ").append(f"{change.status:<{STATUS_CELLS}} ", STYLES[change.status]).append(change.id, "bold")
    details = ", ".join(filter(None, (models, savings, change.reason)))
    return layout.hanging(line.append(f" ({details})" if details else ""), 4)


def _models(comparison: Comparison, layout: Layout) -> list[Text]:
    compared = [model for model in comparison.models if model.presence is Presence.BOTH]
    lines = []
    if compared:
        every = all(one.basis is Basis.ALL for one in compared)
        what = "median of all predictions" if every else "median warm latency"
        lines = layout.heading("MODELS", f"{what}, 95% interval of the change")
        for model in compared:
            lines += _model(model, layout, "" if every else _basis(model))
        totals = words.totals(compared)
        lines += layout.hanging(Text.assemble("  ", ("all models", "bold"), f"  {totals}"), 4) if totals else []
        lines.append(Text())
    alone = words.unmatched(comparison.models)
    if alone:
        lines += layout.heading("MODELS ON ONE SIDE", "not compared")
        lines += [line for text in alone for line in layout.hanging(Text(f"  {text}"), 4)]
        lines.append(Text())
    return lines


def _basis(model: ModelComparison) -> str:
    return ", also those after a load" if model.basis is Basis.ALL else ""


def _model(model: ModelComparison, layout: Layout, basis: str) -> list[Text]:
    change = model.latency
    name = model.name if model.name == model.name_before else words.arrow(model.name_before, model.name)
    span = words.interval(change)
    numbers = f"{words.latencies(change)}, {words.percent_change(change.ratio)}" + (f" ({span})" if span else "")
    head = Text.assemble(
        "  ", (name, "bold"), "  ", (words.answer(change), STYLES[change.answer]), "  ", glued(numbers)
    )
    rows = [
        ("why", words.reason(change)),
        ("where", words.parts(model)),
        ("p95", words.p95(model)),
        ("also", words.facts(model)),
        ("from", words.measured(change) + basis),
    ]
    lines = layout.hanging(head, 4)
    for label, text in rows:
        if text:
            lines += layout.hanging(Text.assemble("    ", (f"{label:<{ROW_CELLS}}", "dim"), glued(text)), 4 + ROW_CELLS)
    return lines


def _notes(comparison: Comparison, layout: Layout) -> list[Text]:
    if not comparison.notes:
        return []
    lines = [line for note in comparison.notes for line in layout.hanging(Text(f"note: {note}", style="dim"), 6)]
    return [*lines, Text()]


def _summary_style(comparison: Comparison) -> str:
    answers = words.answers(comparison.models)
    statuses = {change.status for change in comparison.findings}
    if Answer.REGRESSED in answers or FindingStatus.NEW in statuses:
        return "bold red"
    if Answer.IMPROVED in answers or FindingStatus.FIXED in statuses:
        return "bold green"
    return "bold yellow" if Answer.NOT_ENOUGH_DATA in answers or not answers else "bold"
