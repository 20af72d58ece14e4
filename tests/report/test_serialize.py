"""The published JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import numpy as np
import pytest

from support.choice import sweep_rest
from tracekit.detectors.outcomes import Metric
from tracekit.report.report import Report
from tracekit.report.serialize import schema_text, to_dict, to_json
from tracekit.trace.trace import Coverage

SCHEMA: dict[str, Any] = json.loads(schema_text())


def valid(report: Report) -> dict[str, Any]:
    """The report as JSON, validated."""
    document: dict[str, Any] = json.loads(to_json(report))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


@pytest.mark.parametrize("report", sweep_rest("hostile", "full", "clean", "not_judged", "failed", "hundred"))
def test_every_report_obeys_the_schema(report, request):
    valid(request.getfixturevalue(report))


def test_a_report_names_the_schema_that_describes_it(full):
    assert valid(full)["$schema"] == SCHEMA["$id"] == "urn:tracekit:report:3"


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.update(extra=1),
        lambda document: document["rules"][0].pop("why"),
        lambda document: document["results"][0].update(why="It costs time."),
        lambda document: document["results"][0].update(severity=None),
        lambda document: document["results"][0].update(outcome="warning"),
        lambda document: document["results"][-1].update(severity="low"),
        lambda document: document["models"][0]["load"].update(mean_ms=17.17),
        lambda document: document.update(schema_version=2),
    ],
)
def test_the_schema_refuses_what_is_not_published(full, change):
    document = valid(full)
    change(document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(document)


def test_keys_stand_in_the_order_of_the_architecture(full):
    order = ["$schema", "schema_version", "tool", "recording", "tables", "coverage", "models", "aggregation"]
    assert list(json.loads(to_json(full))) == [
        *order,
        "findings",
        "rules",
        "results",
        "code",
        "summary",
        "measurements",
    ]


def test_what_is_written_about_a_check_stands_once(full):
    document = valid(full)
    ids = [rule["id"] for rule in document["rules"]]
    assert ids == sorted({result["id"] for result in document["results"]})
    assert len(document["results"]) > len(ids) == 3
    found = {result["id"] for result in document["results"] if result["outcome"] == "finding"}
    assert {rule["id"] for rule in document["rules"] if rule["fix"]} == found
    assert len(found) == 2
    own = replace(full, results=(replace(full.results[0], own_fix="Do this."), *full.results[1:]))
    assert [result["own_fix"] for result in valid(own)["results"][:2]] == ["Do this.", ""]


def test_numbers_of_numpy_become_plain_and_infinite_ones_null(full):
    metrics = tuple(
        Metric("a", "a", value, "ratio", None, None)
        for value in (np.int64(3), np.float64(0.1) + np.float64(0.2), float("nan"), float("inf"))
    )
    report = replace(full, results=(replace(full.results[0], metrics=metrics), *full.results[1:]))
    values = [metric["value"] for metric in valid(report)["results"][0]["metrics"]]
    assert values == [3, 0.3, None, None]
    assert [type(value) for value in values] == [int, float, type(None), type(None)]


def test_text_is_kept_whole_and_cannot_act_on_a_terminal(hostile):
    text = to_json(hostile)
    assert json.loads(text)["models"][0]["name"] == hostile.models[0].name
    assert all(character == "\n" or character.isprintable() for character in text)


def test_text_of_other_scripts_stays_readable(clean):
    assert "模型 0" in to_json(replace(clean, models=(replace(clean.models[0], name="模型 0"),)))


def test_what_json_does_not_know_is_refused(full):
    wrong = Coverage("GPU", "rows", (), 1, "", "", {"exact": object()})
    with pytest.raises(TypeError, match="object"):
        to_dict(replace(full, coverage=(wrong,)))
