"""tracekit in a notebook: frames that nothing shares, a report that shows itself, and the page about both."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

import tracekit

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def trace(samples: Path):
    return tracekit.read(samples / "style_transfer_reload.trace")


def test_predictions_and_loads_are_those_of_the_session(trace) -> None:
    # WWDC22 session 10027: 373 loads of 6.41 s in all, and as many predictions of 2.69 s.
    assert len(trace.loads) == len(trace.predictions) == 373
    assert trace.loads["duration_ns"].sum() / 1e9 == pytest.approx(6.41, abs=0.005)
    assert trace.predictions["duration_ns"].sum() / 1e9 == pytest.approx(2.69, abs=0.005)


def test_frames_are_copies(trace) -> None:
    for name in ("activity", "data", "compute", "neural_engine", "gpu", "predictions", "loads", "models", "coverage"):
        frame = getattr(trace, name)
        before = frame.copy()
        frame.iloc[:, 0] = frame.iloc[::-1, 0].to_numpy()
        frame["mine"] = 1
        pd.testing.assert_frame_equal(getattr(trace, name), before)


def test_the_parts_of_a_prediction_add_up(trace) -> None:
    frame = trace.breakdown()
    assert frame.index.equals(trace.predictions.index)
    parts = frame.loc[:, "ane_ns":"unaccounted_ns"]
    assert (parts.sum(axis=1) == frame["duration_ns"]).all()


def test_a_report_is_a_frame_and_text(trace) -> None:
    report = trace.analyze()
    frame = report.to_frame()
    assert {finding.id for finding in report.findings} == {"reload-before-predict"}
    # One finding, in each of the five models.
    assert [len(finding.models) for finding in report.findings] == [5]
    assert (frame["outcome"] == "finding").sum() == 5
    assert frame.loc[frame["outcome"] != "finding", "savings_ns"].isna().all()
    assert report.to_dict()["summary"]["findings"] == 1
    assert report.to_markdown().startswith("#")


def test_what_a_notebook_shows_is_short_and_private(trace) -> None:
    report = trace.analyze()
    for shown in (repr(trace), repr(report), trace._repr_html_(), report._repr_html_()):
        assert len(shown) < 5000
        assert "UUID" not in shown
        assert "Test iPhone" not in shown  # the name of the device


def test_the_code_of_the_page_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(code, names)  # noqa: S102
    printed = capsys.readouterr().out
    assert "373 6.4" in printed
    assert "reload-before-predict" in printed
