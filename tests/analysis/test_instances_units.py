"""What Core ML's own rows look like where the Neural Engine worked. Rows as in public captures of one app: COSY, in the
reference on the Core ML instrument, sections 3.6 and 10.3."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.handover import trace_of
from support.reference_recordings import CONDITIONS, DECODE, HIFT, PARTITION_A, PARTITION_B, PREFILL, speech_app
from tracekit.analysis.instances import looks_like_engine
from tracekit.analysis.statistics import top_calls
from tracekit.analysis.where.verdict import whereabouts
from tracekit.detectors.outcomes import NotEvaluated
from tracekit.detectors.runner import run_detectors
from tracekit.testing.machines import Process
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Scenario
from tracekit.trace.events import Device, Kind
from tracekit.trace.trace import Trace

MS = 1_000_000
ENGINE_TABLES = ("ane-hw-intervals", "ane-hw-intervals-internal")
GPU_TABLES = ("metal-gpu-intervals", "mps-hw-intervals")


def of(trace: Trace, model: str):
    calls = top_calls(trace, Kind.PREDICTION)
    return looks_like_engine(trace, calls.id[calls.model.is_any(model)])


@pytest.fixture(scope="module")
def blind():
    """The speech app without any hardware."""
    scenario = speech_app()
    scenario.missing |= {*ENGINE_TABLES, *GPU_TABLES}
    return trace_of(scenario)


def test_the_rows_of_models_on_the_engine_alone_look_like_it(blind):
    seen = {
        model.base: of(blind, model.base) for model in (DECODE, PREFILL, PARTITION_A, PARTITION_B, HIFT, CONDITIONS)
    }
    assert [base for base, like in seen.items() if like] == [DECODE.base, PREFILL.base]
    trace = trace_of(speech_app())
    assert not any(of(trace, base) for base in seen), "where the hardware was recorded it shows more"


def test_it_is_told_as_weaker_evidence_and_decides_nothing(blind):
    outcomes = {
        outcome.model: outcome
        for _, outcome, _ in run_detectors(
            blind, only=["not-on-expected-unit"], settings={"not-on-expected-unit.expected_unit": 1}
        )
    }
    decode = outcomes[DECODE.base]
    assert isinstance(decode, NotEvaluated)
    assert "Neural Engine unknown (not recorded, though Core ML's rows look as if it worked)" in decode.reason
    (conditions,) = (use for use in whereabouts(blind, CONDITIONS.base).units if use.unit == Device.ANE)
    assert "look" not in conditions.why


def rows(*labels: str, cpu_ms: float = 0.0, count: int = 10) -> Trace:
    """A model whose predictions of 20 ms have these rows, without hardware."""
    scenario = Scenario(Process("Camera", 412), duration_ns=2_000 * MS)
    for k in range(count):
        prediction = scenario.predict(Model("Segmenter"), (100 + k * 50) * MS, 20 * MS)
        for place, label in enumerate(labels):
            prediction.event(label, place * 10_000, 5_000)
        if cpu_ms:
            prediction.event("CPU", 100_000, round(cpu_ms * MS))
    scenario.missing |= {*ENGINE_TABLES, *GPU_TABLES}
    return trace_of(scenario)


@pytest.mark.parametrize(
    ("labels", "cpu_ms", "expected"),
    [
        (("Input Validation", "Input Validation", "Data Cast"), 0, True),
        (("Input Validation", "Data Cast"), 0, False),
        (("Input Validation", "Input Validation"), 0, False),
        (("Input Validation", "Input Validation", "Data Cast"), 1, False),
        (("Input Validation", "Input Validation", "Data Cast", "GPU Request"), 0, False),
        (("Input Validation", "Input Validation", "Data Cast", "Neural Engine Request"), 0, False),
    ],
)
def test_every_row_of_the_pattern_counts(labels, cpu_ms, expected):
    assert of(rows(*labels, cpu_ms=cpu_ms), "Segmenter") == expected


def test_without_predictions_nothing_is_suggested(blind):
    assert not looks_like_engine(blind, np.zeros(0, np.int64))


@pytest.mark.corpus
def test_the_rows_of_a_real_capture_suggest_where_each_of_its_models_ran(corpus):
    """Counts and times of `derived/`, one prediction of each model; which unit ran is told there by name and by the
    rows of the Neural Engine."""
    path = corpus / "derived" / "cosyvoice-coreml-activity-4-more-captures.json"
    capture = json.loads(path.read_text())["hift_static_first_run@22122fb"]
    expected = {}
    scenario = Scenario(Process("CosyDemo", 1_804), duration_ns=60_000 * MS)
    for number, (role, facts) in enumerate(capture.items()):
        if not isinstance(facts, dict) or "Input Validation" not in facts.get("counts", {}):
            continue
        count, name = facts["counts"]["Prediction"], role.partition(" ")[0]
        length = round(facts["ms"]["Prediction"] / count * MS)
        prediction = scenario.predict(Model(name), (100 + number * 2_000) * MS, length)
        for kind, total in facts["counts"].items():
            if kind in facts["ms"] and kind != "Prediction" and not kind.startswith("Load"):
                for _ in range(total // count):
                    prediction.event(kind, 0, round(facts["ms"][kind] / total * MS))
        expected[name] = bool(facts.get("ane_hw_predictions"))
    scenario.missing |= {*ENGINE_TABLES, *GPU_TABLES}
    trace = trace_of(scenario)
    found = {name: of(trace, name) for name in expected}
    assert len(expected) >= 6
    assert found == expected
