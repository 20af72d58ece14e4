"""Pictures of latencies and of where time goes, drawn as SVG that needs no script. Marks are stretched to the width of
the page and lines keep their thickness, so labels stand outside of the drawing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.breakdown.summary import GROUPS, Group
from tracekit.analysis.quantities import MODEL
from tracekit.characters import visible
from tracekit.documents.time_breakdown import SHOWN, Slice
from tracekit.render.blocks import Figure, Section, section
from tracekit.render.markup import Html, join, tag
from tracekit.sorting import distinct_numbers
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
MANY = 24
"""Models from which on each is drawn with fewer points, so that the page stays as small."""
LATENCIES_OPEN = 6
"""Models whose latencies are not folded, those with most time in predictions."""
LOGARITHMIC = 8
"""From this ratio of the longest to the median on, a linear scale would hide what most predictions do (heuristic)."""


def bar(name: str, pieces: Sequence[tuple[str, str, float]]) -> Html:
    """Pieces beside one another: class, words, and percents of the width of each."""
    ends = accumulate((width for *_, width in pieces), initial=0.0)
    marks = [
        tag("rect", tag("title", visible(words)), x=x, y=0, width=width, height=10, class_=looks)
        for x, (looks, words, width) in zip(ends, pieces, strict=False)
    ]
    return drawing(marks, "0 0 100 10", f"{name}: {', '.join(words for _, words, _ in pieces)}", class_="parts")


def parts_bar(name: str, slices: Sequence[Slice]) -> Html:
    """A bar of the parts of a prediction's time."""
    return bar(name, [(group_class(one.group), f"{one.group.name} {one.words}", one.share * 100) for one in slices])


def pair(name: str, drawn: Html, time: str) -> Html:
    """A bar between what it is of and its time."""
    return tag("div", tag("span", visible(name)), drawn, tag("span", time), class_="pair")


def pairs(title: str, kinds: Mapping[str, str], rows: Mapping[str, Sequence[float]]) -> Html:
    """A bar for each named row on one scale: times in ns of each of the `kinds`, words by their class."""
    longest, lines = max(map(sum, rows.values())) or 1.0, []
    for name, times in rows.items():
        shown = zip(kinds.items(), times, strict=True)
        pieces = [(looks, f"{words} {format_time(ns)}", 100 * ns / longest) for (looks, words), ns in shown]
        lines.append(pair(name, bar(name, pieces), format_time(sum(times))))
    return tag("figure", tag("figcaption", visible(title)), *lines, legend(kinds), class_="pairs")


def group_class(group: Group) -> str:
    """The class that gives a part of a prediction its color."""
    return f"g{GROUPS.index(group)}"


def legend(kinds: Mapping[str, str]) -> Html:
    """What colors mean: words by the class that gives the color."""
    entries = [tag("li", tag("i", class_=kind, aria_hidden="true"), visible(words)) for kind, words in kinds.items()]
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

    def counts(self, durations: IntArray) -> IntArray:
        """How many of them fall into each of `BINS` equal parts."""
        return np.bincount(np.clip((self(durations) * BINS).astype(np.int64), 0, BINS - 1), minlength=BINS)

    @property
    def is_broken(self) -> bool:
        """Whether the axis begins above zero, which a mark on it says."""
        return self.low > 0 and not self.logarithmic

    @property
    def note(self) -> str:
        """What a title says of it; empty where it needs no word."""
        if self.logarithmic:
            return " (logarithmic scale)"
        return f" (axis begins at {format_time(self.low)})" if self.is_broken else ""

    def value(self, share: float) -> float:
        """The duration at a place."""
        if self.logarithmic:
            return float(self.low * (self.high / self.low) ** share)
        return self.low + share * (self.high - self.low)

    @property
    def edges_ms(self) -> FloatArray:
        """Where the parts of `counts` begin, and where the last one ends: shape (BINS + 1,)."""
        return np.array([self.value(at / BINS) / 1e6 for at in range(BINS + 1)])


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """What the pictures of one model have in common."""

    calls: Calls
    scale: Scale
    lines: Mapping[str, float]
    """Durations that both pictures mark, by class: median, p95, budget."""

    def facts(self) -> dict[str, str | float | None]:
        """What the script needs to say which prediction is where."""
        scale, model = self.scale, visible(self.calls.model)
        log = "1" if scale.logarithmic else None
        return {"data_model": model, "data_low": scale.low, "data_high": scale.high, "data_log": log}


