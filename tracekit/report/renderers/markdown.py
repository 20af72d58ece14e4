"""The report as GitHub flavored Markdown, for issues and pull requests.

In the order of the screen, with the summary on top: findings with a row per model, models, what was not evaluated.
Evidence, measurements and all further numbers are folded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.analysis.quantities import MODEL
from tracekit.characters import map_strings
from tracekit.report import formatting, over_time
from tracekit.report.groups import findings, names, rank, skip_reasons, with_outcome
from tracekit.report.model_file_words import TITLE as TITLE_OF_FILES
from tracekit.report.model_file_words import file_rows
from tracekit.report.renderers.markdown_code import call_sites, nevertheless
from tracekit.report.renderers.markdown_findings import Section, finding_sections
from tracekit.report.renderers.markdown_tables import (
    MODELS_SHOWN,
    aggregation,
    coverage,
    loads_and_predictions,
    predictions_over_time,
    time_parts,
)
from tracekit.report.renderers.markdown_text import code, details, escape, left_out, paragraphs, sentence, table
from tracekit.report.renderers.remedies import remedies
from tracekit.report.renderers.summary import context_line, summary_line
from tracekit.report.time_breakdown import SHOWN, TITLE, each_first, parts_row
from tracekit.units import format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.analysis.models import ModelSummary
    from tracekit.report.groups import Group
    from tracekit.report.report import RecordingInfo, Report, Result

RECORDING = "Recording"
"""Title of the part with the facts about the recording."""


def render_markdown(report: Report) -> str:
    """The report as Markdown, with a line break at the end. Names from the recording stay text whatever they hold."""
    safe = legible(report)
    sections = [each for group in findings(safe.results) for each in finding_sections(group, label(group, safe))]
    sections += [*overview(safe), *folded(safe)]
    tool = f"{safe.tool.name} {safe.tool.version}, report version {safe.schema_version}"
    return paragraphs(*head(safe), *(section.text for section in sections), tool) + "\n"


def legible(report: Report) -> Report:
    """The report with texts that are fit for a screen, as all functions here expect it."""
    return map_strings(report, lambda field, text: formatting.visible(text, multiline=field in formatting.PROSE))


def head(report: Report) -> tuple[str, str]:
    """What a reader must see first: the summary, and what was recorded."""
    return f"## {_headline(report)}", escape(context_line(report.recording, report.tool.config))


def overview(report: Report) -> tuple[Section, ...]:
    """What follows the findings and is open at first."""
    return (
        Section("What ran nevertheless", nevertheless(report.code)),
        Section("Models", _models(report)),
        Section(TITLE_OF_FILES, _model_files(report)),
        Section("Not evaluated", _not_evaluated(report)),
        Section("Notes", _notes(report.recording)),
    )


def folded(report: Report) -> tuple[Section, ...]:
    """All further numbers, each part closed at first."""
    bodies = {
        "Loads and predictions": loads_and_predictions(report.models),
        TITLE: time_parts(report.models),
        over_time.TITLE: predictions_over_time(report.models),
        "Events by model": aggregation(report.aggregation),
        "Code": call_sites(report.code),
        "Coverage": coverage(report.coverage),
        "Checks": _checks(report),
        RECORDING: recording_facts(report.recording),
    }
    return tuple(Section(title, details(title, body)) for title, body in bodies.items())


def _headline(report: Report) -> str:
    """The summary line of the screen, or why nothing could be evaluated."""
    if report.summary.evaluated or report.summary.errors:
        return escape(summary_line(report).plain)
    return sentence(report.summary.verdict)


def label(group: Group, report: Report) -> str:
    """Its severity, or that it is why no check could be evaluated."""
    return rank(group.first, report).capitalize()


def _models(report: Report) -> str:
    """Median, p95, and where most of the time of the predictions goes."""
    models = [model for model in report.models if model.level == "top" and model.prediction is not None]
    if not models:
        return ""
    shown = models[:MODELS_SHOWN]
    header = ["model", "predictions", *(MODEL[name].title for name in SHOWN), "fps", "where the time goes"]
    body = table(header, [_model(model) for model in shown])
    notes = "\n".join(f"- {sentence(words)}" for words in each_first(shown))
    # The last column holds words.
    return paragraphs("### Models", body.replace("--: |\n", ":-- |\n", 1), left_out(len(models) - len(shown)), notes)


def _model(model: ModelSummary) -> list[str]:
    breakdown = model.breakdown
    return [
        code(model.name),
        formatting.count(model.predictions),
        *(formatting.duration(model.quantities.get(name)) for name in SHOWN),
        formatting.frames(model.quantities.get("fps")),
        parts_row(model.name, breakdown).headline
        if breakdown is not None and breakdown.total_ns
        else formatting.ABSENT,
    ]


def _not_evaluated(report: Report) -> str:
    lines = [f"- **{escape(who)}**: {sentence(what)}" for who, what in remedies(report)]
    lines += [
        f"- {code(check.id)}, error{f' on {code(check.model)}' if check.model else ''}: {sentence(check.summary)}"
        for check in with_outcome(report.results, "error")
    ]
    return paragraphs("### Not evaluated", "\n".join(lines)) if lines else ""


def _checks(report: Report) -> str:
    """Why checks were not evaluated, and which passed."""
    reasons = [
        f"- {_ids(skipped.results, report)}: {sentence(skipped.sentences)}"
        for skipped in skip_reasons(report.results, together=True)
    ]
    others = [
        f"{title}: {_ids(checks, report)}."
        for outcome, title in (("passed", "Passed"), ("not_applicable", "Not applicable"))
        if (checks := with_outcome(report.results, outcome))
    ]
    return paragraphs(*others, paragraphs("Not evaluated:", "\n".join(reasons)) if reasons else "")


def _ids(checks: Sequence[Result], report: Report) -> str:
    return ", ".join(code(name) for name in names(checks, report.results))


def _model_files(report: Report) -> str:
    lines = [
        f"- {code(row.model)}: {' '.join((f'{escape(row.facts)}.', *map(sentence, row.sentences)))}"
        for row in file_rows(report)
    ]
    return paragraphs(f"### {TITLE_OF_FILES}", "\n".join(lines)) if lines else ""


def _notes(recording: RecordingInfo) -> str:
    return "\n".join(f"- Note: {sentence(note)}" for note in recording.notes)


def recording_facts(recording: RecordingInfo) -> str:
    """Where the recording comes from, as a list. Its strings must be `visible`."""
    runs = f"{recording.run} of {len(recording.runs)}" if len(recording.runs) > 1 else str(recording.run)
    pid = formatting.pid_suffix(recording)
    kind = f", {escape(recording.target_kind.replace('-', ' '))}" if recording.target_kind else ""
    system = " ".join(filter(None, (recording.platform, recording.os_version)))
    facts = {
        "Recording": f"{code(recording.source)} ({escape(recording.input_type)})",
        "Run": runs,
        "Target": f"{code(recording.target)}{pid}{kind}" if recording.target else kind.removeprefix(", "),
        "Arguments": code(recording.arguments) if recording.arguments else "",
        "Device": escape(", ".join(filter(None, (recording.device_name, recording.device_model, system)))),
        "Template": escape(recording.template or ""),
        "Instruments": escape(recording.instruments_version or ""),
        "Imported from": code(recording.imported_from) if recording.imported_from else "",
        "Started": escape(recording.start_date or ""),
        "Duration": format_time(recording.duration_ns) if recording.duration_ns is not None else "",
        "End reason": escape(recording.end_reason or ""),
    }
    lines = [f"- {name}: {value}" for name, value in facts.items() if value]
    if recording.redacted:
        lines.append("- Names of devices, users and other processes are redacted.")
    return "\n".join(lines)
