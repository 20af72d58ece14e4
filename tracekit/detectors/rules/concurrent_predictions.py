"""`concurrent-predictions`: too many predictions of a model are in flight at once (catalogue entry A04)."""

from __future__ import annotations

from dataclasses import dataclass

from tracekit.analysis.concurrency import ConcurrencySummary, summarize_concurrency
from tracekit.detectors import (
    RECORD_LONGER,
    Detector,
    Finding,
    InsufficientData,
    Metric,
    ModelView,
    NotApplicable,
    Outcome,
    Passed,
    Pattern,
    Reference,
    above,
    cost_of,
    finding,
    format_count,
    format_duration,
    format_share,
    no_prediction,
    option,
)


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    limit: int = option(
        2, "predictions in flight", "The framework's own default limit of predictions in flight is reported to be 2."
    )
    busy_share: float = option(
        0.10, "share of busy time", "Short peaks above the limit are harmless (our judgement).", maximum=1
    )
    slowdown: float = option(
        1.5,
        "times the median alone",
        "If calls are no slower together than alone, the device does work in parallel (our judgement).",
    )
    unsupported_depth: int = option(
        4,
        "predictions in flight",
        "Without calls that ran alone the slow-down cannot be measured; from twice the framework's default on, "
        "throughput no longer explains the depth (our judgement).",
    )
    min_predictions: int = option(10, "predictions", "Fewer calls show no habit (our judgement).")
    min_compared: int = option(
        5, "predictions", "A median of fewer calls, alone or together, is chance (our judgement)."
    )


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks for predictions that pile up and slow each other down."""
    count = len(view.predictions)
    if count == 0:
        return no_prediction(view.name)
    if count <= options.limit:
        return NotApplicable(
            view.name, f"{format_count(count, 'prediction')}: more than {options.limit} cannot be in flight."
        )
    found = summarize_concurrency(view.predictions, options.limit)
    if not found.busy_ns:
        return InsufficientData(
            view.name,
            f"None of {format_count(count, 'prediction')} has a duration, so that it is unknown how many overlap.",
            "Record again, and stop the recording only after the predictions have ended.",
        )
    if found.max_depth > options.limit and count < options.min_predictions:
        return InsufficientData(
            view.name,
            f"Up to {found.max_depth} in flight, but only {format_count(count, 'prediction')}; "
            f"{options.min_predictions} are needed.",
            RECORD_LONGER,
        )
    slowdown = _slowdown(found, options)
    metrics = _metrics(found, slowdown, options)
    if found.share_above < options.busy_share or found.max_depth <= options.limit:
        return Passed(view.name, _seldom(found), metrics)
    if slowdown is not None:
        if slowdown >= options.slowdown:
            return _finding(view, found, metrics, f"{slowdown:.1f} times as long")
        return Passed(
            view.name,
            f"Up to {found.max_depth} in flight at once, hardly slower than alone ({slowdown:.1f} times as long).",
            metrics,
        )
    deep = summarize_concurrency(view.predictions, max(options.unsupported_depth - 1, options.limit))
    # Several instances may well run on different devices, where depth alone shows nothing.
    if deep.share_above >= options.busy_share and view.predictions["instance"].nunique() <= 1:
        return _finding(view, found, metrics, "too few ran alone to tell how much that slows them down")
    return InsufficientData(
        view.name,
        f"Up to {found.max_depth} in flight, but too few calls ran alone to tell whether they slow each other down.",
        "Record a phase in which one prediction runs at a time, for comparison.",
    )


def _seldom(found: ConcurrencySummary) -> str:
    """Words for predictions that hardly ever exceed the limit."""
    words = f"At most {found.max_depth} in flight at once"
    if found.max_depth <= found.limit:
        return f"{words}."
    return f"{words}, more than {found.limit} during {format_share(found.share_above)} of the time only."


def _slowdown(found: ConcurrencySummary, options: Options) -> float | None:
    """Median duration above the limit over the median alone; None where either has too few calls."""
    enough = min(found.alone_count, found.above_count) >= options.min_compared
    if not enough or not found.alone_median_ns or found.above_median_ns is None:
        return None
    return found.above_median_ns / found.alone_median_ns


def _metrics(found: ConcurrencySummary, slowdown: float | None, options: Options) -> tuple[Metric, ...]:
    """Everything measured."""
    return (
        above("most in flight", found.max_depth, "count", options.limit + 1),
        above("time with more than the limit in flight", found.share_above, "share", options.busy_share),
        above("slow-down above the limit", slowdown, "ratio", options.slowdown),
        Metric("median alone", found.alone_median_ns, "ns"),
        Metric("median above the limit", found.above_median_ns, "ns"),
    )


def _finding(view: ModelView, found: ConcurrencySummary, metrics: tuple[Metric, ...], effect: str) -> Finding:
    """The finding with its cost: the part of the busy time that belongs to calls beyond the limit."""
    limit_share = format_share(found.share_above)
    summary = (
        f"Up to {format_count(found.max_depth, 'prediction')} are in flight at once, and more than {found.limit} for "
        f"{limit_share} of the time in which any is; "
    )
    if found.above_median_ns is not None and found.alone_median_ns is not None:
        summary += (
            f"one takes {format_duration(found.above_median_ns)} then and {format_duration(found.alone_median_ns)} "
            f"alone (medians; {effect})."
        )
    else:
        summary += f"{effect}."
    rows = view.predictions[found.is_above]
    return finding(
        model=view.name,
        summary=summary,
        metrics=metrics,
        cost=cost_of(
            found.excess_ns,
            found.busy_ns,
            (
                f"Part of the time with more than {found.limit} in flight that falls to those beyond the first "
                f"{found.limit} (half of it where {2 * found.limit} are); share of all time with predictions in "
                "flight. It is won as far as they only waited for each other."
            ),
        ),
        rows=rows,
    )


DESCRIPTION = """
Each prediction in flight holds its buffers. Once the compute unit is busy, further requests only wait longer and are
done no sooner.

