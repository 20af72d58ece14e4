"""Colors that lie side by side differ for everybody, and text can be read on everything that it stands on."""

from __future__ import annotations

import colorsys
from itertools import combinations

import numpy as np
import pytest
from rich.color import Color, ColorSystem
from textual._context import visible_screen_stack
from textual.geometry import Region

from support.colors import VISIONS, contrast, distance, lab, linear
from tests.tui.conftest import kept_session
from tracekit.lanes.categories import Category
from tracekit.lanes.lanes import Grouping, lanes_of
from tracekit.tui.app import ViewApp
from tracekit.tui.detail.findings import SIGNS
from tracekit.tui.opening import Viewed
from tracekit.tui.terminal import has_sixteen_colors
from tracekit.tui.text import GROUP_CATEGORIES
from tracekit.tui.theme import (
    DARK,
    LIGHT,
    PALETTES,
    SIXTEEN,
    SIXTEEN_COLORS,
    palette_of,
    remember_theme,
    remembered_theme,
    theme_file,
)
from tracekit.tui.timeline.widget import Timeline

LEAST_DISTANCE = 15
"""About six times what is just noticed in CIE 1976 (2.3): blocks are small, and seen at a glance. Our judgment."""
LEAST_IN_BARS = 10
"""In the bars of predictions each stretch has its sign besides."""
LEAST_TEXT, LEAST_SHAPE = 4.5, 3.0
"""WCAG 2.2, 1.4.3 (AA) for text and 1.4.11 for shapes."""
LEAST_FADED = 1.5
"""What is faded differs from nothing at all. Our judgment."""

TOGETHER = {
    "activity": (Category.LOAD, Category.LOAD_CACHED, Category.COMPILE, Category.PREDICTION, Category.OTHER),
    "data": (Category.VALIDATION, Category.INPUT_COPY, Category.CAST, Category.OUTPUT, Category.ANE_COPY),
    "compute": (Category.CPU, Category.GPU, Category.ANE, Category.OTHER),
    "neural-engine": (Category.ANE, Category.LOAD, Category.COMPILE),
    "hardware": (Category.ANE, Category.GPU, Category.APP, Category.FOREIGN, Category.MPS),
    "thermal": (Category.GOOD, Category.FAIR, Category.SERIOUS, Category.CRITICAL),
    "clock": (Category.LOW, Category.MEDIUM, Category.HIGH),
    "levels and states": (Category.HIGH, Category.GOOD, Category.FAIR, Category.SERIOUS, Category.CRITICAL),
    "recorded and inferred": (Category.PREDICTION, Category.INFERRED),
    "main thread": (Category.APP, Category.INFERRED),
    "blues of one screen": (Category.PREDICTION, Category.CPU, Category.MEDIUM),
    "greens of one screen": (Category.OUTPUT, Category.GPU, Category.GOOD),
    "faded": (Category.FADED, *(category for category in Category if category is not Category.FADED)),
    # Unexplained and not recorded, which share a color, are never in one bar.
    "bars": tuple(dict.fromkeys(GROUP_CATEGORIES.values())),
}
"""Categories that stand beside one another: in a lane, in lanes one below the other, in a strip, in a bar."""


def test_contrast_and_distance_are_the_published_ones():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    # The lightest gray that WCAG lets text have on white.
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
    assert lab(linear("#ffffff")) == pytest.approx([100, 0, 0], abs=0.01)
    assert lab(linear("#ff0000")) == pytest.approx([53.24, 80.09, 67.20], abs=0.05)
    # Whites stay white: the rows of the matrices add up to 1.
    assert all(matrix.sum(axis=1) == pytest.approx(1, abs=1e-5) for matrix in VISIONS.values())
    # Red and green of one lightness are what people without red or green cones confuse.
    assert distance("#a05000", "#5c7000", "usual") > 2 * distance("#a05000", "#5c7000", "deuteranopia")


@pytest.mark.parametrize("dark", [True, False], ids=["dark", "light"])
@pytest.mark.parametrize("name", TOGETHER)
def test_colors_side_by_side_differ(name, dark):
    colors = PALETTES[dark].categories
    # Of the faded, each against it; of the others, each against each.
    pairs = (pair for pair in combinations(TOGETHER[name], 2) if name != "faded" or Category.FADED in pair)
    least = LEAST_IN_BARS if name == "bars" else LEAST_DISTANCE
    near = {
        f"{one.name} {other.name} {vision}": round(seen, 1)
        for one, other in pairs
        for vision in VISIONS
        if (seen := distance(colors[one], colors[other], vision)) < least
    }
    assert near == {}


