"""On pages, one color has one meaning: what can stand on one lane, in one bar or in one chart differs for everybody."""

from itertools import combinations

import pytest

from support.colors import VISIONS, contrast, distance
from tracekit.analysis.breakdown.summary import GROUPS
from tracekit.lanes.categories import Category
from tracekit.render.blocks import Role
from tracekit.render.html import KINDS, page_colors

SEVERITIES = (Role.CRITICAL, Role.HIGH, Role.MEDIUM, Role.LOW)
LEAST_DISTANCE = 15
"""As on the terminal (tests/tui/test_theme.py)."""
LEAST_SIDE_BY_SIDE = 11
"""About five times what is just noticed (2.3), in every vision. Our judgment."""
COLORS = page_colors()
PARTS = {
    "neural_engine": "ane",
    "gpu": "gpu",
    "cpu": "cpu",
    "data": "data",
    "queued": "queued",
    "requested": "requested",
}
TOGETHER = {
    "activity": "load load-cached compile prediction other inferred inferred-load",
    "data": "validation input-copy cast output ane-copy",
    "compute": "cpu gpu ane other",
    "hardware": "ane gpu app foreign mps load compile cast input-copy",
    "main thread": "app inferred inferred-load",
    "parts of a prediction": "ane gpu cpu data queued requested other app",
    "a slow prediction": "ane gpu cpu data queued compile mark",
    "what it waited for": "ane gpu mps foreign queued compile",
    "a chart of latencies, and what is beside it": "prediction load mark foreign",
    "parts and lanes of one page": "load load-cached data cast requested queued compile mps input-copy",
    "thermal": "good fair serious critical",
    "clock": "low medium high",
}


def test_groups_of_a_breakdown_have_colors_of_their_own():
    filled = [COLORS[f".g{number}"] for number, group in enumerate(GROUPS) if group.part in PARTS]
    assert filled == [COLORS[f"c-{PARTS[group.part]}"] for group in GROUPS if group.part in PARTS]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("names", TOGETHER.values(), ids=TOGETHER)
def test_what_stands_together_differs_for_everybody(names, dark):
    colors = {name: COLORS.get(f"c-{name}", COLORS.get(name))[dark] for name in names.split()}
    apart = {
        (one, other, vision): distance(colors[one], colors[other], vision)
        for one, other in combinations(colors, 2)
        for vision in VISIONS
    }
    assert {pair: round(far, 1) for pair, far in apart.items() if far < LEAST_SIDE_BY_SIDE} == {}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("severity", SEVERITIES)
def test_no_category_on_the_lanes_looks_like_a_severity(severity, dark):
    names = [f"c-{category.name.lower().replace('_', '-')}" for category in Category]
    distances = {name: distance(COLORS[name][dark], COLORS[severity][dark], "usual") for name in names}
    assert {name for name, apart in distances.items() if apart < LEAST_DISTANCE} == set()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("tone", [Role.BAD, Role.GOOD, Role.OPEN])
def test_what_a_comparison_says_has_other_colors_that_can_be_read(tone, dark):
    color, *grounds = (COLORS[name][dark] for name in (KINDS[tone], "ground", "raised"))
    assert min(contrast(color, ground) for ground in grounds) >= 4.5
    assert min(distance(color, COLORS[severity][dark], "usual") for severity in SEVERITIES) >= LEAST_DISTANCE
