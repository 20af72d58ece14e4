"""What is said of a new recording in four lines: what it is, what is wrong, what changed, and where to read on."""

from __future__ import annotations

from tracekit.comparison.comparison import Comparison
from tracekit.comparison.launches import newest_word
from tracekit.comparison.measurements import Measurements
from tracekit.documents.compared_figures import summary
from tracekit.documents.report import context_line, summary_line, tone_of
from tracekit.documents.report_findings import finding_card
from tracekit.render.blocks import Line, Role, Span
from tracekit.report.formatting import command, lower_first, word_list
from tracekit.report.groups import findings
from tracekit.report.report import Report
from tracekit.report.verdict import first_words
from tracekit.units import format_count

MODELS = 3


def latest_lines(
    report: Report, measurements: Measurements, path: str, earlier: tuple[str, Comparison] | None
) -> tuple[Line, ...]:
    """Four lines on the recording at `path`. `earlier` is the path of the last one of the same app and device, and the
    comparison with it; None where there is none."""
    names = [model.name for model in measurements.models]
    if not names:
        models = "no predictions"
    else:
        more = [format_count(len(names) - MODELS, "more model")] if len(names) > MODELS else []
        predictions = sum(model.predictions for model in measurements.models)
        models = f"{word_list([*names[:MODELS], *more])} · {format_count(predictions, 'prediction')}"
    what = f"{context_line(report)} · {models}"
    commands = [command("analyze", path)]
    if earlier is not None:
        commands.append(command("compare", earlier[0], path))
    if earlier is None:
        on = f" on {report.recording.device_model}" if report.recording.device_model else ""
        none = f"no earlier recording of {report.recording.target}{on} here"
        since: Line = Span(f"not compared: {none if report.recording.target else 'its app is not recorded'}", Role.DIM)
    else:
        _, comparison = earlier
        differing = ", ".join(one.what for one in comparison.unfair)
        unfair = f" · not a fair comparison: {differing}" if differing else ""
        compiled = "".join(f" · {one.model} {word}" for one in comparison.launches if (word := newest_word(one)))
        since = f"since {comparison.before[0]}: {summary(comparison)}{compiled}{unfair}"
    return (Span(what, Role.STRONG), _verdict(report), since, ("next: ", Span("  ·  ".join(commands), Role.CODE)))


def _verdict(report: Report) -> Line:
    """The worst finding and how many more there are; else what a report says at its beginning."""
    if first := first_words(report):
        return Span(first, Role.OPEN)
    if not report.summary.evaluated and not report.summary.errors:
        return Span(report.summary.verdict, tone_of(report))
    worst, *others = findings(report.results) or (None,)
    if worst is None:
        return Span(summary_line(report), tone_of(report))
    card = finding_card(worst)
    more = f" · {format_count(len(others), 'more finding')}" if others else ""
    return (Span(card.label.upper(), card.tone), f" {card.check}: {lower_first(card.title)}{card.cost}{more}")
