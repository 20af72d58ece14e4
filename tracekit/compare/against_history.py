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
        if not trend.judged or not figure.worse or figure.unit == "count":
            continue
        if worse > allow:
            about = f"{trend.figure}:{series.model}"
            yield Item(Verdict.FAILED, "history", series.model, _words(series, trend) + bound, about, (), worse, allow)
        elif worse:
            said.append(_words(series, trend) + bound)
        else:
            steady.append(figure.title)
    builds = format_count(len(series.builds), "build")
    said += [f"{word_list(steady)} not worse over {builds}"] if steady else []
    if said:
        yield Item(Verdict.PASSED, "history", series.model, "; ".join(said))
    if not any(trend.judged for trend in series.trends):
        because = f" ({series.begins})" if series.begins else ""
        text = f"{builds}{because}; a change can be found from {MIN_BUILDS} on"
        yield Item(Verdict.NOT_COUNTED, "history", series.model, text)


def _words(series: Series, trend: Trend) -> str:
    """How far a figure became worse, and between which builds."""
    figure, news = FIGURES[trend.figure], trend.news()
    first, last = news[0], news[-1]
    levels = [quantity(level, figure.unit) for level in (first.before, last.after)]
    kinds = first.kind if len(news) == 1 else f"{len(news)} changes"
    facts = [kinds, f"{_build_name(series, first.last_before)} to {_build_name(series, last.first_after)}"]
    if figure.unit != "share":
        facts.insert(0, percent_change(1 + trend.size(first.before, last.after)))
    return f"{figure.title} {levels[0]} → {levels[1]} ({', '.join(facts)})"


def _build_name(series: Series, at: int) -> str:
    """A build by its commit, or by its date where none is known."""
    build = series.builds[at]
    return build.commit[:7] if build.commit else f"{build.day.day} {build.day:%b %Y}"
