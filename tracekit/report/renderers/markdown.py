"""The report as GitHub flavoured Markdown, for issues and pull requests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tracekit.report import formatting, over_time
from tracekit.report.columns import (
    OVERLAP_NOTE,
    WARM,
    WARM_NOTE,
    by_model,
    event_columns,
    event_rows,
    model_columns,
    model_rows,
)
from tracekit.report.groups import findings, names, skip_reasons, with_outcome
from tracekit.report.renderers.concise_findings import included_above
from tracekit.report.strings import map_strings
from tracekit.report.time_breakdown import TITLE, frames, parts_notes, parts_rows, shown_groups
from tracekit.units import format_count, format_duration, format_estimate, format_share, format_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tracekit.analysis.aggregation import AggregationRow
    from tracekit.detectors.outcomes import Cost
    from tracekit.report.groups import Group
    from tracekit.report.report import Check, RecordingInfo, Report

EVIDENCE_SHOWN = 5
"""Intervals listed per model: enough to find the place in Instruments."""

MODELS_SHOWN = 25
EVENTS_SHOWN = 150
"""Most lines of a table: GitHub takes no more than 65,536 characters in a comment. The JSON report holds all."""

_ACTIVE = re.compile(r"([\\`*_\[\]<>|~$&])")
"""Characters that Markdown, HTML or a formula would act on."""

_LINKING = re.compile(r"(?<=\w)(?=://)|(?<=@)(?=\w)|(?<=#)(?=\d)|(?<=\bwww)(?=\.)", re.IGNORECASE)
"""Places where GitHub would make a link, a mention or a reference of plain text."""


def render_markdown(report: Report) -> str:
    """The report as Markdown, with a line break at the end. Names from the recording stay text whatever they hold."""
    safe = map_strings(report, lambda field, text: formatting.visible(text, multiline=field == "fix"))
    parts = [
        f"## {sentence(safe.summary.verdict)}",
        _savings(safe),
        _recording(safe.recording),
        *(finding(group) for group in findings(safe.checks)),
        _not_evaluated(safe),
        _passed(safe),
        _models(safe),
        _time_parts(safe),
        _over_time(safe),
        _aggregation(safe),
        _coverage(safe),
        _made_by(safe),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _savings(report: Report) -> str:
    """What all fixes save together."""
    savings = report.summary.win_back_ns
    return f"Estimated savings, all fixes combined: up to {format_estimate(savings)}." if savings else ""


def _made_by(report: Report) -> str:
    """What wrote the report, and with whose settings."""
    settings = f", config {code(report.tool.settings)}" if report.tool.settings else ""
    return f"<sub>{report.tool.name} {report.tool.version}, report version {report.schema_version}{settings}</sub>"


def escape(text: str) -> str:
    """Text inside a line that Markdown shows as it is: no emphasis, code, HTML, link or mention."""
    return _LINKING.sub("<!-- -->", _ACTIVE.sub(r"\\\1", text))


def sentence(text: str) -> str:
    """As `escape`, with what stands between backticks as code: our own sentences name commands that way."""
    parts = re.split(r"`([^`]+)`", text)
    return "".join(code(part) if index % 2 else escape(part) for index, part in enumerate(parts))


def code(text: str) -> str:
    """A name as code, whatever backticks it holds. A `|` becomes `¦`: no escape is right both in and out of tables."""
    inner = text.replace("|", "¦").strip() or " "
    longest = max((len(run) for run in re.findall("`+", inner)), default=0)
    fence = "`" * (longest + 1)
    edge = " " if inner.startswith("`") or inner.endswith("`") else ""
    return f"{fence}{edge}{inner}{edge}{fence}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A table whose first `words` columns are words and the rest numbers."""
    rule = [":--" if index < words else "--:" for index in range(len(header))]
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, rule, *rows))


def _details(summary: str, body: str) -> str:
    """A part that is closed at first."""
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


def _recording(recording: RecordingInfo) -> str:
    runs = f"{recording.run} of {len(recording.runs)}" if len(recording.runs) > 1 else str(recording.run)
    pid = f" (pid {recording.target_pid})" if recording.target_pid is not None else ""
    kind = f", {escape(recording.target_kind.replace('-', ' '))}" if recording.target_kind else ""
    system = " ".join(filter(None, (recording.platform, recording.os_version)))
    facts = {
        "Recording": code(recording.source),
        "Run": runs,
        "Target": f"{code(recording.target)}{pid}{kind}" if recording.target else kind.removeprefix(", "),
        "Arguments": code(recording.arguments) if recording.arguments else "",
        "Device": escape(", ".join(filter(None, (recording.device_name, recording.device_model, system)))),
        "Template": escape(recording.template or ""),
        "Instruments": escape(recording.instruments_version or ""),
        "Started": escape(recording.start_date or ""),
        "Duration": format_duration(recording.duration_ns) if recording.duration_ns is not None else "",
        "Ended": escape(formatting.ended(recording.end_reason or "")),
    }
    lines = [f"- {name}: {value}" for name, value in facts.items() if value]
    lines += [f"- Note: {sentence(note)}" for note in recording.notes]
    if recording.redacted:
        lines.append("- Names of devices, users and other processes are redacted.")
    return "\n".join(lines)


