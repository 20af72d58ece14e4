"""Multi-arrays that the app reads or writes element by element."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.analyses import kept_analysis
from support.scenarios import READ_ELEMENT, WRITE_ELEMENT
from tracekit.detectors import value_of
from tracekit.detectors.outcomes import Finding, NotApplicable, NotEvaluated
from tracekit.testing import Draws, Model, cpu
from tracekit.testing.recorder import App, start_recording
from tracekit.testing.stacks import app_function

ID = "element-wise-access"
MS = 1_000_000
NET = Model("Net")
FILL, READ = app_function("fill", 10, "Input.swift"), app_function("read", 90, "Output.swift")


@pytest.fixture
def app() -> App:
    return start_recording(Draws(3), jitter=0, noise=False, code=True)


def test_the_finding_tells_share_functions_and_time(app: App, judge) -> None:
    app.predict(NET, cpu(57 * MS), inputs=0)
    others = len(app.scenario.samples)
    app.busy(10 * MS, WRITE_ELEMENT, FILL)
    app.now_ns += 20 * MS
    app.busy(30 * MS, READ_ELEMENT, READ)
    finding = judge(app.finish(), ID)[None]
    assert f"40 of {others + 40} samples" in finding.summary
    assert (finding.cost.ns, finding.cost.share) == (40 * MS, pytest.approx(40 / (others + 40)))
    assert [(site.function, site.line, site.samples) for site in finding.call_sites] == [
        ("App.read", 90, 30),
        ("App.fill", 10, 10),
    ]
    assert [entry.end_ns - entry.start_ns for entry in finding.evidence] == [30 * MS, 10 * MS]


def test_a_thread_that_never_touches_elements_does_not_count(app: App, judge) -> None:
    app.predict(NET, cpu(300 * MS), inputs=0)
    app.code.thread = 2
    app.busy(30 * MS, READ_ELEMENT, READ)
    finding = judge(app.finish(), ID)[None]
    assert isinstance(finding, Finding)
    assert "30 of 30 samples" in finding.summary


def test_too_few_samples_and_no_core_ml_are_no_verdict(app: App, judge) -> None:
    app.predict(NET, cpu(9 * MS), inputs=0)
    assert isinstance(judge(app.finish(), ID)[None], NotEvaluated)
    other = start_recording(Draws(3), noise=False, code=True)
    other.busy(200 * MS, READ)
    assert isinstance(judge(other.finish(), ID)[None], NotApplicable)


@pytest.mark.sweep
@pytest.mark.corpus
@pytest.mark.parametrize(("name", "samples"), [("fp16_w8_60s_all", 114), ("quick_probe", 97)])
def test_public_recordings_have_it(corpus: Path, name: str, samples: int) -> None:
    report = kept_analysis(corpus / f"bundles/{name}.trace").report
    (check,) = (check for check in report.results if check.id == ID)
    assert (check.outcome, value_of(check.metrics, "samples")) == ("finding", samples)
    assert [(site.function, site.file, site.line) for site in check.call_sites] == [
        ("MambaASRRunner.runStreaming", "main.swift", 1281)
    ]
