"""Plots of a comparison and of a history."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from tracekit.comparison.comparison import Comparison
from tracekit.comparison.history import FIGURES, History, change_words
from tracekit.comparison.measurements import Measurements, of_model
from tracekit.comparison.models import Basis, compared_values
from tracekit.comparison.words import interval
from tracekit.documents.comparison import SOURCES, TONES
from tracekit.documents.pictures import Scale
from tracekit.errors import UsageError, unknown
from tracekit.notebook.trace_plots import Drawn, color_of, entitle, legend, logarithmic, new_axes
from tracekit.render.html import KINDS
from tracekit.units import format_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes


UNITS = {"ns": ("ms", 1e6), "/s": ("per s", 1.0), "share": ("%", 0.01), "count": ("count", 1.0)}
"""How the unit of a figure is drawn, and how many of its own make one."""

_OF = {Basis.WARM: "", Basis.ALL: "\n(all predictions)"}


def plot_comparison(comparison: Comparison, recordings: Sequence[Sequence[Measurements]]) -> Axes:
    """Medians before and after of each model on both sides, and how its predictions are distributed: those before above
    the line, those after below it. Raises `UsageError` where none has both."""
    models = []
    for model in comparison.compared:
        if (change := model.latency).before_ns and change.after_ns:
            names = (model.name_before, model.name)
            values = compared_values(*map(of_model, recordings, names))[2]
            medians = (change.before_ns / 1e6, change.after_ns / 1e6)
            models.append((f"{model.name}{_OF[model.basis]}", change, *medians, [*map(np.concatenate, values)]))
    if not models:
        raise UsageError("no model has a latency on both sides; the comparison says why")
    (axes,) = new_axes(1.4 + 0.8 * len(models))
    scale = Scale.of(np.concatenate([values for *_, sides in models for values in sides]))
    for at, (_, change, before, after, sides) in enumerate(models):
        color = color_of(KINDS[TONES[change.answer]])
        for side, way, shade in zip(sides, (-1, 1), (color_of("dim"), color), strict=True):
            counts = scale.counts(side)
            heights = at + way * 0.45 * counts / counts.max()
            axes.stairs(heights, scale.edges_ms, baseline=at, fill=True, color=shade, alpha=0.3)
        axes.plot([before, after], [at, at], color=color, linewidth=2, alpha=0.5, zorder=2)
        axes.plot(before, at, "o", color=color_of("dim"), fillstyle="none", markersize=9, label="before", zorder=3)
        if change.low is not None and change.high is not None:
            reach = np.array([[after - before * change.low], [before * change.high - after]]).clip(0)
            axes.errorbar(after, at, xerr=reach, fmt="none", ecolor=color, capsize=3, zorder=3)
        axes.plot(after, at, "o", color=color, label=f"after: {change.answer}", zorder=4)
        words = f"{change.answer}{f', {interval(change)}' if interval(change) else ''}"
        axes.annotate(words, (max(before, after), at), (10, 9), textcoords="offset points", fontsize=8, color=color)
    if scale.logarithmic:
        logarithmic(axes, "x")
    axes.set_xlim(*scale.edges_ms[[0, -1]])
    axes.set_yticks(range(len(models)), [name for name, *_ in models], parse_math=False)
    axes.set_ylim(len(models) - 0.4, -0.6)
    axes.set_xlabel("latency (ms), each with its median")
    before_names, after_names = (format_names(names, SOURCES) for names in (comparison.before, comparison.after))
    entitle(
        axes, f"Latency before and after{scale.note}", f"{before_names} → {after_names} · 95% interval of the change"
    )
    handles, labels = axes.get_legend_handles_labels()
    named = dict(zip(labels, handles, strict=True))
    legend(axes, handles=[*named.values()], labels=[*named])
    return axes


def plot_history(history: History, figure: str) -> Drawn:
    """A figure of each current series, a model on a device and system, over its builds."""
    from matplotlib.dates import ConciseDateFormatter

    if figure not in FIGURES:
        raise unknown("figure", figure, FIGURES)
    current = [series for series in history.series if series.current]
    trends = [(series, trend) for series in current for trend in series.trends if trend.figure == figure]
    if not trends:
        raise UsageError(f"no build has the figure '{figure}'")
    followed, drawn = FIGURES[figure], new_axes(2.4, len(trends))
    unit, size = UNITS[followed.unit]
    for axes, (series, trend) in zip(drawn, trends, strict=True):
        days = [build.day for build in series.builds]
        room = max((days[-1] - days[0]) / 20, timedelta(hours=1))
        values = np.array(trend.values, np.float64) / size
        axes.plot(days, values, ".-", color=color_of(".warm"), linewidth=1, markersize=6, label=followed.title)
        for change in trend.changes:
            worse = followed.worse * (change.after - change.before)
            color = color_of("critical" if worse > 0 else "clean" if worse < 0 else "dim")
            words = change_words(series, trend, change)
            axes.axvspan(days[change.last_before], days[change.first_after], color=color, alpha=0.3, label=words)
        where = ", ".join(filter(None, (series.device, series.system)))
        title = f"{followed.title[0].upper()}{followed.title[1:]} of {series.model}"
        entitle(axes, title, where + ("" if trend.judged else " · too few builds to find changes"))
        axes.set_ylabel(unit if unit == "count" else f"{followed.title} ({unit})")
        axes.set_ylim(0, 1.15 * max(np.nanmax(values), 1e-9))
        axes.set_xlim(days[0] - room, days[-1] + room)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(axes.xaxis.get_major_locator()))
        if trend.changes:
            legend(axes, loc="lower left", bbox_to_anchor=None)
    drawn[-1].set_xlabel("date of the build")
    return drawn
