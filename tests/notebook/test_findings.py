"""What a notebook asks of a report, of a check and of a folder."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import tracekit


@pytest.fixture(scope="module")
def trace(samples):
    return tracekit.read(samples / "sharpen_8bit.trace")


def test_a_finding_says_what_was_found_and_where(trace):
    report = trace.analyze()
    finding = report.findings[0]
    assert finding.id == "excess-data-copies"
    assert finding.summary.startswith("SharpenFilter: Copies and conversions take a mean 3.62 ms of each 12.4 ms")
    assert "IOSurface" in finding.fix
    assert finding.code == ["Sharpen.PhotoFilter.sharpen (PhotoFilter.swift:31)"]
    assert finding.savings == "up to 4.18 of 12.4 ms per prediction (34%)"
    longest = finding.evidence.assign(ns=finding.evidence.end_ns - finding.evidence.start_ns).ns
    assert len(longest) == 50
    assert round(longest.max() / 1e6, 2) == 1.52
    assert repr(report.models[0]) == "<Model SharpenFilter: 1 loads, 140 predictions, median 12.4 ms>"


def test_it_is_saved_in_the_form_that_the_name_says(trace, tmp_path):
    report = trace.analyze()
    for ending, begins in (("html", "<!doctype html>"), ("md", "**"), ("json", "{")):
        report.save(tmp_path / f"report.{ending}")
        assert (tmp_path / f"report.{ending}").read_text("utf-8").startswith(begins)
    assert report.to_html() == (tmp_path / "report.html").read_text("utf-8")
    assert "results" not in json.loads(report.to_json())["findings"][0]
    with pytest.raises(tracekit.UsageError, match="unknown extension"):
        report.save(tmp_path / "report.pdf")
    with pytest.raises(tracekit.TracekitError, match="cannot write"):
        report.save(tmp_path / "gone" / "report.md")


def test_frames_hold_no_empty_columns_and_models_have_their_latency(trace):
    assert not trace.predictions.isna().all().any()
    [model] = trace.models[["name", "loads", "median_ns", "p95_ns"]].itertuples(index=False)
    # The first prediction follows a load, so it is not warm.
    warm = trace.predictions.duration_ns.iloc[1:]
    assert tuple(model) == ("SharpenFilter", 1, warm.median(), warm.quantile(0.95))


def test_sql_why_and_check_answer_as_the_commands_do(trace, samples):
    counted = trace.sql("select model, count(*) as n from predictions group by all")
    pd.testing.assert_frame_equal(counted, pd.DataFrame({"model": ["SharpenFilter"], "n": [140]}))
    with pytest.raises(tracekit.UsageError, match="nosuch"):
        trace.sql("from nosuch")
    path = samples / "sharpen_8bit.trace"
    assert repr(tracekit.why(path)) == repr(trace.why())
    assert tracekit.check(path, limits={"p95": "20ms", "first-load": "1s"}).verdict == "passed"
    assert tracekit.check(path, limits={"p95": "10ms"}).verdict == "failed"
    with pytest.raises(tracekit.UsageError, match="did you mean 'p95'"):
        tracekit.check(path, limits={"p96": "10ms"})


def test_a_folder_is_its_recordings_and_a_wrong_name_is_answered_with_the_right_one(samples, tmp_path):
    for name in ("sharpen_8bit", "sharpen_float16"):
        (tmp_path / f"{name}.trace").symlink_to(samples / f"{name}.trace")
    both = tracekit.read(tmp_path)
    assert isinstance(both, tracekit.LoadedTraces)
    assert both.predictions.recording.value_counts().to_dict() == dict.fromkeys(both.traces, 140)
    with pytest.raises(AttributeError, match="did you mean 'analyze'"):
        tracekit.anlyze  # noqa: B018


def test_classes_have_the_names_that_are_exported(trace):
    for given in (trace, trace.analyze(), trace.analyze().findings[0], trace.why(), trace.without()):
        assert getattr(tracekit, type(given).__name__) is type(given)
