"""Nothing of call stacks leaves but names: no address, no path, and on request no name of the app's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.analyses import kept_analysis
from support.forms import short_text
from support.scenarios import READ_ELEMENT
from tracekit.cli.dispatch import main
from tracekit.documents.report import report_file
from tracekit.render.forms import REPORT_FORMS
from tracekit.report.report import Report
from tracekit.testing import Draws, Model, cpu, start_recording, write_bundle
from tracekit.testing.stacks import app_function

ADDRESS = re.compile(r"0x[0-9a-fA-F]{9,}")
"""Code lies above 4 GB. Offsets into images and ids of the GPU's work are shorter."""
MS = 1_000_000


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    """A recording of an app in a home folder, with a finding of each sort."""
    app = start_recording(Draws(3), jitter=0, noise=False, code=True)
    for _ in range(10):
        app.load(Model("Net"), 20 * MS)
        app.predict(Model("Net"), cpu(5 * MS), inputs=0)
        app.busy(5 * MS, READ_ELEMENT, app_function("decode", 90, "Secret.swift"))
    return write_bundle(app.finish(), tmp_path_factory.mktemp("code") / "a.trace", rows_per_block=64)


def outputs(report: Report) -> list[str]:
    return [*(report_file(report, name) for name in REPORT_FORMS), short_text(report)]


def trees(path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    texts = []
    for form in ("text", "collapsed", "speedscope"):
        assert main(["stacks", str(path), "--quiet", "--format", form]) == 0
        texts.append(capsys.readouterr().out)
    return texts


def test_no_output_has_a_path_or_an_address(bundle, capsys):
    for text in (*outputs(kept_analysis(bundle, redact=False).report), *trees(bundle, capsys)):
        assert "somebody" not in text
        assert not ADDRESS.search(text)


def test_names_of_functions_and_files_are_hidden_on_request(bundle):
    naming = [text for text in outputs(kept_analysis(bundle).report) if "App.apply" in text]
    assert len(naming) == 5
    hidden = kept_analysis(bundle, functions=False).report
    texts = outputs(hidden)
    for text in texts:
        assert not re.search(r"App\.(apply|run|decode|main)|Style\.swift|Secret\.swift", text)
    assert sum("function A" in text for text in texts) == 5
    # One name stands for one function throughout.
    names = {site.function for check in hidden.results for site in check.call_sites}
    assert names <= {site.function for site in hidden.code.call_sites}


def test_a_page_without_names_has_no_flame_graph(bundle):
    for functions in (True, False):
        analysis = kept_analysis(bundle, functions=functions)
        timeline = analysis.timeline()
        assert (timeline.flame is not None) == functions
        assert ("App.apply" in report_file(analysis.report, "html", timeline)) == functions


def test_the_flag_hides_them_on_screen(bundle, capsys):
    assert main(["analyze", str(bundle), "--no-functions"]) == 0
    screen = capsys.readouterr().out
    assert "function A" in screen
    assert "Style.swift" not in screen


@pytest.mark.sweep
@pytest.mark.corpus
def test_no_output_of_a_public_recording_has_an_address(corpus, capsys):
    path = corpus / "bundles/quick_probe.trace"
    for text in (*outputs(kept_analysis(path).report), *trees(path, capsys)):
        assert not ADDRESS.search(text)
