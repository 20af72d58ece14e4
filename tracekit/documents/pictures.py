"""Pictures of latencies and of where time goes, drawn as SVG that needs no script.

Marks are stretched to the width of the page and lines keep their thickness, so labels stand outside of the drawing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.quantities import MODEL
from tracekit.characters import visible
from tracekit.render.blocks import Figure, Paragraph, Role, Section, section
from tracekit.render.markup import Html, join, tag
from tracekit.report.time_breakdown import GROUPS, SHOWN, Group, Slice
from tracekit.units import format_count, format_time

if TYPE_CHECKING:
    from tracekit.analysis.models import ModelSummary
    from tracekit.arrays import BoolArray, FloatArray, IntArray
    from tracekit.report.report import Report
    from tracekit.report.timeline import Timeline

BINS = 48
POINTS = 1_200
"""Most predictions that are drawn one by one; more of them are joined."""
COLUMNS = 300
"""Pieces of time in which the others are joined."""
LATENCIES_SHOWN = 24
"""Models whose latencies are drawn, those with most time in predictions; the tables hold all."""
LATENCIES_OPEN = 3
"""Those that are not folded."""
LOGARITHMIC = 8
"""From this ratio of the longest to the median on, a linear scale would hide what most predictions do (heuristic)."""


def parts_bar(slices: Sequence[Slice], words: str) -> Html:
    """A bar of the parts of a prediction's time."""
    rectangles = []
    x = 0.0
    for part in slices:
        title, width = tag("title", f"{part.group.name} {part.words}"), part.share * 100
        rectangles.append(tag("rect", title, x=x, y=0, width=width, height=10, class_=group_class(part.group)))
        x += width
    return _svg(rectangles, "0 0 100 10", words, class_="parts")


def group_class(group: Group) -> str:
    """The class that gives a part of a prediction its color."""
    return f"g{GROUPS.index(group)}"


def legend(kinds: Mapping[str, str]) -> Html:
    """What colors mean: words by the class that gives the color."""
    entries = [tag("li", tag("i", class_=kind, aria_hidden="true"), words) for kind, words in kinds.items()]
    return tag("ul", *entries, class_="legend")


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """Predictions of one model that the app called. All arrays have shape (n,)."""

    model: str
    starts: IntArray
    durations: IntArray
    cold: BoolArray
    """The first one after a load."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Durations as shares (0 to 1) of an axis."""

    low: float
    high: float
    logarithmic: bool

    @staticmethod
    def of(durations: IntArray) -> Scale:
        """A scale on which what most of them do can be seen."""
        bottom, top = float(durations.min()), float(durations.max())
        if top > LOGARITHMIC * float(np.median(durations)) and bottom > 0:
            return Scale(bottom / 1.1, top * 1.05, logarithmic=True)
        # Predictions of like latencies fill the picture; the axis says where it begins.
        low = bottom - 0.15 * (top - bottom) if top / 2 < bottom < top else 0.0
        return Scale(low, top + 0.05 * (top - low) or 1.0, logarithmic=False)

    def __call__(self, values: IntArray | FloatArray) -> FloatArray:
        """Places of durations."""
        shares: FloatArray = (np.asarray(values, np.float64) - self.low) / (self.high - self.low)
        if self.logarithmic:
            shares = np.log(np.maximum(values, self.low) / self.low) / np.log(self.high / self.low)
        return shares

    @property
    def note(self) -> str:
        """What a title says of it; empty where it needs no word."""
        return " (logarithmic scale)" if self.logarithmic else ""

    def value(self, share: float) -> float:
        """The duration at a place."""
        if self.logarithmic:
            return float(self.low * (self.high / self.low) ** share)
        return self.low + share * (self.high - self.low)


def _distribution(calls: Calls) -> Html:
    """How many predictions took how long; the first ones after a load apart."""
    scale = Scale.of(calls.durations)
    bins = np.clip((scale(calls.durations) * BINS).astype(np.int64), 0, BINS - 1)
    warm = np.bincount(bins[~calls.cold], minlength=BINS)
    cold = np.bincount(bins[calls.cold], minlength=BINS)
    top = int((warm + cold).max())
    bars = []
    for bin_index, (w, c) in enumerate(zip(warm.tolist(), cold.tolist(), strict=True)):
        for count, below, kind in ((w, 0, "warm"), (c, w, "cold")):
            if count:
                height = 100 * count / top
                y = 100 - 100 * below / top - height
                bars.append(tag("rect", x=bin_index, y=y, width=0.9, height=height, class_=kind))
    drawing = _svg(bars, f"0 0 {BINS} 100", f"Distribution of the latency of {calls.model}")
    x = map(format_time, (scale.low, scale.value(0.5), scale.high))
    return _figure(f"How long predictions took{scale.note}", drawing, (format_count(top, "prediction"), "0"), x)


