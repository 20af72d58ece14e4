"""Which rows a filter lets through."""

from __future__ import annotations

import re

import pytest
from textual.widgets import Input

from support.choice import sweep_rest
from tests.tui.conftest import kept_judged, kept_session
from tracekit.trace.filter import EVENT_FRAMES
from tracekit.tui.ranges import passing
from tracekit.tui.state import EventFilter


def places(trace, name: str, text: str) -> list[int]:
    return list(passing(trace, name, EventFilter(text=text), None).nonzero()[0])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Neural Engine execution", "neural_engine_exec"),
        ("gpu EXECUTION", "gpu_exec"),
        ("MPS graph dispatch", "mps_dispatch"),
    ],
)
def test_work_of_the_hardware_is_found_by_its_name_in_the_aggregation(text, kind, reload_trace):
    own = reload_trace.hardware.kind.is_any(kind).nonzero()[0]
    assert len(own) > 50
    assert places(reload_trace, "hardware", text) == list(own)
    for name in ("activity", "data", "compute"):
        assert places(reload_trace, name, text) == []


def test_a_text_that_names_a_unit_finds_its_requests_and_its_work(reload_trace):
    engine = reload_trace.hardware.lane.is_any("neural-engine").nonzero()[0]
    assert set(engine) <= set(places(reload_trace, "hardware", "neural engine"))
    requests = reload_trace.compute.label.is_any("Neural Engine Request").nonzero()[0]
    assert places(reload_trace, "compute", "neural engine") == list(requests)
    assert len(requests) > 100


def test_durations_that_a_filter_names_pass_it(reload_trace):
    durations = reload_trace.activity.duration_ns
    known = int(durations[5])
    passed = passing(reload_trace, "activity", EventFilter(min_ns=known, max_ns=known), None)
    assert passed.tolist() == (durations == known).tolist()


def test_work_for_another_process_is_found_by_its_name_in_the_aggregation(reload_trace):
    hardware = reload_trace.hardware
    other = hardware.process.is_any("backboardd").nonzero()[0]
    assert 0 < len(other) < hardware.kind.is_any("gpu_exec").sum()
    assert places(reload_trace, "hardware", "GPU execution, backboardd (66)") == list(other)


@pytest.mark.parametrize("sample", sweep_rest("style_transfer_reload", "captions_concurrent", "sharpen_8bit"))
def test_every_event_of_the_aggregation_is_found_by_its_name(sample, samples):
    session = kept_judged(kept_session(str(samples / f"{sample}.trace")))
    for row in session.report.aggregation:
        chosen = EventFilter(text=row.label, model=row.model or "", kind=row.kind)
        passed = sum(int(passing(session.trace, name, chosen, None).sum()) for name in EVENT_FRAMES)
        # More than those of the row: a title without a process is the beginning of those with one.
        assert passed >= row.statistics.count > 0


async def test_a_filter_works_while_it_is_typed_and_esc_takes_it_back(screen):
    await screen.press("3", "slash")
    prompt = screen.app.screen.query_one(Input)
    prompt.value = "model:InkWas"
    await screen.press("h")
    count = sum(int(rows.model.is_any("InkWash").sum()) for rows in screen.state.session.trace.events.values())
    assert f"{count:,} events match" in screen.text()
    assert screen.state.filter.model == "InkWash"
    # No number of events is that of a filter that is none.
    prompt.value += " kind:nosuc"
    await screen.press("h")
    assert re.search(r"\d events match", screen.text()) is None
    await screen.press("escape")
    assert screen.state.filter == EventFilter()
    await screen.press("slash")
    await screen.answer("model:InkWash")
    assert screen.state.filter.model == "InkWash"


async def test_tab_completes_a_filter_to_the_model_on_screen(screen):
    # The first finding is about Pointillism.
    await screen.press("slash", "tab", *">8ms", "enter")
    assert screen.state.filter == EventFilter(model="Pointillism", min_ns=8_000_000)
    # Of the predictions, the first.
    await screen.press("c", "4", "slash", "tab", "enter")
    session = screen.state.session
    first = session.trace.activity.model.item(session.calls.index[0])
    assert screen.state.filter == EventFilter(model=first)


async def test_a_prompt_that_was_left_is_told_nothing_any_more(screen):
    await screen.press("slash")
    prompt = screen.app.screen
    told = []
    prompt._typed = lambda text: lambda: told.append(text) or "3 events match"
    screen.app.screen.query_one(Input).value = "copy"
    prompt.dismiss(None)
    await screen.wait()
    assert screen.app.is_running
    prompt._say("3 events match")
