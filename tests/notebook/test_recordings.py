"""Recordings in a notebook: frames that nothing shares, results that show themselves, and the pages about both."""

from __future__ import annotations

import ast
import json
import re
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

import tracekit
import tracekit.api
from tracekit.documents.report import report_file
from tracekit.request import Request

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def trace(samples):
    return tracekit.read(samples / "style_transfer_reload.trace")


def test_predictions_and_loads_are_those_of_the_session_whose_parts_add_up(trace):
    # WWDC22 session 10027: 373 loads of 6.41 s in all, and as many predictions of 2.69 s.
    assert len(trace.loads) == len(trace.predictions) == 373
    assert trace.loads["duration_ns"].sum() / 1e9 == pytest.approx(6.41, abs=0.005)
    assert trace.predictions["duration_ns"].sum() / 1e9 == pytest.approx(2.69, abs=0.005)

    frame = trace.breakdown()
    assert frame.index.equals(trace.predictions.index)
    parts = frame.loc[:, "neural_engine_ns":"unexplained_ns"]
    assert (parts.sum(axis=1) == frame["duration_ns"]).all()

    frame = tracekit.in_ms(trace.predictions)
    assert {"start_ms", "duration_ms", "resolution_ms"} <= {*frame}
    assert not [name for name in frame if "_ns" in name]
    # 2.69 s in the session.
    assert frame["duration_ms"].sum() == pytest.approx(2690, abs=5)
    assert tracekit.in_ms(trace.predictions["duration_ns"]).equals(frame["duration_ms"])
    assert "median_ms_before" in tracekit.in_ms(trace.without().to_frame())

    assert "; called from StyleCam.StyleView.apply (StyleView.swift:43)" in repr(trace.why())


def test_frames_are_copies(trace, samples):
    for name in ("activity", "data", "compute", "neural_engine", "gpu", "predictions", "loads", "models", "coverage"):
        frame = getattr(trace, name)
        before = frame.copy()
        frame.iloc[:, 0] = frame.iloc[::-1, 0].to_numpy()
        frame["mine"] = 1
        pd.testing.assert_frame_equal(getattr(trace, name), before)

    trace = tracekit.read(samples / "captions_concurrent.trace")
    assert trace.samples is None
    assert trace.stacks is None
    assert trace.core_ml_calls is None


@pytest.mark.sweep
@pytest.mark.corpus
def test_calls_of_core_ml_are_there_where_it_recorded_none(corpus):
    trace = tracekit.read(corpus / "bundles/quick_probe.trace")
    for name in ("samples", "stacks", "core_ml_calls"):
        assert getattr(trace, name) is not getattr(trace, name)
    (load,) = trace.core_ml_calls.query("api == 'load'").to_dict("records")
    assert (load["caller"], load["file"], load["line"]) == ("MambaASRRunner_main", "main.swift", 1514)
    # As in the page.
    assert load["compiling"] == 2954


@pytest.fixture(scope="module")
def report(trace):
    return trace.analyze()


def test_a_report_is_a_frame_and_text(report):
    frame = report.to_frame()
    assert {finding.id for finding in report.findings} == {"reload-before-predict"}
    # One finding, in each of the five models.
    assert [len(finding.models) for finding in report.findings] == [5]
    assert (frame["outcome"] == "finding").sum() == 5
    assert frame.loc[frame["outcome"] != "finding", "savings_ns"].isna().all()
    assert report.to_dict()["summary"]["findings"] == 1
    assert report.to_markdown().startswith("**1 finding (critical) in 5 models")


def test_what_a_notebook_shows_is_short_and_private(trace, report):
    opened = trace.trace
    device = opened.run.device
    assert device is not None
    private = [fact for fact in (device.name, device.uuid) if fact]
    assert len(private) == 2
    texts = [repr(thing) for thing in (trace, opened, report, tracekit.api.judge(opened, Request(redact=False)))]
    assert max(map(len, texts)) < 500
    pages = [page_in(shown) for shown in (trace, report)]
    for shown in (*texts, *pages):
        assert not [fact for fact in private if fact in shown]
    assert max(map(len, pages)) < 300_000


def page_in(shown: object) -> str:
    """The page in the frame that a notebook shows. It is one attribute, and its script cannot reach the notebook."""
    frame = re.fullmatch(
        r'<iframe srcdoc="([^"]*)" sandbox="([^"]*)" style="[^"]*" title="[^"]*"></iframe>', shown._repr_html_()
    )
    assert frame is not None
    assert "allow-same-origin" not in frame[2]
    return unescape(frame[1])


