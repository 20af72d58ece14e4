"""JSON of `coreai-build inspect`: what public tools read from it is read, and anything else refused or passed over.

No output of the tool is published, so that these documents stand for the keys alone.
"""

from __future__ import annotations

import json

import pytest

from tracekit.detectors.model_runner import run_model_detectors
from tracekit.detectors.outcomes import NotApplicable
from tracekit.model_files.facts import FeatureKind, Form, Kind, WeightState
from tracekit.model_files.read import read_model
from tracekit.model_files.untrusted import UnreadableModel

FUNCTION = {
    "name": "main",
    "inputs": [{"name": "input_ids", "type": "NDArray (Int32, 1 × ?)"}, {"name": "frame", "type": "Image (RGB)"}],
    "outputs": [{"name": "logits", "type": "NDArray (Float16, 1 x 1 x 32000)"}],
    "states": [{"name": "cache", "type": "NDArray (Float16, 44 × 1 × 8 × ? × 128)"}],
}
DOCUMENT = {
    "supportedArchitectures": ["h17s"],
    "summary": {
        "functions": [FUNCTION],
        "operationDistribution": [{"name": "add", "count": 2}, {"name": "matmul", "count": 7}, {"name": 3}],
    },
}


@pytest.fixture
def read(tmp_path):
    def written(document: object):
        path = tmp_path / "chat.json"
        path.write_text(json.dumps(document), "utf-8")
        return read_model(path)

    return written


def test_functions_types_and_counts_are_read(read):
    model = read(DOCUMENT)
    assert (model.name, model.form, model.kind) == ("chat", Form.CORE_AI, Kind.CORE_AI)
    assert model.specification_version is None
    ids, frame = model.main.inputs
    assert (ids.kind, ids.element, ids.shape.dimensions) == (FeatureKind.ARRAY, "Int32", (1, None))
    assert (frame.kind, frame.element, frame.shape) == (FeatureKind.UNKNOWN, None, None)
    assert model.main.outputs[0].shape.dimensions == (1, 1, 32000)
    (state,) = model.main.states
    assert (state.kind, state.shape.dimensions) == (FeatureKind.STATE, (44, 1, 8, None, 128))
    assert model.counts == (("matmul", 7), ("add", 2))
    assert (model.weights.state, model.weights.bytes) == (WeightState.UNKNOWN, None)


def test_counts_of_all_functions_together_are_those_of_none(read):
    summary = DOCUMENT["summary"] | {"functions": [FUNCTION, FUNCTION | {"name": "prefill"}]}
    model = read(DOCUMENT | {"summary": summary})
    assert [function.name for function in model.functions] == ["main", "prefill"]
    assert model.counts == ()


def test_no_check_of_core_ml_applies(read):
    answers = run_model_detectors(read(DOCUMENT))
    assert all(isinstance(answer.outcome, NotApplicable) for answer in answers)


@pytest.mark.parametrize(
    "document",
    [
        {"summary": {"operationDistribution": []}},
        {"summary": {"functions": []}},
        {"summary": {"functions": ["main"]}},
        {"summary": [FUNCTION]},
    ],
)
def test_other_forms_are_refused(read, document):
    with pytest.raises(UnreadableModel, match="neither what") as caught:
        read(document)
    assert "\n" not in str(caught.value)
