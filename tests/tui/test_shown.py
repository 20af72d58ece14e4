"""`view --model`: one model is on screen, and all of the recording was judged."""

import json
from dataclasses import replace

import numpy as np
import pytest

import tracekit
from suite.cases.neural_engine_contention import behind_another_model
from tracekit.api import judge
from tracekit.detectors.pages import Pattern
from tracekit.errors import UsageError
from tracekit.request import Request
from tracekit.testing import Draws, write_export
from tracekit.trace.events import Kind
from tracekit.tui import opening
from tracekit.tui.export import save_report
from tracekit.tui.opening import calls_of
from tracekit.tui.ranges import aggregation
from tracekit.tui.selection import waits_of
from tracekit.tui.state import EventFilter
from tracekit.tui.viewport import Span

NAME = "neural-engine-contention"


@pytest.fixture(scope="module")
def queued(tmp_path_factory):
    """A short model waits for a long one on the Neural Engine in every frame."""
    path = tmp_path_factory.mktemp("queued") / "export"
    write_export(behind_another_model(Draws(1)).finish(), path)
    return path


@pytest.fixture(scope="module")
def report(queued):
    return tracekit.analyze(queued, redact=False)


@pytest.fixture(scope="module")
def waiting(report):
    """The model that waits."""
    (model,) = (check.model for check in report.results if check.id == NAME and check.outcome == "finding")
    return model


@pytest.fixture(scope="module")
def session(queued, waiting):
    return opening.judge_session(opening.read(str(queued), Request(models=(waiting,))))


def test_the_findings_are_those_of_the_whole_recording(session, report, waiting):
    def about(checks):
        return [(check.id, check.outcome, check.metrics, check.cost) for check in checks if check.model == waiting]

    assert list(session.trace.models.name) == [waiting]
    assert sorted(about(session.report.results), key=str) == sorted(about(report.results), key=str)
    assert NAME in {check.id for check in session.report.results if check.outcome == "finding"}


def test_predictions_have_the_parts_that_they_have_among_all(session, waiting):
    whole = calls_of(session.whole_trace)
    own = np.flatnonzero(session.whole_trace.activity.model.take(whole.index).is_any(waiting))
    calls = session.calls
    activity, before = session.trace.activity, session.whole_trace.activity
    assert len(calls) == len(own) == activity.kind.is_any(Kind.PREDICTION).sum()
    np.testing.assert_array_equal(calls.starts, activity.start_ns[calls.index])
    np.testing.assert_array_equal(calls.time_ns, whole.time_ns[:, own])
    np.testing.assert_array_equal(calls.first, whole.first[own])
    for index in calls.index[:3].tolist():
        row = session.label_in_whole_trace(index)
        assert (before.model.item(row), before.start_ns[row]) == (waiting, activity.start_ns[index])


def test_only_waits_for_what_is_shown_are_marked(session, queued, waiting):
    whole = opening.read(str(queued))
    whole = replace(whole, calls=calls_of(whole.trace))
    for each, marked in ((whole, {*whole.trace.models.name} - {waiting}), (session, set())):
        own = each.trace.activity.model.take(each.calls.index).is_any(waiting)
        waits = [waits_of(each, int(index)).rows for index in each.calls.index[own]]
        rows = each.trace.hardware.take(np.unique(np.concatenate(waits)).astype(int))
        assert {*rows.model.as_objects()} == marked


def test_a_filter_that_lets_all_through_counts_what_the_report_counts(session):
    everything = EventFilter(max_ns=1 << 62)
    assert aggregation(session, None, everything) == session.report.aggregation
    assert aggregation(session, session.bounds, everything) == session.report.aggregation


def test_the_report_of_a_range_knows_what_lies_around_it(session, waiting, tmp_path):
    starts = session.calls.starts
    span = Span(int(starts[10]), int(starts[15] - starts[10]))
    save_report(session, span, tmp_path / "range.json", replace=False)
    saved = json.loads((tmp_path / "range.json").read_text("utf-8"))
    assert [(model["name"], model["predictions"], model["loads"]) for model in saved["models"]] == [(waiting, 5, 0)]
    told = {check["id"]: check for check in saved["results"] if check["model"] == waiting}
    whole = {check.id: check for check in session.report.results if check.model == waiting}
    assert told[NAME]["cost"]["ns"] == whole[NAME].cost.ns
    # Nothing passes in a part that did not pass in the whole.
    assert all(whole[name].outcome == "passed" for name, check in told.items() if check["outcome"] == "passed")
    save_report(session, Span(session.bounds.end_ns, 1), tmp_path / "after.json", replace=False)
    saved = json.loads((tmp_path / "after.json").read_text("utf-8"))
    found = [check for check in saved["results"] if check["outcome"] == "finding"]
    assert {check["pattern"] for check in found} <= {str(Pattern.RECORDING)}
    assert not saved["models"]


def test_the_page_of_a_range_draws_the_lanes_of_the_range(session, tmp_path):
    starts = session.calls.starts
    span = Span(int(starts[10]), int(starts[15] - starts[10]))
    save_report(session, span, tmp_path / "range.html", replace=False)
    page = (tmp_path / "range.html").read_text("utf-8")
    lanes = json.loads(page.partition('id="lanes-meta">')[2].partition("</script>")[0])["lanes"]
    activity = next(lane for lane in lanes if lane["id"] == "activity")
    assert 5 <= activity["count"] < len(session.whole_trace.activity)
    assert span.start_ns <= activity["first"] < span.end_ns


def test_a_range_of_everything_is_everything(session, tmp_path):
    bounds = session.bounds
    save_report(session, Span(bounds.start_ns, bounds.span_ns), tmp_path / "all.json", replace=False)
    saved = json.loads((tmp_path / "all.json").read_text("utf-8"))
    again = judge(session.whole_trace, shown=session.shown)
    assert [check["id"] for check in saved["results"]] == [check.id for check in again.results]
    assert saved["summary"]["savings_ns"] == again.summary.savings_ns


def test_a_name_that_is_not_there_is_refused_before_anything_is_shown(queued, waiting):
    with pytest.raises(UsageError, match="unknown model 'Nothing'"):
        opening.read(str(queued), Request(models=("Nothing",)))
