"""What the text, the page, and the gate of a history say of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.comparison.history import FIGURES, RATIOS, Series, Trend
from tracekit.comparison.words import arrow, percent_change
from tracekit.report.formatting import quantity, word_list
from tracekit.units import format_count

if TYPE_CHECKING:
    from datetime import datetime

    from tracekit.comparison.change_points import Change

CERTAIN = 0.9999
"""Confidence from which on words say so."""


def moved_words(trend: Trend) -> str:
    """How far the newest builds are from those before: `+31%`, or both levels of shares and counts."""
    return _size(trend, *trend.moved()) if trend.news() else ""


def _size(trend: Trend, before: float, after: float) -> str:
    unit = FIGURES[trend.figure].unit
    if unit in RATIOS:
        return percent_change(1 + trend.size(before, after))
    return arrow(quantity(round(before, 2), unit), quantity(round(after, 2), unit))


def change_words(series: Series, trend: Trend, change: Change) -> str:
    """A change with its builds, size and day, and how sure it is."""
    first, last = series.builds[change.last_before], series.builds[change.first_after]
    names = [build.commit[:7] for build in (first, last) if build.commit]
    drift, day = change.kind == "drift", day_words(last.day, series.builds[-1].day)
    facts = [_size(trend, change.before, change.after)]
    facts += [f"over {format_count(change.first_after - change.last_before, 'build')} to {day}"] if drift else [day]
    facts.append("certain" if change.confidence >= CERTAIN else f"{change.confidence:.1%} sure")
    if trend.figure == "findings":
        new = [check for check in last.findings if check not in first.findings]
        facts += [f"new: {word_list(new)}"] if new else []
    where = f" {'' if drift else 'at '}{'…'.join(names)}" if len(names) == 2 else ""
    return f"{change.kind}{where} ({', '.join(facts)})"


def day_words(day: datetime, newest: datetime) -> str:
    """A day, with its year if that is not the newest build's."""
    return f"{day.day} {day:%b}" + (f" {day.year}" if day.year != newest.year else "")
