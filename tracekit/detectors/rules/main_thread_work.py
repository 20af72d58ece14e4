"""`main-thread-work`: loads or predictions hold the main thread up."""

from __future__ import annotations

from dataclasses import dataclass

from tracekit.analysis.code import (
    Blocking,
    main_thread_predictions,
    runs_interface,
    sites_of,
)
from tracekit.analysis.hangs import HangCalls, HangRule, hang_calls
from tracekit.detectors import (
    InsufficientData,
    Intervals,
    Metric,
    NotApplicable,
    Outcome,
    Passed,
    Pattern,
    RecordingDetector,
    Trace,
    above,
    cost_of,
    finding,
    format_count,
    format_share,
    format_time,
    option,
    reached,
)
from tracekit.detectors.shared.references import ANALYZE_HANGS, ASYNC_PREDICTION
from tracekit.detectors.shared.wording import of_models, what_ran


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    min_hang_ms: float = option(100.0, "ms", "The shortest delay that the Hangs instrument can be set to report.")
    call_share: float = option(
        0.8,
        "share of the call",
        "Heuristic: a call on the main thread is inside the hang it causes; one in the background often "
        "extends beyond it.",
        maximum=1,
    )
    hang_share: float = option(
        0.5, "share of the hang", "Heuristic: if calls cover less, something else takes most of the hang.", maximum=1
    )
    ratio: float = option(
        2.0,
        "times the share next to the hang",
        "Heuristic: calls that are as frequent before and after the hang overlap it by chance.",
    )


def detect(trace: Trace, options: Options) -> Outcome:
    """Looks for predictions that call stacks show on the main thread; without call stacks for hangs of it that loads
    and predictions fill."""
    if runs_interface(trace) is not None:
        blocking = main_thread_predictions(trace, round(options.min_hang_ms * 1e6))
        if blocking is not None and blocking.known:
            return _by_thread(trace, blocking, options)
    return _by_hangs(trace, options)


def _by_thread(trace: Trace, blocking: Blocking, options: Options) -> Outcome:
    """The answer where it is known which thread predicts."""
    longest = int(blocking.periods.durations.max(initial=0))
    metrics = (
        above("times the main thread predicts that long", len(blocking.periods), "count", 1),
        Metric("longest of them", longest if len(blocking.periods) else None, "ns"),
        Metric("predictions in them", len(blocking.calls), "count"),
    )
    if not runs_interface(trace):
        return NotApplicable(None, "The main thread runs no interface, so nobody waits for it.")
    if not len(blocking.periods):
        return Passed(None, f"The main thread never predicts for {options.min_hang_ms:g} ms or more.", metrics)
    blocked = blocking.periods.covered_ns
    return finding(
        model=None,
        summary=(
            f"{format_count(len(blocking.calls), 'prediction')}{of_models(blocking.calls)} on the main thread kept it "
            f"busy {format_count(len(blocking.periods), 'time')} for {options.min_hang_ms:g} ms or more "
            f"({format_time(blocked)} in total, longest {format_time(longest)}), as call stacks show."
        ),
        metrics=metrics,
        cost=cost_of(
            trace,
            blocked,
            "Time for which these predictions keep the main thread busy",
            "The work remains, but no one has to wait for it.",
            longest_wait_ns=longest,
        ),
        rows=blocking.calls,
        affected=blocking.periods,
        call_sites=sites_of(trace, blocking.calls.index),
    )


def _by_hangs(trace: Trace, options: Options) -> Outcome:
    """The answer where only the times of hangs can show it."""
    in_hangs = hang_calls(
        trace, HangRule(round(options.min_hang_ms * 1e6), options.call_share, options.hang_share, options.ratio)
    )
    if in_hangs is None:
        hangs = trace.coverage_of("Hangs")
        return InsufficientData(None, hangs.conclusion, hangs.advice)
    blocked = Intervals.from_rows(in_hangs.calls).union()
    metrics = (
        above("hangs explained by loads and predictions", int(in_hangs.explained.sum()), "count", 1),
        Metric("loads and predictions in these hangs", blocked.covered_ns, "ns"),
        Metric("hangs", len(in_hangs.hangs), "count"),
        Metric("longest hang", int(in_hangs.hangs["duration_ns"].max()) if len(in_hangs.hangs) else None, "ns"),
    )
    if not reached(metrics, "hangs explained by loads and predictions"):
        return Passed(None, _passed(in_hangs, options), metrics)
    return finding(
        model=None,
        summary=_summary(in_hangs, blocked.covered_ns),
        metrics=metrics,
        cost=cost_of(
            trace,
            blocked.covered_ns,
            "Time covered by the loads and predictions in these hangs",
            "The work remains, but no one has to wait for it.",
            longest_wait_ns=int(blocked.durations.max()),
        ),
        rows=in_hangs.calls,
        affected=blocked,
    )


