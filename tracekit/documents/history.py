"""What a history says: for each model the trend of its figures over builds, and what changed when."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tracekit.characters import visible
from tracekit.compare.change_points import MIN_BUILDS, Change
from tracekit.compare.history import FIGURES, NEWEST, History, Series, Trend
from tracekit.compare.words import percent_change
from tracekit.documents import columns
from tracekit.render.blocks import (
    Column,
    Document,
    Figure,
    Line,
    Paragraph,
    Role,
    Section,
    Span,
    items,
    join,
    present,
    section,
    spans,
    table,
)
from tracekit.render.markup import Html, tag
from tracekit.report.formatting import ABSENT, quantity, word_list
from tracekit.units import format_count, format_time

if TYPE_CHECKING:
    from datetime import datetime

BARS = "▁▂▃▄▅▆▇█"
BOARD = ("p50_ns", "p95_ns", "load_ns", "predictions_per_second", "ane", "findings")
"""Figures that the page shows of all models side by side; the others are below."""
CELLS = 18
"""Cells of a sparkline; builds that share one are their median."""
MARKS = 150
"""Builds of a picture that can be pointed at and clicked."""
CERTAIN = 0.9999
"""Confidence from which on words say so."""
SAID = 3
"""Changes of a figure that are said, the newest ones."""
_STYLE = """
svg.trend{display:inline-block;width:24rem;max-width:100%;height:2.6rem;overflow:visible;vertical-align:middle}
#trends svg.trend{width:6.5rem;height:1.4rem;max-width:none}
#trends td:has(svg){white-space:nowrap}
svg.trend *{vector-effect:non-scaling-stroke;fill:none;stroke-width:1.5}
svg.trend .line{stroke:currentColor;opacity:.75}
svg.trend .mark{stroke:var(--critical,#b3261e);stroke-dasharray:3 2}
svg.trend .build{stroke:transparent;stroke-width:9;stroke-linecap:round}
@media screen and (max-width:640px){#trends td:has(svg)::before{content:attr(data-title);display:inline-block;
width:8rem;color:var(--dim)}}
svg.trend .build:hover,svg.trend a:focus .build{stroke:currentColor}
"""


def history_document(history: History, form: str = "text", link: Callable[[str], str] = str) -> Document:
    """The history in a form. In a page, builds lead to what `link` makes of the paths of their reports, if anything."""
    current = [one for one in history.series if one.current]
    ended = [one for one in history.series if not one.current]
    found = [(trend.worsening(), one, trend) for one in current for trend in one.trends]
    worse = sorted((each for each in found if each[0]), key=lambda each: -each[0])
    current = list({id(one): one for one in (*(each[1] for each in worse), *current)}.values())
    drawn = partial(_sparkline, as_text=form == "markdown", link=link)
    board = _board(current, drawn) if form == "html" else None
    looks = Figure("", style=_STYLE) if form == "html" else None
    return Document(
        title="tracekit history",
        verdict=_verdict(current, worse),
        tone=Role.BAD if worse else Role.GOOD if any(_judged(one) for one in current) else Role.OPEN,
        blocks=present(
            looks,
            board,
            *(_section(one, drawn, form) for one in current),
            section("Earlier series", *(_section(one, drawn, form) for one in ended), folded=True),
            items(history.notes),
        ),
    )


def _judged(series: Series) -> bool:
    return any(trend.judged for trend in series.trends)


def _verdict(current: Sequence[Series], worse: Sequence[tuple[float, Series, Trend]]) -> str:
    models = format_count(len({one.model for one in current}), "model")
    if worse:
        _, series, trend = worse[0]
        said = f"{series.model} {FIGURES[trend.figure].title} {_size(trend, trend.news()[0].before)}"
        more = f" and {len(worse) - 1:,} more" if len(worse) > 1 else ""
        return f"Worse in the newest {NEWEST} builds: {said}{more}."
    if not current:
        return "No model with a prediction or a load."
    short = sum(not _judged(one) for one in current)
    if short == len(current):
        return f"Too few builds to find changes: {MIN_BUILDS} of one device and system are needed."
    note = f" ({short:,} with too few builds)" if short else ""
    return f"Nothing became worse in the newest {NEWEST} builds of {models}{note}."


def _size(trend: Trend, before: float, after: float | None = None) -> str:
    """A change from one level to another, or to that of now: `+31%`, or both levels of shares and counts."""
    reached, unit = trend.changes[-1].after if after is None else after, FIGURES[trend.figure].unit
    if unit in ("share", "count"):
        return f"{quantity(round(before, 2), unit)} → {quantity(round(reached, 2), unit)}"
    return percent_change(1 + trend.size(before, reached))


def _section(series: Series, drawn: partial[Span], form: str) -> Section:
    newest, count = series.builds[-1].day, len(series.builds)
    days = [_day(series.builds[0].day, newest)] if series.builds[0].day.date() != newest.date() else []
    days.append(_day(newest, newest, whole=True))
    where = ", ".join(filter(None, (series.model, _where(series))))
    notes = [f"begins anew: {series.begins}"] if series.begins else []
    notes += [f"changes are found from {MIN_BUILDS} builds on"] if count < MIN_BUILDS else []
    title = f"{where}: {format_count(count, 'build')}, {' to '.join(days)}"
    rows = [trend for trend in series.trends if any(trend.known) or trend.changes]
    cells: tuple[Column[Trend], ...] = (
        columns.words("figure", lambda trend: FIGURES[trend.figure].title),
        columns.words("builds", lambda trend: drawn(series, trend), legend=" "),
        Column("newest", _value),
        columns.words("change points and drift", lambda trend: _changes(series, trend)),
    )
    if form == "text":
        cells = tuple(replace(cell, title="") for cell in cells)
    return Section(title, present(table(series.model, cells, rows)), note="; ".join(notes), folded=form == "html")


def _day(day: datetime, newest: datetime, *, whole: bool = False) -> str:
    return f"{day.day} {day:%b}" + (f" {day.year}" if whole or day.year != newest.year else "")


def _value(trend: Trend) -> Line:
    unit = FIGURES[trend.figure].unit
    value = trend.values[-1]
    if value is None:
        return ABSENT
    return Span(format_time(value) if unit == "ns" else quantity(value, unit), quantity=trend.figure)


def _changes(series: Series, trend: Trend) -> Line:
    """What changed, the newest first."""
    if not trend.judged:
        known = f"known of {format_count(len(trend.known), 'build')}, {MIN_BUILDS} needed"
        return known if len(series.builds) >= MIN_BUILDS else ""
    if not trend.changes:
        return "steady"
    said = [_change(series, trend, change) for change in reversed(trend.changes[-SAID:])]
    more = len(trend.changes) - len(said)
    words = "; ".join([*said, f"{more} earlier"] if more else said)
    return Span(words, Role.STRONG) if trend.worsening() else words


def _change(series: Series, trend: Trend, change: Change) -> str:
    first, last = series.builds[change.last_before], series.builds[change.first_after]
    names = [build.commit[:7] for build in (first, last) if build.commit]
    drift, day = change.kind == "drift", _day(last.day, series.builds[-1].day)
    facts = [_size(trend, change.before, change.after)]
    facts += [f"over {format_count(change.first_after - change.last_before, 'build')} to {day}"] if drift else [day]
    facts.append("certain" if change.confidence >= CERTAIN else f"{change.confidence:.1%} sure")
    if trend.figure == "findings":
        new = [check for check in last.findings if check not in first.findings]
        facts += [f"new: {word_list(new)}"] if new else []
    where = f" {'' if drift else 'at '}{'…'.join(names)}" if len(names) == 2 else ""
    return f"{change.kind}{where} ({', '.join(facts)})"


def _sparkline(series: Series, trend: Trend, *, as_text: bool, link: Callable[[str], str]) -> Span:
    text = _bars(trend)
    return Span(text) if as_text else Span(text, picture=lambda: _picture(series, trend, link))


def _pieces(values: Sequence[float | None], count: int) -> Iterator[tuple[int, float]]:
    """Values in at most so many pieces of equal length: the last place of each, and its median (NaN: not recorded)."""
    known = np.array(values, np.float64)
    for part in np.array_split(np.arange(len(known)), min(count, len(known))):
        there = known[part][~np.isnan(known[part])]
        yield int(part[-1]), float(np.median(there)) if len(there) else float("nan")


def _scale(trend: Trend) -> tuple[float, float]:
    """Lowest and highest value of a picture; noise of a few percent does not fill it."""
    low, high = min(trend.known), max(trend.known)
    if FIGURES[trend.figure].unit in ("share", "count"):
        return 0.0, max(high, 1.0)
    spare = max(0.3 * high - (high - low), 0.0) / 2
    return low - spare, high + spare


def _bars(trend: Trend) -> str:
    low, high = _scale(trend)
    steps = [
        None if np.isnan(value) else int((value - low) / (high - low or 1.0) * (len(BARS) - 1) + 0.5)
        for _, value in _pieces(trend.values, CELLS)
    ]
    return "".join(" " if step is None else BARS[step] for step in steps)


def _picture(series: Series, trend: Trend, link: Callable[[str], str]) -> Html:
    """The figure over builds: its line, where it changed, and each build to point at; it leads to its report."""
    low, high = _scale(trend)
    across = max(len(trend.values) - 1, 1)
    pieces = [(0, float("nan")), *_pieces(trend.values, MARKS)]
    places = [
        ("M" if np.isnan(earlier) else "L", at, value, 100 * at / across, 36 - 32 * (value - low) / (high - low or 1.0))
        for (_, earlier), (at, value) in pairwise(pieces)
        if not np.isnan(value)
    ]
    joined = f"median of {len(trend.values) / MARKS:.0f} builds up to " if len(trend.values) > 1.5 * MARKS else ""
    # Where builds have no value, the line has a gap.
    marks = [tag("path", d="".join(f"{step}{x:.2f} {y:.2f}" for step, _, _, x, y in places) + "h0", class_="line")]
    for change in trend.changes:
        x = 50 * (change.last_before + change.first_after) / across
        words = tag("title", _change(series, trend, change))
        marks.append(tag("path", words, d=f"M{x:.2f} 0V40", class_="mark"))
    for _, at, value, x, y in places:
        build = series.builds[at]
        said = f"{joined}{build.day:%Y-%m-%d} {build.commit or ''}: {quantity(value, FIGURES[trend.figure].unit)}"
        mark = tag("path", tag("title", visible(said)), d=f"M{x:.2f} {y:.2f}h0", class_="build")
        address = link(build.report)
        marks.append(tag("a", mark, href=address) if address else mark)
    label = visible(f"{FIGURES[trend.figure].title} of {series.model} over {len(series.builds)} builds")
    shape = {"viewBox": "0 0 100 40", "preserveAspectRatio": "none"}
    return tag("svg", *marks, role="img", aria_label=label, class_="trend", **shape)


def _board(current: Sequence[Series], drawn: partial[Span]) -> Section | None:
    """All models on one screen."""

    def cell(name: str) -> Column[Series]:
        def trend_of(series: Series) -> tuple[Series, Trend] | None:
            return next(((series, trend) for trend in series.trends if trend.figure == name), None)

        return columns.optional(
            FIGURES[name].title,
            trend_of,
            lambda both: (drawn(*both), " ", *spans(_value(both[1]))),
            lambda both: both[1].values[-1],
        )

    def news(series: Series) -> Line:
        found = [(trend, changes) for trend in series.trends if (changes := trend.news())]
        if not found:
            return "steady" if _judged(series) else "too few builds"
        said = (
            Span(f"{FIGURES[trend.figure].title} {_size(trend, changes[0].before)}", _tone(trend))
            for trend, changes in found
        )
        return join(said, ", ")

    known = {trend.figure for series in current for trend in series.trends if any(trend.known)}
    several = len({(series.device, series.system) for series in current}) > 1
    where = columns.words("on", _where) if several else None
    cells: tuple[Column[Series] | None, ...] = (
        columns.names("model", lambda series: series.model),
        where,
        columns.words(f"newest {NEWEST} builds", news),
        *(cell(name) for name in BOARD if name in known),
    )
    shared = None if several or not current else Paragraph(f"on {_where(current[0])}", Role.DIM)
    return section("Models", shared, table("Models", filter(None, cells), current), name="trends")


def _where(series: Series) -> str:
    return ", ".join(filter(None, (series.device, series.system)))


def _tone(trend: Trend) -> Role:
    return Role.STRONG if trend.worsening() else Role.PLAIN
