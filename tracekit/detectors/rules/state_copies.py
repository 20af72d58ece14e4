"""`state-copies`: a cache is passed into and out of every call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.analysis.autoregression import SURE_OPENING, opens_sequence
from tracekit.analysis.state_copies import (
    StateCopies,
    copies_grow,
    opened_by_another_model,
    state_copies,
)
from tracekit.analysis.throughput import burst_numbers
from tracekit.detectors import (
    Detector,
    Finding,
    InsufficientData,
    Intervals,
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
    format_share,
    format_time,
    no_prediction,
    option,
    reached,
)
from tracekit.detectors.shared.references import DEPLOY_MODELS

USUAL_CALLS = 0.9
"""Share of the calls that must pass something in and out. The first of a sequence may begin without it."""


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    copy_share: float = option(
        0.10,
        "share of the prediction",
        "Heuristic: smaller copies do not come from a cache of relevant size.",
        maximum=1,
    )
    balance: float = option(
        0.25,
        "times the larger of both directions",
        "Heuristic: a cache leaves as large as it entered; an image in and a label out do not.",
        maximum=1,
    )
    min_predictions: int = option(50, "predictions", "Heuristic: the shortest sequence of tokens worth optimizing.")


def detect(view: ModelView, options: Options) -> Outcome:
    """Looks for calls that continue each other and copy something large in and out."""
    rows = view.predictions
    if rows.empty:
        return no_prediction(view.name)
    times = Intervals.from_rows(rows)
    if int((times.starts[1:] < times.ends[:-1]).sum()) > (1 - USUAL_CALLS) * len(rows):
        return NotApplicable(view.name, "Predictions overlap, so none continues the previous one.")
    copies = state_copies(rows, view.data)
    large = copies.both >= options.copy_share * np.maximum(times.durations, 1)
    balanced = np.minimum(copies.into, copies.out) >= options.balance * np.maximum(copies.into, copies.out)
    passed_on = large & balanced
    share = float(passed_on.mean())
    metrics = (
        above("predictions with large copies in and out", share, "share", USUAL_CALLS),
        Metric("median copy time", float(np.median(copies.both)), "ns"),
        Metric("median copy time in", float(np.median(copies.into)), "ns"),
        Metric("median copy time out", float(np.median(copies.out)), "ns"),
        Metric("predictions", len(rows), "count"),
    )
    if not reached(metrics, "predictions with large copies in and out"):
        return Passed(
            view.name,
            f"{format_share(share) if share else 'None'} of the predictions have large copies both in and out.",
            metrics,
        )
    if len(rows) < options.min_predictions:
        return InsufficientData(
            view.name,
            f"{format_count(len(rows), 'prediction')} with large copies in and out, {options.min_predictions} needed "
            "to tell a cache from other data.",
            "Record a longer answer, or several.",
        )
    sign = _sign(view, copies)
    return _finding(view, copies, passed_on, sign, metrics) if sign else _unclear(view, copies)


def _sign(view: ModelView, copies: StateCopies) -> str:
    """What shows that calls continue each other, as a clause; empty where nothing does."""
    rows = view.predictions
    sequence = burst_numbers(rows)
    if copies_grow(copies.both, sequence):
        return "the copies grow with each prediction of a sequence"
    if copies.has_small_input.mean() < USUAL_CALLS:
        return ""
    if opens_sequence(rows["duration_ns"].to_numpy(), sequence, SURE_OPENING).any():
        return "sequences open with a long prediction, as for a prompt"
    if opened_by_another_model(view.trace, rows, sequence):
        return "each sequence follows a prediction of another model, as after a prompt"
    return ""


def _unclear(view: ModelView, copies: StateCopies) -> InsufficientData:
    return InsufficientData(
        view.name,
        "Cannot tell model state (such as a KV cache) from ordinary inputs and outputs; all copies together take "
        f"a median of {format_time(float(np.median(copies.both)))} per prediction.",
        "If the model gets its own outputs back as inputs, make them its state; otherwise see `excess-data-copies`.",
    )


def _finding(
    view: ModelView,
    copies: StateCopies,
    passed_on: np.ndarray[tuple[int], np.dtype[np.bool_]],
    sign: str,
    metrics: tuple[Metric, ...],
) -> Finding:
    """The finding with its cost: what such calls copy."""
    durations = view.predictions["duration_ns"].to_numpy()
    copied_ns, predicted_ns = int(copies.both[passed_on].sum()), int(durations.sum())
    rows = view.data.loc[copies.rows]
    rows = rows[rows["prediction"].isin(view.predictions.index[passed_on]).to_numpy(dtype=bool)]
    copied = Intervals.from_rows(rows).union()
    return finding(
        model=view.name,
        summary=(
            f"Each prediction spends {format_time(float(np.median(copies.into)))} on copies in and "
            f"{format_time(float(np.median(copies.out)))} on copies out (medians; "
            f"{format_share(copied_ns / predicted_ns)} of {format_time(predicted_ns)} over "
            f"{format_count(len(durations), 'prediction')}), and {sign}. Possible but not certain: this looks like a "
            "cache, but the recording does not show what is copied."
        ),
        metrics=metrics,
        cost=cost_of(
            view,
            min(copied_ns, copied.covered_ns),
            "Time covered by copies and conversions in predictions with large copies in and out, with overlaps counted "
            "once",
            "Copies of other inputs remain.",
        ),
        rows=rows,
        affected=copied,
    )


DESCRIPTION = """
A model that writes text or transcribes speech needs what it computed before: its cache. If the cache is an input and an
output of the model, it is copied into and out of every prediction, and it grows with the context. As a state, it stays
where it is.