@pytest.mark.parametrize("dark", [True, False], ids=["dark", "light"])
def test_text_can_be_read_on_all_that_it_stands_on(dark):
    palette = PALETTES[dark]
    grounds = (palette.background, palette.gutter, palette.pinned, palette.cursor, palette.range)
    pairs = [(palette.text, ground) for ground in grounds]
    pairs += [(palette.dim, ground) for ground in grounds]
    pairs += [(palette.accent, ground) for ground in (palette.background, palette.cursor, palette.range)]
    pairs.append((palette.code, palette.gutter))
    pairs += [(palette.ink, color) for code, color in palette.categories.items() if code is not Category.FADED]
    pairs.append((palette.selected_ink, palette.selected))
    faint = {pair: round(contrast(*pair), 2) for pair in pairs if contrast(*pair) < LEAST_TEXT}
    assert faint == {}


@pytest.mark.sweep
@pytest.mark.view("captions_concurrent")
async def test_all_text_of_a_screen_can_be_read(screen):
    faint = {}
    for look_of in ("dark", "light"):
        for keys in (("ctrl+p",), ("4", "C"), ("1", "I")):
            await screen.press(*keys)
            visible_screen_stack.set(screen.app._background_screens)
            for strip in screen.app.screen._compositor.render_strips():
                for text, look, _ in strip:
                    if look is None or not any(map(str.isalnum, text)):
                        continue
                    colors = [color.triplet.hex for color in (look.color, look.bgcolor)]
                    if contrast(*colors) < LEAST_TEXT:
                        faint[text, look_of] = colors
            await screen.press("I" if "I" in keys else "escape")
        await screen.press("T")
    assert screen.app.theme == DARK
    assert faint == {}


@pytest.mark.parametrize("dark", [True, False], ids=["dark", "light"])
def test_text_of_16_colors_can_be_read_on_the_ground_of_the_cursor(dark):
    palette = SIXTEEN[dark]
    texts = {palette.text_on(palette.cursor, color) for color in (palette.text, palette.dim, palette.accent, None)}
    assert {text for text in texts if contrast(text, palette.cursor) < LEAST_TEXT} == set()


@pytest.mark.parametrize("dark", [True, False], ids=["dark", "light"])
def test_blocks_can_be_seen_on_all_that_they_stand_on(dark):
    palette = PALETTES[dark]
    shapes = [color for code, color in palette.categories.items() if code is not Category.FADED] + [palette.selected]
    faint = {
        (color, ground): round(contrast(color, ground), 2)
        for color in shapes
        for ground in (palette.background, palette.range, palette.finding)
        if contrast(color, ground) < LEAST_SHAPE
    }
    assert faint == {}


def is_warm(color: str) -> bool:
    """Red, orange or yellow: hues of 340° to 75° that are no gray."""
    hue, saturation, _ = colorsys.rgb_to_hsv(*(int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)))
    return not 75 < hue * 360 < 340 and saturation > 0.35


def is_orange(color: str) -> bool:
    """From vermillion to amber: hues of 12° to 52° that are no gray."""
    hue, saturation, _ = colorsys.rgb_to_hsv(*(int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)))
    return 12 <= hue * 360 <= 52 and saturation > 0.35


@pytest.mark.parametrize("dark", [True, False], ids=["dark", "light"])
def test_orange_means_severity_and_nothing_on_the_lanes_is_warm(dark):
    palette = PALETTES[dark]
    assert [category.name for category, color in palette.categories.items() if is_warm(color)] == []
    assert is_orange(palette.severity)
    orange = {
        category.name
        for category, color in palette.categories.items()
        if is_orange(color) or distance(color, palette.severity, "usual") < LEAST_DISTANCE
    }
    others = (palette.accent, palette.better, palette.worse, palette.code, palette.text, palette.dim)
    assert orange == set()
    assert not any(map(is_orange, others))


@pytest.mark.parametrize(
    ("severity", "on_orange"),
    [
        pytest.param("critical", True, marks=pytest.mark.view("style_transfer_reload")),
        pytest.param("high", False, marks=pytest.mark.view("captions_concurrent")),
    ],
)
async def test_critical_and_high_differ_in_their_ground(screen, severity, on_orange):
    visible_screen_stack.set(screen.app._background_screens)
    strips = screen.app.screen._compositor.render_strips()
    sign = SIGNS[severity]
    looks = [look for strip in strips for text, look, _ in strip if text.removesuffix(severity).strip() == sign]
    assert {bool(look.reverse) for look in looks} == {on_orange}


ON_ONE_LANE = {
    **{name: TOGETHER[name] for name in ("compute", "neural-engine", "hardware", "clock", "bars", "main thread")},
    "activity": (*TOGETHER["activity"], Category.INFERRED),
    "data": (*TOGETHER["data"], Category.OTHER),
    "thermal": (*TOGETHER["thermal"], Category.OTHER),
}
XTERM = (
    *("#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5"),
    *("#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff"),
)
"""The 16 colors of xterm (`XTerm-col.ad`); those of Rich are those of VGA."""


def number(color: str) -> int:
    """The color that a terminal with 16 is told."""
    return Color.parse(color).downgrade(ColorSystem.STANDARD).number


