"""The published JSON Schemas are those of the dataclasses, and what is written obeys them."""

from __future__ import annotations

import json
import runpy
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from support.analyses import kept_analysis, kept_trace
from support.choice import sweep_rest
from support.models import MODELS
from support.performance_reports import article_2026, coremltools_json, dumped_json, profiler_json, wwdc22
from tracekit.analysis.ledger.choice import Choice
from tracekit.api import explain, replay_without
from tracekit.comparison import history
from tracekit.model_files import facts
from tracekit.model_files.performance.read import SCHEMA_VERSION, report_of
from tracekit.report import model_fix, model_report, performance, report, why
from tracekit.report.report import Result, Rule
from tracekit.report.serialize import SCHEMAS, schema_text, to_json

SCHEMA: dict[str, dict[str, Any]] = {kind: json.loads(schema_text(kind)) for kind in SCHEMAS}
MADE = runpy.run_path(str(Path(__file__).resolve().parents[2] / "scripts" / "json_schemas.py"))
NAMES = ["multifunction", *(name.partition(".")[0] for name in MODELS)]


def validate(kind: str, text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    jsonschema.Draft202012Validator(SCHEMA[kind]).validate(document)
    assert document["$schema"] == SCHEMA[kind]["$id"]
    return document


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_published_schemas_are_those_of_the_dataclasses(kind):
    assert schema_text(kind) == MADE["text"](kind), "run `make docs`"
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text(kind)))


def test_every_key_of_a_report_is_described():
    """Pages lead to the schema for what keys mean."""
    owners = [SCHEMA["report"], *SCHEMA["report"]["$defs"].values()]
    keys = [each for owner in owners for each in owner.get("properties", {}).items()]
    assert len(keys) > 300
    assert [key for key, value in keys if "description" not in value] == []


def test_a_schema_says_what_the_dataclass_does():
    definitions = MADE["schema"]("report")["$defs"]
    rule, result = definitions["rule"], definitions["result"]
    assert rule["properties"]["why"] == {
        "description": "One sentence: what the problem costs the user.",
        "type": "string",
    }
    assert list(rule["properties"]) == [field.name for field in fields(Rule)]
    assert set(rule["required"]) == set(rule["properties"]) - {"title", "finding_title"}
    assert set(result["properties"]) == {field.name for field in fields(Result)} - {"rule", "marked"}
    known = [{"$ref": "#/$defs/savings"}, {"$ref": "#/$defs/unknown"}, {"type": "null"}]
    assert result["properties"]["savings"]["anyOf"] == known
    assert result["properties"]["cost"]["anyOf"] == [{"$ref": "#/$defs/cost"}, {"type": "null"}]
    assert result["properties"]["evidence"]["items"] == {"$ref": "#/$defs/evidence"}
    assert definitions["metric"]["properties"]["direction"]["enum"] == ["above", "below", None]
    assert "model_files" not in MADE["schema"]("report")["required"]


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        pytest.param(("models", 0, "predictions"), -1, id="a count"),
        pytest.param(("models", 0, "loads"), 1.5, id="half a load"),
        pytest.param(("models", 0, "prediction", "total_ns"), -1, id="a sum"),
        pytest.param(("models", 0, "prediction", "mean_ns"), -0.5, id="a mean"),
        pytest.param(("models", 0, "quantities", "p95_ns"), -1, id="a latency"),
        pytest.param(("models", 0, "quantities", "neural_engine_time"), 1.01, id="a share of time"),
        pytest.param(("models", 0, "quantities", "p96_ns"), 1, id="no quantity"),
        pytest.param(("models", 0, "breakdown", "parts", 0, "share"), 1.01, id="a share of a part"),
        pytest.param(("results", 0, "cost", "share"), -0.01, id="a share of a cost"),
        pytest.param(("results", 0, "evidence_total"), -1, id="a number of intervals"),
        pytest.param(("coverage", 0, "shares", "exact"), 2, id="a share of rows"),
        pytest.param(("summary", "savings_ns"), -1, id="savings"),
        pytest.param(("recording", "duration_ns"), -1, id="a duration"),
    ],
)
def test_a_number_out_of_its_bounds_is_refused(samples, path, wrong):
    document = json.loads(to_json(kept_analysis(samples / "sharpen_8bit.trace").report))
    owner: Any = document
    for key in path[:-1]:
        owner = owner[key]
    owner[path[-1]] = wrong
    refused = next(jsonschema.Draft202012Validator(SCHEMA["report"]).iter_errors(document))
    places = [tuple(error.absolute_path) for error in (refused, *refused.context)]
    assert path in places or path[:-1] in places