def _passed(in_hangs: HangCalls, options: Options) -> str:
    if not len(in_hangs.hangs):
        return f"The main thread did not hang for {options.min_hang_ms:g} ms or more."
    hangs = format_count(len(in_hangs.hangs), "hang")
    by_chance = int(((in_hangs.covered >= options.hang_share) & ~in_hangs.explained).sum())
    if by_chance:
        return (
            f"{hangs}; {by_chance} of them overlap loads or predictions, but these are just as frequent outside hangs."
        )
    return f"{hangs} of the main thread, none explained by loads or predictions."


def _summary(in_hangs: HangCalls, blocked: int) -> str:
    hung = in_hangs.hangs["duration_ns"].to_numpy()[in_hangs.explained]
    covered = float((in_hangs.covered[in_hangs.explained] * hung).sum() / hung.sum())
    return (
        f"{what_ran(in_hangs.calls)}{of_models(in_hangs.calls)} ({format_time(blocked)}) filled "
        f"{format_share(covered)} of {format_count(len(hung), 'hang')} of the main thread "
        f"({format_time(int(hung.sum()))}). Possible but not certain: the recording does not show which "
        "thread called Core ML; only the times match."
    )


DESCRIPTION = """
`MLModel(contentsOf:)` and the synchronous `prediction(from:)` return when their work is done. Called on the main
thread, they freeze the interface until then: touches and scrolling wait for the model.

## On the timeline

    Hangs        |hang                   |                    problem
    Activity      |Pred||Pred||Pred||Pred|

    Main thread  .  .  .  .  .  .  .  .  .  .                 expected: no hang
    Activity      |Pred||Pred||Pred||Pred|

## How it is measured

Call stacks show which thread predicts. Where they were recorded, predictions that samples show on the main thread
count, less than a frame at 60 fps apart as one period; those during which another thread predicts too do not, since
the samples may be its own. Reported when one period or more is at least `min_hang_ms` long. A program whose main thread
runs no interface has nobody who waits for it. For loads, see load-on-main-thread.

Without call stacks, from the Hangs instrument: periods of at least `min_hang_ms` in which the app's main thread was
unresponsive. A load or prediction counts if at least `call_share` of it is inside hangs. Reported when such loads and
predictions cover at least `hang_share` of a hang. Loads and predictions of each model are judged apart, and count only
if they are clearly more frequent in hangs:

- They cover at least `ratio` times as large a share of the hang as of equally long periods just before and just after
  it (the larger of the two counts).
- Hangs hold at least `ratio` times as large a share of all their time as of the recording. Where hangs take most of the
  recording, the shares outside are compared instead.

The Core ML table has no column for the thread, so this finding is possible but not certain, and says so.

## Not a problem when

- A model runs in the background all the time: its predictions also overlap hangs with another cause. They continue
  before and after the hang, so they explain nothing, even if another model blocks the main thread.
- A long load runs in the background while the main thread hangs for a moment.
- The same touch starts work on the main thread and in the background: only call stacks can tell.
"""

FIX = """
Load and predict off the main thread:

```swift
// Loads on a background thread and suspends instead of blocking.
let model = try await Segmenter.load(configuration: configuration)

// Asynchronous prediction: iOS 17, macOS 14 or later.
let output = try await model.prediction(input: input)
```

Before iOS 17 and macOS 14, keep the model in an actor or on a queue of your own:

```swift
queue.async {
    let output = try? model.prediction(input: input)
    DispatchQueue.main.async { show(output) }
}
```

To be certain, record with the Core ML template, which includes call stacks: the finding then names the function that
calls `prediction` on the main thread.
"""

DETECTOR = RecordingDetector(
    id="main-thread-work",
    title="Loads and predictions do not block the main thread",
    finding_title="Loads or predictions seem to block the main thread",
    pattern=Pattern.SLOW_PREDICTIONS,
    description=DESCRIPTION,
    why="While the main thread waits for a model, the app is unresponsive.",
    fix=FIX,
    references=(
        ASYNC_PREDICTION,
        ANALYZE_HANGS,
    ),
    needs=("Core ML",),
    uses=("Call Stacks", "Hangs"),
    caused_by=("cold-load", "reload-before-predict"),
    options=Options,
    detect=detect,
)
