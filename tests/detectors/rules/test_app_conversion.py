"""Conversions of the app between predictions."""

from __future__ import annotations

import pytest

from support.scenarios import CONVERT_PIXELS
from tracekit.detectors.outcomes import Passed
from tracekit.testing import Draws, Model, cpu
from tracekit.testing.recorder import App, start_recording
from tracekit.testing.stacks import PREDICT, app_function, c_function, objective_c

ID = "app-conversion"
MS = 1_000_000
NET = Model("Net")
PACK = app_function("pack", 120, "Input.swift")


@pytest.fixture
def app() -> App:
    return start_recording(Draws(3), jitter=0, noise=False, code=True)


def between(app: App, *frames) -> None:
    """Two predictions of 20 ms, and 30 ms of these functions between them."""
    app.predict(NET, cpu(20 * MS), inputs=0)
    app.busy(30 * MS, *frames)
    app.predict(NET, cpu(20 * MS), inputs=0)


@pytest.mark.parametrize(
    "function",
    [
        CONVERT_PIXELS,
        objective_c("CoreImage", "-[CIContext render:toCVPixelBuffer:]"),
        objective_c("AVFAudio", "-[AVAudioConverter convertToBuffer:fromBuffer:error:]"),
        c_function("/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics", "CGContextDrawImage"),
    ],
)
def test_conversions_between_predictions_are_found_with_their_function(app: App, judge, function) -> None:
    between(app, function, PACK)
    finding = judge(app.finish(), ID)[None]
    assert finding.cost.ns == 30 * MS
    (site,) = finding.call_sites
    assert (site.function, site.line, site.samples, site.api) == ("App.pack", 120, 30, "between calls")


def test_other_work_and_conversions_of_core_ml_are_in_order(app: App, judge) -> None:
    between(app, PACK)
    app.busy(30 * MS, CONVERT_PIXELS, *PREDICT)
    app.predict(NET, cpu(20 * MS), inputs=0)
    assert isinstance(judge(app.finish(), ID)[None], Passed)
