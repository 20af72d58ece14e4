"""The report of each sample recording, as everybody can read it in `goldens/`.

A change of the program shows here as a difference that a reviewer sees. `pytest tests/report/test_goldens.py
--update-goldens` writes the files again.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import tracekit
from support.analyses import kept_analysis
from tracekit.report.renderers.concise import render_concise
from tracekit.report.renderers.formats import RENDERERS
from tracekit.report.report import Report, ToolInfo

GOLDENS = Path(__file__).parent / "goldens"

SAMPLES = (
    "captions_concurrent",
    "not_instrumented",
    "sharpen_8bit",
    "sharpen_float16",
    "style_transfer_fixed",
    "style_transfer_reload",
)


WRITTEN = {name: renderer for name, renderer in RENDERERS.items() if renderer.draw is None}
"""Formats that a reviewer can read; the HTML page says the same in markup."""

BUNDLES = (("quick_probe", 1), ("fp16_w8_60s_all", 1), ("hello_coreml", 1), ("output", 3))
"""Real recordings with the run that is shown."""


@pytest.fixture(scope="module", params=SAMPLES)
def sample(request: pytest.FixtureRequest, samples: Path) -> tuple[str, Report]:
    """Name and report of a sample; the version is left out, so that a release changes no golden file."""
    name = str(request.param)
    return name, replace(kept_analysis(samples / f"{name}.trace").report, tool=ToolInfo("tracekit", "0.0.0", None))


@pytest.mark.parametrize("renderer", WRITTEN.values(), ids=WRITTEN)
def test_the_report_of_a_sample_is_the_golden_one(sample, renderer, update_goldens: bool) -> None:
    name, report = sample
    golden = GOLDENS / f"{name}{renderer.extensions[0]}"
    same_as_golden(golden, renderer.render(report), update_goldens)


def test_the_short_report_of_a_sample_is_the_golden_one(sample, update_goldens: bool) -> None:
    name, report = sample
    same_as_golden(GOLDENS / f"{name}.short.txt", render_concise(report, width=100, color=False), update_goldens)


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "run"), BUNDLES, ids=[name for name, _ in BUNDLES])
def test_the_short_report_of_a_real_recording_is_the_golden_one(
    corpus: Path, name: str, run: int, update_goldens: bool
) -> None:
    report = tracekit.analyze(corpus / f"bundles/{name}.trace", run=run)
    text = render_concise(report, width=100, color=False)
    same_as_golden(GOLDENS / f"corpus-{name}.short.txt", text, update_goldens)
    assert text.count("\n") <= 40


def same_as_golden(golden: Path, text: str, update: bool) -> None:
    if update:
        golden.parent.mkdir(exist_ok=True)
        golden.write_bytes(text.encode())
    assert golden.read_bytes().decode() == text, "read the difference; --update-goldens accepts it"


def test_every_sample_has_its_goldens_and_no_golden_is_left_over(samples: Path) -> None:
    assert {path.stem for path in samples.glob("*.trace")} == set(SAMPLES)
    endings = [".short.txt", *(renderer.extensions[0] for renderer in WRITTEN.values())]
    expected = {f"{name}{ending}" for name in SAMPLES for ending in endings}
    expected |= {f"corpus-{name}.short.txt" for name, _ in BUNDLES}
    assert {path.name for path in GOLDENS.iterdir()} == expected


def test_text_and_markdown_give_the_verdict_of_the_json() -> None:
    for name in SAMPLES:
        verdict = json.loads((GOLDENS / f"{name}.json").read_text("utf-8"))["summary"]["verdict"]
        assert " ".join((GOLDENS / f"{name}.txt").read_text("utf-8").split()).startswith(verdict)
        # Markdown starts with the summary line of the screen.
        counts = verdict.partition(";")[0].partition(". ")[0].rstrip(".")
        assert (GOLDENS / f"{name}.md").read_text("utf-8").startswith(f"## {counts}")