@pytest.mark.parametrize("dark", [True, False], ids=["dark", "light"])
def test_with_few_colors_no_two_categories_of_a_lane_share_one(dark):
    palette = SIXTEEN[dark]
    reserved = {number(color) for color in (palette.background, palette.selected)}
    for name, categories in ON_ONE_LANE.items():
        numbers = [number(palette.categories[category]) for category in (*categories, Category.FADED)]
        assert len({*numbers} | reserved) == len(numbers) + len(reserved), name
        # With 256 neither.
        colors = [PALETTES[dark].categories[category] for category in (*categories, Category.FADED)]
        numbers = {Color.parse(color).downgrade(ColorSystem.EIGHT_BIT).number for color in colors}
        assert len(numbers) == len(colors), name


@pytest.mark.sweep
def test_with_16_colors_no_two_categories_of_a_lane_of_the_samples_share_one(samples):
    for path in sorted(samples.glob("*.trace")):
        for grouping in Grouping:
            for lane in lanes_of(kept_session(str(path)).trace, grouping):
                drawn = [Category(code) for code in np.unique(lane.events.categories)] if lane.events else []
                for palette in SIXTEEN.values():
                    told = {number(palette.categories[category]) for category in drawn}
                    assert len(told) == len(drawn), (path.name, lane.id, drawn)


@pytest.mark.parametrize("dark", [True, False], ids=["dark", "light"])
@pytest.mark.parametrize("shown", [SIXTEEN_COLORS, XTERM], ids=["VGA", "xterm"])
def test_with_16_colors_those_side_by_side_differ_and_text_on_them_can_be_read(shown, dark):
    palette = SIXTEEN[dark]

    def seen(color: str) -> str:
        return shown[number(color)]

    near = {
        (one.name, other.name)
        for categories in ON_ONE_LANE.values()
        for one, other in combinations(categories, 2)
        if distance(seen(palette.categories[one]), seen(palette.categories[other]), "usual") < LEAST_DISTANCE
    }
    assert near == set()
    pairs = [(palette.ink_on(code), color) for code, color in palette.categories.items() if code is not Category.FADED]
    pairs += [(palette.text, ground) for ground in (palette.background, palette.cursor, palette.range)]
    pairs += [(palette.dim, palette.background), (palette.accent, palette.background)]
    pairs += [(color, palette.background) for color in (palette.better, palette.worse, palette.code)]
    # What a terminal makes of 16 colors is its own choice, and nothing of it reaches 4.5 throughout.
    faint = {pair: round(contrast(*map(seen, pair)), 2) for pair in pairs if contrast(*map(seen, pair)) < LEAST_SHAPE}
    assert faint == {}
    assert contrast(seen(palette.categories[Category.FADED]), seen(palette.background)) > LEAST_FADED


@pytest.mark.view("sharpen_8bit", sixteen_colors=True)
async def test_a_terminal_with_16_colors_is_sent_only_those_of_its_palette(screen):
    await screen.press("n", "n", "f")
    # Detail and inspector have one ground.
    assert sum("│" in line for line in screen.text().splitlines()) == screen.app.browse.pane.size.height + 1
    lines = screen.app.browse.query_one(Timeline).render_lines(Region(0, 0, 120, 15))
    told = {segment.style.color.name for line in lines for segment in line if segment.style and segment.style.color}
    assert told <= set(SIXTEEN_COLORS)
    assert len(told) > 5
    await screen.press("T")
    assert palette_of(screen.app.current_theme) is SIXTEEN[False]


@pytest.mark.parametrize(
    ("term", "colorterm", "sixteen"),
    [("xterm", "", True), ("screen", "", True), ("xterm-256color", "", False), ("xterm", "truecolor", False)],
)
def test_the_terminal_says_how_many_colors_it_has(term, colorterm, sixteen, monkeypatch):
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("COLORTERM", colorterm)
    assert has_sixteen_colors() is sixteen


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_the_theme_that_was_chosen_last_is_taken_again():
    assert remembered_theme() is None
    app = ViewApp(Viewed(("x.trace",)), remember=True)
    assert app.theme == DARK
    app.switch_theme()
    assert remembered_theme() == "light"
    assert ViewApp(Viewed(("x.trace",)), remember=True).theme == LIGHT
    # What is asked for goes before, and is kept too.
    assert ViewApp(Viewed(("x.trace",), theme="dark"), remember=True).theme == DARK
    assert remembered_theme() == "dark"


def test_without_memory_nothing_is_read_or_written(state_folder):
    remember_theme("light")
    app = ViewApp(Viewed(("x.trace",)))
    assert app.theme == DARK
    app.switch_theme()
    app.switch_theme()
    assert remembered_theme() == "light"


@pytest.mark.parametrize("content", [b"blue", b"\xff\xfe", b""])
def test_what_is_no_theme_is_none(content):
    remember_theme("light")
    theme_file().write_bytes(content)
    assert remembered_theme() is None


def test_a_folder_that_cannot_be_written_holds_nothing_up(state_folder):
    (state_folder / "tracekit").write_text("a file in place of the folder")
    remember_theme("light")
    assert remembered_theme() is None
