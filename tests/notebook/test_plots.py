"""Plots in a notebook: what is drawn, in which unit and color, and what stands beside it."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tracekit
from support.made_histories import commit, latencies
from tracekit.comparison.history import history_of
from tracekit.notebook.reports import with_methods
from tracekit.notebook.several import History
from tracekit.testing import Model, Process, Scenario, write_export

MS = 1_000_000
pytestmark = pytest.mark.usefixtures("figures")
STYLE = (Path(__file__).parents[2] / "web" / "src" / "report.css").read_text("utf-8")


def page_color(name: str, *, dark: bool = False) -> tuple[float, ...]:
    """A color as the style of the pages has it."""
    from matplotlib.colors import to_rgb

    return to_rgb(re.search(rf"--{name}: light-dark\((#\w+), (#\w+)\)", STYLE)[2 if dark else 1])


@pytest.fixture(scope="module")
def sharpen(samples):
    return tracekit.read(samples / "sharpen_8bit.trace")


@pytest.fixture(scope="module")
def captions(samples):
    return tracekit.read(samples / "captions_concurrent.trace")


def bars_on(axes, lane: str) -> list[tuple[float, float, tuple[float, ...]]]:
    """Begin and end in s and color of each bar on a lane, left to right."""
    ticks = {label.get_text(): tick for tick, label in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)}
    (intervals,) = axes.collections
    colors = [tuple(color[:3]) for color in intervals.get_facecolors()]
    found = [
        (path.vertices[:, 0].min(), path.vertices[:, 0].max(), color)
        for path, color in zip(intervals.get_paths(), colors, strict=True)
        if path.vertices[:, 1].min() < ticks[lane] < path.vertices[:, 1].max()
    ]
    return sorted(found)


def legend_of(axes) -> set[str]:
    return {text.get_text() for text in axes.get_legend().get_texts()}


def test_the_timeline_draws_what_was_recorded(sharpen):
    axes = sharpen.plot.timeline(start_ms=1000, end_ms=1200)
    assert axes.get_title(loc="left") == "Timeline of sharpen_8bit.trace"
    assert axes.get_xlabel() == "time (s)"
    runs = tracekit.in_ms(sharpen.neural_engine)
    within = runs[(runs["start_ms"] + runs["duration_ms"] >= 1000) & (runs["start_ms"] <= 1200)]
    assert len(within) > 5
    drawn = bars_on(axes, "Neural Engine")
    for (start, end, color), (start_ms, length_ms) in zip(
        drawn, within[["start_ms", "duration_ms"]].to_numpy(), strict=True
    ):
        assert (start, end) == pytest.approx((start_ms / 1e3, (start_ms + length_ms) / 1e3))
        assert color == page_color("c-ane")
    # What is under the pointer, and words where nothing is.
    ticks = dict(zip([label.get_text() for label in axes.get_yticklabels()], axes.get_yticks(), strict=True))
    words = axes.format_coord(sum(drawn[0][:2]) / 2, ticks["Neural Engine"])
    assert words.startswith("Neural Engine: ")
    assert f"{within['duration_ms'].iloc[0]:.2f} ms at {drawn[0][0]:.6f} s" in words
    assert axes.format_coord(1.1, -0.1) == "1.100000 s"
    # Findings stand above the lanes, with their evidence.
    report = sharpen.analyze()
    assert [*ticks][: len(report.findings) + 1] == [*(one.id for one in report.findings), "Activity"]
    evidence = report.findings[0].results[0].marked
    marked = [(start / 1e9, end / 1e9) for start, end in zip(evidence.starts, evidence.ends, strict=True)]
    seen = [(start, end) for start, end in marked if end >= 1 and start <= 1.2]
    drawn = bars_on(axes, report.findings[0].id)
    assert [bar[:2] for bar in drawn] == [pytest.approx(bar) for bar in sorted(seen)]
    assert {color for *_, color in drawn} == {page_color(report.findings[0].severity)}
    below, above = axes.get_ylim()
    assert above < axes.get_yticks()[0] < axes.get_yticks()[-1] < below
    assert "not recorded" in {text.get_text() for text in axes.texts}
    # What is in view, and nothing else.
    assert {"prediction", "Neural Engine", "high finding"} <= legend_of(axes)
    assert "load (cached)" not in legend_of(axes)
    axes.set_xlim(0, 5)
    assert "load (cached)" in legend_of(axes)


def test_a_timeline_that_is_moved_draws_what_is_seen(sharpen):
    axes = sharpen.plot.timeline()
    assert len(bars_on(axes, "Activity")) == len(sharpen.activity)
    axes.set_xlim(1, 1.2)
    assert bars_on(axes, "Activity") == bars_on(sharpen.plot.timeline(1000, 1200), "Activity")
    with pytest.raises(tracekit.UsageError, match="the timeline would end before it begins: 2000 ms to 1000 ms"):
        sharpen.plot.timeline(start_ms=2000, end_ms=1000)


def test_latency_over_time_has_median_p95_and_budget(captions):
    (axes,) = captions.plot.latency(budget_ms=33)
    assert axes.get_title(loc="left") == "Latency of CaptionEncoder"
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("latency (ms)", "time (s)")
    assert axes.get_ylim()[0] == 0
    calls = tracekit.in_ms(captions.predictions)
    warm, cold, median, p95, budget = axes.lines
    assert np.sort([*warm.get_ydata(), *cold.get_ydata()]) == pytest.approx(np.sort(calls["duration_ms"]))
    assert [*cold.get_xdata(), *cold.get_ydata()] == pytest.approx(
        [calls["start_ms"].iloc[0] / 1e3, calls["duration_ms"].iloc[0]]
    )
    of_warm = np.quantile(calls["duration_ms"].iloc[1:], [0.5, 0.95], method="linear")
    assert [median.get_ydata()[0], p95.get_ydata()[0]] == pytest.approx(of_warm, rel=0.01)
    assert budget.get_ydata()[0] == 33
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["prediction", "first after a load", "median 49.9 ms", "p95 95.3 ms", "budget 33.0 ms"]
    with pytest.raises(tracekit.UsageError, match="unknown model 'Blur'"):
        captions.plot.latency("Blur")


@pytest.mark.sweep
def test_the_distribution_counts_all_predictions_of_all_models(samples):
    trace = tracekit.read(samples / "style_transfer_reload.trace")
    drawn = trace.plot.distribution()
    counts = trace.predictions["model"].value_counts()
    assert len(drawn) == 5
    for axes in drawn:
        title = axes.get_title(loc="left").removeprefix("Distribution of the latency of ")
        model, _, begin = title.partition(" (axis begins at ")
        # An axis that does not begin at zero says so.
        assert bool(begin) == (axes.get_xlim()[0] > 0)
        assert sum(bar.get_height() for bar in axes.patches) == counts[model]
        assert {bar.get_facecolor()[:3] for bar in axes.patches} == {page_color("c-load")}
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("latency (ms)", "predictions")
        notes = "every prediction follows a load: numbers include the first ones"
        assert axes.texts[0].get_text() == f"{counts[model]} predictions · {notes}"
    (one,) = trace.plot.distribution("Mos*")
    assert "Mosaic" in one.get_title(loc="left")


def test_the_breakdown_adds_up_to_the_mean_and_dark_styles_get_dark_colors(samples, sharpen):
    trace = tracekit.read(samples / "style_transfer_reload.trace")
    axes = trace.plot.breakdown()
    means = tracekit.in_ms(trace.breakdown()).groupby("model", observed=True)["duration_ms"].mean()
    for at, label in enumerate(axes.get_yticklabels()):
        widths = [bars.patches[at].get_width() for bars in axes.containers]
        assert sum(widths) == pytest.approx(means[label.get_text()])
    assert axes.get_xlabel() == "time per prediction (ms)"
    names = [bars.get_label() for bars in axes.containers]
    assert names[:2] == ["Neural Engine", "GPU"]
    assert axes.containers[1].patches[0].get_facecolor()[:3] == page_color("c-gpu")
    shares = trace.plot.breakdown(share=True)
    assert sum(bars.patches[0].get_width() for bars in shares.containers) == pytest.approx(100)
    assert shares.get_xlabel() == "share of time (%)"

    from matplotlib import pyplot as plt

    with plt.style.context("dark_background"):
        axes = sharpen.plot.breakdown()
    assert axes.containers[0].patches[0].get_facecolor()[:3] == page_color("c-ane", dark=True)


def test_a_comparison_is_drawn_with_its_answers(samples):
    before, after = (samples / f"sharpen_{kind}.trace" for kind in ("8bit", "float16"))
    axes = tracekit.compare(before, after).plot()
    medians = [
        tracekit.in_ms(tracekit.read(path).predictions)["duration_ms"].iloc[1:].median() for path in (before, after)
    ]
    line = axes.lines[0]
    assert line.get_xdata() == pytest.approx(medians, abs=0.002)
    # Predictions before stand above the line, those after below it, on one axis.
    for path, stairs in zip((before, after), axes.patches, strict=True):
        values, edges, baseline = stairs.get_data()
        warm = tracekit.in_ms(tracekit.read(path).predictions)["duration_ms"].iloc[1:]
        counts = np.histogram(warm, edges)[0]
        assert 0.45 * counts / counts.max() == pytest.approx(np.abs(values - baseline), abs=0.05)
        assert (values >= baseline).all() == (path == after)
    assert line.get_color() == "#1c6b3c"
    assert axes.get_xlabel() == "latency (ms), each with its median"
    assert "improved, −31% to −29%" in {text.get_text() for text in axes.texts}
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["before", "after: improved"]


def test_a_history_is_drawn_with_its_change():
    logs = np.where(np.arange(40) < 25, 0.0, 0.3) + 0.01 * np.random.default_rng(7).standard_normal(40)
    history = with_methods(History, history_of(latencies(logs)))
    (axes,) = history.plot()
    assert axes.get_title(loc="left") == "Latency of Sharpen"
    assert axes.get_ylabel() == "latency (ms)"
    assert axes.lines[0].get_ydata() == pytest.approx(8 * np.exp(logs))
    words = axes.get_legend().get_texts()[1].get_text()
    assert f"{commit(24)[:7]}…{commit(25)[:7]}" in words
    assert axes.patches[0].get_facecolor()[:3] == page_color("critical")
    with pytest.raises(tracekit.UsageError, match="unknown figure 'p90_ns'"):
        history.plot("p90_ns")
    with pytest.raises(tracekit.UsageError, match="no build has the figure 'load_ns'"):
        history.plot("load_ns")


@pytest.mark.parametrize("minutes", [0, 5, 300])
def test_a_history_of_one_day_shows_that_day(minutes):
    builds = [replace(one, time=f"2026-08-04T{at * minutes // 60:02}:{at * minutes % 60:02}:00+00:00")
              for at, one in enumerate(latencies(np.zeros(2)))]  # fmt: skip
    (axes,) = drawn = with_methods(History, history_of(builds)).plot()
    low, high = axes.get_xlim()
    # In days. All builds are in view.
    assert minutes / 1440 < high - low < 0.5
    assert all(low < at < high for at in axes.convert_xunits(axes.lines[0].get_xdata()))
    # A notebook asks these for what it shows below the figure, and else names the axes.
    assert drawn._ipython_display_() is axes._ipython_display_() is None


@pytest.mark.sweep
def test_names_are_no_mathematics(tmp_path):
    name = r"$\x{$"
    scenario = Scenario(Process(name, 412), duration_ns=2_000 * MS)
    scenario.load(Model(name), 0, 20 * MS)
    for k in range(40):
        scenario.predict(Model(name), (50 + 40 * k) * MS, 10 * MS)
    write_export(scenario, tmp_path / name)
    trace = tracekit.read(tmp_path / name)
    plots = (trace.plot.timeline, trace.plot.latency, trace.plot.distribution, trace.plot.breakdown)
    drawn = [*(plot() for plot in plots), tracekit.compare(trace, trace).plot()]
    builds = [replace(one, commit=name) for one in latencies(np.repeat([0.0, 0.3], 20), name)]
    drawn += [*with_methods(History, history_of(builds)).plot()]
    from matplotlib.text import Text

    for axes in np.hstack(drawn):
        axes.figure.canvas.draw()
    assert sum(name in text.get_text() for axes in np.hstack(drawn) for text in axes.findobj(Text)) >= 7


def test_what_cannot_be_drawn_is_one_sentence(samples, sharpen, monkeypatch):
    plots = tracekit.read(samples / "not_instrumented.trace").plot
    for draw in (plots.latency, plots.distribution, plots.breakdown):
        with pytest.raises(tracekit.UsageError, match="shows no prediction with a known duration"):
            draw()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(tracekit.UsageError, match=r"pip install 'coreml-tracekit\[plot\]'"):
        sharpen.plot.timeline()
