"""Figures for services that keep them over time."""

from __future__ import annotations

import json

import jsonschema

from support.gates import GATE, hostile
from tracekit.compare.gate import gate_of
from tracekit.compare.renderers.benchmarks import render_bencher, render_benchmark

BENCHER = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "required": ["value"],
            "properties": {key: {"type": "number"} for key in ("value", "lower_value", "upper_value")},
            "additionalProperties": False,
        },
    },
}
"""https://bencher.dev/docs/reference/bencher-metric-format"""


def test_benchmarks_are_figures_of_which_less_is_better():
    assert json.loads(render_benchmark(GATE)) == [
        {"name": "Net p50", "unit": "ms", "value": 12.0, "range": "11.5 to 12.5", "extra": "100 predictions"},
        {"name": "Net copies", "unit": "per prediction", "value": 2, "extra": "1 recording"},
    ]


def test_bencher_gets_every_figure_with_its_interval():
    document = json.loads(render_bencher(GATE))
    jsonschema.validate(document, BENCHER)
    assert document == {
        "Net": {
            "p50": {"value": 12e6, "lower_value": 11.5e6, "upper_value": 12.5e6},
            "copies": {"value": 2},
            "neural-engine": {"value": 0.75, "lower_value": 0.7, "upper_value": 0.8},
        }
    }


def test_without_figures_they_are_valid_and_empty():
    assert json.loads(render_benchmark(gate_of([]))) == []
    assert json.loads(render_bencher(gate_of([]))) == {}


def test_no_name_steers_a_terminal():
    for render in (render_benchmark, render_bencher):
        assert "\\u001b" not in render(hostile("a\x1b[2J"))
