"""What `tracekit inspect` says, as GitHub flavored Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.report import formatting, model_words
from tracekit.report.groups import with_outcome
from tracekit.report.renderers.markdown_text import code, details, escape, paragraphs, sentence, table
from tracekit.report.strings import map_strings
from tracekit.units import format_bytes, format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.report.model_report import FunctionInfo, ModelInfo, ModelReport
    from tracekit.report.report import Check


def render_model_markdown(report: ModelReport) -> str:
    """The whole document, with a line break at its end."""
    safe = map_strings(report, lambda field, text: formatting.visible(text, multiline=field == "fix"))
    model = safe.model
    functions = [_function(function, len(model.functions) > 1) for function in model.functions]
    stages = [f"{number}. {code(stage.name)}, {escape(stage.kind)}" for number, stage in enumerate(model.stages, 1)]
    parts = (
        f"# {escape(model.name)}",
        escape(model_words.context(safe.model)),
        f"**{escape(model_words.summary(safe))}**",
        *(_finding(check) for check in with_outcome(safe.checks, "finding")),
        *functions,
        paragraphs("## Stages", "\n".join(stages)) if stages else "",
        _weights(model),
        _not_evaluated(safe.checks),
        _metadata(model),
        _checks(safe.checks),
    )
    return paragraphs(*parts) + "\n"


def _finding(check: Check) -> str:
    return paragraphs(
        f"## {model_words.symptom(check)}: {escape(check.title)}",
        f"{sentence(check.summary)} {sentence(check.why)}",
        check.fix.strip(),
        f"Details: {code(f'tracekit explain {check.id}')}",
    )


def _function(function: FunctionInfo, several: bool) -> str:
    roles = (("input", function.inputs), ("output", function.outputs), ("state", function.states))
    rows = [
        (
            role,
            code(entry.name),
            escape(model_words.feature_type(entry)) + (", optional" if entry.optional else ""),
            escape(model_words.feature_shape(entry)),
        )
        for role, entries in roles
        for entry in entries
    ]
    total = sum(function.operations.values())
    computes = ""
    if total:
        words = model_words.histogram(function.operations, len(function.operations))
        computes = f"{escape(model_words.computes(function))} {format_count(total, 'operation')}: {escape(words)}."
    return paragraphs(
        f"## Function {code(function.name)}" if several else "## Interface",
        table(("", "name", "type", "shape"), rows, words=4) if rows else "Not listed in the file.",
        computes,
    )


def _weights(model: ModelInfo) -> str:
    weights = model.weights
    size = model_words.weight_size(weights)
    groups = [
        (
            escape(model_words.weight_group(group)),
            f"{group.tensors:,}",
            f"{group.parameters:,}",
            format_bytes(group.bytes),
        )
        for group in weights.groups or ()
    ]
    savings = [
        (escape(entry.technique), format_bytes(entry.saved_bytes), format_bytes(entry.bytes))
        for entry in weights.savings
    ]
    return paragraphs(
        "## Weights",
        f"{escape(size[:1].upper() + size[1:])}.",
        table(("stored as", "tensors", "parameters", "size"), groups) if groups else "",
        table(("technique (estimate)", "would save", "size then"), savings) if savings else "",
    )


def _not_evaluated(checks: Sequence[Check]) -> str:
    unanswered = [*with_outcome(checks, "insufficient_data"), *with_outcome(checks, "error")]
    lines = [f"- {code(check.id)}: {sentence(check.summary)} {sentence(check.record)}".rstrip() for check in unanswered]
    return paragraphs("## Not evaluated", "\n".join(lines)) if lines else ""


def _metadata(model: ModelInfo) -> str:
    rows = [(escape(key), escape(value)) for key, value in model.metadata.entries]
    rows += [(escape(f"loads on {system}"), escape(first)) for system, first in model.loads_on.items()]
    return details("Metadata", table(("", ""), rows, words=2)) if rows else ""


def _checks(checks: Sequence[Check]) -> str:
    rows = [(code(check.id), formatting.OUTCOMES[check.outcome], sentence(check.summary)) for check in checks]
    return details("All checks", table(("check", "outcome", ""), rows, words=3))
