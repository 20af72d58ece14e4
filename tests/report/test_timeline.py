"""The lanes that leave the machine: all rows, held to the redaction of the report."""

from dataclasses import replace

import numpy as np
import pytest

from support.analyses import kept_analysis
from support.handover import trace_of
from support.samples import SAMPLES
from tracekit.analysis.loads import first_after_load
from tracekit.lanes.categories import Category
from tracekit.report.redact import private_facts
from tracekit.report.timeline import CALL, COLD, timeline_of
from tracekit.testing import Draws
from tracekit.testing.recorder import start_recording
from tracekit.testing.scenario import CORE_ML
from tracekit.testing.stacks import app_function
from tracekit.trace.events import Kind
from tracekit.trace.filter import EVENT_FRAMES, everything, only_models, only_range

pytestmark = pytest.mark.usefixtures("kept_samples")


@pytest.fixture(scope="module")
def reload_analysis(samples):
    return kept_analysis(samples / "style_transfer_reload.trace")


@pytest.mark.parametrize("name", ["captions_concurrent", "not_instrumented"])
def test_every_row_is_there_once(name, samples):
    assert name in SAMPLES
    analysis = kept_analysis(samples / f"{name}.trace")
    timeline = analysis.timeline()
    events = [lane for lane in timeline.lanes if not lane.strip]
    assert sum(len(lane.starts) for lane in events) == sum(
        len(getattr(analysis.trace, frame)) for frame in EVENT_FRAMES
    )
    for lane in timeline.lanes:
        assert bool(lane.words) != bool(len(lane.starts))
        assert (np.diff(lane.starts) >= 0).all()


def test_evidence_leads_to_its_row(reload_analysis):
    timeline, checks = reload_analysis.timeline(), reload_analysis.report.results
    looked = 0
    for check, marked in zip(checks, timeline.evidence, strict=True):
        assert len(marked.starts) == check.evidence_total
        listed = {(entry.start_ns, entry.end_ns): entry.label for entry in check.evidence}
        for start, end, lane, row in zip(marked.starts, marked.ends, marked.lanes, marked.rows, strict=True):
            drawn = timeline.lanes[lane]
            assert (drawn.starts[row], drawn.ends[row]) == (start, end)
            if (start, end) in listed:
                assert timeline.texts[drawn.labels[row]] == listed[start, end]
                looked += 1
    assert looked == sum(len(check.evidence) for check in checks)


def test_evidence_of_late_frames_leads_to_them_and_to_the_predictions_behind_them(samples):
    timeline = kept_analysis(samples / "camera_hitches.trace").timeline()
    (marked,) = (each for each in timeline.evidence if len(each.starts))
    assert (marked.lanes >= 0).all()
    (lane,) = (timeline.lanes[number] for number in {*marked.lanes.tolist()})
    assert lane.title == "Late frames"
    assert (lane.predictions[marked.rows] >= 0).all()
    assert {timeline.texts[code] for code in lane.labels[marked.rows]} == {"late by 1 refresh of 16.7 ms: GPU"}
    # Of the others no model is known to have held them up.
    assert [timeline.texts[code] for code in lane.labels[lane.predictions < 0]] == [
        *["late by 1 refresh of 16.7 ms: cause unknown"] * 6,
        "late by 2 refreshes of 16.7 ms: cause unknown",
    ]


def test_calls_are_the_predictions_of_the_app_and_the_cold_ones_marked(reload_analysis):
    activity = reload_analysis.trace.activity
    lane = reload_analysis.timeline().lanes[0]
    assert lane.id == "activity"
    assert ((lane.flags & CALL) > 0).tolist() == activity.kind.is_any(Kind.PREDICTION).tolist()
    assert ((lane.flags & COLD) > 0).tolist() == first_after_load(activity).tolist()


def test_only_what_is_shown_is_drawn(reload_analysis):
    trace = reload_analysis.trace
    shown = only_models(everything(trace), trace, {"Mosaic"})
    timeline = timeline_of(trace, reload_analysis.report.results, shown=shown)
    used = {int(code) for lane in timeline.lanes for code in lane.models if code >= 0}
    assert {timeline.texts[code] for code in used} == {"Mosaic"}
    assert "Watercolor" not in timeline.texts
    assert timeline.lanes[0].starts.size == shown.rows["activity"].sum()


