"""Both readers of exports lead to the same report, to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording.bundle.test_round_trip import random_scenario

from support.forms import html_page
from support.samples import SAMPLES
from tracekit.api import analysis_of
from tracekit.errors import TracekitError
from tracekit.recording.export import loading
from tracekit.report.serialize import to_json
from tracekit.testing import write_export

pytest.importorskip("tracekit.recording.export._scan", reason="the scanner is not built: there was no C compiler")

SOME, EVERY = 1, 200
"""Random scenarios of an ordinary run, and with `--every-case`."""


def said_of(path: Path) -> tuple[str, ...]:
    """The report as JSON, with all that comparisons need, and as a page with its lanes; or the error in its place."""
    try:
        analysis = analysis_of(path)
        return to_json(analysis.measured_report()), html_page(analysis.report, analysis.timeline())
    except TracekitError as error:
        return (str(error),)


def both(path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> tuple[int, tuple[str, ...]]:
    """How many files the scanner read, and what both readers led to."""
    caplog.set_level("INFO", logger="tracekit")
    caplog.clear()
    fast = said_of(path)
    scanned = caplog.text.count("with the compiled scanner")
    with monkeypatch.context() as patch:
        patch.setattr(loading, "scanned", None)
        caplog.clear()
        strict = said_of(path)
    assert "with the compiled scanner" not in caplog.text
    assert fast == strict, path.name
    return scanned, fast


@pytest.fixture
def every(request: pytest.FixtureRequest) -> bool:
    """Whether to try all cases: each takes two analyses."""
    return bool(request.config.getoption("--every-case"))


def test_samples(every: bool, exports: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    for sample in list(SAMPLES)[slice(None) if every else slice(4, 5)]:
        scanned, said = both(exports / sample, monkeypatch, caplog)
        assert scanned > 5, sample
        assert len(said) == 2, sample


@pytest.mark.sweep
@pytest.mark.corpus
def test_real_exports(
    every: bool, corpus: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    paths = sorted((corpus / "xml").glob("*.xml"))[:: 1 if every else 8]
    found = [both(path, monkeypatch, caplog) for path in paths]
    assert sum(scanned > 0 for scanned, _ in found) > len(paths) / 3


def test_random_scenarios(
    every: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for seed in range(1, 1 + (EVERY if every else SOME)):
        path = tmp_path / str(seed)
        write_export(random_scenario(seed), path)
        scanned, said = both(path, monkeypatch, caplog)
        assert scanned > 0, seed
        assert len(said) == 2, seed
