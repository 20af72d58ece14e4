"""What helps: the diagnostic tree with what the recording answers, and what fixing findings would bring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tracekit.documents import columns, pictures
from tracekit.documents.diagnosis import Answer, Diagnosis, LeafAnswer
from tracekit.render import blocks
from tracekit.render.blocks import Column, Document, Entry, Line, Paragraph, Role, Span, items, present, section, table
from tracekit.render.markup import tag
from tracekit.report import formatting
from tracekit.report.formatting import lower_first
from tracekit.report.without import Figures, ModelChange, Replay, Without
from tracekit.units import format_count, format_estimate, format_rate, format_time

SHOWN = 3
"""Sentences of evidence per question, unless everything is asked for."""
REPEATED = 100
"""A reason of so many characters is given once only."""
MARKS = {Answer.SEEN: Span("●", Role.BAD), Answer.NOT_SEEN: Span("○", Role.GOOD), Answer.OPEN: Span("?", Role.OPEN)}
_Row = tuple[str, ModelChange]
"""What is fixed, and how a model changes."""
GAIN = "predicted gain: less time in Core ML (for gaps: from first to last prediction)"
ARROW = " → "
SIDES = ("before", "after")


def diagnosis_document(diagnosis: Diagnosis, *, everything: bool = False) -> Document:
    """What the recording answers, then what none can, which the short text names in a line; long reasons stand once."""
    most = None if everything else SHOWN
    given: set[str] = set()
    sections, others, names = [], [], []
    for branch in diagnosis.branches:
        facts = items(branch.facts, role=Role.DIM)
        # What no check could answer.
        beyond = [leaf for leaf in branch.leaves if leaf.answer == Answer.OPEN and not leaf.checks]
        answered = [leaf for leaf in branch.leaves if leaf not in beyond]
        asked, left = (items(_leaf(leaf, given, most) for leaf in leaves) for leaves in (answered, beyond))
        sections.append(section(branch.title, facts, asked) if asked else None)
        title = f"{branch.title}: {'the rest is ' if asked else ''}not in this recording"
        others.append(section(title, None if asked else facts, left, folded=True) if left else None)
        names += [leaf.pattern for leaf in beyond]
    rest = f"Not in this recording: {', '.join(names)}. What to check instead: -v"
    return Document(
        title=diagnosis.source,
        verdict=diagnosis.verdict,
        tone=Role.PLAIN,
        context=tuple(map(Paragraph, diagnosis.recording)),
        blocks=present(*sections, *others),
        closing=rest if names else "",
    )


def _leaf(leaf: LeafAnswer, given: set[str], shown: int | None) -> Entry:
    """One question. Its evidence joins what was `given`."""
    repeated = {line for line in leaf.evidence if line in given and len(line) >= REPEATED}
    new = list(dict.fromkeys("Same reason as above." if line in repeated else line for line in leaf.evidence))
    given.update(leaf.evidence)
    more = [f"{len(new) - shown} more (-v)"] if shown is not None and len(new) > shown else []
    why = [("why" if not number else "", line) for number, line in enumerate([*new[:shown], *more])]
    pages = blocks.join((Span(f"tracekit explain {check}", Role.CODE) for check in leaf.checks), ", ")
    next_step = ("fix", pages) if leaf.answer == Answer.SEEN else ("check", lower_first(leaf.ask))
    head: Line = (MARKS[leaf.answer], " ", Span(leaf.pattern, Role.STRONG), f": {leaf.answer}")
    return Entry(head, (*why, next_step))


def without_document(said: Without) -> Document:
    """A row for each model that changes, then what was assumed and what is unknown."""
    rows = [(_name(replay), change) for replay in said.replays for change in replay.models]
    cells: tuple[Column[_Row], ...] = (
        columns.words("fixed", lambda row: Span(row[0], Role.CODE), heading=True),
        columns.names("model", lambda row: _who(row[1])),
        _column("median", lambda figures: figures.median_ns, formatting.duration),
        _column("p95", lambda figures: figures.p95_ns, formatting.duration, drop=1),
        _column("per second", lambda figures: figures.per_second, lambda rate, _: format_rate(rate, ""), drop=3),
        _column("dropped frames", lambda figures: figures.dropped_frames, lambda count, _: f"{count:,}", drop=2),
        Column("predicted gain", _gain, lambda row: row[1].saved_ns),
    )
    waits = []
    for fixed, change in rows:
        if change.wait_ns:
            median, p95 = (format_time(ns, change.resolution_ns) for ns in change.wait_ns)
            waits.append(
                f"{fixed}: before that, inputs of {change.model} wait in the app (median {median}, p95 {p95})."
            )
    nothing = [f"{_name(replay)}: no gain, since other work hides it." for replay in said.replays if not replay.models]
    if not said.replays:
        verdict = "Savings unknown" if said.unknown else said.nothing or "No findings whose fixes save time"
    else:
        last = said.replays[-1]
        fixes = format_count(len(last.findings), "finding")
        if not last.models:
            verdict = f"Fixing {fixes} saves nothing"
        else:
            where = f" in {format_count(len(last.models), 'model')}" if len(last.models) > 1 else ""
            words = [f"saves {format_estimate(last.saved_ns)}{where}"] if last.saved_ns else []
            best = last.models[0]
            if ARROW in (medians := _sides(best, lambda figures: figures.median_ns, format_time)):
                words.append(f"{_who(best)} median {medians}")
            verdict = f"Fixing {fixes}: {', '.join(words) or 'predictions run at another pace'}"
    return Document(
        title=said.source,
        verdict=verdict,
        tone=Role.PLAIN,
        blocks=present(
            section("Before and after", _bars(said.replays), table("Before and after", cells, rows), note=GAIN),
            items([*waits, *nothing]),
            section("Savings unknown", items(f"{finding.finding}: {finding.reason}" for finding in said.unknown)),
            section("Assumed", items(said.assumed, role=Role.DIM)),
        ),
    )


def _bars(replays: Sequence[Replay]) -> blocks.Figure | None:
    """Median and p95 before and after the last replay, of all fixes together, on one scale for each model."""
    figures = []
    for change in replays[-1].models if replays else ():
        sides = [("median", change.before.median_ns, change.after.median_ns)]
        sides += [("p95", change.before.p95_ns, change.after.p95_ns)]
        known = [(name, before, after) for name, before, after in sides if before and after and before != after]
        rows = {
            f"{name} {side}": [ns] for name, *both in known for side, ns in zip(("before", "after"), both, strict=True)
        }
        if rows:
            figures.append(pictures.pairs(_who(change), {"c-prediction": "latency"}, rows))
    return blocks.Figure(tag("div", *figures, class_="named-bars")) if figures else None


def _name(replay: Replay) -> str:
    count = len(replay.findings)
    return replay.findings[0] if count == 1 else f"all {count} together"


def _who(change: ModelChange) -> str:
    return change.model if change.models == 1 else f"round of {change.models} models from {change.model}"


def _gain(row: _Row) -> str:
    _, change = row
    if change.saved_ns:
        return format_estimate(change.saved_ns)
    before, after = change.before.median_ns, change.after.median_ns
    return "latency only" if before and after and after < before else "none"


def _column(
    title: str, of: Callable[[Figures], float | None], form: Callable[[Any, int], str], drop: int = 0
) -> Column[_Row]:
    return Column(title, lambda row: _sides(row[1], of, form), lambda row: of(row[1].after), drop=drop)


def _sides(change: ModelChange, of: Callable[[Figures], float | None], form: Callable[[Any, int], str]) -> str:
    """A figure before and after; once where it stays the same."""
    values = of(change.before), of(change.after)
    words = [formatting.ABSENT if value is None else form(value, change.resolution_ns) for value in values]
    return ARROW.join(dict.fromkeys(words))
