"""The report as text, for a terminal or a pipe: the verdict first, then what to do, then the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tracekit.characters import map_strings
from tracekit.report import formatting, over_time
from tracekit.report.columns import (
    OVERLAP_NOTE,
    SUM_NOTE,
    WARM,
    WARM_NOTE,
    EventRow,
    by_model,
    event_columns,
    event_rows,
    model_columns,
    model_rows,
    overlapping,
    without_small_processes,
)
from tracekit.report.groups import names, skip_reasons, with_outcome, would_help
from tracekit.report.model_file_words import TITLE as TITLE_OF_FILES
from tracekit.report.model_file_words import file_rows
from tracekit.report.renderers.call_sites import code_blocks
from tracekit.report.renderers.concise_layout import Layout
from tracekit.report.renderers.summary import summary_lines
from tracekit.report.renderers.text_findings import SEVERITY_STYLES, finding_blocks, not_evaluated_blocks
from tracekit.report.renderers.text_layout import NARROWEST, WIDEST, glued, heading, labeled, paragraph, printed, table
from tracekit.report.time_breakdown import TITLE, legend, parts_notes, parts_rows
from tracekit.units import format_count, format_duration, format_estimate

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from rich.console import RenderableType

    from tracekit.report.report import CoverageInfo, RecordingInfo, Report


EVENT_LINES = 24
MODEL_LINES = 12
OTHER_PROCESSES = 4
NOTES = 5
"""How much of each part is shown without `verbose`: what one looks at before deciding to look closer."""

SHORT_LIST = 3
"""Reasons for which checks were not evaluated that are read at a glance."""

BAR = 40
"""Cells of a bar, 2.5% each, where half the width has room for them."""


PARTS = ("findings", "models", "time", "events", "code", "coverage")
"""Parts of the whole report that can be printed alone."""


def render_text(
    report: Report, *, width: int, color: bool, verbose: bool = False, show: Collection[str] = PARTS
) -> str:
    """The whole report in lines of at most `width` cells, with a line break at the end; `verbose` leaves out nothing.

    `show` names the parts of `PARTS` to print; the summary comes last. `color` writes ANSI styles in the terminal's own
    sixteen colors. Nothing that the recording holds can write one.
    """
    width = min(max(width, NARROWEST), WIDEST)
    safe = map_strings(report, _safe)
    parts = {
        "findings": [*finding_blocks(safe, width, verbose), *not_evaluated_blocks(safe, verbose)],
        "models": [*_models(safe, width, verbose), *_model_files(safe, width)],
        "time": [*_time_parts(safe, width, verbose), *_over_time(safe, width, verbose)],
        "events": _aggregation(safe, width, verbose),
        "code": code_blocks(safe.code, width),
        "coverage": [*_coverage(safe, width, verbose), *_rest(safe, width, verbose)],
    }
    blocks = [*_verdict(safe), *_recording(safe, width, verbose)]
    blocks += [block for name, part in parts.items() if name in show for block in part]
    blocks += [Text(), *summary_lines(safe, Layout(width), full=verbose)]
    return printed(blocks, width, color)


def _safe(field: str, text: str) -> str:
    """A text of the report that cannot act on the screen."""
    return formatting.visible(text, multiline=True) if field in formatting.PROSE else glued(formatting.visible(text))


def _verdict(report: Report) -> list[RenderableType]:
    summary = report.summary
    severities = {check.severity for check in report.results}
    worst = next((severity for severity in SEVERITY_STYLES if severity in severities), None)
    clean = "green" if summary.evaluated and not summary.errors else "yellow"
    lines = [Text(summary.verdict, style=f"bold {SEVERITY_STYLES[worst] if worst else clean}")]
    if summary.savings_ns and len({check.id for check in report.results if check.cost}) > 1:
        lines.append(
            Text(f"Estimated savings, all fixes combined: up to {glued(format_estimate(summary.savings_ns))}.")
        )
    advice = would_help(report.results)
    # Where there is hardly more to say, it stands further down in few words.
    if summary.evaluated and advice and len(skip_reasons(report.results, together=True)) > SHORT_LIST:
        lines.append(
            Text(f"To evaluate more checks: {'; '.join(formatting.clause(text.rstrip('.')) for text in advice)}.")
        )
    return [*lines, Text()]


def _recording(report: Report, width: int, verbose: bool) -> list[RenderableType]:
    recording = report.recording
    lines = [
        ("Recording", _source(recording)),
        ("Target", _target(recording)),
        ("Recorded with", _recorded_with(recording, verbose)),
    ]
    if recording.arguments:
        lines.append(("Arguments", recording.arguments))
    if recording.redacted and verbose:
        lines.append(("Privacy", "names of devices, users and other processes are redacted (--no-redact keeps them)"))
    if report.tool.config:
        lines.append(("Config", report.tool.config))
    # Tables that no check reads are left to those who want to know everything.
    notes = (
        dict.fromkeys((*recording.notes, *formatting.incomplete_tables(report.tables)))
        if verbose
        else recording.notes[:NOTES]
    )
    lines += [("Note", note) for note in notes]
    if len(notes) < len(recording.notes):
        lines.append(("Note", f"{len(recording.notes) - len(notes)} more (-v)"))
    return labeled([(Text(label, style="dim"), Text(text)) for label, text in lines if text], width, indent=0)


def _source(recording: RecordingInfo) -> str:
    runs = f"run {recording.run}" + (f" of {len(recording.runs)}" if len(recording.runs) > 1 else "")
    started = formatting.started_at(recording.start_date or "")
    length = glued(format_duration(recording.duration_ns)) if recording.duration_ns is not None else ""
    end = formatting.ended(recording.end_reason or "")
    end = f"ended: {end}" if end and end == recording.end_reason else end
    return _joined(recording.source, runs, started, length, end)


def _target(recording: RecordingInfo) -> str:
    pid = formatting.pid_suffix(recording)
    kind = recording.target_kind if recording.target_kind != "all-processes" else None
    system = " ".join(filter(None, (recording.platform, recording.os_version)))
    device = _joined(recording.device_name, recording.device_model, system)
    target = f"{recording.target}{pid}" if recording.target else ""
    return _joined(target, kind, device)


def _recorded_with(recording: RecordingInfo, verbose: bool) -> str:
    template = f"{recording.template} template" if recording.template else ""
    version = f"Instruments {recording.instruments_version}" if recording.instruments_version else ""
    mode = f"{recording.recording_mode} mode" if recording.recording_mode and verbose else ""
    return ", ".join(filter(None, (template, version, mode, recording.input_type if verbose else "")))


def _joined(*parts: str | None) -> str:
    return " · ".join(part for part in parts if part)


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
        emphasize=lambda row: len(rows) > 1 and row is rows[-1],
    )
    blocks = [heading("Models"), drawn.block]
    if len(shown) < len(rows):
        blocks.append(paragraph(Text(f"{len(rows) - len(shown)} more models (-v)", style="dim"), 2))
    return blocks


def _model_files(report: Report, width: int) -> list[RenderableType]:
    rows = file_rows(report)
    lines = [(Text(row.model), Text("\n".join((row.facts, *row.sentences)))) for row in rows]
    return [heading(TITLE_OF_FILES), *labeled(lines, width)] if rows else []


def _time_parts(report: Report, width: int, verbose: bool) -> list[RenderableType]:
    rows = parts_rows(report.models)
    if not rows:
        return []
    shown = rows if verbose else rows[:MODEL_LINES]
    lines = [(Text(row.name), Text(row.bar(min(BAR, width // 2))).append(f"\n{glued(row.sentence)}")) for row in shown]
    notes = [f"{len(rows) - len(shown)} more models (-v)"] if len(shown) < len(rows) else []
    notes += [legend(shown), *parts_notes(shown)]
    dim = [paragraph(Text(note, style="dim"), 2) for note in notes]
    return [heading(TITLE), *labeled(lines, width), Text(), *dim]


def _over_time(report: Report, width: int, verbose: bool) -> list[RenderableType]:
    rows = over_time.time_rows(report.models)
    if not rows:
        return []
    shown = rows if verbose else rows[:MODEL_LINES]
    notes = [f"{len(rows) - len(shown)} more models (-v)"] if len(shown) < len(rows) else []
    notes.append(over_time.NOTE)
    dim = [paragraph(Text(note, style="dim"), 2) for note in notes]
    lines = [(Text(row.name), Text(glued(row.sentence))) for row in shown]
    return [heading(over_time.TITLE), *labeled(lines, width), Text(), *dim]


def _aggregation(report: Report, width: int, verbose: bool) -> list[RenderableType]:
    lines, hidden = _event_lines(report, verbose)
    rows = [row for _, row in lines if row is not None]
    if not rows:
        return []
    drawn = table(lines, event_columns(rows), width, "event")
    notes = [f"{format_count(hidden, 'more row')} (-v)"] if hidden else []
    if overlapping(row.statistics for row in rows):
        notes.append(OVERLAP_NOTE if "elapsed" in drawn.titles else SUM_NOTE)
    if any(row.event.endswith(WARM) for row in rows):
        notes.append(WARM_NOTE)
    if drawn.absent:
        notes.append(formatting.ABSENT_NOTE)
    dim = [paragraph(Text(note, style="dim"), 2) for note in notes]
    return [heading("Events by model"), drawn.block, *([Text(), *dim] if dim else [])]


def _event_lines(report: Report, verbose: bool) -> tuple[list[tuple[str, EventRow | None]], int]:
    """Lines of the aggregation with a heading per model, and how many were left out."""
    lines: list[tuple[str, EventRow | None]] = []
    rows = report.aggregation if verbose else without_small_processes(report, OTHER_PROCESSES)
    hidden = len(report.aggregation) - len(rows)
    for model, group in by_model(rows).items():
        entries = [entry for row in group for entry in event_rows(row)]
        if not verbose and lines and len(lines) + len(entries) > EVENT_LINES:
            hidden += len(entries)
            continue
        lines += [(model or "unattributed", None), *((f"  {entry.event}", entry) for entry in entries)]
    return lines, hidden


def _coverage(report: Report, width: int, verbose: bool) -> list[RenderableType]:
    summaries = {check.summary for check in report.results if check.outcome == "not_evaluated"}
    limiting = [entry for entry in report.coverage if entry.state != "rows" or entry.advice]
    shown = report.coverage if verbose else [entry for entry in limiting if entry.conclusion not in summaries]
    if not shown:
        return []
    in_detail, alike = (shown, {}) if verbose else _alike(shown)
    pairs = [(Text(entry.instrument), _entry(entry, verbose)) for entry in in_detail]
    for state, entries in alike.items():
        words = state[:1].upper() + state[1:]
        what = formatting.listed(entry.instrument for entry in entries)
        what += "" if entries[0].state == "empty" else " (details: -v)"
        pairs.append((Text(words, style="bold"), Text(what, overflow="fold")))
    return [heading("Coverage"), *labeled(pairs, width)]


def _alike(entries: Iterable[CoverageInfo]) -> tuple[list[CoverageInfo], dict[str, list[CoverageInfo]]]:
    """What deserves a line of its own, and by state the instruments of which the same is to be said."""
    in_detail: list[CoverageInfo] = []
    alike: dict[str, list[CoverageInfo]] = {}
    for entry in entries:
        if entry.state in {"missing", "unreadable"} or (entry.state == "empty" and not entry.advice):
            alike.setdefault(formatting.coverage_state(entry), []).append(entry)
        else:
            in_detail.append(entry)
    return in_detail, alike


def _entry(entry: CoverageInfo, verbose: bool) -> Text:
    """State of one instrument and what follows from it."""
    rows = f" ({format_count(entry.rows, 'row')})" if entry.rows else ""
    body = Text(overflow="fold")
    state = formatting.coverage_state(entry)
    body.append(f"{state}{rows}", style="bold" if entry.state != "rows" else "")
    # Such conclusions only repeat the state.
    repeated = state in {"not recorded", "not exported"} or (entry.state == "empty" and not entry.advice)
    explanation = " ".join(filter(None, ("" if repeated else entry.conclusion, entry.advice if verbose else "")))
    return body.append(f"{'.' if repeated else ':'} {explanation}" if explanation else "")


def _rest(report: Report, width: int, verbose: bool) -> list[RenderableType]:
    blocks: list[RenderableType] = []
    for outcome, title in (("passed", "Passed"), ("not_applicable", "Not applicable")):
        checks = with_outcome(report.results, outcome)
        if checks and verbose:
            pairs = [(Text(check.id), Text(_joined(check.model, check.summary))) for check in checks]
            blocks += [heading(title), *labeled(pairs, width)]
        elif checks:
            line = Text(f"{title}: ", style="bold").append(", ".join(names(checks, report.results)), style="not bold")
            blocks += ([] if blocks else [Text()]) + [paragraph(line)]
    return blocks
