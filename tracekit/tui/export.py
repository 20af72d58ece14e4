"""What leaves the screen: Markdown and reports, redacted as every report is. Pure; to be made in a thread."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import reduce
from pathlib import Path

from tracekit.documents.report import context_line, report_file
from tracekit.documents.report_events import events_section
from tracekit.documents.report_findings import finding_card
from tracekit.errors import TracekitError
from tracekit.recording.writing.files import complete_file
from tracekit.render import blocks, markdown
from tracekit.render.forms import form_for
from tracekit.report.formatting import OUTCOMES, visible
from tracekit.report.groups import Group
from tracekit.report.redact import both_private, private_facts, redact, redact_label, redact_text
from tracekit.report.report import Report
from tracekit.report.timeline import timeline_of
from tracekit.trace.filter import everything, model_names, only_range
from tracekit.trace.trace import Trace
from tracekit.tui.ranges import aggregation, count_wordings, range_words
from tracekit.tui.state import EventFilter, Session
from tracekit.tui.viewport import Span


def row_markdown(traces: Sequence[Trace], titles: Sequence[str], texts: Sequence[str], about: str = "") -> str:
    """A row of a list about these recordings as a table, without empty columns, and above it what it is about."""
    filled = [(title, visible(text)) for title, text in zip(titles, texts, strict=True) if title and text]
    facts = reduce(both_private, map(private_facts, traces))
    models = {name for trace in traces for name in model_names(trace)}
    # As one text, so that one name is one alias in all cells; before anything is escaped, so that names are found.
    labels = [redact_label(text, facts) for _, text in filled]
    redacted = redact_text(_EDGE.join([visible(about), *labels]), facts, models)
    lead, *cells = map(markdown.escape, redacted.split(_EDGE))
    table = markdown.table([title for title, _ in filled], [cells], [True] * len(filled))
    return f"{lead}\n\n{table}\n" if about else f"{table}\n"


_EDGE = "\x1f"
"""Between texts that are redacted together; `visible` leaves none in them."""


def finding_markdown(session: Session, check: int) -> str:
    """A check of the report in few lines of Markdown, with the recording, its device and system. How to fix a finding,
    its evidence and measurements are in the report that is saved."""
    report = _redacted_report(session)
    result = report.results[check]
    if result.outcome == "finding":
        card = finding_card(Group((result,)))
    else:
        model = (blocks.Span(result.model, blocks.Role.CODE), ": ") if result.model is not None else ()
        record = blocks.Paragraph(f"To evaluate this: {result.record}") if result.record else None
        title = result.title if result.outcome == "passed" else result.id
        body = blocks.present(blocks.Paragraph((*model, result.summary)), record)
        card = blocks.Card(OUTCOMES[result.outcome], blocks.Role.PLAIN, result.id, title, body)
    head = dataclasses.replace(card, blocks=(blocks.Paragraph(context_line(report)),))
    texts = [markdown.block_text(block, 3) for block in card.blocks if isinstance(block, blocks.Paragraph)]
    more = f"Details: `tracekit explain {result.id}`" if result.outcome == "finding" else ""
    return markdown.paragraphs(markdown.block_text(head, 3), "  \n".join(texts[:_SAID_LINES]), more) + "\n"


_SAID_LINES = 12
"""Of a check that is copied; with its title, the recording and where to read more, 20."""


def statistics_markdown(session: Session, span: Span | None, chosen: EventFilter, *, named: bool) -> str:
    """The aggregation of what range and filter let through, with the recording `named`; empty where that is nothing."""
    facts = private_facts(session.whole_trace)
    report = dataclasses.replace(_report(session), aggregation=aggregation(session, span, chosen) or ())
    section = events_section(redact(report, facts).aggregation)
    counted = count_wordings(span, chosen)[0]
    words = f"{session.name}: {counted}" if named else _capitalize(counted)
    title = markdown.escape(visible(redact_text(words, facts, model_names(session.whole_trace))))
    if section is None:
        return ""
    return markdown.paragraphs(title, *(markdown.block_text(block, 4) for block in section.blocks)) + "\n"


def save_report(session: Session, span: Span | None, path: Path, *, replace: bool) -> tuple[str, ...]:
    """Write the report of the recording, or of a range; the format goes by the ending of the name. What a range shows
    was judged with all that surrounds it.

    A file that is there is replaced only with `replace`. Returns what became of it, in several ways, longest first.
    """
    # The detectors are no part of what a first screen needs.
    from tracekit.api import judge

    if span is None:
        report, part_shown = _redacted_report(session), session.shown
    else:
        part = session.shown or everything(session.whole_trace)
        part_shown = only_range(part, session.whole_trace, span.start_ns, span.end_ns)
        report = judge(session.whole_trace, session.request, part_shown)
    form = form_for(path)
    lanes = timeline_of(session.whole_trace, report.results, shown=part_shown) if form == "html" else None
    text = report_file(report, form, lanes)
    if path.exists() and not replace:
        return (f"'{path}' was not written: it already exists.",)
    try:
        # A link stays one: what it leads to is written.
        with complete_file(path.resolve()) as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except TracekitError as error:
        return (f"{_capitalize(str(error))}.",)
    about = "the recording" if span is None else f"the {range_words(span)}"
    return (
        f"Saved the report of {about} to {path}; private data is redacted.",
        f"Saved the report to {path}; private data is redacted.",
        f"Saved, redacted: {path}",
        f"Saved, redacted: {path.name}",
    )


def _capitalize(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"


def _redacted_report(session: Session) -> Report:
    return redact(_report(session), private_facts(session.whole_trace))


def _report(session: Session) -> Report:
    if session.report is None:
        raise RuntimeError("there is no report yet")
    return session.report
