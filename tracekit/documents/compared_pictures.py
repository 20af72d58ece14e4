"""Both sides of a comparison in one picture: where the time of a prediction went, and how long predictions took."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.quantities import PART_TITLES
from tracekit.characters import visible
from tracekit.comparison.models import Basis
from tracekit.documents.pictures import BINS, Scale, axis_time, calls_of, drawing, figure, group_class, legend
from tracekit.render.blocks import Figure
from tracekit.render.markup import Html, join, tag
from tracekit.report.time_breakdown import GROUPS
from tracekit.units import format_percent, format_time

if TYPE_CHECKING:
    from tracekit.arrays import FloatArray, IntArray
    from tracekit.comparison.comparison import Comparison
    from tracekit.comparison.models import ModelComparison
    from tracekit.documents.lanes import Drawing

BEFORE, AFTER = "before", "after"
GROUP_OF = {PART_TITLES[group.part]: group for group in GROUPS}


def pictures_of_both(comparison: Comparison, sides: tuple[Drawing, Drawing] | None) -> list[Figure]:
    """The pictures of each model that can be compared; without `sides`, no latencies are known one by one."""
    calls = [{each.model: each for each in calls_of(side.timeline)} for side in sides or ()]
    found = []
    for model in comparison.compared:
        latencies = [
            each.durations if model.basis is Basis.ALL or each.cold.all() else each.durations[~each.cold]
            for known, name in zip(calls, (model.name_before, model.name), strict=False)
            if (each := known.get(name)) is not None
        ]
        shown = [_parts(model) if model.parts else None, _latencies(*latencies) if len(latencies) == 2 else None]
        if any(shown):
            head = tag("h3", tag("code", visible(model.name)), " ", tag("small", "before and after"))
            found.append(Figure(join([head, tag("div", *shown, class_="charts")])))
    return found


def _parts(model: ModelComparison) -> Html:
    """A bar for each side, both on one scale, of the parts of the mean prediction."""
    drawn = [part for part in model.parts if part.part in GROUP_OF]
    sides = {BEFORE: [part.before_ns for part in drawn], AFTER: [part.after_ns for part in drawn]}
    longest = max(sum(times) for times in sides.values()) or 1.0
    rows: list[Html] = []
    for side, times in sides.items():
        bars, x = list[Html](), 0.0
        for part, ns in zip(drawn, times, strict=True):
            title, looks = tag("title", f"{part.part} {format_time(ns)}"), group_class(GROUP_OF[part.part])
            bars.append(tag("rect", title, x=x, y=0, width=100 * ns / longest, height=10, class_=looks))
            x += 100 * ns / longest
        label = f"{side}: {', '.join(f'{part.part} {format_time(ns)}' for part, ns in zip(drawn, times, strict=True))}"
        bar = drawing(bars, "0 0 100 10", label, "parts")
        rows.append(tag("div", tag("span", side), bar, tag("span", format_time(sum(times))), class_="pair"))
    kinds = {group_class(GROUP_OF[part.part]): part.part for part in drawn if part.before_ns or part.after_ns}
    title = tag("figcaption", "Where the time of a mean prediction goes")
    return tag("figure", title, *rows, legend(kinds), class_="pairs")


def _latencies(before: IntArray, after: IntArray) -> Html:
    """The distributions of both sides over each other, each as shares of its own predictions."""
    scale = Scale.of(np.concatenate((before, after)))
    shares = [_shares(durations, scale) for durations in (before, after)]
    top = max(float(each.max()) for each in shares)
    marks = (tag("path", d=_steps(each / top), class_=side) for side, each in zip((BEFORE, AFTER), shares, strict=True))
    chart = drawing(list(marks), f"0 0 {BINS} 100", "Distribution of the latencies of both sides")
    x = map(axis_time, (scale.low, scale.value(0.5), scale.high))
    y = (f"{format_percent(top)} of predictions", "0")
    title = f"How long predictions took{scale.note}"
    picture = figure(title, chart, y, x, "x-broken" if scale.is_broken else "")
    return tag("div", legend({"side before": BEFORE, "side after": AFTER}), picture)


def _shares(durations: IntArray, scale: Scale) -> FloatArray:
    """The share of predictions in each bin."""
    bins = np.clip((scale(durations) * BINS).astype(np.int64), 0, BINS - 1)
    return np.bincount(bins, minlength=BINS) / len(durations)


def _steps(heights: FloatArray) -> str:
    """The outline of bars, as a path."""

    def corners() -> Iterator[str]:
        yield "M0 100"
        for at, height in enumerate(heights.tolist()):
            yield f"V{100 - 100 * height:.1f}H{at + 1}"

    return f"{''.join(corners())}V100Z"
