"""The lines that the formats share: what was recorded, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tracekit.report import formatting
from tracekit.report.groups import Totals, count_checks
from tracekit.report.renderers.text_layout import glued
from tracekit.report.verdict import STACKS_ALONE
from tracekit.trace.coverage import unreadable_tables
from tracekit.units import format_count, format_estimate

if TYPE_CHECKING:
    from tracekit.report.renderers.concise_layout import Layout
    from tracekit.report.report import RecordingInfo, Report


def context_line(recording: RecordingInfo, config: str | None) -> str:
    """One line: which recording of what, where and how long."""
    pid = formatting.pid_suffix(recording)
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


def summary_line(report: Report) -> Text:
    """Counts by check and the estimated savings of all fixes together, in one line."""
    totals, summary, unread = count_checks(report.results), report.summary, unreadable_tables(report.tables)
    if not summary.evaluated and not summary.errors:
        count = format_count(totals.not_evaluated, "check")
        from_stacks = [finding for finding in report.findings if finding.id in STACKS_ALONE]
        beside = f" · {format_count(len(from_stacks), 'finding')} from call stacks" if from_stacks else ""
        status = "exit status 2" if unread else "exit status 3"
        return Text(f"Inconclusive: {count} not evaluated{beside} · {status}", style="bold yellow")
    parts = [totals.findings_in_words, _savings(report), _rest(totals), "; ".join(unread)]
    clean = "yellow" if totals.errors or unread else "green"
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


def _savings(report: Report) -> str:
    savings = report.summary.savings_ns
    return f"est. savings up to {format_estimate(savings)}" if savings else ""


def _rest(totals: Totals) -> str:
    parts = [f"{format_count(totals.passed, 'check')} passed"]
    parts += [f"{totals.not_evaluated} not evaluated"] if totals.not_evaluated else []
    parts += [format_count(totals.errors, "error")] if totals.errors else []
    return glued(", ".join(parts))
