"""A comparison as Markdown for a pull request: summary on top, then findings and models as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.characters import visible
from tracekit.compare.models import Basis, Presence
from tracekit.compare.renderers import words
from tracekit.report.renderers.markdown_text import escape, table
from tracekit.report.strings import map_strings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.compare.comparison import Comparison
    from tracekit.compare.models import ModelComparison


def render_markdown(comparison: Comparison) -> str:
    """The comparison as Markdown, with a line break at the end."""
    safe = map_strings(comparison, lambda _, text: visible(text))
    blocks = [
        f"**{escape(words.summary(safe))}**",
        f"before: {escape(words.sources(safe.before))}  \nafter: {escape(words.sources(safe.after))}  \n"
        f"{escape(words.not_recorded(safe))}",
        *_unfair(safe),
        *_findings(safe),
        *_models(safe),
        *(f"Note: {escape(note)}" for note in safe.notes),
    ]
    return "\n\n".join(blocks) + "\n"


def _unfair(comparison: Comparison) -> list[str]:
    if not comparison.unfair:
        return []
    rows = ((one.what, escape(one.before), escape(one.after)) for one in comparison.unfair)
    return ["**Not a fair comparison**: these differ, and can change latency by themselves.", table(_SIDES, rows)]


_SIDES = ("", "before", "after")


def _findings(comparison: Comparison) -> list[str]:
    if not comparison.findings:
        return []
    rows = (
        (
            str(one.status),
            one.id,
            escape(words.finding_models(one)),
            ", ".join(filter(None, (words.savings(one), one.reason))),
        )
        for one in comparison.findings
    )
    return ["### Findings", table(("status", "check", "models", "details"), rows, words=4)]


def _models(comparison: Comparison) -> list[str]:
    compared = [model for model in comparison.models if model.presence is Presence.BOTH]
    blocks = []
    if compared:
        blocks = ["### Models", table(_COLUMNS, map(_row, compared), words=6)]
        totals = words.totals(compared)
        blocks += [f"All models: {escape(totals)}"] if totals else []
    return blocks + [escape(text) for text in words.unmatched(comparison.models)]


_COLUMNS = ("model", "answer", "latency", "change", "95% interval", "details")


def _row(model: ModelComparison) -> Sequence[str]:
    change = model.latency
    name = model.name if model.name == model.name_before else words.arrow(model.name_before, model.name)
    latency = words.latencies(change) + (" (all predictions)" if model.basis is Basis.ALL else "")
    tail = words.p95(model)
    facts = (
        words.reason(change),
        words.parts(model),
        f"p95 {tail}" if tail else "",
        words.facts(model),
        words.measured(change),
    )
    why = "; ".join(filter(None, facts))
    return (escape(name), str(change.answer), latency, words.percent_change(change.ratio), words.interval(change), why)
