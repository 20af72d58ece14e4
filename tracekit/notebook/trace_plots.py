"""Plots of a recording, of the same lanes and numbers as the pages of its report, redacted as they are; and what all
plots share: axes, and the colors of pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tracekit.analysis.models import ModelSummary, is_inferred
from tracekit.analysis.quantities import MODEL
from tracekit.api import judge
from tracekit.arrays import CodeArray, FloatArray, IntArray
from tracekit.documents.pictures import Calls, Scale, calls_of, group_class
from tracekit.documents.time_breakdown import SHOWN, TITLE, each_first, parts_rows, shown_groups
from tracekit.errors import UsageError, import_extra, unknown
from tracekit.lanes.categories import Category
from tracekit.lanes.events import stack
from tracekit.render.html import page_colors
from tracekit.report.build import build_report
from tracekit.report.choice import matching_any
from tracekit.report.groups import INCONCLUSIVE, rank
from tracekit.report.report import SEVERITIES, Report
from tracekit.report.timeline import DrawnLane, Timeline, timeline_of
from tracekit.request import request_of
from tracekit.trace.cache import cached
from tracekit.trace.trace import Trace
from tracekit.units import format_count, format_error, format_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 10
"""Of a figure, in inches, as its heights."""


class Drawn(list["Axes"]):
    """Axes of one figure, which a notebook shows without a line that names them."""

    def _ipython_display_(self) -> None:
        """Nothing: the figure stands there already."""


def new_axes(heights: float, count: int = 1, *, sharex: bool = False) -> Drawn:
    """The axes of a figure below one another, each with a height in inches. Raises `UsageError` without matplotlib."""
    plt = import_extra("matplotlib.pyplot", "plot", "plots need the package matplotlib")
    size = (WIDTH, heights * count)
    figure, axes = plt.subplots(count, squeeze=False, sharex=sharex, figsize=size, layout="constrained")
    figure.set_facecolor(axes[0, 0].get_facecolor())
    for axis in axes[:, 0]:
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25, linewidth=0.6)
        axis.set_axisbelow(True)
        vars(axis)["_ipython_display_"] = Drawn()._ipython_display_
    return Drawn(axes[:, 0])


def color_of(name: str) -> str:
    """A color of pages (`page_colors`), for a dark ground where text is light, as in a dark style of matplotlib."""
    from matplotlib import colors, rcParams

    is_dark = sum(colors.to_rgb(rcParams["text.color"])) > 1.5
    return page_colors()[name][is_dark]


def ink_on(color: str) -> str:
    """The color of text on a bar of a color."""
    from matplotlib import colors

    return "black" if sum(colors.to_rgb(color)) > 1.8 else "white"


def entitle(axes: Axes, title: str, below: str = "") -> None:
    """A title at the left, and smaller words below it."""
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", pad=20 if below else 8, parse_math=False)
    if below:
        look: dict[str, Any] = {"fontsize": 9, "color": color_of("dim"), "parse_math": False}
        axes.annotate(below, (0, 1), (0, 5), "axes fraction", "offset points", annotation_clip=False, **look)


def logarithmic(axes: Axes, which: Literal["x", "y"]) -> None:
    """A logarithmic axis whose numbers are written out."""
    from matplotlib.ticker import LogFormatter

    getattr(axes, f"set_{which}scale")("log")
    axis = {"x": axes.xaxis, "y": axes.yaxis}[which]
    axis.set_major_formatter("{x:,g}")
    axis.set_minor_formatter(LogFormatter(minor_thresholds=(1.5, 0.4)))


def legend(axes: Axes, **options: Any) -> None:
    """What colors and lines mean, beside what is drawn."""
    drawn = axes.legend(**{"loc": "upper left", "bbox_to_anchor": (1, 1), "frameon": False, "fontsize": 9} | options)
    for text in drawn.get_texts():
        text.set_parse_math(False)


MOST_ROWS = 4
"""Rows of intervals that a lane has room for; where more overlap, they are thinner."""
PIXELS = 2_000
"""Pieces of the time that is seen: intervals that are shorter than one are drawn as one bar in it."""
NAMED = 0.12
"""Least share of the longest bar that a part has room for a label in."""


_COLORS = (*(f"c-{category.name.lower().replace('_', '-')}" for category in Category), *SEVERITIES, INCONCLUSIVE)
"""Of categories, by their code, and of findings behind them."""
_TITLES = (*(category.title for category in Category), *(f"{name} finding" for name in SEVERITIES), INCONCLUSIVE)


@cached
def seen(trace: Trace) -> tuple[Report, Timeline]:
    """The facts of a recording without the answers of checks, and its lanes."""
    return build_report(trace, (), functions=False), timeline_of(trace, (), functions=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """A lane with its place: from `top` down, in units of a row."""

    lane: DrawnLane
    top: float
    height: float
    rows: IntArray
    """Row of each interval in the lane, shape (n,)."""

    def bars(self, low: float, high: float) -> tuple[FloatArray, CodeArray]:
        """Corners of what is seen from `low` to `high` ns, (n, 4, 2) in s and rows, and categories. O(n log n)."""
        lane, pixel = self.lane, (high - low) / PIXELS
        inside = np.flatnonzero((lane.starts <= high) & (lane.ends >= low))
        starts, ends = lane.starts[inside], lane.ends[inside]
        short = ends - starts < pixel
        columns = ((starts - low) // pixel).astype(np.int64)
        keys = (columns * len(_COLORS) + lane.categories[inside]) * max(lane.depth, 1) + self.rows[inside]
        kept = np.union1d(np.flatnonzero(~short), np.flatnonzero(short)[np.unique(keys[short], return_index=True)[1]])
        left, right = starts[kept] / 1e9, np.maximum(ends[kept], starts[kept] + pixel) / 1e9
        middle = self.top + (self.rows[inside][kept] + 0.5) * self.height / max(lane.depth, 1)
        half = 0.42 * self.height / max(lane.depth, 1)
        x, y = (left, right, right, left), (middle - half, middle - half, middle + half, middle + half)
        return np.stack([np.column_stack(x), np.column_stack(y)], axis=2), lane.categories[inside][kept]

    def at(self, time_ns: float, y: float) -> int | None:
        """Position of the interval at a place; None where there is none."""
        row = int((y - self.top) / self.height * max(self.lane.depth, 1))
        rows = np.flatnonzero((self.lane.starts <= time_ns) & (self.lane.ends >= time_ns) & (self.rows == row))
        return int(rows[-1]) if rows.size else None


class TracePlots:
    """Plots of a recording. `%matplotlib widget` zooms them, and the timeline says what is under the pointer."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def timeline(self, start_ms: float | None = None, end_ms: float | None = None) -> Axes:
        """The findings with their evidence, above the lanes of `view`, or the part from `start_ms` to `end_ms`, without
        operations and tools, which the app named, and without the main thread where Core ML recorded its calls. An
        empty lane says why. O(intervals)."""
        report = judge(self._trace, request_of(functions=False))
        timeline = timeline_of(self._trace, report.results, functions=False)
        low = timeline.start_ns if start_ms is None else start_ms * 1e6
        high = timeline.end_ns if end_ms is None else end_ms * 1e6
        if low >= high:
            raise UsageError(f"the timeline would end before it begins: {low / 1e6:g} ms to {high / 1e6:g} ms")
        lanes, top = [], 0.0
        for lane in (*_findings(timeline, report), *timeline.lanes):
            height = float(min(max(lane.depth, 1), MOST_ROWS))
            lanes.append(_Placed(lane, top, height, stack(lane.starts, np.maximum(lane.ends, lane.starts + 1))))
            top += height + 0.35
        (axes,) = new_axes(0.7 + 0.3 * sum(placed.height for placed in lanes))
        _draw_lanes(axes, lanes, timeline, (low / 1e9, high / 1e9))
        entitle(axes, f"Timeline of {report.recording.source}")
        return axes

    def latency(self, model: str | None = None, *, budget_ms: float | None = None) -> Drawn:
        """How long the predictions of each model took over time, in ms, with median and p95 and a budget. `model` is a
        name or pattern; those with most time in predictions come first."""
        models, (_, timeline) = self._models(model), seen(self._trace)
        drawn = new_axes(2.6, len(models), sharex=True)
        for axes, (calls, summary) in zip(drawn, models, strict=True):
            for kind, (words, those) in _kinds(calls).items():
                times, latencies = calls.starts[those] / 1e9, calls.durations[those] / 1e6
                axes.plot(times, latencies, ".", color=color_of(kind), label=words, markersize=5)
            axes.set(xlim=(timeline.start_ns / 1e9, timeline.end_ns / 1e9), ylabel="latency (ms)")
            _describe(axes, "y", "Latency", calls, summary, budget_ms)
        drawn[-1].set_xlabel("time (s)")
        return drawn

    def distribution(self, model: str | None = None, *, budget_ms: float | None = None) -> Drawn:
        """How many predictions of each model took how long, with median and p95 and a budget. `model` is a name or
        pattern; those with most time in predictions come first."""
        models = self._models(model)
        drawn = new_axes(2.6, len(models))
        for axes, (calls, summary) in zip(drawn, models, strict=True):
            scale, kinds = Scale.of(calls.durations), _kinds(calls)
            values = [calls.durations[those] / 1e6 for _, those in kinds.values()]
            labels, colors = [words for words, _ in kinds.values()], [*map(color_of, kinds)]
            axes.hist(values, scale.edges_ms, stacked=True, label=labels, color=colors)
            axes.set(xlabel="latency (ms)", ylabel="predictions", xlim=(scale.edges_ms[0], None))
            _describe(axes, "x", "Distribution of the latency", calls, summary, budget_ms)
        return drawn

    def breakdown(self, *, share: bool = False) -> Axes:
        """Where the time of a prediction goes, for each model: the mean of all predictions, in ms or as a `share`."""
        report, _ = seen(self._trace)
        rows = parts_rows(report.models)
        if not rows:
            raise _without_predictions(report)
        (axes,) = new_axes(1 + 0.45 * len(rows))
        sizes = np.array([row.mean_ns / 100 if share else 1e6 for row in rows])
        longest, lefts = max(row.mean_ns for row in rows), np.zeros(len(rows))
        for group in shown_groups(rows):
            parts = [next((part for part in row.slices if part.group == group), None) for row in rows]
            widths = np.array([part.mean_ns if part else 0 for part in parts]) / sizes
            color = color_of(f".{group_class(group)}")
            wide = widths > NAMED * (100 if share else longest / 1e6)
            bars = axes.barh(range(len(rows)), widths, 0.62, lefts, color=color, label=group.name)
            words = [part.words if part and room else "" for part, room in zip(parts, wide, strict=True)]
            axes.bar_label(bars, words, label_type="center", fontsize=8, color=ink_on(color))
            lefts += widths
        axes.set_yticks(range(len(rows)), [row.name for row in rows], parse_math=False)
        axes.invert_yaxis()
        axes.set_xlabel("share of time (%)" if share else "time per prediction (ms)")
        legend(axes)
        entitle(axes, TITLE, f"{report.recording.source} · mean of all predictions")
        return axes

    def _models(self, pattern: str | None) -> list[tuple[Calls, ModelSummary]]:
        """Predictions with a known duration, by model. Raises `UsageError` where there are none."""
        report, timeline = seen(self._trace)
        calls = {call.model: call for call in calls_of(timeline)}
        if not calls:
            raise _without_predictions(report)
        patterns = ["*"] if pattern is None else [pattern]
        wanted = matching_any(calls, patterns, lambda name: unknown("model", name, sorted(calls)))
        summaries = {summary.name: summary for summary in report.models}
        ordered = sorted(wanted, key=lambda name: (-int(calls[name].durations.sum()), name))
        return [(calls[name], summaries[name]) for name in ordered]