def finding(group: Group) -> str:
    """A finding with its costs, fix and intervals. Its strings must be `visible`."""
    first, shown = group.first, group.checks[:MODELS_SHOWN]
    parts = [
        f"### {(first.severity or '').capitalize()}: {escape(first.title)}",
        f"{code(first.id)}. {sentence(first.why)}",
        _costs(group),
        "**Fix**",
        first.fix.strip(),
        _details(
            "Evidence (times since the start of the run, rows numbered from 0)",
            "\n\n".join(_evidence(check) for check in shown if check.evidence),
        ),
        _details("Measurements", "\n\n".join(_measured(check) for check in shown)),
        _sources(first),
    ]
    return "\n\n".join(part for part in parts if part)


def other_check(check: Check) -> str:
    """A check that is no finding, and what is missing where it was not evaluated. Its strings must be `visible`."""
    words = formatting.OUTCOMES[check.outcome].capitalize()
    about = f"{code(check.id)}, {code(check.model)}" if check.model is not None else code(check.id)
    parts = [
        f"### {words}: {escape(check.title)}" if check.outcome == "passed" else f"### {words}: {code(check.id)}",
        f"{about}. {sentence(check.summary)}",
        f"To evaluate this: {sentence(check.record)}" if check.record else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _sources(check: Check) -> str:
    lines = [f"- [{escape(entry.title)}]({entry.url})" for entry in check.references]
    return "\n".join(["**Sources**", "", *lines]) if lines else ""


def _costs(group: Group) -> str:
    """What was found and what the fix saves, per model and together."""
    shown = group.checks[:MODELS_SHOWN]
    rows = [
        [
            code(check.model) if check.model else "recording",
            check.severity or "",
            " ".join(map(sentence, (check.summary, *check.caveats, *_relations(check), *_included(check)))),
            f"up to {format_estimate(check.cost.ns)}" if check.cost else formatting.ABSENT,
            _share(check.cost),
        ]
        for check in shown
    ]
    if len(group.checks) > 1 and group.net_ns is not None:
        total = f"**up to {format_estimate(group.net_ns)}**"
        rows.append([f"**all {len(group.checks)}**", "", _left_out(len(group.checks) - len(shown)), total, ""])
    return table(["Model", "Severity", "Details", "Est. savings", "Share of its time"], rows, words=3)


def _share(cost: Cost | None) -> str:
    """The share, and of what where the heading of the column does not say so."""
    if cost is None:
        return formatting.ABSENT
    return f"{format_share(cost.share)}{f' of {escape(cost.of)}' if cost.of else ''}"


def _relations(check: Check) -> list[str]:
    """Other findings that may share its cause, one sentence each."""
    return [f"{formatting.RELATIONS[other.relation].capitalize()}: `{other.id}`." for other in check.related]


def _included(check: Check) -> list[str]:
    """Says where its savings are part of findings above too."""
    words = included_above(check.net_ns, check.cost.ns).removeprefix(", ") if check.cost else ""
    return [f"{words[0].upper()}{words[1:]}."] if words else []


def _left_out(number: int) -> str:
    """Says that a table does not show everything; empty where it does."""
    return f"{number:,} more in the JSON report" if number > 0 else ""


def _evidence(check: Check) -> str:
    """The intervals that weigh most, as a list."""
    shown = check.evidence[:EVIDENCE_SHOWN]
    lines = [
        f"- {formatting.moment(entry.start_ns)} – {formatting.moment(entry.end_ns)} "
        f"({format_duration(entry.end_ns - entry.start_ns)}): {code(entry.label)}, {code(entry.table)} row {entry.row}"
        for entry in shown
    ]
    rest = check.evidence_total - len(shown)
    if rest > 0:
        lines.append(f"- {rest:,} more")
    about = f"{code(check.model)}:\n\n" if check.model else ""
    return about + "\n".join(lines)


def _measured(check: Check) -> str:
    """The numbers that decided, and how the cost was worked out."""
    rows = [
        [escape(metric.name), formatting.quantity(metric.value, metric.unit), formatting.condition(metric)]
        for metric in check.metrics
    ]
    about = f"{code(check.model)}:\n\n" if check.model else ""
    cost = f"How the savings are estimated: {sentence(check.cost.basis)}" if check.cost else ""
    numbers = table(["Metric", "Value", "Reported at"], rows) if rows else ""
    return about + "\n\n".join(part for part in (numbers, cost) if part)


def _not_evaluated(report: Report) -> str:
    lines = [
        f"- {_ids(obstacle.checks, report)}: {sentence(obstacle.sentences)}"
        for obstacle in skip_reasons(report.checks, together=True)
    ]
    lines += [
        f"- {code(check.id)} failed{f' on {code(check.model)}' if check.model else ''}: {sentence(check.summary)}"
        for check in with_outcome(report.checks, "error")
    ]
    return "### Not evaluated\n\n" + "\n".join(lines) if lines else ""


def _ids(checks: Sequence[Check], report: Report) -> str:
    return ", ".join(code(name) for name in names(checks, report.checks))


def _passed(report: Report) -> str:
    lines = [
        f"{title}: {_ids(checks, report)}."
        for outcome, title in (("passed", "Passed"), ("not_applicable", "Not applicable"))
        if (checks := with_outcome(report.checks, outcome))
    ]
    return "\n\n".join(lines)


def _models(report: Report) -> str:
    rows = model_rows(report.models)
    if not rows:
        return ""
    columns = model_columns(rows)
    header = ["model", *(column.title.replace("\n", " ") for column in columns)]
    shown = rows if len(rows) <= MODELS_SHOWN else (*rows[: MODELS_SHOWN - 1], rows[-1])
    lines = [[code(row.name), *(column.cell(row) for column in columns)] for row in shown]
    return "\n\n".join(part for part in ("### Models", table(header, lines), _left_out(len(rows) - len(shown))) if part)


def _time_parts(report: Report) -> str:
    rows = parts_rows(report.models)
    if not rows:
        return ""
    shown = rows[:MODELS_SHOWN]
    groups = shown_groups(shown)
    header = ["model", "mean", *(group.name for group in groups), "fps", "fps at p95"]
    lines = []
    for row in shown:
        words = {part.group: part.words for part in row.slices}
        cells = [words.get(group, "") for group in groups]
        lines.append([code(row.name), format_time(row.mean_ns), *cells, frames(row.typical), frames(row.sustained)])
    notes = "\n".join(f"- {note}" for note in parts_notes(shown))
    left_out = _left_out(len(rows) - len(shown))
    return "\n\n".join(part for part in (f"### {TITLE}", table(header, lines), left_out, notes) if part)


def _over_time(report: Report) -> str:
    rows = over_time.time_rows(report.models)
    if not rows:
        return ""
    shown = rows[:MODELS_SHOWN]
    held = [place for place in range(len(over_time.COLUMNS)) if any(row.cells[place] for row in shown)]
    lines = [[code(row.name), *(row.cells[place] for place in held)] for row in shown]
    courses = "\n".join(f"- {code(row.name)}: {row.course}" for row in shown if row.course)
    grid = table(["model", *(over_time.COLUMNS[place] for place in held)], lines)
    left_out = _left_out(len(rows) - len(shown))
    parts = (f"### {over_time.TITLE}", grid, left_out, courses, f"- {over_time.NOTE}\n- {formatting.ABSENT_NOTE}")
    return "\n\n".join(part for part in parts if part)


def _aggregation(report: Report) -> str:
    lines = sum(len(event_rows(row)) for row in report.aggregation)
    if not lines:
        return ""
    return _details(f"Events by model ({format_count(lines, 'row')})", aggregation(report.aggregation))


def aggregation(aggregated: Iterable[AggregationRow]) -> str:
    """Statistics by model and event as a table, with notes. The strings must be `visible`; there must be a row."""
    lines = [
        (model, entry) for model, group in by_model(aggregated).items() for row in group for entry in event_rows(row)
    ]
    columns = event_columns([entry for _, entry in lines])
    header = ["model", "event", *(column.title for column in columns)]
    rows = [
        [code(model) if model else "", code(entry.event), *(column.cell(entry) for column in columns)]
        for model, entry in lines[:EVENTS_SHOWN]
    ]
    notes = [OVERLAP_NOTE] if any(column.title == "elapsed" for column in columns) else []
    notes += [WARM_NOTE] if any(entry.event.endswith(WARM) for _, entry in lines) else []
    notes.append(formatting.ABSENT_NOTE)
    if len(lines) > EVENTS_SHOWN:
        notes.append(_left_out(len(lines) - EVENTS_SHOWN))
    return f"{table(header, rows, words=3)}\n\n" + "\n".join(f"- {note}" for note in notes)


def _coverage(report: Report) -> str:
    if not report.coverage:
        return ""
    rows = [
        [
            escape(entry.instrument),
            formatting.coverage_state(entry),
            sentence(entry.conclusion),
            sentence(entry.advice),
            formatting.count(entry.rows),
        ]
        for entry in report.coverage
    ]
    body = table(["Instrument", "State", "Details", "To record it", "Rows"], rows, words=4)
    return _details("Coverage", body)
