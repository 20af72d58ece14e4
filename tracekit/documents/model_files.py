"""Several model files: a table of what matters, or what is different in the second of two."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracekit.documents import columns
from tracekit.render import blocks
from tracekit.render.blocks import Column, Role, items, present, section, table
from tracekit.report import model_words as words
from tracekit.units import format_bytes, format_count

if TYPE_CHECKING:
    from tracekit.report.model_report import ComparedModels, ModelChange, ModelReport

_REASON = re.compile(r": | \(|; |, at ")
MODELS: tuple[Column[ModelReport], ...] = (
    columns.names("model", lambda report: report.model.source),
    columns.words("on the Neural Engine", lambda report: "; ".join(_short(report))),
    columns.numbers("size", lambda report: report.model.bytes, format_bytes),
    columns.words("loads on", lambda report: words.first_systems(report.model)),
    columns.words("findings", lambda report: ", ".join(report.found) or "none"),
)
CHANGES: tuple[Column[ModelChange], ...] = (
    columns.names("", lambda change: change.fact),
    columns.words("before", lambda change: change.before or "–"),
    columns.words("after", lambda change: change.after or "–"),
)


def models_document(reports: Sequence[ModelReport], failures: Sequence[str]) -> blocks.Document:
    """A row for each model, and why others could not be read."""
    likely = sum(all(each.verdict.startswith("likely") for each in report.neural_engine) for report in reports)
    found = sum(report.summary.findings for report in reports)
    return blocks.Document(
        title="Models",
        verdict=f"{format_count(len(reports), 'model')}: {likely:,} likely on the Neural Engine, in whole or in part; "
        f"{format_count(found, 'finding')}",
        tone=Role.OPEN if found or failures else Role.GOOD,
        blocks=present(table("Models", MODELS, reports), section("Not read", items(failures))),
        more="tracekit inspect MODEL",
    )


def compared_models_document(compared: ComparedModels) -> blocks.Document:
    """Facts that differ."""
    names = f"{compared.before.model.source} → {compared.after.model.source}"
    count = len(compared.changes)
    return blocks.Document(
        title=names,
        verdict=f"{names}: {format_count(count, 'fact')} changed" if count else f"{names}: no fact changed",
        tone=Role.OPEN if count else Role.GOOD,
        blocks=present(table("Changes", CHANGES, compared.changes)),
    )


def _short(report: ModelReport) -> dict[str, None]:
    """The verdicts of the functions without reasons, each once: `no`, `likely, all but 2 of 118 operations`."""
    return dict.fromkeys(_REASON.split(each.verdict)[0] for each in report.neural_engine)
