"""On pages, the colors of severities mean severity alone."""

import pytest

from support.colors import contrast, distance
from tracekit.lanes.categories import Category
from tracekit.render.blocks import Role
from tracekit.render.html import KINDS, page_colors

SEVERITIES = (Role.CRITICAL, Role.HIGH, Role.MEDIUM, Role.LOW)
LEAST_DISTANCE = 15
"""As on the terminal (tests/tui/test_theme.py)."""
COLORS = page_colors()


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
