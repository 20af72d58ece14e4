"""What other viewers draw: every row of every lane, in rows that never overlap, with counters and findings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.analyses import kept_analysis
from tracekit.analysis.statistics import top_calls
from tracekit.report.formatting import inferred_facts
from tracekit.report.timeline import timeline_of
from tracekit.report.viewers.tracks import FINDINGS, PREDICTIONS, CounterTrack, SliceTrack, Tracks, tracks_of
from tracekit.trace.events import LOAD_KINDS, Kind


@pytest.fixture(scope="module")
def concurrent(samples):
    return kept_analysis(samples / "captions_concurrent.trace", functions=False)


@pytest.fixture(scope="module")
def tracks(concurrent):
    return tracks_of(concurrent.report, concurrent.timeline())


def group(tracks: Tracks, title: str) -> dict[str, object]:
    return {track.title: track for track in dict(tracks.groups)[title]}


def test_no_row_overlaps_and_none_is_missing(concurrent, tracks):
    lanes = {lane.title: lane for lane in concurrent.timeline().lanes}
    several = 0
    for track in tracks.slices:
        several += track.row_count > 1
        for row in range(track.row_count):
            in_row = track.slices.where(track.slices.row == row)
            assert (in_row.start[1:] >= in_row.end[:-1]).all()
        if track.title in lanes:
            assert track.slices.start.tolist() == lanes[track.title].starts.tolist()
            assert bool(track.markers) == (not len(track.slices))
    assert several


def test_counters_are_those_of_the_predictions(concurrent, tracks):
    predictions = top_calls(concurrent.trace, Kind.PREDICTION)
    counters = group(tracks, PREDICTIONS)
    flight = counters["In flight"]
    assert isinstance(flight, CounterTrack)
    starts, ends = predictions.start_ns, predictions.ends_ns
    for time, value in zip(flight.times.tolist(), flight.values.tolist(), strict=True):
        assert value == ((starts <= time) & (ends > time)).sum()
    assert flight.values.max() > 1
    for model in predictions.model.held():
        latency, own = counters[f"Latency · {model}"], predictions.model.is_any(model)
        assert isinstance(latency, CounterTrack)
        assert latency.times.tolist() == starts[own].tolist()
        assert latency.values.tolist() == predictions.duration_ns[own].tolist()


def test_findings_bring_their_evidence_and_their_texts(concurrent, tracks):
    findings = [check for check in concurrent.report.results if check.outcome == "finding"]
    assert {f"Finding: {check.title}" for check in findings} == group(tracks, FINDINGS).keys()
    for check in findings:
        track = next(track for track in dict(tracks.groups)[FINDINGS] if track.title == f"Finding: {check.title}")
        ours = {tracks.details[code] for code in track.slices.details} | {marker.details for marker in track.markers}
        details_of_model = next(details for details in map(dict, ours) if details.get("model") == check.model)
        assert (details_of_model["check"], details_of_model["severity"], details_of_model["summary"]) == (
            check.id,
            check.severity,
            check.summary,
        )
        assert details_of_model["fix"].split() == check.fix.split()
        if check.evidence:
            assert {(each.start_ns, each.end_ns) for each in check.evidence} <= set(
                zip(track.slices.start.tolist(), track.slices.end.tolist(), strict=True)
            )
            assert len(track.slices) == check.evidence_total > len(check.evidence)
        else:
            assert track.markers


def test_a_finding_brings_all_of_its_evidence_not_only_what_a_report_lists(samples):
    analysis = kept_analysis(samples / "style_transfer_reload.trace", functions=False)
    tracks = tracks_of(analysis.report, analysis.timeline())
    activity = analysis.trace.activity
    loads = activity.where(activity.kind.is_any(*LOAD_KINDS))
    # Each of the five models is loaded again for every frame after its first.
    again = loads.take(np.setdiff1d(np.arange(len(loads)), np.unique(loads.model.codes, return_index=True)[1]))
    (track,) = dict(tracks.groups)[FINDINGS]
    assert isinstance(track, SliceTrack)
    assert (track.slices.start.tolist(), len(again)) == (again.start_ns.tolist(), 368)
    models = [dict(tracks.details[code])["model"] for code in track.slices.details.tolist()]
    assert models == again.model.as_objects().tolist()
    assert not any("evidence" in dict(details) for details in tracks.details)


def test_a_flow_joins_a_prediction_to_its_parts_only(concurrent, tracks):
    core_ml = group(tracks, "Core ML")
    trace = concurrent.trace
    flows = core_ml["Activity"].slices.flow
    assert (flows[~trace.activity.kind.is_any(Kind.PREDICTION)] == 0).all()
    starts = trace.activity.start_ns
    of_flow = dict(zip(flows.tolist(), starts.tolist(), strict=True))
    joined = 0
    for rows, title in ((trace.data, "Data"), (trace.compute, "Compute")):
        inside = rows.prediction.filled()
        for flow, prediction in zip(core_ml[title].slices.flow.tolist(), inside.tolist(), strict=True):
            assert (of_flow[flow] == starts[prediction]) if prediction >= 0 else flow == 0
            joined += flow > 0
    assert joined


def test_thermal_states_are_a_counter_too(concurrent):
    timeline = concurrent.timeline()
    at = next(number for number, lane in enumerate(timeline.lanes) if lane.id == "thermal")
    hot = replace(
        timeline.lanes[at],
        words="",
        starts=np.array([0, 10, 20]),
        ends=np.array([10, 20, 30]),
        categories=np.array([19, 16, 0]),
        **dict.fromkeys(("labels", "models", "predictions"), np.full(3, -1)),
        **dict.fromkeys(("works", "flags"), np.zeros(3, np.int64)),
    )
    lanes = (*timeline.lanes[:at], hot, *timeline.lanes[at + 1 :])
    level = group(tracks_of(concurrent.report, replace(timeline, lanes=lanes)), "System")["Thermal level"]
    assert isinstance(level, CounterTrack)
    # Critical, nominal, and a state that nobody knows.
    assert (level.times.tolist(), level.values.tolist()) == ([0, 10], [3, 0])


def test_inferred_calls_say_what_shows_them_and_how_exactly(concurrent, sampled_trace):
    report = replace(concurrent.report, results=())
    tracks = tracks_of(report, timeline_of(sampled_trace, ()))
    (activity,) = [track for track in tracks.slices if track.title == "Activity"]
    told = [dict(tracks.details[code]) for code in activity.slices.details]
    assert [tracks.names[code].split(" (")[1].split(")")[0] for code in activity.slices.name] == [
        "inferred from call stacks"
    ] * 3
    for each, facts in zip(told, inferred_facts(sampled_trace.activity), strict=True):
        assert each.items() >= dict(facts).items()
    assert {each["inferred from"] for each in told} == {"call stacks"}
    assert len({each["started"] for each in told}) == 3
    # What Core ML recorded needs no bounds.
    assert not any("started" in dict(detail) for detail in tracks_of(concurrent.report, concurrent.timeline()).details)
