"""The aggregation: what it counts, how it is sorted, and where it leads."""

from __future__ import annotations

from collections import Counter

import pytest

from support.lists import heading, listed
from support.rows import records_of
from tracekit.analysis.breakdown.summary import GROUPS
from tracekit.trace.filter import EVENT_FRAMES
from tracekit.tui.detail.columns import sort_value
from tracekit.tui.detail.events import EventsPane
from tracekit.tui.detail.statistics import AggregationPane, filter_of
from tracekit.tui.ranges import passing
from tracekit.tui.state import Sort


@pytest.mark.view(size=(200, 50))
async def test_the_aggregation_is_that_of_the_report_by_sum(screen):
    await screen.press("2")
    rows = listed(screen, AggregationPane).rows
    sums = Counter()
    for row in records_of(screen.state.session.trace.activity):
        sums[row["label"], row["model"]] += row["duration_ns"]
    ((best, most),) = sums.most_common(1)
    assert (rows.records[0].event, rows.records[0].source.model) == best
    assert rows.records[0].source.statistics.total_ns == most
    order = [line.statistics.total_ns for line in rows.records]
    assert order == sorted(order, reverse=True)
    assert len(order) > 20
    assert "whole recording" in screen.text()
    # Names are whole where there is room.
    assert screen.text().count("Neural Engine execution ") >= 4
    assert "Neural Engine Request " in screen.text()


@pytest.mark.sweep
@pytest.mark.view(size=(200, 50))
async def test_every_column_sorts_both_ways(screen):
    await screen.press("2")
    pane = screen.app.browse.query_one(AggregationPane)
    shown = [entry.title for entry in listed(screen, AggregationPane).visible_columns()]
    assert shown[:4] == ["event", "model", "lane", "count"]
    sorted_by = []

    def values(at: int) -> list:
        found = [sort_value(pane._rows.columns[at], record) for record in pane._rows.records]
        # Texts stand in the order in which people look for them.
        return [value.casefold() if isinstance(value, str) else value for value in found if value is not None]

    for _ in shown:
        await screen.press("o")
        sort = screen.state.sorts["aggregation"]
        sorted_by.append(sort.column)
        at = pane.titles.index(sort.column)
        known = values(at)
        assert known == sorted(known, reverse=sort.descending)
        await screen.press("O")
        assert values(at) == sorted(known, reverse=not sort.descending)
    assert sorted(sorted_by) == sorted(shown)
    screen.app.change(sorts={"aggregation": Sort("event", descending=False)})
    await screen.settle()
    events = list(dict.fromkeys(line.event for line in pane._rows.records))
    assert events[:3] == ["GPU execution", "GPU execution, backboardd (66)", "GPU Request"]


async def test_a_click_on_a_title_sorts_and_a_second_one_turns_it_round(screen):
    await screen.press("3")
    await screen.pilot.click(listed(screen, EventsPane), offset=(20, 0))
    await screen.settle()
    assert screen.state.sorts["events"] == Sort("duration", descending=True)
    rows = listed(screen, EventsPane).rows
    longest = max(int(rows.duration_ns.max(initial=0)) for rows in screen.state.session.trace.events.values())
    assert int(screen.state.session.row(rows.ref(0))["duration_ns"]) == longest
    await screen.pilot.click(listed(screen, EventsPane), offset=(20, 0))
    await screen.settle()
    assert screen.state.sorts["events"] == Sort("duration", descending=False)
    # Remembered while the user looks elsewhere.
    await screen.press("2", "3")
    assert int(screen.state.session.row(listed(screen, EventsPane).rows.ref(0))["duration_ns"]) < longest


@pytest.mark.view("sharpen_8bit", size=(200, 50))
async def test_a_row_of_the_aggregation_leads_to_the_events_that_it_counts(screen):
    trace = screen.state.session.trace
    lines = screen.state.session.report.aggregation
    assert len(lines) > 5
    for row in lines:
        chosen = filter_of(row)
        passed = sum(int(passing(trace, name, chosen, None).sum()) for name in EVENT_FRAMES)
        assert passed == row.statistics.count, row.label
    await screen.press("2", "enter")
    assert screen.state.pane == "events"
    assert len(listed(screen, EventsPane).rows) == lines[0].statistics.count
    assert heading(screen, EventsPane).startswith(f"{lines[0].statistics.count:,} events · ")


def test_signs_of_bars_are_unique():
    assert len({group.sign for group in GROUPS}) == len(GROUPS)
