"""Models that the main thread loads."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import NotEvaluated
from tracekit.testing import Draws, Model, cpu
from tracekit.testing.recorder import App, start_recording
from tracekit.testing.scenario import CORE_ML

ID = "load-on-main-thread"
MS = 1_000_000
NET = Model("Net")


@pytest.fixture
def app() -> App:
    app = start_recording(Draws(3), jitter=0, noise=False, code=True)
    app.code.on_main = True
    return app


def test_the_finding_names_model_function_and_time(app: App, judge) -> None:
    app.load(NET, 400 * MS)
    app.code.on_main = False
    app.predict(NET, cpu(100 * MS), inputs=0)
    finding = judge(app.finish(), ID)[None]
    assert finding.summary == "The main thread makes 1 load of Net and does nothing else for 400 ms."
    assert finding.cost.ns == 400 * MS
    assert finding.cost.share == pytest.approx(0.8, abs=0.01)
    assert [(entry.start_ns, entry.end_ns - entry.start_ns) for entry in finding.evidence] == [(200 * MS, 400 * MS)]
    (site,) = finding.call_sites
    assert (site.function, site.thread) == ("App.apply", "main")


def test_samples_alone_are_enough(app: App, judge) -> None:
    app.load(NET, 400 * MS)
    app.scenario.emptied.add(CORE_ML)
    finding = judge(app.finish(), ID)[None]
    assert finding.summary == (
        "The main thread makes 1 load of model loaded at Style.swift:42 and does nothing else for 400 ms."
    )
    assert finding.call_sites[0].inferred


def test_without_symbols_or_samples_the_answer_says_so(app: App, judge) -> None:
    assert isinstance(judge(app.finish(), ID)[None], NotEvaluated)
    silent = start_recording(Draws(3), noise=False)
    silent.load(NET, 900 * MS)
    assert "not exported" in judge(silent.finish(), ID)[None].reason
