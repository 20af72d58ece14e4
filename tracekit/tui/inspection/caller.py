"""About a load or prediction: the code of the app that made the call, and what it was busy with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.analysis.code import site_of
from tracekit.report.call_sites import THREADS, busy_words, place
from tracekit.tui.inspection.blocks import facts, heading
from tracekit.units import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from tracekit.tui.state import Session


def caller_blocks(session: Session, index: int) -> Iterator[RenderableType]:
    """Who made the call of a row of `Trace.activity`; nothing where call stacks do not show it, or before the checks,
    which read them, are done."""
    site = site_of(session.judged, session.label_in_judged(index)) if session.report is not None else None
    if site is None:
        return
    yield heading("Called from")
    known = [("function", place(site)), *(("called by", place(each)) for each in site.called_by)]
    known += [("thread", THREADS[site.thread])] if site.thread in THREADS else []
    known.append(("busy with", busy_words(site) or format_count(site.samples, "sample")))
    if site.ambiguous:
        known.append(("note", "ambiguous: another thread made such a call meanwhile"))
    yield facts(known)
    yield ""
