"""Text and Markdown about models fit their place, whatever the model."""

from __future__ import annotations

import pytest

from support.models import MODELS
from tracekit.detectors.model_runner import run_model_detectors
from tracekit.model_files import parse_target
from tracekit.report.model_report import model_report
from tracekit.report.model_words import card
from tracekit.report.renderers.model_markdown import render_model_markdown
from tracekit.report.renderers.model_text import render_model

NAMES = [name.partition(".")[0] for name in MODELS] + ["multifunction"]


def report_on(inspected, name: str):
    target = parse_target("iOS16")
    return model_report(inspected(name), run_model_detectors(inspected(name), target), target)


@pytest.mark.parametrize("name", NAMES)
def test_every_model_fits_every_width(inspected, name: str) -> None:
    report = report_on(inspected, name)
    for width in (30, 60, 100):
        for verbose in (False, True):
            lines = render_model(report, width=width, color=False, verbose=verbose).splitlines()
            assert max(map(len, lines)) <= width
    short = render_model(report, width=100, color=False).splitlines()
    assert len(short) <= 45
    assert short[-2 if report.summary.findings else -1].endswith(("not applicable", "passed", "not evaluated"))


def test_each_function_has_its_interface(inspected) -> None:
    text = render_model(report_on(inspected, "multifunction"), width=100, color=False)
    assert "INTERFACE of decode" in text
    assert "INTERFACE of encode" in text


def test_a_card_tells_functions_and_states_apart(inspected) -> None:
    both = [value for name, value in card(report_on(inspected, "multifunction").model) if name == "function"]
    assert both == ["decode", "encode"]
    facts = list(card(report_on(inspected, "stateful").model))
    assert ("state", "memory, Float16, 1 × 4") in facts
    assert ("input", "x, Float16, 1 × 4") in facts
    assert "function" not in dict(facts)
    assert dict(card(report_on(inspected, "custom_layer").model))["custom layers"] == "AppOwnLayer"


def test_stages_and_custom_layers_are_named(inspected) -> None:
    stages = render_model(report_on(inspected, "pipeline"), width=100, color=False)
    assert "pipeline of 2 stages" in stages
    assert "2 stage 2, neural network, 1 operation: between (Double) → y (Double)" in stages
    assert "custom layers: AppOwnLayer" in render_model(report_on(inspected, "custom_layer"), width=100, color=False)


def test_what_compression_could_save(inspected) -> None:
    """9,216 weights of two bytes: one byte each; six or four bits and a palette; half of them and a mask."""
    text = render_model(report_on(inspected, "float16_interface"), width=100, color=False)
    assert "18.4 KB, 9,216 parameters, in a file of the package" in text
    assert "8-bit quantization −9.22 KB" in text
    assert "4-bit palettes −13.8 KB" in text
    assert "pruning of half −8.06 KB" in text
    packed = render_model(report_on(inspected, "palettized_groups"), width=100, color=False)
    assert "4.74 KB in 1 tensor: 4-bit palettized, per group" in packed
    assert "could save" not in packed


def test_the_estimates_are_what_coremltools_makes(inspected) -> None:
    savings = {
        entry.technique: entry.bytes for entry in report_on(inspected, "float16_interface").model.weights.savings
    }
    made = {name: inspected(name).weights.bytes for name in ("quantized_8bit", "palettized_4bit", "pruned")}
    assert savings["4-bit palettes"] == made["palettized_4bit"]
    assert savings["pruning of half"] == made["pruned"]
    assert savings["8-bit quantization"] == pytest.approx(made["quantized_8bit"], rel=0.02)


def test_markdown_holds_the_fix_and_all_checks(inspected) -> None:
    text = render_model_markdown(report_on(inspected, "passed_state"))
    assert "## SPEED: State is passed in and out of every prediction" in text
    assert "ct.StateType(" in text
    assert "| input | `cache_in` | Float32 | 2 × 64 × 32 |" in text
    assert text.count("| `") > 11
