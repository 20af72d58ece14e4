"""The report of each sample recording, as everybody can read it in `goldens/`.

A change of the program shows here as a difference that a reviewer sees. `pytest tests/report/test_goldens.py
--update-goldens` writes the files again.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import tracekit
from support.analyses import kept_analysis
from support.choice import sweep_rest
from support.forms import short_text
from support.samples import SAMPLES
from tracekit.documents.report import INCONCLUSIVE_LINES, LINES, report_file
from tracekit.render.forms import ENDINGS, FORMS
from tracekit.report.report import Report, ToolInfo
from tracekit.report.serialize import schema_text

GOLDENS = Path(__file__).parent / "goldens"


WRITTEN = {
    "text": SAMPLES,
    "markdown": ("not_instrumented", "sharpen_8bit", "sharpen_float16", "style_transfer_reload"),
    "json": ("not_instrumented", "sharpen_8bit"),
}
"""Samples by each format that a reviewer can read, where their report shows something that the others do not: the JSON
of these two has nearly all keys. The HTML page says the same in markup."""
GOLDEN_REPORTS = [(sample, name) for name, samples in WRITTEN.items() for sample in samples]
OFTEN = (
    *("captions_concurrent", "meal_planner", "not_instrumented"),
    *("sharpen_8bit", "style_transfer_fixed", "style_transfer_reload"),
)
"""Samples whose reports every change is tested with."""

LINE = 160
"""Characters of a line of JSON in a golden."""

BUNDLES = (("quick_probe", 1), ("fp16_w8_60s_all", 1), ("hello_coreml", 1), ("output", 3))
"""Real recordings with the run that is shown."""


def sample_report(samples: Path, name: str) -> Report:
    """The report of a sample; the version is left out, so that a release changes no golden file."""
    return replace(kept_analysis(samples / f"{name}.trace").report, tool=ToolInfo("tracekit", "0.0.0", None))


def golden_of(name: str, form: str) -> Path:
    return GOLDENS / f"{name}{ENDINGS[form][0]}"


def dense(value: Any, indent: str = "") -> str:
    """JSON with whatever fits a line on one: an interval of evidence, a table, a metric."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) <= LINE or not isinstance(value, dict | list):
        return line
    deeper = f"{indent}  "
    if isinstance(value, list):
        lines, (opening, closing) = [dense(each, deeper) for each in value], "[]"
    else:
        lines = [f"{json.dumps(key)}: {dense(each, deeper)}" for key, each in value.items()]
        opening, closing = "{}"
    inside = ",\n".join(f"{deeper}{line}" for line in lines)
    return f"{opening}\n{inside}\n{indent}{closing}"


def often_first(pairs: list[tuple[str, ...]], ids: list[str]) -> list[Any]:
    """Parameters that begin with the name of a sample; those of all but some samples are left to the sweeps."""
    marks = ((() if name in OFTEN else (pytest.mark.sweep,)) for name, *_ in pairs)
    return [pytest.param(*pair, marks=mark, id=id_) for pair, mark, id_ in zip(pairs, marks, ids, strict=True)]


@pytest.mark.parametrize(
    ("name", "form"), often_first(GOLDEN_REPORTS, [golden_of(*pair).name for pair in GOLDEN_REPORTS])
)
def test_the_report_of_a_sample_is_the_golden_one(name, form, samples, update_goldens):
    text = report_file(sample_report(samples, name), form)
    if form == "json":
        document = json.loads(text)
        assert text == json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        text = dense(document) + "\n"
    same_as_golden(golden_of(name, form), text, update_goldens)


@pytest.mark.parametrize("name", often_first([(name,) for name in SAMPLES], [*SAMPLES]))
def test_the_short_report_of_a_sample_is_the_golden_one(name, samples, update_goldens):
    text = short_text(sample_report(samples, name))
    same_as_golden(GOLDENS / f"{name}.short.txt", text, update_goldens)


@pytest.mark.sweep
@pytest.mark.corpus
@pytest.mark.parametrize(("name", "run"), BUNDLES, ids=[name for name, _ in BUNDLES])
def test_the_short_report_of_a_real_recording_is_the_golden_one(corpus, name, run, update_goldens):
    path = corpus / f"bundles/{name}.trace"
    report = kept_analysis(path).report if run == 1 else tracekit.analyze(path, run=run)
    text = short_text(report)
    same_as_golden(GOLDENS / f"corpus-{name}.short.txt", text, update_goldens)
    assert text.count("\n") <= (LINES if report.summary.evaluated else INCONCLUSIVE_LINES)


def same_as_golden(golden: Path, text: str, update: bool) -> None:
    if update:
        golden.parent.mkdir(exist_ok=True)
        golden.write_bytes(text.encode())
    assert golden.read_bytes().decode() == text, "read the difference; --update-goldens accepts it"


def test_every_sample_has_its_goldens_and_no_golden_is_left_over(samples):
    assert {path.stem for path in samples.glob("*.trace")} == set(SAMPLES)
    assert set(WRITTEN) == {*FORMS, "json"} - {"html"}
    expected = {f"{name}.short.txt" for name in SAMPLES} | {golden_of(*pair).name for pair in GOLDEN_REPORTS}
    expected |= {f"corpus-{name}.short.txt" for name, _ in BUNDLES}
    assert {path.name for path in GOLDENS.iterdir()} == expected


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", sweep_rest(*SAMPLES))
def test_json_obeys_the_schema_and_text_and_markdown_give_its_verdict(name, samples):
    report = sample_report(samples, name)
    document = json.loads(report_file(report, "json"))
    jsonschema.Draft202012Validator(json.loads(schema_text("report"))).validate(document)
    verdict = document["summary"]["verdict"]
    counts = verdict.partition(";")[0].partition(". ")[0].rstrip(".")
    assert " ".join(report_file(report, "text").split()).startswith(counts)
    assert report_file(report, "markdown").startswith(f"**{counts}")
