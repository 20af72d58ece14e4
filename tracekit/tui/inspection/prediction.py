"""About a prediction as a whole: where its time went, the hand-offs between compute units, and why it took longer than
usual."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd
from rich.text import Text

from tracekit.analysis.breakdown.device_runs import UNITS, Handoffs
from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.breakdown.summary import BreakdownSummary, summarize_breakdown
from tracekit.analysis.code.sites import site_of
from tracekit.analysis.why.explain import why
from tracekit.analysis.why.order import in_order
from tracekit.analysis.why.parts import LEAST
from tracekit.documents.why import sentence, why_facts
from tracekit.report.call_sites import place
from tracekit.report.formatting import duration, visible
from tracekit.report.time_breakdown import parts_notes, parts_row
from tracekit.trace.events import DEVICE_NAMES
from tracekit.tui.inspection.blocks import bar_text, facts, heading, section, slices
from tracekit.units import format_count

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tracekit.tui.state import Session, WaitsRef
    from tracekit.tui.theme import Palette

UNKNOWN = "unknown in this recording"


def prediction_blocks(session: Session, index: int, palette: Palette, *, monochrome: bool) -> Iterator[RenderableType]:
    """About a row of `Trace.activity`; nothing where it is no prediction that the app called, or not yet known."""
    calls = session.calls
    position = calls.position(index) if calls is not None else None
    if calls is None or position is None:
        return
    parts = breakdown(in_order(session.whole_trace)).of(pd.Index([session.label_in_whole_trace(index)]))
    summary = summarize_breakdown(parts)
    if summary is None or not summary.total_ns:
        return
    row = parts_row("", summary)
    yield heading("Where its time went")
    yield bar_text(row.bar, palette, monochrome=monochrome)
    yield slices(row)
    yield ""
    phase = UNKNOWN if calls.inferred[position] else "first after a load" if calls.first[position] else "warm"
    yield facts([("phase", phase), *_work(summary, parts.handoffs)])
    for note in parts_notes([row]):
        yield Text(f"\n{note}", "dim")
    yield ""


def why_blocks(session: Session, index: int, waits: WaitsRef | None) -> Iterator[RenderableType]:
    """Why a row of `Trace.activity` took longer than usual; with `waits`, in a sentence too. Nothing where it
    cannot be compared, or not yet."""
    explained = why(session.whole_trace, session.label_in_whole_trace(index)) if session.calls is not None else None
    if explained is None:
        if waits is not None:
            yield Text(f"Nothing to compare it with: {LEAST} predictions of known length are needed.\n")
        return
    if waits is not None:
        yield Text(visible(sentence(explained)), "bold")
        # The line of code is what one looks for next; more of it stands further down.
        site = site_of(session.whole_trace, session.label_in_whole_trace(index))
        unsampled = session.report is not None and session.report.code is None
        unknown = "which code called it: not recorded (Time Profiler)\n" if unsampled else ""
        yield Text(f"called from {visible(place(site))}\n" if site is not None else unknown)
    yield from section("Compared with a usual one", why_facts(explained))


def _work(summary: BreakdownSummary, handoffs: Handoffs) -> Iterator[tuple[str, str]]:
    """What else is known of the work of the compute units."""
    yield "hand-offs", _handoffs(summary)
    if summary.handoffs:
        yield "from → to", directions(handoffs)
    if summary.segments is not None:
        yield "segments", f"{format_count(round(summary.segments), 'operation')} on the Neural Engine"
    for name, value, what in (("lead", summary.lead_ns, "before first"), ("tail", summary.tail_ns, "after last")):
        yield name, f"{duration(value)} {what} execution" if value is not None else UNKNOWN
    if summary.other_models_ns:
        yield "concurrent", f"predictions of other models for {duration(summary.other_models_ns)}"


def directions(handoffs: Handoffs) -> str:
    """Which unit handed over to which: one after the other where they are few, else how often each did."""
    source, target = handoffs.source.tolist(), handoffs.target.tolist()
    if len(target) <= _CHAIN:
        return " → ".join(DEVICE_NAMES[UNITS[unit]] for unit in (*source[:1], *target))
    counts = Counter(zip(source, target, strict=True))
    return ", ".join(
        f"{DEVICE_NAMES[UNITS[one]]} → {DEVICE_NAMES[UNITS[other]]} {count:,} times"
        for (one, other), count in counts.most_common()
    )


_CHAIN = 4
"""Hand-offs that are listed one after the other."""


def _handoffs(summary: BreakdownSummary) -> str:
    """Changes of the compute unit, and the time that they left no unit working."""
    if summary.handoffs is None:
        return UNKNOWN
    if not summary.handoffs:
        return "none (single compute unit)"
    idle = f"{duration(summary.handoff_gap_ns)} with" if summary.handoff_gap_ns is not None else "unknown time with"
    return f"{round(summary.handoffs):,} between compute units, {idle} all units idle"
