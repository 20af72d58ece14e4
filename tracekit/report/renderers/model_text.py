"""What `tracekit inspect` prints: context, findings, the model, what was not evaluated, and the summary last."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.text import Text

from tracekit.report import formatting, model_words
from tracekit.report.groups import with_outcome
from tracekit.report.renderers.concise_layout import LABEL_CELLS, Layout
from tracekit.report.renderers.text_layout import GLUE, NARROWEST, WIDEST, glued, markdown, printed
from tracekit.report.strings import map_strings
from tracekit.units import format_bytes, format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from tracekit.model_files import Feature
    from tracekit.report.model_report import FunctionInfo, ModelInfo, ModelReport
    from tracekit.report.report import Check

FEATURES, FUNCTIONS, STAGES, OPERATIONS = 8, 4, 6, 6
"""Most entries of each of these parts without `-v`."""
NAME_CELLS = 28
_STYLES = {"LOADING": "bold red", "SPEED": "yellow", "MEMORY": "yellow", "ACCURACY": "yellow"}
_INSIDE = re.compile(r" (?=×)|(?<=×) |(?<=\d) (?=[`\w])")
"""Blanks in shapes, and between a count and its noun."""
_BACKENDS = "the file asks for"


def render_model(report: ModelReport, *, width: int, color: bool, verbose: bool = False) -> str:
    """The report in lines of at most `width` cells, with a line break at the end. `verbose` adds the code of the fixes,
    every operation and group of weights, metadata, and the checks that found nothing."""
    width = min(max(width, NARROWEST), WIDEST)
    layout = Layout(width)
    safe = map_strings(report, lambda field, text: formatting.visible(text, multiline=field == "fix"))
    blocks: list[RenderableType] = [*layout.wrapped(Text(model_words.context(safe.model), style="dim")), Text()]
    for check in with_outcome(safe.checks, "finding"):
        blocks += [*_finding(check, layout, verbose), Text()]
    blocks += _model(safe.model, layout, verbose)
    blocks += _not_evaluated(safe.checks, layout)
    if verbose:
        blocks += [*_metadata(safe.model, layout), *_others(safe.checks, layout)]
    blocks += _summary(safe, layout, verbose)
    return printed(blocks, width, color)


def _finding(check: Check, layout: Layout, verbose: bool) -> list[RenderableType]:
    label = model_words.symptom(check)
    gap = " " * max(LABEL_CELLS - len(label), 2)
    title = Text.assemble((label, _STYLES.get(label, "bold")), gap, (check.id, "bold"))
    blocks: list[RenderableType] = [
        *layout.hanging(title.append(f": {formatting.lowered(check.title)}", style="not bold"), layout.indent),
        *_indented(_whole(check.summary), layout, None if verbose else 4),
    ]
    if verbose:
        return [*blocks, Text(), *markdown(check.fix, layout.indent), Text(), *_details(check, layout)]
    fix = Text(f"{' ' * layout.indent}fix: {formatting.fix_line(check.fix)}")
    return [*blocks, *layout.hanging(fix, layout.indent + 5, max_lines=2), *_details(check, layout)]


def _details(check: Check, layout: Layout) -> list[Text]:
    return [Text(" " * (layout.indent + 5)).append("details: ").append(f"tracekit explain {check.id}", style="cyan")]


def _indented(text: str, layout: Layout, max_lines: int | None) -> list[Text]:
    return layout.hanging(Text(" " * layout.indent + text), layout.indent, max_lines=max_lines)


def _model(model: ModelInfo, layout: Layout, verbose: bool) -> list[RenderableType]:
    lines: list[RenderableType] = []
    shown = model.functions if verbose else model.functions[:FUNCTIONS]
    for function in shown:
        name = f" of {function.name}" if len(model.functions) > 1 else ""
        lines += [*layout.heading(f"INTERFACE{name}", ""), *_interface(function, layout, verbose)]
        lines += _computes(function, layout, verbose)
    lines += _more(len(model.functions) - len(shown), "function")
    if model.stages:
        lines += _stages(model, layout, verbose)
    lines += [*_weights(model, layout, verbose)]
    for words in _remarks(model):
        lines += layout.hanging(Text(f"  {words}"), 4)
    return [*lines, Text()]


def _interface(function: FunctionInfo, layout: Layout, verbose: bool) -> list[Text]:
    entries = [
        *(("input", entry) for entry in function.inputs),
        *(("output", entry) for entry in function.outputs),
        *(("state", entry) for entry in function.states),
    ]
    if not entries:
        return [Text("  not listed in the file", style="dim")]
    shown = entries if verbose else entries[:FEATURES]
    longest = max(layout.cells(entry.name) for _, entry in shown)
    cells = min(longest, NAME_CELLS, layout.width // 3)
    lines = [line for role, entry in shown for line in _feature(role, entry, cells, layout)]
    return [*lines, *_more(len(entries) - len(shown), "input or output", "inputs and outputs")]


def _feature(role: str, entry: Feature, cells: int, layout: Layout) -> list[Text]:
    name = formatting.shorten(entry.name, cells)
    padded = name + " " * (cells - layout.cells(name))
    words = ", ".join(filter(None, (model_words.feature_type(entry), model_words.feature_shape(entry))))
    text = Text(f"  {role:<7} ").append(padded, style="bold")
    text.append(f"  {_whole(words)}{', optional' if entry.optional else ''}", style="not bold")
    return layout.hanging(text, 12 + cells if layout.width > 60 else 4)


def _computes(function: FunctionInfo, layout: Layout, verbose: bool) -> list[Text]:
    total = sum(function.operations.values())
    room = len(function.operations) if verbose else OPERATIONS
    words = f"{format_count(total, 'operation')}: {model_words.histogram(function.operations, room)}"
    computes = formatting.lowered(model_words.computes(function).rstrip("."))
    facts = "; ".join(filter(None, (computes, f"opset {function.opset}" if function.opset else "")))
    lines = layout.hanging(Text(f"  {facts}"), 4) if facts else []
    lines += layout.hanging(Text(f"  {_whole(words)}"), 4) if total else []
    if function.backends:
        lines += layout.hanging(Text(f"  {_BACKENDS} {', '.join(function.backends)}"), 4)
    return lines


def _stages(model: ModelInfo, layout: Layout, verbose: bool) -> list[Text]:
    lines = layout.heading("STAGES", "")
    shown = model.stages if verbose else model.stages[:STAGES]
    for number, stage in enumerate(shown, 1):
        inputs = [f"{entry.name} ({model_words.feature_type(entry)})" for entry in stage.functions[0].inputs]
        outputs = [f"{entry.name} ({model_words.feature_type(entry)})" for entry in stage.functions[0].outputs]
        flow = f": {', '.join(inputs)} → {', '.join(outputs)}" if inputs or outputs else ""
        total = sum(stage.functions[0].operations.values())
        count = f", {format_count(total, 'operation')}" if total else ""
        lines += layout.hanging(Text(f"  {number} {stage.name}, {stage.kind}{count}{flow}"), 4)
    return [*lines, *_more(len(model.stages) - len(shown), "stage")]


def _weights(model: ModelInfo, layout: Layout, verbose: bool) -> list[Text]:
    weights = model.weights
    lines = layout.heading("WEIGHTS", "")
    lines += layout.hanging(Text(glued(f"  {model_words.weight_size(weights)}")), 4)
    groups = weights.groups or ()
    for group in groups if verbose else groups[:3]:
        text = f"  {format_bytes(group.bytes)} in {format_count(group.tensors, 'tensor')}: "
        lines += layout.hanging(Text(glued(text + model_words.weight_group(group))), 4)
    lines += [] if verbose else _more(len(groups) - 3, "kind")
    if weights.savings:
        saved = ", ".join(f"{entry.technique} −{format_bytes(entry.saved_bytes)}" for entry in weights.savings)
        lines += layout.hanging(Text(glued(f"  could save about: {saved}")), 4)
    return lines


def _remarks(model: ModelInfo) -> Iterator[str]:
    if model.custom_layers:
        yield f"custom layers: {', '.join(model.custom_layers)}"
    if model.updatable:
        yield "can be trained further on the device"


def _not_evaluated(checks: Sequence[Check], layout: Layout) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for record, ids in _remedies(checks).items():
        text = Text.assemble("  ", (", ".join(ids), "bold"), f": {formatting.lowered(record.rstrip('.'))}")
        lines += layout.hanging(text, 4, max_lines=3)
    for check in with_outcome(checks, "error"):
        lines += layout.hanging(Text.assemble("  ", (f"{check.id} failed", "bold red"), f": {check.summary}"), 4)
    return [*layout.heading("NOT EVALUATED", ""), *lines, Text()] if lines else []


def _remedies(checks: Sequence[Check]) -> dict[str, list[str]]:
    """What helps, and which checks it would help."""
    remedies: dict[str, list[str]] = {}
    for check in with_outcome(checks, "insufficient_data"):
        remedies.setdefault(check.record, []).append(check.id)
    return remedies


def _metadata(model: ModelInfo, layout: Layout) -> list[RenderableType]:
    lines = [line for key, value in model.metadata.entries for line in layout.hanging(Text(f"  {key}: {value}"), 4)]
    loads = ", ".join(f"{system} {first}" for system, first in model.loads_on.items())
    lines += layout.hanging(Text(f"  loads on: {loads}"), 4) if loads else []
    return [*layout.heading("METADATA", ""), *lines, Text()] if lines else []


def _others(checks: Sequence[Check], layout: Layout) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for outcome in ("passed", "not_applicable"):
        others = with_outcome(checks, outcome)
        if others:
            lines += layout.heading(formatting.OUTCOMES[outcome].upper(), "")
            for check in others:
                lines += layout.hanging(Text.assemble("  ", (check.id, "bold"), f": {glued(check.summary)}"), 4)
            lines.append(Text())
    return lines


def _summary(report: ModelReport, layout: Layout, verbose: bool) -> list[Text]:
    counts = report.summary
    refused = report.target is not None and report.target.loads is False
    style = "red" if refused or counts.errors else "yellow" if counts.findings else "green"
    lines = layout.wrapped(Text(model_words.summary(report), style=f"bold {style}"))
    if counts.findings and not verbose:
        lines += layout.wrapped(Text.assemble("more: ", ("-v", "cyan"), " prints the code of the fixes"))
    return lines


def _whole(text: str) -> str:
    """Text whose shapes and counts no line break divides."""
    return _INSIDE.sub(GLUE, glued(text))


def _more(count: int, noun: str, plural: str | None = None) -> list[Text]:
    if count <= 0:
        return []
    words = format_count(count, f"more {noun}", f"more {plural}" if plural else None)
    return [Text(f"  {words} (-v)", style="dim")]
