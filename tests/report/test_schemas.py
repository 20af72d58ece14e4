"""The JSON Schemas of reports on model files and of performance reports: what is written obeys them, key for key."""

from __future__ import annotations

import json
import types
import typing
from dataclasses import fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from support.models import MODELS
from support.performance_reports import article_2026, coremltools_json, dumped_json, profiler_json, wwdc22
from tracekit.detectors import outcomes, pages
from tracekit.detectors.model_runner import run_model_detectors
from tracekit.model_files import compression, facts, parse_target
from tracekit.model_files.performance import facts as performance_facts
from tracekit.model_files.performance import own, report_of
from tracekit.report import model_report, performance
from tracekit.report.renderers.serialize import SCHEMAS, schema_text, to_json
from tracekit.report.report import DRAWN, Check, ToolInfo

KINDS = ("model", "performance")
SCHEMA: dict[str, dict[str, Any]] = {kind: json.loads(schema_text(kind)) for kind in KINDS}
CLASSES: dict[str, dict[str, type]] = {
    "model": {
        "": model_report.ModelReport,
        "tool": ToolInfo,
        "model": model_report.ModelInfo,
        "function": model_report.FunctionInfo,
        "feature": facts.Feature,
        "shape": facts.Shape,
        "size_range": facts.SizeRange,
        "conversion": facts.Conversion,
        "weights": model_report.WeightsInfo,
        "weight_group": model_report.WeightGroup,
        "saving": compression.Saving,
        "metadata": model_report.MetadataInfo,
        "target": model_report.TargetInfo,
        "check": Check,
        "metric": outcomes.Metric,
        "reference": pages.Reference,
        "summary": model_report.ModelSummary,
    },
    "performance": {
        "": performance.InspectedPerformance,
        "tool": ToolInfo,
        "performance": performance_facts.PerformanceReport,
        "timing": performance_facts.Timing,
        "operation": performance_facts.PlannedOperation,
        "hand_off": performance_facts.Transition,
        "summary": performance.PerformanceSummary,
    },
}
"""By schema: the dataclass behind each definition."""
DEFINITIONS = [(kind, name) for kind in KINDS for name in CLASSES[kind]]
NAMES = ["multifunction", *(name.partition(".")[0] for name in MODELS)]


def definition(kind: str, name: str) -> dict[str, Any]:
    return SCHEMA[kind]["$defs"][name] if name else SCHEMA[kind]


def validate(kind: str, text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    jsonschema.Draft202012Validator(SCHEMA[kind]).validate(document)
    assert document["$schema"] == SCHEMA[kind]["$id"]
    return document


@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_is_one_and_defines_nothing_else(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA[kind])
    assert {"", *SCHEMA[kind]["$defs"]} == set(CLASSES[kind])


def test_versions_are_those_of_the_program() -> None:
    versions = {"model": model_report.SCHEMA_VERSION, "performance": own.SCHEMA_VERSION}
    for kind, version in versions.items():
        assert SCHEMAS[kind] == version == SCHEMA[kind]["properties"]["schema_version"]["const"]


@pytest.mark.parametrize(("kind", "name"), DEFINITIONS)
def test_schema_and_dataclass_agree_key_for_key(kind: str, name: str) -> None:
    described = definition(kind, name)
    names = [field.name for field in fields(CLASSES[kind][name]) if field.metadata != DRAWN]
    names = names if name else ["$schema", *names]
    assert list(described["properties"]) == described["required"] == names
    assert described["additionalProperties"] is False


@pytest.mark.parametrize(("kind", "name"), [entry for entry in DEFINITIONS if entry[1] != "check"])
def test_schema_and_dataclass_agree_on_what_may_be_null(kind: str, name: str) -> None:
    known = {each.__name__: each for each in (*CLASSES[kind].values(), facts.FeatureKind)}
    for field, hint in typing.get_type_hints(CLASSES[kind][name], localns=known).items():
        part = definition(kind, name)["properties"][field]
        ways = (part.get("type", []), part.get("enum", []), part.get("anyOf", []))
        nullable = any(word in way for word, way in zip(("null", None, {"type": "null"}), ways, strict=True))
        assert nullable == (isinstance(hint, types.UnionType) and type(None) in typing.get_args(hint)), field


@pytest.mark.parametrize(
    ("kind", "name", "key", "words"),
    [
        ("model", "feature", "kind", facts.FeatureKind),
        ("performance", "performance", "form", performance_facts.ReportForm),
        ("performance", "operation", "unit", [*performance_facts.ComputeUnit, None]),
    ],
)
def test_the_words_of_the_schema_are_those_of_the_program(kind: str, name: str, key: str, words: type[StrEnum]) -> None:
    assert definition(kind, name)["properties"][key]["enum"] == list(words)


@pytest.mark.parametrize("name", NAMES)
def test_the_report_on_every_model_obeys_the_schema(inspected, name: str) -> None:
    target = parse_target("iOS16")
    report = model_report.model_report(inspected(name), run_model_detectors(inspected(name), target), target)
    document = validate("model", to_json(report))
    with pytest.raises(jsonschema.ValidationError):
        validate("model", json.dumps(document | {"extra": 1}))


def test_what_a_file_does_not_say_obeys_it_too(inspected) -> None:
    model = inspected("ranged")
    bare = replace(
        model, specification_version=None, bytes=None, weights=facts.Weights(facts.WeightState.UNKNOWN, None)
    )
    document = validate("model", to_json(model_report.model_report(bare, run_model_detectors(bare))))
    assert document["model"]["loads_on"] == {}
    assert document["model"]["weights"]["groups"] is None


@pytest.mark.parametrize(
    "document",
    [wwdc22(), article_2026(), article_2026(cpu_only=True), profiler_json(), coremltools_json(), dumped_json("short")],
)
def test_every_form_of_a_performance_report_obeys_the_schema(document: object) -> None:
    report = report_of(document, Path("report.json"))
    assert report is not None
    written = performance.inspected_performance(report)
    again = report_of(validate("performance", to_json(written)), Path("again.json"))
    # What is written is read again, and says the same.
    assert again is not None
    assert performance.inspected_performance(replace(again, source=report.source)).summary == written.summary
