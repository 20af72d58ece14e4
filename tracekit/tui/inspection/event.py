"""About an event: exact times, what it is, how sure it is whose, and the code of the app that made the call; about a
prediction as a whole, where its time went and why it took longer than usual; about the range."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from tracekit.analysis.breakdown.device_runs import UNITS, Handoffs
from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.breakdown.summary import GROUPS, summarize_breakdown
from tracekit.analysis.code.sites import site_of
from tracekit.analysis.frames.summary import described
from tracekit.analysis.ledger.account import ledger
from tracekit.analysis.ledger.choice import slower_elsewhere
from tracekit.analysis.ledger.explain import why
from tracekit.analysis.ledger.order import in_order
from tracekit.analysis.ledger.usual import LEAST
from tracekit.analysis.operations import parts_of_one
from tracekit.analysis.quantities import quantiles
from tracekit.arrays import IntArray
from tracekit.documents.frames import frame_words
from tracekit.documents.time_breakdown import PartsRow, parts_notes, parts_row
from tracekit.documents.why import sentence, slower_words, why_facts
from tracekit.report.call_sites import THREADS, busy_words, place
from tracekit.report.formatting import duration, inferred_facts, moment, visible
from tracekit.report.late_lane import LATE
from tracekit.report.operations import parts_words
from tracekit.trace.events import DEVICE_NAMES, Attribution, Device
from tracekit.trace.filter import EVENT_FRAMES
from tracekit.trace.instruments.catalogue import lane_title
from tracekit.trace.runtimes.phases import PHASES
from tracekit.tui.ranges import durations_in_range
from tracekit.tui.selection import findings_of, name_of, prediction_of
from tracekit.tui.state import EventRef, Session, State, WaitsRef
from tracekit.tui.text import bar_segments, hanging
from tracekit.tui.theme import Palette
from tracekit.tui.timeline.glyphs import LEFT_BLOCKS
from tracekit.tui.viewport import Span
from tracekit.units import format_count

LABELS = 13
"""Cells for the names of facts."""

MEASURES = 22
"""Cells for the names of what detectors measure, which are phrases."""

BAR = 40
"""Cells of a bar: what fits beside the scroll bar."""


def heading(text: str) -> Text:
    """The title of a part."""
    return Text(visible(text), "bold")


def facts(pairs: Iterable[tuple[str, str]], room: int = LABELS) -> Table:
    """Names in so many cells, with their values beside them."""
    return hanging(((Text(name, "dim"), Text(visible(value))) for name, value in pairs), room)


def section(title: str, pairs: Iterable[tuple[str, str]], room: int = LABELS) -> Iterator[RenderableType]:
    """A heading, facts and a blank line."""
    yield heading(title)
    yield facts(pairs, room)
    yield ""


def exact(ns: int) -> str:
    """A length of time to read, and to the nanosecond."""
    return f"{duration(ns)} ({ns:,} ns)"


def time_blocks(title: str, row: PartsRow, palette: Palette, *, monochrome: bool) -> Iterator[RenderableType]:
    """A heading, a bar of where time went, and what its stretches stand for, largest first."""
    yield heading(title)
    bar = bar_segments(row.bar(BAR), palette, monochrome=monochrome)
    yield Text.assemble(*((part.text, part.style or "") for part in bar), end="\n")
    ordered = sorted(row.slices, key=lambda part: -part.mean_ns)
    yield facts(((f"{part.group.sign} {part.group.name}", part.words) for part in ordered), _GROUPS)


_GROUPS = max(len(group.name) for group in GROUPS) + 2


BINS = 12
MIN_VALUES = 5
"""Fewer values are described by their statistics."""
_BAR = 14
"""Cells of the longest bar: what an inspector leaves beside the range and the count."""
_UNITS = (("s", 10**9), ("ms", 10**6), ("µs", 10**3), ("ns", 1))


def histogram_blocks(durations: IntArray, of: str, resolution_ns: int = 0) -> Iterator[RenderableType]:
    """Durations in ns, known to `resolution_ns`, `of` something in the plural; nothing where there are few."""
    if len(durations) < MIN_VALUES:
        return
    yield heading(f"Durations of {of}")
    yield Text("\n".join(_lines(durations)), no_wrap=True)
    p50, p95 = quantiles(durations, 0.5, 0.95)
    numbers = (("min", float(durations.min())), ("median", p50), ("p95", p95), ("max", float(durations.max())))
    minimum, median, tail, maximum = (f"{name} {duration(value, resolution_ns)}" for name, value in numbers)
    # Four of them do not fit into one line of the inspector.
    yield Text(f"{minimum} · {median}\n{tail} · {maximum}", "dim")
    yield ""


def _lines(durations: IntArray) -> Iterator[str]:
    low, high = int(durations.min()), int(durations.max())
    if low == high:
        yield f"all of {format_count(len(durations), 'value')}: {duration(float(low))}"
        return
    of_bins, edges = np.histogram(durations, BINS)
    counts, max_count = of_bins.tolist(), int(of_bins.max())
    unit, size = next((name, size) for name, size in _UNITS if high >= size)
    width = (high - low) / BINS / size
    decimals = next((digits for digits in range(4) if width >= 10.0**-digits), 3)
    texts = [f"{edge / size:,.{decimals}f}" for edge in edges]
    room = max(map(len, texts))
    # Neighboring ranges without any value take one line.
    for _, run in groupby(range(BINS), key=lambda at: at if counts[at] else -1):
        bins = list(run)
        first, after, count = texts[bins[0]], texts[bins[-1] + 1], counts[bins[0]]
        # What is there at all is never shown as nothing.
        eighths = max(round(count / max_count * _BAR * 8), 1 if count else 0)
        bar = "█" * (eighths // 8) + LEFT_BLOCKS[eighths % 8].strip()
        yield f"{first:>{room}} – {after:>{room}} {unit} {bar} {count:,}".rstrip()


ATTRIBUTION_WORDS = {
    Attribution.EXACT: "exact (row names the model)",
    Attribution.LABEL: "by label (which names the model)",
    Attribution.CONTAINED: "by time (inside exactly one prediction)",
    Attribution.AMBIGUOUS: "ambiguous (inside several predictions)",
    Attribution.FOREIGN: "another process, not the target",
    Attribution.UNATTRIBUTED: "unattributed",
    Attribution.INFERRED: "inferred (Core ML recorded none)",
}
"""How sure it is that a row belongs to the model and prediction it is shown with."""

_PLAIN = ("start_ns", "duration_ns", "form", "name", "process", "thread", "table", "row")
"""Columns of phases that are shown otherwise, or not."""
_NAMED = ("model", "instance", "parent_model", "process", "pid", "depth", "operation")


def event_blocks(session: Session, ref: EventRef) -> Iterator[RenderableType]:
    """All that is known of a row."""
    row = session.row(ref)
    span = session.span(ref)
    pairs = [("at" if "duration_ns" not in row else "start", moment(span.start_ns, 1))]
    if "duration_ns" in row:
        length = row["duration_ns"]
        pairs.insert(0, ("duration", "no end recorded" if length is None else exact(length)))
        pairs += [] if length is None else [("end", moment(span.start_ns + length, 1))]
    if ref.frame == PHASES:
        plain_names = (name for name in row if name not in _PLAIN)
        pairs += [(name.replace("_", " "), str(row[name])) for name in plain_names if row[name] is not None]
    if ref.frame == LATE:
        yield Text(visible(frame_words(described(session.whole_trace, ref.index))), "bold")
        pairs += [("held up by", f"{row['model']} (P to jump)")] if prediction_of(session, ref) is not None else []
    if ref.frame in EVENT_FRAMES:
        pairs += [("lane", lane_title(row["lane"]))]
        device = None if row["device"] is None else Device(row["device"])
        pairs += [] if device is None else [("device", DEVICE_NAMES[device])]
        pairs += [(name.replace("_", " "), str(row[name])) for name in _NAMED if row[name] is not None]
        if row["prediction"] is not None:
            call = session.trace.activity.take(slice(row["prediction"], row["prediction"] + 1))
            when = f"{duration(int(call.duration_ns[0]))} at {moment(int(call.start_ns[0]))}"
            pairs.append(("prediction", f"{when} (P to jump)"))
        pairs.append(("attribution", ATTRIBUTION_WORDS[Attribution(row["attribution"])]))
        if ref.frame == "activity":
            pairs += next(inferred_facts(session.trace.activity.take(slice(ref.index, ref.index + 1))))
        pairs.append(("filter", f"kind:{row['kind']}{f' device:{device}' if device else ''}"))
        if row["guessed"]:
            pairs.append(("note", "kind inferred from the beginning of an unrecognized event name"))
    if "table" in row:
        pairs.append(("source", f"{row['table']}, row {row['row']}"))
        checks = session.report.results if session.report is not None else ()
        pairs += [("evidence of", f"{checks[at].title} (F to jump)") for at in findings_of(session, ref)]
    name = name_of(row) or "unnamed event"
    yield from section(f"Late frame: {name}" if ref.frame == LATE else name, pairs)
    if ref.frame == PHASES and (
        parts := parts_of_one(session.whole_trace, session.trace.phases.take(slice(ref.index, ref.index + 1)))
    ):
        yield from section("Where its time went", parts_words(parts), MEASURES)


def _caller_blocks(session: Session, index: int) -> Iterator[RenderableType]:
    """Who called, of a row of `Trace.activity`; nothing without call stacks, or before the checks, which read them."""
    site = site_of(session.whole_trace, session.label_in_whole_trace(index)) if session.report is not None else None
    if site is None:
        return
    pairs = [("function", place(site)), *(("called by", place(caller)) for caller in site.called_by)]
    pairs += [("thread", THREADS[site.thread])] if site.thread in THREADS else []
    pairs.append(("busy with", busy_words(site) or f"unknown ({format_count(site.samples, 'sample')})"))
    if site.ambiguous:
        pairs.append(("note", "ambiguous: another thread made such a call meanwhile"))
    yield from section("Called from", pairs)


def range_blocks(state: State, span: Span, ends: tuple[Span, Span] | None) -> Iterator[RenderableType]:
    """Length and ends; for two events, the distances between their edges; the predictions that start in it."""
    pairs = [
        ("length", exact(span.span_ns)),
        ("from", moment(span.start_ns, 1)),
        ("to", moment(span.end_ns, 1)),
        *((name, exact(length)) for name, length in (distances(*ends) if ends is not None else ())),
        ("statistics", "2 to show, ctrl+y to copy"),
    ]
    yield from section("Range", pairs)
    yield from histogram_blocks(durations_in_range(state, span), "predictions starting in it")


def distances(first: Span, second: Span) -> Iterator[tuple[str, int]]:
    """From edge to edge of two events, the earlier first: names and ns."""
    gap = second.start_ns - first.end_ns
    yield ("gap", gap) if gap >= 0 else ("overlap", min(first.end_ns, second.end_ns) - second.start_ns)
    yield "start – start", second.start_ns - first.start_ns
    yield "end – end", second.end_ns - first.end_ns


UNKNOWN = "unknown in this recording"


def top_blocks(session: Session, index: int, *, explained: bool) -> Iterator[RenderableType]:
    """Which prediction a row of `Trace.activity` is, of those of its model that the app called, and when, which one
    that is `explained` says itself; nothing where it is none of them, or not yet known."""
    calls, activity = session.calls, session.trace.activity
    if calls is None or calls.position(index) is None:
        return
    model = activity.model.item(index)
    same = calls.index if model is None else calls.index[activity.model.is_any(model)[calls.index]]
    of = "" if model is None else f" of {model}"
    yield heading(f"Prediction {np.searchsorted(same, index) + 1:,} of {len(same):,}{of}")
    length, start = duration(int(activity.duration_ns[index])), moment(int(activity.start_ns[index]))
    yield "" if explained else Text(f"{length}, at {start}\n")


def prediction_blocks(session: Session, index: int, palette: Palette, *, monochrome: bool) -> Iterator[RenderableType]:
    """About a row of `Trace.activity`: who made the call; of a prediction that the app called, where its time went."""
    yield from _caller_blocks(session, index)
    calls = session.calls
    position = calls.position(index) if calls is not None else None
    if calls is None or position is None:
        return
    parts = breakdown(in_order(session.whole_trace)).of(np.array([session.label_in_whole_trace(index)]))
    summary = summarize_breakdown(parts)
    if summary is None or not summary.total_ns:
        return
    row = parts_row("", summary)
    yield from time_blocks("Where its time went", row, palette, monochrome=monochrome)
    yield ""
    phase = UNKNOWN if calls.inferred[position] else "first after a load" if calls.first[position] else "warm"
    pairs: list[tuple[str, str]] = []
    if summary.handoffs is None:
        pairs.append(("hand-offs", UNKNOWN))
    elif not summary.handoffs:
        pairs.append(("hand-offs", "none (single compute unit)"))
    else:
        idle = f"{duration(summary.handoff_gap_ns)} with" if summary.handoff_gap_ns is not None else "unknown time with"
        pairs.append(("hand-offs", f"{round(summary.handoffs):,} between compute units, {idle} all units idle"))
        pairs.append(("from → to", directions(parts.handoffs)))
    if summary.segments is not None:
        pairs.append(("segments", f"{format_count(round(summary.segments), 'operation')} on the Neural Engine"))
    for name, value, what in (("lead", summary.lead_ns, "before first"), ("tail", summary.tail_ns, "after last")):
        pairs.append((name, f"{duration(value)} {what} execution" if value is not None else UNKNOWN))
    if summary.other_models_ns:
        pairs.append(("concurrent", f"predictions of other models for {duration(summary.other_models_ns)}"))
    yield facts([("phase", phase), *pairs])
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
        slower = slower_elsewhere(ledger(session.whole_trace), explained.model, explained.duration_ns)
        if slower is not None:
            yield Text(visible(slower_words(slower).partition(" (")[0]), "dim")
        # The line of code is what one looks for next; more of it stands further down.
        site = site_of(session.whole_trace, session.label_in_whole_trace(index))
        unsampled = session.report is not None and session.report.code is None
        unknown = "which code called it: not recorded (Time Profiler)\n" if unsampled else ""
        yield Text(f"called from {visible(place(site))}\n" if site is not None else unknown)
    yield from section("Compared with a usual one", why_facts(explained))


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