def _without_predictions(report: Report) -> UsageError:
    return UsageError(f"{report.recording.source} shows no prediction with a known duration; `coverage` says why")


def _kinds(calls: Calls) -> dict[str, tuple[str, Any]]:
    """Predictions by the class of their color, with what they are."""
    kinds = {".warm": ("prediction", ~calls.cold), ".cold": ("first after a load", calls.cold)}
    return {kind: (words, those) for kind, (words, those) in kinds.items() if those.any()}


def _describe(
    axes: Axes, along: Literal["x", "y"], what: str, calls: Calls, summary: ModelSummary, budget_ms: float | None
) -> None:
    """What stands beside latencies `along` an axis: title, scale, and lines at median, p95 and budget where known."""
    words = [format_count(len(calls.durations), "prediction"), *each_first([summary])]
    words += [f"inferred, {format_error(summary.resolution_ns)}"] if is_inferred(summary) else []
    scale, line = Scale.of(calls.durations), axes.axhline if along == "y" else axes.axvline
    entitle(axes, f"{what} of {calls.model}{scale.note}", " · ".join(words))
    if scale.logarithmic:
        logarithmic(axes, along)
    elif along == "y":
        axes.set_ylim(0, None)
    for name, style in zip(SHOWN, ("-", "--"), strict=True):
        if (value := summary.quantities.get(name)) is not None:
            label = f"{MODEL[name].title} {format_time(value, summary.resolution_ns)}"
            line(value / 1e6, color=color_of("text"), linestyle=style, linewidth=1, label=label)
    if budget_ms is not None:
        label = f"budget {format_time(budget_ms * 1e6)}"
        line(budget_ms, color=color_of("critical"), linestyle=":", linewidth=1.5, label=label)
    legend(axes)