def _over_time(calls: Calls, start_ns: int, end_ns: int) -> Html:
    """How long predictions took over the time of the recording."""
    scale = Scale.of(calls.durations)
    x = 100 * (calls.starts - start_ns) / max(end_ns - start_ns, 1)
    y = 100 - 100 * scale(calls.durations)
    marks = _points(x, y, calls.cold) if len(x) <= POINTS else _ranges(x, y)
    drawing = _svg(marks, "0 0 100 100", f"Latency of {calls.model} over time")
    times = (f"{ns / 1e9:,.1f} s" for ns in (start_ns, (start_ns + end_ns) // 2, end_ns))
    joined_words = " (shortest to longest of each moment)" if len(x) > POINTS else ""
    title = f"When they ran{joined_words}{scale.note}"
    return _figure(title, drawing, map(format_time, (scale.high, scale.low)), times)


def _points(x: FloatArray, y: FloatArray, cold: BoolArray) -> list[Html]:
    """A dot for each: a line of no length with round ends is round whatever the stretch."""
    marks = []
    for kind, chosen in (("warm", ~cold), ("cold", cold)):
        if chosen.any():
            path = "".join(f"M{a:.2f} {b:.2f}h0" for a, b in zip(x[chosen].tolist(), y[chosen].tolist(), strict=True))
            marks.append(tag("path", d=path, class_=f"dots {kind}"))
    return marks


def _ranges(x: FloatArray, y: FloatArray) -> list[Html]:
    """Shortest to longest in each piece of time, and the medians."""
    piece = np.minimum((x * COLUMNS / 100).astype(np.int64), COLUMNS - 1)
    order = np.lexsort((y, piece))
    values, edges = y[order], np.searchsorted(piece[order], np.arange(COLUMNS + 1))
    spans, middles = [], []
    for column, (low, high) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)):
        if high > low:
            at = (column + 0.5) * 100 / COLUMNS
            spans.append(f"M{at:.2f} {values[low]:.2f}V{values[high - 1] + 0.4:.2f}")
            middles.append(f"M{at:.2f} {values[(low + high) // 2]:.2f}h0")
    return [tag("path", d="".join(spans), class_="span"), tag("path", d="".join(middles), class_="dots warm")]


def _svg(marks: Iterable[Html], box: str, label: str, class_: str | None = None) -> Html:
    """A drawing that is stretched to its place."""
    shape = {"viewBox": box, "preserveAspectRatio": "none"}
    return tag("svg", *marks, role="img", aria_label=label, class_=class_, **shape)


def _figure(title: str, drawing: Html, y: Iterable[str], x: Iterable[str]) -> Html:
    """A drawing with what its axes say, from the top and from the left."""
    axes = {"y": y, "x": x}.items()
    beside, below = (tag("div", *(tag("span", text) for text in texts), class_=axis) for axis, texts in axes)
    return tag("figure", tag("figcaption", title), beside, tag("div", drawing, class_="plot"), below, class_="chart")


def latency_section(report: Report, timeline: Timeline) -> Section | None:
    """How long the predictions of each model took, and when; None without predictions."""
    calls = sorted(calls_of(timeline), key=lambda each: -int(each.durations.sum()))
    if not calls:
        return None
    known = {model.name: model for model in report.models}
    figures = [Figure(_latency(each, known.get(each.model), timeline)) for each in calls[:LATENCIES_SHOWN]]
    folded, rest = figures[LATENCIES_OPEN:], len(calls) - LATENCIES_SHOWN
    kinds = {"warm": "prediction", "cold": "first after a load"} if any(each.cold.any() for each in calls) else {}
    return section(
        "Latency",
        Figure(legend(kinds)) if kinds else None,
        *figures[:LATENCIES_OPEN],
        section(format_count(len(folded), "more model"), *folded, folded=True),
        Paragraph(f"{format_count(rest, 'more model')} in the tables", Role.DIM) if rest > 0 else None,
        name="latency",
    )


def _latency(calls: Calls, model: ModelSummary | None, timeline: Timeline) -> Html:
    words = [format_count(len(calls.durations), "prediction")]
    for name in SHOWN:
        value = model.quantities.get(name) if model is not None else None
        words += [f"{MODEL[name].title} {format_time(value)}"] if value is not None else []
    words.append(f"longest {format_time(int(calls.durations.max()))}")
    charts = tag("div", _distribution(calls), _over_time(calls, timeline.start_ns, timeline.end_ns), class_="charts")
    return join([tag("h3", tag("code", visible(calls.model)), " ", tag("small", " · ".join(words))), charts])


def calls_of(timeline: Timeline) -> Iterator[Calls]:
    """Predictions of the lanes with a known duration, by model."""
    for lane in timeline.lanes:
        called = np.flatnonzero(lane.calls)
        codes = lane.models[called]
        for model in np.unique(codes[codes >= 0]).tolist():
            rows = called[codes == model]
            durations = lane.ends[rows] - lane.starts[rows]
            if durations.max() > 0:
                yield Calls(timeline.texts[model], lane.starts[rows], durations, lane.cold[rows])
