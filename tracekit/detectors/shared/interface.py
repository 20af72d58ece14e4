"""What the file of a model says of its inputs and outputs, for checks that measure what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import tracekit.detectors as tk
from tracekit.analysis.code.sites import sites_of
from tracekit.analysis.copies import ConversionSummary, CopySummary
from tracekit.characters import lower_first

if TYPE_CHECKING:
    from tracekit.model_files.facts import ModelFile


class Interface(NamedTuple):
    """The inputs and outputs of a model, by its file."""

    converted: str
    """Those that have another type than the model computes with, with direction and types; empty where none has."""
    fix: str
    """Markdown: what to pass to `ct.convert`, and what in Swift; empty where none is converted."""
    right: str
    """One sentence where none is converted: what it computes with."""


def interface_of(view: tk.ModelView) -> Interface | None:
    """The interface by the model's file; None without a file, or where it does not list it."""
    if view.model_file is None:
        return None
    # What knows model files takes long to load, and most recordings come alone.
    from tracekit.detectors.model_rules import interface_conversion

    answer = interface_conversion.detect(tk.InspectedModel(view.model_file, None), tk.NoOptions())
    # Of images in color, nothing can be changed.
    if converted := interface_conversion.conversions(view.model_file):
        return Interface(converted, _fix_of(answer, interface_conversion.DETECTOR.id, view.model_file), "")
    return Interface("", "", answer.summary) if isinstance(answer, tk.Passed) else None


def passed_note(interface: Interface | None) -> str:
    """What the file adds to an answer that conversions cost little: a sentence after a space, or nothing."""
    if interface is None:
        return ""
    if interface.converted:
        return f" The model file shows conversions, which cost little here: {interface.converted}."
    if "Float16" in interface.right:
        return f" The interface is right: by the model file, {lower_first(interface.right)}"
    return f" By the model file, {lower_first(interface.right)}"


def of_unclear(interface: Interface | None) -> str:
    """What the file adds where the rows do not show whether they convert: a sentence after a space, or nothing."""
    if interface is None or interface.converted:
        return of_finding(interface)
    return f" By the model file, {lower_first(interface.right)}"


def of_finding(interface: Interface | None) -> str:
    """What the file adds to a finding about conversions: a sentence after a space, or nothing."""
    if interface is None:
        return ""
    if interface.converted:
        return f" The model file shows what is converted: {interface.converted}."
    return (
        " The model file shows no conversion at its inputs and outputs: check that it is the version that ran, and "
        "which types and layouts the app passes."
    )


def copies_finding(
    view: tk.ModelView,
    summary: str,
    metrics: tuple[tk.Metric, ...],
    copies: CopySummary | ConversionSummary,
    words: str,
    *,
    fix: str = "",
) -> tk.Finding:
    """The finding that the data rows of `copies`, inside predictions, show; `words` begin the basis of its cost."""
    rows = tk.Shown.of(view.trace.data).take(copies.rows)
    copied = tk.Intervals.from_rows(rows).union()
    return view.finding(
        summary,
        metrics,
        rows=rows,
        cost=view.cost(min(copies.covered_ns, copied.covered_ns), f"{words}, with overlaps counted once"),
        affected=copied,
        call_sites=sites_of(view.trace, view.predictions.id),
        fix=fix,
    )


def shapes_words(view: tk.ModelView) -> tuple[str, str]:
    """Whether shapes may lie behind it, by the model's file too; and what to list instead of a range (Markdown)."""
    usual, shapes = "The usual cause is inputs of different shapes, which recordings do not show", shapes_of(view)
    if shapes is None:
        return f"{usual}.", ""
    if shapes.flexible:
        return f"{usual}; by the model file, these inputs take several: {shapes.flexible}.", shapes.fix
    fixed = "By the model file every input has one shape, so different shapes are not the cause: compare what slow"
    return f"{fixed} predictions are given, and which function they call.", ""


class Shapes(NamedTuple):
    """The shapes that the inputs of a model may have, by its file."""

    flexible: str
    """The inputs with more than one shape, for a sentence; empty where each has one."""
    fix: str
    """Markdown: what to list instead of a range; empty where nothing has a range."""


def shapes_of(view: tk.ModelView) -> Shapes | None:
    """The shapes by the model's file; None without a file, or where it does not give all of them."""
    if view.model_file is None:
        return None
    from tracekit.detectors.model_rules import flexible_shapes
    from tracekit.detectors.model_rules.shared import code, inputs_of, name_list
    from tracekit.model_files.facts import FeatureKind

    inputs = [entry for entry in inputs_of(view.model_file) if entry.kind in (FeatureKind.ARRAY, FeatureKind.IMAGE)]
    if not inputs or any(entry.shape is None for entry in inputs):
        return None
    flexible = name_list(
        f"{code(entry.name)} ({flexible_shapes.shape_words(entry)})"
        for entry in inputs
        if entry.shape is not None and entry.shape.flexible
    )
    answer = flexible_shapes.detect(tk.InspectedModel(view.model_file, None), flexible_shapes.Options())
    return Shapes(flexible, _fix_of(answer, flexible_shapes.DETECTOR.id, view.model_file))


def _fix_of(answer: tk.Outcome, finding: str, model: ModelFile) -> str:
    """The fix of a finding with the command that changes the file itself, where there is one."""
    from tracekit.model_files.fixing.remedies import ADVICE, fix_command

    if not isinstance(answer, tk.Finding):
        return ""
    command = fix_command(finding, model, model.source)
    advice = f"\n\n{ADVICE[finding]}" if finding in ADVICE else ""
    change = f"\n\nOr change the model file itself:\n\n```sh\n{command}\n```{advice}"
    return f"{answer.fix}{change}" if command else answer.fix