def _findings(timeline: Timeline, report: Report) -> Iterator[DrawnLane]:
    """The evidence of each finding as a lane, in the color of its severity."""
    for answers in timeline.findings(report.results):
        worst = answers[0][0]
        starts, ends = (np.concatenate([getattr(at, name) for _, at in answers]) for name in ("starts", "ends"))
        order = np.lexsort((-ends, starts))
        none = np.full(len(order), -1, np.int64)
        yield DrawnLane(
            *(worst.id, worst.id, "", "" if len(order) else "about the whole recording", True),
            *(starts[order], ends[order], none + 1 + _COLORS.index(rank(worst, report)), *(none,) * 5),
            depth=1 + int(stack(starts[order], np.maximum(ends[order], starts[order] + 1)).max(initial=0)),
        )


def _draw_lanes(axes: Axes, lanes: Sequence[_Placed], timeline: Timeline, seen_s: tuple[float, float]) -> None:
    """The lanes, drawn anew from all intervals whenever another part of them is seen."""
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    colors = np.array([color_of(name) for name in _COLORS])
    # The edges keep bars visible that are narrower than a pixel of the picture.
    bars = axes.add_collection(PolyCollection([], linewidths=0.5, edgecolors="face", gid="intervals"), autolim=False)

    def draw(_: Any = None) -> None:
        low, high = axes.get_xlim()
        drawn = [lane.bars(low * 1e9, high * 1e9) for lane in lanes]
        bars.set_verts(np.concatenate([corners for corners, _ in drawn]))
        codes = np.concatenate([categories for _, categories in drawn]).astype(np.int64)
        bars.set_facecolor(colors[codes].tolist())
        legend(axes, handles=[Patch(color=colors[code], label=_TITLES[code]) for code in np.unique(codes).tolist()])

    def words_at(x: float, y: float) -> str:
        for placed in lanes:
            lane = placed.lane
            if placed.top <= y < placed.top + placed.height and (at := placed.at(x * 1e9, y)) is not None:
                codes = (int(lane.labels[at]), int(lane.models[at]))
                texts = [timeline.texts[code] for code in codes if code >= 0]
                length = format_time(int(lane.ends[at] - lane.starts[at]))
                return f"{lane.title}: {' · '.join([*texts, length])} at {lane.starts[at] / 1e9:.6f} s"
        return f"{x:.6f} s"

    axes.callbacks.connect("xlim_changed", draw)
    axes.set_xlim(*seen_s)
    axes.set_ylim(lanes[-1].top + lanes[-1].height + 0.2, -0.2)
    axes.format_coord = words_at
    axes.grid(visible=False, axis="y")
    middles, titles = [lane.top + lane.height / 2 for lane in lanes], [lane.lane.title for lane in lanes]
    axes.set_yticks(middles, titles, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("time (s)")
    for placed in lanes:
        if placed.lane.words:
            place = (0.005, placed.top + placed.height / 2)
            look: dict[str, Any] = {"fontsize": 8, "color": color_of("dim"), "va": "center"}
            axes.annotate(placed.lane.words, place, xycoords=("axes fraction", "data"), **look)
