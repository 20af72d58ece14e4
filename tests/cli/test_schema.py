"""`tracekit schema`: the JSON Schema that reports name and obey."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest


def test_a_report_obeys_the_schema_that_is_printed(tracekit, samples: Path) -> None:
    result = tracekit("schema")
    assert (result.status, result.err) == (0, "")
    schema = json.loads(result.out)
    document = json.loads(tracekit("analyze", samples / "sharpen_8bit.trace", "--json").out)
    assert document["$schema"] == schema["$id"]
    jsonschema.Draft202012Validator(schema).validate(document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate(document | {"schema_version": 1})


def test_every_golden_report_obeys_it(tracekit) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(tracekit("schema").out))
    goldens = sorted((Path(__file__).parents[1] / "report/goldens").glob("*.json"))
    assert len(goldens) == 6
    for golden in goldens:
        validator.validate(json.loads(golden.read_text("utf-8")))