@pytest.mark.parametrize("name", sweep_rest("sharpen_8bit", "captions_concurrent", "style_transfer_fixed"))
def test_what_fixes_would_bring_obeys_the_schema(samples, name):
    document = validate("replay", to_json(replay_without(kept_analysis(samples / f"{name}.trace").trace)))
    document["replays"].append({"findings": ["cold-load"]})
    with pytest.raises(jsonschema.ValidationError):
        validate("replay", json.dumps(document))


def test_a_moment_may_lie_before_the_start(samples):
    document = validate("report", to_json(kept_analysis(samples / "sharpen_8bit.trace").report))
    document["results"][0]["evidence"][0]["start_ns"] = -1
    validate("report", json.dumps(document))


def test_versions_are_those_of_the_program():
    versions = (report.SCHEMA_VERSION, model_report.SCHEMA_VERSION, SCHEMA_VERSION)
    versions += (why.SCHEMA_VERSION, model_fix.SCHEMA_VERSION, 1, history.SCHEMA_VERSION)
    assert versions == tuple(SCHEMAS.values())


@pytest.mark.parametrize("name", sweep_rest("captions_concurrent", "sharpen_8bit", "not_instrumented"))
@pytest.mark.parametrize("choice", [Choice(slowest=60), Choice(at_ns=10**15)], ids=["all", "none"])
def test_why_predictions_were_slow_obeys_the_schema(samples, name, choice):
    document = validate("why", to_json(explain(kept_trace(samples / f"{name}.trace"), choice=choice)))
    parts = [part for model in document["models"] for each in model["predictions"] for part in each["parts"]]
    # Of most samples some take less than usual.
    assert any(part["ns"] < 0 for part in parts) == (name != "not_instrumented" and choice.at_ns is None)
    for key, wrong in (("cause", "luck"), ("ns", None), ("known", "guess")):
        if parts:
            before, parts[0][key] = parts[0][key], wrong
            assert not jsonschema.Draft202012Validator(SCHEMA["why"]).is_valid(document)
            parts[0][key] = before


@pytest.mark.parametrize("name", sweep_rest(*NAMES))
def test_what_can_be_fixed_in_every_model_obeys_the_schema(inspected, name):
    offers = model_fix.offers_of(inspected(name), f"{name}.mlpackage", {})
    document = validate("fix", to_json(model_fix.ModelFix(source=name, offers=offers)))
    assert [each["finding"] for each in document["offers"]] == [*model_fix.findings_of(inspected(name), {})]


def test_what_was_fixed_obeys_the_schema(inspected):
    model = inspected(NAMES[0])
    change = model_fix.Change("float32-compute", "compute in Float16", ("computes in Float16",))
    for compared in (({}, "not on a Mac"), ({"out": 0.25}, "")):
        fix = model_fix.model_fix(model, model, (change,), [], {}, compared)
        document = validate("fix", to_json(fix))
        assert (document["differences"], document["not_compared"]) == compared


@pytest.mark.parametrize("name", sweep_rest(*NAMES))
def test_the_report_on_every_model_obeys_the_schema(inspected, name):
    report = model_report.model_report(inspected(name), "iOS16")
    document = validate("model", to_json(report))
    with pytest.raises(jsonschema.ValidationError):
        validate("model", json.dumps(document | {"extra": 1}))


def test_what_a_file_does_not_say_obeys_it_too(inspected):
    model = inspected("ranged")
    bare = replace(
        model, specification_version=None, bytes=None, weights=facts.Weights(facts.WeightState.UNKNOWN, None)
    )
    document = validate("model", to_json(model_report.model_report(bare)))
    assert document["model"]["loads_on"] == {}
    assert document["model"]["weights"]["groups"] is None


@pytest.mark.parametrize(
    "document",
    [wwdc22(), article_2026(), article_2026(cpu_only=True), profiler_json(), coremltools_json(), dumped_json("short")],
)
def test_every_form_of_a_performance_report_obeys_the_schema(document):
    report = report_of(document, Path("report.json"))
    assert report is not None
    written = performance.inspected_performance(report)
    again = report_of(validate("performance", to_json(written)), Path("again.json"))
    # What is written is read again, and says the same.
    assert again is not None
    assert performance.inspected_performance(replace(again, source=report.source)).summary == written.summary
