"""The report as text, for a terminal or a pipe: the verdict first, then what to do, then the numbers."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from tracekit.report import formatting
from tracekit.report.columns import (
    OVERLAP_NOTE,
    WARM,
    WARM_NOTE,
    EventRow,
    by_model,
    event_columns,
    event_rows,
    model_columns,
    model_rows,
)
from tracekit.report.groups import findings, names, obstacles, with_outcome
from tracekit.report.screen import GLUE, glued, heading, labelled, markdown, paragraph, table
from tracekit.report.strings import map_strings
from tracekit.units import format_count, format_duration, format_share

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tracekit.analysis.aggregation import AggregationRow
    from tracekit.report.groups import Group
    from tracekit.report.model import Check, CoverageInfo, RecordingInfo, Report

FILE_WIDTH = 100
"""Width where there is no terminal."""

WIDEST = 120
"""Longer lines are hard to read, however wide the terminal."""

NARROWEST = 30
"""Below this, numbers would have to break."""

MODELS_PER_FINDING = 5
EVENT_LINES = 24
MODEL_LINES = 12
NOTES = 5
"""How much of each part is shown without `verbose`: what one looks at before deciding to look closer."""

SEVERITY_STYLES = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan"}

STATE_WORDS = {"rows": "recorded", "empty": "empty", "missing": "missing", "unreadable": "unreadable"}


def render_text(report: Report, *, width: int, color: bool, verbose: bool = False) -> str:
    """The report in lines of at most `width` cells, with a line break at the end.

    `color` writes ANSI styles in the terminal's own sixteen colours. Nothing that the recording holds can write one.
    """
    width = min(max(width, NARROWEST), WIDEST)
    safe = map_strings(report, _safe)
    blocks = [
        *_verdict(safe),
        *_recording(safe.recording, width, verbose),
        *_findings(safe, width, verbose),
        *_not_judged(safe),
        *_models(safe, width, verbose),
        *_aggregation(safe, width, verbose),
        *_coverage(safe, width, verbose),
        *_rest(safe, width, verbose),
    ]
    return _printed(blocks, width, color)


def _safe(field: str, text: str) -> str:
    """A text of the report that cannot act on the screen."""
    return formatting.visible(text, multiline=True) if field == "fix" else glued(formatting.visible(text))


def _printed(blocks: list[RenderableType], width: int, color: bool) -> str:
    """Blocks as text. What rich would ask the environment for is given, so that the output is the same anywhere."""
    file = StringIO()
    console = Console(
        file=file,
        width=width,
        height=1000,
        force_terminal=color,
        force_jupyter=False,
        color_system="standard" if color else None,
        no_color=not color,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for block in blocks:
        console.print(block)
    return "\n".join(line.rstrip() for line in file.getvalue().replace(GLUE, " ").splitlines()) + "\n"


def _verdict(report: Report) -> list[RenderableType]:
    summary = report.summary
    worst = next((check.severity for check in report.checks if check.severity), None)
    if worst:
        style = SEVERITY_STYLES.get(worst, "bold")
    else:
        style = "green" if summary.judged and not summary.errors else "yellow"
    return [Text(summary.verdict, style=f"bold {style}"), Text()]


def _recording(recording: RecordingInfo, width: int, verbose: bool) -> list[RenderableType]:
    lines = [("Recording", _source(recording)), ("Target", _target(recording)), ("Made with", _made_with(recording))]
    if recording.arguments:
        lines.append(("Arguments", recording.arguments))
    if recording.redacted and verbose:
        lines.append(("Privacy", "names of devices, users and other processes are left out (--no-redact keeps them)"))
    notes = recording.notes if verbose else recording.notes[:NOTES]
    lines += [("Note", note) for note in notes]
    if len(notes) < len(recording.notes):
        lines.append(("Note", f"{len(recording.notes) - len(notes)} more with -v"))
    return labelled([(Text(label, style="dim"), Text(text)) for label, text in lines if text], width, indent=0)


def _source(recording: RecordingInfo) -> str:
    runs = f"run {recording.run}" + (f" of {len(recording.runs)}" if len(recording.runs) > 1 else "")
    started = (recording.start_date or "")[:16].replace("T", " ")
    length = glued(format_duration(recording.duration_ns)) if recording.duration_ns is not None else ""
    ended = f"ended: {recording.end_reason}" if recording.end_reason else ""
    return _joined(recording.source, runs, started, length, ended)


def _target(recording: RecordingInfo) -> str:
    pid = f" (pid {recording.target_pid})" if recording.target_pid is not None else ""
    kind = recording.target_kind if recording.target_kind != "all-processes" else None
    device = _joined(recording.device_name, recording.device_model, recording.platform, recording.os_version)
    target = f"{recording.target}{pid}" if recording.target else ""
    return _joined(target, kind, device)


def _made_with(recording: RecordingInfo) -> str:
    template = f"template {recording.template}" if recording.template else ""
    version = f"Instruments {recording.instruments_version}" if recording.instruments_version else ""
    mode = f"{recording.recording_mode} mode" if recording.recording_mode else ""
    return _joined(template, version, mode, recording.form)


def _joined(*parts: str | None) -> str:
    return " · ".join(part for part in parts if part)


def _findings(report: Report, width: int, verbose: bool) -> list[RenderableType]:
    groups = findings(report.checks)
    if not groups:
        return []
    blocks: list[RenderableType] = [heading("Findings")]
    for index, group in enumerate(groups):
        blocks += ([Text()] if index else []) + _finding(group, width, verbose)
    return blocks


def _finding(group: Group, width: int, verbose: bool) -> list[RenderableType]:
    first = group.first
    severity = first.severity or ""
    title = Text(overflow="fold")
    title.append(f"{severity.upper()}  ", style=SEVERITY_STYLES.get(severity, "bold"))
    title.append(first.title, style="bold").append(f"  {first.id}", style="dim")
    blocks: list[RenderableType] = [title, paragraph(first.why, 2)]
    if len(group.checks) > 1:
        cost = glued(f"Together the fix could win back up to {format_duration(group.cost_ns)} (sum).")
        blocks.append(paragraph(cost, 2))
    blocks.append(Text())
    shown = group.checks if verbose else group.checks[:MODELS_PER_FINDING]
    several = len(group.severities) > 1
    blocks += labelled([(_model_label(check), _numbers(check, several, verbose)) for check in shown], width)
    if len(shown) < len(group.checks):
        more = format_count(len(group.checks) - len(shown), "more model")
        blocks.append(paragraph(Text(f"and {more} with -v", style="dim"), 2))
    blocks += [Text(), paragraph(Text("Fix", style="bold"), 2), *markdown(first.fix, 2)]
    if verbose:
        blocks += [paragraph(Text(f"{entry.title}: {entry.url}", style="dim"), 2) for entry in first.references]
    return blocks


def _model_label(check: Check) -> Text:
    return Text(formatting.shorten(check.model or "recording", 32), style="bold", no_wrap=True)


def _numbers(check: Check, several: bool, verbose: bool) -> Text:
    """What was measured for one model, what it costs, and where to look."""
    text = Text(check.summary, overflow="fold")
    if check.cost:
        share = f"{glued(format_share(check.cost.share))} of what {'this model' if check.model else 'the models'} spent"
        severity = f"{check.severity}: " if several else ""
        text.append(f"\n{severity}", style=SEVERITY_STYLES.get(check.severity or "", ""))
        text.append("could win back up to ").append(glued(format_duration(check.cost.ns)), style="bold")
        text.append(f", {share}")
    text.append(f"\n{_where(check, 10 if verbose else 2)}" if check.evidence else "", style="dim")
    if verbose:
        for metric in check.metrics:
            limit = f", a problem at {formatting.condition(metric)}" if formatting.condition(metric) else ""
            text.append(f"\n{metric.name}: {formatting.quantity(metric.value, metric.unit)}{limit}", style="dim")
        if check.cost:
            text.append(f"\ncost: {check.cost.basis}", style="dim")
    return text


def _where(check: Check, limit: int) -> str:
    shown = check.evidence[:limit]
    rest = check.evidence_total - len(shown)
    more = f" and {rest:,} more" if rest > 0 else ""
    return f"at {', '.join(glued(formatting.span(entry)) for entry in shown)}{more}"


def _not_judged(report: Report) -> list[RenderableType]:
    errors = with_outcome(report.checks, "error")
    blocked = obstacles(report.checks)
    if not errors and not blocked:
        return []
    blocks: list[RenderableType] = [heading("Not judged")]
    for obstacle in blocked:
        # The verdict has just said it.
        told = obstacle.reason.rstrip(".")[1:] in report.summary.verdict and not report.summary.judged
        which = ", ".join(names(obstacle.checks))
        blocks.append(paragraph(Text(which, style="bold"), 2))
        lines = ([] if told else [obstacle.reason]) + ([obstacle.record] if obstacle.record else [])
        blocks += [paragraph(line, 4) for line in lines]
    for check in errors:
        label = Text(f"{check.id} failed", style="bold red")
        about = f" on {formatting.shorten(check.model, 32)}" if check.model else ""
        blocks += [paragraph(label.append(about), 2), paragraph(check.summary, 4)]
    return blocks


def _models(report: Report, width: int, verbose: bool) -> list[RenderableType]:
    rows = model_rows(report.models)
    if not rows:
        return []
    shown = list(rows)
    if not verbose and len(rows) > MODEL_LINES:
        shown = [*rows[: MODEL_LINES - 1], rows[-1]]
    drawn = table(
        [(row.name, row) for row in shown],
        model_columns(rows),
        width,
        "model",
        emphasise=lambda row: len(rows) > 1 and row is rows[-1],
    )
    blocks = [heading("Models"), drawn.block]
    if len(shown) < len(rows):
        blocks.append(paragraph(Text(f"{len(rows) - len(shown)} more models with -v", style="dim"), 2))
    return blocks


def _aggregation(report: Report, width: int, verbose: bool) -> list[RenderableType]:
    lines, hidden = _event_lines(report.aggregation, verbose)
    rows = [row for _, row in lines if row is not None]
    if not rows:
        return []
    drawn = table(lines, event_columns(rows), width, "event")
    notes = [f"{format_count(hidden, 'more line')} with -v"] if hidden else []
    if "elapsed" in drawn.titles:
        notes.append(OVERLAP_NOTE)
    if any(row.event.endswith(WARM) for row in rows):
        notes.append(WARM_NOTE)
    if drawn.absent:
        notes.append(formatting.ABSENT_NOTE)
    dim = [paragraph(Text(note, style="dim"), 2) for note in notes]
    return [heading("Events by model"), drawn.block, *([Text(), *dim] if dim else [])]


def _event_lines(rows: tuple[AggregationRow, ...], verbose: bool) -> tuple[list[tuple[str, EventRow | None]], int]:
    """Lines of the aggregation with a heading per model, and how many were left out."""
    lines: list[tuple[str, EventRow | None]] = []
    hidden = 0
    for model, group in by_model(rows).items():
        entries = [entry for row in group for entry in event_rows(row)]
        if not verbose and lines and len(lines) + len(entries) > EVENT_LINES:
            hidden += len(entries)
            continue
        lines += [(model or "no model named", None), *((f"  {entry.event}", entry) for entry in entries)]
    return lines, hidden


def _coverage(report: Report, width: int, verbose: bool) -> list[RenderableType]:
    told = {check.summary for check in report.checks if check.outcome == "insufficient_data"}
    limiting = [entry for entry in report.coverage if entry.state != "rows" or entry.advice]
    shown = report.coverage if verbose else [entry for entry in limiting if entry.conclusion not in told]
    if not shown:
        return []
    single = shown if verbose else [entry for entry in shown if entry.state != "missing"]
    pairs = [(Text(entry.instrument), _entry(entry, verbose)) for entry in single]
    missing = [] if verbose else [entry.instrument for entry in shown if entry.state == "missing"]
    if missing:
        what = Text(f"{formatting.listed(missing)} (-v says what follows)", overflow="fold")
        pairs.append((Text("Missing", style="bold"), what))
    return [heading("Coverage"), *labelled(pairs, width)]


def _entry(entry: CoverageInfo, verbose: bool) -> Text:
    """State of one instrument and what follows from it."""
    rows = f" ({format_count(entry.rows, 'row')})" if entry.rows else ""
    body = Text(overflow="fold")
    body.append(f"{STATE_WORDS[entry.state]}{rows}: ", style="bold" if entry.state != "rows" else "")
    return body.append(" ".join(filter(None, (entry.conclusion, entry.advice if verbose else ""))))


def _rest(report: Report, width: int, verbose: bool) -> list[RenderableType]:
    blocks: list[RenderableType] = []
    for outcome, title in (("passed", "Passed"), ("not_applicable", "Not applicable")):
        checks = with_outcome(report.checks, outcome)
        if checks and verbose:
            pairs = [(Text(check.id), Text(_joined(check.model, check.summary))) for check in checks]
            blocks += [heading(title), *labelled(pairs, width)]
        elif checks:
            line = Text(f"{title}: ", style="bold").append(f"{', '.join(names(checks))}", style="not bold")
            blocks += ([] if blocks else [Text()]) + [paragraph(line)]
    return blocks
