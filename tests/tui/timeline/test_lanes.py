"""Which lanes a trace has, and what lanes without rows say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tracekit
from support.analyses import kept_trace
from support.samples import SAMPLES
from tracekit.columns import constant
from tracekit.lanes.categories import OF_KIND, Category
from tracekit.lanes.lanes import Grouping
from tracekit.trace.events import Attribution
from tracekit.trace.filter import EVENT_FRAMES
from tracekit.trace.trace import Trace
from tracekit.tui.timeline.tracks import timeline_lanes


def by_id(trace: Trace, grouping: Grouping):
    return {lane.id: lane for lane in timeline_lanes(trace, grouping)}


@pytest.mark.turns(4)
@pytest.mark.parametrize("grouping", Grouping)
@pytest.mark.parametrize("name", SAMPLES)
def test_every_row_is_on_exactly_one_lane(name, grouping, samples):
    trace = kept_trace(samples / f"{name}.trace")
    shown: dict[str, list[int]] = {frame: [] for frame in EVENT_FRAMES}
    for lane in timeline_lanes(trace, grouping):
        assert (lane.events is None) == bool(lane.words)
        if lane.events is not None and lane.events.frame in shown:
            shown[lane.events.frame] += lane.events.index.tolist()
    for frame, rows in shown.items():
        assert sorted(rows) == list(range(len(getattr(trace, frame)))), frame


@pytest.mark.parametrize("grouping", Grouping)
def test_lane_ids_are_unique_and_times_are_those_of_the_frame(grouping, reload_trace):
    lanes = timeline_lanes(reload_trace, grouping)
    assert len({lane.id for lane in lanes}) == len(lanes)
    for lane in lanes:
        if lane.events is None:
            continue
        events = lane.events
        rows = (reload_trace.events | reload_trace.context)[events.frame]
        assert (np.diff(events.index) > 0).all()
        assert events.starts.tolist() == rows.start_ns[events.index].tolist()
        assert (events.ends - events.starts).tolist() == rows.duration_ns[events.index].tolist()


def test_inferred_predictions_have_a_look_of_their_own(reload_trace):
    activity = reload_trace.activity
    inferred = replace(activity, attribution=constant("inferred", len(activity)))
    lanes = timeline_lanes(replace(reload_trace, activity=inferred), Grouping.LANES)
    assert set(lanes[0].events.categories.tolist()) == {Category.INFERRED}
    assert Category.INFERRED not in timeline_lanes(reload_trace, Grouping.LANES)[0].events.categories


def test_grouped_lanes_stand_as_in_instruments(reload_trace):
    lanes = timeline_lanes(reload_trace, Grouping.LANES)
    assert [lane.title for lane in lanes if not lane.pinned] == ["Activity", "Data", "Compute"]
    assert [lane.id for lane in lanes if lane.pinned] == [
        "neural-engine", "gpu", "gpu other", "mps", "command_buffers", "thermal", "gpu_performance", "hangs",
    ]  # fmt: skip


def test_lanes_of_events_carry_the_recorded_text(reload_trace):
    found = by_id(reload_trace, Grouping.EVENTS)
    # 373 loads and predictions: sample_traces/README.md.
    assert len(found["activity/Load (cached)"].events) == 373
    assert len(found["activity/Prediction"].events) == 373


def test_lanes_of_models_stand_together(reload_trace):
    lanes = [lane for lane in timeline_lanes(reload_trace, Grouping.MODELS) if not lane.pinned]
    sections = [lane.section for lane in lanes]
    assert sections == sorted(sections, key=sections.index)
    assert set(sections) == set(reload_trace.models.name)
    assert sum(len(lane.events) for lane in lanes if lane.title == "Activity") == 746


def test_core_mls_own_work_on_the_gpu_stands_apart(reload_trace):
    found = by_id(reload_trace, Grouping.LANES)
    own, other = (reload_trace.hardware.take(found[lane].events.index) for lane in ("gpu", "gpu other"))
    assert own.model.known.all()
    assert not own.attribution.is_any(Attribution.FOREIGN).any()
    assert other.attribution.is_any(Attribution.FOREIGN).all()
    assert set(found["gpu other"].events.categories) == {Category.FOREIGN}


def test_silence_is_put_in_words(samples):
    found = by_id(kept_trace(samples / "not_instrumented.trace"), Grouping.LANES)
    words = {name: lane.words for name, lane in found.items()}
    # The scenario records the Core ML table without rows, and neither Thermal State nor Hangs.
    assert words["activity"] == words["data"] == words["compute"] == "recorded, no events"
    assert words["thermal"] == words["hangs"] == "not recorded"
    assert words["gpu"] == "no rows attributed to a model"


def test_what_was_not_exported_is_not_said_to_be_missing_from_the_recording(samples):
    table = next((samples / "style_transfer_reload_xml").glob("coreml-os-signpost*.xml"))
    words = {lane.id: lane.words for lane in timeline_lanes(tracekit.open_trace(table), Grouping.LANES)}
    assert words["neural-engine"] == words["thermal"] == "not in this input"


def test_every_category_has_a_letter_of_its_own_and_every_kind_a_category():
    letters = [category.letter for category in Category]
    assert len(set(letters)) == len(letters)
    from tracekit.trace.events import Kind

    assert set(OF_KIND) == set(Kind)
