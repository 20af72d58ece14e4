"""What a report says, in the order of all its forms: the verdict, what is wrong, the models, and what that rests on;
and what is said of several recordings: a line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from tracekit.documents import checks, columns, report_app, report_events, report_findings, report_models
from tracekit.documents.frames import frames_section
from tracekit.documents.phases import source_words
from tracekit.documents.pictures import latency_section
from tracekit.grouping import grouped
from tracekit.recording.contents import is_simulator
from tracekit.render import blocks
from tracekit.render.blocks import Column, Line, Paragraph, Role, Section, Span, items, join, section, table
from tracekit.render.forms import FILE_WIDTH, render
from tracekit.report import formatting
from tracekit.report.groups import INCONCLUSIVE, checks_in_words, count_checks, findings_in_words, with_outcome
from tracekit.report.report import SEVERITIES
from tracekit.report.serialize import to_json
from tracekit.report.verdict import STACKS_ALONE, first_words, has_stacks_alone, remedies
from tracekit.trace.coverage import unreadable_tables
from tracekit.units import format_count, format_estimate, format_time

if TYPE_CHECKING:
    from tracekit.comparison.launches import Launches
    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline
    from tracekit.trace.trace import Coverage


LINES, INCONCLUSIVE_LINES = 62, 40
"""Most lines of the short text, and those from which on it says less where nothing could be evaluated."""
SCREEN = 23
"""Most lines where language models are all that ran: verdict and first finding stand on one small screen."""
NOTES = 3
PARTS = ("findings", "models", "latency", "time", "events", "code", "coverage")
COVERAGE: tuple[Column[Coverage], ...] = (
    columns.words("instrument", lambda entry: entry.instrument),
    columns.words("state", formatting.coverage_state),
    columns.numbers("rows", lambda entry: entry.rows, drop=1),
    columns.words("details", lambda entry: " ".join(filter(None, (entry.conclusion, entry.advice)))),
)
UNREAD = "not readable"
NOT_CHECKED = "not checked"
"""Of a recording that shows what ran, of which no check could be evaluated."""
KINDS = ("with findings", "without findings", NOT_CHECKED, INCONCLUSIVE, UNREAD)


def report_document(report: Report, timeline: Timeline | None = None, show: Collection[str] = PARTS) -> blocks.Document:
    """The report, and with a `timeline` the pictures that a page shows; `show` names the wanted ones of `PARTS`."""
    recording, models, summary = report.recording, report.models, report.summary
    requests_alone = bool(report.requests and not models)
    drawn: Sequence[blocks.Block | None] = ()
    if timeline is not None:
        # Most reports are text, which draws nothing.
        from tracekit.documents.lanes import lanes_section
        from tracekit.documents.tiles import tiles

        drawn = (tiles(report), lanes_section(report, timeline))
    flame = timeline.flame if timeline is not None else None
    code = report_app.code_section(report.code, flame)
    # Without a model, what threads were doing is most of what there is.
    code_first = flame is not None and not models and not report.requests
    coverage = table("Coverage", COVERAGE, report.coverage, instead=items(coverage_lines(report.coverage)))
    few = requests_alone and bool(summary.findings)
    incomplete = items(formatting.incomplete_tables(report.tables), role=Role.DIM)
    parts: tuple[tuple[str, blocks.Block | None], ...] = (
        *((("code", code),) if code_first else ()),
        *(("models", block) for block in drawn),
        ("findings", report_findings.findings_section(report)),
        ("models", report_events.operations_section(report)),
        ("models", report_events.requests_section(report)),
        ("models", report_events.runtimes_section(report)),
        ("models", report_models.models_section(models, report.results)),
        ("models", report_models.inferred_section(models)),
        ("models", report_models.where_section(models)),
        ("time", report_models.time_section(models)),
        ("time", report_models.phases_section(models)),
        ("latency", report_models.latency_section(models)),
        ("time", report_models.over_time_section(models)),
        ("models", report_models.files_section(report)),
        ("models", report_app.memory_section(report, timeline)),
        ("models", report_app.sustained_section(report.sustained)),
        ("models", frames_section(report)),
        ("models", latency_section(report, timeline) if timeline is not None else None),
        ("findings", checks.not_evaluated_section(remedies(report), report.results, few=few)),
        ("findings", items((f"note: {note}" for note in recording.notes), NOTES, Role.DIM)),
        *(() if code_first else (("code", code),)),
        ("events", report_events.events_section(report.aggregation, paged=set(show) >= set(PARTS))),
        ("coverage", section("Coverage", coverage, incomplete, folded=True, name="coverage")),
        *(("coverage", checks.others_section(report.results, outcome)) for outcome in ("passed", "not_applicable")),
        ("coverage", recording_section(report)),
    )
    counts = summary_line(report)
    first = first_words(report)
    verdict = counts if summary.evaluated or summary.errors else summary.verdict.removeprefix(first).strip()
    return blocks.Document(
        title=recording.source,
        verdict=verdict,
        tone=tone_of(report),
        context=(Paragraph(context_line(report), Role.DIM),),
        blocks=blocks.present(*(block for part, block in parts if part in show)),
        # A part is too short to say this at both ends.
        closing=counts if verdict != counts or set(show) >= set(PARTS) else "",
        more=next_commands(report),
        room=(SCREEN, SCREEN) if requests_alone else (LINES if summary.says else INCONCLUSIVE_LINES, LINES),
        foot=f"{report.tool.name} {report.tool.version}, report version {report.schema_version}",
        first=first,
    )


def coverage_lines(coverage: Sequence[Coverage]) -> list[Line]:
    """The instruments of each state in a line: with rows, or with what records them."""
    lines: list[Line] = []
    for state, entries in grouped((formatting.coverage_state(entry), entry) for entry in coverage).items():
        named = ", ".join(f"{one.instrument} {one.rows:,}" if one.rows else one.instrument for one in entries)
        advice = dict.fromkeys(entry.advice for entry in entries if state not in ("recorded", "not recorded"))
        lines.append((Span(state, Role.STRONG), f": {named}", *(f". {words}" for words in advice if words)))
    return lines


def summary_document(report: Report, *, more: bool = True) -> blocks.Document:
    """The last lines of a report alone; with `more`, where to read on."""
    command = next_commands(report) if more else ""
    source, closing = report.recording.source, summary_line(report)
    return blocks.Document(source, "", tone_of(report), closing=closing, more=command, first=first_words(report))


def next_commands(report: Report, shows: str = "") -> str:
    """The commands that explain findings and show the recording, or its call stacks where these are all there is;
    `shows`: the one that shows it, where its path is known."""
    source = report.recording.source
    shows = shows or formatting.command("stacks" if has_stacks_alone(report) else "view", source)
    return "  ·  ".join((*formatting.explain_commands(check.id for check in report.findings), shows))


def context_line(report: Report) -> str:
    """One line: which recording of what, where, how long, and its template, or what calls are inferred from."""
    recording, config = report.recording, report.tool.config
    version = (recording.os_version or "").partition(" (")[0]
    system = " ".join(filter(None, (recording.platform, version)))
    parts = (
        recording.source,
        f"run {recording.run} of {len(recording.runs)}" if len(recording.runs) > 1 else None,
        f"{recording.target}{formatting.pid_suffix(recording)}" if recording.target else None,
        ", ".join(filter(None, (recording.device_model, system))),
        f"{recording.duration_ns / 1e9:.1f} s" if recording.duration_ns is not None else None,
        source_words(report.models) or recording.template,
        f"config {config}" if config else None,
    )
    return " · ".join(filter(None, parts))


def summary_line(report: Report) -> str:
    """Counts by check and the estimated savings of all fixes together, in one line."""
    totals, summary, unread = count_checks(report.results), report.summary, "; ".join(unreadable_tables(report.tables))
    if not summary.evaluated and not summary.errors:
        count = format_count(totals.not_evaluated, "check")
        if summary.ran and not unread:
            findings = f"{findings_in_words(totals)} · " if totals.findings else ""
            return f"{findings}What ran is not checked yet: {count} not evaluated"
        from_stacks = [finding for finding in report.findings if finding.id in STACKS_ALONE]
        beside = f"{format_count(len(from_stacks), 'finding')} from call stacks" if from_stacks else ""
        status = "exit status 2" if unread else "exit status 3"
        return " · ".join(filter(None, (f"Inconclusive: {count} not evaluated", beside, unread, status)))
    savings = f"est. savings up to {format_estimate(summary.savings_ns)}" if summary.savings_ns else ""
    parts = (findings_in_words(totals), savings, checks_in_words(totals), unread)
    return " · ".join(filter(None, parts))


def tone_of(report: Report) -> Role:
    """The look of the verdict: that of the worst finding."""
    totals = count_checks(report.results)
    if not report.summary.says and not report.summary.errors:
        return Role.OPEN
    doubtful = totals.errors or report.summary.ran or unreadable_tables(report.tables)
    clean = Role.OPEN if doubtful or is_simulator(report.recording.platform) else Role.GOOD
    return Role(totals.worst) if totals.findings else clean


def recording_section(report: Report, *, title: str = "Recording", stays: bool = False) -> Section | None:
    """Where the recording comes from."""
    recording = report.recording
    runs = f"{recording.run} of {len(recording.runs)}" if len(recording.runs) > 1 else str(recording.run)
    kind = recording.target_kind.replace("-", " ") if recording.target_kind else ""
    system = " ".join(filter(None, (recording.platform, recording.os_version)))
    target = (Span(recording.target, Role.CODE), formatting.pid_suffix(recording)) if recording.target else None
    mode = f"{recording.recording_mode} mode" if recording.recording_mode else None
    template = f"{recording.template} template" if recording.template else None
    instruments = f"Instruments {recording.instruments_version}" if recording.instruments_version else None
    duration = format_time(recording.duration_ns) if recording.duration_ns is not None else None
    end = formatting.end_reason(recording.end_reason or "")
    facts: dict[str, Line | None] = {
        "recording": (Span(recording.source, Role.CODE), f" ({recording.input_type})"),
        "run": runs if len(recording.runs) > 1 else None,
        "target": join((target, kind), ", "),
        "arguments": Span(recording.arguments, Role.CODE) if recording.arguments else None,
        "device": ", ".join(filter(None, (recording.device_name, recording.device_model, system))),
        "recorded with": ", ".join(filter(None, (template, instruments, mode))),
        "imported from": Span(recording.imported_from, Role.CODE) if recording.imported_from else None,
        "recorded": ", ".join(filter(None, (formatting.start_words(recording.start_date or ""), duration, end))),
        "config": report.tool.config,
    }
    about = blocks.Entry("", tuple((name, fact) for name, fact in facts.items() if fact))
    privacy = "This was written with --no-redact: it may name devices, users and other processes."
    if recording.redacted:
        privacy = "Names of devices, users and other processes are redacted (--no-redact keeps them)."
    rest = Paragraph(privacy, Role.DIM)
    return section(title, items((about,)), rest, folded=not stays, name="recording", stays=stays)


INDEX = "index.html"
"""The page beside those of several recordings that leads to all of them."""


def report_file(report: Report, form: str, timeline: Timeline | None = None, *, beside: str = "") -> str:
    """The whole report as a file in a form of `REPORT_FORMS`, with a line break at the end; `beside` leads to the page
    of all recordings in its folder."""
    if form == "json":
        return to_json(report)
    document = report_document(report, timeline)
    if beside:
        document = replace(document, context=(*document.context, Paragraph(Span(beside, link=INDEX))))
    return render(document, form, width=FILE_WIDTH)


@dataclass(frozen=True, slots=True)
class Analyzed:
    """One recording of several."""

    name: str
    report: Report | None
    """None where it could not be read."""
    error: str = ""
    timeline: Timeline | None = None
    """Its lanes, where a form draws them."""
    page: str = ""
    """File of its report beside that of all; empty where there is none."""


def several_document(entries: Sequence[Analyzed]) -> blocks.Document:
    """A line per recording, and a summary."""
    rows = tuple(_row(entry)._replace(page=entry.page) for entry in entries)
    kinds = Counter(row.kind for row in rows)
    words = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind])
    launches = launches_among(entries)
    if found := [one.severity for one in launches if one.severity is not None]:
        words += f"; over these launches {format_count(len(found), 'finding')} ({min(found, key=SEVERITIES.index)})"
    summary = f"{format_count(len(entries), 'recording')}: {words}"
    grid = table("Recordings", SEVERAL, rows)
    # A report on one recording compares none.
    from tracekit.documents.launches import launches_section

    more = "tracekit analyze RECORDING"
    return blocks.Document(
        "Recordings",
        summary,
        Role.PLAIN,
        blocks=blocks.present(grid, launches_section(launches)),
        closing=summary,
        more=more,
    )


def launches_among(entries: Sequence[Analyzed]) -> tuple[Launches, ...]:
    """What the recordings that could be read say of one another as launches."""
    from tracekit.comparison.launches import launch_of, launches_of

    return launches_of([launch_of(entry.report) for entry in entries if entry.report is not None])


class _Row(NamedTuple):
    name: str
    kind: str
    """One of `KINDS`."""
    verdict: Span
    checks: str
    """Those that found something, how many did not, or why nothing is known."""
    savings: tuple[str, int | None] = "", None
    page: str = ""


def _row(entry: Analyzed) -> _Row:
    report = entry.report
    if report is None:
        return _Row(entry.name, UNREAD, Span(UNREAD, Role.BAD), entry.error)
    # Est. savings of all fixes together; where there are none in all, each time, or why no number is there.
    total, problems = report.summary.savings_ns, with_outcome(report.results, "finding")
    times = [*filter(None, map(report_findings.savings_each, problems))]
    saved = [format_estimate(total)] if total else times or ["unknown" for check in problems if check.unknown_savings]
    savings = (saved or ["no time" if problems else ""])[0], total or (0 if problems else None)
    totals = count_checks(report.results)
    unreadable = "; ".join(unreadable_tables(report.tables))
    findings = f"{format_count(totals.findings, 'finding')} ({totals.worst})" if totals.findings else ""
    if report.summary.ran:
        kind, words = KINDS[0] if findings else NOT_CHECKED, Span(findings or NOT_CHECKED, tone_of(report))
        return _Row(entry.name, kind, words, report.summary.ran, savings)
    if not report.summary.evaluated:
        # A recording that was opened is not readable where that is why nothing is known of it.
        if unreadable:
            return _Row(entry.name, UNREAD, Span(UNREAD, Role.BAD), unreadable)
        checks = f"{format_count(totals.not_evaluated, 'check')} not evaluated"
        return _Row(entry.name, INCONCLUSIVE, Span(INCONCLUSIVE, Role.OPEN), checks)
    checks = ", ".join(dict.fromkeys(check.id for check in with_outcome(report.results, "finding")))
    checks = "; ".join(filter(None, (checks or checks_in_words(totals), unreadable)))
    kind = "with findings" if report.summary.findings else "without findings"
    checks = f"recorded in a simulator; {checks}" if is_simulator(report.recording.platform) else checks
    verdict = Span(findings or "no findings", tone_of(report))
    return _Row(entry.name, kind, verdict, checks, savings)


SEVERAL: tuple[Column[_Row], ...] = (
    columns.words("recording", lambda row: Span(row.name, link=row.page) if row.page else row.name),
    columns.words("verdict", lambda row: row.verdict),
    Column("est. savings", lambda row: row.savings[0], lambda row: row.savings[1], drop=1),
    columns.words("checks", lambda row: row.checks),
)
