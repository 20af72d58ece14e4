"""`tracekit export --json-schema`: the JSON Schema that reports name and obey."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from support.performance_reports import article_2026


def test_what_is_printed_obeys_the_schema_of_its_kind(
    tracekit, samples: Path, built_models: Path, tmp_path: Path
) -> None:
    result = tracekit("export", "--json-schema", "report")
    assert (result.status, result.err) == (0, "")
    schema = result.json
    document = tracekit("analyze", samples / "sharpen_8bit.trace", "--json").json
    assert document["$schema"] == schema["$id"]
    jsonschema.Draft202012Validator(schema).validate(document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate(document | {"schema_version": 1})

    report = tmp_path / "report.json"
    report.write_text(json.dumps(article_2026()), "utf-8")
    inputs = {"model": built_models / "multifunction.mlpackage", "performance": report}
    for (kind, path), version in zip(inputs.items(), (2, 1), strict=True):
        schema = tracekit("export", "--json-schema", kind).json
        document = tracekit("inspect", path, "--json").json
        assert document["$schema"] == schema["$id"] == f"urn:tracekit:{kind}:{version}"
        jsonschema.Draft202012Validator(schema).validate(document)
    assert tracekit("export", "--json-schema", "other").status == 2
