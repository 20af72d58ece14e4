"""Why a prediction was slow, with the work that it waited for on the lanes."""

from __future__ import annotations

import numpy as np
import pytest

from tracekit.tui.state import EventRef, FindingRef, RowRef, Selection

CONCURRENT = pytest.mark.view("captions_concurrent", size=(200, 50))


def slowest(screen) -> int:
    activity = screen.state.session.trace.activity
    return int(np.where(activity.kind.is_any("prediction"), activity.duration_ns, 0).argmax())


def work_before_its_own(screen, prediction: int) -> list[int]:
    """The engine takes one after the other: what ends on it during a prediction, without the last, its own."""
    trace = screen.state.session.trace
    start, end = trace.activity.start_ns[prediction], trace.activity.ends_ns[prediction]
    ends = trace.hardware.ends_ns
    during = trace.hardware.lane.is_any("neural-engine") & (ends > start) & (ends <= end)
    return np.flatnonzero(during).tolist()[:-1]


def underlined(screen, lane: str) -> str:
    """The underlined cells of the first line of a lane."""
    timeline = screen.app.browse._timelines[0]
    lines = (timeline.render_line(y) for y in range(timeline.size.height))
    line = next(line for line in lines if lane in line.text)
    return "".join(segment.text for segment in line if segment.style is not None and segment.style.underline)


@CONCURRENT
async def test_the_waits_of_a_prediction_are_numbered_and_walked_through(screen):
    waits = work_before_its_own(screen, slowest(screen))
    assert len(waits) == 7
    assert "2 " not in underlined(screen, "Neural Engine")
    await screen.press("4", "W")
    text = screen.text()
    assert "It waited for 7 intervals; . and , step through them." in text
    assert "97.5 ms" in text
    assert ". , Waits" in text
    marked = underlined(screen, "Neural Engine")
    assert [number for number in range(1, 9) if f"{number} Caption" in marked] == [1, 2, 3, 4, 5, 6, 7]
    for number, row in enumerate(waits, 1):
        await screen.press("full_stop")
        assert screen.state.selection.event == EventRef("hardware", row)
        assert f"Wait {number} of 7" in screen.text()
    await screen.press("full_stop")
    assert "This is the last of 7 waits." in screen.text()
    await screen.press("comma")
    assert screen.state.selection.event == EventRef("hardware", waits[5])
    # What it waited for is of a prediction that began before it, and may have waited itself.
    await screen.press("W")
    assert screen.state.selection.prediction < slowest(screen)
    assert screen.state.selection.waits.rows == tuple(work_before_its_own(screen, screen.state.selection.prediction))
    await screen.press("escape")
    assert "2 Caption" not in underlined(screen, "Neural Engine")


@CONCURRENT
async def test_it_is_asked_of_a_model_of_statistics_of_a_finding_and_of_what_is_under_the_cursor(screen):
    await screen.press("5", "down", "W")
    assert screen.state.selection.prediction == slowest(screen)
    screen.app.select(Selection(finding=FindingRef(0)))
    await screen.press("W")
    evidence = screen.state.session.report.results[0].evidence[0]
    assert screen.state.session.row(screen.state.selection.event)["row"] == evidence.row
    await screen.press("escape")
    screen.app.change(cursor_ns=int(screen.state.session.trace.activity.start_ns[slowest(screen)]) + 1)
    await screen.press("W")
    start = screen.state.session.span(screen.state.selection.event).start_ns
    assert start <= screen.state.session.span(EventRef("activity", slowest(screen))).start_ns
    for row in screen.state.session.report.aggregation:
        if row.kind in ("prediction", "neural_engine_exec"):
            screen.app.select(Selection(row=RowRef(row)))
            await screen.press("W")
            assert screen.state.selection.prediction == (slowest(screen) if row.kind == "prediction" else None)
    assert "No prediction here; press 4 and choose one." in screen.text()


@pytest.mark.sweep
@pytest.mark.view("sharpen_8bit", size=(80, 24))
async def test_where_no_queue_is_known_there_is_nothing_to_step_through(screen):
    await screen.press("1", "full_stop", "W")
    assert screen.state.inspector
    assert "instead of the usual 12.4 ms" in screen.text()
    assert "called from Sharpen.PhotoFilter.sharpen (PhotoFilter.swift:31)" in screen.text()
    assert "waited" not in screen.text()
    # What is stepped through then is evidence, as before.
    await screen.press("full_stop")
    assert screen.state.selection.finding == FindingRef(0, 0)


@pytest.mark.sweep
async def test_of_a_finding_about_loads_it_is_the_slowest_prediction_of_the_model(screen):
    check = screen.state.session.report.results[1]
    assert check.id == "reload-before-predict"
    screen.app.select(Selection(finding=FindingRef(1)))
    await screen.press("W")
    calls = screen.state.session.trace.activity
    of_model = calls.kind.is_any("prediction") & calls.model.is_any(check.model)
    assert screen.state.selection.prediction == np.where(of_model, calls.duration_ns, -1).argmax()


@pytest.mark.sweep
@pytest.mark.corpus
def test_metal_pipelines_compiled_during_it_are_marked(run_view, corpus):
    path = corpus / "bundles" / "quick_probe.trace"

    async def test(screen) -> None:
        await screen.press("5", "down", "W")
        trace, index = screen.state.session.trace, slowest(screen)
        assert screen.state.selection.prediction == index
        times = trace.context["metal_pipelines"].start_ns
        compiled = (times >= trace.activity.start_ns[index]) & (times < trace.activity.ends_ns[index])
        assert compiled.sum() > 0
        assert f"{compiled.sum()} Metal pipelines compiled during it; the lanes mark them." in screen.text()
        assert underlined(screen, "Metal pipelines").strip()
        await screen.press("escape")
        assert not underlined(screen, "Metal pipelines").strip()

    run_view(test, path, size=(100, 40))


@pytest.mark.sweep
@pytest.mark.view("sharpen_8bit")
async def test_of_a_row_of_warm_predictions_the_slowest_of_those_is_explained(screen):
    await screen.press("2")
    listed = screen.app.browse.pane.focus_target()
    warm = next(at for at, line in enumerate(listed.rows.records) if line.statistics is line.source.warm)
    listed.go(warm)
    await screen.press("W")
    activity = screen.state.session.trace.activity
    called = activity.where(activity.kind.is_any("prediction")).take(slice(1, None))
    # Loaded once: all but the first are warm.
    assert screen.state.selection.prediction == called.id[called.duration_ns.argmax()]


@pytest.mark.sweep
@pytest.mark.view("sharpen_8bit", "sharpen_float16")
async def test_of_a_row_of_the_comparison_the_slowest_prediction_of_its_model_is_explained(screen):
    await screen.press("W")
    assert screen.state.selection.prediction == slowest(screen)