def test_a_report_and_a_trace_show_themselves(report, trace):
    page = page_in(report)
    assert page == report_file(report.analysis.report, "html", report.analysis.timeline())
    assert '<div id="lanes">' in page
    assert 'id="finding-reload-before-predict"' in page

    page = page_in(trace)
    assert '<div id="lanes">' in page
    assert re.findall(r"<h2>(.*?)</h2>", page)[:3] == ["Timeline", "Models", "Latency"]
    assert all(f"<code>{name}</code>" in page for name in trace.models.name)
    # No check ran, so nothing is said of any.
    assert "not evaluated" not in page
    assert "Inconclusive" not in page


def test_several_recordings_are_frames_with_their_names(samples):
    names = ["sharpen_8bit.trace", "sharpen_float16.trace"]
    both = tracekit.read_many(samples / name for name in names)
    for name in ("activity", "predictions", "loads", "neural_engine", "models", "coverage"):
        frame = getattr(both, name)
        assert frame.columns[0] == "recording"
        for recording in names:
            own = getattr(tracekit.read(samples / recording), name)
            assert len(frame[frame["recording"] == recording]) == len(own)
    assert both.predictions["model"].dtype == "category"
    assert both.breakdown()["recording"].value_counts().to_dict() == dict.fromkeys(names, 140)
    # One of these has no call stacks.
    sampled = tracekit.read_many(samples / name for name in (names[0], "captions_concurrent.trace"))
    assert sampled.frame(lambda trace: trace.samples)["recording"].unique().tolist() == names[:1]
    with pytest.raises(tracekit.UsageError, match="is given twice"):
        tracekit.read_many([samples / names[0]] * 2)


def test_analyze_gives_the_same_object_as_that_of_a_trace(report, samples):
    read = tracekit.analyze(samples / "style_transfer_reload.trace")
    assert isinstance(read, tracekit.Report)
    assert type(read) is type(report)
    assert read.to_dict() == report.to_dict()
    assert json.loads(read.to_json())["recording"]["source"] == "style_transfer_reload.trace"
    assert [(entry.id, len(entry.models)) for entry in read.findings] == [("reload-before-predict", 5)]
    assert read.to_markdown() == report.to_markdown()
    pd.testing.assert_frame_equal(read.to_frame(), report.to_frame())
    assert page_in(read) == page_in(report)


def test_what_fixes_would_bring_is_a_frame_and_text(trace, report):
    said = trace.without("reload-before-predict", models="Mosaic")
    frame = said.to_frame()
    assert list(zip(frame["findings"], frame["model"], strict=True)) == [(("reload-before-predict",), "Mosaic")]
    # All loads but the first one go, and predictions take as long as before.
    loads = trace.loads[trace.loads["model"] == "Mosaic"]
    assert frame["saved_ns"][0] == loads["duration_ns"].iloc[1:].sum()
    assert (frame["median_ns_before"] == frame["median_ns_after"]).all()
    assert "Before and after" in page_in(said)
    assert trace.without().replays[0].saved_ns == report.summary.savings_ns
    with pytest.raises(tracekit.UsageError, match="cold-load has no finding"):
        trace.without("cold-load")


def test_one_text_is_one_name(trace, samples):
    path = samples / "style_transfer_reload.trace"
    for analyze in (trace.analyze, lambda **options: tracekit.analyze(path, **options)):
        assert {check.id for check in analyze(only="cold-load").results} == {"cold-load"}
        report = analyze(skip="cold-load", models="Mosaic", budget="30fps")
        assert report.results
        assert "cold-load" not in {check.id for check in report.results}
        assert [model.name for model in report.models] == ["Mosaic"]
        with pytest.raises(tracekit.UsageError, match="unknown check 'e'; list them with `tracekit explain`"):
            analyze(only="e")
    # The table that is asked for is one name too, not a letter each.
    xml = samples / "style_transfer_reload_xml"
    assert tracekit.open_recording(xml, schemas="coreml-os-signpost").tables("coreml-os-signpost")[0].rows


def test_the_code_of_the_page_runs(monkeypatch, capsys, tmp_path):
    # It writes files.
    for folder in ("sample_traces", "sample_models"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(code, names)  # noqa: S102
    printed = capsys.readouterr().out
    assert "373 6.4" in printed
    assert "reload-before-predict" in printed


@pytest.mark.sweep
@pytest.mark.usefixtures("figures")
def test_the_gallery_runs(monkeypatch):
    from matplotlib import pyplot as plt

    monkeypatch.chdir(ROOT / "docs")
    names: dict[str, object] = {}
    cells = [
        cell for cell in json.loads(Path("gallery.ipynb").read_text("utf-8"))["cells"] if cell["cell_type"] == "code"
    ]
    for cell in cells:
        assert not cell["outputs"]
        *lines, last = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(lines, []), "cell", "exec"), names)  # noqa: S102
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
            # As Jupyter does with the last value of a cell.
            getattr(value, "_repr_html_", value.__repr__)()
        else:
            exec(compile(ast.Module([last], []), "cell", "exec"), names)  # noqa: S102
    assert len(plt.get_fignums()) == sum(".plot" in "".join(cell["source"]) for cell in cells) > 5
