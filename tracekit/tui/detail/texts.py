"""Panes that are one text: what the recording is, with the coverage of each of its instruments, and the call tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tracekit.analysis.code.tree import Frames, call_tree
from tracekit.intervals import Intervals
from tracekit.report import formatting
from tracekit.report.flame import branches
from tracekit.report.operations import REQUEST_TITLES, request_notes, request_number, request_value
from tracekit.report.report import RecordingInfo, Report
from tracekit.trace.events import Level
from tracekit.trace.filter import in_ranges
from tracekit.trace.instruments.catalogue import CALL_STACKS
from tracekit.tui.detail.pane import TextPane
from tracekit.tui.state import State
from tracekit.tui.text import Broken, Drawn
from tracekit.units import format_count


def facts(info: RecordingInfo) -> Iterator[tuple[str, str]]:
    """Facts of a recording as name and value."""
    runs = f"{info.run} of {len(info.runs)}" if len(info.runs) > 1 else str(info.run)
    process = f"{info.target}{formatting.pid_suffix(info)}" if info.target else None
    yield from (
        ("recording", info.source),
        ("input type", info.input_type),
        ("run", runs),
        ("target", process or formatting.ABSENT),
        ("device", info.device_model or formatting.ABSENT),
        ("system", " ".join(part for part in (info.platform, info.os_version) if part) or formatting.ABSENT),
        ("template", info.template or formatting.ABSENT),
        ("Instruments", info.instruments_version or formatting.ABSENT),
        ("started", formatting.start_words(info.start_date) if info.start_date else formatting.ABSENT),
        ("duration", formatting.duration(info.duration_ns)),
        ("end reason", formatting.end_reason(info.end_reason or formatting.ABSENT)),
    )


def facts_text(report: Report) -> Text:
    """Verdict, facts and notes of a recording, then the coverage of each instrument."""
    text = Text()
    text.append(f"{formatting.visible(report.summary.verdict)}\n\n", "bold")
    for request in report.requests:
        text.append(f"{formatting.visible(request.name)}\n", "bold")
        titles = [name for name in REQUEST_TITLES if request_value(request, name) is not None]
        _lines(text, ((REQUEST_TITLES[name], request_number(request, name)) for name in titles), 20)
        text.append("".join(f"{formatting.visible(note)}\n" for note in request_notes(request)) + "\n")
    _lines(text, facts(report.recording))
    for note in report.recording.notes:
        text.append(f"\n{formatting.visible(note)}\n")
    text.append("\nCoverage\n", "bold")
    for entry in report.coverage:
        text.append(f"\n{entry.instrument}: {formatting.STATE_WORDS[entry.state]}\n", "bold")
        text.append(f"{formatting.visible(entry.conclusion)}\n")
        if entry.advice:
            text.append(f"→ {formatting.visible(entry.advice)}\n")
    return text


def _lines(text: Text, facts: Iterable[tuple[str, str]], width: int = 16) -> None:
    for name, value in facts:
        text.append(f"{name:<{width}}", "dim")
        text.append(f"{formatting.visible(value)}\n")


class FactsPane(TextPane):
    """How a recording was made, and what each instrument recorded."""

    PANE = "facts"
    TITLE = "Recording"
    SHORT = "Rec."

    def _depends_on(self, state: State) -> tuple[object, ...] | None:
        return (state.session,) if state.session.report is not None else None

    def _text(self, state: State) -> Text:
        return facts_text(state.session.report) if state.session.report is not None else Text()


SHOWN: Final = {
    Frames.FOLDED: "system functions folded",
    Frames.ALL: "all functions",
    Frames.APP: "functions of the app",
}


def code_text(state: State) -> RenderableType:
    """The call tree of what ran in the chosen span, or in the whole recording; what is longer than a line goes on below
    its beginning. The checks have read the samples by now."""
    session, (times, where) = state.session, chosen_times(state)
    sampled = session.whole_trace.profiled
    if sampled is None or not len(sampled.samples):
        entry = session.whole_trace.coverage_of(CALL_STACKS)
        return Text(f"{entry.conclusion} {entry.advice}".rstrip())
    time = sampled.samples.time_ns
    within = np.ones(len(time), np.bool_) if times is None else in_ranges(times.union(), time)
    samples = format_count(int(within.sum()), "sample")
    counted = "" if sampled.weights is None else f"; numbers and shares are {sampled.unit}, not time"
    title = f"{samples} of running threads{where}; threads that wait are not sampled{counted}"
    order = "innermost first" if state.inverted else "outermost first"
    keys = f"X: {SHOWN[state.frames]} · U: {order}"
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    for branch in branches(call_tree(sampled, within, state.frames, invert=state.inverted)):
        grid.add_row(Text(branch.numbers), Broken(Text(branch.name), len(branch.indent)))
    return Group(Text(title), Text(keys, "dim"), grid)


def chosen_times(state: State) -> tuple[Intervals | None, str]:
    """When samples count, and that in words: in the range, else during what the inspector is about: an event, the
    intervals of a finding, the calls of a model; None where it is neither: always."""
    session, selection = state.session, state.selection
    span = state.range or (session.span(selection.event) if selection.event is not None else None)
    if span is not None:
        where = f" from {formatting.moment(span.start_ns)} to {formatting.moment(span.end_ns)}"
        return Intervals(np.array([span.start_ns]), np.array([span.end_ns])), where
    check = session.check(selection.finding)
    if check is not None and check.evidence:
        ends = np.array([(entry.start_ns, entry.end_ns) for entry in check.evidence]).T
        which = f"{formatting.extreme_word(check.evidence)} " if check.evidence_total > len(check.evidence) else ""
        return Intervals(*ends), f" in the {format_count(len(check.evidence), f'{which}interval')} of the finding"
    if selection.model is not None:
        activity = session.trace.activity
        own = activity.model.is_any(selection.model) & activity.level.is_any(Level.TOP)
        return Intervals.from_rows(activity).where(own), f" during loads and predictions of {selection.model}"
    return None, ""


class CodePane(TextPane):
    """What ran, as a tree of calls, in the range or during what is selected; see `chosen_times`."""

    PANE = "code"
    TITLE = "Code"

    def _depends_on(self, state: State) -> tuple[object, ...] | None:
        if state.session.report is None:
            return None
        return state.session.whole_trace, state.range, state.selection, state.frames, state.inverted

    def _text(self, state: State) -> Drawn:
        return Drawn(code_text(state))
