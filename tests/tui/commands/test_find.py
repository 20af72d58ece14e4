"""Filters, matches and going to a time, with keys."""

import numpy as np
import pytest

from tracekit.tui.commands.find import filter_values
from tracekit.tui.query import parse_filter
from tracekit.tui.ranges import passing
from tracekit.tui.state import EventFilter


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.sweep)])
async def test_a_wrong_filter_is_explained_and_can_be_corrected(screen, size):
    await screen.press("slash")
    boxed = [line.split("│")[1] for line in screen.text().splitlines() if line.count("│") == 2]
    told = " ".join(" ".join(boxed).split())
    assert "device:gpu|neural-engine, >5ms" in told
    # All of them, on as many lines as it takes.
    kinds = filter_values(screen.state.session.trace).kind
    assert len(kinds) > 10
    assert ", ".join(kinds) in told
    await screen.answer("device:tpu")
    assert "Unknown device 'tpu'. Available: gpu, neural-engine." in " ".join(screen.text().split())
    assert not screen.state.filter.active
    await screen.answer("device:gpu")
    assert screen.state.filter == EventFilter(device="gpu")


def test_only_values_that_occur_can_be_filtered_by(reload_trace):
    known = filter_values(reload_trace)
    assert "load" not in known.kind
    assert {"load_cached", "prediction", "gpu_exec"} <= set(known.kind)
    assert parse_filter("kind:load", known) == EventFilter(kind="load_cached")
    assert set(known.model) == set(reload_trace.models.name)


async def test_matches_are_walked_through_in_all_lanes_by_time(screen):
    await screen.press("m")
    assert "No filter set" in screen.text()
    await screen.press("slash")
    await screen.answer("device:gpu model:watercolor")
    trace, chosen = screen.state.session.trace, EventFilter(model="Watercolor", device="gpu")
    starts = np.sort(
        np.concatenate([rows.start_ns[passing(trace, name, chosen, None)] for name, rows in trace.events.items()])
    )
    await screen.press("m")
    assert screen.state.cursor_ns == starts[0]
    await screen.press("m", "m")
    assert screen.state.cursor_ns == starts[2]
    assert f"Match 3 of {len(starts)}" in screen.text()
    await screen.press("M")
    assert screen.state.cursor_ns == starts[1]
    await screen.press("M", "M")
    assert "No earlier match" in screen.text()


async def test_going_to_a_time_moves_cursor_and_view(screen):
    await screen.press("w", "w", "w", "g")
    await screen.answer("0:08.5")
    assert screen.state.cursor_ns == 8_500_000_000
    view = screen.state.view
    assert abs(view.start_ns + view.span_ns // 2 - 8_500_000_000) <= 1
    await screen.press("g")
    await screen.answer("-250ms")
    assert screen.state.cursor_ns == 8_250_000_000
    await screen.press("g")
    await screen.answer("later")
    assert "Invalid time 'later'" in screen.text()
    await screen.press("escape", "g")
    await screen.answer("99999s")
    assert screen.state.cursor_ns == screen.state.bounds.end_ns - 1
    assert "Past the end; moved to" in screen.text()