def _distribution(drawn: Drawn) -> Html:
    """How many predictions took how long; the first ones after a load apart."""
    calls, scale = drawn.calls, drawn.scale
    warm, cold = (scale.counts(calls.durations[those]) for those in (~calls.cold, calls.cold))
    top = int((warm + cold).max())
    bars = []
    for bin_index, (w, c) in enumerate(zip(warm.tolist(), cold.tolist(), strict=True)):
        for count, below, kind in ((w, 0, "warm"), (c, w, "cold")):
            if count:
                height = 100 * count / top
                y = 100 - 100 * below / top - height
                bars.append(tag("rect", x=bin_index, y=y, width=0.9, height=height, class_=kind))
    for kind, ns in drawn.lines.items():
        at = BINS * float(scale(np.array([ns]))[0])
        bars.append(tag("path", d=f"M{at:.2f} 0V100", class_=f"level {kind}"))
    label = f"Distribution of the latency of {calls.model}"
    chart = drawing(bars, f"0 0 {BINS} 100", label, data_bins=BINS, **drawn.facts())
    x = map(axis_time, (scale.low, scale.value(0.5), scale.high))
    y_axis = (format_count(top, "prediction"), "0")
    return figure(f"How long predictions took{scale.note}", chart, y_axis, x, "x-broken" if scale.is_broken else "")


