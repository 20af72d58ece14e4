"""What a check says of the history that recordings are the newest build of: steps that each pass a gate add up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tracekit.comparison.change_points import MIN_BUILDS
from tracekit.comparison.history import FIGURES, History, Recorded, Series
from tracekit.comparison.history_words import change_words, moved_words
from tracekit.comparison.verdict import Item, Verdict
from tracekit.report.formatting import word_list
from tracekit.units import format_count, format_share

if TYPE_CHECKING:
    from tracekit.comparison.settings import Floors


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
