"""From a late frame to the prediction behind it and its line."""

from __future__ import annotations

from functools import partial

import numpy as np

from tests.tui.conftest import kept_judged
from tracekit.analysis.frames.late import late_frames
from tracekit.report.late_lane import LATE
from tracekit.tui import opening


def test_two_keys_lead_from_a_late_frame_to_its_prediction_and_its_line(run_view, samples, monkeypatch):
    monkeypatch.setattr(opening, "judge_session", partial(kept_judged, only=("model-delays-frames",)))

    async def test(screen) -> None:
        found = late_frames(screen.state.session.whole_trace)
        first = int(np.flatnonzero(found.counted)[0])
        screen.app.change(lane=LATE, cursor_ns=int(found.start_ns[first]))
        await screen.press("n")
        assert screen.state.selection.event.frame == LATE
        row = screen.state.selection.event.index
        assert f"({found.strength.item(row)})" in " ".join(screen.text().split())
        await screen.press("P")
        assert screen.state.selection.prediction == found.call[row]
        await screen.press("W")
        assert "LiveFilter.swift:64" in screen.text()

    run_view(test, samples / "camera_hitches.trace", size=(200, 50))
