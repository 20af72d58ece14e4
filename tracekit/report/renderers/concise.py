"""The short report: context, findings, models, what was not evaluated, and the summary last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tracekit.analysis.breakdown.partition import Part
from tracekit.detectors.patterns import Pattern
from tracekit.report import formatting
from tracekit.report.columns import is_inferred
from tracekit.report.groups import findings, with_outcome
from tracekit.report.model_file_words import TITLE, file_rows
from tracekit.report.renderers.call_sites import nevertheless_lines
from tracekit.report.renderers.concise_findings import finding_lines, inconclusive_lines, one_line
from tracekit.report.renderers.concise_layout import Layout
from tracekit.report.renderers.remedies import remedies
from tracekit.report.renderers.text_layout import NARROWEST, WIDEST, glued, printed
from tracekit.report.strings import map_strings
from tracekit.report.time_breakdown import MEANINGS, frames, parts_row
from tracekit.report.totals import Totals, count_checks
from tracekit.report.verdict import STACKS_ALONE
from tracekit.units import format_count, format_estimate, format_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tracekit.analysis.models import ModelSummary
    from tracekit.report.report import RecordingInfo, Report
    from tracekit.report.time_breakdown import Slice

LINES = 60
"""Most lines for a recording of up to ten models; findings beyond them take one line each."""
INCONCLUSIVE_LINES = 40
"""Lines from which on a recording in which nothing could be evaluated says less of each part."""
MODELS, REMEDIES, NOTES = 10, 8, 3
"""Most entries of each of these parts."""
TIGHT_REMEDIES, TIGHT_NOTES = 3, 1
"""The same where the findings leave no room, in a line each."""
BAR = 33
"""Cells of a bar: 3% each."""
NAME_CELLS = 28


def render_concise(report: Report, *, width: int, color: bool) -> str:
    """The short report in lines of at most `width` cells, with a line break at the end. `color` writes ANSI styles."""
    width = min(max(width, NARROWEST), WIDEST)
    safe = map_strings(report, lambda field, text: formatting.visible(text, multiline=field == "fix"))
    layout = Layout(width)
    head = [*layout.wrapped(Text(context_line(safe.recording, safe.tool.config), style="dim")), Text()]
    for tight in (False, True):
        limited = [*_not_evaluated(safe, layout, tight), *_notes(safe, layout, tight)]
        tail = [*nevertheless_lines(safe, layout), *_models(safe, layout), *_model_files(safe, layout)]
        tail += [*limited, *summary_lines(safe, layout)]
        body, hidden = _findings(safe, layout, LINES - len(head) - len(tail))
        if not hidden and (safe.summary.evaluated or len(head) + len(body) + len(tail) <= INCONCLUSIVE_LINES):
            break
    return printed([*head, *body, *tail], width, color)


def render_summary(report: Report, *, width: int, color: bool, more: bool = True) -> str:
    """The summary alone, and with `more` where to read on; a line break at the end."""
    width = min(max(width, NARROWEST), WIDEST)
    layout = Layout(width)
    safe = map_strings(report, lambda _, text: formatting.visible(text))
    lines = summary_lines(safe, layout) if more else layout.wrapped(summary_line(safe))
    return printed(lines, width, color)


def summary_line(report: Report) -> Text:
    """Counts by check and the estimated savings of all fixes together, in one line."""
    totals, summary = count_checks(report.checks), report.summary
    if not summary.evaluated and not summary.errors:
        count = format_count(totals.not_evaluated, "check")
        from_stacks = [finding for finding in report.findings if finding.id in STACKS_ALONE]
        beside = f" · {format_count(len(from_stacks), 'finding')} from call stacks" if from_stacks else ""
        return Text(f"Inconclusive: {count} could not be evaluated{beside} · exit status 3", style="bold yellow")
    parts = [totals.found, _savings(report), _rest(totals)]
    clean = "yellow" if totals.failed else "green"
    worst = {"critical": "red", "high": "red", "medium": "yellow", "low": "yellow"}.get(totals.worst, clean)
    return Text(" · ".join(filter(None, parts)), style=f"bold {worst}")


def summary_lines(report: Report, layout: Layout, *, full: bool = False) -> list[Text]:
    """The summary, and where to read on; after a `full` report that is `tracekit view` alone."""
    lines = layout.wrapped(summary_line(report))
    if report.summary.findings or not report.summary.evaluated:
        source = formatting.shorten(report.recording.source, max(layout.width - 30, 12))
        text = Text("more: ") if full else Text.assemble("more: ", ("-v", "cyan"), "  ·  ")
        lines += layout.wrapped(text.append(f"tracekit view {source}", style="cyan"))
    return lines


def context_line(recording: RecordingInfo, config: str | None) -> str:
    """One line: which recording of what, where and how long."""
    pid = f" (pid {recording.target_pid})" if recording.target_pid is not None else ""
    version = (recording.os_version or "").partition(" (")[0]
    system = " ".join(filter(None, (recording.platform, version)))
    run = f"run {recording.run} of {len(recording.runs)}" if len(recording.runs) > 1 else None
    parts = (
        recording.source,
        run,
        f"{recording.target}{pid}" if recording.target else None,
        ", ".join(filter(None, (recording.device_model, system))),
        f"{recording.duration_ns / 1e9:.1f} s" if recording.duration_ns is not None else None,
        recording.template,
        f"config {config}" if config else None,
    )
    return " · ".join(filter(None, parts))


def _findings(report: Report, layout: Layout, room: int) -> tuple[list[Text], int]:
    """All findings in detail where there is room, else those that cost most; the others in a line each, as far as these
    fit, and how many are left out."""
    groups = findings(report.checks)
    blocks: list[list[Text]] = []
    if not report.summary.evaluated:
        # What is wrong with the recording is why nothing could be evaluated.
        health = [group for group in groups if group.first.pattern == Pattern.RECORDING]
        groups = tuple(group for group in groups if group not in health)
        blocks.append(inconclusive_lines(report, health, layout))
    details = [finding_lines(group, layout) for group in groups]
    rows = [one_line(group, layout) for group in groups]
    shown = len(groups)
    room -= sum(len(lines) + 1 for lines in blocks)
    while shown > 1 and _length(details[:shown], rows[shown:]) > room:
        shown -= 1
    lines = [line for part in (*blocks, *details[:shown]) for line in (*part, Text())]
    rest = rows[shown:]
    fitting = max(room - _length(details[:shown], []) - 2, 1)
    hidden = max(len(rest) - fitting, 0) if sum(map(len, rest)) > fitting + 1 else 0
    lines += [line for row in rest[: len(rest) - hidden] for line in row]
    if hidden:
        lines.append(Text(f"{format_count(hidden, 'more finding')} (-v)", style="dim"))
    return [*lines, Text()] if rest else lines, hidden


def _length(details: Sequence[Sequence[Text]], rows: Sequence[Sequence[Text]]) -> int:
    return sum(len(lines) + 1 for lines in details) + sum(len(row) for row in rows) + bool(rows)


def _models(report: Report, layout: Layout) -> list[Text]:
    models = [model for model in report.models if model.level == "top" and model.prediction is not None]
    if not models:
        return []
    shown = models[:MODELS]
    inferred = [model for model in shown if is_inferred(model)]
    known = [model for model in shown if model not in inferred]
    lines: list[Text] = []
    if known:
        lines += layout.heading("MODELS", f"per prediction: mean, p95, where the time goes ({_LEGEND})")
        lines += _model_lines(known, layout)
    if inferred:
        lines += layout.heading("WHAT THE HARDWARE SHOWS", "lower bounds; Core ML's and the CPU's share is not visible")
        for model in inferred:
            lines += layout.hanging(Text(f"  {model.name}   {_inferred(model)}"), 4)
    if len(models) > len(shown):
        lines.append(Text(f"  {format_count(len(models) - len(shown), 'more model')} (-v)", style="dim"))
    return [*lines, Text()]


def _model_files(report: Report, layout: Layout) -> list[Text]:
    rows = file_rows(report)
    lines = layout.heading(TITLE.upper(), "") if rows else []
    for row in rows[:MODELS]:
        lines += layout.hanging(Text(f"  {row.model}  {row.facts}"), 4)
        for words in row.sentences:
            lines += layout.hanging(Text(f"    {words}", style="dim"), 4)
    if len(rows) > MODELS:
        lines.append(Text(f"  {format_count(len(rows) - MODELS, 'more file')} (-v)", style="dim"))
    return [*lines, Text()] if rows else []


def _model_lines(models: Sequence[ModelSummary], layout: Layout) -> list[Text]:
    room = min(max(len(model.name) for model in models), NAME_CELLS, max(layout.width - 26, 8))
    lines: list[Text] = []
    for model in models:
        numbers = model.prediction
        mean = formatting.duration(numbers.mean_ns if numbers else None)
        tail = formatting.duration(numbers.p95_ns if numbers else None)
        name = formatting.shorten(model.name, room)
        first = f"  {name}{' ' * (room - layout.cells(name))}  {mean:>9}  {tail:>9}"
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
    for words in dict.fromkeys(words for model in models for words in _meanings(model)):
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
_COMPUTE = ("Neural Engine", "GPU", "CPU")


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
    text, rate_of = ", ".join(parts), model.fps
    if rate_of is None:
        return text
    tail = f" ({frames(rate_of.at_p95)} at p95)" if rate_of.at_p95 is not None else ""
    # The rate is that of predictions alone: with several in flight, it is not what the app gets.
    concurrent = model.in_flight is not None and model.in_flight.max > 1
    words = "if run one at a time, fast enough for" if concurrent else "fast enough for"
    return f"{text}; {words} {frames(rate_of.at_mean)} fps{tail}"


def _inferred(model: ModelSummary) -> str:
    """What hardware rows tell of a model's predictions; each took at least that long."""
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


