"""Text and Markdown about models fit their place, whatever the model."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from support.forms import too_long
from support.models import MODELS
from tracekit.documents.model_file import model_file_document
from tracekit.model_files.engine_limits import Certainty, Limit
from tracekit.render.forms import render
from tracekit.report.model_report import EngineObstacle, model_report
from tracekit.report.model_words import card
from tracekit.report.serialize import to_json


def text_of(report, width, verbose=False):
    return render(model_file_document(report), "text", width=width, verbose=verbose)


NAMES = [name.partition(".")[0] for name in MODELS] + ["multifunction"]


def report_on(inspected, name: str):
    return model_report(inspected(name), "iOS16")


@pytest.mark.turns(5)
@pytest.mark.parametrize("name", NAMES)
def test_every_model_fits_every_width(inspected, name):
    report = report_on(inspected, name)
    short = text_of(report, 100)
    assert not too_long(short, 100, report.results)
    for width, verbose in ((30, False), (30, True), (100, True)):
        assert not too_long(text_of(report, width, verbose), width, report.results)
    short = short.splitlines()
    assert len(short) <= 50
    assert short[0].startswith("Will ")
    assert any(line.endswith(("not applicable", "passed", "not evaluated")) for line in short)


def test_a_page_draws_which_operations_a_limit_keeps_from_the_neural_engine(inspected, tmp_path):
    report = report_on(inspected, "multifunction")
    info = replace(report.neural_engine[0], operations=20, pieces=5, by_file="", obstacles=())
    limit = Limit("unsupported-operation", "missing there", Certainty.MEASURED, "")
    obstacles = tuple(EngineObstacle(number, "gather", f"op{number}", limit, "") for number in (5, 6, 12))
    pages = {
        many: render(
            model_file_document(replace(report, neural_engine=(replace(info, obstacles=of),))), "html", width=100
        )
        for many, of in (("some", obstacles), ("whole", (*obstacles, replace(obstacles[0], number=None))), ("none", ()))
    }
    drawn = re.findall(r'<rect x="(\d+)" y="0" width="(\d+)" height="10" class="limited"/>', pages["some"])
    # Each operation is a twentieth of the width, in its order.
    assert drawn == [("20", "5"), ("25", "5"), ("55", "5")]
    assert "20 operations in their order: 5 pieces on alternating compute units" in pages["some"]
    assert 'class="limited"' not in pages["whole"] + pages["none"]


def test_each_function_has_its_interface(inspected):
    text = text_of(report_on(inspected, "multifunction"), 100)
    assert "INTERFACE OF DECODE" in text
    assert "INTERFACE OF ENCODE" in text


def test_a_card_tells_functions_and_states_apart(inspected):
    both = [value for name, value in card(report_on(inspected, "multifunction").model) if name == "function"]
    assert both == ["decode", "encode"]
    facts = list(card(report_on(inspected, "stateful").model))
    assert ("state", "memory, Float16, 1 × 4") in facts
    assert ("input", "x, Float16, 1 × 4") in facts
    assert "function" not in dict(facts)
    assert dict(card(report_on(inspected, "custom_layer").model))["custom layers"] == "AppOwnLayer"


def test_sizes_of_images_say_which_is_which(inspected):
    """In the redacted report, whose texts are copies."""
    report = report_on(inspected, "image_classifier")
    (row,) = [line.split(maxsplit=5) for line in text_of(report, 100).splitlines() if line.startswith("  input ")]
    assert row[2:] == ["BGR", "image,", "8-bit", "320 × 299 (width × height), range: 320 or more × 299 or more"]
    listed = dict(card(report_on(inspected, "image_sizes").model))["input"]
    assert listed.endswith("8 × 8 (width × height), listed: 8 × 8 | 24 × 16")
    shape = json.loads(to_json(report))["model"]["functions"][0]["inputs"][0]["shape"]
    assert (shape["dimensions"], shape["axes"]) == ([299, 320], ["height", "width"])


def test_stages_and_custom_layers_are_named(inspected):
    stages = text_of(report_on(inspected, "pipeline"), 100)
    assert "pipeline of 2 stages" in stages
    assert "stage 2, neural network, 1 operation: between (Double) → y (Double)" in stages
    assert "custom layers: AppOwnLayer" in text_of(report_on(inspected, "custom_layer"), 100)


def test_what_compression_could_save(inspected):
    """9,216 weights of two bytes: one byte each; six or four bits and a palette; half of them and a mask."""
    text = text_of(report_on(inspected, "float16_interface"), 100)
    assert "18.4 KB, 9,216 parameters, in a file of the package" in text
    rows = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
    assert ["8-bit quantization", "9.22 KB"] in [row[:2] for row in rows]
    assert ["4-bit palettes", "13.8 KB"] in [row[:2] for row in rows]
    assert ["pruning of half", "8.06 KB"] in [row[:2] for row in rows]
    packed = text_of(report_on(inspected, "palettized_groups"), 100)
    rows = [re.split(r"\s{2,}", line.strip()) for line in packed.splitlines()]
    assert ["4-bit palettized, per group", "1", "9,216", "4.74 KB"] in rows
    assert "could save" not in packed


def test_the_estimates_are_what_coremltools_makes(inspected):
    savings = {
        entry.technique: entry.bytes for entry in report_on(inspected, "float16_interface").model.weights.savings
    }
    made = {name: inspected(name).weights.bytes for name in ("quantized_8bit", "palettized_4bit", "pruned")}
    assert savings["4-bit palettes"] == made["palettized_4bit"]
    assert savings["pruning of half"] == made["pruned"]
    assert savings["8-bit quantization"] == pytest.approx(made["quantized_8bit"], rel=0.02)


def test_markdown_holds_the_fix_and_all_checks(inspected):
    text = render(model_file_document(report_on(inspected, "passed_state")), "markdown", width=100)
    assert "### Speed: State is passed in and out of every prediction" in text
    assert "ct.StateType(" in text
    assert "| input | `cache_in` | Float32 | 2 × 64 × 32 |" in text
    assert all(check.id in text for check in report_on(inspected, "passed_state").results)