## On the lanes

    Activity  |Prediction            |
                |Prediction               |
                   |Prediction                |            problem: each waits for those before it
                      |Prediction                 |

    Activity  |Prediction |                                 as it should be: two at most, none waits for long
                    |Prediction |
                          |Prediction |

## How it is measured

Per model, on the predictions that the app itself called: how many are in flight over time. The share of the busy time
with more than `limit` in flight must reach `busy_share`. Then the median duration of the calls that overlapped a
depth above the limit for most of their time is set against that of the calls that ran alone: it is a finding from
`slowdown` on. Where fewer than `min_compared` calls ran alone (or together), it is a finding only for a model of one
instance with `unsupported_depth` or more in flight for `busy_share` of the busy time. Fewer than `min_predictions`
predictions are not judged when they exceed the limit.

## What can look like it and is not

- Throughput jobs that keep two or three calls in flight, so that the device is never idle.
- Several models at work at the same time: each model is judged by itself.
- Several instances of one model on different devices: they count together, so only a measured slow-down is a finding.
- A batch call, which shows as single predictions in sequence.
"""

FIX = """
Limit the calls in flight and drop what is stale instead of queueing it:

```swift
actor PredictionLimiter {
    private let limit = 2
    private var running = 0

    /// Nil at the limit: skip this frame, a newer one will come.
    func predict(
        _ model: MLModel, _ input: MLFeatureProvider
    ) async throws -> MLFeatureProvider? {
        guard running < limit else { return nil }
        running += 1
        defer { running -= 1 }
        return try await model.prediction(from: input)
    }
}
```

Where every input counts, wait instead of skipping, or hand them over together with `predictions(fromBatch:)`.
"""

DETECTOR = Detector(
    id="concurrent-predictions",
    title="Predictions in flight stay within the limit",
    finding_title="Too many predictions are in flight at once",
    pattern=Pattern.MEMORY_GROWS,
    description=DESCRIPTION,
    why="Every call in flight holds its buffers, and a busy compute unit makes the others wait.",
    fix=FIX,
    references=(
        Reference(
            "WWDC23 10049: Improve Core ML integration with async prediction",
            "https://developer.apple.com/videos/play/wwdc2023/10049/",
        ),
        Reference(
            "MLModel.prediction(from:options:) async",
            "https://developer.apple.com/documentation/coreml/mlmodel/prediction(from:options:)",
        ),
    ),
    needs=("Core ML",),
    options=Options,
    detect=detect,
)
