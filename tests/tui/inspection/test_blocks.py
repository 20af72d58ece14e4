"""How durations are distributed, in the inspector."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from support.choice import sweep_rest
from tests.tui.conftest import kept_judged, kept_session
from tracekit.tui.inspection.event import histogram_blocks
from tracekit.tui.ranges import aggregation, durations_in_range, durations_of_model, durations_of_row
from tracekit.tui.state import RowRef, first_state
from tracekit.tui.viewport import Span


def lines(durations) -> list[str]:
    console = Console(width=44, color_system=None)
    with console.capture() as shown:
        for block in histogram_blocks(np.array(durations), "things"):
            console.print(block)
    return shown.get().splitlines()


def test_every_value_is_counted_in_its_range():
    durations = [1_000_000 * value for value in (10, 10, 11, 12, 22)]
    shown = [line for line in lines(durations) if " – " in line and "max" not in line]
    # From 13 to 21 ms there is none.
    assert shown == [
        "10 – 11 ms ██████████████ 2",
        "11 – 12 ms ███████ 1",
        "12 – 13 ms ███████ 1",
        "13 – 21 ms  0",
        "21 – 22 ms ███████ 1",
    ]
    assert sum(int(line.split()[-1]) for line in shown) == len(durations)


def test_equal_values_have_no_ranges_and_few_are_not_shown():
    assert "all of 6 values: 5.00 ms" in lines([5_000_000] * 6)
    assert lines([1, 2, 3, 4]) == []


@pytest.mark.parametrize("name", sweep_rest("captions_concurrent", "style_transfer_reload", "sharpen_8bit"))
def test_rows_of_the_aggregation_have_as_many_durations_as_they_count(samples, name):
    state = first_state((kept_judged(kept_session(str(samples / f"{name}.trace"))),))
    half = replace(state, range=Span(0, state.bounds.span_ns // 2))
    for shown in (state, half):
        rows = aggregation(shown.session, shown.range, shown.filter)
        assert rows
        for row in rows:
            durations = durations_of_row(shown, RowRef(row))
            assert (len(durations), durations.sum()) == (row.statistics.count, row.statistics.total_ns)
            if row.warm is not None:
                assert len(durations_of_row(shown, RowRef(row, warm=True))) == row.warm.count


def test_a_model_and_a_range_have_the_durations_of_their_predictions(samples):
    state = first_state((kept_judged(kept_session(str(samples / "style_transfer_reload.trace"))),))
    # As the sample was made: 81 predictions of this model, 373 in all.
    assert len(durations_of_model(state.session, "Pointillism")) == 81
    assert len(durations_in_range(state, Span(0, state.bounds.span_ns))) == 373


@pytest.mark.view("captions_concurrent", size=(120, 60))
async def test_the_first_row_of_a_list_fills_the_inspector_with_its_distribution(screen):
    await screen.press("2")
    assert "Durations of these events" in screen.text()
    assert re.search(r" – +\d[\d.]+ ms █+ \d+", screen.text())
    assert screen.state.selection.row is None
    await screen.press("down")
    assert screen.state.selection.row is not None
    await screen.press("escape", "5")
    assert "Durations of all predictions" in screen.text()
    await screen.press("3")
    assert "source" in screen.text()
    await screen.press("4")
    assert "Where its time went" in screen.text()
    screen.app.change(range=Span(0, screen.state.bounds.span_ns))
    await screen.press("1", "i", "i", "6")
    assert "Durations of predictions starting in it" in screen.text()
