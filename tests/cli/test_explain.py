"""`tracekit explain`: one page per detector."""

from __future__ import annotations

import io
import re
import sys

import pytest

from tracekit.detectors.explanation import page_markdown
from tracekit.detectors.model_runner import MODEL_DETECTORS
from tracekit.detectors.registry import DETECTORS


@pytest.mark.parametrize("detector", [*DETECTORS, *MODEL_DETECTORS], ids=lambda detector: detector.id)
def test_the_page_is_markdown_in_a_pipe(tracekit, detector) -> None:
    result = tracekit("explain", detector.id)
    assert (result.status, result.err) == (0, "")
    assert result.out == page_markdown(detector)


def test_the_page_is_laid_out_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from tracekit.cli.main import main

    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", screen)
    assert main(["explain", DETECTORS[0].id]) == 0
    assert "\x1b[3" not in screen.getvalue(), "NO_COLOR is set"
    shown = re.sub(r"\x1b\[[0-9;]*m", "", screen.getvalue())
    assert DETECTORS[0].id in shown
    assert "\n# " not in shown
    assert DETECTORS[0].page.references[0].url.removeprefix("https://")[:20] in shown
    assert max(map(len, shown.splitlines())) <= 60


def test_an_unknown_id_names_the_nearest(tracekit) -> None:
    result = tracekit("explain", "reload-before-predicts")
    assert result.status == 2
    assert "did you mean 'reload-before-predict'?" in result.err
    assert "List them with `tracekit detectors`" in result.err
