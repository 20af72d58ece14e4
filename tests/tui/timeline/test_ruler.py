"""Ticks and their labels."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracekit.tui.timeline.ruler import MS, STEPS, S, Tick, axis, ruler
from tracekit.tui.viewport import Viewport, column_of


@settings(deadline=None)
@given(st.integers(0, 10**13), st.integers(1, 10**13), st.integers(20, 300))
def test_labels_do_not_touch_and_ticks_stand_at_whole_steps(start, span, columns) -> None:
    view = Viewport(start, max(span, columns))
    found = ruler(view, columns)
    ends = [tick.column + 1 + len(tick.label) for tick in found]
    assert all(end < tick.column for end, tick in zip(ends, found[1:], strict=False))
    # More steps than columns can have no ticks of their own.
    assert [tick.column for tick in found] in [
        [column_of(view, columns, time) for time in range(-(-start // step) * step, view.end_ns, step)]
        for step in STEPS
        if view.span_ns // step <= columns
    ]


@settings(deadline=None)
@given(st.integers(0, 10**12), st.integers(100, 10**12))
def test_neighboring_labels_differ(start, span) -> None:
    labels = [tick.label for tick in ruler(Viewport(start, span), 100)]
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(
    ("start", "span", "labels"),
    [
        (0, 10 * S, ["00:00.000", "00:02.000", "00:04.000"]),
        (1_500 * MS, 5 * S, ["00:02.000", "00:03.000", "00:04.000"]),
        (12_345 * MS, 10 * MS, ["00:12.346", "00:12.348", "00:12.350"]),
        (12_345_678_000, 100_000, ["00:12.345 680", "00:12.345 700"]),
        (1_112_033_990_500, 1_000, ["18:32.033 990 600", "18:32.033 990 800"]),
        (3_600 * S, 120 * S, ["1:00:00.000", "1:00:20.000", "1:00:40.000"]),
        (-2 * S, 10 * S, ["-00:02.000", "00:00.000", "00:02.000"]),
    ],
)
def test_labels_are_moments_with_the_digits_that_their_distance_needs(start, span, labels) -> None:
    assert [tick.label for tick in ruler(Viewport(start, span), 100)][: len(labels)] == labels


TWO_TICKS = (Tick(0, "0 s"), Tick(12, "5 s"))


@pytest.mark.parametrize(
    ("signs", "line"),
    [
        ({}, "╵0 s        ╵5 s    "),
        # A label keeps its place where no sign stands in it, goes before its tick where there is room, else away.
        ({14: "▼"}, "╵0 s     5 s╵ ▼     "),
        ({2: "▼"}, "╵ ▼         ╵5 s    "),
        ({14: "▼", 10: "◇"}, "╵0 s      ◇ ╵ ▼     "),
        ({12: "▼"}, "╵0 s        ▼5 s    "),
        ({4: "▼", 16: "◆", 25: "◇", -1: "◇"}, "╵0 s▼       ╵5 s◆   "),
    ],
)
def test_a_sign_never_stands_in_a_label_and_a_label_never_behind_a_sign_that_is_not_its_tick(signs, line) -> None:
    assert axis(TWO_TICKS, signs, 20) == line


def test_a_label_before_its_tick_does_not_touch_the_one_before() -> None:
    for gap in range(4, 12):
        ticks = (Tick(0, "0 s"), Tick(gap, "5 s"))
        line = axis(ticks, {gap + 1: "▼"}, 20)
        assert line.startswith("╵0 s" + ("     5 s"[-(gap - 4) :] if gap >= 8 else " " * (gap - 4)) + "╵▼")


def test_a_range_fills_the_blanks_of_the_axis() -> None:
    assert axis(TWO_TICKS, {2: "[", 16: "]"}, 20, (2, 17)) == "╵ [=========╵5 s]   "
    assert axis(TWO_TICKS, {}, 20, (6, 10)) == "╵0 s  ====  ╵5 s    "
