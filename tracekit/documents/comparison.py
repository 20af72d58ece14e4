"""What a comparison says: the verdict, the models, the findings, and what to know before relying on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracekit.compare import words
from tracekit.compare.findings import FindingChange, FindingStatus
from tracekit.compare.latency import Answer
from tracekit.compare.models import Basis, ModelComparison, Presence
from tracekit.documents import columns, comparison_words
from tracekit.documents.compared_figures import figures_section
from tracekit.render.blocks import (
    Block,
    Column,
    Document,
    Entry,
    Line,
    Paragraph,
    Role,
    Section,
    Span,
    items,
    present,
    section,
    table,
)
from tracekit.report.formatting import ABSENT
from tracekit.units import format_names

if TYPE_CHECKING:
    from tracekit.compare.comparison import Comparison, EnvironmentDifference

TONES: dict[str, Role] = {
    Answer.REGRESSED: Role.BAD,
    Answer.IMPROVED: Role.GOOD,
    Answer.UNCHANGED: Role.GOOD,
    Answer.INCONCLUSIVE: Role.OPEN,
    FindingStatus.NEW: Role.BAD,
    FindingStatus.STILL_THERE: Role.OPEN,
    FindingStatus.FIXED: Role.GOOD,
    FindingStatus.NOT_COMPARABLE: Role.OPEN,
}
"""Looks of answers and statuses."""
SOURCES = 6
"""Most recordings of a side that are named; how many more there are is said."""
UNFAIR: tuple[Column[EnvironmentDifference], ...] = (
    columns.words("what", lambda one: one.what),
    columns.words("before", lambda one: one.before),
    columns.words("after", lambda one: one.after),
)
FINDINGS: tuple[Column[FindingChange], ...] = (
    columns.words("status", lambda one: Span(str(one.status), TONES[one.status])),
    columns.names("check", lambda one: one.id),
    columns.words("models", lambda one: comparison_words.finding_models(one) or columns.RECORDING, drop=1),
    columns.words("details", lambda one: comparison_words.finding_details(one) or ABSENT),
)


def comparison_document(comparison: Comparison, *figures: Block | None) -> Document:
    """The comparison; `figures` are pictures of both sides, for pages."""
    compared = [model for model in comparison.models if model.presence is Presence.BOTH]
    before, after = (format_names(names, SOURCES) for names in (comparison.before, comparison.after))
    return Document(
        title=words.arrow(before, after),
        verdict=comparison_words.summary(comparison),
        tone=_tone(comparison),
        context=(
            Paragraph(before, lead="before"),
            Paragraph(after, lead="after"),
            Paragraph(comparison_words.not_recorded(comparison), Role.DIM),
        ),
        blocks=present(
            section(
                "Not a fair comparison",
                table("Differences of the environment", UNFAIR, comparison.unfair),
                note="these differ, and can change latency by themselves",
                name="unfair",
            ),
            _models(compared),
            section(
                "Models on one side",
                items(comparison_words.unmatched_models(comparison.models)),
                note="not compared",
                name="unmatched",
            ),
            section("Findings", table("Findings", FINDINGS, comparison.findings), name="findings"),
            *figures,
            section("Notes", items((*comparison.notes, comparison_words.method(comparison))), name="notes"),
        ),
    )


def _tone(comparison: Comparison) -> Role:
    """The look of the worst answer."""
    tones = {TONES[each] for each in comparison_words.answers(comparison.models)}
    tones |= {TONES[change.status] for change in comparison.findings}
    return next((tone for tone in (Role.BAD, Role.GOOD) if tone in tones), Role.OPEN)


def _models(compared: Sequence[ModelComparison]) -> Section | None:
    if not compared:
        return None
    every = all(model.basis is Basis.ALL for model in compared)
    totals = comparison_words.totals(compared)
    return section(
        "Models",
        items(_model(model, every) for model in compared),
        Paragraph((Span("all models", Role.STRONG), f"  {totals}")) if totals else None,
        *(figures_section(model) for model in compared),
        note=f"{'median of all predictions' if every else 'median warm latency'}, 95% interval of the change",
        name="models",
    )


def _model(model: ModelComparison, every: bool) -> Entry:
    change = model.latency
    name = model.name if model.name == model.name_before else words.arrow(model.name_before, model.name)
    basis = ", also those after a load" if model.basis is Basis.ALL and not every else ""
    facts: tuple[tuple[str, Line], ...] = (
        ("why", words.reason(change)),
        ("where", comparison_words.parts(model)),
        ("p95", comparison_words.p95(model)),
        ("also", comparison_words.facts(model)),
        ("from", words.sample_counts(change) + basis),
    )
    answer = Span(words.answer(change), TONES[change.answer])
    head = (Span(name, Role.STRONG), "  ", answer, f"  {comparison_words.change_words(change)}")
    return Entry(head, tuple((label, text) for label, text in facts if text))