## On the timeline

    Activity  |Prediction                 ||Prediction                 |    problem
    Data      |cache in |      |cache out ||cache in |      |cache out |
    Compute              |exec|                       |exec|

    Activity  |Prediction||Prediction|                                      expected: a state
    Compute    |exec|      |exec|

## How it is measured

Per model with at least `min_predictions` predictions that do not overlap. Reported when outputs feed the next
prediction, and in nine in ten predictions, copies in and out together take `copy_share` or more of the time and the
faster direction takes at least `balance` times as long as the slower one. *In* is `Input Copy`, and whatever else is
copied or cast in the first half of the prediction; *out* is `Output Transformation` and the rest.

A recording does not show what the data is, so one more sign is needed that outputs feed the next prediction:

- Copies grow with each prediction of a sequence.
- One input is small next to the large one (the token), and most sequences open with a prediction at least three times
  as long as usual (the prompt), or follow a prediction of another model (one that only processes prompts).

Without such a sign, the check is not evaluated.

## Not a problem when

- A filter takes an image and returns one: as much goes in as comes out, but nothing shows that outputs feed the next
  prediction.
- A large input stays the same, such as the embedding of an image: little comes out. See `excess-data-copies`.
- The model has a state and its copies take microseconds.
"""

FIX = """
Make the cache a state of the model, which Core ML keeps and updates in place:

```python
# In the PyTorch model:
#   self.register_buffer("keyCache", torch.zeros(shape, dtype=torch.float16))
cache = ct.TensorType(shape=shape, dtype=np.float16)
model = ct.convert(
    traced,
    inputs=inputs,
    outputs=outputs,
    states=[ct.StateType(wrapped_type=cache, name="keyCache")],
    minimum_deployment_target=ct.target.iOS18,
)
```

```swift
let state = model.makeState()
for token in tokens {
    let output = try model.prediction(from: token, using: state)
}
```

States need iOS 18 or macOS 15. On older systems, propose a buffer that you own for the new cache, and pass the same
buffer in with the next prediction:

```swift
let options = MLPredictionOptions()
options.outputBackings = ["newCache": buffers[next]]
```

Core ML may ignore the proposal, and always does in batch predictions. If the output is not the same object as your
buffer, pass the output instead.
"""

DETECTOR = Detector(
    id="state-copies",
    title="State that predictions pass on stays in the model",
    finding_title="A cache seems to be copied into and out of every prediction",
    pattern=Pattern.SLOW_PREDICTIONS,
    description=DESCRIPTION,
    why="Copying a cache costs more with every token, and a stateful model copies nothing.",
    fix=FIX,
    references=(
        DEPLOY_MODELS,
        Reference(
            "Core ML Tools: stateful models",
            "https://apple.github.io/coremltools/docs-guides/source/stateful-models.html",
        ),
        Reference("MLState", "https://developer.apple.com/documentation/coreml/mlstate"),
    ),
    needs=("Core ML",),
    options=Options,
    detect=detect,
)
