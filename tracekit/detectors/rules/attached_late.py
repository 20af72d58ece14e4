"""`attached-late`: the recording began when the app had loaded its models already."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from tracekit.detectors import (
    LOAD_KINDS,
    InsufficientData,
    Kind,
    Level,
    Metric,
    NotApplicable,
    Outcome,
    Passed,
    Pattern,
    RecordingDetector,
    Reference,
    Trace,
    above,
    finding,
    format_count,
    no_prediction,
)
from tracekit.detectors.shared.wording import listed

_LAUNCHING = "initializing"
"""Beginning of the life cycle periods that a recorded launch leaves; real recordings of Xcode 16 begin with one."""

_MAX_NAMES = 3
"""Most models that the summary names."""


@dataclass(frozen=True, slots=True)
class Options:
    """It has no thresholds: one model is enough."""


def detect(trace: Trace, _: Options) -> Outcome:
    """Looks for predictions of models whose load is not in the recording."""
    activity = trace.activity[(trace.activity["level"] == Level.TOP).to_numpy(dtype=bool)]
    calls = activity[(activity["kind"] == Kind.PREDICTION).to_numpy(dtype=bool)]
    if calls.empty:
        return no_prediction(None)
    loads = activity[activity["kind"].isin(LOAD_KINDS).to_numpy(dtype=bool)]
    firsts, unnamed = _unseen(calls, loads), calls[calls["model"].isna().to_numpy(dtype=bool)]
    names = [str(name) for name in firsts["model"]]
    metrics = (
        above("models whose load was not recorded", len(firsts), "count", 1),
        above("predictions without the name of a model", len(unnamed), "count", 1),
        Metric("predictions", len(calls), "count"),
    )
    if not any(metric.reached for metric in metrics):
        return Passed(None, "Every model that predicts was loaded while recording.", metrics)
    if (trace.run.recording_mode or "").casefold().startswith("window"):
        return NotApplicable(
            None,
            f"Of this recording only the last part was kept ({trace.run.recording_mode}), so loads may be cut off.",
        )
    was_launched = _was_launched(trace)
    if was_launched is None or was_launched:
        return _unclear(was_launched, _missing(names, len(unnamed)))
    return finding(
        model=None,
        summary=(
            f"The app was running before the recording began: {_missing(names, len(unnamed))}. Cold starts and reloads "
            "before that moment are not in it."
        ),
        metrics=metrics,
        rows=pd.concat([firsts, unnamed.head(1)]),
    )


def _unseen(calls: pd.DataFrame, loads: pd.DataFrame) -> pd.DataFrame:
    """The first prediction of each model that no load of it precedes, by start."""
    first_call = calls.drop_duplicates("model").dropna(subset=["model"])
    first_load = loads.drop_duplicates("model").set_index("model")["start_ns"]
    loaded = first_call["model"].map(first_load.to_dict()).astype("float64")
    return first_call[~(loaded <= first_call["start_ns"]).to_numpy(dtype=bool)]


def _was_launched(trace: Trace) -> bool | None:
    """Whether the launch of the target was recorded; None where nothing tells."""
    target = trace.run.target
    if target.kind is not None:
        return target.kind == "launched"
    periods = trace.context.get("life_cycle")
    if periods is None:
        return None
    if target.process is not None:
        own = periods["process"].isna() | (periods["process"].astype("object") == target.process.name)
        periods = periods[own.to_numpy(dtype=bool)]
    if periods.empty:
        return None
    return bool(periods["period"].astype("object").str.casefold().str.startswith(_LAUNCHING).any())


def _unclear(was_launched: bool | None, what: str) -> InsufficientData:
    if was_launched:
        reason = f"The launch of the app was recorded, and yet {what}: why those rows are missing is unknown."
    else:
        reason = f"{what[0].upper()}{what[1:]}; whether the recording began after the launch of the app is unknown."
    return InsufficientData(
        None, reason, "Record with `--launch`, so that the recording begins before the app loads its models."
    )


def _missing(names: list[str], unnamed: int) -> str:
    """What is missing, as a clause."""
    parts = []
    if names:
        word = "model" if len(names) == 1 else "models"
        parts.append(f"the {word} {listed(names, _MAX_NAMES)} predicted without a recorded load")
    if unnamed:
        verb = "names" if unnamed == 1 else "name"
        parts.append(f"{format_count(unnamed, 'prediction')} {verb} no model, since names come with the load")
    return ", and ".join(parts)


DESCRIPTION = """
Instruments sees what happens while it records. Attached to an app that runs already, it has missed the loads of the
models that the app uses: their cold starts, the first slow calls, and sometimes their names.

## On the lanes

              not recorded : recorded
    Activity     |Load|    : |Prediction| |Prediction|           problem

                           : recorded
    Activity               : |Load| |Prediction| |Prediction|    as it should be

## How it is measured

A model predicts, and no load of it lies before its first prediction in the recording; or predictions carry no name of a
model, since names come with the load. One such model or prediction is enough, if the app was running when the recording
began: the table of contents says `attached`, or the life cycle of the app begins without a launch.

`cold-load`, `reload-before-predict`, `warm-up-spike` and `unused-load` then have nothing to judge for that time.

## What can look like it and is not

- A recording that was attached before the models were loaded: every load is there.
- A recording that keeps only its last seconds (windowed): `truncated-recording` tells that.
- A launched app without load rows: the rows are missing for another reason, so that nothing is found.
- Somebody who wants to see the steady state alone: nothing is wrong then, except that loads cannot be judged.
"""

FIX = """
Let Instruments launch the app, or attach before it loads its models:

```shell
xcrun xctrace record --template 'Core ML' --launch -- ./mytool
```

For a feature deep inside an app, unload the model while the recording runs, so that its next use loads it again:

```swift
model = nil                                   // the last reference
model = try await Segmenter.load(configuration: configuration)
```
"""

DETECTOR = RecordingDetector(
    id="attached-late",
    title="The recording began before models were loaded",
    finding_title="The recording began after models were loaded",
    pattern=Pattern.RECORDING,
    description=DESCRIPTION,
    why="What happened before cannot be judged: cold starts, reloads, first calls.",
    fix=FIX,
    references=(
        Reference("xctrace(1)", "https://keith.github.io/xcode-man-pages/xctrace.1.html"),
        Reference("MLModel.load", "https://developer.apple.com/documentation/coreml/mlmodel"),
    ),
    needs=("Core ML",),
    uses=("App Life Cycle",),
    options=Options,
    detect=detect,
)