def _not_evaluated(report: Report, layout: Layout, tight: bool) -> list[Text]:
    """One entry for each remedy; instruments to add share one."""
    entries = remedies(report)
    failed = with_outcome(report.checks, "error")
    if not entries and not failed:
        return []
    room, max_lines = (TIGHT_REMEDIES, 1) if tight else (REMEDIES, 2)
    lines = layout.heading("NOT EVALUATED", "")
    for who, what in entries[:room]:
        lines += layout.hanging(Text.assemble("  ", (who, "bold"), f": {what}"), 4, max_lines=max_lines)
    if len(entries) > room:
        lines.append(Text(f"  {format_count(len(entries) - room, 'more reason')} (-v)", style="dim"))
    for check in failed[:room]:
        text = Text.assemble("  ", (f"{check.id} failed", "bold red"), f": {check.summary}")
        lines += layout.hanging(text, 4, max_lines=max_lines)
    return [*lines, Text()]


def _notes(report: Report, layout: Layout, tight: bool) -> list[Text]:
    notes = report.recording.notes
    room, max_lines = (TIGHT_NOTES, 1) if tight else (NOTES, 2)
    lines = [
        line
        for note in notes[:room]
        for line in layout.hanging(Text(f"note: {note}", style="dim"), 6, max_lines=max_lines)
    ]
    if len(notes) > room:
        lines.append(Text(f"{format_count(len(notes) - room, 'more note')} (-v)", style="dim"))
    return [*lines, Text()] if lines else []


def _savings(report: Report) -> str:
    savings = report.summary.savings_ns
    return f"est. savings up to {format_estimate(savings)}" if savings else ""


def _rest(totals: Totals) -> str:
    parts = [f"{format_count(totals.passed, 'check')} passed"]
    parts += [f"{totals.not_evaluated} not evaluated"] if totals.not_evaluated else []
    parts += [f"{totals.failed} failed"] if totals.failed else []
    return glued(", ".join(parts))