@pytest.mark.parametrize("name", ["not_instrumented", "sharpen_8bit"])
def test_names_of_other_processes_stay_here_as_in_the_report(name, samples):
    analysis = kept_analysis(samples / f"{name}.trace")
    others = set(private_facts(analysis.trace).processes) - {analysis.report.recording.target}
    plain = timeline_of(analysis.trace, analysis.report.results, redact=False)
    named = {process for process in others if any(f"({process}" in text for text in plain.texts)}
    assert named
    texts = " ".join(analysis.timeline().texts)
    assert not [process for process in named if f"({process}" in texts]
    # One process has one alias, in the lanes and in the tables.
    aliases = {row.process for row in analysis.report.aggregation if row.process} - {None}
    in_lanes = {text.split("(", 1)[1].split(")")[0] + ")" for text in analysis.timeline().texts if "(process" in text}
    assert in_lanes <= {str(alias) for alias in aliases}


def test_ids_of_pieces_of_work_stand_apart_from_their_labels(samples):
    analysis = kept_analysis(samples / "not_instrumented.trace")
    timeline = timeline_of(analysis.trace, (), redact=False)
    lane = next(lane for lane in timeline.lanes if lane.id == "gpu other")
    hardware = analysis.trace.hardware
    recorded = hardware.label.take(hardware.attribution.is_any("foreign") & hardware.lane.is_any("gpu"))
    drawn = zip(lane.labels.tolist(), lane.works.tolist(), strict=True)
    assert [f"{timeline.texts[label]} {work:#x}" for label, work in drawn] == recorded.as_objects().tolist()
    assert len(set(lane.works.tolist())) > 100


def test_a_hostile_label_reaches_no_screen(reload_analysis):
    trace = reload_analysis.trace
    label = trace.activity.label.recoded(lambda text: "\u202eevil\x1b[2J" if text == "Prediction" else text)
    timeline = timeline_of(replace(trace, activity=replace(trace.activity, label=label)), ())
    assert not [text for text in timeline.texts if "\u202e" in text or "\x1b" in text]
    assert "\ufffdevil\ufffd[2J" in timeline.texts


def test_inferred_calls_bring_their_bounds_and_the_lane_of_the_main_thread(sampled_trace):
    timeline = timeline_of(sampled_trace, ())
    lanes = {lane.title: lane for lane in timeline.lanes}
    activity = lanes["Activity"]
    assert activity.calls_inferred is not None
    assert activity.calls_inferred.origin.is_any("call-stacks").all()
    assert len(activity.calls_inferred) == len(activity.starts) == 3
    thread = lanes["Main thread"]
    assert [timeline.texts[code] for code in thread.labels] == ["in a load", "in a prediction", "in a prediction"]
    assert set(thread.categories.tolist()) == set(activity.categories.tolist()) == {Category.INFERRED}


def test_without_core_ml_the_main_thread_shows_when_the_app_ran():
    app = start_recording(Draws(3), jitter=0, noise=False, code=True)
    app.code.on_main = True
    app.pause(100_000_000)
    app.busy(60_000_000, app_function("render", 12, "View.swift"))
    app.scenario.missing.add(CORE_ML)
    (thread,) = (lane for lane in timeline_of(trace_of(app.finish()), ()).lanes if lane.title == "Main thread")
    assert len(thread.starts) == 1
    assert int(thread.ends[0] - thread.starts[0]) == pytest.approx(60_000_000, abs=2_000_000)


def test_a_choice_of_time_holds_for_the_main_thread_too(sampled_trace):
    first = int(sampled_trace.activity.start_ns[1])
    shown = only_range(everything(sampled_trace), sampled_trace, first, first + 1)
    lanes = {lane.title: lane for lane in timeline_of(sampled_trace, (), shown=shown).lanes}
    assert len(lanes["Main thread"].starts) == len(lanes["Activity"].starts) == 1


def test_recorded_calls_have_no_bounds(samples):
    timeline = kept_analysis(samples / "sharpen_8bit.trace").timeline()
    assert all(lane.calls_inferred is None for lane in timeline.lanes)
    assert "Main thread" not in {lane.title for lane in timeline.lanes}
