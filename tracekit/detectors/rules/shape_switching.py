"""`shape-switching`: calls fall into fast and slow ones, as with inputs of several shapes (catalogue entry A07)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
    format_duration,
    format_share,
    no_prediction,
    option,
)
from tracekit.detectors.shared.comparable_predictions import MIN_CALLS, Calls, comparable_calls, extra_time, judged
from tracekit.detectors.shared.latency_causes import (
    Switching,
    SwitchRule,
    Work,
    cool_calls,
    no_switching,
    read_switching,
)


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    ratio: float = option(
        2.0,
        "slow group to fast group",
        "Public reports of inputs that leave the fast path tell of a factor of five (our judgement).",
        minimum=1,
    )
    group_share: float = option(
        0.1,
        "share of predictions",
        "Fewer calls are exceptions and no second way of working (our judgement).",
        maximum=0.5,
    )
    switches: int = option(
        4, "changes between the groups", "One change, and perhaps back, may have any cause (our judgement)."
    )
    min_difference_ms: float = option(1.0, "ms", "Nobody notices smaller differences between calls (our judgement).")


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks for two groups of calls whose work differs and which take turns."""
    if len(view.predictions) == 0:
        return no_prediction(view.name)
    return judged(view, comparable_calls(view), lambda calls: _judge(view, calls, options))


def _judge(view: ModelView, calls: Calls, options: Options) -> Outcome:
    asked = calls.asked
    if len(calls.rows) >= MIN_CALLS:
        calls = cool_calls(view, calls)
    if len(calls.rows) < MIN_CALLS:
        return calls.too_few(view.name, MIN_CALLS)
    rule = SwitchRule(options.ratio, options.group_share, options.switches, options.min_difference_ms * 1e6)
    rule = rule.of_all(asked)
    found = read_switching(view, calls, rule)
    if found is None:
        return Passed(
            view.name, f"The times of {format_count(len(calls.rows), 'prediction')} form no separate slow group."
        )
    metrics = (
        above("slow group to fast group", found.ratio, "ratio", options.ratio),
        above("predictions in the slow group", float(found.slow.mean()) / asked, "share", options.group_share),
        above("changes between the groups", found.switches, "count", options.switches),
        Metric("median of the fast group", found.fast_median_ns, "ns"),
        Metric("median of the slow group", found.slow_median_ns, "ns"),
    )
    reason = no_switching(view, calls, found)
    if reason:
        return Passed(view.name, reason, metrics)
    if found.work is Work.UNKNOWN:
        return InsufficientData(
            view.name,
            f"Predictions take either {format_duration(found.fast_median_ns)} or "
            f"{format_duration(found.slow_median_ns)}, but the recording does not tell whether they work or wait.",
            "Record with the Core ML template, which includes the Neural Engine and the GPU.",
        )
    return _finding(view, calls, found, metrics)


def _finding(view: ModelView, calls: Calls, found: Switching, metrics: tuple[Metric, ...]) -> Finding:
    """The finding with its cost: what slow calls took beyond the median of the fast ones."""
    affected, cost = extra_time(
        view,
        calls.where(found.slow),
        np.full(int(found.slow.sum()), found.fast_median_ns),
        "Time that predictions of the slow group took beyond the median of the fast group",
    )
    rows = calls.rows[found.slow]
    if found.work is Work.OTHER_UNIT:
        what = f"the slow ones run mainly on the {found.slow_unit}, the fast ones on the {found.fast_unit}"
    else:
        what = f"the slow ones work longer on the {found.slow_unit}"
    return finding(
        model=view.name,
        summary=(
            f"{len(rows):,} of {format_count(len(calls.rows), 'prediction')} "
            f"({format_share(float(found.slow.mean()))}) take {format_duration(found.slow_median_ns)} instead of "
            f"{format_duration(found.fast_median_ns)} (medians), with {found.switches:,} changes from "
            f"one to the other; {what}. Inputs of different shapes are the usual cause, though a recording does not "
            "show shapes."
        ),
        metrics=metrics,
        cost=cost,
        rows=rows,
        affected=affected,
    )


DESCRIPTION = """
A model with flexible inputs is prepared for one shape, or for a few. Inputs of other shapes may run on another compute
unit, or in a slower way on the same one, and changing the shape costs time of its own.

## On the lanes

    Activity       |Pred |Prediction      |Pred |Prediction      |     problem
    Neural Engine  |###  |                |###  |                |
    CPU            |     |##############  |     |##############  |

    Activity       |Pred |Pred |Pred |Pred |                           as it should be
    Neural Engine  |###  |###  |###  |###  |

## How it is measured

Per model, on its comparable calls: without the first after each load, those that overlap each other, those that waited
for other work, and long calls that open a sequence (a prompt before its tokens); where heat slows calls down, on those
in the coolest state. Durations must fall into narrow groups on a logarithmic scale, `group_share` of the calls in each,
with medians `ratio` times and `min_difference_ms` apart, and calls must change between the fast group and the others
`switches` times. The time that compute units worked must differ as well, or the unit that did most of the work. It is
no finding where copying of inputs takes longer along with the rest of the call: then more input explains more work.
The cost is the time beyond the median of the fast group; how much of it can be won depends on the shapes.

## What can look like it and is not

- Prompt and tokens of one model: long calls open each sequence, and are left out.
- Calls that wait for other models or for the screen, or that are held up otherwise: they do the same work.
- Latency that grows with a sequence, or with heat: those have detectors of their own.
- One lasting change: any input, setting or state may have changed. See `latency-jitter`.
"""

FIX = """
Give the model few shapes and prepare it for all of them. In coremltools, prefer enumerated shapes to ranges, and pad
or resize inputs to the nearest one:

```python
shapes = ct.EnumeratedShapes(
    shapes=[[1, 3, 256, 256], [1, 3, 512, 512]], default=[1, 3, 256, 256]
)
image = ct.TensorType(name="image", shape=shapes)
mlmodel = ct.convert(traced, inputs=[image])
```

If the shape seldom changes, tell Core ML so (iOS 17.4, macOS 14.4); it then optimizes for each shape that it meets:

```swift
let configuration = MLModelConfiguration()
configuration.optimizationHints.reshapeFrequency = .infrequent
```

For two kinds of inputs that alternate, load two instances, or two models of fixed shape.
"""

DETECTOR = Detector(
    id="shape-switching",
    title="All predictions of a model take the same path",
    finding_title="Some predictions take a slower path than others",
    pattern=Pattern.SLOW_PREDICTIONS,
    description=DESCRIPTION,
    why="Predictions that leave the fast path take several times as long, and nothing in the code shows which ones do.",
    fix=FIX,
    references=(
        Reference(
            "coremltools: Flexible Input Shapes",
            "https://apple.github.io/coremltools/docs-guides/source/flexible-inputs.html",
        ),
        Reference("MLReshapeFrequencyHint", "https://developer.apple.com/documentation/coreml/mlreshapefrequencyhint"),
        Reference("apple/coremltools#2370", "https://github.com/apple/coremltools/issues/2370"),
        Reference("apple/ml-stable-diffusion#306", "https://github.com/apple/ml-stable-diffusion/issues/306"),
    ),
    needs=("Core ML",),
    uses=("Neural Engine", "GPU", "Thermal State"),
    on_inferred=True,
    options=Options,
    detect=detect,
)
