"""The same work takes longer from some time on."""

import pytest

from tracekit.detectors.outcomes import Finding, NotEvaluated, Passed
from tracekit.testing.rows import Model, StateRow
from tracekit.testing.scenario import CORE_ML, Prediction

ID = "lasting-slowdown"
MS = 1_000_000
MODEL = Model("Landmarks")


def calls(scenario, *levels, copy_ms=None, engine=True):
    """Levels of so many calls of so many ms, whose unit works for all but a ms; copies that take so long on each."""
    now = 100 * MS
    for number, (count, length_ms) in enumerate(levels):
        for _ in range(count):
            prediction = scenario.predict(MODEL, now, round(length_ms * MS))
            if engine:
                prediction.neural_engine(MS // 2, round((length_ms - 1) * MS))
            if copy_ms:
                prediction.event("Data Cast", 0, round(copy_ms[number] * MS))
            now += 40 * MS
    return now


def test_it_says_when_how_much_and_what_did_not_change(scenario, judge):
    end = calls(scenario, (40, 10), (60, 16), copy_ms=(0.1, 0.1))
    scenario.thermal.append(StateRow(0, end, "Nominal"))
    finding = judge(scenario, ID)["Landmarks"]
    assert finding.summary == (
        "From 1.700 s on, after 40 predictions, the same work takes 1.60x as long until the end (thermal state: "
        "Nominal): 16.0 ms instead of 10.0 ms; on the Neural Engine 15.0 ms instead of 9.00 ms. "
        "The same before and after: thermal state (Nominal), app state (Foreground), time to copy inputs and outputs "
        "(100 µs), other work on the Neural Engine (none). Not recorded: Low Power Mode, quality of service of the "
        "caller, clock of the Neural Engine."
    )
    assert finding.cost.ns == 60 * 6 * MS
    assert finding.evidence_total == 60


@pytest.mark.parametrize(
    ("levels", "given", "expected"),
    [
        (((20, 10), (20, 15)), {}, Finding),
        (((20, 10), (20, 14.9)), {}, Passed),
        (((20, 1), (20, 2)), {"engine": False}, Finding),
        (((10, 10), (19, 20)), {}, NotEvaluated),
        (((20, 20), (20, 10)), {}, Passed),
        (((20, 10), (20, 20), (20, 10)), {}, Passed),
        (((20, 10), (20, 15), (20, 22)), {}, Finding),
        # Inputs may be larger.
        (((20, 10), (20, 20)), {"copy_ms": (0.1, 0.12)}, NotEvaluated),
        (((20, 10), (20, 20)), {"copy_ms": (0.1, 0.11)}, Finding),
    ],
)
def test_thresholds(scenario, judge, levels, given, expected):
    calls(scenario, *levels, **given)
    assert isinstance(judge(scenario, ID)["Landmarks"], expected)


def test_heat_is_another_cause(scenario, judge):
    end = calls(scenario, (40, 10), (60, 20))
    scenario.thermal += [StateRow(0, 1_700 * MS, "Nominal"), StateRow(1_700 * MS, end, "Serious")]
    assert isinstance(judge(scenario, ID)["Landmarks"], Passed)


def test_what_differs_is_said(scenario, judge):
    end = calls(scenario, (40, 10), (60, 20), engine=False)
    scenario.gpu_performance += [StateRow(0, 1_700 * MS, "Maximum"), StateRow(1_700 * MS, end, "Minimum")]
    assert (
        "Different: performance state of the GPU (Maximum, then Minimum)." in judge(scenario, ID)["Landmarks"].summary
    )


def test_predictions_inferred_from_the_gpu_show_it_too(scenario, judge):
    calls(scenario, (40, 10), (60, 20), engine=False)
    for index in range(len(scenario.coreml)):
        prediction = Prediction(scenario, index)
        prediction.gpu(MS, prediction.row.duration_ns - 2 * MS, buffers=3)
    scenario.emptied |= {CORE_ML, "metal-application-command-buffer-submissions"}
    assert judge(scenario, ID)["Landmarks"].cost.ns == 60 * 10 * MS