def _over_time(drawn: Drawn, start_ns: int, end_ns: int, most: int) -> Html:
    """How long predictions took over the time of the recording; at most so many are drawn one by one."""
    calls, scale = drawn.calls, drawn.scale
    x = 100 * (calls.starts - start_ns) / max(end_ns - start_ns, 1)
    y = 100 - 100 * scale(calls.durations)
    joined = len(x) > most
    marks = _ranges(x, y, COLUMNS * most // POINTS) if joined else _points(x, y, calls.cold)
    for kind, ns in drawn.lines.items():
        marks.append(tag("path", d=f"M0 {100 - 100 * float(scale(np.array([ns]))[0]):.2f}H100", class_=f"level {kind}"))
    label = f"Latency of {calls.model} over time"
    chart = drawing(marks, "0 0 100 100", label, data_from=start_ns, data_to=end_ns, **drawn.facts())
    times = (f"{ns / 1e9:,.1f} s" for ns in (start_ns, (start_ns + end_ns) // 2, end_ns))
    title = f"When they ran{' (shortest to longest of each moment)' if joined else ''}{scale.note}"
    return figure(title, chart, map(axis_time, (scale.high, scale.low)), times, "y-broken" if scale.is_broken else "")


def axis_time(ns: float) -> str:
    """A duration on an axis."""
    return format_time(ns) if ns else "0"


def _points(x: FloatArray, y: FloatArray, cold: BoolArray) -> list[Html]:
    """A dot for each: a line of no length with round ends is round whatever the stretch."""
    marks = []
    for kind, those in (("warm", ~cold), ("cold", cold)):
        if those.any():
            path = "".join(f"M{a:.2f} {b:.2f}h0" for a, b in zip(x[those].tolist(), y[those].tolist(), strict=True))
            marks.append(tag("path", d=path, class_=f"dots {kind}"))
    return marks


def _ranges(x: FloatArray, y: FloatArray, pieces: int) -> list[Html]:
    """Shortest to longest in each piece of time, and the medians."""
    piece = np.minimum((x * pieces / 100).astype(np.int64), pieces - 1)
    order = np.lexsort((y, piece))
    values, edges = y[order], np.searchsorted(piece[order], np.arange(pieces + 1))
    spans, middles = [], []
    for column, (low, high) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)):
        if high > low:
            at = (column + 0.5) * 100 / pieces
            spans.append(f"M{at:.2f} {values[low]:.2f}V{values[high - 1] + 0.4:.2f}")
            middles.append(f"M{at:.2f} {values[(low + high) // 2]:.2f}h0")
    return [tag("path", d="".join(spans), class_="span"), tag("path", d="".join(middles), class_="dots warm")]


def drawing(marks: Iterable[Html], box: str, label: str, **looks: str | float | None) -> Html:
    """A drawing that is stretched to its place, with its class, and facts for the script."""
    shape = {"viewBox": box, "preserveAspectRatio": "none"}
    return tag("svg", *marks, role="img", aria_label=visible(label), **shape, **looks)


def figure(title: str, chart: Html, y: Iterable[str], x: Iterable[str], looks: str = "") -> Html:
    """A drawing with what its axes say, from the top and from the left."""
    axes = {"y": y, "x": x}.items()
    beside, below = (tag("div", *(tag("span", text) for text in texts), class_=axis) for axis, texts in axes)
    plot = tag("div", chart, class_=f"plot {looks}".strip())
    return tag("figure", tag("figcaption", title), beside, plot, below, class_="chart")


def latency_section(report: Report, timeline: Timeline) -> Section | None:
    """How long the predictions of each model took, and when; None without predictions."""
    calls = sorted(calls_of(timeline), key=lambda calls: -int(calls.durations.sum()))
    if not calls:
        return None
    model_of = {model.name: model for model in report.models}
    most = POINTS * MANY // max(len(calls), MANY)
    figures = [Figure(_latency(call, model_of.get(call.model), report, timeline, most)) for call in calls]
    folded = figures[LATENCIES_OPEN:]
    return section(
        "Latency",
        *figures[:LATENCIES_OPEN],
        section(format_count(len(folded), "more model"), *folded, folded=True),
        name="latency",
    )


def _latency(calls: Calls, model: ModelSummary | None, report: Report, timeline: Timeline, most: int) -> Html:
    words = [format_count(len(calls.durations), "prediction"), f"longest {format_time(int(calls.durations.max()))}"]
    lines, kinds = dict[str, float](), dict[str, str]()
    values = dict(model.quantities) if model is not None else {}
    metrics = (metric for check in report.results if check.model == calls.model for metric in check.metrics)
    for kind, name, value in (
        *(("median" if not at else "p95", MODEL[name].title, values.get(name)) for at, name in enumerate(SHOWN)),
        ("budget", "budget", next((metric.value for metric in metrics if metric.id == "budget"), None)),
    ):
        if value is not None:
            lines[kind], kinds[f"level {kind}"] = value, f"{name} {format_time(value)}"
    if calls.cold.any():
        kinds |= {"cold": "first after a load"} | ({} if calls.cold.all() else {"warm": "prediction"})
    # The marked durations stand on the scale too.
    scale = Scale.of(np.append(calls.durations, [round(ns) for ns in lines.values()]))
    drawn = Drawn(calls, scale, lines)
    charts = (_distribution(drawn), _over_time(drawn, timeline.start_ns, timeline.end_ns, most))
    head = tag("h3", tag("code", visible(calls.model)), " ", tag("small", " · ".join(words)))
    return join([head, legend(kinds), tag("div", *charts, class_="charts")])


def calls_of(timeline: Timeline) -> Iterator[Calls]:
    """Predictions of the lanes with a known duration, by model."""
    for lane in timeline.lanes:
        called = np.flatnonzero(lane.calls)
        codes = lane.models[called]
        for model in distinct_numbers(codes[codes >= 0]).tolist():
            rows = called[codes == model]
            durations = lane.ends[rows] - lane.starts[rows]
            if durations.max() > 0:
                yield Calls(timeline.texts[model], lane.starts[rows], durations, lane.cold[rows])
