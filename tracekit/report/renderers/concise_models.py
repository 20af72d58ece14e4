"""The models of the short report: latencies, where the time of a prediction goes, and what their files say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tracekit.analysis.breakdown.partition import Part
from tracekit.report import formatting
from tracekit.report.columns import is_inferred
from tracekit.report.model_file_words import TITLE, file_rows
from tracekit.report.time_breakdown import MEANINGS, each_first, fast_enough, parts_row
from tracekit.trace.events import DEVICE_NAMES
from tracekit.units import format_count, format_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tracekit.analysis.models import ModelSummary
    from tracekit.report.renderers.concise_layout import Layout
    from tracekit.report.report import Report
    from tracekit.report.time_breakdown import Slice

MODELS = 10
"""Most models, and most files of models."""
BAR = 33
"""Cells of a bar: 3% each."""
NAME_CELLS = 28


def model_lines(report: Report, layout: Layout) -> list[Text]:
    """Latency and parts of a prediction of each model; of inferred ones what the hardware shows."""
    models = [model for model in report.models if model.level == "top" and model.prediction is not None]
    if not models:
        return []
    shown = models[:MODELS]
    inferred = [model for model in shown if is_inferred(model)]
    known = [model for model in shown if model not in inferred]
    lines: list[Text] = []
    if known:
        lines += layout.heading("MODELS", f"median, p95; where the time of all predictions goes ({_LEGEND})")
        lines += _latency_lines(known, layout)
    if inferred:
        lines += layout.heading("WHAT THE HARDWARE SHOWS", "lower bounds; Core ML's and the CPU's share is not visible")
        for model in inferred:
            lines += layout.hanging(Text(f"  {model.name}   {_inferred(model)}"), 4)
    if len(models) > len(shown):
        lines.append(Text(f"  {format_count(len(models) - len(shown), 'more model')} (-v)", style="dim"))
    return [*lines, Text()]


def model_file_lines(report: Report, layout: Layout) -> list[Text]:
    """What the files of the models say, a paragraph each."""
    rows = file_rows(report)
    lines = layout.heading(TITLE.upper(), "") if rows else []
    for row in rows[:MODELS]:
        lines += layout.hanging(Text(f"  {row.model}  {row.facts}"), 4)
        for words in row.sentences:
            lines += layout.hanging(Text(f"    {words}", style="dim"), 4)
    if len(rows) > MODELS:
        lines.append(Text(f"  {format_count(len(rows) - MODELS, 'more file')} (-v)", style="dim"))
    return [*lines, Text()] if rows else []


def _latency_lines(models: Sequence[ModelSummary], layout: Layout) -> list[Text]:
    room = min(max(len(model.name) for model in models), NAME_CELLS, max(layout.width - 26, 8))
    lines: list[Text] = []
    for model in models:
        typical, tail = (formatting.duration(model.quantities.get(name)) for name in ("p50_ns", "p95_ns"))
        name = formatting.shorten(model.name, room)
        first = f"  {name}{' ' * (room - layout.cells(name))}  {typical:>9}  {tail:>9}"
        bar, words = _parts(model, min(BAR, layout.width - len(first) - 32))
        parts = words.split(", ")
        while bar and len(parts) > 1 and len(first) + len(bar) + len(", ".join(parts)) + 5 > layout.width:
            parts.pop()
        if bar and len(first) + len(bar) + len(words := ", ".join(parts)) + 5 <= layout.width:
            lines.append(Text(f"{first}  {bar}   {words}"))
        elif words:
            lines += [Text(first), *layout.hanging(Text(f"    {words}"), 4)]
        else:
            lines.append(Text(first))
        if len(models) == 1:
            lines += layout.hanging(Text(f"    {pace(model)}", style="dim"), 4)
    for words in (*each_first(models), *dict.fromkeys(words for model in models for words in _meanings(model))):
        lines += layout.hanging(Text(f"  {words}", style="dim"), 4)
    return lines


def _parts(model: ModelSummary, cells: int) -> tuple[str, str]:
    """A bar of the parts of a prediction, and the large ones in words; empty where they are not known."""
    if model.breakdown is None or not model.breakdown.total_ns:
        return "", ""
    row = parts_row(model.name, model.breakdown)
    slices = sorted(row.slices, key=lambda part: (_RANK.index(_sign(part, row.slices)), -part.share))
    sizes = [round(sum(part.share for part in slices[: k + 1]) * cells) for k in range(len(slices))]
    signs = [
        _sign(part, row.slices) * (end - begin) for part, begin, end in zip(slices, [0, *sizes], sizes, strict=False)
    ]
    return "".join(signs) if cells >= 8 else "", row.headline


def _meanings(model: ModelSummary) -> list[str]:
    """What the large parts of a prediction mean whose names do not say it."""
    if model.breakdown is None or not model.breakdown.total_ns:
        return []
    large = {kind for part in parts_row(model.name, model.breakdown).large for kind in part.group.parts}
    return [MEANINGS[kind] for kind in (Part.AMBIGUOUS, Part.OTHER) if kind in large]


_RANK = "█▓▒░"
_LEGEND = "█▓ compute units, ▒ data, ░ rest"
_COMPUTE = frozenset(DEVICE_NAMES.values())


def _sign(part: Slice, slices: Iterable[Slice]) -> str:
    """Full for the compute unit that takes most, then other units, data, and time without work."""
    units = [other.group.name for other in sorted(slices, key=lambda each: -each.share) if other.group.name in _COMPUTE]
    if part.group.name in _COMPUTE:
        return "█" if part.group.name == units[0] else "▓"
    return "▒" if part.group.name == "data" else "░"


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


def _inferred(model: ModelSummary) -> str:
    """What hardware rows show of a model's predictions; each took at least that long."""
    parts = []
    if model.prediction is not None:
        parts.append(format_count(model.prediction.count, "prediction"))
        parts.append(f"median at least {format_time(model.prediction.p50_ns)}")
    if model.breakdown is not None and model.breakdown.total_ns:
        row = parts_row(model.name, model.breakdown)
        parts += [
            f"{part.group.name} busy {format_time(part.mean_ns)} per prediction"
            for part in row.slices
            if part.group.name in _COMPUTE
        ]
    if model.throughput is not None and model.throughput.interval_ns is not None:
        parts.append(f"every {format_time(model.throughput.interval_ns)}")
    return " · ".join(parts)
