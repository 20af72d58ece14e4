"""`thermal-throttling`: predictions are slower while the device is hot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.analysis.device_states import THERMAL_STATES, UNKNOWN, ThermalComparison
from tracekit.detectors import (
    Detector,
    Finding,
    InsufficientData,
    Metric,
    ModelView,
    Outcome,
    Passed,
    Pattern,
    Reference,
    above,
    finding,
    format_count,
    format_time,
    no_prediction,
    option,
    reached,
)
from tracekit.detectors.shared.comparable_predictions import (
    MIN_CALLS,
    Calls,
    calls_of_same_concurrency,
    extra_time,
    judged,
)
from tracekit.detectors.shared.latency_causes import HEAT_RATIO, MIN_IN_STATE, Cause, read_growth, read_heat


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    slowdown: float = option(
        HEAT_RATIO,
        "times the median while cooler",
        "Heuristic: below a fifth, other work of the system can explain a difference as well.",
    )


def detect(view: ModelView, options: Options) -> Outcome:
    """Compares predictions in the hottest thermal state with those in the coolest."""
    if len(view.predictions) == 0:
        return no_prediction(view.name)
    if view.trace.context["thermal"]["state"].astype("object").eq(THERMAL_STATES[0]).all():
        return Passed(view.name, "The device stayed cool: the thermal state was always Nominal.")
    return judged(view, calls_of_same_concurrency(view), lambda calls: _judge(view, calls, options))


def _judge(view: ModelView, calls: Calls, options: Options) -> Outcome:
    if len(calls.rows) < MIN_CALLS:
        return calls.too_few(view.name, MIN_CALLS)
    comparison = read_heat(view, calls)
    if comparison is None or comparison.coolest is None:
        return InsufficientData(
            view.name,
            f"The thermal state is known for fewer than {MIN_IN_STATE} comparable predictions.",
            "Record with the Thermal State instrument from start to end.",
        )
    if comparison.ratio is None:
        return InsufficientData(
            view.name,
            f"Nearly all comparable predictions ran in thermal state {_name(comparison.coolest)}, so there is nothing "
            "to compare them with.",
            "Start recording on a cool device and continue until it is warm.",
        )
    metrics = (
        above("hottest to coolest state", comparison.ratio, "ratio", options.slowdown),
        Metric(f"median in state {_name(comparison.coolest)}", comparison.cool_median_ns, "ns"),
        Metric(f"median in state {_name(comparison.hottest)}", comparison.hot_median_ns, "ns"),
    )
    if read_growth(view, calls.where(comparison.is_cool)).cause is Cause.SEQUENCE:
        return Passed(view.name, "Latency grows within each sequence, in the coolest state too.", metrics)
    if not reached(metrics, "hottest to coolest state"):
        words = f"Predictions take {comparison.ratio:.2f}x as long in thermal state {_name(comparison.hottest)}"
        return Passed(view.name, f"{words} as in {_name(comparison.coolest)}.", metrics)
    return _finding(view, calls, comparison, metrics)


def _name(state: int | None) -> str:
    return THERMAL_STATES[state or 0]


def _finding(view: ModelView, calls: Calls, comparison: ThermalComparison, metrics: tuple[Metric, ...]) -> Finding:
    """The finding with its cost: what predictions took beyond their median in the coolest state."""
    usual = comparison.cool_median_ns or 0.0
    hot = (comparison.state != UNKNOWN) & ~comparison.is_cool & (calls.durations > usual)
    affected, cost = extra_time(
        view,
        calls.where(hot),
        np.full(int(hot.sum()), usual),
        f"Time predictions in hotter states took beyond the median in {_name(comparison.coolest)}",
    )
    rows = calls.rows[hot]
    count = int((comparison.state == comparison.hottest).sum())
    return finding(
        model=view.name,
        summary=(
            f"In thermal state {_name(comparison.hottest)}, {format_count(count, 'prediction')} took "
            f"{format_time(comparison.hot_median_ns or 0)} (median), {comparison.ratio or 0:.1f}x the "
            f"{format_time(usual)} in {_name(comparison.coolest)}."
        ),
        metrics=metrics,
        cost=cost,
        rows=rows,
        affected=affected,
    )


DESCRIPTION = """
A device that gets too hot lowers the clocks of its processors. A prediction that fits into a frame on a cool device at
the desk misses it in a warm hand after some minutes.

## On the timeline

    Thermal   |Nominal             |Serious                   |
    Activity  |Pred |Pred |Pred |  |Pred     |Pred     |Pred  |     problem
    Activity  |Pred |Pred |Pred |  |Pred |    |Pred |           expected: same latency, less often

## How it is measured

Per model, on its comparable predictions, which exclude the first after each load, those that overlap each other, those
that queued behind other work, and long predictions that open a sequence. If the app keeps several predictions in
flight, those with about the same number in flight are compared instead. Each prediction belongs to the thermal state at
its midpoint. Only states with at least ten predictions count.

Reported when the median latency in the hottest state is at least `slowdown` times that in the coolest. Estimated
savings are the time that predictions in hotter states took beyond the coolest state's median.

## Not a problem when

- Latency grows with a sequence: it also grows while the device is cool, see `growing-latency`.
- Predictions queue behind other models or the screen on the same compute unit: they are left out.
- Inputs get larger after a while: only the thermal state distinguishes this from heat, so check whether the work
  changed too.
- A setting changes, and the model is loaded again for it, or another instance or process uses it: only predictions on
  loads, instances and processes of alike latency are compared.
"""

FIX = """
Do less work as the device gets warmer, before the system slows it down:

```swift
// The state must be read once before its notification is posted.
_ = ProcessInfo.processInfo.thermalState
let changes = NotificationCenter.default.notifications(
    named: ProcessInfo.thermalStateDidChangeNotification
)
for await _ in changes {
    switch ProcessInfo.processInfo.thermalState {
    case .nominal: framesPerPrediction = 1
    case .fair: framesPerPrediction = 2
    case .serious: framesPerPrediction = 3
    case .critical: framesPerPrediction = 6
    @unknown default: framesPerPrediction = 3
    }
}
```

The Neural Engine needs the least energy for the same work: prefer `.cpuAndNeuralEngine` for a feature that runs all the
time. In coremltools, smaller and compressed models generate less heat per prediction. Test on a warm device.
"""

DETECTOR = Detector(
    id="thermal-throttling",
    title="Predictions keep their speed as the device warms up",
    finding_title="Predictions slow down as the device heats up",
    pattern=Pattern.SLOW_PREDICTIONS,
    description=DESCRIPTION,
    why="The feature works at the desk and stutters after some minutes of use.",
    fix=FIX,
    references=(
        Reference(
            "ProcessInfo.thermalState",
            "https://developer.apple.com/documentation/foundation/processinfo/thermalstate-swift.property",
        ),
        Reference(
            "thermalStateDidChangeNotification",
            "https://developer.apple.com/documentation/foundation/processinfo/thermalstatedidchangenotification",
        ),
    ),
    needs=("Core ML", "Thermal State"),
    on_inferred=True,
    options=Options,
    detect=detect,
)
