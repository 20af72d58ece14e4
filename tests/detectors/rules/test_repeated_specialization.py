"""A model that is specialized again and again."""

from __future__ import annotations

import pytest

from support.analyses import kept_analysis
from support.outcomes import values
from tracekit.analysis.ledger.causes import Cause
from tracekit.analysis.ledger.explain import why
from tracekit.detectors.outcomes import Finding, Passed
from tracekit.testing import Model, Scenario, stacks
from tracekit.testing.code import Code
from tracekit.testing.rows import ENGINE_PREPARE

ID = "repeated-specialization"
MS = 1_000_000
MODEL = Model("Decoder")
GRAPH = stacks.objective_c(
    "MetalPerformanceShadersGraph", "-[MPSGraphExecutable specializedModuleWithDevice:inputTypes:]"
)


def calls(scenario: Scenario, prepared_ms: list[float], show: str = "graph") -> None:
    """Calls that the GPU works for, 20 ms without their preparation."""
    for number, prepared in enumerate([0.0, *prepared_ms]):
        start, extra = (100 + 500 * number) * MS, round(prepared * MS)
        scenario.predict(MODEL, start, 20 * MS + extra).gpu(1 * MS, 18 * MS)
        code = Code(scenario)
        code.runs(start, 1 * MS, stacks.BIND, *stacks.PREDICT)
        if extra and show == "graph":
            code.runs(start + 20 * MS, extra, GRAPH, stacks.OPERATIONS["gpu"], stacks.EXECUTE, *stacks.PREDICT)
        elif extra and show == "engine":
            scenario.other_neural_engine(start + 20 * MS, extra, ENGINE_PREPARE)
        elif extra:
            scenario.compile_shader(start + 20 * MS, extra)


@pytest.mark.parametrize(
    ("show", "words"),
    [
        ("graph", "call stacks: specializing the GPU graph"),
        ("engine", "rows of the Neural Engine that compile or prepare it"),
        ("compiler", "rows of the Metal compiler"),
    ],
)
def test_a_finding_says_how_much_of_how_many_and_what_shows_it(scenario, judge, show, words):
    scenario.load(MODEL, 10 * MS, 40 * MS)
    calls(scenario, [80] * 9 + [0], show)
    finding = judge(scenario, ID)["Decoder"]
    assert isinstance(finding, Finding)
    assert (
        f"9 of 11 predictions (82%) specialize the model again, for 80.0 ms of 100 ms (medians; {words})"
        in finding.summary
    )
    assert finding.cost is not None
    assert finding.cost.ns == 9 * 80 * MS
    assert finding.evidence_total == 9
    assert values(finding)["later predictions that specialize"] == 0.8


@pytest.mark.parametrize(
    ("prepared", "settings", "expected"),
    [
        ([30] * 5, {}, Finding),
        ([30] * 4 + [0], {}, Passed),
        ([30] * 4 + [0], {"min_predictions": 4}, Finding),
        ([5] * 8, {}, Passed),
        ([5] * 8, {"min_share": 0.2}, Finding),
        ([5] * 8, {"min_share": 0.2, "min_ms": 6}, Passed),
        ([30] * 9 + [0] * 5, {}, Finding),
        ([30] * 9 + [0] * 9, {}, Passed),
    ],
)
def test_thresholds(scenario, judge, prepared, settings, expected):
    scenario.load(MODEL, 10 * MS, 40 * MS)
    calls(scenario, prepared)
    assert isinstance(judge(scenario, ID, **settings)["Decoder"], expected)


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "finding", "words", "specializing_ms"),
    [
        ("01-first-prediction-specializes", "warm-up-spike", "The first prediction after a load took", 2_750),
        ("01b-same-without-core-ml-rows", "warm-up-spike", "The first prediction after a load took", 2_750),
        ("02-each-new-shape-specializes", ID, "25 of 30 predictions (83%) specialize the model again", 170),
    ],
)
def test_public_reports_get_their_answer_from_whatever_was_recorded(corpus, name, finding, words, specializing_ms):
    analysis = kept_analysis(corpus / "reported" / f"{name}.zip")
    (result,) = (each for each in analysis.report.results if each.outcome == "finding")
    assert result.id == finding
    assert words in result.summary
    explained = why(analysis.trace, int(analysis.trace.activity.id[analysis.trace.activity.duration_ns.argmax()]))
    assert explained is not None
    assert explained.parts[0].cause is Cause.SPECIALIZING
    assert explained.parts[0].ns / MS == pytest.approx(specializing_ms, rel=0.02)
    assert explained.specializing == "specializing the GPU graph"
