"""What a history says: for each model the trend of its figures over builds, and what changed when."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np

from tracekit.characters import visible
from tracekit.comparison.change_points import MIN_BUILDS
from tracekit.comparison.history import (
    FIGURES,
    NEWEST,
    History,
    Series,
    Trend,
    change_words,
    day_words,
    moved_words,
    not_in_newest,
)
from tracekit.comparison.latency import MIN_PREDICTIONS
from tracekit.comparison.settings import Floor
from tracekit.documents import columns
from tracekit.documents.launches import launches_section
from tracekit.render import blocks
from tracekit.render.blocks import Column, Line, Paragraph, Role, Section, Span, items, join, section, table
from tracekit.render.markup import Html, tag
from tracekit.report.formatting import ABSENT, quantity
from tracekit.report.viewers.lane_columns import page_json
from tracekit.units import format_count, format_time

Drawn = Callable[[Series, Trend], Span]
BARS = "▁▂▃▄▅▆▇█"
BOARD = ("p50_ns", "p95_ns", "all_p50_ns", "load_ns", "neural-engine", "findings")
"""Figures that the page shows of all models side by side, as many as fit a screen; the others are below."""
CELLS = 18
"""Cells of a sparkline; builds that share one are their median."""
MARKS = 150
"""Points of a picture; where there are more builds, some share one, which is their median."""
STEADY = "no change found"
SAID = 3
_ORDER = {"ns": 0, "/s": 1, "share": 2, "count": 3}
_STYLE = """
svg.trend{display:inline-block;width:24rem;max-width:100%;height:2.6rem;overflow:visible;vertical-align:middle}
#trends svg.trend{width:4rem;height:1.4rem;max-width:none;margin:0 .4rem 0 .7rem}
#trends td:has(svg){white-space:nowrap}
svg.trend *{vector-effect:non-scaling-stroke;fill:none;stroke-width:1.5}
svg.trend .line{stroke:currentColor;opacity:.75}
svg.trend .mark{stroke:var(--dim);stroke-dasharray:3 2}
svg.trend .mark.worse{stroke:var(--worse)}
svg.trend .mark.clean{stroke:var(--clean)}
.tip.trend{position:fixed;z-index:9}
.axes{display:grid;grid-template-columns:max-content auto;gap:0 .4rem;font-size:.75rem;color:var(--dim)}
.axes{width:max-content;max-width:100%}
.axes a{color:var(--link)}.ends{display:flex;justify-content:space-between}.ends.x{grid-column:2}
.ends.y{flex-direction:column;text-align:right;line-height:1}
@media screen and (max-width:640px){#trends .n{flex-basis:100%}#trends .n::before{content:attr(data-title);
display:inline-block;width:8rem;color:var(--dim)}}
"""


def history_document(history: History, form: str = "text", link: Callable[[str], str] = str) -> blocks.Document:
    """The history in a form. In a page, builds lead to what `link` makes of the paths of their reports, if anything."""
    current = [one for one in history.series if one.current]
    ended = [one for one in history.series if not one.current]
    worsening = [(trend.worsening(), one, trend) for one in current for trend in one.trends if trend.worsening()]
    # What a user feels comes first: times before shares, and those before findings.
    worse = sorted(worsening, key=lambda change: (_ORDER[FIGURES[change[2].figure].unit], -change[0]))
    current = list({id(one): one for one in (*(change[1] for change in worse), *current)}.values())

    builds = {one: at for at, one in enumerate(dict.fromkeys(one.builds for one in history.series))}

    def drawn(series: Series, trend: Trend) -> Span:
        picture = None if form == "markdown" else partial(_picture, series, trend, builds[series.builds])
        heights = (height for _, _, height in _heights(trend, CELLS))
        bars = ("·" if np.isnan(height) else BARS[int(height * (len(BARS) - 1) + 0.5)] for height in heights)
        return Span("".join(bars), picture=picture)

    board = _board(current, drawn) if form == "html" else None
    looks = None
    if form == "html":
        # Name and address of each build of each series, for the script of the page (`web/src/trends.ts`).
        names = [
            [(visible(f"{one.day:%Y-%m-%d} {(one.commit or '')[:12]}"), link(one.report)) for one in build]
            for build in builds
        ]
        data = tag("script", Html(page_json(names)), type="application/json", id="history-builds")
        looks = blocks.Figure("", style=_STYLE, data=data)
    return blocks.Document(
        title="tracekit history",
        verdict=_verdict(current, worse),
        tone=Role.BAD if worse else Role.GOOD if any(one.judged for one in current) else Role.OPEN,
        blocks=blocks.present(
            looks,
            board,
            *(_section(one, drawn, form) for one in current),
            launches_section(history.launches),
            section("Earlier series", *(_section(one, drawn, form) for one in ended), folded=True),
            items((*(f"{one.model}: {text}" for one, text in not_in_newest(history)), *history.notes)),
        ),
        more="tracekit history PATH -o history.html" if ended else "",
    )


def _verdict(current: Sequence[Series], worse: Sequence[tuple[float, Series, Trend]]) -> str:
    models = format_count(len({one.model for one in current}), "model")
    if worse:
        _, series, trend = worse[0]
        text = f"{series.model} {FIGURES[trend.figure].title} {moved_words(trend)}"
        more = f", and {format_count(len(worse) - 1, 'more figure')}" if len(worse) > 1 else ""
        return f"Worse in the {_newest(current)}: {text}{more}."
    if not current:
        return "No model with a prediction or a load."
    short = sum(not one.judged for one in current)
    if short == len(current):
        return f"{_largest_step(current)}Too few builds to test: {MIN_BUILDS} of one device and system are needed."
    note = f" ({short:,} with too few builds)" if short else ""
    return f"Nothing became worse in the {_newest(current)} of {models}{note}."


def _largest_step(current: Sequence[Series]) -> str:
    """Which build got slower, as far as one figure of each says it; empty where none did by more than builds vary."""
    steps = [
        (later / earlier, later, earlier, at, one)
        for one in current
        for trend in one.trends
        if trend.figure in ("p50_ns", "all_p50_ns")
        for at, (earlier, later) in enumerate(pairwise(trend.values), 2)
        if earlier and later
    ]
    ratio, later, earlier, at, one = max(steps, default=(1.0, 0.0, 0.0, 0, None), key=lambda step: step[0])
    if one is None or ratio < 1 + Floor().ratio:
        return ""
    build = one.builds[at - 1]
    named = " ".join(filter(None, (f"{build.day:%Y-%m-%d}", (build.commit or "")[:12])))
    change = f"{format_time(earlier)} → {format_time(later)} (+{ratio - 1:.0%})"
    return f"Slower in build {at} of {len(one.builds)} ({named}): {one.model} {change}. "


def _newest(current: Sequence[Series]) -> str:
    return f"newest {min(NEWEST, max((len(one.builds) for one in current), default=0))} builds"


def _section(series: Series, drawn: Drawn, form: str) -> Section:
    newest, count = series.builds[-1].day, len(series.builds)
    days = dict.fromkeys(day_words(build.day, newest) for build in (series.builds[0], series.builds[-1]))
    where = ", ".join(filter(None, (series.model, _where(series))))
    notes = [f"new series: {series.begins}"] if series.begins else []
    notes += ["too few builds"] if count < MIN_BUILDS else []
    title = f"{where}: {format_count(count, 'build')}, {' to '.join(days)} {newest.year}"
    cells: tuple[Column[Trend], ...] = (
        columns.words("figure", lambda trend: FIGURES[trend.figure].title),
        columns.words("builds", lambda trend: drawn(series, trend)),
        Column("newest", _value),
        columns.words("change points and drift", lambda trend: _changes(series, trend)),
    )
    if form == "text":
        cells = tuple(replace(cell, title="") for cell in cells)
    folded = form == "html" or (form == "markdown" and not any(trend.news() for trend in series.trends))
    grid = table(series.model, cells, (trend for trend in series.trends if any(trend.known)), quantities=True)
    none = None if grid else Paragraph(f"No figure to follow: a latency needs {MIN_PREDICTIONS} values per recording.")
    return Section(title, blocks.present(grid, none), note="; ".join(notes), folded=folded, has_names=True)


def _value(trend: Trend) -> Line:
    value = trend.values[-1]
    return ABSENT if value is None else Span(quantity(value, FIGURES[trend.figure].unit), quantity=trend.figure)


def _changes(series: Series, trend: Trend) -> Line:
    if not trend.judged:
        return f"{len(trend.known)} of {MIN_BUILDS} builds needed" if len(series.builds) >= MIN_BUILDS else ""
    if not trend.changes:
        return STEADY
    newest = [change_words(series, trend, change) for change in reversed(trend.changes[-SAID:])]
    more = len(trend.changes) - len(newest)
    words = "; ".join([*newest, f"{more} earlier"] if more else newest)
    return Span(words, Role.STRONG) if trend.worsening() else words


def _heights(trend: Trend, count: int) -> Iterator[tuple[int, float, float]]:
    """The values in at most so many pieces of equal length: the last place of each, its median, and how high that is
    drawn, from 0 to 1 (NaN: not recorded). Noise of a few percent does not fill the height."""
    low, high = min(trend.known), max(trend.known)
    spare = max(0.3 * high - (high - low), 0.0) / 2
    low, high = low - spare, high + spare
    if FIGURES[trend.figure].unit in ("share", "count"):
        low, high = 0.0, max(*trend.known, 1.0)
    values = np.array(trend.values, np.float64)
    for part in np.array_split(np.arange(len(values)), min(count, len(values))):
        there = values[part][~np.isnan(values[part])]
        value = float(np.median(there)) if len(there) else float("nan")
        yield int(part[-1]), value, (value - low) / (high - low or 1.0)


def _picture(series: Series, trend: Trend, builds: int) -> Html:
    """The figure over builds, and where it changed. `builds` is where a script finds their names."""
    drawn = list(_heights(trend, MARKS))
    # Where builds have no value, the line has a gap.
    gaps = [True, *(np.isnan(value) for _, value, _ in drawn)]
    points = [(gap, *each) for gap, each in zip(gaps, drawn, strict=False) if not np.isnan(each[1])]
    line = "".join(f"{'M' if gap else 'L'}{at} {36 - 32 * height:.1f}" for gap, at, _, height in points)
    marks = [tag("path", d=f"{line}h0", class_="line")]
    for change in trend.changes:
        words = tag("title", visible(change_words(series, trend, change)))
        change_for_worse = FIGURES[trend.figure].worse * (change.after - change.before)
        look = "mark worse" if change_for_worse > 0 else "mark clean" if change_for_worse else "mark"
        marks.append(tag("path", words, d=f"M{(change.last_before + change.first_after) / 2} 0V40", class_=look))
    count, unit = len(trend.values), FIGURES[trend.figure].unit
    return tag(
        "svg",
        *marks,
        role="img",
        aria_label=visible(f"{FIGURES[trend.figure].title} of {series.model} over {count} builds"),
        class_="trend",
        viewBox=f"0 0 {max(count - 1, 1)} 40",
        preserveAspectRatio="none",
        data_builds=builds,
        data_values="|".join(quantity(value, unit) for _, _, value, _ in points),
        data_joined=f"median of {count / MARKS:.0f} builds up to " if count > 1.5 * MARKS else None,
    )


def _board(current: Sequence[Series], drawn: Drawn) -> Section | None:
    def cell(name: str) -> Column[Series]:
        return columns.optional(
            FIGURES[name].title,
            lambda series: next(((series, trend) for trend in series.trends if trend.figure == name), None),
            lambda both: (drawn(*both), " ", *blocks.spans(_value(both[1]))),
            lambda both: both[1].values[-1],
        )

    def news(series: Series) -> Line:
        changes = [
            Span(
                f"{FIGURES[trend.figure].title} {moved_words(trend)}", Role.STRONG if trend.worsening() else Role.PLAIN
            )
            for trend in series.trends
            if trend.news()
        ]
        return join(changes, ", ") if changes else STEADY if series.judged else "too few builds"

    figures = {trend.figure for series in current for trend in series.trends}
    where = {_where(series) for series in current}
    cells: tuple[Column[Series] | None, ...] = (
        columns.names("model", lambda series: series.model),
        columns.words("on", _where) if len(where) > 1 else None,
        columns.words(_newest(current), news),
        *(cell(name) for name in BOARD if name in figures),
    )
    title = f"Models on {next(iter(where))}" if len(where) == 1 else "Models"
    return section(title, table("Models", filter(None, cells), current), name="trends")


def _where(series: Series) -> str:
    return ", ".join(filter(None, (series.device, series.system)))
