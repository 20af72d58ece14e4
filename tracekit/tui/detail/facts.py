"""What the recording is, and the coverage of each of its instruments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from tracekit.report.formatting import ABSENT, STATE_WORDS, duration, end_reason, pid_suffix, start_words, visible
from tracekit.report.operations import REQUEST_TITLES, request_notes, request_number, request_value
from tracekit.tui.detail.pane import TextPane

if TYPE_CHECKING:
    from tracekit.report.report import RecordingInfo, Report
    from tracekit.tui.state import State


def facts(info: RecordingInfo) -> Iterator[tuple[str, str]]:
    """Facts of a recording as name and value."""
    runs = f"{info.run} of {len(info.runs)}" if len(info.runs) > 1 else str(info.run)
    process = f"{info.target}{pid_suffix(info)}" if info.target else None
    yield from (
        ("recording", info.source),
        ("input type", info.input_type),
        ("run", runs),
        ("target", process or ABSENT),
        ("device", info.device_model or ABSENT),
        ("system", " ".join(part for part in (info.platform, info.os_version) if part) or ABSENT),
        ("template", info.template or ABSENT),
        ("Instruments", info.instruments_version or ABSENT),
        ("started", start_words(info.start_date) if info.start_date else ABSENT),
        ("duration", duration(info.duration_ns)),
        ("end reason", end_reason(info.end_reason or ABSENT)),
    )


def facts_text(report: Report) -> Text:
    """Verdict, facts and notes of a recording, then the coverage of each instrument."""
    text = Text()
    text.append(f"{visible(report.summary.verdict)}\n\n", "bold")
    for each in report.requests:
        text.append(f"{visible(each.name)}\n", "bold")
        known = [name for name in REQUEST_TITLES if request_value(each, name) is not None]
        _lines(text, ((REQUEST_TITLES[name], request_number(each, name)) for name in known), 20)
        text.append("".join(f"{visible(note)}\n" for note in request_notes(each)) + "\n")
    _lines(text, facts(report.recording))
    for note in report.recording.notes:
        text.append(f"\n{visible(note)}\n")
    text.append("\nCoverage\n", "bold")
    for entry in report.coverage:
        text.append(f"\n{entry.instrument}: {STATE_WORDS[entry.state]}\n", "bold")
        text.append(f"{visible(entry.conclusion)}\n")
        if entry.advice:
            text.append(f"→ {visible(entry.advice)}\n")
    return text


def _lines(text: Text, facts: Iterable[tuple[str, str]], width: int = 16) -> None:
    for name, value in facts:
        text.append(f"{name:<{width}}", "dim")
        text.append(f"{visible(value)}\n")


class FactsPane(TextPane):
    """How a recording was made, and what each instrument recorded."""

    PANE = "facts"
    TITLE = "Recording"
    SHORT = "Rec."

    def inputs(self, state: State) -> tuple[object, ...] | None:
        """The active recording."""
        return (state.session,) if state.session.report is not None else None

    def text(self, state: State) -> Text:
        """Its facts."""
        return facts_text(state.session.report) if state.session.report is not None else Text()
