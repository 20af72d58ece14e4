"""Ticks and their labels."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracekit.tui.timeline.ruler import MS, STEPS, Ruler, S, Tick, axis, moment, ruler
from tracekit.tui.timeline.viewport import Viewport, column_of


@settings(deadline=None)
@given(st.integers(0, 10**13), st.integers(1, 10**13), st.integers(20, 300))
def test_labels_do_not_touch_and_ticks_stand_at_whole_steps(start, span, columns) -> None:
    view = Viewport(start, max(span, columns))
    found = ruler(view, columns)
    assert found.step_ns in STEPS
    ends = [tick.column + 1 + len(tick.label) for tick in found.ticks]
    assert all(end < tick.column for end, tick in zip(ends, found.ticks[1:], strict=False))
    times = list(range(-(-start // found.step_ns) * found.step_ns, view.end_ns, found.step_ns))
    assert [tick.column for tick in found.ticks] == [column_of(view, columns, time) for time in times]


@settings(deadline=None)
@given(st.integers(0, 10**12), st.integers(100, 10**12))
def test_neighbouring_labels_differ(start, span) -> None:
    labels = [tick.label for tick in ruler(Viewport(start, span), 100).ticks]
    assert len(set(labels)) == len(labels)


def test_seconds_are_told_from_the_start_of_the_run() -> None:
    found = ruler(Viewport(0, 10 * S), 100)
    assert (found.base, [tick.label for tick in found.ticks][:3]) == ("", ["0 s", "1 s", "2 s"])


def test_microseconds_are_told_from_the_millisecond_before() -> None:
    found = ruler(Viewport(12_345_678_000, 100_000), 100)
    assert found.base == "12.345 s"
    assert [tick.label for tick in found.ticks][:2] == ["+680 µs", "+690 µs"]


@pytest.mark.parametrize(
    ("time", "resolution", "text"),
    [
        (0, S, "0 s"),
        (1_500 * MS, 500 * MS, "1.5 s"),
        (12_345 * MS, MS, "12.345 s"),
        (12_345_678_901, 1, "12.345 678 901 s"),
        (125 * S, 10 * S, "2:05 min"),
        (3_725 * S, 10 * S, "1:02:05 h"),
        (250_000, 1_000, "250 µs"),
        (2_500_000, 100_000, "2.5 ms"),
    ],
)
def test_a_moment_has_the_digits_that_the_resolution_needs(time, resolution, text) -> None:
    assert moment(time, resolution) == text


TWO_TICKS = Ruler((Tick(0, "0 s"), Tick(12, "5 s")), "", 5 * S)


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
        ticks = Ruler((Tick(0, "0 s"), Tick(gap, "5 s")), "", 5 * S)
        line = axis(ticks, {gap + 1: "▼"}, 20)
        assert line.startswith("╵0 s" + ("     5 s"[-(gap - 4) :] if gap >= 8 else " " * (gap - 4)) + "╵▼")


def test_a_range_fills_the_blanks_of_the_axis() -> None:
    assert axis(TWO_TICKS, {2: "[", 16: "]"}, 20, (2, 17)) == "╵ [=========╵5 s]   "
    assert axis(TWO_TICKS, {}, 20, (6, 10)) == "╵0 s  ====  ╵5 s    "
