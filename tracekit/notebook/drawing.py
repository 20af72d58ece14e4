"""What all plots share: matplotlib, which is loaded by the first of them, axes, and the colors of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from tracekit.errors import UsageError
from tracekit.render.html import page_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 10
"""Of a figure, in inches, as its heights."""


def new_axes(heights: float, count: int = 1, *, sharex: bool = False) -> list[Axes]:
    """The axes of a new figure below one another, each of a height in inches. Raises `UsageError` where matplotlib is
    not installed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise UsageError(
            "plots need the package matplotlib; install it with: pip install 'coreml-tracekit[plot]'"
        ) from None
    size = (WIDTH, heights * count)
    figure, axes = plt.subplots(count, squeeze=False, sharex=sharex, figsize=size, layout="constrained")
    figure.set_facecolor(axes[0, 0].get_facecolor())
    for each in axes[:, 0]:
        each.spines[["top", "right"]].set_visible(False)
        each.grid(alpha=0.25, linewidth=0.6)
        each.set_axisbelow(True)
    return list(axes[:, 0])


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
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", pad=20 if below else 8)
    if below:
        look: dict[str, Any] = {"fontsize": 9, "color": color_of("dim"), "xycoords": "axes fraction"}
        axes.annotate(below, (0, 1), (0, 5), textcoords="offset points", annotation_clip=False, **look)


def logarithmic(axes: Axes, which: Literal["x", "y"]) -> None:
    """A logarithmic axis whose numbers are written out."""
    from matplotlib.ticker import LogFormatter

    getattr(axes, f"set_{which}scale")("log")
    axis = {"x": axes.xaxis, "y": axes.yaxis}[which]
    axis.set_major_formatter("{x:,g}")
    axis.set_minor_formatter(LogFormatter(minor_thresholds=(1.5, 0.4)))


def legend(axes: Axes, **options: Any) -> None:
    """What colors and lines mean, beside what is drawn."""
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, fontsize=9, **options)
