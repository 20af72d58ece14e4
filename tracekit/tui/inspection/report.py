"""What the report says of what is selected: of a check with its evidence, of a model, of a row of the aggregation."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from tracekit.analysis.aggregation import SORT_COLUMNS
from tracekit.analysis.specialization import Answer
from tracekit.analysis.statistics import Statistics
from tracekit.analysis.where.words import where_words
from tracekit.detectors.outcomes import Metric
from tracekit.documents.model_file_words import file_rows
from tracekit.documents.phases import phase_rows
from tracekit.documents.report_findings import finding_savings
from tracekit.documents.time_breakdown import fast_enough, parts_notes, parts_rows
from tracekit.render.layout import KEPT
from tracekit.render.prose import parts
from tracekit.report import formatting
from tracekit.report.call_sites import caller_words
from tracekit.report.groups import rank
from tracekit.report.report import Report, Result
from tracekit.trace.events import Level
from tracekit.trace.instruments.catalogue import lane_title
from tracekit.tui.inspection.event import MEASURES, exact, facts, heading, histogram_blocks, section, time_blocks
from tracekit.tui.ranges import durations_of_model, durations_of_row
from tracekit.tui.state import FindingRef, RowRef, Session, State
from tracekit.tui.text import Broken, hanging, which_interval
from tracekit.tui.theme import Palette
from tracekit.units import format_bytes, format_count, format_rate


def finding_blocks(session: Session, ref: FindingRef, palette: Palette) -> Iterator[RenderableType]:
    """All of a check; with an interval of its evidence, that first."""
    check, report = session.check(ref), session.report
    if check is None or report is None:
        return
    if ref.evidence is not None:
        yield from section(f"Evidence {which_interval(check, ref.evidence)}", _interval(check, ref.evidence))
    # The title of a check says what it found, or that all is well: neither is known of one that was not evaluated.
    evaluated = check.outcome in ("finding", "passed")
    yield heading(check.title if evaluated else f"{check.id}: {formatting.OUTCOMES[check.outcome]}")
    answer = (check.outcome, check.summary, check.record)
    alike = [
        other
        for other in report.results
        if (other.outcome, other.summary, other.record) == answer and other is not check
    ]
    models = [other.model for other in alike if other.id == check.id and other.model is not None]
    detectors = [other.id for other in alike if other.id != check.id]
    about = (*_check_facts(check, report), ("also for", ", ".join(dict.fromkeys([*models, *detectors]))))
    yield facts((name, value) for name, value in about if value)
    yield Text(f"\n{formatting.visible(check.summary)}\n")
    for site in check.call_sites:
        yield Broken(Text(f"{formatting.visible(caller_words(site))}\n"))
    for caveat in check.caveats:
        yield Text(f"Note: {formatting.visible(caveat)}\n", "italic")
    yield Text(f"{formatting.visible(check.why)}\n", "dim")
    if check.metrics:
        yield facts(((metric.name, _metric_text(metric)) for metric in check.metrics), MEASURES)
        yield ""
    if check.basis:
        yield Text(f"{formatting.visible(check.basis)}\n", "dim")
    if check.record:
        yield Text(f"To evaluate this: {formatting.visible(check.record)}\n")
    if check.fix:
        yield heading("Fix")
        before = ""
        for kind, marker, body in parts(formatting.visible(check.fix, multiline=True), palette.code):
            body.plain = body.plain.replace(KEPT, " ")
            # Items stand together; anything else is set apart.
            if before and not (kind == before == "item"):
                yield ""
            before = kind
            if kind == "code":
                for line in body.split("\n"):
                    indent = len(line.plain) - len(line.plain.lstrip())
                    yield Padding(line[indent:], (0, 0, 0, 2 + indent)) if line.plain else ""
            else:
                yield hanging([(Text(marker), body)], len(marker)) if marker else body
        yield ""
    for reference in check.references:
        yield Broken(Text(f"{formatting.visible(reference.title)}\n{formatting.visible(reference.url)}", "dim"))


def _interval(check: Result, number: int) -> Iterator[tuple[str, str]]:
    entry = check.evidence[number]
    yield "event", entry.label
    yield "model", entry.model or formatting.ABSENT
    yield "at", formatting.moment(entry.start_ns, 1)
    yield "duration", exact(entry.duration_ns)
    if entry.bytes is not None:
        yield "memory", format_bytes(entry.bytes)
    yield "keys", ". , to step · F to finding"


def _check_facts(check: Result, report: Report) -> Iterator[tuple[str, str]]:
    yield "severity", rank(check, report)
    yield "model", check.model or ""
    yield "check", check.id
    if savings := finding_savings(check):
        yield "est. savings", savings
    for other in check.related:
        about = f" of {other.model}" if other.model else ""
        yield formatting.RELATIONS[other.relation], f"{other.id}{about} (r to jump)"
    if check.evidence:
        most = formatting.extreme_word(check.evidence)
        listed = f", {len(check.evidence)} {most} listed" if check.evidence_total > len(check.evidence) else ""
        yield "evidence", f"{format_count(check.evidence_total, 'interval')}{listed} (. to step)"


def _metric_text(metric: Metric) -> str:
    limit = formatting.condition(metric)
    return f"{formatting.quantity(metric.value, metric.unit)}{f' (threshold {limit})' if limit else ''}"


SHARES = 16
"""Cells for a time and its share."""


def model_blocks(session: Session, name: str, palette: Palette, *, monochrome: bool) -> Iterator[RenderableType]:
    """About a model of the report; nothing while there is no report."""
    model = next((entry for entry in (session.report.models if session.report else ()) if entry.name == name), None)
    if model is None:
        return
    also = "also a " if model.level == Level.TOP else ""
    pairs = [
        *((("stage", f"{also}stage of {formatting.word_list(model.parents)}"),) if model.parents else ()),
        ("instances", formatting.count(model.instances)),
        ("loads", formatting.count(model.loads)),
        ("cold loads", formatting.count(model.cold_loads)),
        ("predictions", formatting.count(model.predictions)),
        *([("ran on", where_words(model.where))] if model.where is not None else []),
        *_specialized(session.report, name),
    ]
    throughput, rate = model.throughput, fast_enough(model.quantities)
    if throughput is not None and throughput.per_second is not None:
        pace = f" (steady {throughput.steady_rate.fps} fps)" if throughput.steady_rate is not None else ""
        pairs.append(("rate", f"{format_rate(throughput.per_second, ' predictions/s')}{pace}"))
    if rate:
        pairs.append(("latency", rate))
    yield from section(model.name, pairs)
    if session.report is not None:
        for entry in (file for file in file_rows(session.report) if file.model == name):
            yield heading("Model file" if entry.card else "Performance report")
            for line in (entry.facts, *entry.sentences):
                yield Text(formatting.visible(line))
            yield facts(entry.card)
            yield ""
    yield from histogram_blocks(durations_of_model(session, name), "all predictions", model.resolution_ns)
    latency = model.latency
    for title, numbers in (
        ("Loads", model.load),
        ("All predictions", model.prediction),
        ("Warm predictions", latency.warm if latency is not None else None),
        ("First predictions after a load", latency.cold if latency is not None else None),
    ):
        if numbers is not None:
            yield from section(title, numbers_of(numbers, model.resolution_ns))
    for calls in model.phases:
        yield heading(f"Where the time of a {calls.kind} goes")
        yield facts(((row.share_words, row.words) for row in phase_rows([model]) if row.calls is calls), SHARES)
    rows = parts_rows([] if model.phases else [model])
    for row in rows:
        yield from time_blocks("Where a prediction's time goes", row, palette, monochrome=monochrome)
    for note in parts_notes(rows):
        yield Text(f"\n{note}", "dim")


def _specialized(report: Report | None, name: str) -> Iterator[tuple[str, str]]:
    """Whether the model was compiled for the device in this recording, and what shows it."""
    shown = report.specializations if report is not None else None
    for one in () if shown is None else shown.models:
        if one.model != name:
            continue
        words = {
            Answer.COMPILED: "yes, in this recording",
            Answer.CACHED: "no, came from the cache",
            Answer.NOT_LOADED: "not loaded here",
        }
        length = f", {formatting.duration(one.ns)}" if one.ns is not None and one.answer == Answer.COMPILED else ""
        because = "; ".join(one.evidence) or one.why
        yield "specialized", f"{words.get(Answer(one.answer), 'unknown')}{length}{f' ({because})' if because else ''}"


def numbers_of(numbers: Statistics, resolution_ns: int) -> Iterator[tuple[str, str]]:
    """Statistics of durations as names and values, with the digits that are known."""
    yield "count", formatting.count(numbers.count)
    yield "sum", formatting.duration(numbers.total_ns, resolution_ns)
    if numbers.elapsed_ns != numbers.total_ns:
        yield "elapsed", formatting.duration(numbers.elapsed_ns, resolution_ns)
    for name in ("mean", "min", "median", "p90", "p95", "p99", "max", "stdev"):
        yield name, formatting.duration(getattr(numbers, SORT_COLUMNS[name]), resolution_ns)


def row_blocks(state: State, ref: RowRef) -> Iterator[RenderableType]:
    """A row, of what range and filter let through."""
    row = ref.source
    numbers = row.warm if ref.warm else row.statistics
    pairs = [("lane", lane_title(row.lane)), ("model", row.model or formatting.ABSENT)]
    pairs += [("process", row.process)] if row.process is not None else []
    pairs += [("warm", "excludes the first prediction after each load")] if ref.warm else []
    yield from section(row.label, [*pairs, ("keys", "enter lists the events")])
    if numbers is not None:
        yield from histogram_blocks(durations_of_row(state, ref), "these events", row.resolution_ns)
        yield facts(numbers_of(numbers, row.resolution_ns))
        yield ""
