"""Recordings in which Core ML recorded nothing: calls are known to a few ms, and counts are lower bounds."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from support.analyses import kept_analysis
from support.choice import sweep_rest
from support.handover import trace_of
from support.synthetic_measurements import model, of_models
from tracekit.api import judge
from tracekit.comparison.baseline import baseline_of
from tracekit.comparison.comparison import compare
from tracekit.comparison.findings import FindingStatus
from tracekit.comparison.gate import check
from tracekit.comparison.latency import Answer, Reason
from tracekit.comparison.matrix import matrix, sources_of
from tracekit.comparison.measurements import EXACT, CheckResult, Inexact, Measurements, ModelMeasurements
from tracekit.comparison.measuring import measure
from tracekit.comparison.reports import from_plain, to_plain
from tracekit.comparison.settings import CheckSettings, Limit
from tracekit.comparison.verdict import Verdict, figures_of, limit_items
from tracekit.documents.compared_figures import exact_figures
from tracekit.documents.comparison import comparison_document
from tracekit.documents.matrix import matrix_document
from tracekit.render.forms import render
from tracekit.testing import Draws, Model, cpu, start_recording
from tracekit.testing.rows import LOAD_CACHED, PREDICTION

MS = 1_000_000
STACKS = Inexact(MS, MS, 3 * MS, loads_at_least=True)


def around(ms: float, count: int = 100) -> ModelMeasurements:
    """A model that takes about so long."""
    noise = np.random.default_rng(3).normal(0, 0.02, count)
    return model("Net", (ms * MS * (1 + noise)).astype(np.int64))


def seen(one: ModelMeasurements, loads_ms: float = 0, inexact: Inexact = STACKS) -> Measurements:
    loads = np.array([int(loads_ms * MS)] if loads_ms else [], np.int64)
    recording = of_models(replace(one, cached_loads_ns=loads, inexact=inexact))
    return replace(recording, core_ml=inexact == EXACT)


def exact(one: ModelMeasurements, loads_ms: float = 0) -> Measurements:
    return seen(one, loads_ms, EXACT)


def text(*sides: Measurements) -> str:
    return " ".join(render(comparison_document(compare([sides[0]], [sides[1]])), "text", width=200).split())


@pytest.mark.parametrize(
    ("before", "after", "answer"),
    [
        # Both may be off by 1 ms: less than 2 ms is no change.
        (seen(around(16)), seen(around(17.5)), Answer.UNCHANGED),
        (seen(around(16)), seen(around(19)), Answer.REGRESSED),
        # Against an exact one, 1 ms.
        (exact(around(16)), seen(around(16.8)), Answer.UNCHANGED),
        (exact(around(16)), seen(around(17.5)), Answer.REGRESSED),
        (exact(around(16)), exact(around(17.5)), Answer.REGRESSED),
        # Twice as long, and nothing to rely on.
        (seen(around(0.9)), seen(around(1.8)), Answer.INCONCLUSIVE),
    ],
)
def test_a_difference_below_what_calls_are_known_to_is_no_change(
    before: Measurements, after: Measurements, answer: Answer
) -> None:
    (found,) = compare([before], [after]).models
    assert found.latency.answer is answer
    assert (found.latency.reason is Reason.INEXACT) == (answer is Answer.INCONCLUSIVE)


def test_loads_compare_within_what_they_are_known_to() -> None:
    # 5 ms are not told from 8 ms ± 3 ms, and 5 ms are from 16 ms.
    assert "load time" not in text(exact(around(16), 5), seen(around(16), 8))
    assert "load time 5 → 16 ms" in text(exact(around(16), 5), seen(around(16), 16))


def test_counts_that_are_lower_bounds_never_fall() -> None:
    gone = text(seen(around(16), 100), seen(around(16)))
    assert "loads at least 1 →" not in gone
    (found,) = compare([seen(around(16), 100)], [seen(around(16))]).models
    assert exact_figures(found)[0].change == "inconclusive (not recorded on one side)"
    # At least one, and exactly none: that fell.
    assert "loads at least 1 → 0" in text(seen(around(16), 100), exact(around(16)))
    assert "loads 0 → at least 1" in text(exact(around(16)), seen(around(16), 100))


def test_texts_say_how_exact_they_are() -> None:
    assert "from call stacks, ±1 ms (loads ±3 ms)" in text(seen(around(16)), seen(around(16)))
    assert "; after: from call stacks, ±1 ms (loads ±3 ms)" in text(exact(around(16)), seen(around(16)))
    assert "inferred" not in text(exact(around(16)), exact(around(16)))


@pytest.mark.parametrize(("core_ml", "why"), [(True, "not applicable after"), (False, "not evaluated after")])
def test_what_may_not_have_been_seen_is_not_fixed(core_ml: bool, why: str) -> None:
    def answered(outcome: str, severity: str | None) -> Measurements:
        return replace(exact(around(16)), checks=(CheckResult("load-churn", "Churn", "Net", outcome, severity, None),))

    after = replace(answered("not_applicable", None), core_ml=core_ml)
    (change,) = compare([answered("finding", "high")], [after]).findings
    assert (change.status, change.reason) == (FindingStatus.NOT_COMPARABLE, why)


@pytest.mark.parametrize(
    ("name", "limit", "verdict"),
    [
        ("p50", 18 * MS, Verdict.PASSED),
        ("p50", 16.5 * MS, Verdict.INCONCLUSIVE),
        ("p50", 14 * MS, Verdict.FAILED),
        ("load", 102 * MS, Verdict.INCONCLUSIVE),
        ("load", 104 * MS, Verdict.PASSED),
        ("loads", 1, Verdict.INCONCLUSIVE),
        ("loads", 0, Verdict.FAILED),
        ("in-flight", 1, Verdict.INCONCLUSIVE),
    ],
)
def test_limits_hold_only_where_the_bounds_do(name: str, limit: float, verdict: Verdict) -> None:
    settings = CheckSettings(limits=(Limit("Net", name, limit),))
    (item,) = limit_items(figures_of([seen(around(16), 100)]), settings)
    assert item.verdict is verdict


def test_a_model_that_was_not_seen_is_not_gone() -> None:
    both = exact(around(16))
    other = replace(around(16), name="Other", inexact=STACKS)
    baseline = baseline_of([replace(both, models=(*both.models, replace(other, inexact=EXACT)))])
    for recording, verdict in ((exact(around(16)), Verdict.FAILED), (seen(around(16)), Verdict.INCONCLUSIVE)):
        gate = check([recording], CheckSettings(), baseline, today=date(2026, 11, 23))
        assert [item.verdict for item in gate.items if item.model == "Other"] == [verdict]


def test_a_matrix_marks_no_lower_bound_and_no_tie() -> None:
    sources = sources_of([seen(around(16), 100), seen(around(17.5), 104), seen(around(19), 250)])
    table = matrix(sources, ["a", "b", "c"])
    rows = {row.figure: row for row in table.rows}
    assert rows["p50_ns"].best == (0, 1)
    assert rows["load_ns"].best == (0, 1)
    assert (rows["loads"].best, rows["loads"].at_least) == ((), (0, 1, 2))
    said = render(matrix_document(table), "text", width=120)
    assert "at least 1" in said
    assert "from call stacks, ±1 ms (loads ±3 ms)" in said


def test_a_matrix_says_where_loads_may_have_been_cold() -> None:
    unknown = replace(around(16), other_loads_ns=np.array([90 * MS]))
    (note,) = [note for note in matrix(sources_of([of_models(unknown)]), ["a"]).notes if "load time" in note]
    assert note == "run: the load time includes loads that may have been cold."
    assert not [note for note in matrix(sources_of([exact(around(16), 9)]), ["a"]).notes if "load time" in note]


def test_what_is_stored_says_how_exact_it_is() -> None:
    for side in (seen(around(16)), exact(around(16))):
        assert from_plain(to_plain(side)).models[0].inexact == side.models[0].inexact


@pytest.mark.parametrize("sample_ns", sweep_rest(MS, 5 * MS))
def test_true_durations_lie_within_what_is_measured(sample_ns: int) -> None:
    app = start_recording(Draws(3), noise=False, code=True)
    app.load(Model("Net"), 300 * MS)
    for _ in range(20):
        app.predict(Model("Net"), cpu(60 * MS), inputs=0)
        app.pause(30 * MS)
    scenario = app.finish()
    loads, latencies = (
        [row.duration_ns for row in scenario.coreml if row.label == label] for label in (LOAD_CACHED, PREDICTION)
    )
    scenario.emptied.add("coreml-os-signpost")
    scenario.samples = scenario.samples[:: sample_ns // MS]
    scenario.sample_ns = sample_ns
    trace = trace_of(scenario)
    (one,) = measure(trace, judge(trace)).models
    assert one.inexact.resolution_ns == sample_ns
    assert one.inexact.loads_at_least
    assert abs(one.load_ns - loads[0]) <= one.inexact.load_ns <= 4 * sample_ns
    # Several calls that are taken for one make the error large, so that nothing is said of their latency.
    assert one.predictions <= len(latencies)
    assert abs(one.quantities["all_p50_ns"] - np.median(latencies)) <= one.inexact.latency_ns


@pytest.mark.sweep
@pytest.mark.corpus
def test_public_recordings_compare(corpus: Path) -> None:
    before, after = (
        measure(analysis.trace, analysis.report)
        for analysis in (kept_analysis(corpus / f"bundles/{name}.trace") for name in ("quick_probe", "fp16_w8_60s_all"))
    )
    (found,) = compare([before], [after]).models
    assert [round(side.latency_ns / MS) for side in found.inexact] == [1, 1]
    assert [side.loads_at_least for side in found.inexact] == [True, True]
    assert "compared with itself" not in " ".join(compare([before], [after]).notes)
