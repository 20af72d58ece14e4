"""The lanes in the page, read back with arithmetic of the test's own."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from dataclasses import replace

import numpy as np
import pytest

from support.analyses import kept_analysis
from support.forms import html_page
from tracekit.analysis.ledger import causes
from tracekit.analysis.ledger.account import ledger
from tracekit.report.timeline import timeline_of
from tracekit.report.viewers.lane_columns import HARDWARE, SEVERAL, fit_page, payload

pytestmark = pytest.mark.usefixtures("kept_samples")
NAMES = ("gaps", "durations", "categories", "labels", "works", "models", "flags", "predictions")


@pytest.fixture(scope="module")
def analysis(samples):
    return kept_analysis(samples / "style_transfer_reload.trace")


def flame_bytes(head: dict) -> int:
    sizes = (head["samples"], head["samples"], head["nodes"], head["nodes"], head["nodes"])
    return sum(size * planes for size, planes in zip(sizes, head["planes"], strict=True))


def test_every_value_of_every_lane_comes_back(analysis):
    timeline = analysis.timeline()
    meta, columns = payload(analysis.report, timeline)
    described, data = json.loads(meta), zlib.decompress(b64decode(columns))
    at = 0
    for head, lane in zip(described["lanes"], timeline.lanes, strict=True):
        count = head["count"]
        assert count == len(lane.starts)
        if not count:
            assert head["words"]
            continue
        values = {}
        for name, planes in zip(NAMES, head["planes"], strict=True):
            numbers = [int.from_bytes(data[at + k : at + planes * count : count], "little") for k in range(count)]
            values[name] = np.array(numbers)
            at += planes * count
        starts = head["first"] + np.cumsum(values["gaps"])
        assert starts.tolist() == lane.starts.tolist()
        assert (starts + values["durations"]).tolist() == lane.ends.tolist()
        assert values["categories"].tolist() == lane.categories.tolist()
        assert (values["labels"] - 1).tolist() == lane.labels.tolist()
        assert values["works"].tolist() == lane.works.tolist()
        assert (values["models"] - 1).tolist() == lane.models.tolist()
        assert values["flags"].tolist() == lane.flags.tolist()
        steps = [-(step + 1) // 2 if step % 2 else step // 2 for step in values["predictions"].tolist()]
        belongs = np.cumsum(steps) - 1
        activity = timeline.lanes[0]
        assert activity.calls[belongs[belongs >= 0]].all()
        of_prediction = activity.predictions[belongs[belongs >= 0]]
        assert of_prediction.tolist() == lane.predictions[belongs >= 0].tolist()
        alone = lane.predictions[belongs < 0]
        assert (lane.calls[belongs < 0] | (alone < 0)).all()
    at += flame_bytes(described["flame"])
    (finding,) = described["findings"]
    drawn = sum(size for _, size in finding["lanes"])
    sizes = (drawn, finding["loose"], finding["loose"])
    assert len(data) - at == sum(size * planes for size, planes in zip(sizes, finding["planes"], strict=True))
    assert (drawn, finding["loose"]) == (finding["total"], 0)


def test_bounds_of_inferred_calls_come_back(analysis, sampled_trace):
    activity = sampled_trace.activity
    hidden = replace(
        activity, origin=activity.origin.changed(activity.id == 1, "hardware"), single=np.array([True, True, False])
    )
    timeline = timeline_of(replace(sampled_trace, activity=hidden), ())
    meta, columns = payload(replace(analysis.report, results=()), replace(timeline, flame=None))
    described, data = json.loads(meta), zlib.decompress(b64decode(columns))
    assert [described["categories"][code][0] for code in described["outlined"]] == ["inferred"]
    head = described["lanes"][0]
    count, at = head["count"], sum(planes * head["count"] for planes in head["planes"])
    values = []
    for planes in head["inferred"]["planes"]:
        values.append([int.from_bytes(data[at + k : at + planes * count : count], "little") for k in range(count)])
        at += planes * count
    flags, before, after, short, long = map(np.array, values)
    lane = timeline.lanes[0]
    assert flags.tolist() == [0, HARDWARE, SEVERAL]
    found = (lane.starts - before, lane.starts + after, lane.ends - short, lane.ends + long)
    assert [each.tolist() for each in found] == [bound.tolist() for bound in hidden.bounds]
    assert head["inferred"]["resolution"] == "±1 ms"
    assert all("inferred" not in each for each in described["lanes"][1:])


def test_all_evidence_is_marked(analysis):
    timeline = analysis.timeline()
    meta, columns = payload(analysis.report, timeline)
    (finding,) = json.loads(meta)["findings"]
    checks = [check for check in analysis.report.results if check.outcome == "finding"]
    assert finding["id"] == "reload-before-predict"
    assert finding["total"] == sum(check.evidence_total for check in checks) == 368
    ((lane, size),) = finding["lanes"]
    planes = finding["planes"][0]
    data = zlib.decompress(b64decode(columns))[-size * planes :]
    gaps = [int.from_bytes(data[k::size], "little") for k in range(size)]
    marked = timeline.lanes[lane]
    labels = {timeline.texts[marked.labels[row]] for row in np.cumsum(gaps).tolist()}
    # All loads but the first of each of the five models.
    assert len(set(np.cumsum(gaps).tolist())) == size == 368
    assert all("Load" in label for label in labels)


def test_slow_predictions_say_why_and_what_they_waited_for(samples):
    analysis = kept_analysis(samples / "captions_concurrent.trace")
    trace, timeline = analysis.trace, analysis.timeline()
    meta, columns = payload(analysis.report, timeline, words=lambda why: (why.model, [("usual", f"{why.usual_ns}")]))
    slow, data = json.loads(meta)["slow"], zlib.decompress(b64decode(columns))
    predictions = trace.activity.where(trace.activity.kind.is_any("prediction"))
    calls = predictions.take(np.argsort(-predictions.duration_ns)[:10])
    ends = trace.hardware.ends_ns[trace.hardware.lane.is_any("neural-engine")]
    assert len(slow) == len(calls)
    for head, start, length in reversed([*zip(slow, calls.start_ns.tolist(), calls.duration_ns.tolist(), strict=True)]):
        lane = timeline.lanes[head["lane"]]
        assert (lane.starts[head["row"]], lane.ends[head["row"]]) == (start, start + length)
        assert (head["model"], head["sentence"], head["loose"]) == ("CaptionEncoder", "CaptionEncoder", 0)
        ((number, size),) = head["lanes"]
        gaps, data = data[-size:], data[:-size]
        # Of the engine's rows that end during it, all but the last, which is its own.
        during = np.flatnonzero((ends > start) & (ends <= start + length))[:-1]
        assert (timeline.lanes[number].title, np.cumsum([*gaps]).tolist()) == ("Neural Engine", during.tolist())
    assert json.loads(payload(analysis.report, timeline)[0])["slow"] == []


def test_every_prediction_has_its_usual_time_and_what_it_took_longer_for(samples):
    """Of the first cause, queues behind its own model, those whose parts the account gives."""
    analysis = kept_analysis(samples / "captions_concurrent.trace")
    timeline = replace(analysis.timeline(), flame=None, slow=(), evidence=())
    report = replace(analysis.report, results=())
    meta, columns = payload(report, timeline, words=lambda why: (why.model, ()))
    head, data = json.loads(meta)["accounts"], zlib.decompress(b64decode(columns))
    (account,) = ledger(analysis.trace).values()
    late = account.durations - account.usual_ns
    size = head["count"]
    assert size == len(account.calls) == 276
    queued = np.flatnonzero((account.of(causes.Cause.QUEUED_OWN) >= 0.1 * late) & (late > 0.02 * account.usual_ns))
    names = [name for name, *_ in head["causes"]]
    at = names.index(causes.NAMES[causes.Cause.QUEUED_OWN])
    behind = sum(count * sum(planes) for _, count, planes in head["causes"][at:])
    count, planes = head["causes"][at][1:]
    gaps = data[len(data) - behind :][: count * planes[0]]
    assert (count, np.cumsum([*gaps]).tolist()) == (len(queued), queued.tolist())


@pytest.mark.sweep
@pytest.mark.corpus
def test_metal_pipelines_that_made_a_prediction_slow_are_marked(corpus):
    analysis = kept_analysis(corpus / "bundles" / "quick_probe.trace")
    timeline, compiled = analysis.timeline(), analysis.trace.context["metal_pipelines"].start_ns
    slow = timeline.slow[0]
    during = (compiled >= slow.why.start_ns) & (compiled < slow.why.start_ns + slow.why.duration_ns)
    assert slow.due_to.starts.tolist() == compiled[during].tolist()
    assert {timeline.lanes[lane].title for lane in slow.due_to.lanes} == {"Metal pipelines"}


def test_a_slow_prediction_stays_where_its_waits_are_on_no_lane(samples, monkeypatch):
    timeline = kept_analysis(samples / "captions_concurrent.trace").timeline()
    monkeypatch.setattr("tracekit.report.viewers.lane_columns.MOST_ROWS", len(timeline.lanes[0].starts))
    slow = fit_page(timeline).slow
    assert [len(each.due_to.starts) for each in slow] == [7] * 10
    assert all((each.due_to.rows == -1).all() for each in slow)
    monkeypatch.setattr("tracekit.report.viewers.lane_columns.MOST_ROWS", 0)
    assert fit_page(timeline).slow == ()


def test_lanes_that_are_too_much_for_a_page_say_so(analysis, monkeypatch):
    timeline = analysis.timeline()
    sizes = {lane.title: len(lane.starts) for lane in timeline.lanes}
    core_ml = sizes["Activity"] + sizes["Data"] + sizes["Compute"]
    monkeypatch.setattr("tracekit.report.viewers.lane_columns.MOST_ROWS", core_ml)
    kept = fit_page(timeline)
    assert {lane.title for lane in kept.lanes if len(lane.starts)} == {"Activity", "Data", "Compute"}
    told = {lane.title: lane.words for lane in kept.lanes if sizes[lane.title] and not len(lane.starts)}
    assert told["Neural Engine"] == f"{sizes['Neural Engine']:,} events, too many for a page; tracekit view draws them"
    monkeypatch.setattr("tracekit.report.viewers.lane_columns.MOST_ROWS", sizes["Data"])
    (finding,) = json.loads(payload(analysis.report, fit_page(timeline))[0])["findings"]
    # The loads are on no lane any more, and marked all the same.
    assert (finding["lanes"], finding["loose"]) == ([], 368)
    assert "too many for a page" in html_page(analysis.report, timeline)


def test_a_place_that_calls_several_models_is_one_of_each(samples):
    analysis = kept_analysis(samples / "style_transfer_reload.trace")
    sites = json.loads(payload(analysis.report, analysis.timeline())[0])["sites"]
    assert {(api, model) for api, model, _ in sites} == {("load", None), ("prediction", None)}
    assert all(words.startswith("in StyleCam.StyleView.apply") for _, _, words in sites)


def test_no_text_can_end_the_script_that_holds_it(analysis):
    timeline = analysis.timeline()
    hostile = ("</script><script>alert(1)</script>", "<!--", *timeline.texts[2:])
    meta, _ = payload(analysis.report, replace(timeline, texts=hostile))
    assert "<" not in meta
    assert json.loads(meta)["texts"][:2] == list(hostile[:2])
