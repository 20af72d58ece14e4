"""What a check says of the history that recordings are the newest build of: steps that each pass a gate add up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracekit.compare.change_points import MIN_BUILDS
from tracekit.compare.history import FIGURES, History, Recorded, Series, Trend
from tracekit.compare.verdict import Item, Verdict
from tracekit.compare.words import percent_change
from tracekit.report.formatting import quantity, word_list
from tracekit.units import format_count, format_share

if TYPE_CHECKING:
    from tracekit.compare.settings import Floors

GATED = {name: figure for name, figure in FIGURES.items() if figure.worse and name != "findings"}
"""Figures that a history is held against; findings have limits of their own."""


def history_items(history: History, newest: Sequence[Recorded], floors: Floors) -> Iterator[Item]:
    """An item for each figure that became worse by more than is allowed, and one for the others of each model."""
    devices = {(one.device, one.system) for one in newest}
    models = {model for one in newest for model in one.models}
    for series in history.series:
        if series.current and series.model in models and (series.device, series.system) in devices:
            yield from _items(series, floors.of(series.model).allow)


def _items(series: Series, allow: float) -> Iterator[Item]:
    trends = [trend for trend in series.trends if trend.figure in GATED]
    judged = [trend for trend in trends if trend.judged]
    failed = [trend for trend in judged if trend.worsening() > allow]
    for trend in failed:
        text = f"{_words(series, trend)}, allowed: at most {format_share(allow)}"
        about = f"{trend.figure}:{series.model}"
        yield Item(Verdict.FAILED, "history", series.model, text, about, (), trend.worsening(), allow)
    passed = [trend for trend in judged if trend not in failed]
    if passed:
        news = [_words(series, trend) for trend in passed if trend.worsening()]
        steady = [FIGURES[trend.figure].title for trend in passed if not trend.worsening()]
        said = [f"{word_list(steady)} not worse over {format_count(len(series.builds), 'build')}"] if steady else []
        text = "; ".join([*(f"{one}, allowed: at most {format_share(allow)}" for one in news), *said])
        yield Item(Verdict.PASSED, "history", series.model, text)
    if not judged:
        because = f" ({series.begins})" if series.begins else ""
        text = f"{format_count(len(series.builds), 'build')}{because}; a change can be found from {MIN_BUILDS} on"
        yield Item(Verdict.NOT_COUNTED, "history", series.model, text)


def _words(series: Series, trend: Trend) -> str:
    """How far a figure became worse, and between which builds."""
    figure, news = FIGURES[trend.figure], trend.news()
    first, last = news[0], news[-1]
    levels = [quantity(level, figure.unit) for level in (first.before, last.after)]
    kinds = first.kind if len(news) == 1 else f"{len(news)} changes"
    facts = [kinds, f"{_build_name(series, first.last_before)} to {_build_name(series, last.first_after)}"]
    if figure.unit != "share":
        facts.insert(0, percent_change(1 + trend.change(first.before, last.after)))
    return f"{figure.title} {levels[0]} → {levels[1]} ({', '.join(facts)})"


def _build_name(series: Series, at: int) -> str:
    """A build by its commit, or by its date where none is known."""
    build = series.builds[at]
    return build.commit[:7] if build.commit else f"{build.day.day} {build.day:%b %Y}"
