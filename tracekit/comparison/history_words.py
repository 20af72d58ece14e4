"""What the text, the page, and the gate say of a history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracekit.comparison.change_points import MIN_BUILDS
from tracekit.comparison.history import FIGURES, RATIOS, History, Recorded, Series, Trend
from tracekit.comparison.verdict import Item, Verdict
from tracekit.comparison.words import arrow, percent_change
from tracekit.report.formatting import quantity, word_list
from tracekit.units import format_count, format_share

if TYPE_CHECKING:
    from datetime import datetime

    from tracekit.comparison.change_points import Change
    from tracekit.comparison.settings import Floors

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


_SETTING = ("history",)


def history_items(history: History, newest: Sequence[Recorded], floors: Floors) -> Iterator[Item]:
    """An item for each figure that became worse by more than is allowed, and one for the others of each model."""
    latest = sorted(history.series, key=lambda one: one.builds[-1].time)
    series_of = {(one.model, one.device, one.system): one for one in latest}
    for key in dict.fromkeys((model, one.device, one.system) for one in newest for model in one.models):
        yield from _items(series_of[key], floors.of(key[0]).allow)


def _items(series: Series, allow: float) -> Iterator[Item]:
    bound, said, steady = f", allowed: at most {format_share(allow)}", [], []
    for trend in series.trends:
        worse, figure = trend.worsening(), FIGURES[trend.figure]
        changes = "; ".join(change_words(series, trend, change) for change in trend.news())
        text = f"{figure.title} {moved_words(trend)}: {changes}{bound}"
        if not trend.judged or not figure.worse or figure.unit == "count":
            continue
        if worse > allow:
            about = f"{trend.figure}:{series.model}"
            yield Item(Verdict.FAILED, "history", series.model, text, about, _SETTING, worse, allow)
        elif worse:
            said.append(text)
        else:
            steady.append(figure.title)
    builds = format_count(len(series.builds), "build")
    said += [f"{word_list(steady)} not worse over {builds}"] if steady else []
    if said:
        yield Item(Verdict.PASSED, "history", series.model, "; ".join(said), None, _SETTING)
    if not series.judged:
        because = f" ({series.begins})" if series.begins else ""
        text = f"{builds}{because}; a change can be found from {MIN_BUILDS} on"
        yield Item(Verdict.NOT_COUNTED, "history", series.model, text, None, _SETTING)
