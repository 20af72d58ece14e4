"""`tracekit export --json-schema`: the JSON Schema that reports name and obey."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from support.performance_reports import article_2026


def test_a_report_obeys_the_schema_that_is_printed(tracekit, samples: Path) -> None:
    result = tracekit("export", "--json-schema", "report")
    assert (result.status, result.err) == (0, "")
    schema = json.loads(result.out)
    document = json.loads(tracekit("analyze", samples / "sharpen_8bit.trace", "--json").out)
    assert document["$schema"] == schema["$id"]
    jsonschema.Draft202012Validator(schema).validate(document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate(document | {"schema_version": 1})


def test_what_inspect_prints_obeys_the_schema_of_its_kind(tracekit, built_models: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text(json.dumps(article_2026()), "utf-8")
    inputs = {"model": built_models / "multifunction.mlpackage", "performance": report}
    for (kind, path), version in zip(inputs.items(), (2, 1), strict=True):
        schema = json.loads(tracekit("export", "--json-schema", kind).out)
        document = json.loads(tracekit("inspect", path, "--json").out)
        assert document["$schema"] == schema["$id"] == f"urn:tracekit:{kind}:{version}"
        jsonschema.Draft202012Validator(schema).validate(document)
    assert tracekit("export", "--json-schema", "other").status == 2
